//! What a command wants to change in a profile, and a count of what the merge did with the addresses.

use serde_json::Map;
use serde_json::Value;

use crate::plan::validate::body::Finding;

/// What the user wants changed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProfilePatch {
    /// Fields of the customer to set (docs/interface.md, "Profile"); `addresses` holds drafts: with an id they
    /// change that address, without one they add an address.
    pub draft: Map<String, Value>,
    /// Ids of addresses to remove, by name.
    pub remove: Vec<i64>,
    /// The draft's addresses are the whole list: whatever it leaves out is deleted.
    pub replace: bool,
    /// A new address may equal a stored one.
    pub allow_duplicate: bool,
    /// The addresses that are to be defaults, for shipping and for billing one at most; the draft names their flags.
    pub default_addresses: Vec<DefaultAddress>,
    /// Findings of the check that the stored profile decides on.
    pub deferred: Vec<Finding>,
}

impl ProfilePatch {
    /// Whether nothing at all was asked.
    pub fn is_empty(&self) -> bool {
        let asks =
            |(name, value): (&String, &Value)| name != "addresses" || value != &Value::Array(Vec::new());
        !self.replace && self.remove.is_empty() && !self.draft.iter().any(asks)
    }
}

const NAMES: [&str; 2] = ["default_billing", "default_shipping"];

/// An address that is to be the default.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DefaultAddress {
    /// Id of a stored address; `None` for the one that the draft adds.
    pub address: Option<i64>,
    /// For shipping.
    pub shipping: bool,
    /// For billing.
    pub billing: bool,
}

impl DefaultAddress {
    /// The fields of an address that this sets.
    pub fn names(self) -> impl Iterator<Item = &'static str> {
        NAMES
            .into_iter()
            .zip([self.billing, self.shipping])
            .filter(|(_, is_set)| *is_set)
            .map(|(name, _)| name)
    }
}

/// What becomes of the stored addresses.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddressSummary {
    /// Ids that stay as they are.
    pub kept: Vec<i64>,
    /// Ids of which a field changes.
    pub changed: Vec<i64>,
    /// How many addresses are new.
    pub added: usize,
    /// Ids that will be gone.
    pub removed: Vec<i64>,
}
