//! Rules of a single address (docs/interface.md, "Address").

use serde_json::Value;

use crate::sandbox::coerce;
use crate::sandbox::reply::ApiError;
use crate::sandbox::store::Document;

/// Its country is two letters.
pub fn check(address: &Document) -> Result<(), ApiError> {
    match address.get("country_id") {
        None => Ok(()),
        Some(Value::String(code)) if is_country(code) => Ok(()),
        Some(other) => Err(ApiError::invalid_value("countryId", other)),
    }
}

/// Of a quote's address besides: the region object belongs to profiles only.
pub fn check_of_quote(address: &Document) -> Result<(), ApiError> {
    match address.get("region") {
        Some(region @ (Value::Object(_) | Value::Array(_))) => {
            Err(coerce::wrong_type("region", region, "string"))
        }
        _ => check(address),
    }
}

fn is_country(code: &str) -> bool {
    code.len() == 2 && code.bytes().all(|letter| letter.is_ascii_alphabetic())
}
