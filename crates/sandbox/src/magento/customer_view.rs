//! A stored customer as Magento answers it: only known fields, without null.

use serde_json::{Value, json};

use super::custom_attributes::{ADDRESS_ATTRIBUTES, CUSTOMER_ATTRIBUTES};
use super::directory::{self, Region};
use crate::coerce::as_text;
use crate::reply::ApiError;
use crate::store::{Database, Document, StoredAddress};

/// The names of the two defaults, on the customer and, as flags, on the addresses.
pub const DEFAULTS: [&str; 2] = ["default_billing", "default_shipping"];

/// The fields of a customer before and after the addresses, in Magento's order.
const BEFORE: &[&str] = &[
    "id",
    "group_id",
    "default_billing",
    "default_shipping",
    "confirmation",
    "created_at",
    "updated_at",
    "created_in",
    "dob",
    "email",
    "firstname",
    "lastname",
    "middlename",
    "prefix",
    "suffix",
    "gender",
    "store_id",
    "taxvat",
    "website_id",
];
/// Fields that are shown even if they are empty.
const REQUIRED: &[&str] = &["email", "firstname", "lastname"];
const NUMBERS: &[&str] = &["id", "group_id", "gender", "store_id", "website_id"];

/// The text fields of an address, in Magento's order, between `street` and the flags.
pub const ADDRESS_TEXTS: &[&str] = &[
    "company",
    "telephone",
    "fax",
    "postcode",
    "city",
    "firstname",
    "lastname",
    "middlename",
    "prefix",
    "suffix",
    "vat_id",
];

/// Customer `id` with all addresses, in the order of their ids.
pub fn customer(records: &Database<'_>, id: i64) -> Result<Value, ApiError> {
    let stored = records.customer(id)?;
    let mut view = Document::new();
    for name in BEFORE {
        if let Some(value) = stored.get(*name).and_then(|value| scalar(value, NUMBERS.contains(name))) {
            view.insert((*name).to_owned(), value);
        } else if REQUIRED.contains(name) {
            view.insert((*name).to_owned(), Value::from(""));
        }
    }
    let mut addresses = records.addresses(id)?;
    addresses.sort_by_key(|address| address.id);
    let addresses: Vec<Value> =
        addresses.iter().map(|stored_address| address(&stored, stored_address)).collect();
    view.insert("addresses".to_owned(), Value::from(addresses));
    let flag = stored.get("disable_auto_group_change").and_then(|value| scalar(value, true));
    view.insert("disable_auto_group_change".to_owned(), flag.unwrap_or_else(|| json!(0)));
    let is_subscribed =
        stored.get("extension_attributes").is_some_and(|extension| extension["is_subscribed"] == true);
    view.insert("extension_attributes".to_owned(), json!({"is_subscribed": is_subscribed}));
    insert_attributes(&mut view, &stored, CUSTOMER_ATTRIBUTES);
    Ok(Value::Object(view))
}

/// An address of the customer `owner`, with the flags of the defaults that name it.
pub fn address(owner: &Document, address: &StoredAddress) -> Value {
    let stored = &address.body;
    let mut view = Document::new();
    for name in ["id", "customer_id"] {
        view.insert(name.to_owned(), stored.get(name).cloned().unwrap_or_default());
    }
    let (region, region_id) = region(stored);
    view.insert("region".to_owned(), region);
    if let Some(id) = region_id {
        view.insert("region_id".to_owned(), Value::from(id));
    }
    if let Some(country) = stored.get("country_id").and_then(|value| scalar(value, false)) {
        view.insert("country_id".to_owned(), country);
    }
    let lines = stored.get("street").and_then(Value::as_array).into_iter().flatten();
    view.insert("street".to_owned(), lines.map(|line| Value::from(as_text(line))).collect());
    for name in ADDRESS_TEXTS {
        if let Some(value) = stored.get(*name).and_then(|value| scalar(value, false)) {
            view.insert((*name).to_owned(), value);
        }
    }
    for name in ["default_shipping", "default_billing"] {
        if default_id(owner, name) == Some(address.id) {
            view.insert(name.to_owned(), Value::Bool(true));
        }
    }
    insert_attributes(&mut view, stored, ADDRESS_ATTRIBUTES);
    Value::Object(view)
}

/// The address that a stored default names.
pub fn default_id(customer: &Document, name: &str) -> Option<i64> {
    as_text(customer.get(name)?).parse().ok()
}

/// The region object, resolved by its id, and the id; a region that was never set has none.
fn region(stored: &Document) -> (Value, Option<i64>) {
    let object = stored.get("region").and_then(Value::as_object);
    let inside = object.and_then(|region| region.get("region_id")).and_then(Value::as_i64);
    let id = stored.get("region_id").and_then(Value::as_i64).or(inside);
    if let Some(Region(id, code, name)) = id.filter(|id| *id > 0).and_then(directory::region) {
        return (json!({"region_code": code, "region": name, "region_id": id}), Some(*id));
    }
    let text = object.and_then(|region| region.get("region")).and_then(|value| scalar(value, false));
    let shown = text.clone().unwrap_or_default();
    (json!({"region_code": shown, "region": shown, "region_id": id.unwrap_or(0)}), id.or(text.map(|_| 0)))
}

/// A stored scalar as Magento's type of it; nothing for null and for the empty text of an optional field.
fn scalar(value: &Value, is_number: bool) -> Option<Value> {
    match value {
        Value::Null | Value::Array(_) | Value::Object(_) => None,
        Value::String(text) if text.is_empty() => None,
        value if is_number => as_text(value).parse::<i64>().ok().map(Value::from),
        value => Some(Value::from(as_text(value))),
    }
}

fn insert_attributes(view: &mut Document, stored: &Document, known: &[&str]) {
    let list = stored.get("custom_attributes").and_then(Value::as_array).into_iter().flatten();
    let attributes: Vec<Value> = list
        .filter_map(|attribute| {
            let code = attribute["attribute_code"].as_str().filter(|code| known.contains(code))?;
            Some(json!({"attribute_code": code, "value": as_text(&attribute["value"])}))
        })
        .collect();
    if !attributes.is_empty() {
        view.insert("custom_attributes".to_owned(), Value::from(attributes));
    }
}

/// Puts custom attributes into a stored object: an empty value removes one, an unknown code is ignored.
pub fn merge_attributes(stored: &mut Document, sent: Option<&Value>, known: &[&str]) {
    let Some(sent) = sent.and_then(Value::as_array) else { return };
    let mut list = stored.get("custom_attributes").and_then(Value::as_array).cloned().unwrap_or_default();
    for attribute in sent {
        let Some(code) = attribute["attribute_code"].as_str().filter(|code| known.contains(code)) else {
            continue;
        };
        let value = as_text(&attribute["value"]);
        let place = list.iter().position(|stored| stored["attribute_code"] == code);
        match (place, value.is_empty()) {
            (Some(place), true) => {
                list.remove(place);
            }
            (Some(place), false) => list[place]["value"] = Value::from(value),
            (None, true) => {}
            (None, false) => list.push(json!({"attribute_code": code, "value": value})),
        }
    }
    stored.insert("custom_attributes".to_owned(), Value::from(list));
}

/// The text that the database keeps: characters beyond the BMP are lost, one `?` for each of their bytes (2.4.6 on
/// MariaDB).
pub fn storable(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut kept, letter| {
        if u32::from(letter) > 0xFFFF {
            kept.push_str("????");
        } else {
            kept.push(letter);
        }
        kept
    })
}
