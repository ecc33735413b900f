//! A call as an operation sees it.

use serde_json::Value;

use super::{coerce, fields};
use crate::sandbox::fault::TriggeredFaults;
use crate::sandbox::reply::ApiError;
use crate::sandbox::store::{Caller, Document};

/// One call, understood as far as all operations have it in common.
pub struct Call {
    pub(crate) caller: Option<Caller>,
    /// Values of the parameters in the path.
    pub parameters: Vec<String>,
    /// Names and values of the query, decoded.
    pub query: Vec<(String, String)>,
    /// The JSON object sent, empty for anything else.
    pub body: Document,
    /// The faults that have struck this call.
    pub struck: TriggeredFaults,
}

impl Call {
    /// The customer that the token speaks for; none for an administrator.
    pub fn customer(&self) -> Option<i64> {
        match self.caller {
            Some(Caller::Customer(id)) => Some(id),
            _ => None,
        }
    }

    /// [`Call::customer`]; for an administrator 400, as Magento misses the id that only a customer's token gives.
    pub fn own_customer(&self) -> Result<i64, ApiError> {
        self.customer().ok_or_else(|| ApiError::required("customerId"))
    }

    /// The parameter of the path at `index` as a whole number; 400 otherwise.
    pub fn id(&self, index: usize) -> Result<i64, ApiError> {
        let text = self.parameters.get(index).map_or("", String::as_str);
        text.parse().map_err(|_| coerce::wrong_type(text, "int").refusal())
    }

    /// The parameter `name` of the body, brought to its types; also under its name with underscores. 400 without it.
    pub fn parameter(&mut self, name: &str, fields: &fields::Fields) -> Result<Document, ApiError> {
        match self.optional_parameter(name) {
            None | Some(Value::Null) => Err(ApiError::required(name)),
            Some(value) => coerce::object(value, fields),
        }
    }

    /// The parameter `name` of the body as it came.
    pub fn optional_parameter(&mut self, name: &str) -> Option<Value> {
        self.body.shift_remove(name).or_else(|| self.body.shift_remove(&coerce::snake_case(name)))
    }
}
