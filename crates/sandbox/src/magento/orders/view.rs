//! Reading and finding orders.

use serde_json::{Value, json};

use super::super::directory;
use super::super::search::{self, SearchCriteria};
use crate::call::Call;
use crate::reply::ApiError;
use crate::store::{Database, Document};

/// The columns of the table of orders, which can be searched.
const COLUMNS: &[&str] = &[
    "created_at",
    "customer_email",
    "customer_firstname",
    "customer_id",
    "customer_is_guest",
    "customer_lastname",
    "entity_id",
    "grand_total",
    "increment_id",
    "is_virtual",
    "quote_id",
    "state",
    "status",
    "store_id",
    "updated_at",
];

/// GET `orders/{orderId}`.
pub fn show(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    shown(records, existing(records, call.id(0)?)?)
}

/// GET `orders`: a search finds what a single order shows.
pub fn list(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let criteria = search::parse(&call.query)?;
    check_columns(&criteria)?;
    let mut found = Vec::new();
    for id in records.order_ids()? {
        let searched = Value::Object(records.order(id)?.unwrap_or_default());
        if criteria.holds(&searched) {
            found.push((searched, json!(id)));
        }
    }
    let mut answer = criteria.answer(criteria.sorted(found));
    for item in answer["items"].as_array_mut().into_iter().flatten() {
        *item = shown(records, item.as_i64().unwrap_or_default())?;
    }
    Ok(answer)
}

/// A filter on a field that the table lacks is an error of the database.
fn check_columns(criteria: &SearchCriteria) -> Result<(), ApiError> {
    criteria.check_fields(COLUMNS).map_err(|_| ApiError::internal())
}

/// `id` if it is an order; 404 otherwise.
pub fn existing(records: &Database<'_>, id: i64) -> Result<i64, ApiError> {
    let message = "The entity that was requested doesn't exist. Verify the entity and try again.";
    if records.order(id)?.is_some() { Ok(id) } else { Err(ApiError::new(404, message)) }
}

/// An order with its items, addresses and comments. Only the first address of each type is shown.
fn shown(records: &Database<'_>, id: i64) -> Result<Value, ApiError> {
    let mut order = records.order(id)?.unwrap_or_default();
    let method = order.shift_remove("shipping_method").unwrap_or_default();
    let items: Value = records.order_items(id)?.into();
    order.insert("items".to_owned(), items.clone());
    if let Some(billing) = address(records, id, "billing")? {
        order.insert("billing_address".to_owned(), billing);
    }
    order.insert("status_histories".to_owned(), records.order_comments(id)?.into());
    let mut shipping = json!({"method": method});
    if let Some(address) = address(records, id, "shipping")? {
        shipping["address"] = address;
    }
    let assignments = json!([{"shipping": shipping, "items": items}]);
    order.insert("extension_attributes".to_owned(), json!({"shipping_assignments": assignments}));
    order.retain(|_, value| !value.is_null());
    Ok(Value::Object(order))
}

fn address(records: &Database<'_>, order: i64, kind: &str) -> Result<Option<Value>, ApiError> {
    let mut addresses = records.order_addresses(order)?.into_iter();
    Ok(addresses
        .find(|address| address["address_type"] == kind)
        .map(|address| Value::Object(with_code(address))))
}

/// An address with the code of its region, which is looked up, and without empty fields.
pub fn with_code(mut address: Document) -> Document {
    let id = address.get("region_id").and_then(Value::as_i64).unwrap_or_default();
    let country = address.get("country_id").and_then(Value::as_str).unwrap_or_default();
    let region = directory::regions(country).iter().find(|region| region.0 == id);
    if let Some(directory::Region(_, code, _)) = region {
        address.insert("region_code".to_owned(), json!(code));
    }
    address.retain(|_, value| !value.is_null());
    address
}
