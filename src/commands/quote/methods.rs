//! `storefront quote methods`

use serde_json::Value;

use super::show::no_cart;
use crate::exact_json;
use crate::failure::Failure;
use crate::ops::cart::{find, shipping_methods};
use crate::plan::request::cart::Cart;
use crate::report::changes::format_value;
use crate::report::table::{header, new_table, render};
use crate::report::terminal::OutputStyle;
use crate::session::service::Service;

/// Lists the methods: `{"shipping": […], "payment": […]}` under `-o json`, else as tables.
///
/// # Errors
/// As [`Service::read`]; `usage` where the interface has no such call, `refused` where there is no active cart.
pub async fn list(service: &Service<'_>, quote: Option<&str>) -> Result<(), Failure> {
    let target = service.target()?;
    Cart::new(target, None)?;
    let found = find(service).await?.ok_or_else(no_cart)?;
    found.ensure_named(quote)?;
    let cart = Cart::new(target, Some(found.id))?;
    let shown = exact_json::object([
        ("shipping", shipping_methods(service, &cart).await?),
        ("payment", service.read(&cart.read("/payment-methods")).await?.value()),
    ]);
    let report = service.session.report;
    if report.is_json() {
        return report.json(&shown);
    }
    let style = report.stdout_style();
    let shipping = table(&shown["shipping"], &SHIPPING, style);
    report.stdout(&format!("{shipping}\n\n{}\n", table(&shown["payment"], &PAYMENT, style)))
}

/// Columns: title and field.
const SHIPPING: [(&str, &str); 4] = [
    ("CARRIER", "carrier_code"),
    ("METHOD", "method_code"),
    ("SHIPPING METHOD", "method_title"),
    ("PRICE", "amount"),
];

const PAYMENT: [(&str, &str); 2] = [("CODE", "code"), ("PAYMENT METHOD", "title")];

fn table(methods: &Value, columns: &[(&str, &str)], style: OutputStyle) -> String {
    let mut table = new_table(style);
    table.set_header(header(&columns.iter().map(|(title, _)| *title).collect::<Vec<_>>()));
    for method in methods.as_array().into_iter().flatten() {
        table.add_row(columns.iter().map(|(_, field)| format_value(method.get(*field))));
    }
    render(&table)
}
