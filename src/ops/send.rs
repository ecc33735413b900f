//! Operations that are one request: body → request → send → outcome.

use serde_json::{Map, Value};

use crate::config::ShipLayout;
use crate::exact_json;
use crate::failure::Failure;
use crate::ops::success;
use crate::plan::operation::Operation;
use crate::plan::request::{Request, Target};
use crate::report::outcome::Outcome;
use crate::session::service::Service;

/// The request of an operation that is not a profile replacement.
///
/// # Errors
/// `usage` when no store view is set.
pub fn request(
    service: &Service<'_>,
    operation: Operation,
    body: Map<String, Value>,
) -> Result<Request, Failure> {
    let body = match (operation, service.settings.ship_layout) {
        (Operation::QuoteShip, ShipLayout::Flat) => flattened(body),
        _ => body,
    };
    let body = Value::Object(body).to_string();
    let target = match operation {
        Operation::AttributeCreate => attribute_target(service),
        _ => service.target()?,
    };
    Ok(match operation {
        Operation::QuoteShip => Request::ship_quote(&target, body.into()),
        Operation::QuoteAddItem => Request::add_item(&target, body.into()),
        Operation::AttributeCreate => Request::create_attribute(&target, body.into()),
        Operation::CustomerUpdate => Request::replace_profile(&target, body),
    })
}

/// Where calls on attributes go: they belong to no store view, so that none needs to be set.
pub fn attribute_target<'a>(service: &'a Service<'_>) -> Target<'a> {
    let settings = &service.settings;
    Target { dialect: settings.dialect, store_view: settings.store_view.as_ref(), customer: None }
}

/// Sends a request, or shows it.
///
/// # Errors
/// As [`Service::write`].
pub async fn perform(
    service: &Service<'_>,
    operation: Operation,
    request: Request,
) -> Result<Outcome, Failure> {
    if service.session.global.dry_run {
        return Ok(Outcome::dry_run(operation.name(), service.preview(request)));
    }
    let sent = request.body.as_deref().and_then(|body| exact_json::parse_object(body.as_bytes()).ok());
    let reply = service.write(operation.name(), &request).await?;
    if let Some(warning) = &reply.warning {
        service.session.report.warn(warning);
    }
    let response = reply.value();
    let success = sent.and_then(|body| success::describe(operation, &body, &response));
    Ok(Outcome { success, ..Outcome::applied(operation, reply.status, response) })
}

/// Shipping information without its wrapper, for services that want the other layout (setting `ship-layout`).
fn flattened(mut body: Map<String, Value>) -> Map<String, Value> {
    let Some(Value::Object(mut flat)) = body.shift_remove("addressInformation") else { return body };
    flat.extend(body);
    flat
}
