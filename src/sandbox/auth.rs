//! The caller of a request. Which kind of token an operation needs is ours: the interface does not show it.

use axum::http::{HeaderMap, header};
use serde_json::json;

use super::store::Caller;
use crate::sandbox::reply::ApiError;
use crate::sandbox::store::Database;

/// The kind of token an operation needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// A customer's.
    Customer,
    /// An administrator's.
    Admin,
}

impl Access {
    /// What Magento calls the permission.
    const fn resource(self) -> &'static str {
        match self {
            Self::Customer => "self",
            Self::Admin => "Magento_Catalog::attributes_attributes",
        }
    }

    fn admits(self, caller: Caller) -> bool {
        matches!((self, caller), (Self::Customer, Caller::Customer(_)) | (Self::Admin, Caller::Admin))
    }

    fn refusal(self, status: u16) -> ApiError {
        ApiError::new(status, "The consumer isn't authorized to access %resources.")
            .with(json!({"resources": self.resource()}))
    }
}

/// The caller, if the request carries a valid token (else 401) of the right kind (else 403).
pub fn caller(records: &Database<'_>, headers: &HeaderMap, access: Access) -> Result<Caller, ApiError> {
    let token = bearer(headers).ok_or_else(|| access.refusal(401))?;
    let caller = records.caller(token)?.ok_or_else(|| access.refusal(401))?;
    if access.admits(caller) { Ok(caller) } else { Err(access.refusal(403)) }
}

/// The token of the Authorization header.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, token) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}
