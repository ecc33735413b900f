//! Payment of a cart: a call of its own.

use serde_json::{Value, json};

use super::call::Call;
use super::coerce::{self, as_text};
use super::fields::{PAYMENT, QUOTE_ADDRESS};
use super::{active_cart, shipping};
use crate::sandbox::reply::{ApiError, Reply};
use crate::sandbox::store::{Database, Document};

/// GET `carts/mine/payment-methods`.
pub fn methods_own(records: &Database<'_>, call: Call) -> Result<Reply, ApiError> {
    active_cart::own(records, &call)?;
    Ok(Reply::ok(Value::from(records.payment_methods()?)))
}

/// GET `carts/{cartId}/payment-methods`.
pub fn methods(records: &Database<'_>, call: Call) -> Result<Reply, ApiError> {
    active_cart::named(records, &call)?;
    Ok(Reply::ok(Value::from(records.payment_methods()?)))
}

/// GET `carts/mine/selected-payment-method`.
pub fn selected_own(records: &Database<'_>, call: Call) -> Result<Reply, ApiError> {
    let cart = active_cart::own(records, &call)?;
    selected_of(records, cart)
}

/// GET `carts/{cartId}/selected-payment-method`.
pub fn selected(records: &Database<'_>, call: Call) -> Result<Reply, ApiError> {
    let cart = active_cart::named(records, &call)?;
    selected_of(records, cart)
}

/// PUT `carts/mine/selected-payment-method`.
pub fn select_own(records: &Database<'_>, mut call: Call) -> Result<Reply, ApiError> {
    let payment = call.parameter("method", &PAYMENT)?;
    let cart = active_cart::own(records, &call)?;
    set(records, cart, payment)?;
    Ok(Reply::ok(json!("1")))
}

/// PUT `carts/{cartId}/selected-payment-method`.
pub fn select(records: &Database<'_>, mut call: Call) -> Result<Reply, ApiError> {
    let payment = call.parameter("method", &PAYMENT)?;
    let cart = active_cart::named(records, &call)?;
    set(records, cart, payment)?;
    Ok(Reply::ok(json!("1")))
}

/// POST `carts/mine/set-payment-information`. There is no such call for `{cartId}`.
pub fn set_information(records: &Database<'_>, mut call: Call) -> Result<Reply, ApiError> {
    information(records, &mut call)?;
    Ok(Reply::ok(json!(true)))
}

/// POST `carts/mine/payment-information`: the cart becomes an order, and is no longer active. The id of the order is
/// that of the cart here.
pub fn order(records: &Database<'_>, mut call: Call) -> Result<Reply, ApiError> {
    let cart = information(records, &mut call)?;
    records.close_quote(cart)?;
    Ok(Reply::ok(json!(cart)))
}

fn information(records: &Database<'_>, call: &mut Call) -> Result<i64, ApiError> {
    let payment = call.parameter("paymentMethod", &PAYMENT)?;
    let billing = match call.optional_parameter("billingAddress") {
        None | Some(Value::Null) => None,
        Some(value) => Some(coerce::object(value, &QUOTE_ADDRESS)?),
    };
    let cart = active_cart::own(records, call)?;
    set(records, cart, payment)?;
    if let Some(billing) = billing {
        let mut saved = records.shipping(cart)?.unwrap_or_default();
        let billing = shipping::stored(&billing, saved.get("billing_address"));
        saved.insert("billing_address".to_owned(), Value::Object(billing));
        records.put_shipping(cart, &saved)?;
    }
    Ok(cart)
}

fn set(records: &Database<'_>, cart: i64, payment: Document) -> Result<(), ApiError> {
    let mut saved = records.shipping(cart)?.unwrap_or_default();
    if !saved.contains_key("shipping_address") {
        return Err(ApiError::new(400, "The shipping address is missing. Set the address and try again."));
    }
    let method = payment.get("method").map(as_text).unwrap_or_default();
    if !records.payment_method_exists(&method)? {
        return Err(ApiError::new(400, "The requested Payment Method is not available."));
    }
    saved.insert("paymentMethod".to_owned(), Value::Object(payment));
    records.put_shipping(cart, &saved)?;
    Ok(())
}

/// The method that was set, an empty list where none was.
fn selected_of(records: &Database<'_>, cart: i64) -> Result<Reply, ApiError> {
    let saved = records.shipping(cart)?.unwrap_or_default();
    let method = saved.get("paymentMethod").and_then(|payment| payment.get("method")).cloned();
    Ok(Reply::ok(method.map_or_else(|| json!([]), |method| json!({"method": method, "additional_data": []}))))
}
