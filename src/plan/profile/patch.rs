//! What a command wants to change in a profile, what that does to the stored addresses, and the deletion guard.

use serde_json::{Map, Value};

use super::diff::join_ids;
use crate::failure::Failure;
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

/// The fields of a default, at the top of a profile and in its address.
pub const DEFAULTS: [&str; 2] = ["default_billing", "default_shipping"];

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
        DEFAULTS
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

/// Lets a deletion by omission pass only when the exact number was allowed; `--yes` is no such number. A deletion by
/// name passes when it is `confirmed`: by `--yes`, or because a person is asked next.
///
/// # Errors
/// `guard`, naming the addresses and the flag to add.
pub fn check(
    patch: &ProfilePatch,
    summary: &AddressSummary,
    allowed: Option<usize>,
    confirmed: bool,
) -> Result<(), Failure> {
    let deleted = summary.removed.len();
    if deleted == 0 || allowed == Some(deleted) {
        return Ok(());
    }
    if !patch.replace && allowed.is_none() {
        return if confirmed { Ok(()) } else { Err(unconfirmed(summary)) };
    }
    let which = join_ids(&summary.removed);
    let message = match allowed {
        None => format!("this would delete {}: {which}", count_addresses(deleted)),
        Some(allowed) => {
            format!(
                "this would delete {}: {which}, but --allow-delete is {allowed}",
                count_addresses(deleted)
            )
        }
    };
    Err(Failure::guard(message).hint(format!("to proceed, add --allow-delete {deleted}")))
}

fn unconfirmed(summary: &AddressSummary) -> Failure {
    let deleted = summary.removed.len();
    let which = join_ids(&summary.removed);
    Failure::guard(format!(
        "this would delete {}: {which}; confirmation required, but there is no terminal to ask on",
        count_addresses(deleted)
    ))
    .hint(format!("add --yes, or --allow-delete {deleted}"))
}

/// A count of addresses in words.
pub fn count_addresses(count: usize) -> String {
    if count == 1 { "1 address".to_owned() } else { format!("{count} addresses") }
}

#[cfg(test)]
mod tests;
