//! What is written down of the calls of a replacement.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use storefront_core::id::AddressId;
use storefront_core::outcome::WriteOutcome;

/// What stands in the file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct WriteRecord {
    /// What became of the whole.
    #[serde(flatten)]
    pub outcome: WriteOutcome,
    /// What of it the service wrote in its own way, such as a date in another form: it is known as ours when it is undone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) rewritten: Vec<Value>,
    /// What became of its PUT, where addresses are removed by calls of their own and something else changes as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) put: Option<WriteOutcome>,
    /// What became of each address that is removed by a call of its own.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) removals: Vec<Removal>,
}

/// What became of one address that is removed by a call of its own.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Removal {
    address: AddressId,
    #[serde(flatten)]
    pub(super) outcome: WriteOutcome,
}

impl WriteRecord {
    /// A replacement by a PUT alone.
    pub(super) fn of(outcome: WriteOutcome) -> Self {
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
                for removal in self.removals.iter_mut().filter(open) {
                    removal.outcome = outcome;
                }
            }
        }
        self.outcome = if self.removals.is_empty() { outcome } else { self.computed() };
    }

    /// Notes what became of the removal of one address.
    pub(super) fn set_removal(&mut self, address: AddressId, outcome: WriteOutcome) {
        for removal in self.removals.iter_mut().filter(|removal| removal.address == address) {
            removal.outcome = outcome;
        }
        self.outcome = self.computed();
    }

    pub(super) fn computed(&self) -> WriteOutcome {
        let removals = self.removals.iter().map(|removal| removal.outcome);
        WriteOutcome::of_calls(&self.put.into_iter().chain(removals).collect::<Vec<_>>())
    }

    /// What became of the request that replaces the profile; `None` if it is missing.
    pub fn put(&self) -> Option<WriteOutcome> {
        if self.removals.is_empty() { Some(self.outcome) } else { self.put }
    }

    /// What became of the removal of one address.
    pub fn removal(&self, address: AddressId) -> WriteOutcome {
        let found = self.removals.iter().find(|removal| removal.address == address);
        found.map_or(self.outcome, |removal| removal.outcome)
    }
}
