//! A request for an operation.

use crate::Version;
use crate::coerce;
use crate::fault::TriggeredFaults;
use crate::reply::ApiError;
use crate::store::{Caller, Database, Document};

/// One call, with the parts that all operations have in common.
pub struct Call {
    /// The account of the token; none if no token is needed.
    pub(crate) caller: Option<Caller>,
    /// Code of the store view: `default` if the path names none; `all` is the administrators' own.
    pub store_view: String,
    /// Whether the path says `me` or `mine`.
    pub is_own: bool,
    /// Values of the parameters in the path.
    pub parameters: Vec<String>,
    /// Names and values of the query, decoded.
    pub query: Vec<(String, String)>,
    /// The contents of the body inside its wrapper, brought to its types; the whole body without a wrapper.
    pub sent: Document,
    /// The version of Magento whose rules apply.
    pub version: Version,
    /// The faults of this call.
    pub struck: TriggeredFaults,
}

impl Call {
    /// The token's own customer; 400 for an administrator, because Magento misses the id that only a customer's token
    /// gives.
    pub fn customer(&self) -> Result<i64, ApiError> {
        match self.caller {
            Some(Caller::Customer(id)) => Ok(id),
            _ => Err(ApiError::required("customerId")),
        }
    }

    /// The active cart that the path names, or the caller's own. 404 if it is missing.
    pub fn cart(&self, records: &Database<'_>) -> Result<i64, ApiError> {
        if self.is_own {
            return records.active_quote(self.customer()?)?.ok_or_else(ApiError::no_active_quote);
        }
        active_cart(records, self.id(0)?)
    }

    /// The parameter of the path at `index`.
    pub fn parameter(&self, index: usize) -> &str {
        self.parameters.get(index).map_or("", String::as_str)
    }

    /// The parameter of the path at `index` as a whole number; 400 otherwise.
    pub fn id(&self, index: usize) -> Result<i64, ApiError> {
        let text = self.parameter(index);
        text.parse().map_err(|_| ApiError::new(400, &coerce::wrong_type(text, "int")))
    }
}

/// `id` if it is an active cart; 404 otherwise.
pub fn active_cart(records: &Database<'_>, id: i64) -> Result<i64, ApiError> {
    match records.quote(id)? {
        Some((_, true)) => Ok(id),
        _ => Err(ApiError::no_such_entity("cartId", id)),
    }
}
