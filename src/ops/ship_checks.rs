//! Checks before and after shipping information is saved on a cart: the shop saves the addresses and erases the cart's
//! method before it refuses an unknown method, and some versions change quantities when they save a cart.

use std::collections::BTreeMap;

use serde_json::Value;

use super::cart::ActiveCart;
use crate::client::service::Service;
use storefront_core::cart::Cart;
use storefront_core::failure::Failure;
use storefront_core::hint::{Hint, hint, storefront};
use storefront_core::operation::scalar;

/// The end of a hint about a method.
pub(super) fn list_methods() -> Hint {
    hint!(storefront("quote methods"), " lists them")
}

/// Refuses a carrier or method that the shop does not offer for the address that is to be saved. If the offer cannot be
/// read, it warns. For a cart without items nothing is asked: it has no methods, and the shop refuses to save any.
///
/// # Errors
/// `usage` for a method that is not offered.
pub async fn ensure_method(
    service: &Service<'_>,
    cart: &Cart<'_>,
    found: &ActiveCart,
    information: &Value,
) -> Result<(), Failure> {
    let code = |name: &str| scalar(information.get(name));
    let codes = code("shipping_carrier_code").zip(code("shipping_method_code"));
    let address = information.get("shipping_address").filter(|address| address.is_object());
    let (Some((carrier, method)), Some(address), false) = (codes, address, found.items().is_empty()) else {
        return Ok(());
    };
    let wanted = format!("{carrier}/{method}");
    let offered = match service.read(&cart.estimate_shipping_to(address)).await {
        Ok(reply) => offered(&reply.value).ok_or_else(|| "the answer is not a list of methods".to_owned()),
        Err(failure) => Err(failure.message),
    };
    let offered = match offered {
        Ok(offered) => offered,
        Err(why) => {
            let warning =
                format!("whether the shop has the shipping method `{wanted}` is not checked: {why}");
            service.session.report.warn(&warning);
            return Ok(());
        }
    };
    if offered.contains(&wanted) {
        return Ok(());
    }
    let message = if offered.is_empty() {
        "the shop offers no shipping method to this address".to_owned()
    } else {
        let offered = offered.join(", ");
        format!("the shop does not offer the shipping method `{wanted}` to this address; it offers {offered}")
    };
    Err(Failure::usage(message).hint(hint!("choose another method or address; ", list_methods())))
}

/// The methods of an estimate, each as `CARRIER/METHOD`.
fn offered(estimate: &Value) -> Option<Vec<String>> {
    let code = |method: &Value, name| scalar(method.get(name));
    let both =
        |method: &Value| Some(format!("{}/{}", code(method, "carrier_code")?, code(method, "method_code")?));
    estimate.as_array()?.iter().map(both).collect()
}

/// Reads the cart again, and warns of quantities that have changed.
pub async fn compare_items(service: &Service<'_>, cart: &Cart<'_>, before: &ActiveCart) {
    let Ok(reply) = service.read(&cart.read("")).await else { return };
    let is_it = scalar(reply.value.get("id")) == Some(before.id.to_string());
    let Some(after) = reply.value["items"].as_array().filter(|_| is_it) else { return };
    let changes = changes(before.items(), after);
    if !changes.is_empty() {
        service.session.report.warn(&format!(
            "the quantities in cart {} are not what they were before it was saved: {}",
            before.id,
            changes.join(", ")
        ));
    }
}

/// The changes by SKU: the id of an item may change when a cart is saved.
fn changes(before: &[Value], after: &[Value]) -> Vec<String> {
    let (before, after) = (quantities(before), quantities(after));
    let mut skus: Vec<&String> = before.keys().chain(after.keys()).collect();
    skus.sort_unstable();
    skus.dedup();
    let of = |side: &BTreeMap<String, f64>, sku: &String| side.get(sku).copied().unwrap_or_default();
    let change = |sku: &String| {
        let (before, after) = (of(&before, sku), of(&after, sku));
        ((before - after).abs() > 1e-9).then(|| format!("{sku} {before} → {after}"))
    };
    skus.into_iter().filter_map(change).collect()
}

fn quantities(items: &[Value]) -> BTreeMap<String, f64> {
    let mut found = BTreeMap::new();
    for item in items {
        let qty = scalar(item.get("qty")).and_then(|qty| qty.trim().parse::<f64>().ok());
        if let (Some(sku), Some(qty)) = (scalar(item.get("sku")), qty) {
            *found.entry(sku).or_default() += qty;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::changes;

    #[test]
    fn quantities_are_compared_by_sku() {
        let item = |id: u32, sku: &str, qty: Value| json!({"item_id": id, "sku": sku, "qty": qty});
        let before = [item(1, "mug", json!(2)), item(2, "hat", json!("1.5")), item(3, "cap", json!(1))];
        let renumbered =
            [item(9, "mug", json!("2.0000")), item(2, "hat", json!(1.5)), item(3, "cap", json!(1))];
        assert!(changes(&before, &renumbered).is_empty());
        let after = [item(1, "mug", json!(4)), item(2, "hat", json!(1.5)), item(4, "bag", json!(1))];
        assert_eq!(changes(&before, &after), ["bag 0 → 1", "cap 1 → 0", "mug 2 → 4"]);
    }
}
