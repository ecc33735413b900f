//! Replacing the address list of a customer, and what the address book refuses.

use std::collections::HashSet;

use serde_json::{Value, json};

use super::custom_attributes::ADDRESS_ATTRIBUTES;
use super::customer_view::{DEFAULTS, merge_attributes, storable};
use super::directory;
use super::directory::Region;
use crate::coerce::as_text;
use crate::marketplace::profile::check_owner;
use crate::reply::ApiError;
use crate::store::{Database, Document, StoredAddress};

/// The list after the replacement, and the fields that were sent of each address in it.
pub struct Replaced {
    /// Every address of the customer by its id.
    pub addresses: Vec<StoredAddress>,
    /// Ids and fields of the addresses sent, in the order sent.
    pub sent: Vec<(i64, Document)>,
}

/// Fields that are not stored as they were sent.
const APART: &[&str] =
    &["id", "customer_id", "region", "region_id", "street", "custom_attributes", "extension_attributes"];

/// Makes the list of customer `customer` that of `elements`: an address that is not among them is deleted, one with a
/// known id is changed, one without an id (or 0) is created.
///
/// 404 for an id that does not exist, 400 for another customer's and for an address that cannot be stored.
pub fn replace(records: &Database<'_>, customer: i64, elements: &[Value]) -> Result<Replaced, ApiError> {
    let before = records.addresses(customer)?;
    let mut addresses: Vec<StoredAddress> = Vec::new();
    let mut sent = Vec::new();
    for element in elements.iter().filter_map(Value::as_object) {
        let id = element.get("id").and_then(Value::as_i64).filter(|id| *id != 0);
        let address = match id {
            None => create(records, customer, element)?,
            Some(id) => {
                check_owner(records, customer, id)?;
                // The same id twice changes the address twice.
                let earlier =
                    addresses.iter().position(|address| address.id == id).map(|at| addresses.remove(at));
                let stored = earlier.or_else(|| before.iter().find(|address| address.id == id).cloned());
                change(stored.unwrap_or(StoredAddress { id, body: Document::new() }), element)?
            }
        };
        sent.push((address.id, element.clone()));
        addresses.push(address);
    }
    let kept: HashSet<i64> = addresses.iter().map(|address| address.id).collect();
    for address in before.iter().filter(|address| !kept.contains(&address.id)) {
        records.remove_address(address.id)?;
    }
    addresses.sort_by_key(|address| address.id);
    Ok(Replaced { addresses, sent })
}

fn create(records: &Database<'_>, customer: i64, sent: &Document) -> Result<StoredAddress, ApiError> {
    let mut body = Document::new();
    merge(&mut body, sent);
    check(&body)?;
    let id = records.add_address(customer, 0, &body)?;
    Ok(StoredAddress { id, body })
}

fn change(mut stored: StoredAddress, sent: &Document) -> Result<StoredAddress, ApiError> {
    merge(&mut stored.body, sent);
    check(&stored.body)?;
    Ok(stored)
}

/// Null keeps the stored value, an empty text clears it.
fn merge(stored: &mut Document, sent: &Document) {
    for (name, value) in sent {
        let is_apart = APART.contains(&name.as_str()) || DEFAULTS.contains(&name.as_str());
        match value {
            _ if is_apart => {}
            Value::String(text) => {
                stored.insert(name.clone(), Value::from(storable(text)));
            }
            _ => {}
        }
    }
    if let Some(lines) = sent.get("street").and_then(Value::as_array) {
        // The lines are one text in the database, without the blanks around it.
        let lines = lines.iter().map(as_text).collect::<Vec<_>>().join("\n");
        let lines = storable(lines.trim_matches([' ', '\t', '\n', '\r', '\0', '\u{b}']));
        stored.insert("street".to_owned(), lines.split('\n').map(Value::from).collect());
    }
    merge_attributes(stored, sent.get("custom_attributes"), ADDRESS_ATTRIBUTES);
    merge_region(stored, sent);
}

