//! One call of an operation that is several.

use serde_json::Value;

use super::request_preview::RequestPreview;
use crate::exact_json;
use crate::failure::{Applied, Failure};
use crate::http::Reply;

/// What became of one call.
#[derive(Debug, Clone)]
pub struct Call {
    /// The last segment of its path, such as `shipping-information`.
    pub name: &'static str,
    /// Whether it took effect.
    pub applied: Applied,
    /// Why it was not sent now: `done earlier`.
    pub reason: Option<&'static str>,
    /// HTTP status of the answer.
    pub status: Option<u16>,
    /// The answer as it came.
    pub response: Option<Value>,
    /// What would be sent; only of a dry run.
    pub request: Option<RequestPreview>,
}

impl Call {
    /// A call that was not sent, or was sent by an earlier run.
    pub const fn new(name: &'static str, applied: Applied) -> Self {
        Self { name, applied, reason: None, status: None, response: None, request: None }
    }

    /// A call that the service took.
    pub fn replied(name: &'static str, reply: &Reply) -> Self {
        Self { status: Some(reply.status), response: Some(reply.value()), ..Self::new(name, Applied::Yes) }
    }

    /// A call that failed.
    pub fn failed(name: &'static str, failure: &Failure) -> Self {
        Self { status: failure.status, response: failure.service.clone(), ..Self::new(name, failure.applied) }
    }

    /// As results have it: `{"call", "applied", "status", "response"}`.
    pub fn to_json(&self) -> Value {
        let mut shown =
            exact_json::object([("call", self.name.into()), ("applied", self.applied.name().into())]);
        if let Some(reason) = self.reason {
            shown["reason"] = reason.into();
        }
        shown["status"] = self.status.into();
        if let Some(request) = &self.request {
            shown["request"] = request.to_json();
        }
        shown["response"] = self.response.clone().unwrap_or_default();
        shown
    }

    /// One line for a person.
    pub fn to_text(&self) -> String {
        let status = self.status.map(|status| format!(" (HTTP {status})")).unwrap_or_default();
        let what = match (self.applied, self.reason) {
            (Applied::Yes, Some(reason)) => reason,
            (Applied::Yes, None) => "done",
            (Applied::Unknown, _) => "outcome unknown",
            _ => "not done",
        };
        format!("  {}: {what}{status}", self.name)
    }
}
