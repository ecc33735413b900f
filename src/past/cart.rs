//! A cart: what a write changed of it is taken back, where it still is as the write left it.
//!
//! What leads back is computed from what the owner shows now. It is computed once to be shown and asked about, and once more from a
//! read right before each call: a value that was changed meanwhile is left.

use serde_json::Value;

use super::back::{
    Allowed, Deleted, OPERATION, Undoing, agree, ensure_known, nothing, say_left, unchanged_or_nothing,
    whole_or_part,
};
use super::found::Found;
use super::owners;
use crate::client::service::Service;
use crate::ops::calls::Calls;
use crate::ops::cart_owner::CartOwner;
use crate::report::outcome::Outcome;
use crate::write::Call;
use storefront_core::absent::Absent;
use storefront_core::cart::{has_sku, item_id};
use storefront_core::effect::{Document, Effect, Inverse, Left, Sent, composed};
use storefront_core::failure::{Applied, Failure};
use storefront_core::hint::{hint, storefront};
use storefront_core::operation::scalar;
use storefront_core::profile::diff::Change;
use storefront_core::profile::path::List;
use storefront_core::text::exact_json;

/// Takes back what a write changed of carts.
///
/// # Errors
/// `guard` where nothing can be undone, and without the number of what is deleted; `partial` where a part is left; as the calls.
pub async fn undo(service: &Service<'_>, found: &Found, allowed: Allowed) -> Result<Outcome, Failure> {
    let name = found.name();
    let last = found.writes.last().ok_or_else(|| nothing(&name, &[]))?;
    let service = &owners::of_customer(service, last)?;
    ensure_known(found)?;
    let whole = composed(&found.effects()).ok_or_else(|| nothing(&name, &[]))?;
    let cart = read(service, &whole).await?;
    let parts = parts(&whole);
    let mut to_send = Vec::new();
    let mut left = Vec::new();
    let mut shown: Vec<Change> = Vec::new();
    for part in &parts {
        let Back { effect, left: own } = back(part, &cart);
        left.extend(own);
        if !effect.is_empty() {
            shown.extend(effect.differences());
            to_send.push((part, effect));
        }
    }
    say_left(service, &left);
    if to_send.is_empty() {
        return unchanged_or_nothing(&name, &left);
    }
    let deletions: usize = to_send.iter().map(|(_, effect)| effect.deletions()).sum();
    if service.session.global.dry_run {
        return Ok(Outcome { changes: Some(shown), ..Outcome::not_sent(OPERATION) });
    }
    let what = if deletions == 1 { "1 item".to_owned() } else { format!("{deletions} items") };
    let deleted = (deletions > 0).then_some(Deleted { count: deletions, what, unseen: None });
    agree(service, Undoing { name: &name, allowed }, &shown, deleted.as_ref())?;
    let (mut calls, mut verified) = (Calls::new(service, OPERATION), true);
    for (part, _) in to_send {
        // The conditions are those of now.
        let cart = read(service, &whole).await.map_err(|failure| part_left(&calls, failure))?;
        let Back { effect, left: own } = back(part, &cart);
        say_left(service, &own);
        left.extend(own);
        if effect.is_empty() {
            continue;
        }
        let call = call(&cart, effect)?;
        match calls.carry_out(&cart, call).await {
            Ok(written) => verified &= written.verified,
            Err(failure) => {
                let again = hint!("look at the cart with ", storefront("quote show"));
                return Err(calls.failed(failure, &[], Some(again)));
            }
        }
    }
    whole_or_part(&name, &left, Outcome { verified: Some(verified), ..calls.finish() })
}

/// A call failed between others.
fn part_left(calls: &Calls<'_>, failure: Failure) -> Failure {
    if calls.is_applied() { Failure { applied: Applied::Partial, ..failure } } else { failure }
}

/// The cart that was written to, where it is still the active one.
async fn read<'a>(service: &'a Service<'a>, whole: &Effect) -> Result<CartOwner<'a>, Failure> {
    let owner = &whole.owner;
    if service.settings.dialect.carts.is_none() {
        let message = "this interface has no call that sets a cart back";
        return Err(Failure::guard(message).hint("change the cart in the shop"));
    }
    match CartOwner::read_named(service, owner.id.as_deref()).await {
        Ok(cart) => Ok(cart),
        Err(failure) if matches!(failure.absent, Some(Absent::Cart | Absent::Customer)) => {
            Err(Failure::guard(format!("{owner} is not active any more: nothing is undone in another cart"))
                .hint(hint!("the customer's cart is shown by ", storefront("quote show"))))
        }
        Err(failure) => Err(failure),
    }
}

/// Each change of a cart alone: each goes back by a call of its own.
fn parts(whole: &Effect) -> Vec<Effect> {
    let alone = || Effect::on(whole.owner.clone());
    let changes = whole.changes.iter().map(|change| Effect { changes: vec![change.clone()], ..alone() });
    let created = whole.creates.iter().map(|created| Effect { creates: vec![created.clone()], ..alone() });
    changes.chain(created).collect()
}

/// What takes a part back, and what of it is left, in words.
struct Back {
    effect: Effect,
    left: Vec<String>,
}

/// What takes a part back. An item with the same SKU stands for one that was removed, whatever its quantity.
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
    // The rest of the cart is nobody's business here.
    effect.keeps.clear();
    Back { effect, left }
}

/// Why an item is left, as people know it.
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