/// The top-level id takes precedence over the object's; an object without an id is not a region at all, with any code.
fn merge_region(stored: &mut Document, sent: &Document) {
    let object = sent.get("region").filter(|region| !region.is_null());
    let inside = object.and_then(|region| region.get("region_id")).and_then(Value::as_i64);
    let id = match (sent.get("region_id").and_then(Value::as_i64), object) {
        (Some(id), _) => id,
        (None, Some(_)) => inside.unwrap_or(0),
        (None, None) => return,
    };
    let text = object.and_then(|region| region.get("region")).filter(|_| id == 0).map(as_text);
    let text = text.filter(|text| !text.is_empty()).map(|text| storable(&text));
    let region = match directory::region(id) {
        Some(Region(_, code, name)) => json!({"region_code": code, "region": name, "region_id": id}),
        None => json!({"region_code": null, "region": text, "region_id": id}),
    };
    stored.insert("region".to_owned(), region);
    stored.insert("region_id".to_owned(), Value::from(id));
}

/// How many street lines an address may have, unless the shop is set up for more.
const STREET_LINES: usize = 2;

/// Countries whose addresses need no postcode; Lebanon is this shop's own setting, the others are Magento's.
const WITHOUT_POSTCODE: &[&str] = &["HK", "IE", "LB", "MO", "PA"];

/// Fields that an address needs, as the checks name them.
const NEEDED: [(&str, &str); 6] = [
    ("firstname", "First Name"),
    ("lastname", "Last Name"),
    ("street", "Street Address"),
    ("city", "City"),
    ("telephone", "Phone Number"),
    ("postcode", "Zip/Postal Code"),
];

/// Refuses an address that cannot be stored as in `merged`.
pub fn check(merged: &Document) -> Result<(), ApiError> {
    let mut wrong: Vec<ApiError> = lacking(merged).map(|(name, _)| ApiError::required(name)).collect();
    let country = text(merged, "country_id");
    if country.is_empty() {
        wrong.push(ApiError::required("countryId"));
    } else if !directory::exists(country) {
        wrong.push(ApiError::invalid_value("countryId", &Value::from(country)));
    } else if let Some(refusal) = foreign_region(merged, country) {
        wrong.push(refusal);
    }
    ApiError::all(wrong).map_or_else(|| check_lines(merged), Err)
}

/// Refuses an address as it is stored. Magento saves the stored addresses before it looks at the sent ones: if it refuses
/// one of them, no PUT of the customer succeeds, not even one that corrects or removes it.
pub fn check_stored(address: &Document) -> Result<(), ApiError> {
    let blanks: Vec<String> =
        lacking(address).map(|(_, label)| format!("\"{label}\" is a required value.")).collect();
    if blanks.is_empty() { check_lines(address) } else { Err(ApiError::new(400, &blanks.join("\n"))) }
}

fn lacking(address: &Document) -> impl Iterator<Item = (&'static str, &'static str)> {
    let needs_no_postcode = WITHOUT_POSTCODE.contains(&text(address, "country_id"));
    NEEDED
        .into_iter()
        .filter(move |(name, _)| is_blank(address.get(*name)) && !(needs_no_postcode && *name == "postcode"))
}

fn check_lines(address: &Document) -> Result<(), ApiError> {
    if address.get("street").and_then(Value::as_array).is_some_and(|lines| lines.len() > STREET_LINES) {
        return Err(ApiError::new(400, "\"Street Address\" cannot contain more than 2 lines."));
    }
    Ok(())
}

fn foreign_region(address: &Document, country: &str) -> Option<ApiError> {
    let id = address.get("region_id").and_then(Value::as_i64).filter(|id| *id != 0)?;
    let fits = directory::regions(country).iter().any(|region| region.0 == id);
    (!fits).then(|| ApiError::invalid_value("regionId", &Value::from(id.to_string())))
}

fn is_blank(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => true,
        Some(Value::String(text)) => text.trim().is_empty(),
        Some(Value::Array(lines)) => lines.iter().all(|line| is_blank(Some(line))),
        Some(_) => false,
    }
}

fn text<'address>(address: &'address Document, name: &str) -> &'address str {
    address.get(name).and_then(Value::as_str).unwrap_or_default()
}
