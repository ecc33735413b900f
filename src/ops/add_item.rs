//! Adds an item to a quote, in either interface, and compares the cart before and after (docs/interface.md, "Adding an
//! item").

use std::borrow::Cow;
use std::cell::RefCell;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::client::service::Service;
use crate::input::Draft;
use crate::ops::added_item::{AddedItem, items_of};
use crate::ops::cart::{self, QUOTE_ID};
use crate::ops::cart_basis::{self, Part};
use crate::ops::request;
use crate::report::outcome::Outcome;
use crate::write::{self, Call, Written};
use storefront_core::cart::Cart;
use storefront_core::failure::{Applied, Failure};
use storefront_core::interface::request::Request;
use storefront_core::operation::{QUOTE_ADD_ITEM, Success, scalar};

const OPERATION: &str = QUOTE_ADD_ITEM.name;

/// Adds the item, or shows what would be sent; with `verify` the cart is read before and after. The request is never
/// repeated: after an unknown outcome the message says what the cart held before, if that was read, and what it holds
/// now.
///
/// # Errors
/// As [`write::carry_out`]; `usage` for a quote id other than that of the customer's active cart; `guard` for another
/// cart than the planned one.
pub async fn perform(service: &Service<'_>, draft: &Draft, verify: bool) -> Result<Outcome, Failure> {
    let is_dry = service.session.global.dry_run;
    let mut draft = Cow::Borrowed(draft);
    let prepared = if service.settings.dialect.carts.is_some() {
        Box::pin(prepare(service, draft.to_mut(), verify)).await?
    } else {
        prepare_quote(service, &draft, verify && !is_dry).await?
    };
    let Prepared { request, before, read, made, planned_owner } = prepared;
    if is_dry {
        let shown = Outcome::dry_run(OPERATION, service.preview(request));
        return Ok(Outcome { planned_owner, ..shown });
    }
    let item = &draft.fields;
    let line = RefCell::default();
    let settle = if verify { service.settings.settle } else { Duration::ZERO };
    let owner = AddedItem { service, item, before, read, settle, line };
    let failed = |failure| failed(service, &owner, made, failure);
    if let Some(id) = scalar(item.get(QUOTE_ID)) {
        cart_basis::ensure_none_cut_short(service, &id, |effect| owner.is_added_by(effect))?;
    }
    // The answer shows only its own line, not the whole cart.
    let call = Call { is_looked_at_later: true, ..Call::new(OPERATION, request, owner.effect()) };
    let written = write::carry_out(service, OPERATION, &owner, call).await.map_err(failed)?;
    let Written { reply, status, mut effect, left, .. } = written;
    let verified = if verify {
        owner.line.replace(reply.as_ref().and_then(|reply| scalar(reply.value.get("item_id"))));
        let verified = write::verify(service, &owner, &mut effect, reply.as_ref(), left.as_slice()).await;
        Some(verified.map_err(|failure| cart::with_hint(service, failure))?)
    } else {
        None
    };
    let response = reply.map(|reply| reply.value);
    // Only people read it.
    let is_read = !service.session.report.is_json();
    let success = response.as_ref().filter(|_| is_read).and_then(|reply| added(item, reply));
    let outcome = Outcome::not_sent(OPERATION);
    Ok(Outcome { applied: Applied::Yes, status, response, verified, success, ..outcome })
}

/// An addition before it is sent.
struct Prepared {
    request: Request,
    /// What the cart held before, if that was read.
    before: Option<Vec<Value>>,
    /// The call that reads it, if there is one.
    read: Option<Request>,
    /// The note about a cart that was created for it.
    made: Option<&'static str>,
    /// The cart that a plan names.
    planned_owner: Map<String, Value>,
}

