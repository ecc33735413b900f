//! Snapshots: the stored profile as it was before a replacement, and as it was sent, in a file of its own. A small file
//! beside it says what became of the replacement.
//!
//! They are numbered, for clocks are set back and forth: order and retention follow the numbers.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::CustomerStore;
use crate::system::environment::STATE_HOME;
use crate::system::storage::Storage;
use storefront_core::failure::Failure;
use storefront_core::profile::address::{address_list, addresses_by_id};
use storefront_core::profile::diff::{self, Change};
use storefront_core::text::exact_json;

/// As many writes that are older than a minute are read at most, for the addresses that they removed: a batch may make
/// thousands to one customer.
const MOST_OLDER: usize = 20;
/// How long after its request left a replacement of unknown outcome may still take effect.
pub(super) const MAX_LATENESS: SignedDuration = SignedDuration::from_mins(10);
/// For so long a replica may answer with what was there before a write.
pub const MAX_LAG: SignedDuration = SignedDuration::from_mins(1);
/// A mark that is further in the future is no clock that was set back.
const MAX_SET_BACK: SignedDuration = SignedDuration::from_hours(24);
/// The file that keeps what the last read showed; its name is none of a snapshot.
const LAST_READ: &str = "last-read";
/// How the name of a file begins that is not written to its end.
const HALF_WRITTEN: &str = ".tmp";

/// What stands in the file.
#[derive(Serialize)]
struct Content<'a> {
    number: u64,
    taken: String,
    service: &'a str,
    operation: &'a str,
    customer: &'a Map<String, Value>,
    merged: &'a Map<String, Value>,
}

/// What became of the replacement that a snapshot was taken for. Where nothing is written down, the command ended before it
/// knew.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "fate", rename_all = "snake_case")]
pub enum Fate {
    /// No byte of the request left.
    NotSent,
    /// The service took nothing of it.
    Refused,
    /// The request left at this time, and nobody knows what became of it.
    Unknown {
        /// When it left.
        left: Timestamp,
    },
    /// The service has it.
    Applied {
        /// When the service said so, or a read showed it.
        at: Timestamp,
        /// Whether a read has shown all of it.
        verified: bool,
    },
    /// The service said that it has it, and the reads show that something is missing.
    Mismatch {
        /// When it left.
        left: Timestamp,
        /// Whether the service's own reply showed that: then nothing more comes.
        is_final: bool,
    },
}

impl Fate {
    /// The name in `customer history`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::NotSent => "not sent",
            Self::Refused => "refused",
            Self::Unknown { .. } => "unknown",
            Self::Applied { .. } => "applied",
            Self::Mismatch { .. } => "mismatch",
        }
    }

    /// Whether the replacement may have changed something.
    pub const fn may_be_applied(self) -> bool {
        !matches!(self, Self::NotSent | Self::Refused)
    }

    /// When it left, or is known to be applied; `None` where it changed nothing.
    const fn time(self) -> Option<Timestamp> {
        match self {
            Self::Applied { at, .. } => Some(at),
            Self::Unknown { left } | Self::Mismatch { left, .. } => Some(left),
            Self::NotSent | Self::Refused => None,
        }
    }

    /// Until when its request may still take effect; `None` where that is over. A clock that was set back does not end it.
    pub fn open_until(self, now: Timestamp) -> Option<Timestamp> {
        let (Self::Unknown { left } | Self::Mismatch { left, is_final: false }) = self else { return None };
        left.checked_add(MAX_LATENESS).ok().filter(|until| now < *until)
    }
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
    /// The customer object that was sent.
    pub merged: Map<String, Value>,
    /// What of it the service wrote in its own way, such as a date in another form.
    pub rewritten: Vec<Change>,
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
            self.store.set_fate(&self.path, Fate::NotSent);
        }
    }
}

