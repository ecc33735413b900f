//! Snapshots: the stored profile as it was before a replacement, and as it was sent, in a file of its own. A small file
//! beside it says what became of the replacement ([`super::outcome`]).
//!
//! They are numbered, for clocks are set back and forth: order and retention follow the numbers.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::CustomerStore;
use super::record::WriteRecord;
use crate::system::environment::STATE_HOME;
use crate::system::storage::Storage;
use storefront_core::failure::Failure;
use storefront_core::hint::{hint, storefront};
use storefront_core::id::AddressId;
use storefront_core::outcome::{MAX_LATENESS, WriteOutcome};
use storefront_core::profile::address::{address_list, addresses_by_id};
use storefront_core::profile::diff::{self, Change};
use storefront_core::profile::merge::Merged;
use storefront_core::text::exact_json;

/// The number of writes older than a minute that are read at most, for the addresses that they removed: a batch may make
/// thousands to one customer.
const MOST_OLDER: usize = 20;
/// For so long a replica may answer with what was there before a write.
pub const MAX_LAG: SignedDuration = SignedDuration::from_mins(1);
/// A mark that is further in the future is not a clock that was set back.
const MAX_SET_BACK: SignedDuration = SignedDuration::from_hours(24);
/// The date in the name of a snapshot.
const DATE: &str = "%Y%m%dT%H%M%SZ";
/// The file that keeps what the last read showed; its name is none of a snapshot.
const LAST_READ: &str = "last-read";
/// How the name of a file begins that is not written to its end.
const HALF_WRITTEN: &str = ".tmp";
/// The extension of the file that is left of snapshots that were removed. Its name says all, and it is empty.
const REMOVED: &str = "removed";

/// What stands in the file.
#[derive(Serialize)]
struct Content<'a> {
    number: u64,
    taken: String,
    service: &'a str,
    operation: &'a str,
    customer: &'a Map<String, Value>,
    merged: &'a Map<String, Value>,
    #[serde(skip_serializing_if = "<[AddressId]>::is_empty")]
    removes: &'a [AddressId],
}

/// A snapshot that is there, not read yet.
#[derive(Debug, Clone)]
pub struct SnapshotEntry {
    /// Its number.
    pub number: u64,
    /// Its file.
    pub path: PathBuf,
}

impl SnapshotEntry {
    /// Its name without the extension: what `customer history` shows and `customer restore` takes.
    pub fn name(&self) -> &str {
        stem(&self.path)
    }

    /// When it was taken, to the second.
    pub fn taken(&self) -> Timestamp {
        date_of(&self.path, Timestamp::MIN)
    }
}

/// A snapshot that was read.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Its file.
    pub path: PathBuf,
    /// The service it was taken from, as [`CustomerStore::service`] names it.
    pub service: Option<String>,
    /// When it was taken, RFC 3339, UTC.
    pub taken: String,
    /// Who was about to replace the profile.
    pub operation: String,
    /// The customer object as it was.
    pub customer: Map<String, Value>,
    /// The customer object as it was to be.
    pub merged: Map<String, Value>,
    /// The one that was sent, from which `removes` were then removed.
    sent: Map<String, Value>,
    /// Ids of the addresses that are removed by calls of their own.
    pub removes: Vec<AddressId>,
}

/// A snapshot whose replacement has not left: that is noted when the command ends before it does, by an error or a
/// signal. Only a process that dies leaves the question open.
#[derive(Debug)]
pub struct Unsent<'a> {
    store: &'a CustomerStore,
    /// Its file.
    pub path: PathBuf,
    has_left: bool,
}

impl Unsent<'_> {
    /// The replacement leaves now: the snapshot's file.
    pub fn leaves(mut self) -> PathBuf {
        self.has_left = true;
        std::mem::take(&mut self.path)
    }
}

impl Drop for Unsent<'_> {
    fn drop(&mut self) {
        if !self.has_left {
            self.store.set_outcome(&self.path, WriteOutcome::NotSent, &[]);
        }
    }
}

/// The newest replacement, where a request of it may still take effect.
#[derive(Debug)]
pub struct PendingWrite {
    /// What was taken for it.
    pub entry: SnapshotEntry,
    /// When that can no longer happen.
    pub until: Timestamp,
    /// Whether the service said that it has it.
    pub is_mismatch: bool,
}

/// The snapshots of a customer, and what is left of those that were removed.
#[derive(Debug, Clone, Default)]
pub(super) struct Listing {
    /// Those that are there, newest first.
    entries: Rc<Vec<SnapshotEntry>>,
    /// What is left of the others.
    removed: Option<Removed>,
}

