//! A replacement of a profile, with the profile as it was before and as it was sent.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::LastRead;
use super::WriteName;
use super::writes::Document;
use storefront_core::id::AddressId;
use storefront_core::outcome::WriteOutcome;
use storefront_core::profile::address::{address_list, addresses_by_id, own_id};
use storefront_core::profile::diff::{self, Change};
use storefront_core::profile::merge::Merged;

/// What became of each call of a replacement.
#[derive(Debug, Clone)]
pub struct Calls {
    /// The PUT; none if it is missing.
    pub put: Option<WriteOutcome>,
    /// The addresses that are removed by calls of their own.
    pub(super) removals: Vec<(AddressId, WriteOutcome)>,
}

impl Calls {
    /// What became of the whole.
    pub fn outcome(&self) -> WriteOutcome {
        match (self.put, &self.removals[..]) {
            (Some(put), []) => put,
            (put, removals) => {
                let removals = removals.iter().map(|(_, outcome)| *outcome);
                WriteOutcome::of_calls(&put.into_iter().chain(removals).collect::<Vec<_>>())
            }
        }
    }

    /// What became of the removal of one address.
    pub fn removal(&self, address: AddressId) -> WriteOutcome {
        let found = self.removals.iter().find(|(id, _)| *id == address);
        found.map_or_else(|| self.outcome(), |(_, outcome)| *outcome)
    }
}

/// A replacement that was read from the log.
#[derive(Debug, Clone)]
pub struct Replacement {
    /// What people name it by.
    pub name: WriteName,
    /// The service.
    pub service: String,
    /// When its first call left, RFC 3339, UTC.
    pub taken: String,
    /// The operation.
    pub operation: String,
    /// The customer object as it was.
    pub customer: Map<String, Value>,
    /// The customer object as it was to be.
    pub merged: Map<String, Value>,
    /// The one that was sent, from which `removes` were then removed.
    sent: Map<String, Value>,
    /// Ids of the addresses that are removed by calls of their own.
    pub removes: Vec<AddressId>,
}

impl Replacement {
    pub(super) fn new(
        name: WriteName,
        service: String,
        taken: String,
        operation: String,
        Document { stored, sent }: Document,
        removes: Vec<AddressId>,
    ) -> Self {
        let merged = if removes.is_empty() { sent.clone() } else { Merged::without(&sent, &removes) };
        Self { name, service, taken, operation, customer: stored, merged, sent, removes }
    }

    /// What its calls made, newest first, each as a replacement of its own with what became of it. Those that changed nothing
    /// are left out. An address that the PUT has added is in the PUT alone: no document has its id, and a removal does not
    /// change it.
    pub fn calls(self, calls: &Calls) -> Vec<(Self, WriteOutcome)> {
        if self.removes.is_empty() {
            return vec![(self, calls.outcome())];
        }
        let put = calls.put.filter(|put| put.may_be_applied());
        let mut now = self.customer.clone();
        let mut made = Vec::new();
        if let Some(put) = put.filter(|_| self.sent != self.customer) {
            now.clone_from(&self.sent);
            if let Some(Value::Array(addresses)) = now.get_mut("addresses") {
                addresses.retain(|address| own_id(address).is_some());
            }
            made.push((Self { merged: self.sent.clone(), removes: Vec::new(), ..self.clone() }, put));
        }
        for id in self.removes.iter().copied() {
            let outcome = calls.removal(id);
            if outcome.may_be_applied() {
                let merged = Merged::without(&now, &[id]);
                let customer = std::mem::replace(&mut now, merged.clone());
                made.push((Self { customer, merged, removes: vec![id], ..self.clone() }, outcome));
            }
        }
        made.reverse();
        made
    }

    /// This replacement as if only those of its calls were asked for that may have been applied.
    #[must_use]
    pub fn as_applied(self, calls: &Calls) -> Self {
        if self.removes.is_empty() {
            return self;
        }
        let is_sent = calls.put.is_some_and(WriteOutcome::may_be_applied);
        let mut gone = self.removes.clone();
        gone.retain(|id| calls.removal(*id).may_be_applied());
        let merged = Merged::without(if is_sent { &self.sent } else { &self.customer }, &gone);
        Self { merged, ..self }
    }

    /// This replacement with its PUT alone, whatever became of that.
    #[must_use]
    pub fn put(self) -> Self {
        Self { merged: self.sent.clone(), removes: Vec::new(), ..self }
    }

    /// What people name it by.
    pub fn name(&self) -> String {
        self.name.to_string()
    }

    /// What the replacement changed.
    pub fn changes(&self) -> Vec<Change> {
        diff::customers(&self.customer, &self.merged)
    }

    /// Ids of the addresses that the replacement deletes.
    pub fn removed(&self) -> impl Iterator<Item = AddressId> + '_ {
        let ids = |customer| addresses_by_id(address_list(customer)).map(|(id, _)| id);
        let staying: HashSet<AddressId> = ids(&self.merged).collect();
        ids(&self.customer).filter(move |id| !staying.contains(id))
    }
}

impl LastRead {
    /// Whether it was read after this replacement was in the log: it shows what became of that.
    pub fn is_after(&self, replacement: &Replacement) -> bool {
        replacement.name.id <= self.newest
    }
}
