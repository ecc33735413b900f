//! The one way to write. An operation says which calls are to be made, with the effect of each; this module does the rest.
//!
//! 1. *Gate*: what nobody has agreed to is refused, and what is about to leave is written down, durably.
//! 2. *Send*: the call is sent once; only what cannot act twice is repeated.
//! 3. *Look*: after success the owner is looked at until it shows the change, at most for `--settle`; the answer is the first
//!    look where it is a read. After an unknown outcome the change must be shown twice. After a refusal that some shops give
//!    although they have saved there is one look.
//! 4. *Close*: the effect keeps what was seen, and the ids of what was created.
//!
//! What an answer and a look together mean is [`verdict::verdict`].

mod failure;
mod found;
mod gate;
mod look;
pub mod owner;
pub mod reads;
mod seen;
mod verdict;

use std::time::Duration;

use jiff::Timestamp;
use serde_json::Value;

use crate::client::service::Service;
use crate::client::{Attempt, Attempts, Reply, may_be_saved};
use crate::log::People;
use found::Found;
pub use gate::{LeftCall, Place, gate};
use owner::Owner;
pub use seen::Seen;
use storefront_core::effect::Effect;
use storefront_core::failure::Failure;
use storefront_core::interface::request::{Method, Request};
use storefront_core::outcome::WriteOutcome;
pub use verdict::Verdict;

/// A call that is to be sent, with what it changes.
#[derive(Debug)]
pub struct Call {
    /// What reports call it, where there are several.
    pub name: String,
    /// What is sent.
    pub request: Request,
    /// What it changes.
    pub effect: Effect,
    /// Whether an answer of success is not followed by a look: the caller may [`verify`] after the last of several calls. An owner
    /// that the call makes is looked at all the same as long as its id is not known.
    pub is_looked_at_later: bool,
    /// Whose data it holds, if not the customer of the service.
    pub people: Option<People>,
    /// Its place in the log, once it has passed the gate.
    pub place: Option<Place>,
}

impl Call {
    /// A call that is looked at when it has been answered.
    pub fn new(name: impl Into<String>, request: Request, effect: Effect) -> Self {
        let name = name.into();
        Self { name, request, effect, is_looked_at_later: false, people: None, place: None }
    }
}

/// A call that was applied.
#[derive(Debug)]
pub struct Written {
    /// The answer; `None` if it was lost, and a look has shown the change.
    pub reply: Option<Reply>,
    /// The status of the answer, if there was one.
    pub status: Option<u16>,
    /// Whether a look has shown the change.
    pub verified: bool,
    /// The effect with what was seen.
    pub effect: Effect,
    /// The call in the log, by which its outcome is noted.
    pub left: Option<LeftCall>,
}

/// Sends a call that only prepares for what is asked for: it makes an empty cart, which the service gives out again as
/// long as it is active. The call passes no gate and has no effect: nobody asked for it, nothing compares it or takes it
/// back, and sending it twice changes nothing.
///
/// # Errors
/// As [`Service::send_preparation`].
pub async fn send_preparation(
    service: &Service<'_>,
    operation: &str,
    request: &Request,
) -> Result<Reply, Failure> {
    service.send_preparation(operation, request).await
}

/// Carries out one call: gate, send, look, close.
///
/// # Errors
/// A call that was not applied, or whose outcome is not known; `applied` says which.
pub async fn carry_out(
    service: &Service<'_>,
    operation: &'static str,
    owner: &dyn Owner,
    call: Call,
) -> Result<Written, Failure> {
    // Without a token nothing is written down.
    service.token(call.request.bearer).await?;
    send_and_look(service, operation, owner, call).await
}

/// Sends one of several calls, all of which may have passed the gate together, and finds out what became of it.
///
/// # Errors
/// As [`carry_out`].
pub async fn send_and_look(
    service: &Service<'_>,
    operation: &'static str,
    owner: &dyn Owner,
    mut call: Call,
) -> Result<Written, Failure> {
    if call.place.is_none() {
        gate(service, operation, std::slice::from_mut(&mut call), None).await?;
    }
    let request = call.request.clone();
    let sent = SentCall::new(service, owner, call);
    let answer = service.send(operation, &request).await;
    sent.find_out(answer).await
}

/// How a call ended that is sent once.
#[derive(Debug)]
pub enum Ended {
    /// It was applied.
    Written(Box<Written>),
    /// The service applied nothing of it; it may be made again after this time.
    Again(Duration, Box<Failure>),
}

/// Sends a call that has passed the gate once, and finds out what became of it. If the service applied nothing of it, the
/// caller makes it again, because what it was made from may have changed meanwhile.
///
/// # Errors
/// As [`carry_out`].
pub async fn send_once(
    service: &Service<'_>,
    operation: &'static str,
    owner: &dyn Owner,
    call: Call,
    attempts: &mut Attempts,
) -> Result<Ended, Failure> {
    let request = call.request.clone();
    let sent = SentCall::new(service, owner, call);
    let attempt = service.attempt(operation, &request).await;
    let answer = match attempt {
        Ok(Attempt::Applied(reply)) => Ok(reply),
        Ok(Attempt::Rejected(failure) | Attempt::Unknown { failure, .. }) => Err(failure),
        Ok(unsent @ (Attempt::NotSent { .. } | Attempt::Throttled { .. })) => {
            sent.close(unsent.outcome(sent.sent_at, sent.now()), None);
            let wait = service.delay(attempts, &unsent, &request);
            let failure = attempts.fail(unsent);
            let Some(wait) = wait else { return Err(failure) };
            service.stage.starts_again();
            return Ok(Ended::Again(wait, Box::new(failure)));
        }
        Err(failure) => {
            sent.close(WriteOutcome::NotSent, None);
            return Err(failure);
        }
    };
    sent.find_out(answer).await.map(|written| Ended::Written(Box::new(written)))
}