/// The newest replacement, where a request of it may still take effect.
#[derive(Debug)]
pub struct Open {
    /// What was taken for it.
    pub entry: SnapshotEntry,
    /// When that can no longer happen.
    pub until: Timestamp,
    /// Whether the service said that it has it.
    pub is_mismatch: bool,
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
    /// stored object with every field as it came, and `merged` the one that is about to be sent. The caller holds the
    /// customer's lock.
    ///
    /// # Errors
    /// `internal` when it cannot be written; nothing may be sent then.
    pub async fn take(
        &self,
        operation: &str,
        customer: &Map<String, Value>,
        merged: &Map<String, Value>,
    ) -> Result<Unsent<'_>, Failure> {
        let unwritable = |error: std::io::Error| {
            let directory = self.directory.display();
            Failure::internal(format!("the snapshot cannot be written to `{directory}`: {error}")).hint(
                format!("a profile is replaced only after a snapshot: free some space, or set {STATE_HOME}"),
            )
        };
        let now = self.clock.now();
        let (taken, service) = (now.to_string(), &*self.service);
        let mut content = Content { number: 1, taken, service, operation, customer, merged };
        content.number += self.entries()?.first().map_or(0, |newest| newest.number);
        loop {
            let bytes = serde_json::to_vec(&content).map_err(|error| unwritable(error.into()))?;
            let name = format!("{:06}-{}.json", content.number, now.strftime("%Y%m%dT%H%M%SZ"));
            let unsent = Unsent { store: self, path: self.directory.join(name), has_left: false };
            let created = self.storage.clone().create_concurrently(unsent.path.clone(), bytes).await;
            let Err(error) = created else {
                if let Some(listed) = &mut *self.listed.borrow_mut() {
                    listed.insert(0, SnapshotEntry { number: content.number, path: unsent.path.clone() });
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
    pub fn entries(&self) -> Result<Vec<SnapshotEntry>, Failure> {
        if let Some(listed) = &*self.listed.borrow() {
            return Ok(listed.clone());
        }
        entries(&*self.storage, &self.directory).map_err(|error| self.unreadable(&error))
    }

    /// Lists the snapshots once for all that follows, and removes what commands left that were killed while they wrote a file:
    /// it may hold a whole profile. The caller holds the customer's lock as long as it has this.
    ///
    /// # Errors
    /// As [`Self::entries`].
    pub fn list_once(&self) -> Result<(), Failure> {
        let mut files = self.storage.list(&self.directory).map_err(|error| self.unreadable(&error))?;
        let is_half_written = |path: &mut PathBuf| {
            path.file_name().and_then(|name| name.to_str()).is_some_and(|name| name.starts_with(HALF_WRITTEN))
        };
        for file in files.extract_if(.., is_half_written) {
            let _ = self.storage.remove(&file);
        }
        self.listed.replace(Some(in_order(files)));
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
        let mut entries = self.entries()?;
        let number = name.parse::<u64>().ok();
        let is_exact = |entry: &SnapshotEntry| entry.name() == name || number == Some(entry.number);
        let has_exact = entries.iter().any(is_exact);
        entries.retain(|entry| if has_exact { is_exact(entry) } else { entry.name().starts_with(name) });
        match &mut entries[..] {
            [_] => Ok(entries.remove(0)),
            [] => Err(Failure::usage(format!("no snapshot named `{name}` of this customer on this machine"))
                .hint("`storefront customer history` lists the snapshots")),
            several => Err(Failure::usage(format!("`{name}` names {} snapshots", several.len()))
                .hint("give more of the name, or the number of one")),
        }
    }

    /// Reads a snapshot.
    ///
    /// # Errors
    /// `usage` when there is no such file, or it is no snapshot.
    pub fn read(&self, path: &Path) -> Result<Snapshot, Failure> {
        let unreadable =
            |error| Failure::usage(format!("the snapshot `{}` cannot be read: {error}", path.display()));
        let snapshot = Snapshot::parse(&self.storage.read(path).map_err(unreadable)?, path)?;
        let rewritten = self.storage.read(&rewritten_file(path)).unwrap_or_default();
        let rewritten: Vec<Value> = serde_json::from_slice(&rewritten).unwrap_or_default();
        Ok(Snapshot { rewritten: rewritten.iter().filter_map(Change::parse).collect(), ..snapshot })
    }

    /// Notes what the service wrote in its own way, so that it is known as ours when it is undone. It is a help: what cannot
    /// be written is left out.
    pub fn note_rewritten(&self, snapshot: &Path, rewritten: &[Change]) {
        if !rewritten.is_empty() {
            let file = rewritten_file(snapshot);
            let _ = serde_json::to_vec(rewritten).map(|text| self.storage.replace(&file, &text));
        }
    }

    /// What became of a replacement. One of a command that ended before it knew counts as sent when its snapshot was taken.
    pub fn fate(&self, snapshot: &Path) -> Fate {
        self.fate_of(snapshot, self.written_fate(snapshot).ok().flatten())
    }

    fn fate_of(&self, snapshot: &Path, written: Option<Fate>) -> Fate {
        written.or_else(|| self.marked_fate(snapshot)).unwrap_or_else(|| {
            let taken = self.read(snapshot).ok().and_then(|snapshot| snapshot.taken.parse().ok());
            Fate::Unknown { left: taken.unwrap_or_else(|| date_of(snapshot, self.clock.now())) }
        })
    }

    /// What is written down of a replacement; `None` where nothing is.
    fn written_fate(&self, snapshot: &Path) -> std::io::Result<Option<Fate>> {
        match self.storage.read(&fate_file(snapshot)) {
            Ok(text) => Ok(serde_json::from_slice(&text).ok()),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// What version 0.1.0 wrote down: a file for each outcome, which holds the time.
    fn marked_fate(&self, snapshot: &Path) -> Option<Fate> {
        type FateAt = fn(Timestamp) -> Fate;
        let marks: [(&str, FateAt); 5] = [
            ("verified", |at| Fate::Applied { at, verified: true }),
            ("applied", |at| Fate::Applied { at, verified: false }),
            ("mismatched", |left| Fate::Mismatch { left, is_final: false }),
            ("refused", |_| Fate::Refused),
            ("unknown", |left| Fate::Unknown { left }),
        ];
        marks.into_iter().find_map(|(mark, fate)| {
            let text = self.storage.read(&snapshot.with_extension(mark)).ok()?;
            let time = std::str::from_utf8(&text).ok()?.trim().parse().unwrap_or(self.clock.now());
            Some(fate(time))
        })
    }

    /// Notes what became of a replacement. What cannot be written is left out: the next command then finds out for
    /// itself, as it does when the process ends before this.
    pub fn set_fate(&self, snapshot: &Path, fate: Fate) {
        let _ = serde_json::to_vec(&fate).map(|text| self.storage.replace(&fate_file(snapshot), &text));
    }

    /// The newest replacement that may have changed something, if a request of it may still take effect.
    ///
    /// # Errors
    /// As [`Self::entries`].
    pub fn newest_open(&self) -> Result<Option<Open>, Failure> {
        for entry in self.entries()? {
            let fate = self.fate(&entry.path);
            if !fate.may_be_applied() {
                continue;
            }
            let is_mismatch = matches!(fate, Fate::Mismatch { .. });
            let until = fate.open_until(self.clock.now());
            return Ok(until.map(|until| Open { entry, until, is_mismatch }));
        }
        Ok(None)
    }

    /// The replacements that may have changed something, newest first: all of the last minute, however many, and some of the
    /// minutes before; with `least_one`, the newest applied one whatever its age. Those that cannot be read are left out.
    ///
    /// # Errors
    /// As [`Self::entries`]; `guard` where one that may have been applied in the last minute cannot be read.
    pub fn recent(&self, least_one: bool) -> Result<Vec<(Snapshot, Fate)>, Failure> {
        let (mut recent, mut older): (Vec<(Snapshot, Fate)>, usize) = (Vec::new(), 0);
        for entry in self.entries()? {
            let is_old = self.clock.now().duration_since(date_of(&entry.path, Timestamp::MAX)) > MAX_LATENESS;
            let is_old =
                is_old && !matches!(self.fate(&entry.path), Fate::Applied { at, .. } if self.is_recent(at));
            let has_applied = recent.iter().any(|(_, fate)| matches!(fate, Fate::Applied { .. }));
            if is_old && (!least_one || has_applied) {
                break;
            }
            let written = self.written_fate(&entry.path);
            let fate = self.fate_of(&entry.path, written.as_ref().ok().copied().flatten());
            let is_older = !fate.time().is_some_and(|at| self.is_recent(at));
            if is_older && older == MOST_OLDER && (!least_one || has_applied) {
                continue;
            }
            // What cannot be read now may be that the service has it.
            let is_lost = match fate {
                Fate::Applied { at, .. } => self.is_recent(at),
                Fate::Unknown { left } => written.is_err() && self.is_recent(left),
                _ => false,
            };
            let readable = written.map_err(|error| Failure::guard(error.to_string()));
            match readable.and_then(|_| self.read(&entry.path)) {
                Ok(snapshot) if fate.may_be_applied() => {
                    older += usize::from(is_older);
                    recent.push((snapshot, fate));
                }
                Err(failure) if is_lost => {
                    let message =
                        format!("whether the service shows the last update is not known: {failure}");
                    return Err(Failure::guard(message).hint("repair the disk, or try again in a minute"));
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
        let Some(newest) = self.entries()?.into_iter().next() else { return Ok(false) };
        let taken = self.read(&newest.path).ok().and_then(|snapshot| snapshot.taken.parse().ok());
        let was_taken_since = taken.is_none_or(|taken: Timestamp| taken >= then);
        Ok(was_taken_since
            || match self.fate(&newest.path) {
                Fate::NotSent | Fate::Refused => false,
                Fate::Applied { at, .. } => at >= then,
                Fate::Unknown { .. } | Fate::Mismatch { .. } => true,
            })
    }

    /// Keeps what a read has shown, for [`Self::last_read`]. It is a help: what cannot be written is left out.
    pub fn note_read(&self, customer: &Map<String, Value>) {
        let newest = self.entries().ok().and_then(|entries| Some(entries.first()?.number));
        let newest = newest.unwrap_or_default();
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

    /// Removes a snapshot, and what became of it.
    ///
    /// # Errors
    /// Whatever the system says, in which case the outcome stays too.
    pub fn delete(&self, snapshot: &Path) -> std::io::Result<()> {
        self.storage.remove(snapshot)?;
        for mark in
            ["fate", "rewritten", "verified", "applied", "mismatched", "refused", "unknown", "repeated"]
        {
            let _ = self.storage.remove(&snapshot.with_extension(mark));
        }
        self.listed.replace(None);
        Ok(())
    }

    /// Removes what the last read showed.
    pub fn forget_read(&self) {
        let _ = self.storage.remove(&self.directory.join(LAST_READ));
    }

    /// Removes the snapshots that are older than so many days, whatever their number: but for the newest, whose number the
    /// next one counts on from, and those whose outcome is open or that a read of the next minute is compared with. It is
    /// housekeeping: what cannot be removed now is tried again next time. The caller holds the customer's lock.
    pub fn remove_older_than(&self, days: u32) {
        let now = self.clock.now();
        let limit =
            now.checked_sub(SignedDuration::from_hours(i64::from(days) * 24)).unwrap_or(Timestamp::MIN);
        for entry in self.entries().unwrap_or_default().iter().skip(1) {
            let is_kept = || match self.fate(&entry.path) {
                Fate::Unknown { .. } | Fate::Mismatch { .. } => true,
                Fate::Applied { at, .. } => self.is_recent(at),
                Fate::NotSent | Fate::Refused => false,
            };
            if date_of(&entry.path, now) < limit && !is_kept() {
                let _ = self.delete(&entry.path);
            }
        }
    }
}

/// The snapshots of a directory, newest first.
pub(super) fn entries(storage: &dyn Storage, directory: &Path) -> std::io::Result<Vec<SnapshotEntry>> {
    storage.list(directory).map(in_order)
}

/// The snapshots among these files, newest first.
fn in_order(files: Vec<PathBuf>) -> Vec<SnapshotEntry> {
    let is_snapshot = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
    let entry = |path: PathBuf| Some(SnapshotEntry { number: number_of(&path)?, path });
    let mut entries: Vec<SnapshotEntry> = files.into_iter().filter(is_snapshot).filter_map(entry).collect();
    entries.sort_by(|left, right| (right.number, &right.path).cmp(&(left.number, &left.path)));
    entries
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

fn fate_file(snapshot: &Path) -> PathBuf {
    snapshot.with_extension("fate")
}

fn rewritten_file(snapshot: &Path) -> PathBuf {
    snapshot.with_extension("rewritten")
}

fn number_of(path: &Path) -> Option<u64> {
    stem(path).split_once('-')?.0.parse().ok()
}

/// When a snapshot was taken, by its name; `unnamed` where the name does not say.
fn date_of(path: &Path, unnamed: Timestamp) -> Timestamp {
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
                .hint("`storefront customer history` lists the snapshots")
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
        let merged = match content.remove("merged") {
            Some(Value::Object(merged)) => merged,
            _ => customer.clone(),
        };
        let (path, rewritten) = (path.to_owned(), Vec::new());
        Ok(Self { path, service, taken, operation, customer, merged, rewritten })
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
    pub fn removed(&self) -> impl Iterator<Item = i64> + '_ {
        let ids = |customer| addresses_by_id(address_list(customer)).map(|(id, _)| id);
        let staying: HashSet<i64> = ids(&self.merged).collect();
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
