//! The refusals of the service: errors in Magento's shape, and pages.

use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};

use storefront_core::text::exact_json;

use super::store::StoreError;

/// The answer of PHP to an uncaught error.
const CRASH: &str = "An error has happened during application run. See exception log for details.";

/// An error answer: the message with its placeholders, and the values for them.
#[derive(Debug, PartialEq)]
pub struct ApiError {
    /// HTTP status.
    pub status: u16,
    /// Message, with placeholders such as `%fieldName` or `%1`.
    pub message: String,
    /// Values of the placeholders: an object for named ones, a list for numbered ones.
    pub parameters: Option<Value>,
    /// Several refusals in one, each with its message and parameters.
    pub errors: Vec<ApiError>,
    /// Whether writes before it stay.
    pub is_saved: bool,
}

impl ApiError {
    /// A refusal without placeholders.
    pub fn new(status: u16, message: &str) -> Self {
        Self { status, message: message.to_owned(), parameters: None, errors: Vec::new(), is_saved: false }
    }

    /// All of these in one error, in Magento's words; a single one is returned as it is.
    pub fn all(mut refusals: Vec<Self>) -> Option<Self> {
        match refusals.len() {
            0 => None,
            1 => refusals.pop(),
            _ => {
                let mut whole = Self::new(400, "One or more input exceptions have occurred.");
                whole.errors = refusals;
                Some(whole)
            }
        }
    }

    /// 500 with a report id, which is how Magento hides unexpected errors.
    pub fn internal() -> Self {
        let message =
            "Internal Error. Details are available in Magento log file. Report ID: webapi-6b020839911a2";
        Self::new(500, message)
    }

    /// 500 as PHP answers it after an uncaught error: plain text, no JSON.
    pub fn crash() -> Self {
        Self::new(500, CRASH)
    }

    /// Whether this is [`ApiError::crash`].
    pub fn is_crash(&self) -> bool {
        self.message == CRASH
    }

    /// Adds the values of the placeholders.
    #[must_use]
    pub fn with(mut self, parameters: Value) -> Self {
        self.parameters = Some(parameters);
        self
    }

    /// Keeps the writes before the refusal.
    #[must_use]
    pub fn after_saving(mut self) -> Self {
        self.is_saved = true;
        self
    }

    /// 404: an unknown path or method.
    pub fn no_route() -> Self {
        Self::new(404, "Request does not match any route.")
    }

    /// 404: the customer has no active quote.
    pub fn no_active_quote() -> Self {
        Self::new(404, "Current customer does not have an active cart.")
    }

    /// 404: no record whose `field` is `value`.
    pub fn no_such_entity(field: &str, value: impl Into<Value>) -> Self {
        Self::new(404, "No such entity with %fieldName = %fieldValue")
            .with(exact_json::object([("fieldName", field.into()), ("fieldValue", value.into())]))
    }

    /// 400: a required field is missing.
    pub fn required(field: &str) -> Self {
        Self::new(400, "\"%fieldName\" is required. Enter and try again.").with(json!({"fieldName": field}))
    }

    /// 400: a field of the right type with an invalid value.
    pub fn invalid_value(field: &str, value: &Value) -> Self {
        Self::new(400, "Invalid value of \"%value\" provided for the %fieldName field.")
            .with(exact_json::object([("fieldName", field.into()), ("value", value.clone())]))
    }

    /// The body of the answer.
    pub fn body(&self) -> Value {
        let mut body = json!({"message": self.message});
        if let Some(parameters) = &self.parameters {
            body["parameters"] = parameters.clone();
        }
        if !self.errors.is_empty() {
            body["errors"] = self.errors.iter().map(Self::body).collect();
        }
        body
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        Self::new(500, "The sandbox could not use its database: %details")
            .with(json!({"details": error.to_string()}))
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        if self.is_crash() {
            return (StatusCode::INTERNAL_SERVER_ERROR, format!("{CRASH}\n")).into_response();
        }
        json_response(self.status, &self.body())
    }
}

/// A response of any three-digit status with a JSON body.
pub fn json_response(status: u16, body: &Value) -> Response {
    json_text(status, body.to_string())
}

/// [`json_response`] with the text of the body.
pub fn json_text(status: u16, body: String) -> Response {
    const JSON: HeaderValue = HeaderValue::from_static("application/json; charset=utf-8");
    let status = StatusCode::from_u16(status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR);
    (status, [(header::CONTENT_TYPE, JSON)], body).into_response()
}

/// A page, as proxies and login services answer.
pub fn html(status: StatusCode, title: &str) -> Response {
    let page = format!(
        "<!DOCTYPE html>\n<html><head><title>{title}</title></head><body><h1>{title}</h1></body></html>\n"
    );
    let html = HeaderValue::from_static("text/html; charset=utf-8");
    (status, [(header::CONTENT_TYPE, html)], page).into_response()
}
