//! Orders: placing one from a cart. The files below have the calls for placed orders.

mod addresses;
mod comments;
mod view;

use serde_json::{Value, json};

use super::customer_view::{ADDRESS_TEXTS, default_id};
use super::{carts, payment, totals};
use crate::call::Call;
use crate::coerce::as_text;
use crate::reply::ApiError;
use crate::store::{Database, Document};

pub use addresses::replace as put_address;
pub use comments::{add as comment, renew_grid};
pub use view::{list, show};

/// State and status of an order that is not paid yet.
const NEW: [&str; 2] = ["new", "pending"];

/// Fields of an address that an order has besides the texts.
const ADDRESS_FIELDS: &[&str] = &["street", "country_id", "region", "region_id", "customer_address_id"];

/// PUT `carts/{mine|cartId}/order`: the id of the order, as text. It ends the cart.
pub fn place(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let cart = call.cart(records)?;
    let customer = records.quote(cart)?.map_or(0, |(customer, _)| customer);
    let mut saved = records.shipping(cart)?.unwrap_or_default();
    if !call.sent.is_empty() {
        payment::check(records, &call.sent)?;
        saved.insert("paymentMethod".to_owned(), Value::Object(call.sent));
    }
    if records.lines(cart)?.is_empty() {
        let message =
            "A server error stopped your order from being placed. Please try to place your order again.";
        return Err(ApiError::new(400, message));
    }
    let [billing, shipping] = addresses(records, customer, &saved)?;
    if saved.get("paymentMethod").is_none_or(|payment| payment["method"].is_null()) {
        return Err(ApiError::new(400, "Enter a valid payment method and try again."));
    }
    let order = records.add_order(Some(customer), NEW, &body(records, cart, customer, &saved)?)?;
    for item in items(records, cart)? {
        records.add_order_item(order, &item)?;
    }
    records.add_order_address(order, "billing", &billing)?;
    records.add_order_address(order, "shipping", &shipping)?;
    records.put_shipping(cart, &saved)?;
    records.end_quote(cart)?;
    renew_grid(records, order)?;
    Ok(order.to_string().into())
}

/// The billing and the shipping address of the order; 400 if the cart lacks one, or a method. Without a billing address
/// in the cart, it is the customer's default.
fn addresses(records: &Database<'_>, customer: i64, saved: &Document) -> Result<[Document; 2], ApiError> {
    let of_cart = |name: &str| saved.get(name).and_then(Value::as_object).cloned();
    let missing = |kind: &str| ApiError::new(400, &format!("Please check the {kind} address information."));
    let shipping = of_cart("shipping_address").ok_or_else(|| missing("shipping"))?;
    if saved.get("shipping_carrier_code").is_none_or(Value::is_null) {
        let message = "The shipping method is missing. Select the shipping method and try again.";
        return Err(ApiError::new(400, message));
    }
    let owner = records.customer(customer)?;
    let billing = match of_cart("billing_address") {
        Some(billing) => Some(billing),
        None => default_billing(records, customer, &owner)?,
    };
    let billing = billing.ok_or_else(|| missing("billing"))?;
    Ok([billing, shipping].map(|address| stored(address, &owner)))
}

/// The customer's default billing address in the form of a cart's: with the region as a text.
fn default_billing(
    records: &Database<'_>,
    customer: i64,
    owner: &Document,
) -> Result<Option<Document>, ApiError> {
    let chosen = default_id(owner, "default_billing");
    let found = records.addresses(customer)?.into_iter().find(|address| Some(address.id) == chosen);
    Ok(found.map(|mut address| {
        let region = address.body.get("region").map(|region| region["region"].clone());
        address.body.insert("region".to_owned(), region.unwrap_or_default());
        address.body.insert("customer_address_id".to_owned(), address.id.into());
        address.body
    }))
}

/// An address in the form of an order's. The code of its region is not among its fields.
fn stored(mut address: Document, owner: &Document) -> Document {
    let email = address.get("email").or_else(|| owner.get("email")).cloned().unwrap_or_default();
    address.retain(|name, value| {
        let is_field = ADDRESS_TEXTS.contains(&name.as_str()) || ADDRESS_FIELDS.contains(&name.as_str());
        is_field && !value.is_null() && *value != json!(0)
    });
    address.insert("email".to_owned(), email);
    address
}

/// The fields of the order itself: customer, totals, shipping and payment.
fn body(records: &Database<'_>, cart: i64, customer: i64, saved: &Document) -> Result<Document, ApiError> {
    let owner = records.customer(customer)?;
    let totals = totals::totals(records, cart)?;
    let of_owner = |name: &str| owner.get(name).cloned().unwrap_or_default();
    let code = |name: &str| saved.get(name).map(as_text).unwrap_or_default();
    let payment = &saved["paymentMethod"];
    let mut methods = records.payment_methods()?.into_iter();
    let title =
        methods.find(|method| method["code"] == payment["method"]).map(|method| method["title"].clone());
    let mut body = json!({
        "customer_email": of_owner("email"), "customer_firstname": of_owner("firstname"),
        "customer_lastname": of_owner("lastname"), "customer_group_id": of_owner("group_id"),
        "customer_is_guest": 0, "is_virtual": 0, "store_id": 1, "quote_id": cart,
        "base_currency_code": "USD", "order_currency_code": "USD",
        "total_qty_ordered": totals["items_qty"], "total_item_count": records.lines(cart)?.len(),
        "total_due": totals["grand_total"],
        "shipping_method": format!("{}_{}", code("shipping_carrier_code"), code("shipping_method_code")),
        "shipping_description": totals::title(saved),
        "payment": {"method": payment["method"], "additional_information": [title]},
    });
    for name in ["grand_total", "subtotal", "shipping_amount", "tax_amount", "discount_amount"] {
        body[name] = totals[name].clone();
        body[format!("base_{name}")] = totals[name].clone();
    }
    Ok(body.as_object().cloned().unwrap_or_default())
}

/// The items of the order: those of the cart, with their totals.
fn items(records: &Database<'_>, cart: i64) -> Result<Vec<Document>, ApiError> {
    let of_totals = totals::totals(records, cart)?;
    let shown = carts::items(records, cart)?;
    let rows =
        shown.as_array().into_iter().flatten().zip(of_totals["items"].as_array().into_iter().flatten());
    let items = rows.map(|(item, row)| {
        let mut ordered = json!({
            "quote_item_id": item["item_id"], "sku": item["sku"], "name": item["name"],
            "product_type": item["product_type"], "price": item["price"], "base_price": item["price"],
            "qty_ordered": item["qty"], "qty_invoiced": 0, "qty_shipped": 0, "row_total": row["row_total"], "base_row_total": row["row_total"],
        });
        if let Some(options) = item.get("product_option") {
            ordered["product_option"] = options.clone();
        }
        ordered.as_object().cloned().unwrap_or_default()
    });
    Ok(items.collect())
}
