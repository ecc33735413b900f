//! Merges a `ProfilePatch` into the stored profile; everything not mentioned is preserved.

use serde_json::{Map, Value};

use super::default_address;
use super::diff::{self, Change};
use super::stored_fields::refuse_unknown;
use crate::failure::Failure;
use crate::plan::profile::address_ids::id_of;
use crate::plan::profile::field_path::FieldPath;
use crate::plan::profile::merge_addresses::AddressList;
use crate::plan::profile::patch::{AddressSummary, ProfilePatch};
use crate::plan::profile::set_field::{check_attribute_codes, set_field};

/// A merged profile, ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The customer object with the full address list.
    pub customer: Map<String, Value>,
    /// Every difference from what is stored.
    pub changes: Vec<Change>,
    /// What becomes of the stored addresses.
    pub summary: AddressSummary,
    /// Things done that the user did not ask for in so many words.
    pub notes: Vec<String>,
}

/// Applies a patch to a stored customer object.
///
/// Every stored address id is in the result unless it is removed by name (or the patch replaces the list),
/// every field the draft does not name keeps its exact value, stored order is kept and new addresses come
/// last.
///
/// # Errors
/// `guard` for a stored list that cannot be replaced safely (no id, an id twice, an id that is no integer) and for an
/// id the profile does not have; `usage` for a draft that contradicts itself or leaves the region ambiguous.
pub fn merge(stored: Map<String, Value>, patch: &ProfilePatch) -> Result<Merged, Failure> {
    ensure_same_customer(&stored, patch)?;
    refuse_unknown(&patch.deferred, &patch.draft, &stored)?;
    check_attribute_codes(&patch.draft, "")?;
    let mut customer = stored;
    let Some(Value::Array(stored)) = customer.get_mut("addresses").map(Value::take) else {
        return Err(Failure::guard("the stored profile has no address list"));
    };
    let mut changes = members(&mut customer, &patch.draft);
    let list = AddressList::of(stored, patch)?;
    changes.extend(list.changes);
    customer.insert("addresses".to_owned(), Value::Array(list.addresses));
    let mut notes = Vec::new();
    default_address::set_own(patch, &mut customer, &mut changes, &mut notes);
    clear_dangling_defaults(&mut customer, &list.summary.removed, &mut changes, &mut notes);
    Ok(Merged { customer, changes, summary: list.summary, notes })
}

/// Refuses a draft that was made for another customer: the token decides whose profile is replaced, whatever ids say.
fn ensure_same_customer(stored: &Map<String, Value>, patch: &ProfilePatch) -> Result<(), Failure> {
    let Some(own) = stored.get("id").and_then(id_of) else { return Ok(()) };
    let drafts = patch.draft.get("addresses").and_then(Value::as_array).into_iter().flatten();
    let owners = drafts.filter_map(|draft| draft.get("customer_id"));
    let names_other = |id: &&Value| !id.is_null() && id_of(id) != Some(own);
    match patch.draft.get("id").into_iter().chain(owners).find(names_other) {
        None => Ok(()),
        Some(other) => Err(Failure::guard(format!(
            "the input is for customer {other}, but the token belongs to customer {own}"
        ))
        .hint("use the token of that customer, or remove the id from the input")),
    }
}

/// Sets the named fields other than the addresses; custom attributes merge by their code.
fn members(customer: &mut Map<String, Value>, draft: &Map<String, Value>) -> Vec<Change> {
    let before = draft
        .keys()
        .filter_map(|name| customer.get_key_value(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    for (name, value) in draft.iter().filter(|(name, _)| *name != "addresses") {
        set_field(customer, name, value);
    }
    let after = draft.keys().filter_map(|name| customer.get_key_value(name));
    let after = after.map(|(name, value)| (name.clone(), value.clone())).collect();
    let mut changes = Vec::new();
    diff::objects_except(&FieldPath::default(), &before, &after, Some("addresses"), &mut changes);
    changes
}

/// A default that names an address removed by the same command is left out, with a note. That is no change to be
/// verified: a service that merges profiles keeps the field until the address is gone.
fn clear_dangling_defaults(
    customer: &mut Map<String, Value>,
    removed: &[i64],
    changes: &mut Vec<Change>,
    notes: &mut Vec<String>,
) {
    for name in ["default_billing", "default_shipping"] {
        let Some(id) = customer.get(name).and_then(id_of).filter(|id| removed.contains(id)) else {
            continue;
        };
        customer.shift_remove(name);
        let path = FieldPath::default().member(name);
        changes.retain(|change| change.path != path);
        notes.push(format!("{name} cleared: it pointed to removed address {id}"));
    }
}
