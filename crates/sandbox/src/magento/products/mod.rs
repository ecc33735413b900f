//! Products and their values in each scope. Only the fields that the client sends exist.

mod values;
mod view;

use serde_json::{Value, json};

use super::search;
use crate::call::Call;
use crate::coerce::as_text;
use crate::reply::ApiError;
use crate::store::{Database, Document, Product, ProductValue};
use storefront_core::interface::fields::{Field, FieldTables, FieldType, ObjectSchema, Origin, Scalar};
use values::{DEFAULT_WEBSITE, Scope};

const fn field(name: &'static str, field_type: FieldType, doc: &'static str) -> Field {
    Field { name, field_type, doc, origin: Origin::Listed }
}

static CUSTOM_ATTRIBUTE: ObjectSchema = ObjectSchema {
    name: "custom attribute",
    section: "Magento",
    own_fields: &[
        field("attribute_code", FieldType::Scalar(Scalar::Text), "Attribute code"),
        field("value", FieldType::Scalar(Scalar::Text), "Attribute value"),
    ],
};

static PRODUCT: ObjectSchema = ObjectSchema {
    name: "product",
    section: "Magento",
    own_fields: &[
        field("sku", FieldType::Scalar(Scalar::Text), "SKU"),
        field("name", FieldType::Scalar(Scalar::Text), "Name"),
        field("attribute_set_id", FieldType::Scalar(Scalar::Integer), "Attribute set ID"),
        field("price", FieldType::Scalar(Scalar::Number), "Price"),
        field("status", FieldType::Scalar(Scalar::Integer), "Status"),
        field("weight", FieldType::Scalar(Scalar::Number), "Weight"),
        field("custom_attributes", FieldType::List(&CUSTOM_ATTRIBUTE), "Custom attributes values"),
    ],
};

/// The fields of a product.
pub fn fields(_: &FieldTables) -> &'static ObjectSchema {
    &PRODUCT
}

/// GET `products/{sku}`, in any letter case.
pub fn show(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let message = "The product that was requested doesn't exist. Verify the product and try again.";
    let product = named(records, &call)?.ok_or_else(|| ApiError::new(404, message))?;
    view::shown(records, &product, view::store(records, &call.store_view)?)
}

/// GET `products`: found by their fields and their values in the store view.
pub fn list(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let criteria = search::parse(&call.query)?;
    let mut known: Vec<String> =
        view::FIELDS.iter().chain(values::SYSTEM).map(|&name| name.to_owned()).collect();
    for id in records.attribute_ids()? {
        known.push(as_text(&records.attribute(id)?["attribute_code"]));
    }
    criteria.check_fields(&known.iter().map(String::as_str).collect::<Vec<_>>())?;
    let store = view::store(records, &call.store_view)?;
    let mut found = Vec::new();
    let mut products = records.products()?;
    products.sort_by_key(|product| product.id);
    // Only the values of products that may be found are read.
    let skus = criteria.texts_of("sku");
    products
        .retain(|product| skus.as_ref().is_none_or(|skus| skus.contains(&search::folded_text(&product.sku))));
    for product in products {
        let shown = view::shown(records, &product, store)?;
        let searched = view::searched(&shown);
        if criteria.holds(&searched) {
            found.push((searched, shown));
        }
    }
    Ok(criteria.answer(criteria.sorted(found)))
}

fn named(records: &Database<'_>, call: &Call) -> Result<Option<Product>, ApiError> {
    let sku = records.sku_in_any_case(call.parameter(0))?;
    Ok(sku.map(|sku| records.product(&sku)).transpose()?.flatten())
}

/// PUT `products/{sku}`: the values are stored for the store view, with `all` for all. The path names the product, and in
/// another letter case renames it; an unknown SKU creates one.
pub fn replace(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let store = view::store(records, &call.store_view)?;
    let sku = call.parameter(0);
    let mut product = match named(records, &call)? {
        Some(product) => product,
        None => create(records, sku, &call.sent)?,
    };
    sku.clone_into(&mut product.sku);
    put_fields(records, &mut product, &call.sent, store)?;
    let attributes = values::of_set(records, product.set)?;
    let sent = call.sent.get("custom_attributes").and_then(Value::as_array).into_iter().flatten();
    let mut named = Vec::new();
    for (code, value) in sent.map(|sent| (as_text(&sent["attribute_code"]), &sent["value"])) {
        // An attribute that is unknown, or not in the set, is ignored.
        if let Some(attribute) =
            attributes.iter().find(|attribute| attribute["attribute_code"] == code.as_str())
        {
            let change = values::change(attribute, value)?;
            put(records, &product.sku, &code, values::scope(attribute).stores(store), &change)?;
        }
        named.push(code);
    }
    put_defaults(records, &product.sku, &attributes, &named, store)?;
    check_required(records, &product.sku, &attributes, store)?;
    begin_sale(records, &product.sku, store)?;
    view::shown(records, &product, store)
}

