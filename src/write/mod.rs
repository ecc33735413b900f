//! The one way to write. An operation says which calls are to be made, with the effect of each; this module does the rest.
//!
//! 1. *Gate*: after a signal nothing begins, and what is about to leave is written down, durably.
//! 2. *Send*: the call is sent once; only what cannot act twice is repeated.
//! 3. *Look*: after success the owner is looked at until it shows the change, at most for `--settle`; the answer is the first
//!    look where it is a read. After an unknown outcome the change must be shown twice. After a refusal that some shops give
//!    although they have saved there is one look.
//! 4. *Close*: the effect keeps what was seen, and the ids of what was created.
//!
//! What an answer and a look together mean is [`verdict::verdict`].

mod failure;
mod gate;
mod look;
pub mod owner;
pub mod reads;
mod verdict;

use crate::client::service::Service;
use crate::client::{self, Reply, may_be_saved};
use crate::log::People;
pub use gate::{LeftCall, Place, gate};
use look::{Looking, Seen};
use owner::Owner;
use serde_json::Value;
use storefront_core::effect::Effect;
use storefront_core::failure::{Applied, Failure};
use storefront_core::interface::request::Request;
use storefront_core::outcome::WriteOutcome;
use verdict::{Answer, Verdict, verdict};

/// A call that is to be sent, with what it changes.
#[derive(Debug)]
pub struct Call {
    /// What reports call it, where there are several.
    pub name: String,
    /// What is sent.
    pub request: Request,
    /// What it changes.
    pub effect: Effect,
    /// Whether it may be sent again after an unknown outcome.
    pub repeats: client::Effect,
    /// Whether the owner is looked at after the last of several calls, with [`verify`], and not after this one where the service
    /// says that it did it.
    pub is_looked_at_later: bool,
    /// Whose data it holds, where that is not the customer of the service.
    pub people: Option<People>,
    /// Its place in the log, once it has passed the gate.
    pub place: Option<Place>,
}

impl Call {
    /// A call that is sent once.
    pub fn new(name: impl Into<String>, request: Request, effect: Effect) -> Self {
        let (name, repeats) = (name.into(), client::Effect::Write);
        Self { name, request, effect, repeats, is_looked_at_later: false, people: None, place: None }
    }
}

/// A call that was applied.
#[derive(Debug)]
pub struct Written {
    /// The answer; `None` where it was lost, and a look has shown the change.
    pub reply: Option<Reply>,
    /// The status of the answer, where there was one.
    pub status: Option<u16>,
    /// Whether a look has shown the change.
    pub verified: bool,
    /// The effect with what was seen.
    pub effect: Effect,
    /// By which it is noted what became of it.
    pub left: Option<LeftCall>,
}

/// Sends a call that only makes room for what is asked for: an empty cart, which the service gives out again as long as it is active.
/// It passes no gate and has no effect: nobody asked for it, nothing of it is looked for, compared or taken back, and sent twice it is
/// the same.
///
/// # Errors
/// As [`Service::make_room`].
pub async fn make_room(service: &Service<'_>, operation: &str, request: &Request) -> Result<Reply, Failure> {
    service.make_room(operation, request).await
}

/// Carries out one call: gate, send, look, close.
///
/// # Errors
/// What was not applied, or of which that is not known: `applied` says which.
pub async fn carry_out(
    service: &Service<'_>,
    operation: &'static str,
    owner: &dyn Owner,
    call: Call,
) -> Result<Written, Failure> {
    // Without a token nothing leaves.
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
    let (clock, left) = (service.session.context.clock, call.place.map(Place::leaves));
    let sent_at = clock.now();
    let sent =
        Sent { request: &call.request, repeats: call.repeats, is_looked_at_later: call.is_looked_at_later };
    let written = sent.send_and_look(service, operation, owner, call.effect).await;
    if let Some(left) = left {
        let ended = written.as_ref().map(|written| written.verified);
        let outcome = WriteOutcome::after(ended, sent_at, clock.now());
        left.close(service, outcome, written.as_ref().ok().map(|written| &written.effect)).await;
    }
    written.map(|written| Written { left, ..written })
}

/// Sends a call of which nobody knows what it changes; nothing is looked at.
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
    let left = gate::gate_any(service, operation, call).await?.map(Place::leaves);
    let (clock, sent_at) = (service.session.context.clock, service.session.context.clock.now());
    let sent = service.send(operation, request, client::Effect::Write).await;
    if let Some(left) = left {
        let outcome = WriteOutcome::after(sent.as_ref().map(|_| false), sent_at, clock.now());
        left.close(service, outcome, None).await;
    }
    sent
}

/// How a call is sent.
struct Sent<'a> {
    request: &'a Request,
    repeats: client::Effect,
    is_looked_at_later: bool,
}