/// What is left of snapshots that were removed: nothing that says who the customer is.
#[derive(Debug, Clone, Copy)]
struct Removed {
    /// The last number that was given.
    number: u64,
    /// When the last write of those that were removed may have been applied, or the last read of them was made.
    written: Timestamp,
}

impl Removed {
    /// The name of its file. The time is rounded up.
    fn file_name(self) -> String {
        let written =
            self.written.checked_add(SignedDuration::from_nanos(999_999_999)).unwrap_or(self.written);
        format!("{:06}-{}.{REMOVED}", self.number, written.strftime(DATE))
    }
}

/// What the last read of a customer showed that was accepted.
#[derive(Debug, Serialize, Deserialize)]
pub struct LastRead {
    /// When.
    at: Timestamp,
    /// The number of the newest snapshot then: what it and those before it wrote was seen.
    newest: u64,
    /// The profile.
    pub customer: Map<String, Value>,
}

impl LastRead {
    /// Whether it was read after what this snapshot was taken for: it shows what became of that.
    pub fn is_after(&self, snapshot: &Snapshot) -> bool {
        number_of(&snapshot.path).is_some_and(|number| number <= self.newest)
    }
}

impl CustomerStore {
    /// Takes a snapshot, which is on disk whole or not at all when this returns: `operation` replaces, `customer` is the
    /// stored object with every field as it came, `merged` the one that is about to be sent, and `removes` are the addresses
    /// that are then removed by calls of their own. The caller holds the customer's lock.
    ///
    /// # Errors
    /// `internal` when it cannot be written; nothing may be sent then.
    pub async fn take(
        &self,
        operation: &str,
        customer: &Map<String, Value>,
        merged: &Map<String, Value>,
        removes: &[AddressId],
    ) -> Result<Unsent<'_>, Failure> {
        let unwritable = |error: std::io::Error| {
            let directory = self.directory.display();
            Failure::internal(format!("the snapshot cannot be written to `{directory}`: {error}")).hint(
                format!("a profile is replaced only after a snapshot: free some space, or set {STATE_HOME}"),
            )
        };
        let now = self.clock.now();
        let (taken, service) = (now.to_string(), &*self.service);
        let mut content = Content { number: 1, taken, service, operation, customer, merged, removes };
        content.number += self.listing()?.last_number();
        loop {
            let bytes = serde_json::to_vec(&content).map_err(|error| unwritable(error.into()))?;
            let name = format!("{:06}-{}.json", content.number, now.strftime(DATE));
            let unsent = Unsent { store: self, path: self.directory.join(name), has_left: false };
            let created = self.storage.clone().create_concurrently(unsent.path.clone(), bytes).await;
            let Err(error) = created else {
                if let Some(listed) = &mut *self.listed.borrow_mut() {
                    Rc::make_mut(&mut listed.entries)
                        .insert(0, SnapshotEntry { number: content.number, path: unsent.path.clone() });
                }
                return Ok(unsent);
            };
            // It is another one's, or none.
            unsent.leaves();
            if error.kind() != std::io::ErrorKind::AlreadyExists {
                return Err(unwritable(error));
            }
            content.number += 1;
        }
    }

    /// The snapshots, newest first. Files that are none are passed over.
    ///
    /// # Errors
    /// `internal` when the directory cannot be read.
    pub fn entries(&self) -> Result<Rc<Vec<SnapshotEntry>>, Failure> {
        Ok(self.listing()?.entries)
    }

    fn listing(&self) -> Result<Listing, Failure> {
        if let Some(listed) = &*self.listed.borrow() {
            return Ok(listed.clone());
        }
        let files = self.storage.list(&self.directory).map_err(|error| self.unreadable(&error))?;
        Ok(Listing::of(files))
    }

    /// Lists the snapshots once for all that follows, and removes what commands left that were killed while they wrote a file:
    /// it may hold a whole profile. The caller holds the customer's lock as long as it has this.
    ///
    /// # Errors
    /// As [`Self::entries`].
    pub fn list_once(&self) -> Result<(), Failure> {
        let files = self.storage.list(&self.directory).map_err(|error| self.unreadable(&error))?;
        for file in files.iter().filter(|file| is_half_written(file)) {
            let _ = self.storage.remove(file);
        }
        self.listed.replace(Some(Listing::of(files)));
        Ok(())
    }

    fn unreadable(&self, error: &std::io::Error) -> Failure {
        Failure::internal(format!("`{}` cannot be read: {error}", self.directory.display()))
    }

    /// The one that `name` stands for: a name, a number, or the beginning of a name. A whole name and a number mean that
    /// snapshot, whatever else begins so.
    ///
    /// # Errors
    /// As [`Self::entries`]; `usage` where it stands for none, or for several.
    pub fn named(&self, name: &str) -> Result<SnapshotEntry, Failure> {
        let mut entries = self.entries()?.to_vec();
        let number = name.parse::<u64>().ok();
        let is_exact = |entry: &SnapshotEntry| entry.name() == name || number == Some(entry.number);
        let has_exact = entries.iter().any(is_exact);
        entries.retain(|entry| if has_exact { is_exact(entry) } else { entry.name().starts_with(name) });
        match &mut entries[..] {
            [_] => Ok(entries.remove(0)),
            [] => Err(Failure::usage(format!("no snapshot named `{name}` of this customer on this machine"))
                .hint(hint!(storefront("customer history"), " lists the snapshots"))),
            several => Err(Failure::usage(format!("`{name}` names {} snapshots", several.len()))
                .hint("use a longer prefix, or a snapshot number")),
        }
    }

    /// Reads a snapshot.
    ///
    /// # Errors
    /// `usage` when there is no such file, or it is not a snapshot.
    pub fn read(&self, path: &Path) -> Result<Snapshot, Failure> {
        let unreadable =
            |error| Failure::usage(format!("the snapshot `{}` cannot be read: {error}", path.display()));
        Snapshot::parse(&self.storage.read(path).map_err(unreadable)?, path)
    }

    /// The newest PUT that may have changed something, if it may still take effect. The removal of an address undoes nothing,
    /// whenever it comes.
    ///
    /// # Errors
    /// As [`Self::entries`].
    pub fn newest_pending(&self) -> Result<Option<PendingWrite>, Failure> {
        for entry in self.entries()?.iter() {
            let Some(outcome) = self.calls(&entry.path).put().filter(|put| put.may_be_applied()) else {
                continue;
            };
            let is_mismatch = matches!(outcome, WriteOutcome::Mismatch { .. });
            let until = outcome.open_until(self.clock.now());
            return Ok(until.map(|until| PendingWrite { entry: entry.clone(), until, is_mismatch }));
        }
        Ok(None)
    }

    /// The replacements that may have changed something, newest first: all of the last minute, however many, and some of the
    /// minutes before; with `least_one`, the newest applied one whatever its age. Those that cannot be read are left out.
    ///
    /// # Errors
    /// As [`Self::entries`]; `guard` where one that may have been applied in the last minute cannot be read.
    pub fn recent(&self, least_one: bool) -> Result<Vec<(Snapshot, WriteOutcome)>, Failure> {
        let (mut recent, mut older): (Vec<(Snapshot, WriteOutcome)>, usize) = (Vec::new(), 0);
        for entry in self.entries()?.iter() {
            let is_old = self.clock.now().duration_since(date_of(&entry.path, Timestamp::MAX)) > MAX_LATENESS;
            let is_old = is_old
                && !matches!(self.outcome(&entry.path), WriteOutcome::Applied { at, .. } if self.is_recent(at));
            let has_applied =
                recent.iter().any(|(_, outcome)| matches!(outcome, WriteOutcome::Applied { .. }));
            if is_old && (!least_one || has_applied) {
                break;
            }
            let written = self.record(&entry.path);
            let record = self.known_or_unknown(&entry.path, written.as_ref().ok().cloned().flatten());
            let outcome = record.outcome;
            let is_older = !outcome.time().is_some_and(|at| self.is_recent(at));
            if is_older && older == MOST_OLDER && (!least_one || has_applied) {
                continue;
            }
            // What cannot be read now may be that the service has it.
            let is_lost = match outcome {
                WriteOutcome::Applied { at, .. } | WriteOutcome::Partial { at } => self.is_recent(at),
                WriteOutcome::Unknown { sent_at } => written.is_err() && self.is_recent(sent_at),
                _ => false,
            };
            let readable = written.map_err(|error| Failure::guard(error.to_string()));
            match readable.and_then(|_| self.read(&entry.path)) {
                Ok(snapshot) if outcome.may_be_applied() => {
                    older += usize::from(is_older);
                    recent.extend(snapshot.calls(&record));
                }
                Err(failure) if is_lost => {
                    let message =
                        format!("whether the service shows the last update is not known: {failure}");
                    return Err(Failure::guard(message).hint("check the disk, or try again in a minute"));
                }
                _ => {}
            }
        }
        Ok(recent)
    }

    /// Whether less than a minute went by since then.
    pub fn is_recent(&self, at: Timestamp) -> bool {
        is_recent(at, self.clock.now())
    }

    /// Whether the customer may have been changed from this machine since then.
    ///
    /// # Errors
    /// As [`Self::entries`].
    pub fn changed_since(&self, then: Timestamp) -> Result<bool, Failure> {
        let Listing { entries, removed } = self.listing()?;
        if removed.is_some_and(|removed| removed.written >= then) {
            return Ok(true);
        }
        let Some(newest) = entries.first() else { return Ok(false) };
        let taken = self.read(&newest.path).ok().and_then(|snapshot| snapshot.taken.parse().ok());
        let was_taken_since = taken.is_none_or(|taken: Timestamp| taken >= then);
        Ok(was_taken_since
            || match self.outcome(&newest.path) {
                WriteOutcome::NotSent | WriteOutcome::Refused => false,
                WriteOutcome::Applied { at, .. } | WriteOutcome::Partial { at } => at >= then,
                WriteOutcome::Unknown { .. } | WriteOutcome::Mismatch { .. } => true,
            })
    }

    /// Keeps what a read has shown, for [`Self::last_read`]. Best effort: what cannot be written is left out.
    pub fn note_read(&self, customer: &Map<String, Value>) {
        let newest = self.listing().map_or(0, |listing| listing.last_number());
        let read = LastRead { at: self.clock.now(), newest, customer: customer.clone() };
        let file = self.directory.join(LAST_READ);
        let _ = serde_json::to_vec(&read).map(|text| self.storage.replace(&file, &text));
    }

    /// What the last read showed, if that was less than a minute ago.
    pub fn last_read(&self) -> Option<LastRead> {
        let text = self.storage.read(&self.directory.join(LAST_READ)).ok()?;
        let read: LastRead = serde_json::from_slice(&text).ok()?;
        self.is_recent(read.at).then_some(read)
    }

    /// Whether a write of the last minute, or a read of it, was removed: what a read has to show is not known then.
    pub fn has_removed_recently(&self) -> bool {
        // What cannot be listed is reported by whatever needs the snapshots.
        let removed = self.listing().ok().and_then(|listing| listing.removed);
        removed.is_some_and(|removed| self.is_recent(removed.written))
    }

    /// Removes snapshots, and what became of them; with `and_read`, what the last read showed, too. The caller holds the
    /// customer's lock.
    ///
    /// # Errors
    /// Whatever the system says, with the file. Nothing is removed before the last number, and when the last of these writes
    /// was made, are on disk.
    pub fn remove(&self, entries: &[SnapshotEntry], and_read: bool) -> Result<(), Failure> {
        let removed = |path: &Path| {
            let path = path.display().to_string();
            move |error: std::io::Error| Failure::internal(format!("cannot delete `{path}`: {error}"))
        };
        self.note_removal(entries, and_read)?;
        for entry in entries {
            self.storage.remove(&entry.path).map_err(removed(&entry.path))?;
            self.forget_outcome(&entry.path);
        }
        let read = self.directory.join(LAST_READ);
        match self.storage.remove(&read) {
            Err(error) if and_read && error.kind() != std::io::ErrorKind::NotFound => {
                Err(removed(&read)(error))
            }
            _ => Ok(()),
        }
    }

    /// Writes down what the next commands need of snapshots that are about to be removed.
    fn note_removal(&self, entries: &[SnapshotEntry], and_read: bool) -> Result<(), Failure> {
        let listing = self.listing()?;
        self.listed.replace(None);
        let read = self.last_read().filter(|_| and_read).map(|read| read.at);
        let time = |entry: &SnapshotEntry| {
            let taken = date_of(&entry.path, Timestamp::MIN);
            self.outcome(&entry.path).time().unwrap_or(taken).max(taken)
        };
        let earlier = listing.removed.map(|removed| removed.written);
        let Some(written) = entries.iter().map(time).chain(read).chain(earlier).max() else { return Ok(()) };
        let has_last = entries.iter().any(|entry| entry.number == listing.last_number());
        if !has_last && !self.is_recent(written) {
            return Ok(());
        }
        let file = self.directory.join(Removed { number: listing.last_number(), written }.file_name());
        match self.storage.create(&file, b"") {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => {
                let message = format!("nothing is deleted: `{}` cannot be written: {error}", file.display());
                return Err(Failure::internal(message));
            }
            _ => {}
        }
        for other in self.storage.list(&self.directory).unwrap_or_default() {
            if other != file && other.extension().is_some_and(|extension| extension == REMOVED) {
                let _ = self.storage.remove(&other);
            }
        }
        Ok(())
    }

    /// The snapshots that are older than this, whatever their number, except those whose outcome is unknown or a mismatch, and
    /// those of the last minutes, which commands that come compare reads with. With them, those that were left out because of
    /// their outcome.
    ///
    /// # Errors
    /// As [`Self::entries`].
    pub fn older_than(&self, limit: Timestamp) -> Result<(Vec<SnapshotEntry>, Vec<SnapshotEntry>), Failure> {
        let latest = self.clock.now().checked_sub(MAX_LATENESS).unwrap_or(Timestamp::MIN);
        let limit = limit.min(latest);
        // Names that sort behind it are of later dates: there may be thousands of them.
        let last = limit.strftime(DATE).to_string();
        let (mut older, mut open) = (Vec::new(), Vec::new());
        for entry in self.entries()?.iter().filter(|entry| date_text(&entry.path) <= &*last) {
            if date_of(&entry.path, Timestamp::MAX) >= limit {
                continue;
            }
            match self.outcome(&entry.path) {
                WriteOutcome::Unknown { .. } | WriteOutcome::Mismatch { .. } => open.push(entry.clone()),
                WriteOutcome::Applied { at, .. } | WriteOutcome::Partial { at } if self.is_recent(at) => {}
                _ => older.push(entry.clone()),
            }
        }
        Ok((older, open))
    }
}

