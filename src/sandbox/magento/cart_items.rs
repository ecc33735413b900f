//! Items of a cart.

use serde_json::{Value, json};

use super::call::Call;
use super::coerce::{self, as_text};
use super::fields::CART_ITEM;
use super::{active_cart, carts};
use crate::sandbox::marketplace::quote;
use crate::sandbox::reply::{ApiError, Reply};
use crate::sandbox::store::{Database, Document, Product, QuoteLine};

/// Most of one product in a cart, as Magento is delivered.
const MOST: i64 = 10_000;

/// GET `carts/mine/items`.
pub fn list_own(records: &Database<'_>, call: Call) -> Result<Reply, ApiError> {
    carts::items(records, active_cart::own(records, &call)?).map(Reply::ok)
}

/// GET `carts/{cartId}/items`.
pub fn list(records: &Database<'_>, call: Call) -> Result<Reply, ApiError> {
    carts::items(records, active_cart::named(records, &call)?).map(Reply::ok)
}

/// POST `carts/mine/items`. `quote_id` counts for nothing: the own cart is used.
///
/// Magento writes the own cart's id into `cartItem` before it looks for the parameter, so `cart_item` is never seen.
pub fn add_own(records: &Database<'_>, mut call: Call) -> Result<Reply, ApiError> {
    let cart = active_cart::own(records, &call)?;
    let sent = forced_item(&mut call)?;
    add_to(records, cart, &sent)
}

/// POST `carts/{cartId}/items`. The cart is the one that `quote_id` names; the path only has to be a number.
pub fn add(records: &Database<'_>, mut call: Call) -> Result<Reply, ApiError> {
    call.id(0)?;
    let sent = call.parameter("cartItem", &CART_ITEM)?;
    let named = sent.get("quote_id").map(as_text).unwrap_or_default();
    if named.is_empty() {
        return Err(ApiError::required("quoteId"));
    }
    let cart = named.parse().map_err(|_| ApiError::no_such_entity("cartId", named.as_str()))?;
    add_to(records, active_cart::active(records, cart)?, &sent)
}

/// PUT `carts/mine/items/{itemId}`.
pub fn change_own(records: &Database<'_>, mut call: Call) -> Result<Reply, ApiError> {
    let cart = active_cart::own(records, &call)?;
    let sent = forced_item(&mut call)?;
    change_in(records, cart, call.id(0)?, &sent)
}

/// PUT `carts/{cartId}/items/{itemId}`.
pub fn change(records: &Database<'_>, mut call: Call) -> Result<Reply, ApiError> {
    let cart = active_cart::named(records, &call)?;
    let sent = call.parameter("cartItem", &CART_ITEM)?;
    change_in(records, cart, call.id(1)?, &sent)
}

/// DELETE `carts/mine/items/{itemId}`.
pub fn remove_own(records: &Database<'_>, call: Call) -> Result<Reply, ApiError> {
    let cart = active_cart::own(records, &call)?;
    remove_from(records, cart, call.id(0)?)
}

/// DELETE `carts/{cartId}/items/{itemId}`.
pub fn remove(records: &Database<'_>, call: Call) -> Result<Reply, ApiError> {
    let cart = active_cart::named(records, &call)?;
    remove_from(records, cart, call.id(1)?)
}

fn forced_item(call: &mut Call) -> Result<Document, ApiError> {
    match call.body.shift_remove("cartItem") {
        None | Some(Value::Null) => Ok(Document::new()),
        Some(value) => coerce::object(value, &CART_ITEM),
    }
}

fn add_to(records: &Database<'_>, cart: i64, sent: &Document) -> Result<Reply, ApiError> {
    let added = quantity(sent)?;
    let sku = sent.get("sku").map(as_text).filter(|sku| !sku.is_empty()).ok_or_else(ApiError::crash)?;
    let unknown = || {
        ApiError::new(404, "The product that was requested doesn't exist. Verify the product and try again.")
    };
    let sku = records.sku_in_any_case(&sku)?.ok_or_else(unknown)?;
    let product = records.product(&sku)?.ok_or_else(unknown)?;
    let options = quote::canonical_options(&quote::choice(records, &product, sent)?);
    let line = records.line(cart, &sku, &options)?;
    let present = line.as_ref().map_or(0, |line| whole(&line.qty));
    check_stock(&product, present + added)?;
    let qty = (present + added).to_string();
    let line = match line {
        Some(line) => {
            records.put_quantity(line.item_id, &qty)?;
            QuoteLine { qty, ..line }
        }
        None => QuoteLine { item_id: records.add_line(cart, &sku, &options, &qty)?, sku, options, qty },
    };
    carts::item(records, cart, &line).map(Reply::ok)
}

fn change_in(records: &Database<'_>, cart: i64, item: i64, sent: &Document) -> Result<Reply, ApiError> {
    let qty = quantity(sent)?;
    let missing = || {
        ApiError::new(404, "The %1 Cart doesn't contain the %2 item.").with(json!([cart.to_string(), item]))
    };
    let line = records.lines(cart)?.into_iter().find(|line| line.item_id == item).ok_or_else(missing)?;
    let product = records.product(&line.sku)?.ok_or_else(missing)?;
    check_stock(&product, qty)?;
    records.put_quantity(item, &qty.to_string())?;
    carts::item(records, cart, &QuoteLine { qty: qty.to_string(), ..line }).map(Reply::ok)
}

fn remove_from(records: &Database<'_>, cart: i64, item: i64) -> Result<Reply, ApiError> {
    if !records.lines(cart)?.iter().any(|line| line.item_id == item) {
        return Err(ApiError::new(404, "The %1 Cart doesn't contain the %2 item.").with(json!([cart, item])));
    }
    records.remove_line(item)?;
    Ok(Reply::ok(json!(true)))
}

/// An integer; what is not above zero counts as one.
fn quantity(sent: &Document) -> Result<i64, ApiError> {
    let qty = match sent.get("qty") {
        None | Some(Value::Null) => return Err(ApiError::invalid_value("qty", &Value::Null)),
        Some(qty) => qty.as_f64().unwrap_or(0.0),
    };
    if qty <= 0.0 {
        return Ok(1);
    }
    if qty.fract() != 0.0 {
        return Err(ApiError::new(400, "You cannot use decimal quantity for this product."));
    }
    // A quantity beyond the largest that is allowed is refused below, however far beyond.
    #[allow(clippy::cast_possible_truncation)]
    Ok(qty.min(1e9) as i64)
}

fn check_stock(product: &Product, qty: i64) -> Result<(), ApiError> {
    if qty > MOST {
        return Err(ApiError::new(400, "The requested qty exceeds the maximum qty allowed in shopping cart"));
    }
    if qty > product.stock {
        return Err(ApiError::new(400, "The requested qty is not available"));
    }
    Ok(())
}

/// A stored quantity; one with a fraction, from the other interface, counts as the whole below it.
fn whole(stored: &str) -> i64 {
    stored.split('.').next().and_then(|whole| whole.parse().ok()).unwrap_or(0)
}
