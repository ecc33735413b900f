//! What a cart holds, and whether our own quantity is in it.

use serde_json::{Map, Value};

use crate::failure::{Failure, FailureKind};
use crate::ops::reads::Reads;
use crate::plan::request::cart::Cart;
use crate::plan::request::{Bearer, Request, Target};
use crate::session::service::Service;

/// The lines of a cart.
#[derive(Debug, Clone, Default)]
pub struct Items(Vec<Value>);

impl Items {
    /// Reads the lines of the cart with this id, or of the marketplace's quote where a setting names its path.
    ///
    /// # Errors
    /// As [`Service::read`]; `usage` where there is no such read, `unavailable` for a reply without lines.
    pub async fn read(service: &Service<'_>, cart: Option<u64>, quote: &Value) -> Result<Self, Failure> {
        let target = service.target()?;
        let request = match target.dialect.carts {
            Some(_) => Cart::new(target, cart)?.read("/items"),
            None => quote_request(service, &target, &text_of(quote))?,
        };
        let reply = service.read(&request).await?.value();
        let mut lines = ["", "/items", "/quote/items", "/cart/items"].into_iter();
        let lines = lines.find_map(|pointer| reply.pointer(pointer)?.as_array());
        lines.map(|lines| Self(lines.clone())).ok_or_else(|| {
            Failure::new(FailureKind::Unavailable, "the service's answer holds no list of items")
                .hint("check the setting `read.quote-path` and what -vv shows of the answer")
        })
    }

    /// Whether the cart as it is `after` shows `added`, and only once: one line of the sku holds exactly that much more
    /// than before, and no other line of the sku has changed. `None` where quantities cannot be read.
    pub fn shows(&self, after: &Self, added: &Map<String, Value>) -> bool {
        let Some(qty) = added.get("qty").and_then(number) else { return false };
        let sku = added.get("sku").map(text_of).unwrap_or_default();
        let of_sku = |line: &&Value| added.contains_key("product_option") || same_sku(&line["sku"], &sku);
        let mut differences = after.0.iter().filter(of_sku).filter_map(|line| {
            let before = self.0.iter().find(|old| old["item_id"] == line["item_id"]);
            let before = before.map_or(Some(0.0), |old| number(&old["qty"]))?;
            let difference = number(&line["qty"])? - before;
            (difference.abs() > f64::EPSILON).then_some(difference)
        });
        let gone = self.0.iter().filter(of_sku);
        let is_gone = |old: &Value| after.0.iter().all(|line| line["item_id"] != old["item_id"]);
        let first = differences.next();
        first.is_some_and(|difference| (difference - qty).abs() < 1e-9)
            && differences.next().is_none()
            && !gone.into_iter().any(is_gone)
    }
}

/// Reads the cart until it shows what was added, for `settle` at most. `None` where it could not be read.
pub async fn settled(
    service: &Service<'_>,
    cart: Option<u64>,
    quote: &Value,
    before: &Items,
    added: &Map<String, Value>,
) -> Option<bool> {
    let mut reads = Reads::new(service.settings.settle);
    loop {
        let shown = Items::read(service, cart, quote).await.ok().map(|after| before.shows(&after, added));
        if shown == Some(true) || !reads.wait().await {
            return shown;
        }
    }
}

/// Reads the marketplace's quote.
///
/// # Errors
/// `usage` where no setting names its path.
pub fn quote_request(service: &Service<'_>, target: &Target<'_>, quote: &str) -> Result<Request, Failure> {
    let path = service.settings.read.quote_path.as_deref().ok_or_else(|| {
        let interface = target.dialect.name;
        Failure::usage(format!("the interface `{interface}` documents no call that reads a quote"))
            .hint("set `read.quote-path` in the profile to the path that shows it")
    })?;
    Ok(Request::get(target.path(path, &[("quote_id", quote)]), Bearer::Customer))
}

fn same_sku(line: &Value, sku: &str) -> bool {
    text_of(line).trim().eq_ignore_ascii_case(sku.trim())
}

fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn number(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| value.as_str()?.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::Items;

    fn shows(before: &Value, after: &Value, added: &Value) -> bool {
        let items = |list: &Value| Items(list.as_array().unwrap().clone());
        items(before).shows(&items(after), added.as_object().unwrap())
    }

    #[test]
    fn only_our_own_quantity_counts() {
        let line = |id: i32, sku: &str, qty: f64| json!({"item_id": id, "sku": sku, "qty": qty});
        let two = json!({"sku": "mug", "qty": "2"});
        assert!(shows(&json!([]), &json!([line(1, "MUG", 2.0)]), &two));
        assert!(shows(&json!([line(1, "mug", 1.0)]), &json!([line(1, "mug", 3.0)]), &two));
        assert!(shows(
            &json!([line(2, "hat", 1.0)]),
            &json!([line(2, "hat", 5.0), line(1, "mug", 2.0)]),
            &two
        ));
        for after in [
            json!([]),
            json!([line(1, "mug", 1.0)]),
            json!([line(1, "mug", 5.0)]),
            json!([line(1, "mug", 2.0), line(2, "mug", 2.0)]),
            json!([line(1, "hat", 2.0)]),
        ] {
            assert!(!shows(&json!([]), &after, &two), "{after}");
        }
        assert!(!shows(&json!([line(3, "mug", 1.0)]), &json!([line(1, "mug", 2.0)]), &two), "a line is gone");
        let shirt = json!({"sku": "shirt", "qty": 1, "product_option": {}});
        assert!(shows(&json!([]), &json!([line(1, "shirt-red-m", 1.0)]), &shirt));
    }
}
