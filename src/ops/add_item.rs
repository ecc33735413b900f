//! Adds an item to a quote, in either interface.

pub mod items;
mod note;
mod verification;

use std::borrow::Cow;

use serde_json::{Map, Value};

use self::note::Note;
use self::verification::Verification;
use crate::failure::Failure;
use crate::input::Draft;
use crate::ops::{cart, request, send_request};
use crate::plan::operation::Operation;
use crate::plan::request::Request;
use crate::plan::request::cart::Cart;
use crate::report::outcome::Outcome;
use crate::session::service::Service;

const OPERATION: Operation = Operation::QuoteAddItem;

/// Adds the item, or shows what would be sent.
///
/// # Errors
/// As [`Service::write`]; `usage` for a quote id that is not that of the customer's active cart.
pub async fn perform(service: &Service<'_>, draft: &Draft) -> Result<Outcome, Failure> {
    let verify = draft.verify && !service.session.global.dry_run;
    let target = service.target()?;
    let (request, cart, item) = if target.dialect.carts.is_some() {
        match Box::pin(cart_request(service, draft.clone())).await? {
            Prepared::Item { request, cart, item } => (request, Some(cart), Cow::Owned(item)),
            Prepared::Created(outcome) => return Ok(*outcome),
        }
    } else {
        (request(service, draft)?, None, Cow::Borrowed(&draft.fields))
    };
    let note = Note::write(service, cart, item.get("quote_id").unwrap_or(&Value::Null));
    if !verify {
        let result = send_request(service, OPERATION, request, &item).await;
        note.close(&result);
        return result;
    }
    let verification = Box::pin(Verification::begin(service, cart, &item, &note)).await;
    let verification = verification.inspect_err(|_| note.discard())?;
    let result = send_request(service, OPERATION, request, &item).await;
    note.close(&result);
    Box::pin(verification.conclude(result, &note)).await
}

/// What is sent.
enum Prepared {
    /// The item, to this cart.
    Item { request: Request, cart: u64, item: Map<String, Value> },
    /// Nothing: a dry run ends with the call that would create the cart.
    Created(Box<Outcome>),
}

/// Finds or creates the cart, and completes the item with its id.
async fn cart_request(service: &Service<'_>, mut draft: Draft) -> Result<Prepared, Failure> {
    let target = service.target()?;
    let named = draft.fields.get("quote_id").filter(|id| !id.is_null()).cloned();
    let found =
        if named.is_some() || service.session.global.dry_run { cart::find(service).await? } else { None };
    if let Some(named) = &named {
        ensure_own_cart(named, found)?;
    }
    let cart = match found {
        Some(cart) => cart,
        None if service.session.global.dry_run => {
            service
                .session
                .report
                .warn("there is no active cart yet: this call creates it, and the item follows");
            let preview = service.preview(Cart::new(target, None)?.create());
            return Ok(Prepared::Created(Box::new(Outcome::dry_run(OPERATION.name(), preview))));
        }
        None => cart::find_or_create(service, OPERATION.name()).await?,
    };
    if named.is_none() {
        draft.fields.insert("quote_id".to_owned(), cart.to_string().into());
    }
    let item = draft.fields.clone();
    let request = Cart::new(target, Some(cart))?.add_item(Value::Object(draft.into_body()).to_string());
    Ok(Prepared::Item { request, cart, item })
}

/// The service uses the customer's own cart, whatever cart is named.
fn ensure_own_cart(named: &Value, found: Option<u64>) -> Result<(), Failure> {
    let named = named.as_str().map_or_else(|| named.to_string(), str::to_owned);
    match found {
        Some(cart) if named.trim() == cart.to_string() => Ok(()),
        Some(cart) => Err(Failure::usage(format!(
            "quote `{named}` is not the customer's active cart, which is `{cart}`"
        ))
        .hint("leave out `quote_id`, or give the id of the active cart")),
        None => {
            Err(Failure::usage(format!("quote `{named}` is not the customer's active cart: there is none"))
                .hint("leave out `quote_id`, and a cart is created"))
        }
    }
}
