//! A request as a handler sees it.

use serde_json::Value;

use crate::sandbox::fault::TriggeredFaults;
use crate::sandbox::reply::ApiError;
use crate::sandbox::store::{Caller, Document};

/// One call, understood as far as all operations have it in common.
pub struct Call {
    pub(crate) caller: Caller,
    /// The JSON object sent, empty for a call without a body.
    pub body: Document,
    /// The faults that have struck this call.
    pub struck: TriggeredFaults,
}

impl Call {
    /// The customer of the token, which alone decides whose profile and quote are meant.
    pub fn customer(&self) -> Result<i64, ApiError> {
        match self.caller {
            Caller::Customer(id) => Ok(id),
            Caller::Admin => Err(ApiError::no_route()),
        }
    }

    /// Takes the object out of the wrapper the interface demands; 400 without it.
    pub fn wrapped(&mut self, wrapper: &str) -> Result<Document, ApiError> {
        match self.body.remove(wrapper) {
            Some(Value::Object(object)) => Ok(object),
            _ => Err(ApiError::required(wrapper)),
        }
    }
}
