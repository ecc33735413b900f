//! What the one way to write needs to know of the thing that a call changes.

use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use serde_json::{Map, Value};

use super::seen::Seen;
use super::verdict::Verdict;
use crate::client::{CHECK_BEFORE_RETRY, Reply};
use storefront_core::effect::{Effect, Look};
use storefront_core::failure::{Applied, Failure};
use storefront_core::hint::Hint;

/// What a read, or an answer, shows of an owner.
#[derive(Debug, Clone)]
pub enum Shown {
    /// All of it.
    Whole(Map<String, Value>),
    /// What the call changed of it; it says nothing of the rest.
    Part(Map<String, Value>),
    /// It is not there any more, in words.
    Gone(String),
}

/// A kind of thing that calls change: how it is read, and what is said of it.
pub trait Owner {
    /// Reads it.
    fn read(&self) -> LocalBoxFuture<'_, Result<Shown, Failure>>;

    /// What the answer to a call shows of it; `None` if the answer is not a read.
    fn in_answer(&self, _effect: &Effect, _reply: &Reply) -> Option<Result<Shown, Failure>> {
        None
    }

    /// Whether an answer that is a read is the last look, whatever it shows.
    fn is_answer_the_last_look(&self) -> bool {
        false
    }

    /// Whether a refusal says that the thing to be removed, of this owner, is not there.
    fn says_gone(&self, _effect: &Effect, _refused: &Failure) -> bool {
        false
    }

    /// Whether it can be read; if not, the answer of the service is all that is known.
    fn is_readable(&self) -> bool {
        true
    }

    /// Why an answer of success does not prove that the call was applied.
    fn doubt(&self, _effect: &Effect, _reply: &Reply) -> Option<Failure> {
        None
    }

    /// Adds to a failure what is known of its cause.
    fn explained(&self, failure: Failure) -> Failure {
        failure
    }

    /// What a refusal alone says of the call, so that no look is needed.
    fn told(&self, _refused: &Failure) -> Option<Applied> {
        None
    }

    /// Notes in the effect of a call the ids that its answer, or a read after a lost answer, shows.
    fn note_ids(&self, _effect: &mut Effect, _shown: &Value) {}

    /// Whether a look that shows the change after an unknown outcome proves the call. It does not if another client may
    /// have made the same change.
    fn can_prove(&self) -> bool {
        true
    }

    /// Whether a read that lags behind would show the change, too: it was so before a write of the last minute.
    fn was_so_before(&self) -> bool {
        false
    }

    /// What was there before and is there now, in the owner's own words; without a document, that it could not be read.
    fn compared(&self, _shown: Option<&Map<String, Value>>) -> Option<String> {
        None
    }

    /// The failure of a call that was not applied as it was sent, in the owner's own words.
    fn failed(
        &self,
        _verdict: Verdict,
        _seen: &Seen,
        _answer: Option<&Failure>,
        _status: Option<u16>,
    ) -> Option<Failure> {
        None
    }

    /// The warnings about a call that was applied, as it was seen, in the owner's own words.
    fn warnings(&self, _seen: &Seen) -> Option<Vec<String>> {
        None
    }

    /// The command that takes back what may have been written.
    fn undo(&self) -> Option<Hint> {
        None
    }

    /// Compares what is shown with an effect.
    fn look(&self, effect: &Effect, shown: &Map<String, Value>) -> Look {
        effect.look(shown)
    }

    /// How long to look until it shows a change.
    fn settle_time(&self) -> Duration;

    /// What it is called in messages: `cart`.
    fn noun(&self) -> &'static str;

    /// The command that shows it to a person.
    fn shown_by(&self) -> Hint;
}

/// A thing that no call reads.
pub struct Unread {
    /// What it is called in messages.
    pub noun: &'static str,
}

impl Owner for Unread {
    fn read(&self) -> LocalBoxFuture<'_, Result<Shown, Failure>> {
        Box::pin(std::future::ready(Err(Failure::internal(format!("no call reads the {}", self.noun)))))
    }

    fn is_readable(&self) -> bool {
        false
    }

    fn settle_time(&self) -> Duration {
        Duration::ZERO
    }

    fn noun(&self) -> &'static str {
        self.noun
    }

    fn shown_by(&self) -> Hint {
        CHECK_BEFORE_RETRY.into()
    }
}
