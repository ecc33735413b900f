//! Carts: creating, reading and finding them, and how Magento shows them.

use serde_json::{Value, json};

use super::customers::existing;
use super::{customer_view, search, totals};
use crate::call::Call;
use crate::coerce::as_text;
use crate::marketplace::quote;
use crate::reply::ApiError;
use crate::store::{Database, Document, QuoteLine};

/// Fields that can be searched.
const FIELDS: &[&str] = &["customer_id", "entity_id", "is_active", "store_id"];

/// POST `carts/mine`: the same id again if there is an active cart.
pub fn create_own(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    create(records, call.customer()?)
}

/// POST `customers/{customerId}/carts`.
pub fn create_for(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    create(records, existing(records, call.id(0)?)?)
}

fn create(records: &Database<'_>, customer: i64) -> Result<Value, ApiError> {
    let id = match records.active_quote(customer)? {
        Some(id) => id,
        None => records.add_quote(customer)?,
    };
    Ok(json!(id))
}

/// GET `carts/{mine|cartId}`.
pub fn show(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    if !call.is_own {
        return shown(records, call.cart(records)?);
    }
    let customer = call.customer()?;
    let none = || ApiError::no_such_entity("customerId", customer);
    shown(records, records.active_quote(customer)?.ok_or_else(none)?)
}

/// GET `carts/search`.
pub fn search(records: &Database<'_>, call: Call) -> Result<Value, ApiError> {
    let criteria = search::parse(&call.query)?;
    criteria.check_fields(FIELDS)?;
    let mut found = Vec::new();
    for (id, customer) in records.quotes()? {
        let is_active = records.quote(id)?.is_some_and(|(_, is_active)| is_active);
        let is_active = i32::from(is_active);
        let searched =
            json!({"entity_id": id, "customer_id": customer, "is_active": is_active, "store_id": 1});
        if criteria.holds(&searched) {
            found.push(shown(records, id)?);
        }
    }
    Ok(criteria.answer(found))
}

/// The cart `id` with its customer.
pub fn shown(records: &Database<'_>, id: i64) -> Result<Value, ApiError> {
    let (customer, is_active) = records.quote(id)?.ok_or_else(|| ApiError::no_such_entity("cartId", id))?;
    let items = without_options(items(records, id)?);
    let saved = records.shipping(id)?.unwrap_or_default();
    let count = items.as_array().map_or(0, Vec::len);
    let (created, updated) = records.quote_times(id)?;
    Ok(json!({
        "id": id,
        "created_at": created,
        "updated_at": updated,
        "is_active": is_active,
        "is_virtual": false,
        "items": items,
        "items_count": count,
        "items_qty": totals::quantity(records, id)?,
        "customer": customer_view::customer(records, customer)?,
        "billing_address": address(&saved, "billing_address", customer),
        "orig_order_id": 0,
        "currency": {
            "global_currency_code": "USD",
            "base_currency_code": "USD",
            "store_currency_code": "USD",
            "quote_currency_code": "USD",
            "store_to_base_rate": 0,
            "store_to_quote_rate": 0,
            "base_to_global_rate": 1,
            "base_to_quote_rate": 1,
        },
        "customer_is_guest": false,
        "customer_note_notify": true,
        "customer_tax_class_id": 3,
        "store_id": 1,
        "extension_attributes": {"shipping_assignments": assignments(&saved, &items, customer)},
    }))
}

/// One assignment of all items to the shipping address; none for an empty cart.
fn assignments(saved: &Document, items: &Value, customer: i64) -> Value {
    if items == &json!([]) {
        return json!([]);
    }
    let code = |name: &str| saved.get(name).and_then(Value::as_str);
    let method = code("shipping_carrier_code")
        .zip(code("shipping_method_code"))
        .map(|(carrier, method)| format!("{carrier}_{method}"));
    let address = address(saved, "shipping_address", customer);
    json!([{"shipping": {"address": address, "method": method}, "items": items}])
}

/// A stored quote address; its region is three fields.
fn address(saved: &Document, name: &str, customer: i64) -> Value {
    let stored = saved.get(name).and_then(Value::as_object).cloned().unwrap_or_default();
    let mut view = Document::new();
    for name in ["region", "region_id", "region_code", "country_id", "street"] {
        view.insert(name.to_owned(), stored.get(name).cloned().unwrap_or_default());
    }
    if view["street"].is_null() {
        view.insert("street".to_owned(), json!([""]));
    }
    view.extend(stored.into_iter().filter(|(_, value)| !value.is_null()));
    view.insert("customer_id".to_owned(), json!(customer));
    for name in ["same_as_billing", "save_in_address_book"] {
        view.entry(name).or_insert_with(|| json!(0));
    }
    Value::Object(view)
}

/// The items of a cart.
pub fn items(records: &Database<'_>, cart: i64) -> Result<Value, ApiError> {
    records.lines(cart)?.iter().map(|line| item(records, cart, line)).collect()
}

/// The items as the cart itself shows them: only the list of items names the options.
fn without_options(mut items: Value) -> Value {
    for item in items.as_array_mut().into_iter().flatten().filter_map(Value::as_object_mut) {
        item.shift_remove("product_option");
    }
    items
}

/// One item. The SKU of a configurable one is that of the simple product that its options choose.
pub fn item(records: &Database<'_>, cart: i64, line: &QuoteLine) -> Result<Value, ApiError> {
    let product = records.product(&line.sku)?.ok_or_else(ApiError::crash)?;
    let mut view = quote::item_document(line, &product, cart);
    let options = view.pointer("/product_option/extension_attributes/configurable_item_options");
    let values = options.and_then(Value::as_array).into_iter().flatten();
    let sku = values.fold(line.sku.clone(), |sku, option| sku + "-" + &as_text(&option["option_value"]));
    view["sku"] = Value::from(sku);
    Ok(view)
}
