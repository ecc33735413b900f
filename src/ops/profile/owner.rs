//! A profile from which an address is removed by a call of its own, as the one way to write sees it.

use std::cell::RefCell;
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use serde_json::{Map, Value};

use super::messages;
use super::verify::Sent;
use crate::write::owner::{Owner, Shown};
use storefront_core::absent::{Absent, named_in};
use storefront_core::effect::{Document, Effect, Look};
use storefront_core::failure::Failure;
use storefront_core::hint::{Hint, storefront};
use storefront_core::id::AddressId;
use storefront_core::profile::path::{FieldPath, List};
use storefront_core::profile::stored::Profile;

/// A profile, and the address that a call removes from it.
pub struct Removal<'a> {
    sent: &'a Sent<'a>,
    id: AddressId,
    /// What the last look showed.
    last: RefCell<Option<Profile>>,
}

impl<'a> Removal<'a> {
    /// The removal of this address.
    pub fn new(sent: &'a Sent<'a>, id: AddressId) -> Self {
        Self { sent, id, last: RefCell::default() }
    }

    /// Keeps what the last look showed as what is there now.
    pub fn note_read(&self) {
        if let Some(last) = self.last.take() {
            self.sent.note_shown(last);
        }
    }
}

impl Owner for Removal<'_> {
    fn read(&self) -> LocalBoxFuture<'_, Result<Shown, Failure>> {
        Box::pin(async {
            let now = self.sent.fetch().await?;
            let shown = now.customer().clone();
            self.last.replace(Some(now));
            Ok(Shown::Whole(shown))
        })
    }

    /// The path of the call names no customer: the message has no more than the address.
    fn says_gone(&self, _: &Effect, refused: &Failure) -> bool {
        refused.absent == Some(Absent::Entity)
            && named_in(refused.service.as_ref()) == ["addressId".to_owned(), self.id.to_string()]
    }

    /// An address that is there is not removed, whatever else has changed of it. What else the call changes, the default that it
    /// was, goes with it.
    fn look(&self, effect: &Effect, shown: &Map<String, Value>) -> Look {
        let keeps = Effect { keeps: effect.keeps.clone(), ..Effect::on(effect.owner.clone()) };
        let is_there = Document(shown).at(&FieldPath::address(self.id)).is_some();
        let sides = usize::from(is_there);
        Look { before: sides, after: 1 - sides, ..keeps.look(shown) }
    }

    fn compared(&self, shown: Option<&Map<String, Value>>) -> Option<String> {
        let id = self.id;
        Some(match shown.map(|shown| Document(shown).element(List::Addresses, id.0).is_some()) {
            Some(true) => format!("address {id} is still there"),
            Some(false) => format!("address {id} was removed"),
            None => format!("whether address {id} was removed is not known"),
        })
    }

    fn settle(&self) -> Duration {
        self.sent.settle
    }

    fn noun(&self) -> &'static str {
        "profile"
    }

    fn look_hint(&self) -> Hint {
        storefront("customer show").into()
    }

    fn undo(&self) -> Option<Hint> {
        Some(messages::restore(self.sent.write).into())
    }
}
