//! Saving shipping, billing and payment on the customer's quote (docs/interface.md, "Operations").

use serde_json::{Value, json};

use super::address;
use super::quantity::Quantity;
use crate::sandbox::call::Call;
use crate::sandbox::handlers::quantity::parse;
use crate::sandbox::reply::{ApiError, Reply, no_active_quote};
use crate::sandbox::store::{Database, Document};
use crate::sandbox::{coerce, required};
use crate::wire;

/// Saves what the body names on the active quote and keeps what it does not (ours).
///
/// The interface shows two layouts and does not say which counts: fields inside `addressInformation` and the
/// same fields at the top are both taken, and a `billingAddress` next to them takes precedence over a `billing_address`.
/// Only the payment is demanded, since it alone is listed as required: one saved alone is the second layout. A
/// method for a quote that has nowhere to be shipped to is refused.
pub fn save(records: &Database<'_>, call: Call) -> Result<Reply, ApiError> {
    let quote = records.active_quote(call.customer()?)?.ok_or_else(no_active_quote)?;
    let sent = information(call.body)?;
    let mut saved = records.shipping(quote)?.unwrap_or_default();
    check_payment(records, &sent)?;
    saved.extend(sent.clone());
    check_method(records, &sent, &saved)?;
    records.put_shipping(quote, &saved)?;
    Ok(Reply { status: wire::SHIPPING_SAVED_STATUS, body: outcome(records, quote)? })
}

/// Both layouts brought to one: `shipping_address`, `billing_address`, the two codes and `paymentMethod`.
fn information(mut body: Document) -> Result<Document, ApiError> {
    required::check(&body, &wire::SHIPPING_INFORMATION)?;
    coerce::check(&body, &wire::SHIPPING_INFORMATION)?;
    coerce::check(&body, &wire::ADDRESS_INFORMATION)?;
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
        for member in wire::ADDRESS_INFORMATION.own_fields {
            take(&mut layout, member.name, member.name);
        }
    }
    take(&mut body, "billingAddress", "billing_address");
    take(&mut body, "paymentMethod", "paymentMethod");
    for name in ["shipping_address", "billing_address"] {
        if let Some(Value::Object(address)) = sent.get(name) {
            address::check_of_quote(address)?;
        }
    }
    Ok(sent)
}

/// A payment method that is not offered is refused as Magento does it; other fields are "not shown", so free.
fn check_payment(records: &Database<'_>, sent: &Document) -> Result<(), ApiError> {
    let method = sent.get("paymentMethod").and_then(|payment| payment.get("method"));
    match method.and_then(Value::as_str) {
        Some(code) if !records.payment_method_exists(code)? => {
            Err(ApiError::new(400, "The requested Payment Method is not available."))
        }
        _ => Ok(()),
    }
}

/// Carrier and method come together, exist, and need somewhere to ship to.
fn check_method(records: &Database<'_>, sent: &Document, saved: &Document) -> Result<(), ApiError> {
    let (carrier, method) = ("shipping_carrier_code", "shipping_method_code");
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

/// What Magento answers here, in short: ways to pay, and what the quote comes to.
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
