//! `storefront order show`

use serde_json::{Map, Value};

use crate::client::service::Service;
use crate::ops::orders::{self, OrderName};
use crate::report::fields::{fields, format_value, member};
use crate::report::list::{Column, objects};
use crate::report::profile::{self, block};
use crate::report::style::{OutputStyle, TextStyle, table};
use storefront_core::failure::Failure;
use storefront_core::order::{Order, Which};
use storefront_core::text::sanitize::sanitize_line;

const ITEMS: [Column; 5] = [
    ("SKU", "sku"),
    ("NAME", "name"),
    ("ORDERED", "qty_ordered"),
    ("SHIPPED", "qty_shipped"),
    ("TOTAL", "row_total"),
];
const COMMENTS: [Column; 3] = [("DATE", "created_at"), ("STATUS", "status"), ("COMMENT", "comment")];
/// What a card of an address leaves out: its ids and its type, which its heading has.
const NOT_SHOWN: &str =
    "entity_id parent_id address_type customer_id customer_address_id region region_id region_code";

/// Prints an order: as it came under `-o json`, else as tables.
///
/// # Errors
/// As [`orders::read`].
pub async fn show(service: &Service<'_>, name: &OrderName) -> Result<(), Failure> {
    let order = orders::read(service, name).await?;
    service.session.report.value(&order.shown, |screen| text(&order, screen))
}

fn text(order: &Order, screen: OutputStyle) -> String {
    let shown = order.shown.as_object().cloned().unwrap_or_default();
    let head = format!("Order {}, {}", order.number, member(&shown, "status"));
    let head = screen.paint(TextStyle::Head, &screen.wrapped(&sanitize_line(&head)));
    let rows = |name: &str, columns: &[Column]| {
        let rows = shown.get(name).and_then(Value::as_array).filter(|rows| !rows.is_empty())?;
        Some(objects(screen, columns, true, rows))
    };
    let address = |which: Which| order.address(which).map(|address| card(which, address, screen));
    let parts = [
        Some(block(&head, screen, about(order, &shown))),
        rows("items", &ITEMS),
        Some(table(screen, &[], totals(&shown))),
        address(Which::Shipping),
        address(Which::Billing),
        rows("status_histories", &COMMENTS),
    ];
    let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
    format!("{}\n", parts.collect::<Vec<_>>().join("\n\n"))
}

/// When it was placed, by whom, and how it is shipped.
fn about(order: &Order, shown: &Map<String, Value>) -> Vec<(String, String)> {
    let mut owner = order.owner();
    // The heading names the order.
    owner.shift_remove("order");
    let owner = profile::owner(&owner);
    let guest = if order.customer_id().is_none() { " (guest)" } else { "" };
    let rows = [
        ("ID", order.id.to_string()),
        ("Placed", member(shown, "created_at")),
        ("Changed", member(shown, "updated_at")),
        ("Customer", format!("{owner}{guest}")),
        ("Shipping", member(shown, "shipping_description")),
    ];
    let rows = rows.into_iter().filter(|(_, value)| !value.trim().is_empty());
    rows.map(|(name, value)| (name.to_owned(), value)).collect()
}

fn totals(shown: &Map<String, Value>) -> Vec<[String; 2]> {
    let names = [
        "subtotal",
        "shipping_amount",
        "tax_amount",
        "discount_amount",
        "grand_total",
        "order_currency_code",
    ];
    let rows = names.into_iter().filter_map(|name| {
        let value = shown.get(name).filter(|value| !value.is_null())?;
        Some([name.trim_start_matches("order_").replace('_', " "), format_value(Some(value))])
    });
    rows.collect()
}

fn card(which: Which, address: &Map<String, Value>, screen: OutputStyle) -> String {
    let head = screen.paint(TextStyle::Id, which.words());
    let region = crate::report::fields::region(address);
    let region = region.map(|region| ("Region".to_owned(), region));
    block(&head, screen, fields(address, NOT_SHOWN).into_iter().chain(region))
}
