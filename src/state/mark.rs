//! What became of the replacement a snapshot was taken for: a small file next to the snapshot, `NAME.applied` and so on,
//! that holds the time. A snapshot without one was taken by a command that ended before it knew.

use std::collections::HashSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::CustomerStore;

/// Extension of the file that says that a replacement was sent more than once.
const REPEATED: &str = "repeated";

/// The outcome of a replacement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mark {
    /// A read has shown it.
    Verified,
    /// The service said so; no read has shown all of it.
    Applied,
    /// The service said so; the reads show that something of it is missing.
    Mismatched,
    /// The service took nothing of it.
    Refused,
    /// The request was sent and its outcome is unknown.
    Unknown,
}

impl Mark {
    /// The first that a directory has counts: what is known stands before what is not.
    const ALL: [Self; 5] = [Self::Verified, Self::Applied, Self::Mismatched, Self::Refused, Self::Unknown];

    /// The name in `customer history`: `applied`, `refused` or `unknown`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Verified | Self::Applied | Self::Mismatched => "applied",
            Self::Refused => "refused",
            Self::Unknown => "unknown",
        }
    }

    /// Whether the service has it, whatever a read showed of it.
    pub const fn is_applied(self) -> bool {
        matches!(self, Self::Verified | Self::Applied | Self::Mismatched)
    }

    const fn extension(self) -> &'static str {
        match self {
            Self::Verified => "verified",
            Self::Mismatched => "mismatched",
            other => other.name(),
        }
    }

    /// The mark of a snapshot, if it has one among the names of the files in its directory.
    pub(super) fn of(snapshot: &Path, names: &HashSet<&OsStr>) -> Option<Self> {
        Self::ALL.into_iter().find(|mark| is_among(names, &file(snapshot, *mark)))
    }

    /// Whether these names say that a replacement was sent more than once.
    pub(super) fn is_repeated(snapshot: &Path, names: &HashSet<&OsStr>) -> bool {
        is_among(names, &snapshot.with_extension(REPEATED))
    }
}

impl CustomerStore {
    /// Notes what became of a replacement; `at` is when that was known, for [`Mark::Unknown`] when its request left. A
    /// mark that cannot be written is left out: the next command then finds out for itself, as it does when the
    /// process ends before this.
    pub fn mark(&self, snapshot: &Path, mark: Mark, at: Timestamp) {
        let written = self.storage.replace(&file(snapshot, mark), at.to_string().as_bytes());
        if written.is_ok() {
            for other in Mark::ALL.into_iter().filter(|other| *other != mark) {
                let _ = self.storage.remove(&file(snapshot, other));
            }
        }
    }

    /// When a snapshot got this mark.
    pub fn marked_at(&self, snapshot: &Path, mark: Mark) -> Option<Timestamp> {
        let text = self.storage.read(&file(snapshot, mark)).ok()?;
        std::str::from_utf8(&text).ok()?.trim().parse().ok()
    }

    /// Whether a mark that can be read says that the service has it.
    pub fn is_marked_applied(&self, snapshot: &Path) -> bool {
        let mut applied = Mark::ALL.into_iter().filter(|mark| mark.is_applied());
        applied.any(|mark| self.marked_at(snapshot, mark).is_some())
    }

    /// Notes, durably, that what a snapshot was taken for is about to be sent once more while an earlier request for the
    /// same may still take effect: seeing it applied does not tell which of them was, and the other may come late.
    ///
    /// # Errors
    /// Whatever the system says: it must not be sent again then.
    pub fn note_repeat(&self, snapshot: &Path) -> std::io::Result<()> {
        match self.storage.create(&snapshot.with_extension(REPEATED), b"") {
            Err(error) if error.kind() != std::io::ErrorKind::AlreadyExists => Err(error),
            _ => Ok(()),
        }
    }

    /// Removes a snapshot and its marks.
    ///
    /// # Errors
    /// Whatever the system says, in which case the marks stay too.
    pub fn delete(&self, snapshot: &Path) -> std::io::Result<()> {
        self.storage.remove(snapshot)?;
        self.remove(snapshot);
        Ok(())
    }

    pub(super) fn remove(&self, snapshot: &Path) {
        let _ = self.storage.remove(snapshot);
        let _ = self.storage.remove(&snapshot.with_extension(REPEATED));
        for mark in Mark::ALL {
            let _ = self.storage.remove(&file(snapshot, mark));
        }
    }
}

fn is_among(names: &HashSet<&OsStr>, path: &Path) -> bool {
    path.file_name().is_some_and(|name| names.contains(name))
}

fn file(snapshot: &Path, mark: Mark) -> PathBuf {
    snapshot.with_extension(mark.extension())
}
