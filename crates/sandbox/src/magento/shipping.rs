//! Shipping methods, and saving addresses and method on a cart.

use serde_json::{Value, json};

use super::customer_view::{ADDRESS_TEXTS, default_id, storable};
use super::directory::Region;
use super::totals::{carrier_title, rate};
use super::{directory, totals};
use crate::call::Call;
use crate::coerce::as_text;
use crate::marketplace::quote;
use crate::reply::ApiError;
use crate::store::{Database, Document};

/// GET `carts/{mine|cartId}/shipping-methods`: to the shipping address of the cart, which it has only after shipping
/// information was saved.
pub fn methods(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let cart = call.cart(records)?;
    let saved = records.shipping(cart)?.unwrap_or_default();
    let address = saved.get("shipping_address").and_then(Value::as_object);
    if !records.lines(cart)?.is_empty() && address.and_then(country).is_none() {
        return Err(no_address());
    }
    methods_of(records, cart)
}

/// POST `carts/{mine|cartId}/estimate-shipping-methods-by-address-id`: to an address of the cart's customer.
pub fn estimate(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let cart = call.cart(records)?;
    let sent = call.sent.get("addressId").or_else(|| call.sent.get("address_id"));
    let sent = sent.map(as_text).ok_or_else(|| ApiError::required("addressId"))?;
    let customer = records.quote(cart)?.map(|(customer, _)| customer);
    let owner = sent.parse().ok().map(|id| records.address_owner(id)).transpose()?.flatten();
    if customer.is_none() || owner != customer {
        return Err(no_address());
    }
    methods_of(records, cart)
}

/// POST `carts/{mine|cartId}/estimate-shipping-methods`: to the address in the body, which is not saved.
pub fn estimate_to(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    methods_of(records, call.cart(records)?)
}

fn no_address() -> ApiError {
    ApiError::new(400, "The shipping address is missing. Set the address and try again.")
}

fn methods_of(records: &Database<'_>, cart: i64) -> Result<Value, ApiError> {
    if records.lines(cart)?.is_empty() {
        return Ok(json!([]));
    }
    let count = totals::quantity(records, cart)?.as_f64().unwrap_or(0.0);
    let mut methods = Vec::new();
    for (carrier, method, title) in records.carrier_methods()? {
        let cost = totals::amount(rate(&carrier, count));
        methods.push(json!({
            "carrier_code": carrier, "method_code": method, "carrier_title": carrier_title(&carrier),
            "method_title": title, "amount": cost, "base_amount": cost, "available": true,
            "error_message": "", "price_excl_tax": cost, "price_incl_tax": cost,
        }));
    }
    Ok(Value::from(methods))
}

/// POST `carts/{mine|cartId}/shipping-information`: saves both addresses and the method, but no payment, which has a call
/// of its own. An unknown carrier or method is refused after the addresses were saved.
pub fn save(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let cart = call.cart(records)?;
    let sent = &call.sent;
    if records.lines(cart)?.is_empty() {
        let message =
            "The shipping method can't be set for an empty cart. Add an item to cart and try again.";
        return Err(ApiError::new(400, message));
    }
    let customer = records.quote(cart)?.map_or(0, |(customer, _)| customer);
    let address = sent.get("shipping_address").and_then(Value::as_object);
    let address = address.filter(|address| country(address).is_some()).ok_or_else(no_address)?;
    let code = |name: &str| sent.get(name).map(as_text).filter(|code| !code.is_empty());
    let (Some(carrier), Some(method)) = (code("shipping_carrier_code"), code("shipping_method_code")) else {
        let message = "The shipping method is missing. Select the shipping method and try again.";
        return Err(ApiError::new(404, message));
    };
    let billing = sent.get("billing_address").and_then(Value::as_object);
    if let Some(objection) = objection(records, customer, address, billing)? {
        let message = "The shipping information was unable to be saved. Error: \"%message\"";
        return Err(ApiError::new(400, message).with(json!({"message": objection})));
    }
    let mut saved = records.shipping(cart)?.unwrap_or_default();
    let shipping = stored(address, saved.get("shipping_address"));
    saved.insert("shipping_address".to_owned(), Value::Object(shipping));
    if let Some(billing) = billing {
        let first = default_billing(records, customer)?;
        let billing = stored(billing, saved.get("billing_address").or(first.as_ref()));
        saved.insert("billing_address".to_owned(), Value::Object(billing));
    }
    let is_known = records.carrier_method_exists(&carrier, &method)?;
    for (name, code) in [("shipping_carrier_code", &carrier), ("shipping_method_code", &method)] {
        saved.insert(name.to_owned(), if is_known { json!(code) } else { Value::Null });
    }
    records.put_shipping(cart, &saved)?;
    if !is_known {
        let refusal = ApiError::new(404, "Carrier with such method not found: %1, %2");
        return Err(refusal.with(json!([carrier, method])).after_saving());
    }
    quote::lose_others(records, &call.struck, cart, None)?;
    let totals = totals::totals(records, cart)?;
    Ok(json!({"payment_methods": records.payment_methods()?, "totals": totals}))
}