/// Sends a call of which nobody knows what it changes. Nothing is looked at.
///
/// # Errors
/// As [`Service::send`], and as [`gate()`].
pub async fn send_any(
    service: &Service<'_>,
    operation: &'static str,
    call: &str,
    request: &Request,
) -> Result<Reply, Failure> {
    service.token(request.bearer).await?;
    let deleted = (request.method == Method::DELETE).then(|| request.path.clone());
    let left = gate::gate_any(service, operation, call, deleted).await?.map(Place::leaves);
    let clock = service.session.context.clock;
    let sent_at = service.session.context.clock.now();
    let sent = service.send(operation, request).await;
    if let Some(left) = left {
        let outcome = WriteOutcome::after(sent.as_ref().map(|_| false), sent_at, clock.now());
        left.close(service, outcome, None);
    }
    sent
}

/// A call that has left.
struct SentCall<'a> {
    service: &'a Service<'a>,
    owner: &'a dyn Owner,
    left: Option<LeftCall>,
    effect: Effect,
    is_looked_at_later: bool,
    sent_at: Timestamp,
}

impl<'a> SentCall<'a> {
    /// Marks the call as leaving now.
    fn new(service: &'a Service<'a>, owner: &'a dyn Owner, call: Call) -> Self {
        let Call { effect, is_looked_at_later, place, .. } = call;
        let left = place.map(Place::leaves);
        service.stage.leaves();
        let sent_at = service.session.context.clock.now();
        Self { service, owner, left, effect, is_looked_at_later, sent_at }
    }

    fn now(&self) -> Timestamp {
        self.service.session.context.clock.now()
    }

    fn close(&self, outcome: WriteOutcome, effect: Option<&Effect>) {
        if let Some(left) = self.left {
            left.close(self.service, outcome, effect);
        }
    }

    /// Finds out what became of it by its answer and by looking, and notes it.
    async fn find_out(mut self, answer: Result<Reply, Failure>) -> Result<Written, Failure> {
        let service = self.service;
        let owner = self.owner;
        self.note_answer(&answer);
        let status = answer.as_ref().map_or_else(|failure| failure.status, |reply| Some(reply.status));
        let answer = answer.and_then(|reply| {
            reply.warning.iter().for_each(|warning| service.session.report.warn(warning));
            match owner.doubt(&self.effect, &reply) {
                None => Ok(reply),
                Some(doubt) => {
                    service.stage.doubt();
                    Err(Failure { status, ..doubt })
                }
            }
        });
        let (reply, found) = match answer {
            Ok(reply) => {
                owner.note_ids(&mut self.effect, &reply.value);
                // Without its id, nothing finds the owner that it made.
                let is_due = !self.is_looked_at_later || self.effect.owner.id.is_none();
                let is_looked_at = owner.is_readable() && is_due;
                let found = if is_looked_at {
                    Found::after_success(service, owner, &self.effect, Some(&reply)).await
                } else {
                    Found::unseen(Ok(false))
                };
                (Some(reply), found)
            }
            Err(failure) => (None, Found::after_failure(service, owner, &self.effect, failure).await),
        };
        let told = found.told(reply.is_some());
        let seen = found.closing(|document, look| {
            if reply.is_none() || self.effect.owner.id.is_none() {
                owner.note_ids(&mut self.effect, &Value::Object(document.clone()));
            }
            self.effect.close_by(document, look, told);
        });
        let outcome = found.outcome(self.sent_at, self.now());
        let effect = Some(&self.effect).filter(|_| seen || found.ended.is_ok());
        match self.left.filter(|_| reply.is_none()) {
            Some(left) => left.close_without_success(service, outcome, effect),
            None => self.close(outcome, effect),
        }
        let Self { effect, left, .. } = self;
        found.ended.map(|verified| Written { reply, status, verified, effect, left })
    }

    /// Notes what the answer says before the look, because the process may die during that.
    fn note_answer(&self, answer: &Result<Reply, Failure>) {
        let says = match answer {
            Ok(_) => !self.is_looked_at_later,
            Err(failure) => may_be_saved(failure),
        };
        if let Some(left) = self.left.filter(|_| says && self.owner.is_readable()) {
            let ended = answer.as_ref().map(|_| false);
            left.note(self.service, WriteOutcome::after(ended, self.sent_at, self.now()));
        }
    }
}

/// Looks at the owner of calls that the service said it applied, until it shows what they changed; returns whether it
/// does. The effect keeps what was seen, and the result is noted for these calls. The answer is the first look if it is a
/// read.
///
/// # Errors
/// `mismatch` if something of it is missing.
pub async fn verify(
    service: &Service<'_>,
    owner: &dyn Owner,
    effect: &mut Effect,
    answer: Option<&Reply>,
    calls: &[LeftCall],
) -> Result<bool, Failure> {
    let clock = service.session.context.clock;
    let sent_at = clock.now();
    let found = Found::after_success(service, owner, effect, answer).await;
    let outcome = found.outcome(sent_at, clock.now());
    let told = found.told(true);
    found.closing(|document, look| effect.close_by(document, look, told));
    for call in calls {
        let mut own = call.effect(service);
        let seen =
            found.closing(|document, look| own.iter_mut().for_each(|own| own.close_by(document, look, told)));
        call.close(service, outcome, own.as_ref().filter(|_| seen || found.ended.is_ok()));
    }
    found.ended
}
