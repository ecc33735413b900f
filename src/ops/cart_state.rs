//! Sets a cart to a state (docs/interface.md, "Carts set to a state"): the cart is read, and one call, or one for each
//! item, changes it.

use serde_json::Value;

use crate::client::service::Service;
use crate::input::Draft;
use crate::journal::Ahead;
use crate::ops::calls::{Calls, Planned, preview};
use crate::ops::cart_owner::CartOwner;
use crate::ops::seen_earlier;
use crate::report::outcome::{ChangedOutcome, Outcome};
use crate::write::{self, Call, Written};
use storefront_core::absent::Absent;
use storefront_core::cart::{find_item, item_id, item_state};
use storefront_core::effect::{Before, Change, Effect, Sent, composed};
use storefront_core::failure::{Applied, Failure};
use storefront_core::hint::{hint, storefront};
use storefront_core::interface::request::Request;
use storefront_core::operation::{
    OperationSpec, QUOTE_CLEAR, QUOTE_REMOVE_ITEM, QUOTE_SET_ITEM, Success, scalar,
};
use storefront_core::profile::diff::ensure_planned_in;
use storefront_core::profile::path::FieldPath;

/// The field of an item's quantity.
const QTY: &str = "qty";

/// Sets the quantity of an item, or shows the call. Nothing is sent again.
///
/// # Errors
/// `usage` for an item that is not in the cart; `refused` without a cart; as [`write::carry_out`].
pub async fn set_item(service: &Service<'_>, draft: &Draft) -> Result<Outcome, Failure> {
    let owner = CartOwner::read_active(service, draft).await?;
    let item = find_item(&owner.items, &draft.fields)?;
    let id = item_id(item).unwrap_or_default();
    let qty = quantity(draft);
    let change = Change {
        path: FieldPath::item(id).member(QTY),
        before: Before::Read(item.get(QTY).cloned()),
        sent: Sent::Value(Some(qty.clone())),
        seen: None,
    };
    let request = owner.cart.set_item(id, qty)?;
    set(service, &owner, draft, &QUOTE_SET_ITEM, (item, change, request)).await
}

/// Removes an item, or shows the call, by the same rules. A person must agree.
///
/// # Errors
/// As [`set_item`]; `cancelled`, or `guard` if nobody can be asked.
pub async fn remove_item(service: &Service<'_>, draft: &Draft) -> Result<Outcome, Failure> {
    let owner = CartOwner::read_active(service, draft).await?;
    let item = find_item(&owner.items, &draft.fields)?;
    let request = owner.cart.remove_item(item_id(item).unwrap_or_default());
    set(service, &owner, draft, &QUOTE_REMOVE_ITEM, (item, removal(item), request)).await
}

/// The change that removes an item.
fn removal(item: &Value) -> Change {
    let path = FieldPath::item(item_id(item).unwrap_or_default());
    Change { path, before: Before::Read(Some(item_state(item))), sent: Sent::Value(None), seen: None }
}

/// Makes the change of one item, or shows the call.
async fn set(
    service: &Service<'_>,
    owner: &CartOwner<'_>,
    draft: &Draft,
    operation: &'static OperationSpec,
    (item, change, request): (&Value, Change, Request),
) -> Result<Outcome, Failure> {
    let what = named(item);
    if !change.tells(&[]) {
        let unchanged = Some(format!("{what} has this quantity already"));
        let reason = Some("unchanged");
        let changed = Some(ChangedOutcome::default());
        return Ok(Outcome { reason, changed, unchanged, ..Outcome::not_sent(operation.name) });
    }
    let effect = Effect { changes: vec![change], ..owner.effect() };
    let of_cart = of_cart(owner, &effect);
    ensure_planned(draft, owner, &of_cart)?;
    if service.session.global.dry_run {
        let shown = Outcome::dry_run(operation.name, service.preview(request));
        return Ok(Outcome { changed: Some(of_cart), ..shown });
    }
    if operation.deletes {
        let question = format!("Remove {what} from cart {}?", owner.id);
        service.session.prompt().confirm_deletion(&question)?;
    }
    let text = said(&what, owner.id, &effect);
    let call = Call::new(operation.name, request, effect);
    let Written { reply, status, verified, .. } =
        write::carry_out(service, operation.name, owner, call).await?;
    Ok(Outcome {
        applied: Applied::Yes,
        status,
        response: reply.map(|reply| reply.value),
        changed: Some(of_cart),
        verified: Some(verified),
        success: Some(Success { text, covers_response: true }),
        ..Outcome::not_sent(operation.name)
    })
}

