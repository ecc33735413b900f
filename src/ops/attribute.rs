//! Reading and creating product attributes.

use serde_json::{Map, Value};

use crate::failure::{Applied, Failure, FailureKind};
use crate::input::Draft;
use crate::ops::{LOOK_CLOSER, read_until, request, send_request, target_without_customer};
use crate::plan::operation::{ATTRIBUTE_CREATE, Success, scalar};
use crate::plan::request::{Bearer, Request};
use crate::plan::validate::attribute::{in_reply, is_same_attribute};
use crate::report::outcome::Outcome;
use crate::session::service::Service;

/// The request that reads the attribute of this code; `None` where neither the interface nor a setting has one.
pub fn read_request(service: &Service<'_>, code: &str) -> Option<Request> {
    let path = service.settings.read.attribute_path.as_deref().or(service.settings.dialect.attribute)?;
    let path = target_without_customer(service).path(path, &[("code", code)]);
    Some(Request::get(path, Bearer::Admin))
}

/// Creates the attribute, or shows what would be sent. Where attributes can be read, it is read first: some shops replace
/// an attribute of the same code. After an unknown outcome it is read, too.
///
/// # Errors
/// As [`Service::write`]; `refused` where the code exists.
pub async fn create(service: &Service<'_>, draft: &Draft) -> Result<Outcome, Failure> {
    let asked = &draft.fields;
    let read = match asked.get("attribute_code").and_then(Value::as_str).map(str::trim) {
        Some(code) if !code.is_empty() && !service.session.global.dry_run => read_request(service, code),
        _ => None,
    };
    let request = request(service, draft, service.settings.dialect.create_attribute)?;
    let success = |reply: &Value| created(asked, reply);
    let Some(read) = read else { return send_request(service, &ATTRIBUTE_CREATE, request, success).await };
    match service.read(&read).await {
        Ok(reply) if is_attribute(&reply.value()) => return Err(exists(asked)),
        Ok(_) => {
            let message = "whether the attribute exists could not be read: the response is not an attribute";
            return Err(Failure::new(FailureKind::Unavailable, message).hint(LOOK_CLOSER));
        }
        Err(failure) if failure.status == Some(404) => {}
        Err(failure) => return Err(failure),
    }
    match send_request(service, &ATTRIBUTE_CREATE, request, success).await {
        Err(failure) if failure.applied == Applied::Unknown => {
            let is_it = |shown: &Value| is_as_asked(shown, asked);
            if !read_until(service, &read, service.settings.settle, is_it).await.1 {
                return Err(failure.hint(format!(
                    "`storefront attribute show {}` shows whether it exists: check before retrying",
                    code_of(asked)
                )));
            }
            service.stage.set(Applied::Yes);
            service.session.report.warn(&format!("{}; verified as applied", failure.message));
            Ok(Outcome { status: failure.status, ..done(None) })
        }
        sent => sent,
    }
}

/// Whether the attribute of an earlier run exists as it was asked for. `None` while that is unknown.
pub async fn resolve_unknown(service: &Service<'_>, asked: &Map<String, Value>) -> Option<Outcome> {
    let read = read_request(service, asked.get("attribute_code")?.as_str()?)?;
    // What cannot be read stays unknown.
    let reply = service.read(&read).await.ok()?;
    is_as_asked(&reply.value(), asked).then(|| done(Some("done earlier")))
}

fn is_as_asked(reply: &Value, asked: &Map<String, Value>) -> bool {
    in_reply(reply.clone()).is_some_and(|stored| is_same_attribute(asked, &stored))
}

fn done(reason: Option<&'static str>) -> Outcome {
    Outcome {
        applied: Applied::Yes,
        verified: Some(true),
        reason,
        ..Outcome::not_sent(ATTRIBUTE_CREATE.name)
    }
}

fn is_attribute(reply: &Value) -> bool {
    in_reply(reply.clone()).is_some_and(|attribute| attribute.contains_key("attribute_code"))
}

fn created(asked: &Map<String, Value>, reply: &Value) -> Option<Success> {
    let stored = in_reply(reply.clone());
    let shown = |field| stored.as_ref().and_then(|stored| scalar(stored.get(field)));
    let code = shown("attribute_code").or_else(|| scalar(asked.get("attribute_code")))?;
    let id = shown("attribute_id");
    let covers_response = id.is_some();
    let id = id.map(|id| format!(" (id {id})")).unwrap_or_default();
    Some(Success { text: format!("Created attribute {code}{id}"), covers_response })
}

fn exists(asked: &Map<String, Value>) -> Failure {
    let code = code_of(asked);
    Failure::new(FailureKind::Refused, format!("attribute `{code}` already exists")).hint(format!(
        "`storefront attribute show {code}` prints it; choose another code for a new attribute"
    ))
}

fn code_of(asked: &Map<String, Value>) -> &str {
    asked.get("attribute_code").and_then(Value::as_str).unwrap_or_default().trim()
}
