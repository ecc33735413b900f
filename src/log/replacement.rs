//! A replacement of a profile, with the profile as it was before and as it was sent.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::LastRead;
use super::WriteName;
use storefront_core::id::AddressId;
use storefront_core::profile::address::{address_list, addresses_by_id};
use storefront_core::profile::diff::{self, Change};

/// A replacement that was read from the log.
#[derive(Debug, Clone)]
pub struct Replacement {
    /// What people name it by.
    pub name: WriteName,
    /// When its first call left, RFC 3339, UTC.
    pub taken: String,
    /// The operation.
    pub operation: String,
    /// The customer object as it was.
    pub customer: Map<String, Value>,
    /// The customer object as it was to be.
    pub merged: Map<String, Value>,
}

impl Replacement {
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
