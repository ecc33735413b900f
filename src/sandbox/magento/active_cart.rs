//! Which cart a call is about.

use super::call::Call;
use crate::sandbox::reply::{ApiError, no_active_quote};
use crate::sandbox::store::Database;

/// The token's own active cart; 404 where there is none.
pub fn own(records: &Database<'_>, call: &Call) -> Result<i64, ApiError> {
    records.active_quote(call.own_customer()?)?.ok_or_else(no_active_quote)
}

/// The cart named in the path; 404 where there is none, or an order was made of it.
pub fn named(records: &Database<'_>, call: &Call) -> Result<i64, ApiError> {
    active(records, call.id(0)?)
}

/// `id` where it is an active cart; 404 otherwise.
pub fn active(records: &Database<'_>, id: i64) -> Result<i64, ApiError> {
    match records.quote(id)? {
        Some((_, true)) => Ok(id),
        _ => Err(ApiError::no_such_entity("cartId", id)),
    }
}
