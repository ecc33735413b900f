//! Operations that are one request: draft → request → send → outcome.

use serde_json::{Map, Value};

use crate::config::ShipLayout;
use crate::failure::Failure;
use crate::input::Draft;
use crate::plan::operation::{Operation, layout};
use crate::plan::request::{Bearer, Request, Target};
use crate::report::outcome::Outcome;
use crate::session::service::Service;

/// The request of an operation that is not a profile replacement.
///
/// # Errors
/// `usage` when no store view is set.
pub fn request(service: &Service<'_>, draft: &Draft) -> Result<Request, Failure> {
    let spec = draft.operation.spec();
    let body = match service.settings.ship_layout {
        ShipLayout::Flat if spec.nested.is_some() => {
            Value::Object(layout::without_nested(spec, draft.clone().into_body())?).to_string()
        }
        _ => draft.body_text()?,
    };
    let target = match spec.bearer {
        Bearer::Admin => target_without_customer(service),
        Bearer::Customer => service.target()?,
    };
    Ok((spec.request)(&target, body.into()))
}

/// Where calls go that belong to no store view, so that none needs to be set.
pub fn target_without_customer<'a>(service: &'a Service<'_>) -> Target<'a> {
    let settings = &service.settings;
    Target { dialect: settings.dialect, store_view: settings.store_view.as_ref(), customer: None }
}

/// Sends a draft as one request, or shows it.
///
/// # Errors
/// As [`Service::write`].
pub async fn send(service: &Service<'_>, draft: &Draft) -> Result<Outcome, Failure> {
    perform(service, draft.operation, request(service, draft)?, &draft.fields).await
}

/// Sends a request, or shows it; `fields` are those inside its body's wrapper.
///
/// # Errors
/// As [`Service::write`].
pub async fn perform(
    service: &Service<'_>,
    operation: Operation,
    request: Request,
    fields: &Map<String, Value>,
) -> Result<Outcome, Failure> {
    if service.session.global.dry_run {
        return Ok(Outcome::dry_run(operation.name(), service.preview(request)));
    }
    let reply = service.write(operation.name(), &request).await?;
    if let Some(warning) = &reply.warning {
        service.session.report.warn(warning);
    }
    let response = reply.value();
    // Only a person reads it.
    let is_read = !service.session.report.is_json();
    let success = is_read.then(|| (operation.spec().success)(fields, &response)).flatten();
    Ok(Outcome { success, ..Outcome::applied(operation, reply.status, response) })
}
