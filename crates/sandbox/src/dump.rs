//! Everything the sandbox holds, for `sandbox show`.

use serde_json::{Value, json};

use super::store::Product;
use crate::marketplace::{profile, quote};
use crate::quantity;
use crate::reply::ApiError;
use crate::store::{Database, Document};
use storefront_core::text::exact_json;

/// `{"customers": […], "quotes": […], "orders": […], "attributes": […], "attribute_sets": […], "products": […], "store_views": […]}`.
pub fn dump(records: &Database<'_>) -> Result<Value, ApiError> {
    let customers: Vec<Value> = records
        .customer_ids()?
        .into_iter()
        .map(|id| profile::stored(records, id))
        .collect::<Result<_, _>>()?;
    let quotes: Vec<Value> = records
        .quotes()?
        .into_iter()
        .map(|(id, customer)| quote(records, id, customer))
        .collect::<Result<_, _>>()?;
    let orders: Vec<Value> =
        records.order_ids()?.into_iter().map(|id| order(records, id)).collect::<Result<_, _>>()?;
    let attributes: Vec<Value> = records
        .attribute_ids()?
        .into_iter()
        .map(|id| Ok(Value::Object(records.attribute(id)?)))
        .collect::<Result<_, ApiError>>()?;
    let sets: Vec<Value> = records
        .attribute_sets()?
        .into_iter()
        .map(|set| attribute_set(records, set))
        .collect::<Result<_, _>>()?;
    let products: Vec<Value> =
        records.products()?.iter().map(|each| product(records, each)).collect::<Result<_, _>>()?;
    Ok(exact_json::object([
        ("customers", customers.into()),
        ("quotes", quotes.into()),
        ("orders", orders.into()),
        ("attributes", attributes.into()),
        ("attribute_sets", sets.into()),
        ("products", products.into()),
        ("store_views", records.store_views()?.into()),
    ]))
}

/// `id`, `customer_id`, `items` and, after it was saved, `shipping_information`.
fn quote(records: &Database<'_>, id: i64, customer: i64) -> Result<Value, ApiError> {
    let items: Vec<Value> = records.lines(id)?.iter().map(quote::item_json).collect();
    let shipping = records.shipping(id)?.map_or(Value::Null, Value::Object);
    Ok(exact_json::object([
        ("id", id.into()),
        ("customer_id", customer.into()),
        ("items", items.into()),
        ("shipping_information", shipping),
    ]))
}

/// The order with `items`, `addresses`, `comments`, and `grid`: its row in the list of the admin panel.
fn order(records: &Database<'_>, id: i64) -> Result<Value, ApiError> {
    let mut order = records.order(id)?.unwrap_or_default();
    order.insert("items".to_owned(), records.order_items(id)?.into());
    order.insert("addresses".to_owned(), records.order_addresses(id)?.into());
    order.insert("comments".to_owned(), records.order_comments(id)?.into());
    let [billing, shipping] = records.order_in_grid(id)?.unwrap_or_default();
    order.insert("grid".to_owned(), json!({"billing_address": billing, "shipping_address": shipping}));
    Ok(Value::Object(order))
}

/// The set with `attributes`: the name of the group of each, by its code.
fn attribute_set(records: &Database<'_>, mut set: Value) -> Result<Value, ApiError> {
    let groups = records.attribute_groups()?;
    let mut attributes = Document::new();
    for (attribute, group) in records.assignments(set["attribute_set_id"].as_i64().unwrap_or_default())? {
        let id = group.to_string();
        let group = groups.iter().find(|one| one["attribute_group_id"] == id.as_str());
        let code = records.attribute(attribute)?["attribute_code"].as_str().unwrap_or_default().to_owned();
        attributes.insert(code, group.map_or(Value::Null, |group| group["attribute_group_name"].clone()));
    }
    set["attributes"] = attributes.into();
    Ok(set)
}

/// `sku`, `type`, `name`, `price`, `attribute_set_id`, `options`: the choices, in the words of a cart item, and `values`:
/// those of its attributes.
fn product(records: &Database<'_>, product: &Product) -> Result<Value, ApiError> {
    let mut options: Vec<Value> = Vec::new();
    for (attribute, value) in records.product_options(&product.sku)? {
        let id = attribute.to_string();
        let attribute = records.attribute(attribute)?;
        let label = label(&attribute["options"], value);
        let choice = json!({"option_value": value, "label": label});
        match options.last_mut() {
            Some(last) if last["option_id"] == id.as_str() => {
                if let Some(values) = last["values"].as_array_mut() {
                    values.push(choice);
                }
            }
            _ => options.push(json!({
                "option_id": id,
                "attribute_code": attribute["attribute_code"],
                "values": [choice],
            })),
        }
    }
    let values = records.values(&product.sku)?.into_iter();
    let values: Vec<Value> = values
        .map(|of| json!({"attribute_code": of.code, "store_id": of.store, "value": of.value}))
        .collect();
    Ok(json!({
        "sku": product.sku,
        "type": product.kind,
        "name": product.name,
        "price": quantity::parse(&product.price),
        "attribute_set_id": product.set,
        "options": options,
        "values": values,
    }))
}

fn label(options: &Value, value: i64) -> Value {
    let value = value.to_string();
    options
        .as_array()
        .into_iter()
        .flatten()
        .find(|option| option["value"] == value.as_str())
        .map_or(Value::Null, |option| option["label"].clone())
}
