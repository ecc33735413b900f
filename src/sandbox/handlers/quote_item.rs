//! Adding an item to a quote (docs/interface.md, "Operations").

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::quantity::Quantity;
use crate::sandbox::call::Call;
use crate::sandbox::handlers::quantity::parse;
use crate::sandbox::reply::{ApiError, Reply};
use crate::sandbox::store::{Database, Document, Product, ProductKind, QuoteLine};
use crate::sandbox::{coerce, required};
use crate::{exact_json, wire};

/// The chosen options: option id (the attribute's id) → option value. Sorted, so that the order in
/// which they are named makes no second line.
pub type Choice = BTreeMap<i64, i64>;

/// Adds the item in `cartItem`; the same SKU with the same options adds to the quantity that is there (ours).
pub fn add(records: &Database<'_>, mut call: Call) -> Result<Reply, ApiError> {
    let customer = call.customer()?;
    let item = call.wrapped("cartItem")?;
    required::check(&item, &wire::CART_ITEM)?;
    coerce::check(&item, &wire::CART_ITEM)?;
    let text = |name| item.get(name).and_then(Value::as_str).unwrap_or_default();
    let quote = quote(records, customer, text("quote_id"))?;
    let sku = text("sku");
    let added = quantity(&item)?;
    let product = records.product(sku)?.ok_or_else(|| {
        ApiError::new(404, "The product that was requested doesn't exist. Verify the product and try again.")
    })?;
    let options = canonical_options(&choice(records, &product, &item)?);
    let line = match records.line(quote, sku, &options)? {
        None => {
            let qty = added.to_string();
            let item_id = records.add_line(quote, sku, &options, &qty)?;
            QuoteLine { item_id, sku: product.sku.clone(), options, qty }
        }
        Some(mut line) => {
            let total = Quantity::parse(&line.qty).and_then(|present| present.plus(added));
            line.qty = total.ok_or_else(|| ApiError::invalid_value("qty", &item["qty"]))?.to_string();
            records.put_quantity(line.item_id, &line.qty)?;
            line
        }
    };
    Ok(Reply::ok(item_document(&line, &product, quote)))
}

/// The quote named, which must be the customer's own (ours).
fn quote(records: &Database<'_>, customer: i64, named: &str) -> Result<i64, ApiError> {
    records
        .active_quote(customer)?
        .filter(|active| active.to_string() == named)
        .ok_or_else(|| ApiError::no_such_entity("cartId", named))
}

/// Above zero (ours).
fn quantity(item: &Document) -> Result<Quantity, ApiError> {
    let qty = item.get("qty").unwrap_or(&Value::Null);
    Quantity::parse(&qty.to_string()).ok_or_else(|| ApiError::invalid_value("qty", qty))
}

/// The choice for a configurable product: one value of each of its attributes, nothing else (400
/// otherwise is ours). Options sent for a simple product mean nothing, as in Magento.
pub fn choice(records: &Database<'_>, product: &Product, item: &Document) -> Result<Choice, ApiError> {
    if product.kind == ProductKind::Simple {
        return Ok(Choice::new());
    }
    let incomplete = || ApiError::new(400, "You need to choose options for your item.");
    let offered = records.product_options(&product.sku)?;
    let mut chosen = Choice::new();
    for pair in sent_options(item).into_iter().flatten() {
        let pair = chosen_pair(pair).ok_or_else(incomplete)?;
        if !offered.contains(&pair) || chosen.insert(pair.0, pair.1).is_some() {
            return Err(incomplete());
        }
    }
    let complete = offered.iter().all(|(attribute, _)| chosen.contains_key(attribute));
    if complete { Ok(chosen) } else { Err(incomplete()) }
}

fn sent_options(item: &Document) -> Option<&Vec<Value>> {
    item.get("product_option")?.get("extension_attributes")?.get("configurable_item_options")?.as_array()
}

fn chosen_pair(option: &Value) -> Option<(i64, i64)> {
    let id = option.get("option_id")?.as_str()?.parse().ok()?;
    Some((id, option.get("option_value")?.as_i64()?))
}

/// The choice as `configurable_item_options` has it (docs/interface.md, "Cart item"): the text of the id, the
/// number of the value.
pub fn canonical_options(choice: &Choice) -> String {
    let options: Vec<Value> = choice
        .iter()
        .map(|(id, value)| json!({"option_id": id.to_string(), "option_value": value}))
        .collect();
    Value::from(options).to_string()
}

/// A line as the service answers it, after Magento: "not shown" in the interface.
fn item_document(line: &QuoteLine, product: &Product, quote: i64) -> Value {
    let mut document = json!({
        "item_id": line.item_id,
        "sku": line.sku,
        "qty": parse(&line.qty),
        "name": product.name,
        "price": parse(&product.price),
        "product_type": product.kind.name(),
        "quote_id": quote.to_string(),
    });
    if product.kind == ProductKind::Configurable {
        document["product_option"] =
            json!({"extension_attributes": {"configurable_item_options": parsed(&line.options)}});
    }
    document
}

/// A line as `sandbox show` prints it.
pub fn item_json(line: &QuoteLine) -> Value {
    json!({
        "item_id": line.item_id,
        "sku": line.sku,
        "qty": parse(&line.qty),
        "options": parsed(&line.options),
    })
}

fn parsed(options: &str) -> Value {
    exact_json::parse(options.as_bytes()).unwrap_or_default()
}
