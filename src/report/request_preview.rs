//! A request that is shown instead of sent.

use serde_json::Value;

use crate::exact_json;
use crate::plan::request::Request;

/// What would be sent, as JSON, as text or as a curl command.
#[derive(Debug, Clone)]
pub struct RequestPreview {
    /// The call.
    pub request: Request,
    /// Its whole URL.
    pub url: String,
    /// Whether to show it as a curl command.
    pub curl: bool,
}

impl RequestPreview {
    /// As results have it.
    pub(super) fn to_json(&self) -> Value {
        let body: Value =
            self.request.body.as_deref().map_or(Value::Null, |body| {
                exact_json::parse(body.as_bytes()).unwrap_or_else(|_| body.into())
            });
        let mut shown = exact_json::object([
            ("method", self.request.method.as_str().into()),
            ("url", self.url.as_str().into()),
            ("body", body),
        ]);
        if self.curl {
            shown["curl"] = super::curl::command(&self.request, &self.url).into();
        }
        shown
    }

    /// For a person: the request line, the hidden token, and the body.
    pub(super) fn to_text(&self) -> String {
        let body = self.request.body.as_deref().map(|body| match exact_json::parse(body.as_bytes()) {
            Ok(value) => format!("\n{value:#}"),
            Err(_) => format!("\n{body}"),
        });
        let text = format!(
            "{} {}\nAuthorization: Bearer •••{}",
            self.request.method.as_str(),
            self.url,
            body.unwrap_or_default()
        );
        crate::sanitize::sanitize(&text).into_owned()
    }
}