/// A product that a PUT creates; 400 without a name, a price and an attribute set.
fn create(records: &Database<'_>, sku: &str, sent: &Document) -> Result<Product, ApiError> {
    let refusal =
        || ApiError::new(400, "Invalid product data: %1").with(json!(["Invalid attribute set entity type"]));
    let value = |name: &str| sent.get(name).filter(|value| !value.is_null()).ok_or_else(refusal);
    let name = value("name")?;
    let price = value("price")?;
    let set = value("attribute_set_id")?;
    let set = set.as_i64().unwrap_or_default();
    if !records
        .attribute_sets()?
        .iter()
        .any(|known| known["attribute_set_id"] == set && known["entity_type_id"] == 4)
    {
        return Err(refusal());
    }
    records.add_product(sku, &as_text(name), &as_text(price), set)?;
    records.product(sku)?.ok_or_else(ApiError::crash)
}

/// Stores the fields that are not custom attributes.
fn put_fields(
    records: &Database<'_>,
    product: &mut Product,
    sent: &Document,
    store: i64,
) -> Result<(), ApiError> {
    let value = |name: &str| sent.get(name).filter(|value| !value.is_null()).map(as_text);
    if let Some(price) = value("price") {
        product.price = price;
    }
    let name = value("name");
    if let Some(name) = name.clone().filter(|_| store == 0) {
        product.name = name;
    }
    records.put_product(product)?;
    let scopes = [("name", Scope::View), ("status", Scope::Website), ("weight", Scope::Global)];
    for (code, scope) in scopes.into_iter().filter(|(code, _)| store != 0 || *code != "name") {
        if sent.contains_key(code) && (code == "weight" || value(code).is_some()) {
            put(records, &product.sku, code, scope.stores(store), &value(code).map(Some))?;
        }
    }
    Ok(())
}

/// Stores a value for each of these store views, or deletes it.
fn put(
    records: &Database<'_>,
    sku: &str,
    code: &str,
    stores: &[i64],
    change: &values::Change,
) -> Result<(), ApiError> {
    for &store in stores {
        match change {
            None => records.remove_value(sku, code, store)?,
            Some(value) => records.put_value(&ProductValue {
                sku: sku.to_owned(),
                code: code.to_owned(),
                store,
                value: value.clone(),
            })?,
        }
    }
    Ok(())
}

/// For attributes of which the product has no value, and that were not sent, the default options are stored for all.
fn put_defaults(
    records: &Database<'_>,
    sku: &str,
    attributes: &[Document],
    sent: &[String],
    store: i64,
) -> Result<(), ApiError> {
    let present = view::effective(records, sku, store)?;
    for attribute in attributes {
        let code = as_text(&attribute["attribute_code"]);
        let default = super::attributes::default_value(attribute);
        let has_value = present.iter().any(|(known, value)| *known == code && value.is_some());
        if !default.is_empty() && !has_value && !sent.contains(&code) {
            put(records, sku, &code, &[0], &Some(Some(default)))?;
        }
    }
    Ok(())
}

/// 400 for a product that would lack a required value.
fn check_required(
    records: &Database<'_>,
    sku: &str,
    attributes: &[Document],
    store: i64,
) -> Result<(), ApiError> {
    let present = view::effective(records, sku, store)?;
    let is_missing = |attribute: &&Document| {
        let has_value =
            |code: &Value| present.iter().any(|(known, value)| code == known.as_str() && value.is_some());
        // The name is a field, not an attribute.
        attribute["attribute_code"] != "name"
            && attribute.get("is_required") == Some(&json!(true))
            && !has_value(&attribute["attribute_code"])
    };
    match attributes.iter().find(is_missing) {
        None => Ok(()),
        Some(missing) => {
            let message = "The \"%1\" attribute value is empty. Set the attribute and try again.";
            Err(ApiError::new(400, message).with(json!([missing.get("default_frontend_label")])))
        }
    }
}

/// A special price in a store view begins today, in all store views of the website.
fn begin_sale(records: &Database<'_>, sku: &str, store: i64) -> Result<(), ApiError> {
    let present = view::effective(records, sku, store)?;
    if store == 0 || !present.iter().any(|(code, value)| code == "special_price" && value.is_some()) {
        return Ok(());
    }
    let today = crate::system_time().strftime("%Y-%m-%d 00:00:00").to_string();
    put(records, sku, "special_from_date", DEFAULT_WEBSITE, &Some(Some(today)))
}
