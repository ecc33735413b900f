//! A product as Magento answers it in a store view.

use serde_json::{Value, json};

use crate::quantity;
use crate::reply::ApiError;
use crate::store::{Database, Product};

/// Fields that can be searched besides attributes.
pub const FIELDS: &[&str] =
    &["attribute_set_id", "entity_id", "name", "price", "sku", "status", "type_id", "weight"];

/// Codes of attributes whose values are fields of the product.
const OWN: &[&str] = &["name", "status", "weight"];

/// Id of a store view; 0 is the administrators' own, which has the values for all.
pub fn store(records: &Database<'_>, code: &str) -> Result<i64, ApiError> {
    let view = records.store_views()?.into_iter().find(|view| view["code"] == code);
    Ok(view.and_then(|view| view["id"].as_i64()).unwrap_or(0))
}

/// The value of each attribute in a store view: its own, or that for all.
pub fn effective(
    records: &Database<'_>,
    sku: &str,
    store: i64,
) -> Result<Vec<(String, Option<String>)>, ApiError> {
    let mut found: Vec<(String, Option<String>)> = Vec::new();
    // The value for all comes first.
    for value in records.values(sku)?.into_iter().filter(|value| [0, store].contains(&value.store)) {
        match found.iter_mut().find(|(code, _)| *code == value.code) {
            Some((_, of_all)) => *of_all = value.value,
            None => found.push((value.code, value.value)),
        }
    }
    Ok(found)
}

/// The product in a store view.
pub fn shown(records: &Database<'_>, product: &Product, store: i64) -> Result<Value, ApiError> {
    let values = effective(records, &product.sku, store)?;
    let own =
        |code: &str| values.iter().find(|(known, _)| known == code).and_then(|(_, value)| value.clone());
    let custom: Vec<Value> = values
        .iter()
        .filter(|(code, value)| !OWN.contains(&code.as_str()) && value.is_some())
        .map(|(code, value)| json!({"attribute_code": code, "value": value}))
        .collect();
    let mut shown = json!({
        "id": product.id,
        "sku": product.sku,
        "name": own("name").unwrap_or_else(|| product.name.clone()),
        "attribute_set_id": product.set,
        "price": quantity::parse(&product.price),
        "status": own("status").and_then(|status| status.parse::<i64>().ok()).unwrap_or(1),
        "visibility": 4,
        "type_id": product.kind,
        "extension_attributes": {"website_ids": [1]},
        "product_links": [],
        "options": [],
        "media_gallery_entries": [],
        "tier_prices": [],
        "custom_attributes": custom,
    });
    if let Some(weight) = own("weight") {
        shown["weight"] = quantity::parse(&weight);
    }
    Ok(shown)
}

/// The product with its values next to its fields, for a search.
pub fn searched(shown: &Value) -> Value {
    let mut searched = shown.clone();
    searched["entity_id"] = shown["id"].clone();
    for of in shown["custom_attributes"].as_array().into_iter().flatten() {
        searched[of["attribute_code"].as_str().unwrap_or_default()] = of["value"].clone();
    }
    searched
}
