//! The calls of an operation that is several, and what became of them.

use crate::failure::{Applied, Failure, FailureKind};
use crate::http::{Effect, Reply};
use crate::plan::request::Request;
use crate::report::outcome::{Call, Outcome};
use crate::session::service::Service;
use crate::text::exact_json;

/// What was sent so far.
pub struct Calls<'a> {
    service: &'a Service<'a>,
    operation: &'static str,
    done: Vec<Call>,
    is_logged: bool,
}

impl<'a> Calls<'a> {
    /// Nothing yet.
    pub fn new(service: &'a Service<'a>, operation: &'static str) -> Self {
        Self { service, operation, done: Vec::new(), is_logged: false }
    }

    /// Sends a call, once the journal knows that the operation leaves.
    ///
    /// # Errors
    /// As [`Service::send`]; the call is noted whatever becomes of it.
    pub async fn send(&mut self, name: String, request: &Request, effect: Effect) -> Result<Reply, Failure> {
        if !self.is_logged {
            self.service.log_before_send(None).await?;
            self.is_logged = true;
        }
        match self.service.send(self.operation, request, effect).await {
            Ok(reply) => {
                reply.warning.iter().for_each(|warning| self.service.session.report.warn(warning));
                self.service.stage.set(Applied::Partial);
                self.done.push(Call::replied(name, &reply));
                Ok(reply)
            }
            Err(failure) => {
                self.done.push(Call::failed(name, &failure));
                Err(failure)
            }
        }
    }

    /// Takes in a call that was sent elsewhere, or not at all.
    pub fn push(&mut self, call: Call, is_logged: bool) {
        if call.applied == Applied::Yes && is_logged {
            self.service.stage.set(Applied::Partial);
        }
        self.is_logged |= is_logged;
        self.done.push(call);
    }

    /// A call that was not needed.
    pub fn already_there(&mut self, name: String) {
        self.done.push(Call { reason: Some("already there"), ..Call::new(name, Applied::Yes) });
    }

    /// The last call was found to be applied.
    pub fn last_is_applied(&mut self) {
        if let Some(last) = self.done.last_mut() {
            last.applied = Applied::Yes;
        }
        self.service.stage.set(Applied::Partial);
    }

    /// Whether a call was sent that took effect.
    fn is_applied(&self) -> bool {
        self.done.iter().any(|call| call.applied == Applied::Yes && call.reason.is_none())
    }

    /// The failure of the whole: what was applied before stays so. `left` are calls that are not sent any more.
    pub fn failed(mut self, failure: Failure, left: impl IntoIterator<Item = String>) -> Failure {
        self.done.extend(left.into_iter().map(|name| Call::new(name, Applied::No)));
        let is_unknown = self.done.iter().any(|call| call.applied == Applied::Unknown);
        let (kind, applied) = match (is_unknown || failure.applied == Applied::Unknown, self.is_applied()) {
            (true, _) => (FailureKind::Unknown, Applied::Unknown),
            (_, true) if failure.kind == FailureKind::Mismatch => (FailureKind::Mismatch, Applied::Yes),
            (_, true) => (FailureKind::Partial, Applied::Partial),
            _ => (failure.kind, failure.applied),
        };
        let is_interrupted = failure.kind == FailureKind::Interrupted;
        let kind = if is_interrupted { failure.kind } else { kind };
        Failure { kind, applied, calls: self.done.iter().map(exact_json::of).collect(), ..failure }
    }

    /// The outcome, where nothing failed.
    pub fn finish(self) -> Outcome {
        let outcome = Outcome::not_sent(self.operation);
        if !self.is_applied() {
            return Outcome { reason: Some("unchanged"), calls: self.done, ..outcome };
        }
        self.service.stage.set(Applied::Yes);
        let status = self.done.iter().rev().find_map(|call| call.status);
        Outcome { applied: Applied::Yes, status, calls: self.done, ..outcome }
    }
}

/// What a dry run shows: the calls that would be sent.
pub fn preview(service: &Service<'_>, operation: &'static str, requests: Vec<(String, Request)>) -> Outcome {
    let shown = |(name, request): (String, Request)| Call {
        request: Some(service.preview(request)),
        ..Call::new(name, Applied::No)
    };
    let calls: Vec<Call> = requests.into_iter().map(shown).collect();
    match calls.first().and_then(|call| call.request.clone()) {
        Some(first) => Outcome { calls, ..Outcome::dry_run(operation, first) },
        None => Outcome { reason: Some("unchanged"), ..Outcome::not_sent(operation) },
    }
}

/// Nothing more is sent after the user has asked to stop.
pub fn interrupted() -> Failure {
    Failure::new(FailureKind::Interrupted, "interrupted before all calls were sent").applied(Applied::No)
}
