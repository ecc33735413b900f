//! PUT `orders/{orderId}`, which saves an address without the checks of the address book.

use serde_json::{Value, json};

use super::view::with_code;
use crate::call::Call;
use crate::coerce::as_text;
use crate::fault::TriggeredFaults;
use crate::reply::ApiError;
use crate::store::{Database, Document};

/// Fields that have to be sent, even empty.
const REQUIRED: &[&str] = &[
    "address_type",
    "city",
    "country_id",
    "email",
    "firstname",
    "lastname",
    "postcode",
    "street",
    "telephone",
];

/// Saves an address as one of the order in the path: the one that `entity_id` names, of any order, or a new one. Fields
/// that are not sent are kept; the answer is what was sent, not what is stored.
pub fn replace(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let order = call.id(0)?;
    let mut sent = call.sent;
    let is_complete = REQUIRED.iter().all(|name| sent.contains_key(*name));
    let kind = sent.get("address_type").map(as_text).unwrap_or_default();
    let is_email = sent.get("email").is_some_and(|email| as_text(email).contains('@'));
    if !is_complete
        || !is_email
        || !["billing", "shipping"].contains(&&*kind)
        || records.order(order)?.is_none()
    {
        return Err(ApiError::new(400, "The order address couldn't be saved."));
    }
    let named = sent.get("entity_id").and_then(Value::as_i64).filter(|id| *id != 0);
    let id = match named {
        None => records.add_order_address(order, &kind, &stored(Document::new(), &sent))?,
        Some(id) => {
            // For an unknown id nothing is stored (ours, not measured).
            if let Some(owner) = records.order_of_address(id)? {
                let addresses = records.order_addresses(owner)?.into_iter();
                let before =
                    addresses.into_iter().find(|address| address["entity_id"] == id).unwrap_or_default();
                let after = without_lost(stored(before.clone(), &sent), &before, &call.struck);
                records.put_order_address(id, order, &kind, &after)?;
            }
            id
        }
    };
    sent.insert("entity_id".to_owned(), json!(id));
    sent.insert("parent_id".to_owned(), json!(order));
    Ok(Value::Object(with_code(sent)))
}

/// The stored fields: an empty value clears a field; a required one becomes an empty text. The code of the region has no
/// column.
fn stored(mut address: Document, sent: &Document) -> Document {
    for (name, value) in sent.iter().filter(|(name, _)| *name != "region_code") {
        let is_required = REQUIRED.contains(&name.as_str());
        match value {
            Value::Null if is_required => address.insert(name.clone(), json!("")),
            Value::String(text) if text.is_empty() && !is_required => address.shift_remove(name),
            Value::Null => address.shift_remove(name),
            value => address.insert(name.clone(), value.clone()),
        };
    }
    address
}

/// The address without the unchanged fields that a fault loses.
fn without_lost(mut address: Document, before: &Document, struck: &TriggeredFaults) -> Document {
    let is_field = |name: &str| !["entity_id", "parent_id", "address_type", "email"].contains(&name);
    let unchanged = before.iter().filter(|(name, value)| is_field(name) && address.get(*name) == Some(value));
    for name in struck.lost(unchanged.map(|(name, _)| name)) {
        address.shift_remove(name);
    }
    address
}
