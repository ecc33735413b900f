//! What a success is called, for a person: what was asked for, with what the reply tells of it.

use serde_json::{Map, Value};

use crate::plan::operation::Operation;
use crate::plan::same_attribute::in_reply;
use crate::report::outcome::Success;
use crate::sanitize::sanitize_line;

/// The success of an operation with this body; `None` where its outcome speaks for itself.
pub fn describe(operation: Operation, body: &Map<String, Value>, reply: &Value) -> Option<Success> {
    let inner =
        operation.wrapper().and_then(|name| body.get(name)).and_then(Value::as_object).unwrap_or(body);
    match operation {
        Operation::AttributeCreate => attribute(inner, reply),
        Operation::QuoteAddItem => cart_item(inner, reply),
        Operation::QuoteShip => {
            Some(Success { text: "Saved the shipping information".to_owned(), covers_response: false })
        }
        Operation::CustomerUpdate => None,
    }
}

fn attribute(asked: &Map<String, Value>, reply: &Value) -> Option<Success> {
    let stored = in_reply(reply.clone());
    let code = stored.as_ref().and_then(|stored| scalar(stored.get("attribute_code")));
    let text = format!("Created attribute {}", code.or_else(|| scalar(asked.get("attribute_code")))?);
    let id = stored.as_ref().and_then(|stored| scalar(stored.get("attribute_id")));
    Some(match id {
        Some(id) => Success { text: format!("{text} (id {id})"), covers_response: true },
        None => Success { text, covers_response: false },
    })
}

fn cart_item(asked: &Map<String, Value>, reply: &Value) -> Option<Success> {
    let quote =
        scalar(asked.get("quote_id")).map_or_else(|| "the cart".to_owned(), |id| format!("quote {id}"));
    let text = format!("Added {} × {} to {quote}", scalar(asked.get("qty"))?, scalar(asked.get("sku"))?);
    let Some(item) = scalar(reply.get("item_id")) else {
        return Some(Success { text, covers_response: false });
    };
    // The service answers with the line of the cart, which holds what was in it before, too.
    let text = match scalar(reply.get("qty")) {
        Some(total) => format!("{text} (item {item}, now {total} in the cart)"),
        None => format!("{text} (item {item})"),
    };
    Some(Success { text, covers_response: true })
}

/// A number or a text on one line.
fn scalar(value: Option<&Value>) -> Option<String> {
    match value? {
        Value::String(text) if !text.is_empty() => Some(sanitize_line(text)),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}
