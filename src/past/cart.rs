//! Takes back what a write changed of a cart, if it is still as the write left it.
//!
//! The way back is computed from what the cart shows now: once to be shown and asked about, and again from a read right
//! before each call.

use futures_util::future::LocalBoxFuture;
use serde_json::Value;

use super::back::{self, Deleted, OPERATION, Plan, Subject};
use crate::client::service::Service;
use crate::ops::calls::{Calls, preview};
use crate::ops::cart_owner::CartOwner;
use crate::report::outcome::Outcome;
use crate::state::LockName;
use crate::write::Call;
use storefront_core::absent::Absent;
use storefront_core::cart::{has_sku, item_id};
use storefront_core::effect::{Document, Effect, Inverse, Left, Sent};
use storefront_core::failure::{Applied, Failure};
use storefront_core::hint::{hint, storefront};
use storefront_core::operation::scalar;
use storefront_core::profile::path::List;
use storefront_core::text::exact_json;

/// A cart whose items go back to what they were.
pub struct CartSubject<'a> {
    /// The service, with the customer whose cart it is.
    pub service: &'a Service<'a>,
    /// What was changed.
    pub whole: Effect,
}

impl Subject for CartSubject<'_> {
    fn lock(&self) -> Option<LockName> {
        None
    }

    fn plan(&self) -> LocalBoxFuture<'_, Result<Plan<'_>, Failure>> {
        Box::pin(async {
            let cart = match self.read().await? {
                Ok(cart) => cart,
                Err(why) => return Ok(Err(vec![why])),
            };
            let mut to_send = Vec::new();
            let mut left = Vec::new();
            for part in parts(&self.whole) {
                let Back { effect, left: own } = back(&part, &cart);
                left.extend(own);
                if !effect.is_empty() {
                    to_send.push((part, effect));
                }
            }
            if to_send.is_empty() {
                return Ok(Err(left));
            }
            let planned = to_send.iter().map(|(_, effect)| {
                let call = call(&cart, effect.clone())?;
                Ok((call.name, call.request))
            });
            let planned = planned.collect::<Result<_, Failure>>()?;
            Ok(Ok(back::Back {
                changes: to_send.iter().flat_map(|(_, effect)| effect.differences()).collect(),
                left,
                warnings: Vec::new(),
                deleted: deleted(to_send.iter().map(|(_, effect)| effect.deletions()).sum()),
                preview: preview(self.service, OPERATION, planned),
                send: Box::pin(self.send(to_send.into_iter().map(|(part, _)| part).collect())),
            }))
        })
    }
}

impl CartSubject<'_> {
    /// The cart that was written to if it is still the active one; else why it is left.
    async fn read(&self) -> Result<Result<CartOwner<'_>, String>, Failure> {
        let owner = &self.whole.owner;
        match CartOwner::read_basis(self.service, owner.id.as_deref()).await {
            Ok(cart) => Ok(Ok(cart)),
            Err(failure) if matches!(failure.absent, Some(Absent::Cart | Absent::Customer)) => {
                Ok(Err(format!("{owner} is not active any more, and nothing is undone in another cart")))
            }
            Err(failure) => Err(failure),
        }
    }

    /// Sends a call for each part, computed from a read right before it.
    async fn send(&self, parts: Vec<Effect>) -> Result<Outcome, Failure> {
        let mut calls = Calls::new(self.service, OPERATION);
        let mut verified = true;
        for part in &parts {
            let again = || Some(hint!("look at the cart with ", storefront("quote show")));
            let changed = |why: String| Failure::guard(why).applied(Applied::No);
            let cart = match self.read().await {
                Ok(Ok(cart)) => cart,
                Ok(Err(why)) => return Err(calls.failed(changed(why), &[], again())),
                Err(failure) => return Err(calls.failed(failure.applied(Applied::No), &[], again())),
            };
            let Back { effect, left } = back(part, &cart);
            if let Some(why) = left.into_iter().next() {
                return Err(calls.failed(changed(why), &[], again()));
            }
            if effect.is_empty() {
                continue;
            }
            match calls.carry_out(&cart, call(&cart, effect)?).await {
                Ok(written) => verified &= written.verified,
                Err(failure) => return Err(calls.failed(failure, &[], again())),
            }
        }
        Ok(Outcome { verified: Some(verified), ..calls.finish() })
    }
}

