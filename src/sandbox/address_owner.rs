//! Whose address it is.

use serde_json::json;

use crate::sandbox::reply::ApiError;
use crate::sandbox::store::Database;

/// 404 for an address that does not exist, 400 for another customer's.
pub fn check(records: &Database<'_>, customer: i64, address: i64) -> Result<(), ApiError> {
    match records.address_owner(address)? {
        None => Err(ApiError::no_such_entity("addressId", address)),
        Some(owner) if owner == customer => Ok(()),
        Some(_) => Err(ApiError::new(
            400,
            "Provided customer ID \"%customer_id\" isn't related to current customer address.",
        )
        .with(json!({"customer_id": customer}))),
    }
}
