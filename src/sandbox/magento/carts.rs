//! Carts: making, reading and finding them.

use serde_json::{Value, json};

use super::call::Call;
use super::customer_search::{field_text, fits};
use super::{active_cart, cart_view, search_criteria};
use crate::sandbox::reply::{ApiError, Reply};
use crate::sandbox::store::Database;

/// Fields that can be searched.
const FIELDS: &[&str] = &["customer_id", "entity_id", "is_active", "store_id"];

/// POST `carts/mine`: the same id again where there is an active cart.
pub fn create_own(records: &Database<'_>, call: Call) -> Result<Reply, ApiError> {
    create(records, call.own_customer()?)
}

/// POST `customers/{customerId}/carts`.
pub fn create_for(records: &Database<'_>, call: Call) -> Result<Reply, ApiError> {
    let customer = call.id(0)?;
    if !records.customer_exists(customer)? {
        return Err(ApiError::no_such_entity("customerId", customer));
    }
    create(records, customer)
}

fn create(records: &Database<'_>, customer: i64) -> Result<Reply, ApiError> {
    let id = match records.active_quote(customer)? {
        Some(id) => id,
        None => records.add_quote(customer)?,
    };
    Ok(Reply::ok(json!(id)))
}

/// GET `carts/mine`.
pub fn show_own(records: &Database<'_>, call: Call) -> Result<Reply, ApiError> {
    let customer = call.own_customer()?;
    let cart =
        records.active_quote(customer)?.ok_or_else(|| ApiError::no_such_entity("customerId", customer))?;
    cart_view::cart(records, cart).map(Reply::ok)
}

/// GET `carts/{cartId}`.
pub fn show(records: &Database<'_>, call: Call) -> Result<Reply, ApiError> {
    cart_view::cart(records, active_cart::named(records, &call)?).map(Reply::ok)
}

/// GET `carts/search`.
pub fn search(records: &Database<'_>, call: Call) -> Result<Reply, ApiError> {
    let criteria = search_criteria::parse(&call.query)?;
    criteria.check_fields(FIELDS)?;
    let mut found = Vec::new();
    for (id, customer) in records.quotes()? {
        let is_active = records.quote(id)?.is_some_and(|(_, is_active)| is_active);
        let searched: Value = json!({"entity_id": id, "customer_id": customer, "is_active": i32::from(is_active), "store_id": 1});
        if criteria.holds(|field| field_text(&searched, field), fits) {
            found.push(cart_view::cart(records, id)?);
        }
    }
    Ok(Reply::ok(criteria.answer(found)))
}
