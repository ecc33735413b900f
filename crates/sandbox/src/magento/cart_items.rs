//! Items of a cart.

use serde_json::{Value, json};

use super::carts;
use crate::Version;
use crate::call::{Call, active_cart};
use crate::coerce::as_text;
use crate::marketplace::quote;
use crate::reply::ApiError;
use crate::store::{Database, Document, Product, QuoteLine};

/// The most of one product in a cart, by Magento's default.
const MOST: i64 = 10_000;

/// GET `carts/{mine|cartId}/items`.
pub fn list(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    carts::items(records, call.cart(records)?)
}

/// POST `carts/{mine|cartId}/items`. The own call uses the own cart and ignores `quote_id`; any other uses the cart that
/// `quote_id` names, and its path only has to be a number.
pub fn add(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    if call.is_own {
        return add_to(records, call.cart(records)?, &call);
    }
    add_to(records, named_cart(records, &call)?, &call)
}

/// The cart that `quote_id` names. It takes precedence over the one in the path, which only has to be a number.
fn named_cart(records: &Database<'_>, call: &Call) -> Result<i64, ApiError> {
    call.id(0)?;
    let named = call.sent.get("quote_id").map(as_text).unwrap_or_default();
    if named.is_empty() {
        return Err(ApiError::required("quoteId"));
    }
    let cart = named.parse().map_err(|_| ApiError::no_such_entity("cartId", named.as_str()))?;
    active_cart(records, cart)
}

/// PUT `carts/{mine|cartId}/items/{itemId}`, with the same rule for the cart. SKU, price and name are ignored; other
/// options make it another item.
pub fn replace(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let cart = if call.is_own { call.cart(records)? } else { named_cart(records, &call)? };
    let item = call.id(1)?;
    let line = records.lines(cart)?.into_iter().find(|line| line.item_id == item);
    // Here the cart is what `quote_id` holds, a text.
    let line = line.ok_or_else(|| no_item(&json!(cart.to_string()), item))?;
    let qty = quantity(&call.sent)?;
    let product = records.product(&line.sku)?.ok_or_else(ApiError::crash)?;
    check_stock(&product, qty, call.version)?;
    let options = match call.sent.get("product_option") {
        None | Some(Value::Null) => line.options.clone(),
        Some(_) => quote::canonical_options(&quote::choice(records, &product, &call.sent)?),
    };
    let qty = qty.to_string();
    if options == line.options {
        records.put_quantity(item, &qty)?;
        quote::lose_others(records, &call.struck, cart, Some(item))?;
        return carts::item(records, cart, &QuoteLine { qty, ..line });
    }
    records.remove_line(item)?;
    let item_id = records.add_line(cart, &line.sku, &options, &qty)?;
    quote::lose_others(records, &call.struck, cart, Some(item_id))?;
    carts::item(records, cart, &QuoteLine { item_id, options, qty, ..line })
}

fn no_item(cart: &Value, item: i64) -> ApiError {
    ApiError::new(404, "The %1 Cart doesn't contain the %2 item.").with(json!([cart, item]))
}

/// DELETE `carts/{mine|cartId}/items/{itemId}`.
pub fn remove(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let cart = call.cart(records)?;
    let item = call.id(1)?;
    if !records.lines(cart)?.iter().any(|line| line.item_id == item) {
        return Err(no_item(&json!(cart), item));
    }
    records.remove_line(item)?;
    quote::lose_others(records, &call.struck, cart, None)?;
    Ok(json!(true))
}

fn add_to(records: &Database<'_>, cart: i64, call: &Call) -> Result<Value, ApiError> {
    let sent = &call.sent;
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
    check_stock(&product, present + added, call.version)?;
    let qty = (present + added).to_string();
    let line = match line {
        Some(line) => {
            records.put_quantity(line.item_id, &qty)?;
            QuoteLine { qty, ..line }
        }
        None => QuoteLine { item_id: records.add_line(cart, &sku, &options, &qty)?, sku, options, qty },
    };
    quote::lose_others(records, &call.struck, cart, Some(line.item_id))?;
    carts::item(records, cart, &line)
}

/// An integer; a number that is not above zero counts as one, and so does null.
fn quantity(sent: &Document) -> Result<i64, ApiError> {
    let qty = match sent.get("qty") {
        None => return Err(ApiError::invalid_value("qty", &Value::Null)),
        Some(qty) => qty.as_f64().unwrap_or(0.0),
    };
    if qty <= 0.0 {
        return Ok(1);
    }
    if qty.fract() != 0.0 {
        return Err(ApiError::new(400, "You cannot use decimal quantity for this product."));
    }
    // A quantity beyond the largest that is allowed is refused below.
    #[allow(clippy::cast_possible_truncation)]
    Ok(qty.min(1e9) as i64)
}

fn check_stock(product: &Product, qty: i64, version: Version) -> Result<(), ApiError> {
    if qty > MOST {
        return Err(ApiError::new(400, "The requested qty exceeds the maximum qty allowed in shopping cart"));
    }
    if qty > product.stock {
        return Err(ApiError::new(
            400,
            match version {
                Version::V247 => "The requested qty is not available",
                Version::V248 | Version::V249 => "Not enough items for sale",
            },
        ));
    }
    Ok(())
}

/// A stored quantity; a fraction, from the other interface, is rounded down.
fn whole(stored: &str) -> i64 {
    stored.split('.').next().and_then(|whole| whole.parse().ok()).unwrap_or(0)
}
