//! Which snapshots of a customer are there, by the names of their files.
//!
//! They are numbered, for clocks are set back and forth: order and retention follow the numbers. Each hundred numbers have a
//! directory, and directories are listed from the newest as far as they are needed: what an update lists does not grow with
//! the number of snapshots that are kept.

use std::cell::OnceCell;
use std::cmp::Reverse;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use jiff::{SignedDuration, Timestamp};

use super::CustomerStore;
use storefront_core::failure::Failure;
use storefront_core::hint::{hint, storefront};
use storefront_core::outcome::{MAX_LATENESS, WriteOutcome};

/// The date in the name of a snapshot.
const DATE: &str = "%Y%m%dT%H%M%SZ";
/// The file that keeps what the last read showed; its name is none of a snapshot.
pub(super) const LAST_READ: &str = "last-read";
/// How the name of a file begins that is not written to its end.
const HALF_WRITTEN: &str = ".tmp";
/// The extension of the file that is left of snapshots that were removed. Its name says all, and it is empty.
const REMOVED: &str = "removed";

/// How many numbers share a directory. Its name is that of the numbers without their last two digits, which `xx` stands for.
const IN_A_DIRECTORY: u64 = 100;

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
    /// The directories of those that are there, newest first.
    hundreds: Vec<Rc<Hundred>>,
    /// What is left of the others.
    pub(super) removed: Option<Removed>,
}

/// The directory of up to a hundred snapshots.
#[derive(Debug, Clone)]
struct Hundred {
    /// Their numbers without the last two digits.
    number: u64,
    directory: PathBuf,
    /// The snapshots, newest first, once it was listed.
    entries: OnceCell<Vec<SnapshotEntry>>,
}

