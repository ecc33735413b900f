//! The file beside a snapshot, which says what became of the replacement that it was taken for. Where there is none, the command
//! ended before it knew.

use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::CustomerStore;
use super::snapshot::date_of;
use storefront_core::outcome::WriteOutcome;
use storefront_core::profile::diff::Change;

/// What stands in the file.
#[derive(Serialize, Deserialize)]
struct Content {
    #[serde(flatten)]
    outcome: WriteOutcome,
    /// What of it the service wrote in its own way, such as a date in another form: it is known as ours when it is undone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rewritten: Vec<Value>,
}

impl CustomerStore {
    /// Notes what became of a replacement, and what of it the service wrote in its own way. What cannot be written is left out:
    /// the next command then finds out for itself, as it does when the process ends before this.
    pub fn set_outcome(&self, snapshot: &Path, outcome: WriteOutcome, rewritten: &[Change]) {
        let rewritten = rewritten.iter().filter_map(|change| serde_json::to_value(change).ok()).collect();
        let content = serde_json::to_vec(&Content { outcome, rewritten });
        let _ = content.map(|text| self.storage.replace(&outcome_file(snapshot), &text));
    }

    /// What became of a replacement. One of a command that ended before it knew counts as sent when its snapshot was taken.
    pub fn outcome(&self, snapshot: &Path) -> WriteOutcome {
        self.known_or_unknown(snapshot, self.known_outcome(snapshot).ok().flatten())
    }

    /// What is known to have become of a replacement, or that nothing is.
    pub(super) fn known_or_unknown(&self, snapshot: &Path, known: Option<WriteOutcome>) -> WriteOutcome {
        known.unwrap_or_else(|| {
            let taken = self.read(snapshot).ok().and_then(|snapshot| snapshot.taken.parse().ok());
            WriteOutcome::Unknown { sent_at: taken.unwrap_or_else(|| date_of(snapshot, self.clock.now())) }
        })
    }

    /// What is written down of a replacement; `None` where nothing is.
    pub(super) fn known_outcome(&self, snapshot: &Path) -> Result<Option<WriteOutcome>, Error> {
        Ok(self.content(snapshot)?.map(|content| content.outcome))
    }

    /// What of a replacement the service wrote in its own way.
    pub fn rewritten(&self, snapshot: &Path) -> Vec<Change> {
        let content = self.content(snapshot).ok().flatten();
        content.map_or_else(Vec::new, |content| content.rewritten.iter().filter_map(Change::parse).collect())
    }

    /// Removes the file.
    pub(super) fn forget_outcome(&self, snapshot: &Path) {
        let _ = self.storage.remove(&outcome_file(snapshot));
    }

    fn content(&self, snapshot: &Path) -> Result<Option<Content>, Error> {
        match self.storage.read(&outcome_file(snapshot)) {
            Ok(text) => Ok(serde_json::from_slice(&text).ok()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }
}

fn outcome_file(snapshot: &Path) -> PathBuf {
    snapshot.with_extension("outcome")
}
