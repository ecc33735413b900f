//! The addresses of an order: compared with what a write left, and set back.

use serde_json::{Map, Value};

use super::found::Found;
use super::owners::Read;
use super::undo::{self, OPERATION};
use crate::client::service::Service;
use crate::ops::order_owner::OrderOwner;
use crate::ops::order_update::Corrections;
use crate::ops::orders::read_by_id;
use crate::ops::{lock, positive};
use crate::report::outcome::Outcome;
use crate::state::LockName;
use std::time::Duration;
use storefront_core::absent::Absent;
use storefront_core::effect::{Effect, composed};
use storefront_core::failure::Failure;
use storefront_core::order::{Order, OrderCalls};
use storefront_core::profile::path::List;

/// Reads the order that an effect changed.
///
/// # Errors
/// As [`read_by_id`].
pub async fn read(service: &Service<'_>, effect: &Effect) -> Result<Read, Failure> {
    Ok(match of(service, effect).await? {
        Ok(order) => Read::Shown(order.document()),
        Err(gone) => Read::Gone(gone),
    })
}

/// The order, or in words that it is gone.
async fn of(service: &Service<'_>, effect: &Effect) -> Result<Result<Order, String>, Failure> {
    let calls = OrderCalls::new(service.settings.dialect)?;
    let gone = || Ok(Err(format!("{} is gone", effect.owner)));
    let Some(id) = effect.owner.id.as_deref().and_then(positive) else { return gone() };
    match read_by_id(service, &calls, id).await {
        Ok(order) => Ok(Ok(order)),
        Err(failure) if failure.absent == Some(Absent::Entity) => gone(),
        Err(failure) => Err(failure),
    }
}

/// Sets the addresses back that are still as they were written, which adds a comment; the comment of the write stays.
///
/// # Errors
/// `guard` where nothing can be undone; `partial` where a part is left; as [`Corrections::send`].
pub async fn undo(service: &Service<'_>, found: &Found, settle: Duration) -> Result<Outcome, Failure> {
    let (name, session) = (found.name(), service.session);
    undo::ensure_known(found)?;
    let whole = composed(&found.effects()).ok_or_else(|| undo::nothing(&name, &[]))?;
    let id = whole.owner.id.as_deref().and_then(positive).unwrap_or_default();
    let (is_dry_run, mut agreed) = (session.global.dry_run, None);
    loop {
        let name_of_lock = LockName::order(id);
        let lock = if is_dry_run {
            None
        } else {
            Some(lock(service, &name_of_lock, service.settings.lock_timeout).await?)
        };
        let order = of(service, &whole).await?.map_err(|gone| undo::nothing(&name, &[gone]))?;
        let (effect, left) = back(&whole, &order.document());
        if effect.changes.is_empty() {
            return undo::unchanged_or_nothing(&name, &left);
        }
        let calls = OrderCalls::new(service.settings.dialect)?;
        let owner = OrderOwner { service, calls, order, settle };
        let corrections = Corrections::carrying_out(&owner, OPERATION, &effect)?;
        if agreed.is_none() {
            undo::say_left(service, &left);
            corrections.warnings().iter().for_each(|warning| session.report.warn(warning));
        }
        if is_dry_run {
            return Ok(corrections.preview());
        }
        let changes = corrections.changes();
        if agreed.as_ref() != Some(&changes) {
            // Nobody waits for a person.
            drop(lock);
            corrections.show();
            session.prompt().confirm_deletion(&format!("Undo write {name}?"))?;
            agreed = Some(changes);
            continue;
        }
        let done = corrections.send().await?;
        return undo::whole_or_part(&name, &left, done);
    }
}

/// What sets the addresses back, and what is left, in words. That comments stay is no part that is left: an undo adds its own.
fn back(whole: &Effect, now: &Map<String, Value>) -> (Effect, Vec<String>) {
    let mut inverse = whole.inverse(now);
    let is_comment_alone = whole.changes.is_empty();
    inverse.left.retain(|left| is_comment_alone || List::of(&left.path) != Some(List::Comments));
    (inverse.effect, inverse.left.iter().map(ToString::to_string).collect())
}