impl Listing {
    /// The snapshots among these files. There may be thousands: each name is looked at once.
    fn of(files: Vec<PathBuf>) -> Self {
        let (mut entries, mut removed) = (Vec::new(), None::<Removed>);
        for path in files {
            let Some(number) = number_of(&path) else { continue };
            match path.extension().and_then(|extension| extension.to_str()) {
                Some("json") => entries.push(SnapshotEntry { number, path }),
                Some(REMOVED) => {
                    let written = date_of(&path, Timestamp::MAX);
                    let last = removed.get_or_insert(Removed { number, written });
                    (last.number, last.written) = (last.number.max(number), last.written.max(written));
                }
                _ => {}
            }
        }
        entries.sort_unstable_by(|left: &SnapshotEntry, right| {
            right.number.cmp(&left.number).then_with(|| right.path.cmp(&left.path))
        });
        Self { entries: Rc::new(entries), removed }
    }

    /// The last number that was given; 0 where none was.
    fn last_number(&self) -> u64 {
        let newest = self.entries.first().map_or(0, |newest| newest.number);
        newest.max(self.removed.map_or(0, |removed| removed.number))
    }
}

/// The snapshots of a directory, newest first.
pub(super) fn entries(storage: &dyn Storage, directory: &Path) -> std::io::Result<Rc<Vec<SnapshotEntry>>> {
    Ok(Listing::of(storage.list(directory)?).entries)
}

