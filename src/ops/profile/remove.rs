//! Addresses that are removed by calls of their own, where the interface has one and nothing else changes: nothing that somebody
//! else writes between the read and a PUT can be lost by it.

use super::messages;
use super::verify::Sent;
use crate::client::{Attempt, Attempts, Effect, may_be_saved, pause};
use crate::ops::calls::{Calls, Planned};
use crate::report::outcome::{Call, Outcome};
use storefront_core::absent::{Absent, named_in};
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::id::AddressId;
use storefront_core::interface::request::Request;
use storefront_core::outcome::WriteOutcome;

/// What a change is sent as.
pub enum Dispatch {
    /// One request that replaces the profile.
    Put(Request),
    /// A call for each address that is removed; nothing else changes.
    Removals(Vec<Removal>),
}

/// The call that removes an address.
pub type Removal = (AddressId, Request);

impl Dispatch {
    /// The ids of the addresses that are removed by calls of their own.
    pub fn removed(&self) -> Vec<AddressId> {
        match self {
            Self::Put(_) => Vec::new(),
            Self::Removals(removals) => removals.iter().map(|(id, _)| *id).collect(),
        }
    }

    /// The first request.
    pub fn first(&self) -> Option<&Request> {
        match self {
            Self::Put(request) => Some(request),
            Self::Removals(removals) => removals.first().map(|(_, request)| request),
        }
    }
}

/// The calls by their names.
pub fn planned(removals: &[Removal]) -> Vec<Planned> {
    removals.iter().map(|(id, request)| (name(*id), request.clone())).collect()
}

fn name(id: AddressId) -> String {
    format!("remove address {id}")
}

/// Removes the addresses one after another.
///
/// # Errors
/// The failure of the first call that is not applied; the others do not leave.
pub async fn remove(sent: &Sent<'_>, removals: &[Removal], whole: Outcome) -> Result<Outcome, Failure> {
    let mut calls = Calls::new(sent.service, sent.operation);
    for (id, request) in removals {
        if let Err(failure) = remove_one(sent, *id, request, &mut calls).await {
            let failure = messages::after_calls(failure, &calls.applied(), sent.write);
            let failure = calls.failed(failure, &planned(removals), None);
            return Err(Failure { write: Some(sent.write.to_string().into()), ..failure });
        }
    }
    let done = calls.finish();
    let outcome = Outcome {
        applied: done.applied,
        reason: done.reason,
        status: done.status,
        calls: done.calls,
        ..whole
    };
    sent.verify_removed(outcome).await
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
