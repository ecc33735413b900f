//! What a shipping method is called and costs.

use serde_json::Value;

use crate::sandbox::store::Document;

/// Flat rate of one item.
const FLAT_RATE: f64 = 5.0;

/// What the method saved on a cart of `count` products costs.
pub fn cost(saved: &Document, count: f64) -> f64 {
    saved.get("shipping_carrier_code").and_then(Value::as_str).map_or(0.0, |carrier| rate(carrier, count))
}

/// The method saved on a cart, as totals write it.
pub fn title(saved: &Document) -> Option<String> {
    let carrier = saved.get("shipping_carrier_code")?.as_str()?;
    Some(match carrier {
        "flatrate" => "Flat Rate - Fixed".to_owned(),
        other => carrier_title(other).to_owned(),
    })
}

/// What `count` products cost to ship with a carrier.
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