/// Whether this is a file that a command left which was killed while it wrote it.
pub(super) fn is_half_written(path: &Path) -> bool {
    name_of(path).starts_with(HALF_WRITTEN)
}

/// The name of a file; empty where it is not text.
fn name_of(path: &Path) -> &str {
    path.file_name().and_then(|name| name.to_str()).unwrap_or_default()
}

/// Whether less than a minute went by, also by a clock that was set back by less than a day.
fn is_recent(at: Timestamp, now: Timestamp) -> bool {
    let age = now.duration_since(at);
    -MAX_SET_BACK < age && age < MAX_LAG
}

/// The name of a snapshot's file without the extension: what `customer history` shows and `customer restore` takes.
pub fn stem(path: &Path) -> &str {
    path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default()
}

fn number_of(path: &Path) -> Option<u64> {
    stem(path).split_once('-')?.0.parse().ok()
}

fn date_text(path: &Path) -> &str {
    stem(path).split_once('-').map_or("", |(_, date)| date)
}

/// When a snapshot was taken, by its name; `unnamed` where the name does not say.
pub(super) fn date_of(path: &Path, unnamed: Timestamp) -> Timestamp {
    let date = stem(path).split_once('-').map_or("", |(_, date)| date);
    let parsed = jiff::fmt::strtime::parse("%Y%m%dT%H%M%SZ", date).and_then(|parsed| parsed.to_datetime());
    parsed.and_then(|date| date.to_zoned(jiff::tz::TimeZone::UTC)).map_or(unnamed, |date| date.timestamp())
}

