//! What became of a call that has left, by its answer and a look together.

use std::pin::pin;

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::failure;
use super::look::Looking;
use super::owner::Owner;
use super::seen::Seen;
use super::verdict::{Answer, Verdict, verdict};
use crate::client::service::Service;
use crate::client::{Reply, may_be_saved};
use storefront_core::effect::{Effect, Look, Told};
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::outcome::WriteOutcome;

/// What became of a call, and what the last look showed.
pub(super) struct Found {
    /// Whether a look has shown the change, or the failure of the call.
    pub(super) ended: Result<bool, Failure>,
    seen: Option<Seen>,
    /// Whether its own answer was the last look.
    is_answer: bool,
}

impl Found {
    /// A call that was not looked at.
    pub(super) const fn unseen(ended: Result<bool, Failure>) -> Self {
        Self { ended, seen: None, is_answer: false }
    }

    /// Looks for a call that the service said it applied, in its answer first.
    pub(super) async fn after_success(
        service: &Service<'_>,
        owner: &dyn Owner,
        effect: &Effect,
        answer: Option<&Reply>,
    ) -> Self {
        let looking = Looking { owner };
        let in_answer = answer.and_then(|reply| looking.in_answer(effect, reply));
        let in_answer = in_answer.filter(|seen| seen.is_after() || owner.is_answer_the_last_look());
        let is_answer = in_answer.is_some();
        let seen = match in_answer {
            Some(seen) => seen,
            None => looking.until_shown(effect).await,
        };
        let verdict = verdict(Answer::Applied, seen.shown(Answer::Applied));
        let ended = match verdict {
            Verdict::Applied { verified } => {
                warn(service, owner, &seen, verified);
                Ok(verified)
            }
            _ => Err(failure::of_call(owner, verdict, &seen, None, answer.map(|answer| answer.status))),
        };
        Self { ended, seen: Some(seen), is_answer }
    }

    /// Looks for a call that the service did not say it applied.
    pub(super) async fn after_failure(
        service: &Service<'_>,
        owner: &dyn Owner,
        effect: &Effect,
        refused: Failure,
    ) -> Self {
        let refused = owner.explained(refused);
        if !owner.is_readable() {
            let unknown = Verdict::Unknown;
            let unread = Seen::Unreadable(refused.clone());
            let told = owner.failed(unknown, &unread, Some(&refused), refused.status);
            let told = told.filter(|_| refused.applied == Applied::Unknown);
            return Self::unseen(Err(told.unwrap_or(refused)));
        }
        if let Some(applied) = owner.told(&refused) {
            return Self::unseen(Err(Failure { applied, ..refused }));
        }
        let looked = {
            let looking = pin!(look_after_failure(owner, effect, &refused));
            if refused.applied == Applied::Unknown {
                service.session.report.while_waiting("checking whether it was saved", looking).await
            } else {
                looking.await
            }
        };
        let Some((answer, seen)) = looked else { return Self::unseen(Err(refused)) };
        let verdict = match verdict(answer, seen.shown(answer)) {
            Verdict::Applied { .. } if !owner.can_prove() => Verdict::Unknown,
            verdict => verdict,
        };
        let status = refused.status;
        let ended = match verdict {
            Verdict::Applied { verified } => {
                service.session.report.warn(&format!("{}; verified as applied", refused.message));
                warn(service, owner, &seen, verified);
                Ok(verified)
            }
            _ => Err(failure::of_call(owner, verdict, &seen, Some(refused), status)),
        };
        Self { ended, seen: Some(seen), is_answer: false }
    }

    /// What the service has told of the call, if it accepted it or not.
    pub(super) const fn told(&self, is_accepted: bool) -> Told {
        match (is_accepted, self.is_answer) {
            (false, _) => Told::Nothing,
            (true, false) => Told::Accepted,
            (true, true) => Told::Shown,
        }
    }

    /// The outcome of a write that left at `sent_at`.
    pub(super) fn outcome(&self, sent_at: Timestamp, now: Timestamp) -> WriteOutcome {
        let verified = self.ended.as_ref().map(|verified| *verified);
        match (WriteOutcome::after(verified, sent_at, now), &self.seen) {
            (WriteOutcome::Mismatch { sent_at, is_final }, Some(seen)) => {
                WriteOutcome::Mismatch { sent_at, is_final: is_final || seen.is_final(self.is_answer) }
            }
            (outcome, _) => outcome,
        }
    }

    /// Calls `close` with the owner as it was seen, and how it compares, if that is what the call left; returns whether it did.
    pub(super) fn closing(&self, close: impl FnOnce(&Map<String, Value>, &Look)) -> bool {
        let is_left = match &self.ended {
            Ok(_) => true,
            Err(failure) => {
                failure.kind == FailureKind::Mismatch
                    || failure.kind == FailureKind::Refused && failure.applied == Applied::Unknown
            }
        };
        let Some(Seen::Shown(document, look)) = self.seen.as_ref().filter(|_| is_left) else { return false };
        close(document, look);
        true
    }
}

/// Looks as the failure requires, and says what its answer counts as; `None` if nothing can have been saved.
async fn look_after_failure(owner: &dyn Owner, effect: &Effect, refused: &Failure) -> Option<(Answer, Seen)> {
    let looking = Looking { owner };
    Some(if owner.says_gone(effect, refused) {
        // The refusal counts only if a read shows the owner gone, too.
        let seen = looking.until_shown(effect).await;
        let is_open = seen.is_after() || refused.applied == Applied::Unknown && seen.lost().is_empty();
        (if is_open { Answer::Unknown } else { Answer::Rejected }, seen)
    } else if refused.applied == Applied::Unknown && !owner.can_prove() {
        (Answer::Unknown, looking.until_shown(effect).await)
    } else if refused.applied == Applied::Unknown {
        (Answer::Unknown, looking.until_proven(effect).await)
    } else if may_be_saved(refused) {
        (Answer::Rejected, looking.after_refusal(effect).await)
    } else {
        return None;
    })
}

fn warn(service: &Service<'_>, owner: &dyn Owner, seen: &Seen, verified: bool) {
    let warnings = owner.warnings(seen).unwrap_or_else(|| {
        let doubt = failure::doubt(owner, seen).filter(|_| !verified);
        doubt.iter().map(|doubt| format!("the change is not verified: {doubt}")).collect()
    });
    for warning in &warnings {
        service.session.report.warn(warning);
    }
}
