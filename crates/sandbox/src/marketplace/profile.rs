//! The customer profile: reading it (ours) and replacing its addresses (docs/interface.md, "Operations").

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::quote;
use crate::call::Call;
use crate::fault::spec::FaultKind;
use crate::reply::ApiError;
use crate::store::{Database, Document, StoredAddress};
use storefront_core::text::exact_json;

/// An address element of the request: the stored address that it changes, or none for a new one, and its fields.
struct Element {
    id: Option<i64>,
    body: Document,
}

/// The stored profile in the envelope `customer` (ours: the interface shows no way to read it).
pub fn show(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let profile = stored(records, call.customer()?)?;
    Ok(exact_json::object([("customer", profile)]))
}

/// A customer with all addresses.
pub fn stored(records: &Database<'_>, customer: i64) -> Result<Value, ApiError> {
    let mut profile = records.customer(customer)?;
    let addresses = records.addresses(customer)?;
    profile.insert(
        "addresses".to_owned(),
        addresses.into_iter().map(|address| Value::Object(address.body)).collect(),
    );
    Ok(Value::Object(profile))
}

/// Stores the fields that were sent, and replaces the address list by the one sent, all or nothing.
///
/// Fields of the profile that are not sent stay, and so does the whole list without `addresses` (ours). Fields that the
/// interface does not list are stored as they came, also the default addresses (ours); a stored default that is not sent
/// goes with its address, as in Magento.
pub fn replace(records: &Database<'_>, mut call: Call) -> Result<Value, ApiError> {
    let customer = call.customer()?;
    let list = match call.sent.shift_remove("addresses") {
        Some(Value::Array(elements)) => Some(elements),
        _ => None,
    };
    let mut profile = records.customer(customer)?;
    let before = records.addresses(customer)?;
    let mut after = match list {
        Some(list) => {
            let mut elements = elements(records, customer, list)?;
            if call.struck.has(FaultKind::DropAddress) {
                elements.pop();
            }
            replace_list(records, customer, &before, &elements)?
        }
        None => before.clone(),
    };
    for lost in call.struck.lost(unchanged(&before, &after)) {
        records.remove_address(lost)?;
        after.retain(|address| address.id != lost);
    }
    put_list(records, &before, &after)?;
    drop_lost_defaults(&mut profile, &before, &after);
    profile.insert("updated_at".to_owned(), Value::from(now()));
    profile.extend(call.sent);
    records.put_customer(customer, &profile)?;
    stored(records, customer)
}

/// 404 for an address that does not exist, 400 for another customer's.
pub fn check_owner(records: &Database<'_>, customer: i64, address: i64) -> Result<(), ApiError> {
    match records.address_owner(address)? {
        None => Err(ApiError::no_such_entity("addressId", address)),
        Some(owner) if owner == customer => Ok(()),
        Some(_) => {
            let message = "Provided customer ID \"%customer_id\" isn't related to current customer address.";
            Err(ApiError::new(400, message).with(json!({"customer_id": customer})))
        }
    }
}

/// The addresses that a write did not change.
pub fn unchanged(before: &[StoredAddress], after: &[StoredAddress]) -> Vec<i64> {
    after.iter().filter(|address| before.contains(address)).map(|address| address.id).collect()
}

/// Removes the defaults that name a deleted address from the stored profile.
fn drop_lost_defaults(profile: &mut Document, before: &[StoredAddress], after: &[StoredAddress]) {
    let is_deleted = |value: &Value| {
        let named = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let is_it = |address: &StoredAddress| address.id.to_string() == named;
        before.iter().any(is_it) && !after.iter().any(is_it)
    };
    for name in ["default_billing", "default_shipping"] {
        if profile.get(name).is_some_and(is_deleted) {
            profile.shift_remove(name);
        }
    }
}

/// The elements of the list, each with an id of the customer's own or without one, no id twice.
fn elements(records: &Database<'_>, customer: i64, list: Vec<Value>) -> Result<Vec<Element>, ApiError> {
    let mut seen = HashSet::new();
    let mut elements = Vec::with_capacity(list.len());
    for value in list {
        let Value::Object(body) = value else { continue };
        quote::check_address(&body)?;
        let id = body.get("id").and_then(Value::as_i64);
        if let Some(id) = id {
            check_owner(records, customer, id)?;
            if !seen.insert(id) {
                return Err(ApiError::new(400, "The address with ID \"%id\" is listed more than once.")
                    .with(json!({"id": id})));
            }
        }
        elements.push(Element { id, body });
    }
    Ok(elements)
}

/// Deletes addresses that are left out, creates those without an id, and returns the new list; an address with a known id
/// gets the sent fields and keeps the others (ours).
fn replace_list(
    records: &Database<'_>,
    customer: i64,
    before: &[StoredAddress],
    elements: &[Element],
) -> Result<Vec<StoredAddress>, ApiError> {
    let kept: HashSet<i64> = elements.iter().filter_map(|element| element.id).collect();
    for address in before.iter().filter(|address| !kept.contains(&address.id)) {
        records.remove_address(address.id)?;
    }
    let stored: HashMap<i64, &StoredAddress> = before.iter().map(|address| (address.id, address)).collect();
    let mut after = Vec::with_capacity(elements.len());
    for (position, element) in (0..).zip(elements) {
        let known = element.id.and_then(|id| stored.get(&id));
        let mut body = known.map_or_else(Document::new, |address| address.body.clone());
        body.extend(element.body.clone());
        let id = match known {
            Some(address) => address.id,
            None => records.add_address(customer, position, &body)?,
        };
        after.push(StoredAddress { id, body });
    }
    Ok(after)
}

/// Writes every address whose place or fields have changed.
fn put_list(
    records: &Database<'_>,
    before: &[StoredAddress],
    after: &[StoredAddress],
) -> Result<(), ApiError> {
    let stored = before.iter().map(Some).chain(std::iter::repeat(None));
    for ((position, address), stored) in (0..).zip(after).zip(stored) {
        if stored != Some(address) {
            records.put_address(position, address)?;
        }
    }
    Ok(())
}

/// The time as Magento writes it.
pub fn now() -> String {
    crate::system_time().strftime("%Y-%m-%d %H:%M:%S").to_string()
}
