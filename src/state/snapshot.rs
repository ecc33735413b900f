//! Snapshots: the stored profile as it was before a replacement, and as it was sent, in a file of its own.
//!
//! They are numbered, for clocks are set back and forth: order and retention follow the numbers.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use jiff::{Timestamp, ToSpan};
use serde::Serialize;
use serde_json::{Map, Value};

use super::{CustomerStore, Mark, fingerprint};
use crate::environment::STATE_HOME;
use crate::exact_json;
use crate::failure::Failure;
use crate::plan::profile::diff::{self, Change};
use crate::plan::profile::merge::Merged;
use crate::plan::profile::replacement::asked;

/// As many recent snapshots are compared with a new one: a batch may take thousands of one customer.
const MAX_RECENT: usize = 20;
/// As many snapshots are kept whatever their age.
const ALWAYS_KEPT: usize = 10;
/// How long after its request left a replacement of unknown outcome may still take effect.
pub(super) const MAX_LATENESS: jiff::SignedDuration = jiff::SignedDuration::from_mins(10);
/// A replica may answer for about as long with what was there before a write.
pub const REPLICA_LAG: jiff::SignedDuration = jiff::SignedDuration::from_mins(1);

/// What is written down about a replacement before it is sent.
#[derive(Debug, Serialize)]
pub struct NewSnapshot<'a> {
    /// Who replaces: `customer update` or `customer restore`.
    pub operation: &'a str,
    /// The stored customer object, every field as it came.
    pub customer: &'a Map<String, Value>,
    /// The customer object that is about to be sent.
    pub merged: &'a Map<String, Value>,
}

/// What stands in the file.
#[derive(Serialize)]
struct Content<'a> {
    number: u64,
    taken: String,
    service: &'a str,
    /// See [`fingerprint`].
    asks: &'a str,
    #[serde(flatten)]
    what: &'a NewSnapshot<'a>,
}

/// A snapshot that is there, not read yet.
#[derive(Debug, Clone)]
pub struct SnapshotEntry {
    /// Its number; 0 for a file of another name.
    pub number: u64,
    /// Its file.
    pub path: PathBuf,
    /// What became of its replacement, where that is known.
    pub mark: Option<Mark>,
    /// Whether [`CustomerStore::note_repeat`] was called for it.
    pub is_repeated: bool,
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
}

impl CustomerStore {
    /// Writes a snapshot so that it is on disk whole or not at all, and removes those that are older than
    /// `retention_days`. The caller holds the customer's lock.
    ///
    /// # Errors
    /// `internal` when it cannot be written; nothing may be sent then.
    pub fn take(&self, snapshot: &NewSnapshot<'_>, retention_days: u32) -> Result<PathBuf, Failure> {
        let unwritable = |error: std::io::Error| {
            Failure::internal(format!(
                "the snapshot cannot be written to `{}`: {error}",
                self.directory().display()
            ))
            .hint(format!(
                "a profile is replaced only after a snapshot: free some space, or set {STATE_HOME}"
            ))
        };
        let entries = self.entries()?;
        let mut number = entries.first().map_or(1, |newest| newest.number + 1);
        let taken = self.clock.now();
        let asks = &fingerprint::of(&asked(snapshot.customer, snapshot.merged));
        loop {
            let content =
                Content { number, taken: taken.to_string(), service: &self.service, asks, what: snapshot };
            let bytes = serde_json::to_vec(&content).map_err(|error| unwritable(error.into()))?;
            let path =
                self.directory().join(format!("{number:06}-{}.json", taken.strftime("%Y%m%dT%H%M%SZ")));
            match self.storage.create(&path, &bytes) {
                Ok(()) => {
                    self.prune(&entries, retention_days, taken);
                    return Ok(path);
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => number += 1,
                Err(error) => return Err(unwritable(error)),
            }
        }
    }

    /// The snapshots, newest first. Files that are none are passed over.
    ///
    /// # Errors
    /// `internal` when the directory cannot be read.
    pub fn entries(&self) -> Result<Vec<SnapshotEntry>, Failure> {
        let files = self.storage.list(self.directory()).map_err(|error| {
            Failure::internal(format!("`{}` cannot be read: {error}", self.directory().display()))
        })?;
        let is_snapshot = |path: &&PathBuf| path.extension().is_some_and(|extension| extension == "json");
        let names: HashSet<&OsStr> = files.iter().filter_map(|path| path.file_name()).collect();
        let mut entries: Vec<SnapshotEntry> = files
            .iter()
            .filter(is_snapshot)
            .map(|path| SnapshotEntry {
                number: number_of(path),
                mark: Mark::of(path, &names),
                is_repeated: Mark::is_repeated(path, &names),
                path: path.clone(),
            })
            .collect();
        entries.sort_by(|left, right| (right.number, &right.path).cmp(&(left.number, &left.path)));
        Ok(entries)
    }

    /// Reads a snapshot.
    ///
    /// # Errors
    /// As [`Snapshot::parse`], and `usage` when there is no such file.
    pub fn read(&self, path: &Path) -> Result<Snapshot, Failure> {
        let bytes = self.storage.read(path).map_err(|error| unreadable(path, &error))?;
        Snapshot::parse(&bytes, path)
    }

    /// The snapshots of the last 10 minutes whose request may have been applied, newest first.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn recent(&self) -> Result<Vec<Snapshot>, Failure> {
        let entries = self.recent_entries()?.into_iter();
        entries.map(|entry| self.read(&entry.path)).collect()
    }

