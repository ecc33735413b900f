//! Addresses that are removed by calls of their own, where the interface has one and nothing else changes: nothing that somebody
//! else writes between the read and a PUT can be lost by it.

use serde_json::{Map, Value};

use super::messages;
use super::verify::Sent;
use crate::client::{self, Attempt, Attempts, may_be_saved, pause};
use crate::log::Unsent;
use crate::ops::calls::{Calls, Planned};
use crate::report::outcome::{self, Outcome};
use crate::write::Call;
use storefront_core::absent::{Absent, named_in};
use storefront_core::effect::{self, Effect};
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::id::AddressId;
use storefront_core::interface::request::{Request, Target};
use storefront_core::outcome::WriteOutcome;
use storefront_core::profile::merge::Merged;

/// What a change is sent as.
pub enum Dispatch {
    /// One request that replaces the profile.
    Put(Box<Call>),
    /// A call for each address that is removed; nothing else changes.
    Removals(Vec<Removal>),
}

/// The call that removes an address.
pub type Removal = (AddressId, Call);

impl Dispatch {
    /// Its calls.
    pub fn calls(&self) -> Vec<&Call> {
        match self {
            Self::Put(call) => vec![&**call],
            Self::Removals(removals) => removals.iter().map(|(_, call)| call).collect(),
        }
    }

    /// The first request.
    pub fn first(&self) -> Option<&Request> {
        self.calls().first().map(|call| &call.request)
    }
}

/// The calls that remove these addresses one after another from a profile; of each the effect is what is left to it. Empty where
/// the interface has no such call.
pub fn removals(
    target: &Target<'_>,
    owner: &effect::Owner,
    stored: &Map<String, Value>,
    ids: &[AddressId],
) -> Vec<Removal> {
    let mut now = stored.clone();
    let by_call = |id: &AddressId| {
        let request = Request::remove_address(target, *id)?;
        let after = Merged::without(&now, &[*id]);
        let effect = Effect::of_profile(owner.clone(), &now, &after);
        now = after;
        Some((*id, Call::new(format!("remove address {id}"), request, effect)))
    };
    ids.iter().filter_map(by_call).collect()
}

/// The calls by their names.
pub fn planned(removals: &[Removal]) -> Vec<Planned> {
    removals.iter().map(|(_, call)| (call.name.clone(), call.request.clone())).collect()
}

fn name(id: AddressId) -> String {
    format!("remove address {id}")
}

/// Removes the addresses one after another.
///
/// # Errors
/// The failure of the first call that is not applied; the others do not leave.
pub async fn remove(
    sent: &Sent<'_>,
    removals: &[Removal],
    mut unsent: Unsent,
    whole: Outcome,
) -> Result<Outcome, Failure> {
    let mut calls = Calls::new(sent.service, sent.operation);
    for (id, call) in removals {
        if let Err(failure) = remove_one(sent, *id, &call.request, &mut unsent, &mut calls).await {
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
    unsent: &mut Unsent,
    calls: &mut Calls<'_>,
) -> Result<(), Failure> {
    if sent.service.stopping.get() {
        let message = "interrupted before all calls were sent";
        return Err(Failure::new(FailureKind::Interrupted, message).applied(Applied::No));
    }
    let left = unsent.leaves().unwrap_or_default();
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
    sent.loaded.store.set_call(left, outcome);
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
            calls.push(outcome::Call { status, ..outcome::Call::new(name(id), Applied::Yes) });
            return Ok(applied());
        }
        let is_lost = matches!(attempt, Attempt::Unknown { .. });
        let wait =
            service.delay(&attempts, &attempt, client::Effect::State).filter(|_| !(is_lost && was_lost));
        was_lost |= is_lost;
        let not_taken = match attempt {
            Attempt::NotSent { .. } => WriteOutcome::NotSent,
            _ => WriteOutcome::Refused,
        };
        let failure = match attempts.conclude(attempt) {
            Ok(reply) => {
                calls.push(outcome::Call::replied(name(id), reply.status, reply.value));
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
        calls.push(outcome::Call::failed(name(id), &failure));
        return Ok((not_taken, Some(failure)));
    }
}

/// Nobody knows whether it was removed.
fn lost(calls: &mut Calls<'_>, id: AddressId, failure: &Failure) -> Failure {
    calls.push(outcome::Call::failed(name(id), failure));
    let message = format!("{}; whether address {id} was removed is not known", failure.message);
    Failure { message, hint: None, ..failure.clone() }
}

/// Whether the service says that there is no address with this id.
fn says_gone(attempt: &Attempt, id: AddressId) -> bool {
    let Attempt::Rejected(failure) = attempt else { return false };
    failure.absent == Some(Absent::Entity)
        && named_in(failure.service.as_ref()) == ["addressId".to_owned(), id.to_string()]
}
