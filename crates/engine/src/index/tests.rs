//! The index against a sorted map, change by change.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::convert::Infallible;
use std::ops::Bound::{Excluded, Unbounded};

use cairn_value::Digest;
use proptest::prelude::*;

use super::leaf::{LEAF_MAX, MERGE_MAX};
use super::*;

mod twin;
use twin::Twin;

/// What digests a test uses; all of one partition.
#[derive(Clone, Copy, Debug)]
enum Kind {
    /// Few digests with few prefixes, so that changes hit each other and prefixes collide.
    Colliding,
    /// One prefix, many digests: leaves split inside the run of equal prefixes.
    OnePrefix,
    /// Digests as evenly spread as real ones.
    Spread,
    /// All of them.
    Mixed,
}

impl Kind {
    /// The digest that belongs to a number.
    fn digest(self, number: u64) -> Digest {
        let mut bytes = [0; 20];
        match self {
            Kind::Colliding => {
                let spread = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                let [a, b, c, d, ..] = spread.to_be_bytes();
                bytes[1] = (a % 3) << 4;
                (bytes[4], bytes[7], bytes[19]) = (b % 3, c % 4, d % 4);
            }
            Kind::OnePrefix => {
                bytes[4] = 0x80;
                bytes[8..10].copy_from_slice(&(number as u16 % 2000).to_be_bytes());
            }
            Kind::Spread => {
                let spread = number.wrapping_mul(0x9e37_79b9_7f4a_7c15);
                bytes[1] = (spread >> 56) as u8 & 0xf0;
                bytes[2..10].copy_from_slice(&(spread << 4).to_be_bytes());
            }
            Kind::Mixed => {
                let kinds = [Kind::Colliding, Kind::OnePrefix, Kind::Spread];
                return kinds[number as usize % 3].digest(number >> 2);
            }
        }
        Digest(bytes)
    }

    fn any(self) -> impl Strategy<Value = Digest> {
        any::<u64>().prop_map(move |number| self.digest(number))
    }
}

fn cases(usual: u32) -> ProptestConfig {
    // Miri checks each step and needs minutes for what takes others a second.
    ProptestConfig { cases: if cfg!(miri) { 2 } else { usual }, ..ProptestConfig::default() }
}

const CHANGES_MAX: usize = if cfg!(miri) { 30 } else { 600 };
const START_MAX: u64 = if cfg!(miri) { 150 } else { 2000 };

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
    /// Looks at what follows a digest and what comes before it.
    ResumeAt(Digest),
}

fn change(kind: Kind) -> impl Strategy<Value = Change> {
    prop_oneof![
        8 => (kind.any(), 0u32..100).prop_map(|(digest, void)| Change::Upsert(digest, void)),
        2 => kind.any().prop_map(Change::Remove),
        5 => any::<usize>().prop_map(Change::RemoveNth),
        2 => any::<usize>().prop_map(Change::MoveNth),
        1 => (0u32..20, 0usize..200).prop_map(|(now, budget)| Change::Sweep { now, budget }),
        2 => kind.any().prop_map(Change::ResumeAt),
    ]
}

/// How many records there are before the changes, and the changes.
fn history(kind: Kind) -> impl Strategy<Value = (u64, Vec<Change>)> {
    (0..START_MAX, prop::collection::vec(change(kind), 0..CHANGES_MAX))
}

fn run(kind: Kind, (start, changes): (u64, Vec<Change>)) {
    let mut twin = Twin::default();
    (0..start).for_each(|number| twin.upsert(kind.digest(number), number as u32 % 50));
    twin.check();
    let mut sweep = Walk::new();
    for change in changes {
        match change {
            Change::Upsert(digest, void_time) => twin.upsert(digest, void_time),
            Change::Remove(digest) => twin.remove(&digest),
            Change::RemoveNth(n) => twin.nth(n).iter().for_each(|digest| twin.remove(digest)),
            Change::MoveNth(n) => twin.nth(n).iter().for_each(|digest| twin.move_record(digest)),
            Change::Sweep { now, budget } => {
                twin.sweep_step(now, &mut sweep, budget);
                twin.check();
            }
            Change::ResumeAt(digest) => {
                twin.check_after(&digest);
                twin.check_before(&digest);
            }
        }
    }
    twin.check();
    while let Some(digest) = twin.nth(0) {
        twin.remove(&digest);
        if twin.index.len().is_multiple_of(32) {
            twin.check();
        }
    }
    assert_eq!(twin.index.memory_bytes(), size_of::<PartitionIndex>());
}

proptest! {
    #![proptest_config(cases(64))]

    #[test]
    fn few_digests_with_shared_prefixes(history in history(Kind::Colliding)) {
        run(Kind::Colliding, history);
    }

    #[test]
    fn many_digests_with_one_prefix(history in history(Kind::OnePrefix)) {
        run(Kind::OnePrefix, history);
    }

    #[test]
    fn many_spread_digests(history in history(Kind::Spread)) {
        run(Kind::Spread, history);
    }

    #[test]
    fn all_kinds_together(history in history(Kind::Mixed)) {
        run(Kind::Mixed, history);
    }

    #[test]
    fn a_scan_in_batches_sees_all_that_stays(
        start in 0..START_MAX,
        changes in prop::collection::vec((Kind::Mixed.any(), any::<bool>()), 0..CHANGES_MAX),
        batch in 1usize..20,
    ) {
        let mut twin = Twin::default();
        let staying: BTreeSet<_> = (0..start).map(|number| Kind::Mixed.digest(number)).collect();
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
        start in 0..START_MAX,
        budget in 1usize..300,
        now in 0u32..100,
    ) {
        let mut twin = Twin::default();
        for number in 0..start {
            twin.upsert(Kind::Mixed.digest(number), number as u32 % 100);
        }
        let count = twin.index.len();
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
        prop_assert_eq!(steps, count.div_ceil(budget).max(1));
        prop_assert_eq!(walk, Walk::new());

        let mut steps = 1;
        while twin.sweep_step(now, &mut walk, budget) == Progress::More {
            twin.check();
            steps += 1;
        }
        twin.check();
        prop_assert_eq!(steps, count.div_ceil(budget).max(1));
        prop_assert_eq!(twin.index.len(), count - expired.len());
        prop_assert!(twin.index.iter().all(|entry| !entry.is_expired(now)));
    }
}

/// Digests in no order; the same on every run.
fn shuffled_digests(count: u64) -> impl Iterator<Item = Digest> {
    (0..count).map(|number| Kind::Spread.digest(number))
}

#[test]
fn little_memory_is_spare() {
    let (random, ordered) = if cfg!(miri) { (150, 150) } else { (50_000, 50_000) };
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
    let count = if cfg!(miri) { 150 } else { 20_000 };
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
    let count = if cfg!(miri) { 150 } else { 5_000 };
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
fn a_partition_full_of_one_prefix_costs_few_headers() {
    let mut twin = Twin::default();
    let count = if cfg!(miri) { 150 } else { 2000 };
    (0..count).for_each(|number| twin.upsert(Kind::OnePrefix.digest(number), 0));
    for number in 0..count {
        let mut reads = 0;
        let found = twin.index.find(&Kind::OnePrefix.digest(number), |place| {
            reads += 1;
            Ok::<_, Infallible>(twin.headers[&place])
        });
        assert!(matches!(found, Ok(Some(_))));
        assert!(reads <= 14, "{reads} headers read to find one of {count}");
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
