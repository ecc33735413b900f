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
pub fn request(service: &Service<'_>, draft: Draft) -> Result<Request, Failure> {
    let spec = draft.operation.spec();
    let body = match service.settings.ship_layout {
        ShipLayout::Flat => layout::without_nested(spec, draft.into_body()),
        ShipLayout::Wrapped => draft.into_body(),
    };
    let target = match spec.bearer {
        Bearer::Admin => target_without_customer(service),
        Bearer::Customer => service.target()?,
    };
    Ok((spec.request)(&target, body))
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
pub async fn send(service: &Service<'_>, draft: Draft) -> Result<Outcome, Failure> {
    let (operation, fields) = (draft.operation, draft.fields.clone());
    perform(service, operation, request(service, draft)?, &fields).await
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
    let success = (operation.spec().success)(fields, &response);
    Ok(Outcome { success, ..Outcome::applied(operation, reply.status, response) })
}
