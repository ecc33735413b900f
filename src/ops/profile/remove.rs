//! Addresses that are removed by calls of their own, where the interface has one and nothing else changes: nothing that somebody
//! else writes between the read and a PUT can be lost by it.

use serde_json::{Map, Value};

use super::verify::Sent;
use super::{messages, owner};
use crate::client::Effect::State;
use crate::ops::calls::{Calls, Planned};
use crate::report::outcome::Outcome;
use crate::write::Call;
use storefront_core::effect::{self, Effect};
use storefront_core::failure::{Failure, FailureKind};
use storefront_core::id::AddressId;
use storefront_core::interface::request::{Request, Target};
use storefront_core::profile::merge::Merged;

/// What a change is sent as.
pub enum Dispatch {
    /// One request that replaces the profile.
    Put(Box<Call>),
    /// A call for each address that is removed; nothing else changes.
    Removals(Vec<Call>),
}

impl Dispatch {
    /// Its calls.
    pub fn calls(&mut self) -> &mut [Call] {
        match self {
            Self::Put(call) => std::slice::from_mut(call),
            Self::Removals(removals) => removals,
        }
    }

    /// The first request.
    pub fn first(&self) -> Option<&Request> {
        match self {
            Self::Put(call) => Some(&call.request),
            Self::Removals(removals) => removals.first().map(|call| &call.request),
        }
    }
}

/// The calls that remove these addresses one after another from a profile; of each the effect is what is left to it. Empty where
/// the interface has no such call.
pub fn removals(
    target: &Target<'_>,
    owner: &effect::Owner,
    stored: &Map<String, Value>,
    ids: &[AddressId],
) -> Vec<Call> {
    let mut now = stored.clone();
    let by_call = |id: &AddressId| {
        let request = Request::remove_address(target, *id)?;
        let after = Merged::without(&now, &[*id]);
        let effect = Effect::of_profile(owner.clone(), &now, &after);
        now = after;
        let new = Call::new(format!("remove address {id}"), request, effect);
        Some(Call { repeats: State, is_looked_at_later: true, ..new })
    };
    ids.iter().filter_map(by_call).collect()
}

/// The calls by their names.
pub fn planned(removals: &[Call]) -> Vec<Planned> {
    removals.iter().map(|call| (call.name.clone(), call.request.clone())).collect()
}

/// Removes the addresses one after another.
///
/// # Errors
/// The failure of the first call that is not applied; the others do not leave.
pub async fn remove(sent: &Sent<'_>, removals: Vec<Call>, whole: Outcome) -> Result<Outcome, Failure> {
    let (planned, mut calls) = (planned(&removals), Calls::new(sent.service, sent.operation));
    let by_id = |call: Call| Some((call.effect.removed_address()?, call));
    for (id, call) in removals.into_iter().filter_map(by_id) {
        let owner = owner::Removal::new(sent, id);
        if let Err(failure) = calls.carry_out(&owner, call).await {
            if failure.kind == FailureKind::Mismatch {
                owner.note_read();
            }
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
