//! An engine that is broken on purpose is caught within 200 seeds.

use cairn_engine::sabotage::{Sabotage, arm};

/// The first seed that shows a violation.
fn caught_by(sabotage: Sabotage) -> Option<u64> {
    arm(Some(sabotage));
    let caught = (0..200).find(|seed| cairn_sim::run(*seed, 1000).violation.is_some());
    arm(None);
    caught
}

#[test]
fn a_skipped_sync_is_caught() {
    assert!(caught_by(Sabotage::SkipSync).is_some());
}

#[test]
fn a_dropped_checksum_is_caught() {
    assert!(caught_by(Sabotage::SkipBodyCheck).is_some());
}

#[test]
fn a_forgotten_tombstone_is_caught() {
    assert!(caught_by(Sabotage::ForgetTombstone).is_some());
}
