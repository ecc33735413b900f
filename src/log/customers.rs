//! What the log has of one customer: the replacements of the profile, newest first.
//!
//! A replacement is made from one read. It is one PUT, or a call for each address that is removed. Each call is a write
//! with its effect, and the first of them has the whole document, which also holds what the others keep.

use std::collections::VecDeque;

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::lag::{MAX_LAG, is_younger};
use super::replacement::Replacement;
use super::{Document, LastRead, Owner, RunId, Write, WriteId, WriteLog, WriteName};
use storefront_core::effect::{self, Effect, Kind};
use storefront_core::failure::Failure;
use storefront_core::id::AddressId;
use storefront_core::outcome::{MAX_LATENESS, WriteOutcome};
use storefront_core::profile::diff::FieldChange;
use storefront_core::profile::restore::belongs_to;
use storefront_core::profile::verify::Proof;

/// How many writes older than a minute are read at most for the addresses that they removed: a batch may make thousands
/// for one customer.
const MOST_OLDER: usize = 20;
/// How many writes one read of the log returns.
const PAGE: usize = 16;
/// The name of the call that replaces the profile.
pub const UPDATE: &str = "update";

/// The customer's part of the log.
#[derive(Debug, Clone)]
pub struct CustomerStore {
    /// The id that the log knows the customer by; the email that the first update found if there is no id.
    pub key: String,
    /// The service of the customer.
    pub service: String,
    /// `None` for a command that only reads, if this machine has no log.
    log: Option<WriteLog>,
}

/// A replacement that is in the log, without its document.
#[derive(Debug, Clone)]
pub struct Entry {
    first: Write,
    others: Vec<Write>,
}

impl Entry {
    /// What people name it by.
    pub fn name(&self) -> WriteName {
        self.first.name()
    }

    /// When its first call left.
    pub fn taken(&self) -> Timestamp {
        self.first.left_at
    }

    fn writes(&self) -> impl Iterator<Item = &Write> {
        std::iter::once(&self.first).chain(&self.others)
    }

    /// What became of the PUT; `None` if addresses were removed by calls of their own.
    pub fn put(&self) -> Option<WriteOutcome> {
        (self.first.call == UPDATE).then_some(self.first.outcome)
    }

    /// The addresses that were removed by calls of their own, with the outcome of each.
    pub fn removals(&self) -> Vec<(AddressId, WriteOutcome)> {
        let calls = self.writes().filter(|_| self.put().is_none());
        let of_call = |call: &Write| {
            let effect = effect_of(call);
            let outcome = call.outcome;
            effect.removed_addresses().map(|id| (id, outcome)).collect::<Vec<_>>()
        };
        calls.flat_map(of_call).collect()
    }

    /// What became of it.
    pub fn outcome(&self) -> WriteOutcome {
        match &self.others[..] {
            [] => self.first.outcome,
            _ => WriteOutcome::of_calls(&self.writes().map(|call| call.outcome).collect::<Vec<_>>()),
        }
    }

    /// The profile as it was sent, with the addresses that were added as the look after them showed them.
    pub fn as_stored(&self, replacement: &Replacement) -> Map<String, Value> {
        effect_of(&self.first).as_stored(&replacement.merged)
    }

    /// The addresses that it added, by their ids, as they were sent.
    pub fn added_addresses(&self) -> Vec<(AddressId, Value)> {
        let created = effect_of(&self.first).creates.into_iter();
        created.filter_map(|created| Some((AddressId(created.id?), created.content))).collect()
    }

    /// The values that the service rewrote.
    pub fn rewritten(&self) -> Vec<FieldChange> {
        effect_of(&self.first).rewritten()
    }
}

/// What a call changes, as the log has it.
fn effect_of(call: &Write) -> Effect {
    call.changes().unwrap_or_else(|| Effect::on(effect::Owner::to_be_made(Kind::Customer)))
}

/// A call that may have changed something.
#[derive(Debug)]
pub struct RecentCall {
    /// The first call of its replacement.
    pub of: WriteId,
    /// What it changed.
    pub effect: Effect,
    /// What became of it.
    pub outcome: WriteOutcome,
}

