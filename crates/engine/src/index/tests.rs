//! The index against a sorted map, change by change.

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::ops::Bound::{Excluded, Unbounded};

use cairn_value::Digest;
use proptest::prelude::*;

use super::leaf::{LEAF_MAX, MERGE_MAX};
use super::*;

mod twin;
use twin::Twin;

/// Few digests with few prefixes, so that changes hit each other and prefixes collide.
fn colliding_digest() -> impl Strategy<Value = Digest> {
    (0u8..3, 0u8..3, 0u8..4, 0u8..4).prop_map(|(high, middle, low, tail)| {
        let mut bytes = [0xab; 20];
        bytes[1] = high << 4 | 0x05;
        bytes[4] = middle;
        bytes[7] = low;
        bytes[19] = tail;
        Digest(bytes)
    })
}

/// One prefix, many digests: leaves split inside the run of equal prefixes.
fn one_prefix_digest() -> impl Strategy<Value = Digest> {
    (0u16..2000).prop_map(|tail| {
        let mut bytes = [0x11; 20];
        bytes[8..10].copy_from_slice(&tail.to_be_bytes());
        Digest(bytes)
    })
}

/// Any digest of one partition.
fn spread_digest() -> impl Strategy<Value = Digest> {
    any::<[u8; 20]>().prop_map(|mut bytes| {
        bytes[0] = 0;
        bytes[1] &= 0xf0;
        Digest(bytes)
    })
}

fn any_digest() -> impl Strategy<Value = Digest> {
    prop_oneof![colliding_digest(), one_prefix_digest(), spread_digest()].prop_map(|mut digest| {
        // All of one partition.
        digest.0[0] = 0;
        digest.0[1] &= 0xf0;
        digest
    })
}

#[derive(Clone, Debug)]
enum Change {
    Upsert(Digest, u32),
    Remove(Digest),
    /// Removes the n-th living record, so that removals also hit among spread digests.
    RemoveNth(usize),
    /// Moves the n-th living record to another place.
    MoveNth(usize),
    /// Removes expired records in one step of a sweep.
    Sweep {
        now: u32,
        budget: usize,
    },
    /// Looks at what follows a digest.
    ResumeAfter(Digest),
}

fn change(digest: impl Strategy<Value = Digest> + 'static) -> impl Strategy<Value = Change> {
    let digest = digest.boxed();
    prop_oneof![
        8 => (digest.clone(), 0u32..100).prop_map(|(digest, void)| Change::Upsert(digest, void)),
        2 => digest.clone().prop_map(Change::Remove),
        3 => any::<usize>().prop_map(Change::RemoveNth),
        2 => any::<usize>().prop_map(Change::MoveNth),
        1 => (0u32..20, 0usize..40).prop_map(|(now, budget)| Change::Sweep { now, budget }),
        2 => digest.prop_map(Change::ResumeAfter),
    ]
}

fn run(changes: Vec<Change>, check_each: bool) {
    let mut twin = Twin::default();
    let mut sweep = Walk::new();
    for change in changes {
        match change {
            Change::Upsert(digest, void_time) => twin.upsert(digest, void_time),
            Change::Remove(digest) => twin.remove(&digest),
            Change::RemoveNth(n) => {
                if let Some(digest) = twin.nth(n) {
                    twin.remove(&digest);
                }
            }
            Change::MoveNth(n) => {
                if let Some(digest) = twin.nth(n) {
                    twin.move_record(&digest);
                }
            }
            Change::Sweep { now, budget } => twin.sweep(now, &mut sweep, budget),
            Change::ResumeAfter(digest) => twin.check_after(&digest),
        }
        if check_each {
            twin.check();
        }
    }
    twin.check();
    while let Some(digest) = twin.nth(0) {
        twin.remove(&digest);
    }
    twin.check();
    assert_eq!(twin.index.memory_bytes(), size_of::<PartitionIndex>());
}

