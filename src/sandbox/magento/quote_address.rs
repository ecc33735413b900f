//! Addresses of a cart: far laxer than the address book.

use serde_json::{Value, json};

use super::coerce::as_text;
use super::countries::{self, Region};
use super::customer_view::storable;
use crate::sandbox::reply::ApiError;
use crate::sandbox::store::{Database, Document};

/// What is stored of an address: the fields sent, with the region as Magento resolves it. `earlier` is the address that
/// is replaced: its region stays where none is sent.
pub fn stored(sent: &Document, earlier: Option<&Value>) -> Document {
    let mut address = Document::new();
    for (name, value) in sent.iter().filter(|(_, value)| !value.is_null()) {
        let value = match value {
            Value::String(text) => Value::from(storable(text)),
            Value::Array(lines) if name == "street" => {
                lines.iter().map(|line| Value::from(storable(&as_text(line)))).collect()
            }
            other => other.clone(),
        };
        address.insert(name.clone(), value);
    }
    let region = region(&address).or_else(|| earlier.and_then(Value::as_object).and_then(region_of));
    for (name, value) in ["region", "region_id", "region_code"].into_iter().zip(region.unwrap_or_default()) {
        address.insert(name.to_owned(), value);
    }
    address
}

/// Name, id and code. An id counts before a code, a code only where the country has it; nothing is refused.
fn region(address: &Document) -> Option<[Value; 3]> {
    let text = |name: &str| address.get(name).map(as_text).filter(|text| !text.is_empty());
    let country = text("country_id").unwrap_or_default();
    let of_country = countries::regions(&country);
    let id = address.get("region_id").and_then(Value::as_i64).filter(|id| *id != 0);
    if let Some(id) = id {
        let found = of_country.iter().find(|region| region.0 == id);
        return Some(match found {
            Some(Region(id, code, name)) => [json!(name), json!(id), json!(code)],
            None => [json!(text("region")), json!(id), Value::Null],
        });
    }
    if let Some(code) = text("region_code") {
        let found = of_country.iter().find(|region| region.1 == code);
        return Some(match found {
            Some(Region(id, code, name)) => [json!(name), json!(id), json!(code)],
            None => [json!(text("region")), Value::Null, Value::Null],
        });
    }
    text("region").map(|name| [json!(name), Value::Null, Value::Null])
}

fn region_of(stored: &Document) -> Option<[Value; 3]> {
    let parts =
        ["region", "region_id", "region_code"].map(|name| stored.get(name).cloned().unwrap_or_default());
    parts.iter().any(|part| !part.is_null()).then_some(parts)
}

/// The country of an address that is sent, if it has one at all.
pub fn country(sent: &Document) -> Option<String> {
    sent.get("country_id").map(as_text).filter(|code| !code.is_empty())
}

/// The sentence against a book address that is not this customer's.
pub fn check_book_id(
    records: &Database<'_>,
    sent: &Document,
    customer: i64,
) -> Result<Option<String>, ApiError> {
    match sent.get("customer_address_id").and_then(Value::as_i64).filter(|id| *id != 0) {
        Some(id) if records.address_owner(id)? != Some(customer) => {
            Ok(Some(format!("Invalid customer address id {id}")))
        }
        _ => Ok(None),
    }
}