impl Sent<'_> {
    async fn send_and_look(
        &self,
        service: &Service<'_>,
        operation: &'static str,
        owner: &dyn Owner,
        mut effect: Effect,
    ) -> Result<Written, Failure> {
        let refused = match service.send(operation, self.request, self.repeats).await {
            Ok(reply) => {
                reply.warning.iter().for_each(|warning| service.session.report.warn(warning));
                let status = Some(reply.status);
                let Some(doubt) = owner.doubt(&effect, &reply) else {
                    owner.note_ids(&mut effect, &reply.value);
                    let verified = !self.is_looked_at_later
                        && look_after_success(service, owner, &mut effect, Some(&reply)).await?.0;
                    return Ok(Written { reply: Some(reply), status, verified, effect, left: None });
                };
                service.stage.doubt();
                Failure { status, ..doubt }
            }
            Err(failure) => failure,
        };
        if !owner.is_readable() {
            return Err(refused);
        }
        if let Some(applied) = owner.told(&refused) {
            return Err(Failure { applied, ..refused });
        }
        look_after_failure(service, owner, effect, refused).await
    }
}

/// Finds out what became of a call that the service did not say it did.
async fn look_after_failure(
    service: &Service<'_>,
    owner: &dyn Owner,
    mut effect: Effect,
    refused: Failure,
) -> Result<Written, Failure> {
    let looking = Looking { owner };
    let (answer, seen) = if owner.says_gone(&effect, &refused) {
        // That counts where a read shows it, too.
        let seen = looking.until_shown(&effect, None).await;
        let is_open = seen.is_after() || refused.applied == Applied::Unknown && seen.lost().is_empty();
        (if is_open { Answer::Unknown } else { Answer::Rejected }, seen)
    } else if refused.applied == Applied::Unknown && !owner.can_prove() {
        (Answer::Unknown, looking.until_shown(&effect, None).await)
    } else if refused.applied == Applied::Unknown {
        (Answer::Unknown, looking.until_proven(&effect).await)
    } else if may_be_saved(&refused) {
        (Answer::Rejected, looking.after_refusal(&effect).await)
    } else {
        return Err(refused);
    };
    let status = refused.status;
    let verdict = match verdict(answer, seen.shown(answer)) {
        Verdict::Applied { .. } if !owner.can_prove() => Verdict::Unknown,
        verdict => verdict,
    };
    let Verdict::Applied { verified } = verdict else {
        return Err(failure::of_call(owner, verdict, &seen, Some(refused), status));
    };
    if let Some(document) = seen.document() {
        owner.note_ids(&mut effect, &Value::Object(document.clone()));
        effect.close(document);
    }
    service.session.report.warn(&format!("{}; verified as applied", refused.message));
    Ok(Written { reply: None, status, verified, effect, left: None })
}

/// Looks at the owner of calls of which the service says that it did them, until it shows what they changed, which the effect keeps:
/// whether it does. The answer is the first look where it is a read. What is found is noted of these calls.
///
/// # Errors
/// `mismatch` where something of it is missing.
pub async fn verify(
    service: &Service<'_>,
    owner: &dyn Owner,
    effect: &mut Effect,
    answer: Option<&Reply>,
    calls: &[LeftCall],
) -> Result<bool, Failure> {
    let sent_at = service.session.context.clock.now();
    let found = look_after_success(service, owner, effect, answer).await;
    let verified = found.as_ref().map(|(verified, _)| *verified);
    let outcome = WriteOutcome::after(verified, sent_at, service.session.context.clock.now());
    let document = found.as_ref().ok().and_then(|(_, seen)| seen.document());
    for call in calls {
        let mut own = call.effect(service);
        if let (Some(own), Some(document)) = (&mut own, document) {
            own.close(document);
        }
        call.close(service, outcome, own.as_ref()).await;
    }
    found.map(|(verified, _)| verified)
}

async fn look_after_success(
    service: &Service<'_>,
    owner: &dyn Owner,
    effect: &mut Effect,
    answer: Option<&Reply>,
) -> Result<(bool, Seen), Failure> {
    let seen = Looking { owner }.until_shown(effect, answer).await;
    let verdict = verdict(Answer::Applied, seen.shown(Answer::Applied));
    let Verdict::Applied { verified } = verdict else {
        let status = answer.map(|answer| answer.status);
        return Err(failure::of_call(owner, verdict, &seen, None, status));
    };
    if let Some(document) = seen.document() {
        effect.close(document);
    }
    if let Some(doubt) = seen.doubt(owner).filter(|_| !verified) {
        service.session.report.warn(&format!("the change is not verified: {doubt}"));
    }
    Ok((verified, seen))
}
