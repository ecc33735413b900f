//! Which snapshots of a customer are there, by the names of their files.
//!
//! They are numbered, for clocks are set back and forth: order and retention follow the numbers.

use std::path::{Path, PathBuf};
use std::rc::Rc;

use jiff::{SignedDuration, Timestamp};

use super::CustomerStore;
use crate::system::storage::Storage;
use storefront_core::failure::Failure;
use storefront_core::hint::{hint, storefront};
use storefront_core::outcome::{MAX_LATENESS, WriteOutcome};

/// The date in the name of a snapshot.
pub(super) const DATE: &str = "%Y%m%dT%H%M%SZ";
/// The file that keeps what the last read showed; its name is none of a snapshot.
pub(super) const LAST_READ: &str = "last-read";
/// How the name of a file begins that is not written to its end.
const HALF_WRITTEN: &str = ".tmp";
/// The extension of the file that is left of snapshots that were removed. Its name says all, and it is empty.
const REMOVED: &str = "removed";

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

/// The snapshots of a customer, and what is left of those that were removed.
#[derive(Debug, Clone, Default)]
pub(super) struct Listing {
    /// Those that are there, newest first.
    pub(super) entries: Rc<Vec<SnapshotEntry>>,
    /// What is left of the others.
    pub(super) removed: Option<Removed>,
}

/// What is left of snapshots that were removed: nothing that says who the customer is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Removed {
    /// The last number that was given.
    number: u64,
    /// When the last write of those that were removed may have been applied, or the last read of them was made.
    pub(super) written: Timestamp,
}

impl Removed {
    /// The name of its file. The time is rounded up.
    fn file_name(self) -> String {
        let written =
            self.written.checked_add(SignedDuration::from_nanos(999_999_999)).unwrap_or(self.written);
        format!("{:06}-{}.{REMOVED}", self.number, written.strftime(DATE))
    }
}

impl CustomerStore {
    /// The snapshots, newest first. Files that are none are passed over.
    ///
    /// # Errors
    /// `internal` when the directory cannot be read.
    pub fn entries(&self) -> Result<Rc<Vec<SnapshotEntry>>, Failure> {
        Ok(self.listing()?.entries)
    }

    pub(super) fn listing(&self) -> Result<Listing, Failure> {
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
    pub(super) fn last_number(&self) -> u64 {
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

/// The name of a snapshot's file without the extension: what `customer history` shows and `customer restore` takes.
pub fn stem(path: &Path) -> &str {
    path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default()
}

pub(super) fn number_of(path: &Path) -> Option<u64> {
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