impl Snapshot {
    /// Reads the text of a snapshot that stands at `path`.
    ///
    /// # Errors
    /// `usage` when it is none.
    pub fn parse(text: &[u8], path: &Path) -> Result<Self, Failure> {
        let no_snapshot = || {
            Failure::usage(format!("`{}` is not a snapshot", path.display()))
                .hint(hint!(storefront("customer history"), " lists the snapshots"))
        };
        let mut content = exact_json::parse_object(text).map_err(|error| match error {
            exact_json::Error::Syntax { .. } => no_snapshot(),
            error => Failure::usage(format!("`{}`: {error}", path.display())),
        })?;
        let text = |name: &str| content.get(name)?.as_str().map(str::to_owned);
        let (Some(taken), Some(operation)) = (text("taken"), text("operation")) else {
            return Err(no_snapshot());
        };
        let service = text("service");
        let Some(Value::Object(customer)) = content.remove("customer") else { return Err(no_snapshot()) };
        if !customer.get("addresses").is_some_and(Value::is_array) {
            return Err(no_snapshot());
        }
        let sent = match content.remove("merged") {
            Some(Value::Object(merged)) => merged,
            _ => customer.clone(),
        };
        let removes = content.get("removes").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let removes: Vec<AddressId> = removes.iter().filter_map(AddressId::of).collect();
        let merged = if removes.is_empty() { sent.clone() } else { Merged::without(&sent, &removes) };
        Ok(Self { path: path.to_owned(), service, taken, operation, customer, merged, sent, removes })
    }

