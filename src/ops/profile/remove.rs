//! Removes addresses by calls of their own, if the interface has one and nothing else changes: such a call cannot
//! overwrite what somebody else writes between the read and a PUT.

use serde_json::{Map, Value};

use super::messages;
use super::owner::{Removal, Replaced};
use crate::ops::calls::{Calls, Planned};
use crate::report::outcome::Outcome;
use crate::write::{self, Call};
use storefront_core::effect::{self, Effect};
use storefront_core::failure::{Applied, Failure};
use storefront_core::id::AddressId;
use storefront_core::interface::request::{Request, Target};
use storefront_core::profile::merge::Merged;
use storefront_core::text::exact_json;

/// How a change is sent.
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

/// The calls that remove these addresses from a profile one after another; the effect of each starts from what the calls
/// before it leave. Empty if the interface has no such call.
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
        let name = format!("remove address {id}");
        Some(Call { is_looked_at_later: true, ..Call::new(name, request, effect) })
    };
    ids.iter().filter_map(by_call).collect()
}

/// The calls, to be shown.
pub fn planned(removals: &[Call]) -> Vec<Planned> {
    removals.iter().map(|call| (call.name.clone(), call.request.clone())).collect()
}

/// Removes the addresses one after another. Then reads must show that they are gone, and that all others are there.
///
/// # Errors
/// The failure of the first call that is not applied; later calls do not leave. `mismatch` if one is still there in the
/// end, or another one is gone.
pub async fn remove(
    operation: &'static str,
    whole: &Replaced<'_>,
    removals: Vec<Call>,
    reported: Outcome,
) -> Result<Outcome, Failure> {
    let planned = planned(&removals);
    let mut calls = Calls::new(whole.service, operation);
    let by_id = |call: Call| {
        let id = call.effect.removed_addresses().next()?;
        Some((id, call))
    };
    let mut left = Vec::new();
    for (id, call) in removals.into_iter().filter_map(by_id) {
        match calls.carry_out(&Removal { whole, id }, call).await {
            Ok(written) => left.extend(written.left),
            Err(failure) => {
                whole.keep(Some(&failure));
                let failure = messages::after_calls(failure, &calls.applied(), whole.write);
                let failure = calls.failed(failure, &planned, None);
                return Err(Failure { write: Some(whole.write.to_string().into()), ..failure });
            }
        }
    }
    let stored = whole.loaded.stored.customer();
    let sent = &whole.merged.customer;
    let mut effect = Effect::of_profile(whole.loaded.owner(), stored, sent);
    let verified = write::verify(whole.service, whole, &mut effect, None, &left).await;
    whole.keep(verified.as_ref().err());
    let done = calls.finish();
    match verified {
        Ok(verified) => Ok(Outcome {
            applied: done.applied,
            reason: done.reason,
            status: done.status,
            verified: (done.applied == Applied::Yes).then_some(verified),
            calls: done.calls,
            ..reported
        }),
        Err(failure) => {
            let calls = done.calls.iter().map(exact_json::of).collect();
            Err(Failure { status: done.status, calls, ..failure })
        }
    }
}
