//! What the one way to write needs to know of the thing that a call changes.

use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use serde_json::{Map, Value};

use crate::client::Reply;
use storefront_core::effect::{Effect, Look};
use storefront_core::failure::Failure;
use storefront_core::hint::Hint;

/// What a read, or an answer, shows of an owner.
#[derive(Debug, Clone)]
pub enum Shown {
    /// All of it.
    Whole(Map<String, Value>),
    /// What the call changed of it; nothing is said of the rest.
    Part(Map<String, Value>),
    /// It is not there any more, in words.
    Gone(String),
}

/// A kind of thing that calls change: how it is read, and what is said of it.
pub trait Owner {
    /// Reads it.
    fn read(&self) -> LocalBoxFuture<'_, Result<Shown, Failure>>;

    /// What the answer to a call shows of it; `None` where an answer is no read.
    fn in_answer(&self, _effect: &Effect, _reply: &Reply) -> Option<Shown> {
        None
    }

    /// Whether a refusal says that what was to be removed is not there: that thing, of this owner.
    fn says_gone(&self, _effect: &Effect, _refused: &Failure) -> bool {
        false
    }

    /// Compares what is shown with an effect.
    fn look(&self, effect: &Effect, shown: &Map<String, Value>) -> Look {
        effect.look(shown)
    }

    /// How long it is looked at until it shows a change.
    fn settle(&self) -> Duration;

    /// What it is called in messages: `cart`.
    fn noun(&self) -> &'static str;

    /// The command that shows it, for whoever has to look.
    fn look_hint(&self) -> Hint;
}
