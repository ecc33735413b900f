//! Operations that are one request: draft → request → send → outcome. Replacing a profile has steps of its
//! own.

use serde_json::{Map, Value};

use crate::config::ShipLayout;
use crate::failure::Failure;
use crate::input::Draft;
use crate::plan::operation::Operation;
use crate::plan::request::Request;
use crate::report::outcome::Outcome;
use crate::session::service::Service;

/// Sends a draft, or shows what would be sent, and reports the outcome.
///
/// # Errors
/// As [`perform`].
pub async fn perform_and_report(
    service: &Service<'_>,
    operation: Operation,
    draft: Draft,
) -> Result<(), Failure> {
    let outcome = perform(service, operation, draft).await?;
    service.session.report.outcome(&outcome)
}

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
    Ok(match operation {
        Operation::QuoteShip => Request::ship_quote(service.store_view()?, body.into()),
        Operation::QuoteAddItem => Request::add_item(service.store_view()?, body.into()),
        Operation::AttributeCreate => Request::create_attribute(body.into()),
        Operation::CustomerUpdate => Request::replace_profile(service.store_view()?, body),
    })
}

/// Sends a draft, or shows what would be sent.
///
/// # Errors
/// As [`Service::write`].
pub async fn perform(service: &Service<'_>, operation: Operation, draft: Draft) -> Result<Outcome, Failure> {
    let request = request(service, operation, draft.body)?;
    if service.session.global.dry_run {
        return Ok(Outcome::dry_run(operation.name(), service.preview(request)));
    }
    let reply = service.write(operation.name(), &request).await?;
    if let Some(warning) = &reply.warning {
        service.session.report.warn(warning);
    }
    Ok(Outcome::applied(operation, reply.status, reply.value()))
}

/// Shipping information without its wrapper, for services that want the other layout (setting `ship-layout`).
fn flattened(mut body: Map<String, Value>) -> Map<String, Value> {
    let Some(Value::Object(mut flat)) = body.shift_remove("addressInformation") else { return body };
    flat.extend(body);
    flat
}
