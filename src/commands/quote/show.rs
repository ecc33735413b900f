//! `storefront quote show`

use serde_json::Value;

use crate::exact_json;
use crate::failure::{Failure, FailureKind};
use crate::ops::cart::{find, quote_request};
use crate::plan::request::cart::Cart;
use crate::report::changes::format_value;
use crate::report::table::{header, new_table, render};
use crate::report::terminal::OutputStyle;
use crate::session::service::Service;

/// Prints the customer's active quote: `{"cart", "items", "totals"}` under `-o json`, else as tables. Where a setting
/// names the path that shows a quote, what came is printed.
///
/// # Errors
/// As [`Service::read`]; `refused` where there is no active cart, `usage` for a quote id that is not its.
pub async fn show(service: &Service<'_>, quote: Option<&str>) -> Result<(), Failure> {
    let target = service.target()?;
    let report = service.session.report;
    if target.dialect.carts.is_none() {
        let request = quote_request(service, &target, quote.unwrap_or_default())?;
        let reply = service.read(&request).await?.value();
        return if report.is_json() { report.json(&reply) } else { report.stdout(&format!("{reply:#}\n")) };
    }
    let found = find(service).await?.ok_or_else(no_cart)?;
    found.ensure_named(quote)?;
    let id = found.id;
    let cart = Cart::new(target, Some(id))?;
    let shown = exact_json::object([
        ("cart", found.shown),
        ("items", service.read(&cart.read("/items")).await?.value()),
        ("totals", service.read(&cart.read("/totals")).await?.value()),
    ]);
    if report.is_json() {
        return report.json(&shown);
    }
    report.stdout(&text(id, &shown, report.stdout_style()))
}

/// There is no cart, as the service would say it.
pub fn no_cart() -> Failure {
    Failure::new(FailureKind::Refused, "the customer has no active cart")
        .hint("create one with `storefront quote add-item`")
}

fn text(id: u64, shown: &Value, screen: OutputStyle) -> String {
    let mut items = new_table(screen);
    items.set_header(header(&["ITEM", "SKU", "NAME", "QTY", "PRICE"]));
    for item in shown["items"].as_array().into_iter().flatten() {
        items.add_row(["item_id", "sku", "name", "qty", "price"].map(|name| format_value(item.get(name))));
    }
    let mut totals = new_table(screen);
    for name in ["subtotal", "shipping_amount", "tax_amount", "grand_total", "quote_currency_code"] {
        if let Some(value) = shown["totals"].get(name).filter(|value| !value.is_null()) {
            totals.add_row([name.replace('_', " "), format_value(Some(value))]);
        }
    }
    let items = if items.is_empty() { "No items".to_owned() } else { render(&items) };
    format!("Cart {id}\n\n{items}\n\n{}\n", render(&totals))
}
