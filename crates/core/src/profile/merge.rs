//! Merges what a command asks for into the stored profile: objects field by field at every depth, lists as a whole,
//! except for two that have keys: `custom_attributes` by `attribute_code`, `addresses` by `id`. `null` is a value and
//! deletes nothing. A field that is not named stays as it is stored.

use std::collections::HashSet;

use serde::Serialize;
use serde_json::{Map, Value};

use super::address::{AddressIndex, DEFAULTS, address_list, addresses_by_id, find_address, join_ids, own_id};
use super::diff::{self, FieldChange, by_code};
use super::equal::{has_all, is_unchanged, same_value};
use super::patch::{ProfilePatch, Twin};
use super::path::FieldPath;
use super::region;
use super::stored::refuse_unknown;
use crate::failure::Failure;
use crate::id::{self, AddressId};

/// What becomes of the stored addresses.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct AddressSummary {
    /// Ids that stay as they are.
    pub kept: Vec<AddressId>,
    /// Ids of which a field changes.
    pub changed: Vec<AddressId>,
    /// How many addresses are new.
    pub added: usize,
    /// Ids that will be gone.
    pub removed: Vec<AddressId>,
}

/// A merged profile, ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The customer object with the full address list.
    pub customer: Map<String, Value>,
    /// Every difference from what is stored.
    pub changes: Vec<FieldChange>,
    /// What becomes of the stored addresses.
    pub summary: AddressSummary,
    /// What was done that the user did not ask for explicitly.
    pub notes: Vec<String>,
}

/// Applies a patch to a stored customer object.
///
/// Every stored address id is in the result unless it is removed by name (or the patch replaces the list). Every field
/// that the draft does not name keeps its exact value. The stored order is kept, and new addresses come last.
///
/// # Errors
/// `guard` for a stored list that cannot be replaced safely (no id, an id twice, an id that is not an integer) and for
/// an id that the profile does not have; `usage` for a draft that contradicts itself or leaves the region ambiguous.
pub fn merge(stored: &Map<String, Value>, patch: &ProfilePatch) -> Result<Merged, Failure> {
    ensure_same_customer(stored, patch)?;
    refuse_unknown(&patch.deferred, &patch.draft, stored)?;
    check_attribute_codes(&patch.draft, "")?;
    let Some(Value::Array(list)) = stored.get("addresses") else {
        return Err(Failure::guard("the stored profile has no address list"));
    };
    let addresses = merge_addresses(list, patch)?;
    let mut customer = stored.clone();
    let is_set = |name: &str, value| name != ADDRESSES && !clears_nothing(stored, name, value);
    for (name, value) in patch.draft.iter().filter(|(name, value)| is_set(name, value)) {
        set_field(&mut customer, name, value);
    }
    customer.insert(ADDRESSES.to_owned(), Value::Array(addresses));
    for (name, default) in &patch.defaults {
        default.write(&mut customer, name);
    }
    let mut left_out = Vec::new();
    let mut notes = Vec::new();
    for name in DEFAULTS {
        let is_in = |customer: &Map<String, Value>, id: &AddressId| find_address(customer, *id).is_some();
        let default = customer.get(name).and_then(AddressId::of);
        if let Some(id) = default.filter(|id| is_in(stored, id) && !is_in(&customer, id)) {
            customer.shift_remove(name);
            left_out.push(name);
            notes.push(format!("{name} cleared: it pointed to removed address {id}"));
        }
    }
    let mut merged = Merged::between(stored, customer)?;
    // A service that merges keeps a default that is left out until its address is gone: that is not a change to verify.
    merged
        .changes
        .retain(|change| !left_out.iter().any(|name| change.path == FieldPath::default().member(name)));
    merged.notes = notes;
    Ok(merged)
}

