//! A cart as an owner of a write. The owner of every effect is the cart's id: what was written to one cart is never
//! looked for in another.

use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use serde_json::{Map, Value};

use crate::client::service::Service;
use crate::client::{LOOK_CLOSER, Reply};
use crate::input::Draft;
use crate::ops::cart::{self, ActiveCart, QUOTE_ID, items_document};
use crate::ops::cart_basis::{self, Part};
use crate::write::owner::{Owner, Shown};
use storefront_core::absent::{Absent, named_in};
use storefront_core::cart::Cart;
use storefront_core::effect::{self, Effect, Kind};
use storefront_core::failure::Failure;
use storefront_core::hint::{Hint, storefront};
use storefront_core::operation::scalar;
use storefront_core::profile::equal::same_flag;
use storefront_core::profile::path::List;

/// A cart, and what was read of it.
pub struct CartOwner<'a> {
    service: &'a Service<'a>,
    /// The calls on it.
    pub cart: Cart<'a>,
    /// Its id.
    pub id: u64,
    /// Its items as they were read.
    pub items: Vec<Value>,
    /// Who the customer is.
    pub customer: Map<String, Value>,
}

impl<'a> CartOwner<'a> {
    /// Reads the active cart, or the one that the draft names, until it shows what our own calls of the last minute left,
    /// for at most `--settle`. A person may continue with one that does not.
    ///
    /// # Errors
    /// `refused` without a cart; `guard` if it does not show that and nobody continues; as [`cart::find`].
    pub async fn read_active(service: &'a Service<'a>, draft: &Draft) -> Result<Self, Failure> {
        let named = scalar(draft.fields.get(QUOTE_ID));
        Self::read_basis(service, named.as_deref()).await
    }

    /// As [`Self::read_active`], for the active cart with this id, or the only one.
    ///
    /// # Errors
    /// As [`Self::read_active`].
    pub async fn read_basis(service: &'a Service<'a>, named: Option<&str>) -> Result<Self, Failure> {
        Self::of(service, cart_basis::find(service, named, Part::Items).await?)
    }

    /// Reads the active cart with this id, or the only one, however old it is.
    ///
    /// # Errors
    /// As [`Self::read_active`].
    pub async fn read_named(service: &'a Service<'a>, named: Option<&str>) -> Result<Self, Failure> {
        Self::of(service, cart::find(service, named).await?)
    }

    fn of(service: &'a Service<'a>, found: Option<ActiveCart>) -> Result<Self, Failure> {
        let target = service.target()?;
        let found = found.ok_or_else(|| cart::no_active_cart(service))?;
        let Some(items) = items_of(&found.shown, found.id) else {
            let message = "the cart was answered without a list of its items";
            return Err(Failure::unexpected_reply(message).hint(LOOK_CLOSER));
        };
        let items = items.clone();
        let customer = found.customer();
        let cart = Cart::new(target, Some(found.id))?;
        Ok(Self { service, cart, id: found.id, items, customer })
    }

    /// An effect on it that changes nothing so far.
    pub fn effect(&self) -> Effect {
        Effect::on(effect::Owner::new(Kind::Cart, self.id))
    }

    /// What was read, as effects see it.
    pub fn document(&self) -> Map<String, Value> {
        items_document(&self.items)
    }
}

impl Owner for CartOwner<'_> {
    fn read(&self) -> LocalBoxFuture<'_, Result<Shown, Failure>> {
        Box::pin(async {
            match self.service.read(&self.cart.read("")).await {
                Ok(reply) => Ok(match items_of(&reply.value, self.id) {
                    Some(items) => Shown::Whole(items_document(items)),
                    None => Shown::Gone(format!("cart {} is not active any more", self.id)),
                }),
                Err(failure) if cart::is_no_cart(&failure) => {
                    Ok(Shown::Gone(format!("cart {} is not active any more", self.id)))
                }
                Err(failure) => Err(failure),
            }
        })
    }

    /// The reply to a changed item is that item; the reply to a removal shows nothing.
    fn in_answer(&self, _: &Effect, reply: &Reply) -> Option<Result<Shown, Failure>> {
        reply.value.get("item_id")?;
        Some(Ok(Shown::Part(items_document(std::slice::from_ref(&reply.value)))))
    }

    fn says_gone(&self, effect: &Effect, refused: &Failure) -> bool {
        let [change] = &effect.changes[..] else { return false };
        let item = change.path.item_id().filter(|_| effect.deletions() == 1).map(|id| id.to_string());
        refused.absent == Some(Absent::CartItem)
            && item.is_some_and(|item| named_in(refused.service.as_ref()) == [self.id.to_string(), item])
    }

    fn settle_time(&self) -> Duration {
        self.service.settings.settle
    }

    fn noun(&self) -> &'static str {
        Kind::Cart.noun()
    }

    fn shown_by(&self) -> Hint {
        storefront("quote show").into()
    }
}

/// The items of a cart if it is this one and active.
fn items_of(shown: &Value, id: u64) -> Option<&Vec<Value>> {
    let is_it = scalar(shown.get("id")) == Some(id.to_string());
    let is_active = same_flag(shown.get("is_active"), Some(&Value::Bool(true)));
    shown.get(List::Items.name())?.as_array().filter(|_| is_it && is_active)
}
