//! The contents of a new sandbox. The records themselves are in `seed.json`, for people to read.

use serde_json::Value;

use super::store::{Caller, Document};
use crate::magento;
use crate::store::{Database, StoreResult};

/// The start of a customer's token; the id follows. A sandbox listens on loopback, so its tokens need not be secret, and
/// examples can be copied.
pub const OF_CUSTOMER: &str = "sandbox-customer-";
/// Token of the administrator.
pub const ADMIN_TOKEN: &str = "sandbox-admin";

/// The seed, as people read and edit it.
pub const TEXT: &str = include_str!("seed.json");

/// The seed file; every list is in the order in which it is stored.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Seed {
    store_views: Vec<Document>,
    carrier_methods: Vec<Document>,
    payment_methods: Vec<Document>,
    attributes: Vec<Document>,
    attribute_sets: Vec<Document>,
    attribute_groups: Vec<Document>,
    attribute_assignments: Vec<Document>,
    products: Vec<Document>,
    customers: Vec<Document>,
    quotes: Vec<Document>,
    orders: Vec<Document>,
}

/// Codes of the store views of a new sandbox.
pub fn store_views() -> Vec<String> {
    let seed: Value = serde_json::from_str(TEXT).unwrap_or_default();
    let views = seed["store_views"].as_array().into_iter().flatten();
    views.filter_map(|view| view["code"].as_str().map(str::to_owned)).collect()
}

/// Fills the empty tables.
pub fn insert(records: &Database<'_>) -> StoreResult<()> {
    insert_text(records, TEXT)
}

/// Fills the empty tables from a user's own seed, in the same form.
pub fn insert_text(records: &Database<'_>, text: &str) -> StoreResult<()> {
    let seed: Seed = serde_json::from_str(text)?;
    for attribute in &seed.attributes {
        insert_attribute(records, attribute)?;
    }
    for (table, rows) in [
        ("store_views", &seed.store_views),
        ("carrier_methods", &seed.carrier_methods),
        ("payment_methods", &seed.payment_methods),
        ("attribute_sets", &seed.attribute_sets),
        ("attribute_groups", &seed.attribute_groups),
        ("attribute_assignments", &seed.attribute_assignments),
    ] {
        for row in rows {
            add_row(records, table, row)?;
        }
    }
    for product in &seed.products {
        insert_product(records, product)?;
    }
    for customer in &seed.customers {
        insert_customer(records, customer)?;
    }
    for quote in &seed.quotes {
        add_row(records, "quotes", quote)?;
    }
    for order in &seed.orders {
        insert_order(records, order)?;
    }
    records.issue_token(ADMIN_TOKEN, Caller::Admin, None)
}

/// Adds customers until there are `count`: `customer-7@example.com` and so on, with an address and a token each.
pub fn fill(records: &Database<'_>, count: i64) -> StoreResult<()> {
    let last = records.customer_ids()?.last().copied().unwrap_or_default();
    for id in last + 1..=count {
        let customer = serde_json::from_value(serde_json::json!({
            "id": id, "group_id": 1, "email": format!("customer-{id}@example.com"), "firstname": "Customer",
            "lastname": format!("Number {id}"), "store_id": 1, "website_id": 1, "disable_auto_group_change": 0,
            "created_in": "Default Store View",
            "addresses": [{"firstname": "Customer", "lastname": format!("Number {id}"), "street": [format!("Main St {id}")],
                "city": "Austin", "postcode": "73301", "telephone": "+1 512 555 0100", "country_id": "US", "region_id": 57,
                "region": {"region_code": "TX", "region": "Texas", "region_id": 57},
                "default_shipping": true, "default_billing": true}],
        }))?;
        insert_customer(records, &customer)?;
    }
    Ok(())
}

fn add_row(records: &Database<'_>, table: &str, row: &Document) -> StoreResult<()> {
    let columns: Vec<(&str, Value)> =
        row.iter().map(|(name, value)| (name.as_str(), value.clone())).collect();
    records.add_row(table, &columns)
}

fn insert_attribute(records: &Database<'_>, attribute: &Document) -> StoreResult<()> {
    let code = attribute.get("attribute_code").and_then(Value::as_str).unwrap_or_default();
    let id = records.put_attribute(integer(attribute, "attribute_id"), code, attribute)?;
    for option in objects(attribute, "options") {
        records.add_option(id, integer(option, "value"), option)?;
    }
    Ok(())
}

/// `options` of a product: attribute id → the values to choose from; `values`: its values of attributes.
fn insert_product(records: &Database<'_>, product: &Document) -> StoreResult<()> {
    let mut row = product.clone();
    let options = row.shift_remove("options");
    let values = row.shift_remove("values");
    let sku = row.get("sku").cloned().unwrap_or_default();
    add_row(records, "products", &row)?;
    for (attribute, values) in options.iter().filter_map(Value::as_object).flatten() {
        for value in values.as_array().into_iter().flatten() {
            let columns = [
                ("sku", sku.clone()),
                ("attribute_id", Value::from(attribute.parse().unwrap_or(0))),
                ("value", value.clone()),
            ];
            records.add_row("product_options", &columns)?;
        }
    }
    for value in values.iter().filter_map(Value::as_array).flatten().filter_map(Value::as_object) {
        let mut value = value.clone();
        value.insert("sku".to_owned(), sku.clone());
        add_row(records, "product_values", &value)?;
    }
    Ok(())
}

/// Addresses get their ids in the order of the file: 1, 2, 3…
fn insert_customer(records: &Database<'_>, customer: &Document) -> StoreResult<()> {
    let id = integer(customer, "id").unwrap_or_default();
    records.put_customer(id, customer)?;
    for (position, address) in (0..).zip(objects(customer, "addresses")) {
        records.add_address(id, position, address)?;
    }
    records.issue_token(&format!("{OF_CUSTOMER}{id}"), Caller::Customer(id), None)
}

/// Orders get their ids in the order of the file, as do their items, addresses and comments.
fn insert_order(records: &Database<'_>, order: &Document) -> StoreResult<()> {
    let mut body = order.clone();
    let mut row = Document::new();
    for column in ["increment_id", "customer_id", "state", "status", "created_at", "updated_at"] {
        row.insert(column.to_owned(), body.shift_remove(column).unwrap_or_default());
    }
    for list in ["items", "addresses", "comments"] {
        body.shift_remove(list);
    }
    row.insert("body".to_owned(), Value::Object(body).to_string().into());
    add_row(records, "orders", &row)?;
    let id = records.order_ids()?.last().copied().unwrap_or_default();
    for item in objects(order, "items") {
        records.add_order_item(id, item)?;
    }
    for address in objects(order, "addresses") {
        let kind = address.get("address_type").and_then(Value::as_str).unwrap_or_default();
        records.add_order_address(id, kind, address)?;
    }
    for comment in objects(order, "comments") {
        records.add_order_comment(id, comment)?;
    }
    magento::renew_grid(records, id)
}

fn integer(document: &Document, name: &str) -> Option<i64> {
    document.get(name).and_then(Value::as_i64)
}

fn objects<'document>(
    document: &'document Document,
    name: &str,
) -> impl Iterator<Item = &'document Document> {
    let list = document.get(name).and_then(Value::as_array);
    list.into_iter().flatten().filter_map(Value::as_object)
}
