//! `storefront undo ID`: takes back what a write changed, if it is still as the write left it.

use super::attribute::AttributeSubject;
use super::back::{
    self, Agreed, How, Shown, Subject, Undoing, ensure_known, nothing, take_back, unchanged_or_nothing,
};
use super::cart::CartSubject;
use super::found::Found;
use super::order::OrderSubject;
use super::product::ProductSubject;
use super::{owners, profile};
use crate::cli::ReplacementArgs;
use crate::client::service::Service;
use crate::log::Write;
use crate::report::outcome::Outcome;
use storefront_core::absent::Absent;
use storefront_core::effect::{Effect, Kind, composed};
use storefront_core::failure::{Failure, FailureKind};
use storefront_core::hint::{hint, storefront};
use storefront_core::operation::QUOTE_SHIP;
use storefront_core::profile::diff::PlannedUndo;

/// Takes back a write, or a record of a batch.
///
/// # Errors
/// `guard` if nothing can be undone, or the number of deletions was not given; `partial` if a part is left; as the calls.
pub async fn one(service: &Service<'_>, found: &Found, how: How<'_>) -> Result<Outcome, Failure> {
    if !found.writes.iter().any(|write| write.outcome.may_be_applied()) {
        let unchanged = format!("nothing to undo: write {} was {}", found.name(), found.outcome().name());
        let reason = Some("unchanged");
        let unchanged = Some(unchanged);
        return Ok(Outcome { reason, unchanged, ..Outcome::not_sent(back::OPERATION) });
    }
    if is_of_profile(found) {
        return Box::pin(profile::undo(&of_owner(service, found)?, found, how)).await;
    }
    Box::pin(of_subject(service, found, Agreed::Deletions(how.allowed))).await
}

/// Takes back what a plan says of one owner.
///
/// # Errors
/// As [`one`], and `guard` if it differs from the plan.
pub async fn planned(
    service: &Service<'_>,
    found: &Found,
    planned: PlannedUndo<'_>,
    replacement: &ReplacementArgs,
) -> Result<Outcome, Failure> {
    if is_of_profile(found) {
        return profile::planned(&of_owner(service, found)?, found, planned, replacement).await;
    }
    of_subject(service, found, Agreed::Planned(planned)).await
}

/// Takes back what was written to one owner other than a profile.
async fn of_subject(service: &Service<'_>, found: &Found, agreed: Agreed<'_>) -> Result<Outcome, Failure> {
    let name = found.name();
    let service = &of_owner(service, found)?;
    match subject(service, found).await? {
        Ok(subject) => take_back(service, Undoing { name: &name, agreed }, &*subject).await,
        Err(left) => unchanged_or_nothing(&name, &left),
    }
}

/// The way back from writes to one owner, in words. Nothing is sent.
///
/// # Errors
/// As the reads.
pub async fn preview(service: &Service<'_>, found: &Found) -> Result<Shown, Failure> {
    let service = &of_owner(service, found)?;
    if is_of_profile(found) {
        return match Box::pin(profile::preview(service, found)).await {
            Err(failure) if failure.absent == Some(Absent::Customer) => {
                Ok(Shown::left(vec![failure.message]))
            }
            shown => shown,
        };
    }
    let planned = match subject(service, found).await {
        Ok(Ok(subject)) => subject.plan().await.map(Shown::of),
        Ok(Err(left)) => Ok(Shown::left(left)),
        Err(failure) => Err(failure),
    };
    match planned {
        Err(failure) if failure.kind == FailureKind::Guard => Ok(Shown::left(vec![failure.message])),
        planned => planned,
    }
}

/// Whether a write is of a profile, whose undo is an update.
fn is_of_profile(found: &Found) -> bool {
    kind(found) == Some(Kind::Customer)
}

fn kind(found: &Found) -> Option<Kind> {
    found.writes.last().and_then(Write::changes).map(|effect| effect.owner.kind)
}

/// The service as the owner's calls need it.
fn of_owner<'a>(service: &Service<'a>, found: &Found) -> Result<Service<'a>, Failure> {
    let is_customers = matches!(kind(found), Some(Kind::Cart | Kind::Customer));
    match found.writes.last().filter(|_| is_customers) {
        Some(write) => owners::of_customer(service, write),
        None => Ok(service.clone()),
    }
}

/// The thing that was written to; or that it is gone, in words, which are empty if the write created it.
async fn subject<'a>(
    service: &'a Service<'a>,
    found: &Found,
) -> Result<Result<Box<dyn Subject + 'a>, Vec<String>>, Failure> {
    ensure_known(found)?;
    let is_shipping = found.run.operation == QUOTE_SHIP.name;
    let Some(kind) = kind(found).filter(|kind| !is_shipping && *kind != Kind::Customer) else {
        let name = found.name();
        return Err(Failure::guard(format!("write {name} (`{}`) cannot be undone", found.run.operation))
            .for_good()
            .hint(hint!(storefront("history").arg(name), " shows what it wrote")));
    };
    let dialect = service.settings.dialect;
    let can_be = match kind {
        Kind::Attribute => dialect.changes_attributes,
        Kind::Product => dialect.products.is_some(),
        Kind::Order => dialect.orders.is_some(),
        Kind::Cart | Kind::Customer => dialect.carts.is_some(),
    };
    if !can_be {
        return Ok(Err(vec![format!("this interface has no call that sets the {} back", kind.noun())]));
    }
    let whole: Effect = composed(&found.effects()).ok_or_else(|| nothing(&found.name(), &[]))?;
    let there = match kind {
        Kind::Attribute => AttributeSubject::find(service, whole).await?.map(boxed),
        Kind::Product => ProductSubject::find(service, whole).await?.map(boxed).map_err(Some),
        Kind::Order => Ok(boxed(OrderSubject { service, whole })),
        Kind::Cart | Kind::Customer => Ok(boxed(CartSubject { service, whole })),
    };
    Ok(there.map_err(|gone| gone.into_iter().collect()))
}

fn boxed<'a>(subject: impl Subject + 'a) -> Box<dyn Subject + 'a> {
    Box::new(subject)
}
