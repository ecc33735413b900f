//! Payment of a cart, in a call of its own.

use serde_json::{Value, json};

use crate::call::Call;
use crate::coerce::as_text;
use crate::reply::ApiError;
use crate::store::{Database, Document};
use storefront_core::interface::fields::{FieldTables, ObjectSchema};

/// The fields of a payment.
pub fn fields(tables: &FieldTables) -> &'static ObjectSchema {
    let payment =
        tables.shipping_information.field("paymentMethod").and_then(|field| field.field_type.schema());
    payment.unwrap_or(tables.shipping_information)
}

/// GET `carts/{mine|cartId}/payment-methods`.
pub fn methods(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    call.cart(records)?;
    Ok(Value::from(records.payment_methods()?))
}

/// GET `carts/{mine|cartId}/selected-payment-method`: the method that was set, or an empty list.
pub fn selected(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let saved = records.shipping(call.cart(records)?)?.unwrap_or_default();
    let method = saved.get("paymentMethod").and_then(|payment| payment.get("method"));
    Ok(method.map_or_else(|| json!([]), |method| json!({"method": method, "additional_data": []})))
}

/// PUT `carts/{mine|cartId}/selected-payment-method`.
pub fn select(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let cart = call.cart(records)?;
    let payment = call.sent;
    let mut saved = records.shipping(cart)?.unwrap_or_default();
    if !saved.contains_key("shipping_address") {
        return Err(ApiError::new(400, "The shipping address is missing. Set the address and try again."));
    }
    check(records, &payment)?;
    saved.insert("paymentMethod".to_owned(), Value::Object(payment));
    records.put_shipping(cart, &saved)?;
    Ok(json!("1"))
}

/// 400 for a payment by an unknown method.
pub fn check(records: &Database<'_>, payment: &Document) -> Result<(), ApiError> {
    let method = payment.get("method").map(as_text).unwrap_or_default();
    if records.payment_method_exists(&method)? {
        return Ok(());
    }
    Err(ApiError::new(400, "The requested Payment Method is not available."))
}