    /// Those of them before `own` that ask for this, as [`asked`] gives it.
    ///
    /// # Errors
    /// When they cannot be read.
    pub fn recent_like(
        &self,
        wanted: &[(String, Option<Value>)],
        own: &Path,
    ) -> Result<Vec<Snapshot>, Failure> {
        let fingerprint = fingerprint::of(wanted);
        let mut alike = Vec::new();
        let others = self.recent_entries()?.into_iter().filter(|entry| entry.path != own);
        for SnapshotEntry { path, .. } in others {
            let text = self.storage.read(&path).map_err(|error| unreadable(&path, &error))?;
            if !fingerprint::is_other(&text, &fingerprint) {
                alike.push(Snapshot::parse(&text, &path)?);
            }
        }
        alike.retain(|earlier| earlier.asked() == wanted);
        Ok(alike)
    }

    fn recent_entries(&self) -> Result<Vec<SnapshotEntry>, Failure> {
        let now = self.clock.now();
        let is_recent =
            |entry: &SnapshotEntry| now.duration_since(date_of(&entry.path, now)).abs() <= MAX_LATENESS;
        let entries = self.entries()?.into_iter().filter(|entry| entry.number > 0 && is_recent(entry));
        let may_be_applied = entries.filter(|entry| entry.mark != Some(Mark::Refused)).take(MAX_RECENT);
        Ok(may_be_applied.collect())
    }

    /// The replacement that was applied last, if that was known less than `age` ago, and no read has shown that something
    /// of it is missing.
    ///
    /// # Errors
    /// As [`Self::entries`].
    pub fn applied_within(&self, age: jiff::SignedDuration) -> Result<Option<Snapshot>, Failure> {
        let applied = |entry: SnapshotEntry| Some((entry.mark.filter(|mark| mark.is_applied())?, entry));
        let Some((mark, newest)) = self.entries()?.into_iter().find_map(applied) else { return Ok(None) };
        if mark == Mark::Mismatched {
            return Ok(None);
        }
        let now = self.clock.now();
        let recent = self.marked_at(&newest.path, mark).is_some_and(|at| now.duration_since(at).abs() < age);
        recent.then(|| self.read(&newest.path)).transpose()
    }

    /// Retention is housekeeping: what cannot be removed now is tried again next time.
    fn prune(&self, entries: &[SnapshotEntry], days: u32, now: Timestamp) {
        let limit = now.checked_sub((i64::from(days) * 24).hours()).unwrap_or(Timestamp::MIN);
        // The new one is not among them.
        for entry in entries.iter().skip(ALWAYS_KEPT - 1) {
            if entry.number > 0 && date_of(&entry.path, now) < limit {
                self.remove(&entry.path);
            }
        }
    }
}

fn stem(path: &Path) -> &str {
    path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default()
}

fn number_of(path: &Path) -> u64 {
    stem(path).split_once('-').and_then(|(number, _)| number.parse().ok()).unwrap_or(0)
}

/// When a snapshot was taken, by its name; `unnamed` where the name does not say.
pub(super) fn date_of(path: &Path, unnamed: Timestamp) -> Timestamp {
    let date = stem(path).split_once('-').map_or("", |(_, date)| date);
    let parsed = jiff::fmt::strtime::parse("%Y%m%dT%H%M%SZ", date).and_then(|parsed| parsed.to_datetime());
    parsed.and_then(|date| date.to_zoned(jiff::tz::TimeZone::UTC)).map_or(unnamed, |date| date.timestamp())
}

impl Snapshot {
    /// Reads a snapshot from a file that the user named.
    ///
    /// # Errors
    /// As [`Self::parse`], and `usage` when there is no such file.
    pub fn from_file(path: &Path) -> Result<Self, Failure> {
        Self::parse(&std::fs::read(path).map_err(|error| unreadable(path, &error))?, path)
    }

    /// Reads the text of a snapshot that stands at `path`.
    ///
    /// # Errors
    /// `usage` when it is none.
    pub fn parse(text: &[u8], path: &Path) -> Result<Self, Failure> {
        let mut content = exact_json::parse_object(text).map_err(|error| match error {
            exact_json::Error::Syntax { .. } => no_snapshot(path),
            error => Failure::usage(format!("`{}`: {error}", path.display())),
        })?;
        let text = |name: &str| content.get(name)?.as_str().map(str::to_owned);
        let (Some(taken), Some(operation)) = (text("taken"), text("operation")) else {
            return Err(no_snapshot(path));
        };
        let service = text("service");
        let Some(Value::Object(customer)) = content.remove("customer") else { return Err(no_snapshot(path)) };
        if !customer.get("addresses").is_some_and(Value::is_array) {
            return Err(no_snapshot(path));
        }
        let merged = match content.remove("merged") {
            Some(Value::Object(merged)) => merged,
            _ => customer.clone(),
        };
        Ok(Self { path: path.to_owned(), service, taken, operation, customer, merged })
    }

    /// The name by which `customer restore` takes it.
    pub fn name(&self) -> &str {
        stem(&self.path)
    }

    /// What the replacement changed.
    pub fn changes(&self) -> Vec<Change> {
        diff::customers(&self.customer, &self.merged)
    }

    /// What the replacement asked for, as [`asked`] gives it.
    pub fn asked(&self) -> Vec<(String, Option<Value>)> {
        asked(&self.customer, &self.merged)
    }

    /// The replacement as it was sent.
    ///
    /// # Errors
    /// `guard` when an address list has an address without a usable id of its own.
    pub fn replacement(&self) -> Result<Merged, Failure> {
        Merged::between(&self.customer, self.merged.clone())
    }
}

fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    Failure::usage(format!("the snapshot `{}` cannot be read: {error}", path.display()))
}

fn no_snapshot(path: &Path) -> Failure {
    Failure::usage(format!("`{}` is not a snapshot", path.display()))
        .hint("`storefront customer history` lists the snapshots")
}