impl Merged {
    /// The replacement of `stored` by `customer`, whose new addresses have no id.
    ///
    /// # Errors
    /// `guard` when the stored list has an address without a usable id of its own.
    fn between(stored: &Map<String, Value>, customer: Map<String, Value>) -> Result<Self, Failure> {
        let before = AddressIndex::of(address_list(stored))?;
        let changes = diff::customers(stored, &customer);
        let touched: HashSet<AddressId> =
            changes.iter().filter_map(|change| change.path.address_id()).collect();
        let after = address_list(&customer);
        let staying: Vec<AddressId> = addresses_by_id(after).map(|(id, _)| id).collect();
        let there: HashSet<AddressId> = staying.iter().copied().collect();
        let (changed, kept) = staying.into_iter().partition(|id| touched.contains(id));
        let summary = AddressSummary {
            kept,
            changed,
            added: after.iter().filter(|address| address.get("id").is_none()).count(),
            removed: before.ids().iter().copied().filter(|id| !there.contains(id)).collect(),
        };
        Ok(Self { customer, changes, summary, notes: Vec::new() })
    }
}

impl Merged {
    /// The customer object after these addresses were removed from it, and the defaults that they were.
    pub fn without(customer: &Map<String, Value>, removed: &[AddressId]) -> Map<String, Value> {
        let mut customer = customer.clone();
        let is_removed = |value: &Value| AddressId::of(value).is_some_and(|id| removed.contains(&id));
        for name in DEFAULTS {
            if customer.get(name).is_some_and(is_removed) {
                customer.shift_remove(name);
            }
        }
        if let Some(Value::Array(addresses)) = customer.get_mut(ADDRESSES) {
            addresses.retain(|address| own_id(address).is_none_or(|id| !removed.contains(&id)));
        }
        customer
    }
}

/// Refuses a draft that was made for another customer: the token decides whose profile is replaced, whatever the ids
/// say.
fn ensure_same_customer(stored: &Map<String, Value>, patch: &ProfilePatch) -> Result<(), Failure> {
    let Some(own) = stored.get("id").and_then(id::integer) else { return Ok(()) };
    let drafts = address_list(&patch.draft).iter();
    let owners = drafts.filter_map(|draft| draft.get("customer_id"));
    let names_other = |id: &&Value| !id.is_null() && id::integer(id) != Some(own);
    match patch.draft.get("id").into_iter().chain(owners).find(names_other) {
        None => Ok(()),
        Some(other) => Err(Failure::guard(format!(
            "the input is for customer {other}, and this command for customer {own}"
        ))
        .hint(format!(
            "name customer {other} with --customer or by the token, or remove the ids from the input"
        ))
        .for_good()),
    }
}

/// A draft address and the stored position it changes, if it names one.
type AddressPatch = (Option<usize>, Map<String, Value>);

/// The full list that a patch makes of the stored one. If the patch replaces the list, it has the drafts' order, and
/// fields that a draft with an id does not name stay as they are stored.
fn merge_addresses(stored: &[Value], patch: &ProfilePatch) -> Result<Vec<Value>, Failure> {
    let index = AddressIndex::of(stored)?;
    let drafts = resolve_targets(patch, &index)?;
    let named: HashSet<usize> = drafts.iter().filter_map(|(position, _)| *position).collect();
    let stays = |position: usize| {
        let is_removed = patch.remove.contains(&index.ids()[position]);
        if patch.replace { named.contains(&position) } else { !is_removed }
    };
    let staying: Vec<usize> = (0..stored.len()).filter(|position| stays(*position)).collect();
    let mut changed = stored.to_vec();
    let mut new = Vec::new();
    let mut order = Vec::new();
    for (position, draft) in drafts {
        if let Some(position) = position {
            apply_patch(&mut changed[position], draft, &format!("address {}", index.ids()[position]))?;
            order.push(position);
        } else {
            let twin = staying.iter().find(|position| has_all(&stored[**position], &draft));
            let twin = twin.filter(|_| patch.twin != Twin::Added && !draft.is_empty());
            if twin.is_some() && patch.twin == Twin::Left {
                continue;
            }
            if let Some(position) = twin {
                return Err(Failure::guard(format!(
                    "address {} already has these values",
                    index.ids()[*position]
                ))
                .hint("change it with --address ID, or add a second one with --allow-duplicate")
                .for_good());
            }
            new.push(new_address(draft)?);
        }
    }
    let order = if patch.replace { order } else { staying };
    Ok(order.into_iter().map(|position| changed[position].take()).chain(new).collect())
}

