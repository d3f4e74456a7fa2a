//! Blocks come and go while entries are written, read, given up and walked. Small enough for Miri,
//! which watches the `unsafe` code of this module for races and for reads of freed memory.

use cairn_value::{Digest, Error, ResultCode};
use parking_lot::RwLock;

use super::entry::{HEADER_LEN, NewBins, NewEntry};
use super::*;

const BLOCK_SIZE: usize = 512;
const DEFRAG_BELOW_PERCENT: u32 = 60;
/// Entries that a partition of these tests holds at a time.
const ALIVE_MAX: usize = 5;
const ROUNDS: u32 = if cfg!(miri) { 25 } else { 2000 };

/// Stands for a partition: the places of its entries, under its lock.
type Partition = RwLock<Vec<(Place, Size)>>;

fn append(log: &Log, partition: &mut Vec<(Place, Size)>, fill: u8) -> Result<(), Error> {
    let set = vec![fill; usize::from(fill % 64)];
    let entry = NewEntry {
        sequence: log.next_sequence(),
        digest: Digest([fill; 20]),
        last_update_ns: 0,
        void_time: 0,
        generation: 1,
        supersedes: false,
        set: &set,
        key: None,
        bins: NewBins::Changed(&[]),
    };
    let mut room = log.reserve(entry.len(), Writer::Foreground)?;
    let stamp = room.stamp();
    entry.write(room.bytes_mut(), stamp);
    let size = room.size();
    partition.push((room.commit(), size));
    Ok(())
}

fn check(entry: &EntryView<'_>) {
    assert!(entry.has_intact_body());
    let fill = entry.digest().0[0];
    assert!(entry.bytes()[HEADER_LEN..].iter().all(|byte| *byte == fill));
    assert_eq!(entry.len(), HEADER_LEN + usize::from(fill % 64));
}

fn write(log: &Log, partition: &Partition) {
    for round in 0..ROUNDS {
        if round % 5 == 0 {
            // Room that is given up unfilled.
            drop(log.reserve(HEADER_LEN, Writer::Foreground).unwrap());
        }
        let mut partition = partition.write();
        append(log, &mut partition, round as u8).unwrap();
        if partition.len() > ALIVE_MAX {
            let (place, size) = partition.remove(round as usize % 2);
            log.release(place, size, DEFRAG_BELOW_PERCENT);
        }
    }
}

fn read(log: &Log, partitions: &[Partition]) {
    for _ in 0..ROUNDS {
        for partition in partitions {
            let partition = partition.read();
            for (place, _) in partition.iter() {
                check(&log.entry(*place).unwrap().view());
            }
        }
    }
}

fn walk_sparse_blocks(log: &Log) {
    for _ in 0..ROUNDS {
        let Some(pin) = log.take_sparse().and_then(|block| log.pin(block)) else {
            std::thread::yield_now();
            continue;
        };
        let mut offset = pin.first_entry();
        while let Some((entry, _, next)) = pin.entry_at(offset) {
            if entry.is_record() {
                check(&entry);
            }
            offset = next;
        }
    }
}

#[test]
fn entries_stay_whole_while_blocks_come_and_go() {
    let log = Log::new(BLOCK_SIZE, 64 * BLOCK_SIZE as u64);
    let partitions: [Partition; 2] = Default::default();
    std::thread::scope(|scope| {
        for partition in &partitions {
            scope.spawn(|| write(&log, partition));
        }
        scope.spawn(|| read(&log, &partitions));
        scope.spawn(|| walk_sparse_blocks(&log));
    });
    read(&log, &partitions);
    let blocks = log.stats().blocks;
    assert!(log.stats().appended_bytes > blocks * BLOCK_SIZE as u64, "blocks were freed");
    for (place, size) in
        partitions.iter().flat_map(|partition| std::mem::take(&mut *partition.write()))
    {
        log.release(place, size, DEFRAG_BELOW_PERCENT);
    }
    assert_eq!(log.stats().live_bytes, 0);
    assert_eq!(log.stats().blocks, 1, "only the block that is being filled is left");
}

#[test]
fn a_full_log_refuses_and_a_freed_block_is_used_again() {
    let log = Log::new(BLOCK_SIZE, 6 * BLOCK_SIZE as u64);
    let mut partition = Vec::new();
    let refusal = loop {
        if let Err(error) = append(&log, &mut partition, 7) {
            break error;
        }
    };
    assert_eq!(refusal.code, ResultCode::NoSpace, "nothing can be freed");
    assert_eq!(log.stats().blocks, 6, "the reserve lies beside the size");
    partition.iter().for_each(|(place, _)| check(&log.entry(*place).unwrap().view()));
    for (place, size) in partition.drain(..) {
        log.release(place, size, DEFRAG_BELOW_PERCENT);
    }
    append(&log, &mut partition, 9).unwrap();
    check(&log.entry(partition[0].0).unwrap().view());
}
