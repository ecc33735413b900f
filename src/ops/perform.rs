//! The way of each operation, but for a profile: some are one request, some have steps before or after it.

use crate::failure::Failure;
use crate::input::Draft;
use crate::ops::{attribute, cart};
use crate::plan::operation::Operation;
use crate::report::outcome::Outcome;
use crate::session::service::Service;

/// Sends a draft, or shows what would be sent, and reports the outcome.
///
/// # Errors
/// As [`perform`].
pub async fn perform_and_report(service: &Service<'_>, draft: Draft) -> Result<(), Failure> {
    let outcome = perform(service, &draft, None).await?;
    service.session.report.outcome(&outcome)
}

/// Sends a draft, or shows what would be sent. `half_done_cart` is the cart on which an
/// earlier run made the first of its two calls.
///
/// # Errors
/// As [`Service::write`].
pub async fn perform(
    service: &Service<'_>,
    draft: &Draft,
    half_done_cart: Option<u64>,
) -> Result<Outcome, Failure> {
    // In boxes: the room for the largest of them would be held for each.
    match draft.operation {
        Operation::QuoteShip => Box::pin(cart::ship::perform(service, draft, half_done_cart)).await,
        Operation::QuoteAddItem => Box::pin(cart::add_item::perform(service, draft)).await,
        Operation::AttributeCreate => Box::pin(attribute::create(service, draft)).await,
        // Sent as it is, it would delete the stored addresses that it does not name.
        Operation::CustomerUpdate => Err(Failure::internal("a profile is not merged with the stored one")),
    }
}