/// Removes all items, one call each, or shows the calls. A person must agree.
///
/// # Errors
/// As [`set_item`]; `partial` if some items were removed; `cancelled`, or `guard` if nobody can be asked.
pub async fn clear(service: &Service<'_>, draft: &Draft) -> Result<Outcome, Failure> {
    let owner = CartOwner::read_active(service, draft).await?;
    let name = QUOTE_CLEAR.name;
    let call = |item: &Value| {
        let request = owner.cart.remove_item(item_id(item)?);
        let effect = Effect { changes: vec![removal(item)], ..owner.effect() };
        // The cart is read once, after the last of them.
        Some(Call {
            is_looked_at_later: true,
            ..Call::new(format!("remove {}", named(item)), request, effect)
        })
    };
    let mut calls: Vec<Call> = owner.items.iter().filter_map(call).collect();
    let effects: Vec<Effect> = calls.iter().map(|call| call.effect.clone()).collect();
    let Some(mut whole) = composed(&effects) else {
        let unchanged = Some(format!("cart {} is empty already", owner.id));
        let reason = Some("unchanged");
        let changed = Some(ChangedOutcome::default());
        return Ok(Outcome { reason, changed, unchanged, ..Outcome::not_sent(name) });
    };
    let of_cart = of_cart(&owner, &whole);
    ensure_planned(draft, &owner, &of_cart)?;
    let planned: Vec<Planned> = calls.iter().map(|call| (call.name.clone(), call.request.clone())).collect();
    if service.session.global.dry_run {
        return Ok(Outcome { changed: Some(of_cart), ..preview(service, name, planned) });
    }
    let count = if calls.len() == 1 { "1 item".to_owned() } else { format!("all {} items", calls.len()) };
    service.session.prompt().confirm_deletion(&format!("Remove {count} from cart {}?", owner.id))?;
    write::gate(service, name, &mut calls, None).await?;
    let mut sent = Calls::new(service, name);
    let mut left = Vec::new();
    for call in calls {
        match sent.carry_out(&owner, call).await {
            Ok(written) => left.extend(written.left),
            Err(failure) => {
                let again = hint!(
                    "look at the cart with ",
                    storefront("quote show"),
                    "; the command again removes what is left"
                );
                return Err(sent.failed(failure, &planned, Some(again)));
            }
        }
    }
    let done = sent.finish();
    let verified = write::verify(service, &owner, &mut whole, None, &left).await?;
    let text = format!("Removed {count} from cart {}", owner.id);
    let success = Some(Success { text, covers_response: true });
    Ok(Outcome { changed: Some(of_cart), verified: Some(verified), success, ..done })
}

/// Refuses a change other than the planned one.
fn ensure_planned(draft: &Draft, owner: &CartOwner<'_>, of_cart: &ChangedOutcome) -> Result<(), Failure> {
    let Some(expected) = &draft.expect else { return Ok(()) };
    let document = owner.document();
    ensure_planned_in(&expected.changes, &of_cart.changes, |path| {
        storefront_core::effect::Document(&document).at(path).cloned()
    })
}

fn of_cart(owner: &CartOwner<'_>, effect: &Effect) -> ChangedOutcome {
    ChangedOutcome { changes: effect.differences(), owner: owner.customer.clone() }
}

/// The cart that earlier writes changed; `None` if it is not active any more. Another cart of the customer says nothing
/// about them.
async fn written_to<'a>(
    service: &'a Service<'a>,
    effects: &[Effect],
) -> Result<Option<CartOwner<'a>>, Failure> {
    let Some(id) = effects.last().and_then(|effect| effect.owner.id.as_deref()) else { return Ok(None) };
    match CartOwner::read_named(service, Some(id)).await {
        Ok(owner) => Ok(Some(owner)),
        Err(failure) if matches!(failure.absent, Some(Absent::Cart | Absent::Customer)) => Ok(None),
        Err(failure) => Err(failure),
    }
}

/// Whether the cart shows what a record of an earlier run was to change; `None` while that is unknown.
///
/// # Errors
/// If the cart cannot be read.
pub async fn resolve_unknown(
    service: &Service<'_>,
    operation: &'static OperationSpec,
    ahead: &Ahead,
) -> Result<Option<Outcome>, Failure> {
    let effects = ahead.effects();
    let Some(owner) = written_to(service, &effects).await? else { return Ok(None) };
    seen_earlier(service, operation, &ahead.writes, &owner.document())
}

/// An item for people: its id and SKU.
fn named(item: &Value) -> String {
    let sku = scalar(item.get("sku")).unwrap_or_default();
    format!("item {} ({sku})", item_id(item).unwrap_or_default())
}

/// The quantity as a number, which the interface also takes as text.
fn quantity(draft: &Draft) -> Value {
    let given = draft.fields.get(QTY).cloned().unwrap_or_default();
    let number = given.as_str().and_then(|text| serde_json::from_str(text.trim()).ok());
    number.map_or(given, Value::Number)
}

fn said(what: &str, cart: u64, effect: &Effect) -> String {
    if effect.deletions() > 0 {
        return format!("Removed {what} from cart {cart}");
    }
    let change = effect.differences().into_iter().next();
    let side = |value: Option<Value>| scalar(value.as_ref()).unwrap_or_default();
    let (before, after) = change.map_or((None, None), |change| (change.before, change.after));
    format!("Set {what} of cart {cart} from {} to {}", side(before), side(after))
}
