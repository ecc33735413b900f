//! The calls of an operation that makes several, and what became of them.

use crate::client::service::Service;
use crate::report::outcome::{Call, Outcome};
use crate::write::owner::Owner;
use crate::write::{self, Written};
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::hint::{Hint, hint};
use storefront_core::interface::request::Request;
use storefront_core::text::exact_json;

/// A call that is to be sent, with its name.
pub type Planned = (String, Request);

/// The calls that were sent so far.
pub struct Calls<'a> {
    service: &'a Service<'a>,
    /// The operation that makes them.
    pub operation: &'static str,
    done: Vec<Call>,
}

impl<'a> Calls<'a> {
    /// No calls yet.
    pub fn new(service: &'a Service<'a>, operation: &'static str) -> Self {
        Self { service, operation, done: Vec::new() }
    }

    /// Carries out a call, which passes the gate first if it has not, unless the user has asked to stop.
    ///
    /// # Errors
    /// `interrupted` if the user has; as [`write::send_and_look`]. A call that was started is noted whatever becomes of it.
    pub async fn carry_out(&mut self, owner: &dyn Owner, call: write::Call) -> Result<Written, Failure> {
        self.ensure_going_on()?;
        self.complete(owner, call).await
    }

    /// Carries out a call that completes the one before it, also after a signal.
    ///
    /// # Errors
    /// As [`write::send_and_look`]; the call is noted whatever becomes of it.
    pub async fn complete(&mut self, owner: &dyn Owner, call: write::Call) -> Result<Written, Failure> {
        let name = call.name.clone();
        let written = write::send_and_look(self.service, self.operation, owner, call).await;
        match &written {
            Ok(Written { reply, status, .. }) => {
                let response = reply.as_ref().map(|reply| reply.value.clone());
                self.push(Call { status: *status, response, ..Call::new(name, Applied::Yes) });
            }
            Err(failure) => self.push(Call::failed(name, failure)),
        }
        written
    }

    /// Refuses a further call after a signal.
    fn ensure_going_on(&self) -> Result<(), Failure> {
        if self.service.stopping.get() {
            let message = "interrupted before all calls were sent";
            return Err(Failure::new(FailureKind::Interrupted, message).applied(Applied::No));
        }
        Ok(())
    }

    /// Adds a call that was sent elsewhere, or not at all.
    pub fn push(&mut self, call: Call) {
        self.done.push(call);
        self.service.stage.set_in_part(self.is_applied());
    }

    /// A call that is not needed.
    pub fn skip(&mut self, name: impl Into<String>, reason: &'static str) {
        self.push(Call { reason: Some(reason), ..Call::new(name.into(), Applied::Yes) });
    }

    /// Sets what became of the last call, if something else than its answer says it.
    pub fn last_is(&mut self, applied: Applied) {
        if let Some(call) = self.done.pop() {
            self.push(Call { applied, ..call });
        }
    }

    /// Whether a call was sent that took effect.
    pub fn is_applied(&self) -> bool {
        self.done.iter().any(is_sent_and_applied)
    }

    /// The names of the calls that were sent and took effect.
    pub fn applied(&self) -> Vec<String> {
        self.done.iter().filter(|call| is_sent_and_applied(call)).map(|call| call.name.to_string()).collect()
    }

    /// The failure of the whole operation: what was applied before stays applied, and those of the `planned` calls that
    /// were not sent are added. `again` says how to complete it; if nothing was applied, a hint of the failure is enough.
    pub fn failed(mut self, failure: Failure, planned: &[Planned], again: Option<Hint>) -> Failure {
        let is_done = |name: &str| self.done.iter().any(|call| call.name == name);
        let left: Vec<&String> = planned.iter().map(|(name, _)| name).filter(|name| !is_done(name)).collect();
        let is_whole = left.is_empty();
        self.done.extend(left.into_iter().map(|name| Call::new(name.clone(), Applied::No)));
        let is_unknown = self.done.iter().any(|call| call.applied == Applied::Unknown);
        let is_mismatch = failure.kind == FailureKind::Mismatch;
        let (kind, applied) = match (is_unknown || failure.applied == Applied::Unknown, self.is_applied()) {
            (true, _) if is_mismatch => (FailureKind::Mismatch, Applied::Unknown),
            // It was refused, and could not be looked at.
            _ if failure.kind == FailureKind::Refused && failure.applied == Applied::Unknown => {
                (FailureKind::Refused, Applied::Unknown)
            }
            (true, _) => (FailureKind::Unknown, Applied::Unknown),
            (_, true) if is_mismatch && is_whole => (FailureKind::Mismatch, Applied::Yes),
            (_, true) if is_mismatch => (FailureKind::Mismatch, Applied::Partial),
            (_, true) => (FailureKind::Partial, Applied::Partial),
            _ => (failure.kind, failure.applied),
        };
        let hint = match (failure.hint, again) {
            (Some(hint), Some(again)) if applied != Applied::No => Some(hint!(hint, "; ", again)),
            (hint, again) => hint.or(again),
        };
        let is_interrupted = failure.kind == FailureKind::Interrupted;
        let kind = if is_interrupted { failure.kind } else { kind };
        let calls = self.done.iter().map(exact_json::of).collect();
        Failure { kind, hint, applied, calls, ..failure }
    }

    /// The outcome if nothing failed.
    pub fn finish(self) -> Outcome {
        let outcome = Outcome::not_sent(self.operation);
        if !self.is_applied() {
            return Outcome { reason: Some("unchanged"), calls: self.done, ..outcome };
        }
        self.service.stage.set_in_part(false);
        let status = self.done.iter().rev().find_map(|call| call.status);
        Outcome { applied: Applied::Yes, status, calls: self.done, ..outcome }
    }
}

fn is_sent_and_applied(call: &Call) -> bool {
    call.applied == Applied::Yes && call.reason.is_none()
}

/// What a dry run shows: the calls that would be sent.
pub fn preview(service: &Service<'_>, operation: &'static str, requests: Vec<Planned>) -> Outcome {
    let shown = |(name, request): Planned| Call {
        request: Some(service.preview(request)),
        ..Call::new(name, Applied::No)
    };
    let calls: Vec<Call> = requests.into_iter().map(shown).collect();
    match calls.first().and_then(|call| call.request.clone()) {
        Some(first) => Outcome { calls, ..Outcome::dry_run(operation, first) },
        None => Outcome { reason: Some("unchanged"), ..Outcome::not_sent(operation) },
    }
}
