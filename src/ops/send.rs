//! Operations that are one request: draft → request → send → outcome. Replacing a profile has steps of its
//! own.

use serde_json::{Map, Value};

use crate::config::ShipLayout;
use crate::exact_json;
use crate::failure::Failure;
use crate::input::Draft;
use crate::ops::{attribute, cart};
use crate::plan::operation::Operation;
use crate::plan::request::{Request, Target};
use crate::report::changes::format_value;
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

/// Sends a draft, or shows what would be sent.
///
/// # Errors
/// As [`Service::write`].
pub async fn perform(service: &Service<'_>, operation: Operation, draft: Draft) -> Result<Outcome, Failure> {
    let has_carts = service.settings.dialect.carts.is_some();
    match operation {
        Operation::QuoteAddItem => cart::add_item::perform(service, draft).await,
        Operation::QuoteShip if has_carts => cart::ship::perform(service, draft.body, false).await,
        Operation::AttributeCreate => attribute::create(service, draft.body).await,
        _ => perform_request(service, operation, request(service, operation, draft.body)?).await,
    }
}

/// Sends a request, or shows it.
///
/// # Errors
/// As [`Service::write`].
pub async fn perform_request(
    service: &Service<'_>,
    operation: Operation,
    request: Request,
) -> Result<Outcome, Failure> {
    if service.session.global.dry_run {
        return Ok(Outcome::dry_run(operation.name(), service.preview(request)));
    }
    let sent = request.body.as_deref().and_then(|body| exact_json::parse_object(body.as_bytes()).ok());
    let success = sent.and_then(|body| success(operation, &body));
    let reply = service.write(operation.name(), &request).await?;
    if let Some(warning) = &reply.warning {
        service.session.report.warn(warning);
    }
    Ok(Outcome { success, ..Outcome::applied(operation, reply.status, reply.value()) })
}

/// What a success is called, from what was asked for.
fn success(operation: Operation, body: &Map<String, Value>) -> Option<String> {
    let inner =
        operation.wrapper().and_then(|name| body.get(name)).and_then(Value::as_object).unwrap_or(body);
    let field =
        |name: &str| inner.get(name).filter(|value| !value.is_null()).map(|value| format_value(Some(value)));
    Some(match operation {
        Operation::AttributeCreate => format!("Created attribute {}", field("attribute_code")?),
        Operation::QuoteAddItem => {
            let quote = field("quote_id").map_or_else(|| "the cart".to_owned(), |id| format!("quote {id}"));
            format!("Added {} × {} to {quote}", field("qty")?, field("sku")?)
        }
        Operation::QuoteShip => "Saved the shipping information".to_owned(),
        Operation::CustomerUpdate => return None,
    })
}

/// Shipping information without its wrapper, for services that want the other layout (setting `ship-layout`).
fn flattened(mut body: Map<String, Value>) -> Map<String, Value> {
    let Some(Value::Object(mut flat)) = body.shift_remove("addressInformation") else { return body };
    flat.extend(body);
    flat
}