/// Finds the stored address that each draft names.
fn resolve_targets(patch: &ProfilePatch, index: &AddressIndex) -> Result<Vec<AddressPatch>, Failure> {
    let mut named: HashSet<AddressId> = patch.remove.iter().copied().collect();
    patch.remove.iter().try_for_each(|id| index.find(*id).map(drop))?;
    let target = |(at, draft): (usize, &Value)| {
        let Value::Object(draft) = draft else {
            return Err(Failure::usage("addresses: every element must be an object"));
        };
        let label = match draft.get("id") {
            Some(id) => format!("address {id}: "),
            None => format!("addresses[{at}]."),
        };
        check_attribute_codes(draft, &label)?;
        let Some(id) = draft.get("id") else { return Ok((None, draft.clone())) };
        let id = AddressId::of(id).ok_or_else(|| Failure::usage(format!("invalid address ID `{id}`")))?;
        let position = index.find(id)?;
        if !named.insert(id) {
            return Err(Failure::usage(format!("duplicate address ID {id}"))
                .hint("list the address once, and do not name it in --remove-address as well"));
        }
        Ok((Some(position), draft.clone()))
    };
    address_list(&patch.draft).iter().enumerate().map(target).collect()
}

fn apply_patch(address: &mut Value, mut draft: Map<String, Value>, label: &str) -> Result<(), Failure> {
    let Value::Object(address) = address else { return Ok(()) };
    draft.shift_remove("id");
    // An id belongs to its country, but a text can also name a region of the new country.
    let says_text = region::names_text(&draft) && !region::has_id(address);
    let region_patch = region::take_region_patch(&mut draft, Some(address), label)?;
    if let (None, false, Some(country)) = (&region_patch, says_text, draft.get("country_id")) {
        region::require_region_for_new_country(address, country, label)?;
    }
    if let Some(region_patch) = region_patch {
        region::apply(address, &region_patch, label)?;
    }
    draft.retain(|name, value| !clears_nothing(address, name, value));
    for (name, value) in &draft {
        set_field(address, name, value);
    }
    Ok(())
}

/// A new address: the draft itself, with its region in both places.
fn new_address(mut draft: Map<String, Value>) -> Result<Value, Failure> {
    if let Some(region_patch) = region::take_region_patch(&mut draft, None, "the new address")? {
        region::apply(&mut draft, &region_patch, "the new address")?;
    }
    Ok(Value::Object(draft))
}

const ATTRIBUTES: &str = "custom_attributes";
const ADDRESSES: &str = "addresses";

/// Merges a field that a draft names into an object. A value that is the same except for its notation stays as it is
/// stored.
pub fn set_field(object: &mut Map<String, Value>, name: &str, value: &Value) {
    match object.get_mut(name) {
        Some(stored) => merge_value(stored, name, value),
        None => drop(object.insert(name.to_owned(), value.clone())),
    }
}

/// Whether a draft empties a field that is not there.
fn clears_nothing(object: &Map<String, Value>, name: &str, value: &Value) -> bool {
    let is_flag = DEFAULTS.contains(&name);
    !object.contains_key(name)
        && (value.is_null() || *value == "" || is_flag && same_value(name, Some(value), None))
}

fn merge_value(stored: &mut Value, name: &str, draft: &Value) {
    match (&mut *stored, draft) {
        (Value::Object(stored), Value::Object(draft)) => {
            draft.iter().for_each(|(name, value)| set_field(stored, name, value));
        }
        (Value::Array(stored), Value::Array(draft))
            if [ATTRIBUTES, ADDRESSES].contains(&name)
                && draft.iter().all(|element| key(name, element).is_some()) =>
        {
            for element in draft {
                match stored.iter_mut().find(|own| key(name, own) == key(name, element)) {
                    Some(own) => merge_value(own, "", element),
                    None => stored.push(element.clone()),
                }
            }
        }
        (stored, draft) => *stored = as_stored(name, stored, draft),
    }
}