    /// What its calls made, newest first, each as a replacement of its own with what became of it. Those that changed nothing
    /// are left out.
    pub fn calls(self, record: &WriteRecord) -> Vec<(Self, WriteOutcome)> {
        if self.removes.is_empty() {
            return vec![(self, record.outcome)];
        }
        let put = record.put().filter(|put| put.may_be_applied());
        let mut now = self.customer.clone();
        let mut calls = Vec::new();
        if let Some(put) = put.filter(|_| self.sent != self.customer) {
            now.clone_from(&self.sent);
            calls.push((Self { merged: self.sent.clone(), removes: Vec::new(), ..self.clone() }, put));
        }
        for id in self.removes.iter().copied() {
            let outcome = record.removal(id);
            if outcome.may_be_applied() {
                let merged = Merged::without(&now, &[id]);
                let customer = std::mem::replace(&mut now, merged.clone());
                calls.push((Self { customer, merged, removes: vec![id], ..self.clone() }, outcome));
            }
        }
        calls.reverse();
        calls
    }

    /// This snapshot as if only those of its calls were asked for that may have been applied.
    #[must_use]
    pub fn as_applied(self, record: &WriteRecord) -> Self {
        if self.removes.is_empty() {
            return self;
        }
        let newest = self.clone().calls(record).into_iter().next();
        let merged = newest.map_or_else(|| self.customer.clone(), |(newest, _)| newest.merged);
        Self { merged, ..self }
    }

    /// This snapshot with its PUT alone, whatever became of that.
    #[must_use]
    pub fn put(self) -> Self {
        Self { merged: self.sent.clone(), removes: Vec::new(), ..self }
    }

    /// The name by which `customer restore` takes it.
    pub fn name(&self) -> &str {
        stem(&self.path)
    }

    /// What the replacement changed.
    pub fn changes(&self) -> Vec<Change> {
        diff::customers(&self.customer, &self.merged)
    }

    /// Ids of the addresses that the replacement deletes.
    pub fn removed(&self) -> impl Iterator<Item = AddressId> + '_ {
        let ids = |customer| addresses_by_id(address_list(customer)).map(|(id, _)| id);
        let staying: HashSet<AddressId> = ids(&self.merged).collect();
        ids(&self.customer).filter(move |id| !staying.contains(id))
    }
}

#[cfg(test)]
mod tests {
    use jiff::{SignedDuration, Timestamp};

    use super::is_recent;

    #[test]
    fn a_clock_that_was_set_back_leaves_a_mark_recent() {
        let now: Timestamp = "2026-05-04T12:00:00Z".parse().unwrap();
        let marked = |seconds: i64| is_recent(now + SignedDuration::from_secs(seconds), now);
        assert!(marked(0) && marked(-59) && marked(30) && marked(3 * 3600));
        assert!(!marked(-60) && !marked(25 * 3600), "long ago, or no clock that was set back");
    }
}
