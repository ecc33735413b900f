//! The file beside a snapshot, which says what became of the replacement that it was taken for. Where there is none, the command
//! ended before it knew.
//!
//! A replacement that removes addresses by calls of their own has a line for each of its calls, written before the call leaves
//! and after its answer: what became of the whole is computed from them.

use std::io::{Error, ErrorKind};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::CustomerStore;
use super::snapshot::{Snapshot, date_of};
use storefront_core::failure::Failure;
use storefront_core::id::AddressId;
use storefront_core::outcome::WriteOutcome;
use storefront_core::profile::diff::Change;

/// What stands in the file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WriteRecord {
    /// What became of the whole.
    #[serde(flatten)]
    pub outcome: WriteOutcome,
    /// What of it the service wrote in its own way, such as a date in another form: it is known as ours when it is undone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    rewritten: Vec<Value>,
    /// What became of its PUT, where addresses are removed by calls of their own and something else changes as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    put: Option<WriteOutcome>,
    /// What became of each address that is removed by a call of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    removals: Vec<Removal>,
}

/// What became of one address that is removed by a call of its own.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Removal {
    address: AddressId,
    #[serde(flatten)]
    outcome: WriteOutcome,
}

impl WriteRecord {
    /// A replacement by a PUT alone.
    fn of(outcome: WriteOutcome) -> Self {
        Self { outcome, rewritten: Vec::new(), put: None, removals: Vec::new() }
    }

    /// A replacement that removes these addresses by calls of their own, and `has_put` as well; nothing was sent so far.
    pub fn unsent(has_put: bool, removals: &[AddressId]) -> Self {
        let unsent = WriteOutcome::NotSent;
        let removal = |address: &AddressId| Removal { address: *address, outcome: unsent };
        let (put, removals) = (has_put.then_some(unsent), removals.iter().map(removal).collect());
        Self { put, removals, ..Self::of(unsent) }
    }

    /// Notes what became of the PUT, or, where a removal has left or is all there is, of the removals that are open.
    pub fn set(&mut self, outcome: WriteOutcome) {
        let has_left = |removal: &Removal| !matches!(removal.outcome, WriteOutcome::NotSent);
        match &mut self.put {
            Some(put) if !self.removals.iter().any(has_left) => *put = outcome,
            _ => {
                let open = |removal: &&mut Removal| matches!(removal.outcome, WriteOutcome::Unknown { .. });
                self.removals.iter_mut().filter(open).for_each(|removal| removal.outcome = outcome);
            }
        }
        self.outcome = if self.removals.is_empty() { outcome } else { self.computed() };
    }

    /// Notes what became of the removal of one address.
    fn set_removal(&mut self, address: AddressId, outcome: WriteOutcome) {
        self.removals
            .iter_mut()
            .filter(|removal| removal.address == address)
            .for_each(|removal| removal.outcome = outcome);
        self.outcome = self.computed();
    }

    /// Notes that the PUT is that of another snapshot.
    pub fn forget_put(&mut self) {
        self.put = None;
        self.outcome = self.computed();
    }

    fn computed(&self) -> WriteOutcome {
        let removals = self.removals.iter().map(|removal| removal.outcome);
        WriteOutcome::of_calls(&self.put.into_iter().chain(removals).collect::<Vec<_>>())
    }

    /// What became of the request that replaces the profile; `None` where there is none.
    pub fn put(&self) -> Option<WriteOutcome> {
        if self.removals.is_empty() { Some(self.outcome) } else { self.put }
    }

    /// What became of the removal of one address.
    pub fn removal(&self, address: AddressId) -> WriteOutcome {
        let found = self.removals.iter().find(|removal| removal.address == address);
        found.map_or(self.outcome, |removal| removal.outcome)
    }
}

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

    /// Notes what became of the removal of these addresses.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn set_removals(
        &self,
        snapshot: &Path,
        addresses: &[AddressId],
        outcome: WriteOutcome,
    ) -> Result<(), Error> {
        let mut record = self.record(snapshot)?.ok_or(ErrorKind::NotFound)?;
        addresses.iter().for_each(|address| record.set_removal(*address, outcome));
        self.note(snapshot, &record)
    }

    /// Notes that a read has shown what was removed.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn verify_removals(&self, snapshot: &Path, at: Timestamp) -> Result<(), Error> {
        let mut record = self.record(snapshot)?.ok_or(ErrorKind::NotFound)?;
        for removal in &mut record.removals {
            if let WriteOutcome::Applied { .. } = removal.outcome {
                removal.outcome = WriteOutcome::Applied { at, verified: true };
            }
        }
        record.outcome = record.computed();
        self.note(snapshot, &record)
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

    /// The same of each of its calls.
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
