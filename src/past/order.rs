//! The addresses of an order: compared with what a write left, and set back.

use futures_util::future::LocalBoxFuture;
use serde_json::{Map, Value};

use super::back::{Back, OPERATION, Plan, Subject};
use crate::client::service::Service;
use crate::ops::order_owner::{OrderOwner, read_basis};
use crate::ops::order_update::Corrections;
use crate::ops::orders::read_by_id;
use crate::ops::positive;
use crate::state::LockName;
use storefront_core::absent::Absent;
use storefront_core::effect::Effect;
use storefront_core::failure::Failure;
use storefront_core::order::{Order, OrderCalls};
use storefront_core::profile::path::List;

/// Reads the order that an effect changed, or says in words that it is gone.
///
/// # Errors
/// As [`read_by_id`].
pub async fn read(
    service: &Service<'_>,
    effect: &Effect,
) -> Result<Result<Map<String, Value>, String>, Failure> {
    Ok(of(service, effect, read_by_id).await?.map(|order| order.document()))
}

/// The order by a read, or that it is gone, in words.
async fn of(
    service: &Service<'_>,
    effect: &Effect,
    read: impl AsyncFnOnce(&Service<'_>, &OrderCalls, u64) -> Result<Order, Failure>,
) -> Result<Result<Order, String>, Failure> {
    let calls = OrderCalls::new(service.settings.dialect)?;
    let gone = || Ok(Err(format!("{} is gone", effect.owner)));
    let Some(id) = effect.owner.id.as_deref().and_then(positive) else { return gone() };
    match read(service, &calls, id).await {
        Ok(order) => Ok(Ok(order)),
        Err(failure) if failure.absent == Some(Absent::Entity) => gone(),
        Err(failure) => Err(failure),
    }
}

/// An order whose addresses are set back if they are still as they were written. Setting them back adds a comment; the
/// comment of the write stays.
pub struct OrderSubject<'a> {
    /// The service.
    pub service: &'a Service<'a>,
    /// What was changed.
    pub whole: Effect,
}

impl Subject for OrderSubject<'_> {
    fn lock(&self) -> Option<LockName> {
        self.whole.owner.id.as_deref().and_then(positive).map(LockName::order)
    }

    fn plan(&self) -> LocalBoxFuture<'_, Result<Plan<'_>, Failure>> {
        Box::pin(plan(self.service, &self.whole))
    }
}

/// The way back from what the order shows now; without one, what is left in words.
async fn plan<'a>(service: &'a Service<'a>, whole: &Effect) -> Result<Plan<'a>, Failure> {
    let order = match of(service, whole, read_basis).await? {
        Ok(order) => order,
        Err(gone) => return Ok(Err(vec![gone])),
    };
    let (effect, left) = back(whole, &order.document());
    if effect.changes.is_empty() {
        return Ok(Err(left));
    }
    let calls = OrderCalls::new(service.settings.dialect)?;
    let owner = OrderOwner { service, calls, order };
    let corrections = Corrections::carrying_out(&owner, OPERATION, &effect)?;
    corrections.ensure_none_open()?;
    let changes = corrections.changes();
    let warnings = corrections.warnings();
    let deleted = None;
    let preview = corrections.preview();
    let send = async move { Corrections::carrying_out(&owner, OPERATION, &effect)?.send().await };
    Ok(Ok(Back { changes, left, warnings, deleted, preview, send: Box::pin(send) }))
}

/// What sets the addresses back, and what is left, in words. The comment does not count as left: an undo adds its own.
fn back(whole: &Effect, now: &Map<String, Value>) -> (Effect, Vec<String>) {
    let mut inverse = whole.inverse(now);
    let is_comment_alone = whole.changes.is_empty();
    inverse.left.retain(|left| is_comment_alone || List::of(&left.path) != Some(List::Comments));
    (inverse.effect, inverse.left.iter().map(ToString::to_string).collect())
}
