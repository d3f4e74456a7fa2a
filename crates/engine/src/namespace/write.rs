//! Updates: the one way in which a record changes.

use std::marker::PhantomData;

use cairn_value::limits::TTL_MAX_S;
use cairn_value::{Digest, Error, Meta, NewBin, RecordView, ResultCode};

use super::files::Ticket;
use super::{FLAG_SUPERSEDES, Namespace, check_key, life_s};
use crate::clock::seconds_since_2010;
use crate::index::{Entry, Found, PartitionIndex, Search, Size};
use crate::log::Writer;
use crate::log::entry::{
    EntryView, HEADER_LEN, NewBins, NewEntry, TOMBSTONE_COVERING_LEN, write_tombstone,
};
use crate::policy::{
    Change, Exists, Failure, GenerationCheck, Slot, Target, Ttl, WritePolicy, Written,
};

/// Most bins that a record can have.
const BINS_MAX: usize = 32_767;

impl Namespace {
    /// The one read-modify-write primitive.
    ///
    /// `f` sees the record (or that there is none) while nobody else can change it, and says what
    /// becomes of it. Policies are checked before `f` runs; limits and the guard afterwards, and
    /// only when all agree anything changes. `f` must not call back into the namespace.
    ///
    /// ```
    /// use cairn_engine::{Change, Engine, NamespaceConfig, Target, WritePolicy};
    /// use cairn_value::{BinContent, Digest, NewBin, ParticleType};
    ///
    /// let engine = Engine::in_memory([NamespaceConfig::new("test")])?;
    /// let namespace = engine.namespace(b"test").unwrap();
    /// let digest = Digest::of(b"users", ParticleType::String, b"user:alice");
    /// let target = Target { digest, set: b"users", key: None };
    ///
    /// // Count visits: one more than the record says, or the first.
    /// for _ in 0..3 {
    ///     namespace.update(&target, &WritePolicy::default(), |slot| {
    ///         let before = slot.record.and_then(|r| r.bins.get(b"visits")?.integer());
    ///         let visits = (before.unwrap_or(0) + 1).to_be_bytes().to_vec();
    ///         let content = BinContent::Whole(ParticleType::Integer, visits.into());
    ///         Ok((Change::Write(vec![NewBin { name: b"visits", content }]), ()))
    ///     })?;
    /// }
    /// let visits = namespace.read(&target, &Default::default(), |record| {
    ///     Ok(record.bins.get(b"visits").unwrap().integer())
    /// })?;
    /// assert_eq!(visits.0, Some(3));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn update<'q, R>(
        &self,
        target: &Target<'q>,
        policy: &WritePolicy,
        f: impl for<'r> FnOnce(Slot<'r, 'q>) -> Result<(Change<'r>, R), Error>,
    ) -> Result<(R, Written), Failure> {
        self.make_room()?;
        let (result, written, ticket) = self.apply(target, policy, f)?;
        if let Some(ticket) = ticket {
            self.wait_durable(ticket)?;
        }
        Ok((result, written))
    }

    /// As [`update`](Self::update), but does not wait for the disk. The write is visible at once;
    /// where it is not durable yet and the namespace promises that an acknowledged write is
    /// ([`Durability::Commit`](crate::Durability::Commit)), a [`Ticket`] comes with it: the answer
    /// may leave once [`durable_position`](Namespace::durable_position) has reached it. A thread
    /// of [`Background`](crate::Background) flushes, and the
    /// [flush hook](Namespace::set_flush_hook) tells when it has. Refuses with
    /// [`ResultCode::DeviceOverload`] when too much waits for the disk already.
    pub fn update_nowait<'q, R>(
        &self,
        target: &Target<'q>,
        policy: &WritePolicy,
        f: impl for<'r> FnOnce(Slot<'r, 'q>) -> Result<(Change<'r>, R), Error>,
    ) -> Result<(R, Written, Option<Ticket>), Failure> {
        self.check_load()?;
        let done = self.apply(target, policy, f)?;
        if done.2.is_some() {
            self.want_flush();
        }
        Ok(done)
    }

    fn apply<'q, R>(
        &self,
        target: &Target<'q>,
        policy: &WritePolicy,
        f: impl for<'r> FnOnce(Slot<'r, 'q>) -> Result<(Change<'r>, R), Error>,
    ) -> Result<(R, Written, Option<Ticket>), Failure> {
        let limit = self.settings.transaction_pending_limit();
        let _waiting = self.pending.enter(&target.digest, limit)?;
        let mut partition = self.partition(&target.digest).write();
        let mut seen = None;
        let search =
            partition.search(&target.digest, |place| self.digest_seen(place, &mut seen))?;
        let found_entry;
        let stored = match &search {
            Search::Found(found) => {
                match self.entry_seen(found.entry.place, seen) {
                    Ok(entry) => {
                        found_entry = entry;
                        Some((*found, found_entry.view()))
                    }
                    // A write that wants nothing of the old bins is the way out of damage.
                    Err(_) if policy.exists == Exists::Replace => None,
                    Err(error) => return Err(error.into()),
                }
            }
            Search::Vacant(_) => None,
        };
        let now_ns = self.clock.now_ns();
        let alive = stored.filter(|(found, entry)| self.is_alive(&found.entry, entry, now_ns));
        let record = alive.map(|(_, entry)| entry.record());
        // Refusals tell the metadata of what is stored, also when it has expired.
        let meta = stored.map(|(_, entry)| entry.meta());
        let refuse = |error: Error| Failure::of(error, meta);

        check_exists(policy.exists, record.as_ref()).map_err(refuse)?;
        check_generation(policy.generation, record.as_ref()).map_err(refuse)?;
        if let Some(record) = &record {
            check_key(target, record)?;
        }
        let slot = Slot { record, now_ns, _request: PhantomData };
        let (change, result) = f(slot).map_err(refuse)?;
        let bins = match &change {
            Change::None => {
                let written = record.map_or(Written::Gone, |record| Written::Stands(record.meta));
                return Ok((result, written, None));
            }
            Change::Write(bins) if !bins.is_empty() => NewBins::Changed(bins),
            Change::Touch => match record {
                Some(record) => NewBins::Kept(record.bins),
                None => return Err(refuse(ResultCode::NotFound.into())),
            },
            Change::Delete | Change::Write(_) => {
                let found = stored.map(|(found, _)| found);
                self.check_guard(record, None, target).map_err(refuse)?;
                let mut end = None;
                if let Some(found) = found {
                    end = self.bury(&target.digest, &found.entry).map_err(refuse)?;
                    self.index_deleted(found.entry.place);
                    self.forget(&mut partition, found);
                }
                let ticket = end.and_then(|end| self.appended(end, now_ns));
                return Ok((result, Written::Gone, ticket));
            }
        };
        let write = Write { target, policy, record, meta, now_ns, bins };
        let (written, ticket) = self.store(&mut partition, search, write).map_err(refuse)?;
        Ok((result, Written::Stands(written), ticket))
    }

    /// Appends a tombstone for a record in a file, so that no restart brings it back; says where
    /// in the log it ends.
    fn bury(&self, digest: &Digest, old: &Entry) -> Result<Option<u64>, Error> {
        if self.log.files().is_none() || crate::sabotage::forgets_tombstones() {
            return Ok(None);
        }
        // A record that was written once has one copy on disk, and the tombstone can go with it.
        let covers = (old.flags & FLAG_SUPERSEDES == 0).then(|| self.log.cover(old.place));
        let len = if covers.is_some() { TOMBSTONE_COVERING_LEN } else { HEADER_LEN };
        let mut tombstone = self.log.reserve(len, Writer::Delete)?;
        let (sequence, stamp) = (self.log.next_sequence(), tombstone.stamp());
        write_tombstone(tombstone.bytes_mut(), digest, sequence, covers, stamp);
        let end = tombstone.end();
        tombstone.commit_tombstone();
        Ok(Some(end))
    }

    /// Appends the new entry and lets the index point at it.
    fn store(
        &self,
        partition: &mut PartitionIndex,
        search: Search,
        write: Write<'_, '_>,
    ) -> Result<(Meta, Option<Ticket>), Error> {
        let Write { target, policy, record, meta: stored, now_ns, bins } = write;
        self.stop_writes()?;
        check_bins(&bins)?;
        let set = record.map_or(target.set, |record| record.set);
        let set_id = self.sets.id_or_create(set)?;
        // A write is never older than the cut-off of its set, or it would vanish at once; nor than
        // the version before it, or a truncation between the two would spare the wrong one.
        let last_update_ns = now_ns
            .max(self.cut_off_ns(set_id))
            .max(stored.map_or(0, |stored| stored.last_update_ns));
        let old_meta = record.map(|record| record.meta);
        let entry = NewEntry {
            sequence: self.log.next_sequence(),
            digest: target.digest,
            last_update_ns,
            void_time: self.void_time(policy.ttl, old_meta, now_ns)?,
            generation: next_generation(old_meta),
            supersedes: matches!(search, Search::Found(_)),
            set,
            key: record
                .and_then(|record| record.key)
                .or_else(|| target.key.filter(|_| policy.store_key)),
            bins,
        };
        let len = entry.len();
        self.check_size(len)?;
        let mut reservation = self.log.reserve(len, Writer::Foreground)?;
        let stamp = reservation.stamp();
        entry.write(reservation.bytes_mut(), stamp);
        if self.guard.read().is_some() {
            let stored = EntryView::parse(reservation.bytes()).ok_or(ResultCode::ServerError)?;
            self.check_guard(record, Some(stored.record()), target)?;
        }
        let size = reservation.size();
        let meta = Meta {
            generation: entry.generation,
            void_time: entry.void_time,
            last_update_ns,
            stored_size: size.bytes() as u32,
        };
        let end = reservation.end();
        let indexed = Entry {
            place: reservation.commit(),
            void_time: entry.void_time,
            set_id,
            size,
            flags: if entry.supersedes { FLAG_SUPERSEDES } else { 0 },
        };
        self.index_written(&search, indexed.place);
        match search {
            Search::Vacant(vacancy) => {
                partition.insert_at(vacancy, &indexed);
                self.sets.with(set_id, |set| set.add(size.bytes() as u64));
            }
            Search::Found(found) => {
                let old = partition.replace(found.position, &indexed);
                self.account_replaced(&old, set_id, size);
                self.log.release(old.place, old.size, self.settings.defrag_below_percent());
            }
        }
        Ok((meta, self.appended(end, now_ns)))
    }

    /// An expired record may have been in another set than the one that takes its digest.
    fn account_replaced(&self, old: &Entry, set_id: u16, size: Size) {
        let (before, after) = (old.size.bytes() as u64, size.bytes() as u64);
        if old.set_id == set_id {
            self.sets.with(set_id, |set| set.resize(before, after));
        } else {
            self.sets.with(old.set_id, |set| set.remove(before));
            self.sets.with(set_id, |set| set.add(after));
        }
    }

    /// Takes a record out of the index and gives up its entry.
    pub(super) fn forget(&self, partition: &mut PartitionIndex, found: Found) {
        let old = partition.remove_at(found.position);
        self.account_removed(&old);
    }

    pub(super) fn account_removed(&self, old: &Entry) {
        self.sets.with(old.set_id, |set| set.remove(old.size.bytes() as u64));
        self.log.release(old.place, old.size, self.settings.defrag_below_percent());
    }

    fn check_guard(
        &self,
        old: Option<RecordView<'_>>,
        new: Option<RecordView<'_>>,
        target: &Target<'_>,
    ) -> Result<(), Error> {
        match self.guard.read().as_ref() {
            Some(guard) => guard.check(old, new, target.key).map_err(Error::from),
            None => Ok(()),
        }
    }

    fn check_size(&self, len: usize) -> Result<(), Error> {
        let max = self.settings.max_record_size();
        if len <= max {
            return Ok(());
        }
        Err(Error::new(
            ResultCode::RecordTooBig,
            format!(
                "the record would take {len} bytes, max-record-size of namespace `{}` is {max}; \
                 split it over several records or raise the limit",
                self.name()
            ),
        ))
    }

    /// Refuses when live data has reached the stop-writes threshold.
    pub(super) fn stop_writes(&self) -> Result<(), Error> {
        let percent = self.settings.stop_writes_used_percent();
        let live = self.log.live_bytes();
        let size = self.config.storage_size;
        if u128::from(live) * 100 < u128::from(size) * u128::from(percent) {
            return Ok(());
        }
        Err(Error::new(
            ResultCode::NoSpace,
            format!(
                "namespace `{}` holds {live} bytes, which is {percent}% (stop-writes-used-pct) of \
                 its storage.size of {size}; delete records or raise storage.size",
                self.name()
            ),
        ))
    }

    fn void_time(&self, ttl: Ttl, old: Option<Meta>, now_ns: u64) -> Result<u32, Error> {
        let seconds = match (ttl, old) {
            (Ttl::Never, _) => return Ok(0),
            (Ttl::Keep, Some(old)) => return Ok(old.void_time),
            (Ttl::Default | Ttl::Keep, _) => self.settings.default_ttl_s(),
            (Ttl::Seconds(seconds), _) => seconds,
        };
        if seconds == 0 {
            return Ok(0);
        }
        if seconds > TTL_MAX_S {
            return Err(Error::new(
                ResultCode::Parameter,
                format!("a TTL of {seconds} s is too long; the limit is {TTL_MAX_S} s (10 years)"),
            ));
        }
        if self.settings.nsup_period_s() == 0 && !self.settings.allow_ttl_without_nsup() {
            return Err(Error::new(
                ResultCode::Forbidden,
                format!(
                    "namespace `{}` does not sweep expired records (nsup-period is 0), so records \
                     cannot have a TTL; set nsup-period or allow-ttl-without-nsup",
                    self.name()
                ),
            ));
        }
        Ok(seconds_since_2010(now_ns).saturating_add(seconds))
    }

    /// A read near the end of a record's life gives it the same span again. Generation and bins
    /// stay. Races are harmless: whoever wrote in between has given it a new life.
    pub(super) fn extend_life(&self, target: &Target<'_>, seen: &Meta) {
        let policy = WritePolicy { ttl: Ttl::Seconds(life_s(seen)), ..WritePolicy::default() };
        let mut partition = self.partition(&target.digest).write();
        let Ok(search) = partition.search(&target.digest, |place| self.digest_at(place)) else {
            return;
        };
        let Search::Found(found) = search else { return };
        let Ok(entry) = self.log.entry(found.entry.place) else { return };
        let entry = entry.view();
        if entry.meta() != *seen {
            return;
        }
        let mut record = entry.record();
        // `store` counts one up.
        record.meta.generation = previous_generation(seen.generation);
        let bins = NewBins::Kept(record.bins);
        let now_ns = self.clock.now_ns();
        let meta = Some(*seen);
        let write = Write { target, policy: &policy, record: Some(record), meta, now_ns, bins };
        // A full storage must not fail the read that came before.
        let _ = self.store(&mut partition, search, write);
    }
}

