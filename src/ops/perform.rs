//! The way of each operation, but for a profile: some are one request, some have steps before or after it.

use crate::failure::Failure;
use crate::input::Draft;
use crate::ops::{attribute, cart, send};
use crate::plan::operation::Operation;
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
        _ => send::perform(service, operation, send::request(service, operation, draft.body)?).await,
    }
}
