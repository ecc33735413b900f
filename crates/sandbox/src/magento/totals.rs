//! The totals of a cart.

use serde_json::{Value, json};

use crate::call::Call;
use crate::quantity;
use crate::reply::ApiError;
use crate::store::{Database, Document};

/// GET `carts/{mine|cartId}/totals`.
pub fn show(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    totals(records, call.cart(records)?)
}

/// How many products there are in a cart.
pub fn quantity(records: &Database<'_>, cart: i64) -> Result<Value, ApiError> {
    Ok(amount(records.lines(cart)?.iter().map(|line| number(&line.qty)).sum()))
}

/// The totals of a cart, without taxes and discounts.
pub fn totals(records: &Database<'_>, cart: i64) -> Result<Value, ApiError> {
    let saved = records.shipping(cart)?.unwrap_or_default();
    let mut subtotal = 0.0;
    let mut count = 0.0;
    let mut items = Vec::new();
    for line in records.lines(cart)? {
        let product = records.product(&line.sku)?.ok_or_else(ApiError::crash)?;
        let price = number(&product.price);
        let qty = number(&line.qty);
        subtotal += price * qty;
        count += qty;
        items.push(json!({
            "item_id": line.item_id, "price": amount(price), "base_price": amount(price),
            "qty": quantity::parse(&line.qty),
            "row_total": amount(price * qty), "base_row_total": amount(price * qty),
            "row_total_with_discount": 0,
            "tax_amount": 0, "base_tax_amount": 0, "tax_percent": 0, "discount_amount": 0,
            "base_discount_amount": 0, "discount_percent": 0, "price_incl_tax": amount(price),
            "base_price_incl_tax": amount(price), "row_total_incl_tax": amount(price * qty),
            "base_row_total_incl_tax": amount(price * qty), "options": "[]", "weee_tax_applied_amount": null,
            "weee_tax_applied": null, "name": product.name,
        }));
    }
    let shipping = cost(&saved, count);
    let mut totals = sums(subtotal, shipping);
    totals.insert("items_qty".to_owned(), amount(count));
    totals.insert("items".to_owned(), Value::from(items));
    totals.insert("total_segments".to_owned(), segments(subtotal, shipping, &saved));
    Ok(Value::Object(totals))
}

fn sums(subtotal: f64, shipping: f64) -> Document {
    let mut sums = Document::new();
    let mut both = |name: &str, value: f64| {
        sums.insert(name.to_owned(), amount(value));
        sums.insert(format!("base_{name}"), amount(value));
    };
    both("grand_total", subtotal + shipping);
    both("subtotal", subtotal);
    both("discount_amount", 0.0);
    both("subtotal_with_discount", subtotal);
    both("shipping_amount", shipping);
    both("shipping_discount_amount", 0.0);
    both("tax_amount", 0.0);
    both("shipping_tax_amount", 0.0);
    sums.insert("weee_tax_applied_amount".to_owned(), Value::Null);
    sums.insert("subtotal_incl_tax".to_owned(), amount(subtotal));
    sums.insert("shipping_incl_tax".to_owned(), amount(shipping));
    sums.insert("base_shipping_incl_tax".to_owned(), amount(shipping));
    sums.insert("base_currency_code".to_owned(), json!("USD"));
    sums.insert("quote_currency_code".to_owned(), json!("USD"));
    sums
}

fn segments(subtotal: f64, shipping: f64, saved: &Document) -> Value {
    let title = match title(saved) {
        Some(title) => format!("Shipping & Handling ({title})"),
        None => "Shipping & Handling".to_owned(),
    };
    json!([
        {"code": "subtotal", "title": "Subtotal", "value": amount(subtotal)},
        {"code": "shipping", "title": title, "value": amount(shipping)},
        {"code": "tax", "title": "Tax", "value": 0, "extension_attributes": {"tax_grandtotal_details": []}},
        {
            "code": "grand_total", "title": "Grand Total", "value": amount(subtotal + shipping),
            "area": "footer",
        },
    ])
}

fn number(stored: &str) -> f64 {
    stored.parse().unwrap_or(0.0)
}

/// An amount of money as PHP writes it: to the cent, a whole one without a point.
pub fn amount(value: f64) -> Value {
    // The sum of no items is -0.0; adding zero makes it 0.0.
    let text = format!("{:.2}", value + 0.0);
    let text = text.trim_end_matches('0').trim_end_matches('.');
    text.parse().map_or(Value::Null, Value::Number)
}

/// The flat rate of one item.
const FLAT_RATE: f64 = 5.0;

/// The cost of the saved method for a cart of `count` products.
pub fn cost(saved: &Document, count: f64) -> f64 {
    saved.get("shipping_carrier_code").and_then(Value::as_str).map_or(0.0, |carrier| rate(carrier, count))
}

/// The saved method of a cart, as totals show it.
pub fn title(saved: &Document) -> Option<String> {
    let carrier = saved.get("shipping_carrier_code")?.as_str()?;
    Some(match carrier {
        "flatrate" => "Flat Rate - Fixed".to_owned(),
        other => carrier_title(other).to_owned(),
    })
}

/// The cost of shipping `count` products with a carrier.
pub fn rate(carrier: &str, count: f64) -> f64 {
    if carrier == "flatrate" { FLAT_RATE * count } else { 0.0 }
}

/// The name of a carrier.
pub fn carrier_title(carrier: &str) -> &str {
    match carrier {
        "flatrate" => "Flat Rate",
        "freeshipping" => "Free Shipping",
        "tablerate" => "Best Way",
        "instore" => "In-Store Pickup Delivery",
        other => other,
    }
}
