//! Adding an item to a quote, and saving shipping, billing and payment on it (docs/interface.md,
//! "Operations").

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::call::Call;
use crate::coerce::{self, Rules};
use crate::fault::TriggeredFaults;
use crate::quantity::Quantity;
use crate::quantity::parse;
use crate::reply::ApiError;
use crate::store::{Database, Document, Product, QuoteLine};
use storefront_core::interface::fields;
use storefront_core::text::exact_json;

/// The chosen options: option id (the attribute's id) → option value. Sorted, so that another order of the same options
/// makes no second line.
pub type Choice = BTreeMap<i64, i64>;

/// Adds the item in `cartItem`; the same SKU with the same options adds to the present quantity (ours).
pub fn add(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let customer = call.customer()?;
    let item = call.sent;
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
    lose_others(records, &call.struck, quote, Some(line.item_id))?;
    Ok(item_document(&line, &product, quote))
}

/// Removes the lines that the fault `lose` takes from a cart with a write of the line `kept`, or of none.
pub fn lose_others(
    records: &Database<'_>,
    struck: &TriggeredFaults,
    quote: i64,
    kept: Option<i64>,
) -> Result<(), ApiError> {
    let lines = records.lines(quote)?.into_iter().filter(|line| Some(line.item_id) != kept);
    for lost in struck.lost(lines) {
        records.remove_line(lost.item_id)?;
    }
    Ok(())
}

/// The named quote, which must be the customer's own (ours).
fn quote(records: &Database<'_>, customer: i64, named: &str) -> Result<i64, ApiError> {
    records
        .active_quote(customer)?
        .filter(|active| active.to_string() == named)
        .ok_or_else(|| ApiError::no_such_entity("cartId", named))
}

/// The quantity, above zero (ours).
fn quantity(item: &Document) -> Result<Quantity, ApiError> {
    let qty = item.get("qty").unwrap_or(&Value::Null);
    Quantity::parse(&qty.to_string()).ok_or_else(|| ApiError::invalid_value("qty", qty))
}

