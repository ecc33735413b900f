//! Addresses that are removed by calls of their own, where the interface has one: nothing that somebody else writes between
//! the read and a PUT is lost by it. What else changes is sent first, with these addresses still in it.

use std::borrow::Cow;

use super::messages;
use super::verify::Sent;
use crate::client::service::Service;
use crate::client::{Attempt, Attempts, Effect, may_be_saved, pause};
use crate::log::{UPDATE, WriteName};
use crate::ops::calls::{Calls, Planned};
use crate::report::outcome::{Call, Outcome};
use storefront_core::absent::{Absent, named_in};
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::id::AddressId;
use storefront_core::interface::request::Request;
use storefront_core::outcome::WriteOutcome;

use storefront_core::profile::diff::Change;
use storefront_core::profile::merge::Merged;

/// The calls that a change needs, in their order.
pub struct Dispatch<'a> {
    /// The profile that is sent, and the request; `None` where addresses are only removed.
    pub put: Option<(Cow<'a, Merged>, Request)>,
    /// The addresses that are removed by calls of their own.
    pub removals: Vec<(AddressId, Request)>,
    /// Whether a PUT follows, from a read of its own.
    pub is_followed: bool,
}

/// Addresses that were removed before the PUT, which the shop refused otherwise.
pub struct Freed {
    /// What the log has of it.
    pub write: WriteName,
    /// What was removed.
    pub changes: Vec<Change>,
    /// The calls.
    pub calls: Vec<Call>,
}

impl Freed {
    /// The addresses.
    pub fn ids(&self) -> impl Iterator<Item = AddressId> + '_ {
        self.changes.iter().filter_map(|change| change.path.address_id())
    }

    /// A failure of what follows, or a no to it: these addresses are gone.
    pub fn and_failed(&self, service: &Service<'_>, operation: &'static str, failure: Failure) -> Failure {
        if !failure.calls.is_empty() {
            return failure;
        }
        let write = failure.write.clone();
        let calls = calls_after(service, operation, Some(self));
        let failure = messages::after_calls(failure, &calls.applied(), &[self.write]);
        let failure = calls.failed(failure, &[], None);
        Failure { write: write.or_else(|| Some(self.write.to_string().into())), ..failure }
    }
}

/// The calls of a change, with those before it.
pub fn calls_after<'a>(
    service: &'a Service<'a>,
    operation: &'static str,
    freed: Option<&Freed>,
) -> Calls<'a> {
    let mut calls = Calls::new(service, operation);
    freed.into_iter().flat_map(|freed| &freed.calls).for_each(|call| calls.push(call.clone()));
    calls
}

impl Dispatch<'_> {
    /// The calls by their names, where addresses are removed by calls of their own; none otherwise.
    pub fn planned(&self) -> Vec<Planned> {
        if self.removals.is_empty() {
            return Vec::new();
        }
        let put = self.put.iter().map(|(_, request)| (UPDATE.to_owned(), request.clone()));
        put.chain(self.removals.iter().map(|(id, request)| (name(*id), request.clone()))).collect()
    }

    /// The ids of the addresses that are removed by calls of their own.
    pub fn removed(&self) -> Vec<AddressId> {
        self.removals.iter().map(|(id, _)| *id).collect()
    }

    /// The first request.
    pub fn first(&self) -> Option<&Request> {
        self.put.as_ref().map(|(_, request)| request).or_else(|| Some(&self.removals.first()?.1))
    }

    /// The failure of the PUT: no address is removed after it. `freed` are those that were before.
    pub fn put_failed(&self, mut calls: Calls<'_>, failure: Failure, freed: Option<&Freed>) -> Failure {
        if self.removals.is_empty() && !calls.has_any() {
            return failure;
        }
        let undo: Vec<WriteName> = freed.iter().map(|freed| freed.write).collect();
        let applied = calls.applied();
        calls.push(Call::failed(UPDATE, &failure));
        calls.failed(messages::after_calls(failure, &applied, &undo), &self.planned(), None)
    }
}

fn name(id: AddressId) -> String {
    format!("remove address {id}")
}

