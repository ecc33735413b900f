//! Comments of an order, which renew the list of the admin panel.

use serde_json::{Value, json};

use super::view::existing;
use crate::call::Call;
use crate::coerce::as_text;
use crate::reply::ApiError;
use crate::store::{Database, Document, StoreResult};

/// POST `orders/{orderId}/comments`: `true`. The comment may be empty, and each call adds one.
pub fn add(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let order = existing(records, call.id(0)?)?;
    let current = records.order(order)?.and_then(|order| order.get("status").cloned()).unwrap_or_default();
    let status = call.sent.get("status").filter(|status| !status.is_null()).unwrap_or(&current);
    if *status != current {
        let message = "Unable to add comment: The status \"%1\" is not part of the order status history.";
        return Err(ApiError::new(400, message).with(json!([status])));
    }
    let mut comment = Document::from_iter([("status".to_owned(), status.clone())]);
    let value = |name: &str| call.sent.get(name).cloned().unwrap_or_default();
    comment.insert("comment".to_owned(), as_text(&value("comment")).into());
    comment.insert("entity_name".to_owned(), "order".into());
    for name in ["is_customer_notified", "is_visible_on_front"] {
        comment.insert(name.to_owned(), value(name));
    }
    records.add_order_comment(order, &comment)?;
    renew_grid(records, order)?;
    Ok(json!(true))
}

/// Puts the addresses of an order into the list of the admin panel, which no other call but a save of the order does.
pub fn renew_grid(records: &Database<'_>, order: i64) -> StoreResult<()> {
    let addresses = records.order_addresses(order)?;
    let of = |kind: &str| {
        let address = addresses.iter().find(|address| address["address_type"] == kind);
        let parts = ["street", "city", "region", "postcode"].into_iter();
        let parts = parts.filter_map(|name| match address?.get(name)? {
            Value::Array(lines) => Some(lines.iter().map(as_text).collect::<Vec<_>>().join(" ")),
            value => Some(as_text(value)),
        });
        parts.collect::<Vec<_>>().join(",")
    };
    records.put_order_in_grid(order, [&of("billing"), &of("shipping")])
}
