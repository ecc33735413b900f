//! Replacements of which a request may still take effect: until when they hold up later commands.

use std::path::Path;

use jiff::Timestamp;

use super::snapshot::{MAX_LATENESS, date_of};
use super::{CustomerStore, Mark, Snapshot, SnapshotEntry};
use crate::failure::Failure;

/// A replacement of which a request may still take effect.
#[derive(Debug, Clone)]
pub struct Pending {
    /// What was taken for it.
    pub snapshot: Snapshot,
    /// When that can no longer happen.
    pub until: Timestamp,
    /// Whether it was sent more than once.
    pub is_repeated: bool,
}

impl CustomerStore {
    /// The replacements whose outcome is unknown and which may still take effect, newest first: those marked so, and
    /// those of a command that ended before it knew.
    ///
    /// # Errors
    /// As [`Self::entries`].
    pub fn pending(&self) -> Result<Vec<Pending>, Failure> {
        let now = self.clock.now();
        let may_come = |at: Timestamp| now.duration_since(at).abs() <= MAX_LATENESS;
        let mut pending = Vec::new();
        for entry in self.entries()?.into_iter().filter(|entry| entry.number > 0) {
            if let Some(left) = self.left_at(&entry, now).filter(|left| may_come(*left)) {
                let until = left.checked_add(MAX_LATENESS).unwrap_or(Timestamp::MAX);
                let (snapshot, is_repeated) = (self.read(&entry.path)?, entry.is_repeated);
                pending.push(Pending { snapshot, until, is_repeated });
            }
        }
        Ok(pending)
    }

    /// When the last request of a replacement left that nobody knows the outcome of; `now` where that is not written down.
    fn left_at(&self, entry: &SnapshotEntry, now: Timestamp) -> Option<Timestamp> {
        let path: &Path = &entry.path;
        match entry.mark {
            Some(Mark::Unknown) => Some(self.marked_at(path, Mark::Unknown).unwrap_or(now)),
            None => Some(date_of(path, now)),
            // One of its requests was seen to be applied; another may still come.
            Some(mark) if mark.is_applied() && entry.is_repeated => {
                Some(self.marked_at(path, mark).unwrap_or(now))
            }
            Some(_) => None,
        }
    }
}

/// How long a request of unknown outcome may still take effect, in minutes.
pub const fn lateness_minutes() -> i64 {
    MAX_LATENESS.as_mins()
}