proptest! {
    #[test]
    fn few_digests_with_shared_prefixes(
        changes in prop::collection::vec(change(colliding_digest()), 0..300)
    ) {
        run(changes, true);
    }

    #[test]
    fn many_digests_with_one_prefix(
        changes in prop::collection::vec(change(one_prefix_digest()), 0..1200)
    ) {
        run(changes, false);
    }

    #[test]
    fn many_spread_digests(
        changes in prop::collection::vec(change(spread_digest()), 0..1200)
    ) {
        run(changes, false);
    }

    #[test]
    fn all_kinds_together(changes in prop::collection::vec(change(any_digest()), 0..1200)) {
        run(changes, false);
    }

    #[test]
    fn a_scan_in_batches_sees_all_that_stays(
        staying in prop::collection::btree_set(any_digest(), 0..300),
        changes in prop::collection::vec((any_digest(), any::<bool>()), 0..300),
        batch in 1usize..20,
    ) {
        let mut twin = Twin::default();
        staying.iter().for_each(|digest| twin.upsert(*digest, 0));
        let mut changes = changes.into_iter().filter(|(digest, _)| !staying.contains(digest));
        let mut seen = Vec::new();
        loop {
            let step = twin.digests_after(seen.last()).take(batch).collect::<Vec<_>>();
            if step.is_empty() {
                break;
            }
            seen.extend(step);
            for (digest, insert) in changes.by_ref().take(batch) {
                if insert { twin.upsert(digest, 0) } else { twin.remove(&digest) }
            }
        }
        prop_assert!(seen.is_sorted_by(|a, b| a < b), "no digest twice, none out of order");
        seen.retain(|digest| staying.contains(digest));
        prop_assert_eq!(seen, staying.into_iter().collect::<Vec<_>>());
    }

    #[test]
    fn a_walk_in_steps_is_the_walk_at_once(
        digests in prop::collection::btree_set(any_digest(), 0..600),
        budget in 1usize..300,
        now in 0u32..100,
    ) {
        let mut twin = Twin::default();
        for (n, digest) in digests.iter().enumerate() {
            twin.upsert(*digest, n as u32 % 100);
        }
        let expired: Vec<Entry> = twin.index.iter().filter(|entry| entry.is_expired(now)).collect();
        let mut walk = Walk::new();
        let mut visited = Vec::new();
        let mut steps = 1;
        while twin.index.for_each_expired(now, &mut walk, budget, |entry| visited.push(entry))
            == Progress::More
        {
            steps += 1;
        }
        prop_assert_eq!(&visited, &expired);
        prop_assert_eq!(steps, digests.len().div_ceil(budget).max(1));
        prop_assert_eq!(walk, Walk::new());
        let mut left = digests.len();
        loop {
            let progress = twin.sweep_step(now, &mut walk, budget);
            prop_assert!(twin.index.len() <= left);
            left = twin.index.len();
            if progress == Progress::Finished {
                break;
            }
        }
        prop_assert_eq!(left, digests.len() - expired.len());
        prop_assert!(twin.index.iter().all(|entry| !entry.is_expired(now)));
        twin.check();
    }
}

/// Digests of one partition in no order; the same on every run.
fn shuffled_digests(count: u64) -> impl Iterator<Item = Digest> {
    (0..count).map(|n| {
        let mut bytes = [0; 20];
        let spread = n.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        bytes[2..10].copy_from_slice(&spread.to_be_bytes());
        Digest(bytes)
    })
}

#[test]
fn little_memory_is_spare() {
    let (random, ordered) = if cfg!(miri) { (600, 600) } else { (50_000, 50_000) };
    let mut twin = Twin::default();
    shuffled_digests(random).for_each(|digest| twin.upsert(digest, 0));
    let per_record = twin.index.memory_bytes() as f64 / random as f64;
    assert!(per_record < 22.5, "{per_record} bytes per record inserted in no order");

    let mut twin = Twin::default();
    let mut digests: Vec<Digest> = shuffled_digests(ordered).collect();
    digests.sort();
    digests.into_iter().for_each(|digest| twin.upsert(digest, 0));
    let per_record = twin.index.memory_bytes() as f64 / ordered as f64;
    assert!(per_record < 20.8, "{per_record} bytes per record inserted in order");
}

#[test]
fn removing_nine_of_ten_gives_the_memory_back() {
    let count = if cfg!(miri) { 600 } else { 20_000 };
    let mut twin = Twin::default();
    shuffled_digests(count).for_each(|digest| twin.upsert(digest, 0));
    for (n, digest) in shuffled_digests(count).enumerate() {
        if n % 10 != 0 {
            twin.remove(&digest);
        }
    }
    twin.check();
    let per_record = twin.index.memory_bytes() as f64 / (count / 10) as f64;
    assert!(per_record < 30.0, "{per_record} bytes per record that is left");
}

#[test]
fn a_lone_record_takes_little() {
    let mut twin = Twin::default();
    twin.upsert(Digest([3; 20]), 0);
    assert!(twin.index.memory_bytes() <= size_of::<PartitionIndex>() + 64);
}

#[test]
fn absent_digests_and_lone_prefixes_cost_no_more_than_one_header() {
    let mut twin = Twin::default();
    let count = if cfg!(miri) { 300 } else { 5_000 };
    shuffled_digests(count).for_each(|digest| twin.upsert(digest, 0));
    for (n, digest) in shuffled_digests(count * 2).enumerate() {
        let reads = std::cell::Cell::new(0);
        let found = twin.index.find(&digest, |place| {
            reads.set(reads.get() + 1);
            Ok::<_, Infallible>(twin.headers[&place])
        });
        let Ok(found) = found;
        let present = (n as u64) < count;
        assert_eq!((found.is_some(), reads.get()), (present, usize::from(present)));
    }
}

#[test]
fn a_header_that_cannot_be_read_changes_nothing() {
    let mut twin = Twin::default();
    twin.upsert(Digest([3; 20]), 0);
    let before: Vec<Entry> = twin.index.iter().collect();
    let broken = |_: Place| Err::<Digest, &str>("unreadable");
    assert_eq!(twin.index.upsert(&Digest([3; 20]), &before[0], broken), Err("unreadable"));
    assert_eq!(twin.index.remove(&Digest([3; 20]), broken), Err("unreadable"));
    assert!(twin.index.iter_after(Some(&Digest([3; 20])), broken).is_err());
    assert_eq!(twin.index.iter().collect::<Vec<_>>(), before);
}

#[test]
#[should_panic(expected = "a position is good until")]
fn a_position_from_before_a_change_is_refused() {
    let mut twin = Twin::default();
    twin.upsert(Digest([3; 20]), 0);
    let found = twin.find(&Digest([3; 20])).unwrap();
    let mut other = [3; 20];
    other[5] = 0;
    twin.upsert(Digest(other), 0);
    twin.index.remove_at(found.position);
}