/// Finds or creates the cart, and names it in the item. The cart is read only if something else needs the read: otherwise
/// the call that creates a cart gives its id.
async fn prepare(service: &Service<'_>, draft: &mut Draft, verify: bool) -> Result<Prepared, Failure> {
    let target = service.target()?;
    let is_dry = service.session.global.dry_run;
    let named = scalar(draft.fields.get(QUOTE_ID));
    let is_guarded = cart::is_planned(draft) || cart::earlier_cart(service).is_some();
    let is_read = named.is_some() || verify || is_dry || target.customer.is_some() || is_guarded;
    let found = if is_read { cart_basis::find(service, named.as_deref(), Part::Items).await? } else { None };
    cart::ensure_planned(service, draft, found.as_ref())?;
    let planned_owner = cart::planned_owner(found.as_ref());
    let (id, shown, made) = match (found, &named) {
        (Some(cart), _) => (cart.id, Some(cart.shown), None),
        (None, Some(named)) => return Err(no_cart_named(named)),
        (None, None) if is_dry => {
            let warning = "there is no active cart yet: this call creates it, and the item follows";
            service.session.report.warn(warning);
            let request = Cart::new(target, None)?.create();
            return Ok(Prepared { request, before: None, read: None, made: None, planned_owner });
        }
        (None, None) => {
            let id = cart::create(service, OPERATION).await?;
            if is_read {
                service.made_carts.borrow_mut().insert(id);
                match cart_basis::find_made(service, id).await? {
                    Some(cart) => (id, Some(cart.shown), None),
                    None => (id, Some(Value::Array(Vec::new())), Some("an empty cart was made for it")),
                }
            } else {
                (id, None, Some("an empty cart was made for it if there was none"))
            }
        }
    };
    if named.is_none() {
        draft.fields.insert(QUOTE_ID.to_owned(), id.to_string().into());
    }
    let cart = Cart::new(target, Some(id))?;
    let before = shown.as_ref().and_then(items_of).cloned();
    let request = cart.add_item(draft.body_text());
    let read = Some(cart.read("/items"));
    Ok(Prepared { request, before, read, made, planned_owner })
}

/// The addition to a quote of the marketplace, whose lines are read if a setting names the path that shows them.
async fn prepare_quote(service: &Service<'_>, draft: &Draft, is_read: bool) -> Result<Prepared, Failure> {
    let quote = scalar(draft.fields.get(QUOTE_ID)).unwrap_or_default();
    let read = cart::quote_request(service, &service.target()?, &quote);
    let lines = async || quote_lines(service, read.as_ref()).await;
    let before = if is_read { Some(cart_basis::read_lines(service, &quote, lines).await?) } else { None };
    let request = request(service, draft, service.settings.dialect.add_item)?;
    Ok(Prepared { request, before, read: read.ok(), made: None, planned_owner: Map::new() })
}

async fn quote_lines(service: &Service<'_>, read: Result<&Request, &Failure>) -> Result<Vec<Value>, Failure> {
    let read = read.map_err(Clone::clone)?;
    let not_read = |message| format!("the cart could not be read before the item is added: {message}");
    let reply = service.read(read).await;
    let shown = reply.map_err(|failure| Failure { message: not_read(failure.message), ..failure })?.value;
    items_of(&shown).cloned().ok_or_else(|| {
        Failure::unexpected_reply("the response has no list of items")
            .hint("check the setting `read.quote-path` and what -vv shows of the answer")
    })
}

/// Completes the failure of an addition that was not made, or whose outcome is not known.
fn failed(
    service: &Service<'_>,
    owner: &AddedItem<'_>,
    made: Option<&'static str>,
    failure: Failure,
) -> Failure {
    let failure = if owner.read.is_some() {
        cart::with_hint(service, failure)
    } else {
        cart::with_hint_to_check(service, failure)
    };
    match made.filter(|_| failure.applied == Applied::No) {
        Some(made) => Failure { message: format!("{}; {made}", failure.message), ..failure },
        None => failure,
    }
}

fn added(asked: &Map<String, Value>, reply: &Value) -> Option<Success> {
    let quote = scalar(asked.get(QUOTE_ID)).map_or_else(|| "the cart".to_owned(), |id| format!("quote {id}"));
    let text = format!("Added {} × {} to {quote}", scalar(asked.get("qty"))?, scalar(asked.get("sku"))?);
    let Some(item) = scalar(reply.get("item_id")) else {
        return Some(Success { text, covers_response: false });
    };
    // The service answers with the line of the cart, whose quantity includes what was there before.
    let text = match scalar(reply.get("qty")) {
        Some(total) => format!("{text} (item {item}, now {total} in the cart)"),
        None => format!("{text} (item {item})"),
    };
    Some(Success { text, covers_response: true })
}

fn no_cart_named(named: &str) -> Failure {
    Failure::usage(format!("quote `{named}` is not the customer's active cart, which does not exist"))
        .hint("leave out --quote-id, and a cart is created")
}