/// Magento's sentence about addresses that it cannot save.
fn objection(
    records: &Database<'_>,
    customer: i64,
    shipping: &Document,
    billing: Option<&Document>,
) -> Result<Option<String>, ApiError> {
    let is_known = |address: &Document| country(address).is_none_or(|code| directory::exists(&code));
    if !is_known(shipping) {
        return Ok(Some("The address failed to save. Verify the address and try again.".to_owned()));
    }
    if billing.is_some_and(|billing| !is_known(billing)) {
        return Ok(Some("Invalid country code".to_owned()));
    }
    for address in std::iter::once(shipping).chain(billing) {
        if let Some(objection) = check_book_id(records, address, customer)? {
            return Ok(Some(objection));
        }
    }
    Ok(None)
}

/// The texts of the customer's default billing address, which are the first billing address of a cart.
fn default_billing(records: &Database<'_>, customer: i64) -> Result<Option<Value>, ApiError> {
    let chosen = default_id(&records.customer(customer)?, "default_billing");
    let found = records.addresses(customer)?.into_iter().find(|address| Some(address.id) == chosen);
    Ok(found.map(|mut address| {
        address.body.retain(|name, _| ADDRESS_TEXTS.contains(&name.as_str()));
        Value::Object(address.body)
    }))
}

/// The stored form of an address: the fields that are sent, those of the `earlier` one that are not, and the region as
/// Magento resolves it. An empty text clears a field.
pub fn stored(sent: &Document, earlier: Option<&Value>) -> Document {
    let mut address = earlier.and_then(Value::as_object).cloned().unwrap_or_default();
    for (name, value) in sent.iter().filter(|(_, value)| !value.is_null()) {
        let value = match value {
            Value::String(text) if text.is_empty() => Value::Null,
            Value::String(text) => Value::from(storable(text)),
            Value::Array(lines) if name == "street" => {
                lines.iter().map(|line| Value::from(storable(&as_text(line)))).collect()
            }
            other => other.clone(),
        };
        address.insert(name.clone(), value);
    }
    let region = region(sent).or_else(|| earlier.and_then(Value::as_object).and_then(region_of));
    for (name, value) in ["region", "region_id", "region_code"].into_iter().zip(region.unwrap_or_default()) {
        address.insert(name.to_owned(), value);
    }
    address
}

/// Name, id and code. An id takes precedence over a code, which counts only if the country has it; nothing is refused.
fn region(address: &Document) -> Option<[Value; 3]> {
    let text = |name: &str| address.get(name).map(as_text).filter(|text| !text.is_empty());
    let country = text("country_id").unwrap_or_default();
    let of_country = directory::regions(&country);
    let id = address.get("region_id").and_then(Value::as_i64).filter(|id| *id != 0);
    if let Some(id) = id {
        let found = of_country.iter().find(|region| region.0 == id);
        return Some(match found {
            Some(Region(id, code, name)) => [json!(name), json!(id), json!(code)],
            None => [json!(text("region")), json!(id), Value::Null],
        });
    }
    if let Some(code) = text("region_code") {
        let found = of_country.iter().find(|region| region.1 == code);
        return Some(match found {
            Some(Region(id, code, name)) => [json!(name), json!(id), json!(code)],
            None => [json!(text("region")), Value::Null, Value::Null],
        });
    }
    text("region").map(|name| [json!(name), Value::Null, Value::Null])
}

fn region_of(stored: &Document) -> Option<[Value; 3]> {
    let parts =
        ["region", "region_id", "region_code"].map(|name| stored.get(name).cloned().unwrap_or_default());
    parts.iter().any(|part| !part.is_null()).then_some(parts)
}

/// The country of an address that is sent, if it has one.
pub fn country(sent: &Document) -> Option<String> {
    sent.get("country_id").map(as_text).filter(|code| !code.is_empty())
}

/// The sentence against a book address that is not this customer's.
pub fn check_book_id(
    records: &Database<'_>,
    sent: &Document,
    customer: i64,
) -> Result<Option<String>, ApiError> {
    match sent.get("customer_address_id").and_then(Value::as_i64).filter(|id| *id != 0) {
        Some(id) if records.address_owner(id)? != Some(customer) => {
            Ok(Some(format!("Invalid customer address id {id}")))
        }
        _ => Ok(None),
    }
}