/// The newest PUT that may have changed something, as long as it may take effect.
#[derive(Debug)]
pub struct PendingWrite {
    /// The replacement.
    pub entry: Entry,
    /// When it can no longer take effect.
    pub until: Timestamp,
    /// Whether the service said that it applied it.
    pub is_mismatch: bool,
}

impl PendingWrite {
    /// What proves that it was applied.
    pub fn proof(&self) -> Proof {
        if self.is_mismatch { Proof::OrRewritten } else { Proof::AsSent }
    }
}

/// How far back writes are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// Over the last minutes.
    LastMinutes,
    /// The last minutes, and further back to the newest applied one.
    NewestApplied,
}

impl CustomerStore {
    /// The part of a customer; `key` is [`storefront_core::profile::stored::Profile::customer_key`] or what stands for it.
    pub fn new(log: Option<WriteLog>, service: String, key: String) -> Self {
        Self { key, service, log }
    }

    fn owner(&self) -> Owner {
        Owner::customer(&self.key)
    }

    fn now(&self) -> Timestamp {
        self.log.as_ref().map_or(Timestamp::MAX, |log| log.clock.now())
    }

    /// The replacement whose first call is this one.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn entry(&self, id: WriteId) -> Result<Option<Entry>, Failure> {
        let Some(log) = &self.log else { return Ok(None) };
        let Some(first) = log.write(id)? else { return Ok(None) };
        Ok(Some(Entry { others: log.parts_of(id)?, first }))
    }

    /// The replacements, newest first.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn entries(&self) -> impl Iterator<Item = Result<Entry, Failure>> + '_ {
        Entries { store: self, read: VecDeque::new(), before: None, others: Vec::new(), is_at_end: false }
    }

    /// The newest replacement that `is_meant`.
    ///
    /// # Errors
    /// As [`Self::entries`].
    pub fn newest(&self, mut is_meant: impl FnMut(&Entry) -> bool) -> Result<Option<Entry>, Failure> {
        for entry in self.entries() {
            let entry = entry?;
            if is_meant(&entry) {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }

    /// Whether this customer has a write with this `name`: the id of a run, or with the number of a record in a batch.
    /// Commands overlap: the order of the writes does not tell where those of a run end.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn has(&self, name: &str) -> Result<bool, Failure> {
        let (Some(log), Some((run, record))) = (&self.log, WriteLog::parse(name)) else { return Ok(false) };
        let owner = self.owner();
        let is_own = |write: &Write| write.service == self.service && write.is_to(&owner);
        Ok(log.writes_of(run, record)?.iter().any(is_own))
    }

    /// The addresses that the replacements after this one have added, by their ids, as they were sent.
    ///
    /// # Errors
    /// As [`Self::entries`].
    pub fn added_since(&self, entry: &Entry) -> Result<Vec<(AddressId, Value)>, Failure> {
        let mut added = Vec::new();
        for later in self.entries() {
            let later = later?;
            if later.first.id <= entry.first.id {
                break;
            }
            added.extend(later.added_addresses());
        }
        Ok(added)
    }

    /// The replacements of a record that these runs, by their random names, made for this customer, in their order.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn of_record(&self, runs: &[String], record: u64) -> Result<Vec<Entry>, Failure> {
        let Some(log) = &self.log else { return Ok(Vec::new()) };
        let own = |write: &Write| {
            write.part_of.is_none()
                && write.service == self.service
                && write.owner.as_ref() == Some(&self.key)
        };
        let firsts = log.writes_of_record(runs, record)?.into_iter().filter(own);
        firsts.map(|first| Ok(Entry { others: log.parts_of(first.id)?, first })).collect()
    }

    /// A replacement. If it removed addresses by calls of their own, only calls that may have been applied count as asked
    /// for.
    ///
    /// # Errors
    /// `guard` if it cannot be read, `usage` if it was deleted.
    pub fn read(&self, entry: &Entry) -> Result<Replacement, Failure> {
        let whole = self.whole(entry)?;
        if entry.put().is_some() {
            return Ok(whole);
        }
        let applied = entry.writes().filter(|call| call.outcome.may_be_applied());
        let merged = applied.fold(whole.customer.clone(), |now, call| effect_of(call).applied_to(&now));
        Ok(Replacement { merged, ..whole })
    }

    fn whole(&self, entry: &Entry) -> Result<Replacement, Failure> {
        let name = entry.name();
        let gone = || Failure::usage(format!("what {name} changed was deleted from the log"));
        let log = self.log.as_ref().ok_or_else(gone)?;
        let Document { stored, sent } = log.document(name.id)?.ok_or_else(gone)?;
        let taken = entry.taken().to_string();
        let operation = entry.first.operation.clone();
        Ok(Replacement { name, taken, operation, customer: stored, merged: sent })
    }

    /// The calls of a replacement that may have been applied, newest first, each as a replacement of its own with its
    /// outcome.
    fn read_calls(&self, entry: &Entry) -> Result<Vec<(Replacement, WriteOutcome)>, Failure> {
        let whole = self.whole(entry)?;
        if let Some(put) = entry.put() {
            return Ok(vec![(whole, put)]);
        }
        let mut now = whole.customer.clone();
        let mut made = Vec::new();
        for call in entry.writes().filter(|call| call.outcome.may_be_applied()) {
            let merged = effect_of(call).applied_to(&now);
            let customer = std::mem::replace(&mut now, merged.clone());
            made.push((Replacement { customer, merged, ..whole.clone() }, call.outcome));
        }
        made.reverse();
        Ok(made)
    }

    /// Notes the outcome of the PUT of a replacement, or of its removals that are open, and what a look showed of it. If
    /// this cannot be written, the next command finds out for itself.
    pub fn set_outcome(&self, of: WriteName, outcome: WriteOutcome, shown: Option<&Map<String, Value>>) {
        let Ok(Some(entry)) = self.entry(of.id) else { return };
        let is_put = entry.put().is_some();
        let is_open = |call: &&Write| is_put || matches!(call.outcome, WriteOutcome::Unknown { .. });
        entry.writes().filter(is_open).for_each(|call| self.close(call, outcome, shown));
    }

    fn close(&self, call: &Write, outcome: WriteOutcome, shown: Option<&Map<String, Value>>) {
        let Some(log) = &self.log else { return };
        let closed = shown.map(|shown| {
            let mut effect = effect_of(call);
            effect.close(shown);
            effect
        });
        log.close(call.id, outcome, closed.as_ref());
    }

    /// Returns once everything that was noted is in the log: then the customer's lock may be released.
    pub async fn flush(&self) {
        if let Some(log) = &self.log {
            log.flush().await;
        }
    }

    /// The newest PUT that may have changed something, if it may still take effect. A late removal of an address undoes
    /// nothing.
    ///
    /// # Errors
    /// As [`Self::entries`].
    pub fn newest_pending(&self) -> Result<Option<PendingWrite>, Failure> {
        for entry in self.entries() {
            let entry = entry?;
            let Some(outcome) = entry.put().filter(|put| put.may_be_applied()) else { continue };
            let is_mismatch = outcome.is_mismatch();
            let until = outcome.open_until(self.now());
            return Ok(until.map(|until| PendingWrite { entry, until, is_mismatch }));
        }
        Ok(None)
    }

    /// The profiles that recent replacements were made from, newest first, each with its outcome; see
    /// [`Self::recent_calls`].
    ///
    /// # Errors
    /// As [`Self::entries`].
    pub fn recent_profiles(&self) -> Result<Vec<(Replacement, WriteOutcome)>, Failure> {
        let mut recent = Vec::new();
        for entry in self.recent(Reach::LastMinutes)? {
            recent.extend(self.read_calls(&entry)?);
        }
        Ok(recent)
    }

    /// The calls that may have changed something, newest first: all of the last minute, and some of the minutes before.
    /// Customers without an id may share replacements: then only those that were made from a profile of this customer
    /// count.
    ///
    /// # Errors
    /// As [`Self::entries`].
    pub fn recent_calls(
        &self,
        reach: Reach,
        without_id: Option<&Map<String, Value>>,
    ) -> Result<Vec<RecentCall>, Failure> {
        let mut recent = Vec::new();
        for entry in self.recent(reach)? {
            if let Some(stored) = without_id
                && !belongs_to(stored, &self.whole(&entry)?.customer)
            {
                continue;
            }
            let calls: Vec<&Write> = entry.writes().filter(|call| call.outcome.may_be_applied()).collect();
            let of_call = |call: &&Write| RecentCall {
                of: entry.name().id,
                effect: effect_of(call),
                outcome: call.outcome,
            };
            recent.extend(calls.iter().rev().map(of_call));
        }
        Ok(recent)
    }

    fn recent(&self, reach: Reach) -> Result<Vec<Entry>, Failure> {
        let (mut recent, mut older): (Vec<Entry>, usize) = (Vec::new(), 0);
        let mut has_applied = false;
        for entry in self.entries() {
            let entry = entry?;
            let outcome = entry.outcome();
            let is_old = self.now().duration_since(entry.taken()) > MAX_LATENESS
                && !matches!(outcome, WriteOutcome::Applied { at, .. } if self.is_recent(at));
            let is_enough = reach == Reach::LastMinutes || has_applied;
            if is_old && is_enough {
                break;
            }
            let is_older = !outcome.time().is_some_and(|at| self.is_recent(at));
            if !outcome.may_be_applied() || is_older && older == MOST_OLDER && is_enough {
                continue;
            }
            older += usize::from(is_older);
            has_applied |= entry.writes().any(|call| matches!(call.outcome, WriteOutcome::Applied { .. }));
            recent.push(entry);
        }
        Ok(recent)
    }

    /// Whether less than a minute has passed since then.
    pub fn is_recent(&self, at: Timestamp) -> bool {
        is_younger(MAX_LAG, at, self.now())
    }

    /// Whether the customer may have been changed from this machine since then.
    ///
    /// # Errors
    /// As [`Self::entries`].
    pub fn changed_since(&self, then: Timestamp) -> Result<bool, Failure> {
        let Some(newest) = self.newest(|_| true)? else { return Ok(false) };
        Ok(newest.taken() >= then
            || match newest.outcome() {
                WriteOutcome::NotSent | WriteOutcome::Refused => false,
                WriteOutcome::Applied { at, .. } | WriteOutcome::Partial { at } => at >= then,
                WriteOutcome::Unknown { .. } | WriteOutcome::Mismatch { .. } => true,
            })
    }

    /// Keeps what a read has shown, for [`Self::last_read`].
    pub fn note_read(&self, customer: &Map<String, Value>) {
        if let Some(log) = &self.log {
            log.note_read(&self.service, &self.key, customer);
        }
    }

    /// What the last read showed, if that was less than a minute ago.
    ///
    /// # Errors
    /// `guard` where the log cannot be read.
    pub fn last_read(&self) -> Result<Option<LastRead>, Failure> {
        let Some(log) = &self.log else { return Ok(None) };
        Ok(log.last_read(&self.service, &self.key)?.filter(|read| self.is_recent(read.at)))
    }
}

