//! Asks for an item of the cart and its new quantity, if the command line does not name them.

use clap::Args;
use serde_json::{Map, Value};

use super::questions;
use crate::cli::command_line::flag;
use crate::client::service::Service;
use crate::ops::customers::with_id;
use crate::ops::{Operation, cart};
use crate::prompt::{Objection, Question};
use crate::report::fields::format_value;
use storefront_core::cart::{find_item, item_id};
use storefront_core::failure::{Failure, FailureKind};
use storefront_core::hint::{hint, storefront};
use storefront_core::lint;
use storefront_core::operation::scalar;

/// What is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Answers {
    /// The item and its quantity.
    ItemAndQuantity,
    /// The item.
    Item,
}

/// Asks for what the flags do not name, runs the command with the answers, and prints the outcome.
///
/// # Errors
/// [`Failure::cancelled`] when the person leaves; whatever goes wrong with the command.
pub async fn run<A: Args + Operation>(
    service: &Service<'_>,
    named: &Map<String, Value>,
    answers: Answers,
) -> Result<(), Failure> {
    let service = &with_id(service).await?;
    let (item, is_asked) = choose(service, named).await?;
    let mut line = service.typed();
    if is_asked {
        line = line.with(flag("item", &item_id(&item).unwrap_or_default().to_string()));
    }
    if answers == Answers::ItemAndQuantity && !named.contains_key("qty") {
        line = line.with(flag("qty", &quantity(service, &item)?));
    }
    questions::run::<A>(service, line).await
}

/// The item that the flags name, or that a person chooses, and whether it was asked for.
async fn choose(service: &Service<'_>, named: &Map<String, Value>) -> Result<(Value, bool), Failure> {
    let found = cart::find(service, scalar(named.get("quote_id")).as_deref()).await?;
    let items = found.as_ref().and_then(|cart| cart.shown["items"].as_array());
    let items = items.filter(|items| !items.is_empty()).ok_or_else(|| {
        let none = Failure::new(FailureKind::Refused, "the customer has no active cart with items");
        none.hint(hint!("add one with ", storefront("quote add-item")))
    })?;
    if ["item_id", "sku"].iter().any(|name| named.contains_key(*name)) {
        return find_item(items, named).map(|item| (item.clone(), false));
    }
    let line = |item: &Value| {
        let member = |name: &str| format_value(item.get(name));
        format!("{} × {}  {} {}", member("qty"), member("sku"), member("name"), member("item_id"))
    };
    let lines: Vec<String> = items.iter().map(line).collect();
    let chosen = service.session.prompt().select("Which item?", &lines, 0)?;
    Ok((items[chosen.ok_or_else(Failure::cancelled)?].clone(), true))
}

/// Asks for the new quantity; returns it as typed.
fn quantity(service: &Service<'_>, item: &Value) -> Result<String, Failure> {
    // The field begins empty, so that a digit is not added to a text: 5 must not become 25.
    let text = format!("New quantity (now {})", format_value(item.get("qty")));
    let question = Question { text: &text, ..Question::default() };
    let check = |text: &str| Objection::unless(lint::is_quantity(text.trim()), "enter a number above 0");
    let typed = service.session.prompt().text(&question, check)?;
    Ok(typed.ok_or_else(Failure::cancelled)?.trim().to_owned())
}
