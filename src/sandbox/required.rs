//! Fields that have to be in a body, as the interface lists them.

use serde_json::Value;

use super::store::Document;
use crate::sandbox::reply::ApiError;
use crate::wire::{MARKETPLACE_FIELDS, ObjectSchema};

/// The required fields of `shape`: the wrappers, the payment (docs/interface.md, "Shipping
/// information"), and what a simple product is added with. Of everything else the interface says
/// "not shown".
pub fn fields(shape: &ObjectSchema) -> &'static [&'static str] {
    let tables = &*MARKETPLACE_FIELDS;
    if std::ptr::eq(shape, tables.customer_body) {
        &["customer"]
    } else if std::ptr::eq(shape, tables.attribute_body) {
        &["attribute"]
    } else if std::ptr::eq(shape, tables.cart_item_body) {
        &["cartItem"]
    } else if std::ptr::eq(shape, tables.cart_item) {
        &["sku", "qty", "quote_id"]
    } else if std::ptr::eq(shape, tables.shipping_information) {
        &["paymentMethod"]
    } else {
        &[]
    }
}

/// 400 for the first required field of `shape` that `object` lacks or holds as null.
pub fn check(object: &Document, shape: &ObjectSchema) -> Result<(), ApiError> {
    match fields(shape).iter().find(|name| object.get(**name).is_none_or(Value::is_null)) {
        Some(missing) => Err(ApiError::required(missing)),
        None => Ok(()),
    }
}