impl Hundred {
    /// The directory with this path; `None` where it is none of snapshots.
    fn at(directory: PathBuf) -> Option<Self> {
        let number = name_of(&directory).strip_suffix("xx")?.parse().ok()?;
        Some(Self { number, directory, entries: OnceCell::new() })
    }
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
    /// The snapshots, newest first: only as many directories are read as are asked for. Files that are none are passed over.
    ///
    /// # Errors
    /// `internal` in place of the snapshots of a directory that cannot be read.
    pub fn entries(&self) -> impl Iterator<Item = Result<SnapshotEntry, Failure>> + '_ {
        let (listing, failure) = match self.listing() {
            Ok(listing) => (listing, None),
            Err(failure) => (Listing::default(), Some(Err(failure))),
        };
        let listed = |hundred: Rc<Hundred>| match self.list(&hundred) {
            Ok(()) => hundred.entries.get().into_iter().flatten().cloned().map(Ok).collect(),
            Err(failure) => vec![Err(failure)],
        };
        failure.into_iter().chain(listing.hundreds.into_iter().flat_map(listed))
    }

    /// The newest snapshot that `is_meant`.
    ///
    /// # Errors
    /// As [`Self::entries`].
    pub fn newest(
        &self,
        mut is_meant: impl FnMut(&SnapshotEntry) -> bool,
    ) -> Result<Option<SnapshotEntry>, Failure> {
        for entry in self.entries() {
            let entry = entry?;
            if is_meant(&entry) {
                return Ok(Some(entry));
            }
        }
        Ok(None)
    }

    /// The last number that was given; 0 where none was.
    ///
    /// # Errors
    /// As [`Self::entries`].
    pub(super) fn last_number(&self) -> Result<u64, Failure> {
        let newest = self.newest(|_| true)?.map_or(0, |newest| newest.number);
        Ok(newest.max(self.listing()?.removed.map_or(0, |removed| removed.number)))
    }

    /// The file of the snapshot with this number that is taken now.
    pub(super) fn file(&self, number: u64, now: Timestamp) -> PathBuf {
        let directory = self.directory.join(format!("{:04}xx", number / IN_A_DIRECTORY));
        directory.join(format!("{number:06}-{}.json", now.strftime(DATE)))
    }

    pub(super) fn listing(&self) -> Result<Listing, Failure> {
        if let Some(listed) = &*self.listed.borrow() {
            return Ok(listed.clone());
        }
        Ok(Listing::of(self.files(&self.directory)?))
    }

    /// Lists each directory at most once in all that follows, and removes what commands left in it that were killed while they
    /// wrote a file: it may hold a whole profile. The caller holds the customer's lock as long as it has this.
    ///
    /// # Errors
    /// As [`Self::entries`].
    pub fn list_once(&self) -> Result<(), Failure> {
        let files = self.files(&self.directory)?;
        self.remove_half_written(&files);
        self.listed.replace(Some(Listing::of(files)));
        Ok(())
    }

    /// Adds a snapshot that was taken to what was listed.
    pub(super) fn add(&self, entry: SnapshotEntry) {
        if let Some(listed) = &mut *self.listed.borrow_mut() {
            listed.add(entry);
        }
    }

    /// Lists a directory of snapshots, if that was not done.
    fn list(&self, hundred: &Hundred) -> Result<(), Failure> {
        if hundred.entries.get().is_none() {
            let files = self.files(&hundred.directory)?;
            // The customer is locked.
            if self.listed.borrow().is_some() {
                self.remove_half_written(&files);
            }
            hundred.entries.get_or_init(|| snapshots_among(files));
        }
        Ok(())
    }

    fn files(&self, directory: &Path) -> Result<Vec<PathBuf>, Failure> {
        let unreadable = |error: std::io::Error| {
            Failure::internal(format!("`{}` cannot be read: {error}", directory.display()))
        };
        self.storage.list(directory).map_err(unreadable)
    }

    fn remove_half_written(&self, files: &[PathBuf]) {
        for file in files.iter().filter(|file| is_half_written(file)) {
            let _ = self.storage.remove(file);
        }
    }

    /// The one that `name` stands for: a name, a number, a file, or the beginning of a name. A whole name, a number and a file mean
    /// that snapshot, whatever else begins so.
    ///
    /// # Errors
    /// As [`Self::entries`]; `usage` where it stands for none, or for several.
    pub fn named(&self, name: &str) -> Result<SnapshotEntry, Failure> {
        let mut entries = self.all_named(name)?;
        match &mut entries[..] {
            [_] => Ok(entries.remove(0)),
            [] => Err(Failure::usage(format!("no snapshot named `{name}` of this customer on this machine"))
                .hint(hint!(storefront("customer history"), " lists the snapshots"))),
            several => Err(Failure::usage(format!("`{name}` names {} snapshots", several.len()))
                .hint("use a longer prefix, or a snapshot number")),
        }
    }

    /// All that `name` may stand for, as [`Self::named`] reads it.
    ///
    /// # Errors
    /// As [`Self::entries`].
    pub fn all_named(&self, name: &str) -> Result<Vec<SnapshotEntry>, Failure> {
        let mut entries = self.entries().collect::<Result<Vec<_>, _>>()?;
        let number = name.parse::<u64>().ok();
        let is_exact = |entry: &SnapshotEntry| {
            entry.name() == name || entry.path == Path::new(name) || number == Some(entry.number)
        };
        let has_exact = entries.iter().any(is_exact);
        entries.retain(|entry| if has_exact { is_exact(entry) } else { entry.name().starts_with(name) });
        Ok(entries)
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
        self.remove_empty_directories(entries);
        if !and_read {
            return Ok(());
        }
        let read = self.directory.join(LAST_READ);
        match self.storage.remove(&read) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(removed(&read)(error)),
            _ => Ok(()),
        }
    }

    /// Removes the directories in which none is left after these were removed, and what killed commands left in them.
    fn remove_empty_directories(&self, removed: &[SnapshotEntry]) {
        let mut directories: Vec<&Path> = removed.iter().filter_map(|entry| entry.path.parent()).collect();
        directories.dedup();
        for directory in directories {
            self.remove_half_written(&self.files(directory).unwrap_or_default());
            let _ = self.storage.remove_empty_directory(directory);
        }
    }

    /// Writes down what the next commands need of snapshots that are about to be removed.
    fn note_removal(&self, entries: &[SnapshotEntry], and_read: bool) -> Result<(), Failure> {
        let (earlier, last) = (self.listing()?.removed, self.last_number()?);
        self.listed.replace(None);
        let read = self.last_read().filter(|_| and_read).map(|read| read.at);
        let time = |entry: &SnapshotEntry| {
            let taken = date_of(&entry.path, Timestamp::MIN);
            self.outcome(&entry.path).time().unwrap_or(taken).max(taken)
        };
        let earlier = earlier.map(|removed| removed.written);
        let Some(written) = entries.iter().map(time).chain(read).chain(earlier).max() else { return Ok(()) };
        let has_last = entries.iter().any(|entry| entry.number == last);
        if !has_last && !self.is_recent(written) {
            return Ok(());
        }
        let file = self.directory.join(Removed { number: last, written }.file_name());
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
        for entry in self.entries() {
            let entry = entry?;
            if date_text(&entry.path) > &*last || date_of(&entry.path, Timestamp::MAX) >= limit {
                continue;
            }
            match self.outcome(&entry.path) {
                WriteOutcome::Unknown { .. } | WriteOutcome::Mismatch { .. } => open.push(entry),
                WriteOutcome::Applied { at, .. } | WriteOutcome::Partial { at }
                    if self.is_of_last_minutes(at) => {}
                _ => older.push(entry),
            }
        }
        Ok((older, open))
    }
}