/// Removes the addresses, after the PUT where there is one, whose `outcome` is given; `sent` is the whole change.
///
/// # Errors
/// The failure of the first call that is not applied; the others do not leave.
pub async fn remove(
    sent: &Sent<'_>,
    dispatch: &Dispatch<'_>,
    mut calls: Calls<'_>,
    put: Option<&Outcome>,
    whole: Outcome,
    freed: Option<&Freed>,
) -> Result<Outcome, Failure> {
    if let Some(put) = put {
        calls.push(Call {
            status: put.status,
            response: put.response.clone(),
            ..Call::new(UPDATE, Applied::Yes)
        });
    }
    for (id, request) in &dispatch.removals {
        if let Err(failure) = remove_one(sent, *id, request, &mut calls).await {
            let undo = std::iter::once(sent.write).chain(freed.map(|freed| freed.write));
            let failure = messages::after_calls(failure, &calls.applied(), &undo.collect::<Vec<_>>());
            let failure = calls.failed(failure, &dispatch.planned(), None);
            return Err(Failure { write: Some(sent.write.to_string().into()), ..failure });
        }
    }
    let done = calls.finish();
    let new_ids = put.and_then(|put| Some(put.profile.as_ref()?.new_ids.clone())).unwrap_or_default();
    let mut outcome = Outcome {
        applied: done.applied,
        reason: done.reason,
        status: done.status,
        calls: done.calls,
        ..whole
    };
    if let Some(profile) = &mut outcome.profile {
        profile.new_ids = new_ids;
    }
    if dispatch.removals.is_empty() {
        return Ok(Outcome { verified: put.and_then(|put| put.verified), ..outcome });
    }
    sent.verify_removed(outcome, put.is_some()).await
}

/// Removes one address. A call whose answer was lost is sent once more, and the address is gone where the service says that
/// there is none with this id.
async fn remove_one(
    sent: &Sent<'_>,
    id: AddressId,
    request: &Request,
    calls: &mut Calls<'_>,
) -> Result<(), Failure> {
    if sent.service.stopping.get() {
        sent.note_removal(id, WriteOutcome::NotSent);
        let message = "interrupted before all calls were sent";
        return Err(Failure::new(FailureKind::Interrupted, message).applied(Applied::No));
    }
    sent.write_ahead_removal(id).await?;
    let (outcome, failure) = match send_removal(sent, id, request, calls).await? {
        (_, Some(refused)) if may_be_saved(&refused) => {
            let (outcome, failure) = sent.look_after_refused_removal(id, refused).await;
            if failure.applied == Applied::Unknown {
                calls.last_is(Applied::Unknown);
            }
            (outcome, Some(failure))
        }
        answered => answered,
    };
    sent.note_removal(id, outcome);
    failure.map_or(Ok(()), Err)
}

/// Sends the call, again as often as that is safe: what became of it, with the failure where there is one.
///
/// # Errors
/// Where nobody knows what became of it, which is what was noted before it left.
async fn send_removal(
    sent: &Sent<'_>,
    id: AddressId,
    request: &Request,
    calls: &mut Calls<'_>,
) -> Result<(WriteOutcome, Option<Failure>), Failure> {
    let (service, clock) = (sent.service, sent.service.session.context.clock);
    let applied = || (WriteOutcome::Applied { at: clock.now(), verified: false }, None);
    let (mut attempts, mut was_lost) = (Attempts::default(), false);
    loop {
        let attempt = service.attempt(sent.operation, request).await?;
        if says_gone(&attempt, id) {
            if !was_lost {
                calls.skip(name(id), "gone already");
                return Ok((WriteOutcome::Refused, None));
            }
            let status = attempt.failure().and_then(|failure| failure.status);
            calls.push(Call { status, ..Call::new(name(id), Applied::Yes) });
            return Ok(applied());
        }
        let is_lost = matches!(attempt, Attempt::Unknown { .. });
        let wait = service.delay(&attempts, &attempt, Effect::State).filter(|_| !(is_lost && was_lost));
        was_lost |= is_lost;
        let not_taken = match attempt {
            Attempt::NotSent { .. } => WriteOutcome::NotSent,
            _ => WriteOutcome::Refused,
        };
        let failure = match attempts.conclude(attempt) {
            Ok(reply) => {
                calls.push(Call::replied(name(id), reply.status, reply.value));
                return Ok(applied());
            }
            Err(failure) => failure,
        };
        if let Some(wait) = wait {
            pause(wait, || service.stopping.get()).await;
        }
        if wait.is_some() && !service.stopping.get() {
            continue;
        }
        if failure.applied == Applied::Unknown {
            return Err(lost(calls, id, &failure));
        }
        calls.push(Call::failed(name(id), &failure));
        return Ok((not_taken, Some(failure)));
    }
}

/// Nobody knows whether it was removed.
fn lost(calls: &mut Calls<'_>, id: AddressId, failure: &Failure) -> Failure {
    calls.push(Call::failed(name(id), failure));
    let message = format!("{}; whether address {id} was removed is not known", failure.message);
    Failure { message, hint: None, ..failure.clone() }
}

/// Whether the service says that there is no address with this id.
fn says_gone(attempt: &Attempt, id: AddressId) -> bool {
    let Attempt::Rejected(failure) = attempt else { return false };
    failure.absent == Some(Absent::Entity)
        && named_in(failure.service.as_ref()) == ["addressId".to_owned(), id.to_string()]
}