impl WriteLog {
    /// The run and the record of a name; `None` if it is not one.
    pub fn parse(name: &str) -> Option<(RunId, Option<u64>)> {
        match name.split_once(':') {
            Some((run, record)) => Some((RunId(run.parse().ok()?), Some(record.parse().ok()?))),
            None => Some((RunId(name.parse().ok()?), None)),
        }
    }
}

/// The replacements of a customer, read page by page.
struct Entries<'a> {
    store: &'a CustomerStore,
    read: VecDeque<Write>,
    before: Option<WriteId>,
    /// Calls whose replacement begins with the next first call.
    others: Vec<Write>,
    is_at_end: bool,
}

impl Iterator for Entries<'_> {
    type Item = Result<Entry, Failure>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let Some(write) = self.read.pop_front() else {
                let log = self.store.log.as_ref().filter(|_| !self.is_at_end)?;
                match log.newest(&self.store.service, &self.store.owner(), self.before, PAGE) {
                    Err(failure) => {
                        self.is_at_end = true;
                        return Some(Err(failure));
                    }
                    Ok(page) => {
                        self.is_at_end = page.len() < PAGE;
                        self.before = page.last().map(|write| write.id);
                        self.read.extend(page);
                    }
                }
                if self.read.is_empty() {
                    return None;
                }
                continue;
            };
            if write.part_of.is_some() {
                self.others.push(write);
                continue;
            }
            let mut others = std::mem::take(&mut self.others);
            others.retain(|other| other.part_of == Some(write.id));
            others.reverse();
            return Some(Ok(Entry { first: write, others }));
        }
    }
}
