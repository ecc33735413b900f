//! An order as an owner of a write: its two addresses and its comments.

use std::time::Duration;

use futures_util::future::LocalBoxFuture;

use crate::client::service::Service;
use crate::log::{self, People, Write, WriteLog};
use crate::ops::basis;
use crate::ops::orders::read_by_id;
use crate::report::changes::local_minute;
use crate::write::owner::{Owner, Shown};
use storefront_core::absent::Absent;
use storefront_core::effect::{self, Effect, Kind, are_shown};
use storefront_core::failure::Failure;
use storefront_core::hint::{Hint, hint, storefront};
use storefront_core::operation::scalar;
use storefront_core::order::{Order, OrderCalls, Which, comment_of};

/// How many writes of an order are checked at most.
const MOST: usize = 20;

/// An order, and what was read of it.
pub struct OrderOwner<'a> {
    /// The service.
    pub service: &'a Service<'a>,
    /// The calls on it.
    pub calls: OrderCalls,
    /// As it was read before the first call.
    pub order: Order,
}

impl OrderOwner<'_> {
    /// Whose data its addresses are: the customer's, or a guest's.
    pub fn people(&self) -> People {
        let email = scalar(self.order.shown.get("customer_email"));
        People { customer: self.order.customer_id().map(|id| id.to_string()), email, email_after: None }
    }
}

/// Reads an order from which a correction is built: as new as our own corrections of the last minute.
///
/// # Errors
/// `guard` if it is older and nobody continues; as [`read_by_id`].
pub async fn read_basis(service: &Service<'_>, calls: &OrderCalls, id: u64) -> Result<Order, Failure> {
    let owner = effect::Owner::new(Kind::Order, id);
    let narrow = |effect: &mut Effect| effect.changes.retain(|change| change.path.order_address().is_some());
    let missing = |order: &Order| basis::not_shown(service, &owner, &order.document(), narrow);
    let look = storefront("order show --id").arg(id.to_string());
    basis::read(service, Kind::Order.noun(), look, async || read_by_id(service, calls, id).await, missing)
        .await
}

/// The refusal to correct an address while an earlier correction may still take effect; `None` without one, or if
/// the order shows it, which is noted. A record that is sent again because somebody has said that it was not applied does not
/// wait for itself.
///
/// # Errors
/// `guard` where the log cannot be read.
pub fn still_open(service: &Service<'_>, order: &Order) -> Result<Option<Failure>, Failure> {
    let Some(log) = WriteLog::to_read(service.session.context)? else { return Ok(None) };
    let now = service.session.context.clock.now();
    let sent = sent_to(service, &log, order)?;
    let Some((write, effect)) = sent.iter().find(|sent| is_correction(sent)) else { return Ok(None) };
    let Some(until) = write.outcome.open_until(now) else { return Ok(None) };
    let is_own = service.write_ahead.is_some_and(|ahead| ahead.earlier().effects().contains(effect));
    if is_own {
        return Ok(None);
    }
    let document = order.document();
    if are_shown(std::slice::from_ref(effect), &document) {
        log.note_shown([write], &document);
        return Ok(None);
    }
    let name = write.name();
    let message = format!(
        "it is unknown whether write {name} was saved: it may still take effect and overwrite this one"
    );
    let until = local_minute(until);
    Ok(Some(Failure::guard(message).hint(hint!(
        "run ",
        storefront("verify").arg(name.to_string()),
        format!(" to look again, or wait until {until}")
    ))))
}

/// For each of some addresses, the correction of the last command that corrected it, if the order shows it and its comment was
/// never sent.
///
/// # Errors
/// `guard` where the log cannot be read.
pub fn corrected_without_comment(
    service: &Service<'_>,
    order: &Order,
    addresses: &[Which],
) -> Result<Vec<Effect>, Failure> {
    let Some(log) = WriteLog::to_read(service.session.context)? else { return Ok(Vec::new()) };
    let sent = sent_to(service, &log, order)?;
    let document = order.document();
    let mut left_out = Vec::new();
    for which in addresses {
        let Some((last, correction)) = sent.iter().find(|(_, effect)| corrects(effect, *which)) else {
            continue;
        };
        let has_comment = sent.iter().any(|(write, effect)| {
            (write.run, write.record) == (last.run, last.record) && comment_of(effect).is_some()
        });
        if has_comment || !are_shown(std::slice::from_ref(correction), &document) {
            continue;
        }
        let run = log.run(last.run)?;
        let is_wanted = run.is_none_or(|run| run.arguments.iter().all(|word| word != "--no-comment"));
        left_out.extend(is_wanted.then(|| correction.clone()));
    }
    Ok(left_out)
}

/// Whether an effect changes one of the addresses of an order.
fn corrects(effect: &Effect, which: Which) -> bool {
    effect.changes.iter().any(|change| change.path.order_address() == Some(which.words()))
}

/// The newest writes to an order that may have been applied, newest first.
fn sent_to(service: &Service<'_>, log: &WriteLog, order: &Order) -> Result<Vec<(Write, Effect)>, Failure> {
    let owner = log::Owner { kind: Kind::Order.noun(), id: Some(order.id.to_string()), scope: None };
    let writes = log.newest(&service.settings.service_id().to_string(), &owner, None, MOST)?;
    let sent = writes.into_iter().filter(|write| write.outcome.may_be_applied());
    Ok(sent.filter_map(|write| write.changes().map(|effect| (write, effect))).collect())
}

/// Whether a write changes an address: a comment creates something, and changes nothing.
fn is_correction((_, effect): &(Write, Effect)) -> bool {
    !effect.changes.is_empty()
}

/// The answer to a saved address repeats what was sent, and that to a comment is `true`: only a read shows what is
/// stored.
impl Owner for OrderOwner<'_> {
    fn read(&self) -> LocalBoxFuture<'_, Result<Shown, Failure>> {
        Box::pin(async {
            match read_by_id(self.service, &self.calls, self.order.id).await {
                Ok(order) => Ok(Shown::Whole(order.document())),
                Err(failure) if failure.absent == Some(Absent::Entity) => {
                    Ok(Shown::Gone(format!("order {} is not there any more", self.order.number)))
                }
                Err(failure) => Err(failure),
            }
        })
    }

    fn settle_time(&self) -> Duration {
        self.service.settings.settle
    }

    fn noun(&self) -> &'static str {
        Kind::Order.noun()
    }

    fn shown_by(&self) -> Hint {
        hint!(storefront("order show").arg(&*self.order.number))
    }
}