impl Listing {
    /// What the files in a customer's directory say.
    fn of(files: Vec<PathBuf>) -> Self {
        let (mut hundreds, mut removed) = (Vec::new(), None::<Removed>);
        for path in files {
            match number_of(&path) {
                Some(number) if path.extension().is_some_and(|extension| extension == REMOVED) => {
                    let written = date_of(&path, Timestamp::MAX);
                    let last = removed.get_or_insert(Removed { number, written });
                    (last.number, last.written) = (last.number.max(number), last.written.max(written));
                }
                _ => hundreds.extend(Hundred::at(path).map(Rc::new)),
            }
        }
        hundreds.sort_unstable_by_key(|hundred: &Rc<Hundred>| Reverse(hundred.number));
        Self { hundreds, removed }
    }

    /// Adds a snapshot, whose number is the highest.
    fn add(&mut self, entry: SnapshotEntry) {
        match self.hundreds.first_mut() {
            Some(newest) if newest.number == entry.number / IN_A_DIRECTORY => {
                if let Some(entries) = Rc::make_mut(newest).entries.get_mut() {
                    entries.insert(0, entry);
                }
            }
            _ => {
                let hundred = entry.path.parent().and_then(|directory| Hundred::at(directory.to_owned()));
                self.hundreds.splice(0..0, hundred.map(Rc::new));
            }
        }
    }
}

/// The snapshots among these files, newest first.
fn snapshots_among(files: Vec<PathBuf>) -> Vec<SnapshotEntry> {
    let is_snapshot = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "json");
    let snapshots = files.into_iter().filter(is_snapshot);
    let mut entries: Vec<SnapshotEntry> =
        snapshots.filter_map(|path| Some(SnapshotEntry { number: number_of(&path)?, path })).collect();
    entries.sort_unstable_by(|left, right| {
        right.number.cmp(&left.number).then_with(|| right.path.cmp(&left.path))
    });
    entries
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

/// When a snapshot with this name was taken; none for what is not such a name.
pub fn date_of_name(name: &str) -> Option<Timestamp> {
    Some(date_of(&Path::new(name).with_extension("json"), Timestamp::MIN))
        .filter(|taken| *taken > Timestamp::MIN)
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

#[cfg(test)]
mod tests;