/// The draft's value. Parts that it does not change keep the notation that is stored: a number or its text, null or
/// `""`.
fn as_stored(name: &str, stored: &Value, draft: &Value) -> Value {
    match (stored, draft) {
        _ if is_unchanged(name, stored, draft) => stored.clone(),
        (Value::Object(stored), Value::Object(draft)) => {
            let field = |(name, value): (&String, &Value)| {
                (
                    name.clone(),
                    stored.get(name).map_or_else(|| value.clone(), |own| as_stored(name, own, value)),
                )
            };
            draft.iter().map(field).collect()
        }
        (Value::Array(stored), Value::Array(draft)) => {
            let element = |(index, value): (usize, &Value)| {
                // An element may have moved, because one before it was inserted or removed.
                let mut likely = stored.get(index).into_iter().chain(stored);
                let unchanged = likely.find(|stored| is_unchanged("", stored, value)).or(stored.get(index));
                unchanged.map_or_else(|| value.clone(), |own| as_stored("", own, value))
            };
            draft.iter().enumerate().map(element).collect()
        }
        _ => draft.clone(),
    }
}

/// The key by which elements of a list are merged; `None` if the list is replaced as a whole.
fn key(list: &str, element: &Value) -> Option<String> {
    match list {
        ATTRIBUTES => element.get("attribute_code")?.as_str().map(str::to_owned),
        ADDRESSES => own_id(element).map(|id| id.to_string()),
        _ => None,
    }
}

/// Refuses a custom attribute that a draft gives twice, in the profile or in one of its addresses. Elements without a
/// code are left to the merge: a misspelled `attribute_code` is reported as an unknown field first.
///
/// # Errors
/// `usage`, naming the list and the attribute.
pub fn refuse_repeated_codes(draft: &Map<String, Value>) -> Result<(), Failure> {
    let addresses = address_list(draft).iter().enumerate();
    let addresses = addresses
        .filter_map(|(index, address)| Some((format!("{ADDRESSES}[{index}]."), address.as_object()?)));
    for (label, object) in std::iter::once((String::new(), draft)).chain(addresses) {
        let attributes = object.get(ATTRIBUTES).and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        if let Some(code) = repeated_code(attributes) {
            return Err(given_twice(&label, &code));
        }
    }
    Ok(())
}

fn repeated_code(attributes: &[Value]) -> Option<String> {
    let codes: Vec<String> = attributes.iter().filter_map(|element| key(ATTRIBUTES, element)).collect();
    codes.iter().enumerate().find_map(|(index, code)| codes[..index].contains(code).then(|| code.clone()))
}

fn given_twice(label: &str, code: &str) -> Failure {
    Failure::usage(format!("{label}{ATTRIBUTES}: the attribute `{code}` is given twice"))
        .hint("give each attribute once")
}

/// Refuses custom attributes that cannot be merged by their code: one without a code, or two with the same. It checks
/// every depth except the address list: each address is checked on its own.
///
/// # Errors
/// `usage`, naming the list.
fn check_attribute_codes(draft: &Map<String, Value>, label: &str) -> Result<(), Failure> {
    for (name, value) in draft.iter().filter(|(name, _)| *name != ADDRESSES) {
        match value {
            Value::Array(attributes) if name == ATTRIBUTES && by_code(attributes).is_none() => {
                return Err(match repeated_code(attributes) {
                    Some(code) => given_twice(label, &code),
                    None => {
                        Failure::usage(format!("{label}{ATTRIBUTES}: an element has no `attribute_code`"))
                            .hint("add an `attribute_code` to each element")
                    }
                });
            }
            Value::Object(inside) => check_attribute_codes(inside, &format!("{label}{name}."))?,
            _ => {}
        }
    }
    Ok(())
}

/// Refuses a deletion by omission unless its exact number was allowed; `--yes` does not allow it. A deletion by name
/// passes if it is `confirmed`: by `--yes`, or because a person is asked next.
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
    let is_by_name = !patch.replace && allowed.is_none();
    if deleted == 0 || allowed == Some(deleted) || is_by_name && confirmed {
        return Ok(());
    }
    let addresses = if deleted == 1 { "1 address".to_owned() } else { format!("{deleted} addresses") };
    let (reason, hint) = match allowed {
        None if is_by_name => {
            ("; confirmation required, but there is no terminal to ask on".to_owned(), "add --yes, or")
        }
        None => (String::new(), "to proceed, add"),
        Some(allowed) => (format!(", but --allow-delete is {allowed}"), "to proceed, add"),
    };
    Err(Failure::guard(format!("this would delete {addresses}: {}{reason}", join_ids(&summary.removed)))
        .hint(format!("{hint} --allow-delete {deleted}")))
}

#[cfg(test)]
mod tests;