/// A write whose policies have been checked.
struct Write<'a, 'q> {
    target: &'a Target<'q>,
    policy: &'a WritePolicy,
    record: Option<RecordView<'a>>,
    /// Metadata of what is stored, also when it has expired.
    meta: Option<Meta>,
    now_ns: u64,
    bins: NewBins<'a>,
}

fn check_exists(exists: Exists, record: Option<&RecordView<'_>>) -> Result<(), Error> {
    match (exists, record) {
        (Exists::CreateOnly, Some(_)) => Err(ResultCode::RecordExists.into()),
        (Exists::UpdateOnly | Exists::ReplaceOnly, None) => Err(ResultCode::NotFound.into()),
        _ => Ok(()),
    }
}

fn check_generation(check: GenerationCheck, record: Option<&RecordView<'_>>) -> Result<(), Error> {
    let stored = record.map_or(0, |record| u32::from(record.meta.generation));
    let (fits, asked) = match check {
        GenerationCheck::None => return Ok(()),
        GenerationCheck::Equal(asked) => (asked == stored, asked),
        GenerationCheck::Greater(asked) => (asked > stored, asked),
    };
    if fits {
        return Ok(());
    }
    Err(Error::new(
        ResultCode::Generation,
        format!("the record has generation {stored}, the command came with {asked}; read it again"),
    ))
}

fn check_bins(bins: &NewBins<'_>) -> Result<(), Error> {
    let NewBins::Changed(bins) = bins else { return Ok(()) };
    if bins.len() > BINS_MAX {
        return Err(Error::new(
            ResultCode::Parameter,
            format!("the record would have {} bins, the limit is {BINS_MAX}", bins.len()),
        ));
    }
    bins.iter().try_for_each(|bin: &NewBin<'_>| cairn_value::record::check_bin_name(bin.name))
}

/// Generations count from 1 to 65535 and start again at 1.
fn next_generation(old: Option<Meta>) -> u16 {
    old.map_or(1, |meta| meta.generation.checked_add(1).unwrap_or(1))
}

fn previous_generation(generation: u16) -> u16 {
    if generation == 1 { u16::MAX } else { generation - 1 }
}
