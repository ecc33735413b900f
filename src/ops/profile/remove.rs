//! Addresses that are removed by calls of their own, where the interface has one and nothing else changes: nothing that somebody
//! else writes between the read and a PUT can be lost by it.

use serde_json::{Map, Value};

use super::verify::Sent;
use super::{messages, owner};
use crate::client::Effect::State;
use crate::log::Unsent;
use crate::ops::calls::{Calls, Planned};
use crate::report::outcome::Outcome;
use crate::write::{Call, Place};
use storefront_core::effect::{self, Effect};
use storefront_core::failure::{Failure, FailureKind};
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
        let new = Call::new(format!("remove address {id}"), request, effect);
        Some((*id, Call { repeats: State, is_looked_at_later: true, ..new }))
    };
    ids.iter().filter_map(by_call).collect()
}

/// The calls by their names.
pub fn planned(removals: &[Removal]) -> Vec<Planned> {
    removals.iter().map(|(_, call)| (call.name.clone(), call.request.clone())).collect()
}

/// Removes the addresses one after another.
///
/// # Errors
/// The failure of the first call that is not applied; the others do not leave.
pub async fn remove(
    sent: &Sent<'_>,
    removals: Vec<Removal>,
    mut unsent: Unsent,
    whole: Outcome,
) -> Result<Outcome, Failure> {
    let (planned, mut calls) = (planned(&removals), Calls::new(sent.service, sent.operation));
    for (id, call) in removals {
        if let Err(failure) = remove_one(sent, id, call, &mut unsent, &mut calls).await {
            let failure = messages::after_calls(failure, &calls.applied(), sent.write);
            let failure = calls.failed(failure, &planned, None);
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

/// Removes one address, and finds out what became of the call where the service does not say that it did it.
async fn remove_one(
    sent: &Sent<'_>,
    id: AddressId,
    call: Call,
    unsent: &mut Unsent,
    calls: &mut Calls<'_>,
) -> Result<(), Failure> {
    let (service, clock) = (sent.service, sent.service.session.context.clock);
    let left = if service.stopping.get() { None } else { unsent.leaves() };
    let (sent_at, owner) = (clock.now(), owner::Removal::new(sent, id));
    let call = Call { place: Some(Place::of_caller()), ..call };
    let removed = calls.carry_out(&owner, call).await;
    if let Some(left) = left {
        let ended = removed.as_ref().map(|written| written.verified);
        sent.loaded.store.set_call(left, WriteOutcome::after(ended, sent_at, clock.now()));
    }
    if matches!(&removed, Err(failure) if failure.kind == FailureKind::Mismatch) {
        owner.note_read();
    }
    removed.map(drop)
}
