//! The file beside a snapshot, which says what became of the replacement that it was taken for. Where there is none, the command
//! ended before it knew.
//!
//! A replacement that removes addresses by calls of their own has a line for each of its calls, written before the call leaves
//! and after its answer: what became of the whole is computed from them.

use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

use super::CustomerStore;
use super::listing::date_of;
use super::record::WriteRecord;
use super::snapshot::Snapshot;
use jiff::Timestamp;
use storefront_core::failure::Failure;
use storefront_core::id::AddressId;
use storefront_core::outcome::WriteOutcome;
use storefront_core::profile::diff::Change;

impl CustomerStore {
    /// Notes what became of a replacement, and what of it the service wrote in its own way. What cannot be written is left out:
    /// the next command then finds out for itself, as it does when the process ends before this.
    pub fn set_outcome(&self, snapshot: &Path, outcome: WriteOutcome, rewritten: &[Change]) {
        let mut record = match self.record(snapshot) {
            Ok(Some(record)) => record,
            Ok(None) => WriteRecord::of(outcome),
            // What stands in it may be about several calls.
            Err(_) => return,
        };
        record.set(outcome);
        record.rewritten = rewritten.iter().filter_map(|change| serde_json::to_value(change).ok()).collect();
        let _ = self.note(snapshot, &record);
    }

    /// Notes that the call that removes this address is about to leave. That is on disk when this returns: after a power loss
    /// the address must not count as one whose removal never left.
    ///
    /// # Errors
    /// Whatever the system says; the call must not leave then.
    pub async fn write_ahead_removal(
        &self,
        snapshot: &Path,
        address: AddressId,
        sent_at: Timestamp,
    ) -> Result<(), Error> {
        let record = self.with_removal(snapshot, address, WriteOutcome::Unknown { sent_at })?;
        let content = serde_json::to_vec(&record)?;
        self.storage.clone().replace_durably(outcome_file(snapshot), content).await
    }

    /// Notes what became of the removal of this address. Where it is lost, the removal counts as sent.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn set_removal(
        &self,
        snapshot: &Path,
        address: AddressId,
        outcome: WriteOutcome,
    ) -> Result<(), Error> {
        self.note(snapshot, &self.with_removal(snapshot, address, outcome)?)
    }

    /// What is written down of a replacement, with this about one removal.
    fn with_removal(
        &self,
        snapshot: &Path,
        address: AddressId,
        outcome: WriteOutcome,
    ) -> Result<WriteRecord, Error> {
        let mut record = self.record(snapshot)?.ok_or(ErrorKind::NotFound)?;
        record.set_removal(address, outcome);
        Ok(record)
    }

    /// Notes what a read has shown of the removals that the service says that it has; where others are lost, of those, too, that
    /// it says were gone before.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn close_removals(&self, snapshot: &Path, outcome: WriteOutcome) -> Result<(), Error> {
        let mut record = self.record(snapshot)?.ok_or(ErrorKind::NotFound)?;
        let is_lost = matches!(outcome, WriteOutcome::Mismatch { .. });
        for removal in &mut record.removals {
            match removal.outcome {
                WriteOutcome::Applied { .. } => removal.outcome = outcome,
                WriteOutcome::Refused if is_lost => removal.outcome = outcome,
                _ => {}
            }
        }
        record.outcome = record.computed();
        self.note(snapshot, &record)
    }

    /// Notes that what had to follow the removals was sent, with a snapshot of its own.
    pub fn complete(&self, snapshot: &Path) {
        if let Ok(Some(mut record)) = self.record(snapshot) {
            record.put = None;
            record.outcome = record.computed();
            let _ = self.note(snapshot, &record);
        }
    }

    /// Writes down what became of a replacement.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn note(&self, snapshot: &Path, record: &WriteRecord) -> Result<(), Error> {
        self.storage.replace(&outcome_file(snapshot), &serde_json::to_vec(record)?)
    }

    /// What became of a replacement. One of a command that ended before it knew counts as sent when its snapshot was taken.
    pub fn outcome(&self, snapshot: &Path) -> WriteOutcome {
        self.known_or_unknown(snapshot, self.record(snapshot).ok().flatten()).outcome
    }

    /// What became of each call of a replacement.
    pub fn calls(&self, snapshot: &Path) -> WriteRecord {
        self.known_or_unknown(snapshot, self.record(snapshot).ok().flatten())
    }

    /// What is known to have become of a replacement, or that nothing is.
    pub(super) fn known_or_unknown(&self, snapshot: &Path, known: Option<WriteRecord>) -> WriteRecord {
        known.unwrap_or_else(|| {
            let taken = self.read(snapshot).ok().and_then(|snapshot| snapshot.taken.parse().ok());
            let sent_at: Timestamp = taken.unwrap_or_else(|| date_of(snapshot, self.clock.now()));
            WriteRecord::of(WriteOutcome::Unknown { sent_at })
        })
    }

    /// Reads a snapshot, as if only that had been asked for which may have been applied.
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_applied(&self, path: &Path) -> Result<Snapshot, Failure> {
        let snapshot = self.read(path)?;
        Ok(snapshot.as_applied(&self.calls(path)))
    }

    /// What of a replacement the service wrote in its own way.
    pub fn rewritten(&self, snapshot: &Path) -> Vec<Change> {
        let record = self.record(snapshot).ok().flatten();
        record.map_or_else(Vec::new, |record| record.rewritten.iter().filter_map(Change::parse).collect())
    }

    /// Removes the file.
    pub(super) fn forget_outcome(&self, snapshot: &Path) {
        let _ = self.storage.remove(&outcome_file(snapshot));
    }

    /// What is written down of a replacement; `None` where nothing is.
    pub(super) fn record(&self, snapshot: &Path) -> Result<Option<WriteRecord>, Error> {
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

#[cfg(test)]
mod tests;