/// The choice for a configurable product: exactly one value of each of its attributes (400 otherwise is ours). Options of
/// a simple product are ignored, as in Magento.
pub fn choice(records: &Database<'_>, product: &Product, item: &Document) -> Result<Choice, ApiError> {
    if !product.is_configurable() {
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

/// The choice as `configurable_item_options` has it: the text of the id, the
/// number of the value.
pub fn canonical_options(choice: &Choice) -> String {
    let options: Vec<Value> = choice
        .iter()
        .map(|(id, value)| json!({"option_id": id.to_string(), "option_value": value}))
        .collect();
    Value::from(options).to_string()
}

/// A line in the answer, after Magento: "not shown" in the interface.
pub fn item_document(line: &QuoteLine, product: &Product, quote: i64) -> Value {
    let mut document = json!({
        "item_id": line.item_id,
        "sku": line.sku,
        "qty": parse(&line.qty),
        "name": product.name,
        "price": parse(&product.price),
        "product_type": product.kind,
        "quote_id": quote.to_string(),
    });
    if product.is_configurable() {
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

/// Saves what the body names on the active quote and keeps the rest (ours).
///
/// The interface shows two layouts and does not say which counts: fields inside `addressInformation` and the same fields
/// at the top are both accepted, and a `billingAddress` next to them takes precedence over a `billing_address`. Only the
/// payment is required, because only it is listed as required: a payment alone is the second layout. A method for a quote
/// without a shipping address is refused.
pub fn save(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let quote = records.active_quote(call.customer()?)?.ok_or_else(ApiError::no_active_quote)?;
    let sent = information(call.sent)?;
    let mut saved = records.shipping(quote)?.unwrap_or_default();
    check_payment(records, &sent)?;
    saved.extend(sent.clone());
    check_method(records, &sent, &saved)?;
    records.put_shipping(quote, &saved)?;
    lose_others(records, &call.struck, quote, None)?;
    outcome(records, quote)
}

/// Both layouts brought to one: `shipping_address`, `billing_address`, the two codes and `paymentMethod`.
fn information(mut body: Document) -> Result<Document, ApiError> {
    body =
        coerce::object(Value::Object(body), fields::MARKETPLACE_FIELDS.address_information, Rules::Strict)?;
    let mut sent = Document::new();
    let mut take = |from: &mut Document, name: &str, to: &str| {
        if let Some(value) = from.remove(name) {
            sent.insert(to.to_owned(), value);
        }
    };
    let wrapped = match body.remove("addressInformation") {
        Some(Value::Object(wrapped)) => wrapped,
        _ => Document::new(),
    };
    for mut layout in [body.clone(), wrapped] {
        for member in fields::MARKETPLACE_FIELDS.address_information.own_fields {
            take(&mut layout, member.name, member.name);
        }
    }
    take(&mut body, "billingAddress", "billing_address");
    take(&mut body, "paymentMethod", "paymentMethod");
    for name in ["shipping_address", "billing_address"] {
        if let Some(Value::Object(address)) = sent.get(name) {
            check_of_quote(address)?;
        }
    }
    Ok(sent)
}

/// A payment method that is not offered is refused, as in Magento; other fields are "not shown", so any value is
/// accepted.
fn check_payment(records: &Database<'_>, sent: &Document) -> Result<(), ApiError> {
    let method = sent.get("paymentMethod").and_then(|payment| payment.get("method"));
    match method.and_then(Value::as_str) {
        Some(code) if !records.payment_method_exists(code)? => {
            Err(ApiError::new(400, "The requested Payment Method is not available."))
        }
        _ => Ok(()),
    }
}

/// Carrier and method come together, exist, and need a shipping address.
fn check_method(records: &Database<'_>, sent: &Document, saved: &Document) -> Result<(), ApiError> {
    let carrier = "shipping_carrier_code";
    let method = "shipping_method_code";
    let code = |name| sent.get(name).and_then(Value::as_str);
    let (carrier, method) = match (code(carrier), code(method)) {
        (None, None) => return Ok(()),
        (Some(carrier), Some(method)) => (carrier, method),
        (None, Some(_)) => return Err(ApiError::required(carrier)),
        (Some(_), None) => return Err(ApiError::required(method)),
    };
    if !saved.contains_key("shipping_address") {
        return Err(ApiError::new(400, "The shipping address is missing. Set the address and try again."));
    }
    if records.carrier_method_exists(carrier, method)? {
        return Ok(());
    }
    Err(ApiError::new(404, "Carrier with such method not found: %1, %2").with(json!([carrier, method])))
}

/// The answer, a short form of Magento's: payment methods, and the totals of the quote.
fn outcome(records: &Database<'_>, quote: i64) -> Result<Value, ApiError> {
    let lines = records.lines(quote)?;
    let total = lines
        .iter()
        .filter_map(|line| Quantity::parse(&line.qty))
        .try_fold(None::<Quantity>, |sum, qty| match sum {
            None => Some(Some(qty)),
            Some(sum) => sum.plus(qty).map(Some),
        })
        .flatten();
    let items: Vec<Value> =
        lines.iter().map(|line| json!({"item_id": line.item_id, "qty": parse(&line.qty)})).collect();
    Ok(json!({
        "payment_methods": records.payment_methods()?,
        "totals": {
            "items_qty": total.map_or_else(|| Value::from(0), |total| parse(&total.to_string())),
            "items": items,
        },
    }))
}

/// Checks that the country has two letters.
pub fn check_address(address: &Document) -> Result<(), ApiError> {
    match address.get("country_id") {
        None => Ok(()),
        Some(Value::String(code)) if is_country(code) => Ok(()),
        Some(other) => Err(ApiError::invalid_value("countryId", other)),
    }
}

/// Checks the address of a quote: only profiles have region objects.
pub fn check_of_quote(address: &Document) -> Result<(), ApiError> {
    match address.get("region") {
        Some(Value::Object(_) | Value::Array(_)) => {
            let message = coerce::wrong_type("array", "string");
            Err(ApiError::new(400, &format!("Error occurred during \"region\" processing. {message}")))
        }
        _ => check_address(address),
    }
}

fn is_country(code: &str) -> bool {
    code.len() == 2 && code.bytes().all(|letter| letter.is_ascii_alphabetic())
}