/// What is removed, in words.
fn deleted(count: usize) -> Option<Deleted> {
    let what = if count == 1 { "1 item".to_owned() } else { format!("{count} items") };
    (count > 0).then_some(Deleted { count, what, unseen: None })
}

/// The changes of a cart, separately: a call of its own takes each back.
fn parts(whole: &Effect) -> Vec<Effect> {
    let alone = || Effect::on(whole.owner.clone());
    let changes = whole.changes.iter().map(|change| Effect { changes: vec![change.clone()], ..alone() });
    let created = whole.creates.iter().map(|created| Effect { creates: vec![created.clone()], ..alone() });
    changes.chain(created).collect()
}

/// The call back for a part, and what is left of the part, in words.
struct Back {
    effect: Effect,
    left: Vec<String>,
}

/// Computes the way back for a part. An item with the same SKU counts as one that was removed, whatever its quantity.
fn back(part: &Effect, cart: &CartOwner<'_>) -> Back {
    let document = cart.document();
    let Inverse { mut effect, left } = part.inverse(&document);
    let mut left: Vec<String> = left.iter().map(|left| in_words(left, cart)).collect();
    effect.creates.retain(|created| {
        let sku = scalar(created.content.get("sku")).unwrap_or_default();
        let is_simple = created.content.get("product_type").is_none();
        let has_options = created.content.get("product_option").is_some();
        let is_there = Document(&document).elements(List::Items).any(|(_, item)| has_sku(item, &sku));
        let why = match (is_there, is_simple || has_options) {
            (true, _) => "is in the cart again",
            (false, false) => "is not added again: what was chosen of the product is not known",
            (false, true) => return true,
        };
        left.push(format!("{sku} {why}"));
        false
    });
    // The rest of the cart does not matter here.
    effect.keeps.clear();
    Back { effect, left }
}

/// Why an item is left, in people's words.
fn in_words(left: &Left, cart: &CartOwner<'_>) -> String {
    let id = left.path.item_id().unwrap_or_default();
    match cart.items.iter().find(|item| item_id(item) == Some(id)) {
        Some(item) => {
            let [sku, qty] = ["sku", "qty"].map(|name| scalar(item.get(name)).unwrap_or_default());
            format!("item {id} ({sku}) {}: its quantity is {qty}", left.why)
        }
        None if left.path.item_id().is_some() => format!("item {id} is no longer in the cart"),
        None => left.to_string(),
    }
}

/// The call that takes a part back.
fn call(cart: &CartOwner<'_>, effect: Effect) -> Result<Call, Failure> {
    if let Some(created) = effect.creates.first() {
        let mut item = created.content.as_object().cloned().unwrap_or_default();
        item.shift_remove("product_type");
        item.insert("quote_id".to_owned(), cart.id.to_string().into());
        let sku = scalar(item.get("sku")).unwrap_or_default();
        let body = exact_json::object([("cartItem", Value::Object(item))]).to_string();
        return Ok(Call::new(format!("add {sku}"), cart.cart.add_item(body), effect));
    }
    let change = effect.changes.first().ok_or_else(|| Failure::internal("there is nothing to send"))?;
    let id = change.path.item_id().unwrap_or_default();
    Ok(match &change.sent {
        Sent::Value(Some(qty)) => {
            let request = cart.cart.set_item(id, qty.clone())?;
            Call::new(format!("set item {id}"), request, effect)
        }
        _ => Call::new(format!("remove item {id}"), cart.cart.remove_item(id), effect),
    })
}
