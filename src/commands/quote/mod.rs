//! `storefront quote …`

pub mod add_item;
pub mod clear;
mod item_dialogue;
mod questions;
mod remove_item;
pub mod set_item;
pub mod ship;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use serde_json::Value;

use self::add_item::AddItemArgs;
use self::clear::ClearArgs;
use self::remove_item::RemoveItemArgs;
use self::set_item::SetItemArgs;
use self::ship::ShipArgs;
use crate::cli::{CustomerChoice, RequestArgs};
use crate::client::Session;
use crate::client::service::Service;
use crate::commands;
use crate::ops::Operation;
use crate::ops::cart::{ActiveCart, find, no_active_cart, quote_request, shipping_methods};
use crate::ops::customers::with_id;
use crate::report::fields::format_value;
use crate::report::list::{Column, objects};
use crate::report::profile::one_liner;
use crate::report::style::{OutputStyle, table};
use storefront_core::cart::Cart;
use storefront_core::failure::Failure;
use storefront_core::operation::scalar;
use storefront_core::profile::equal::same_flag;
use storefront_core::text::exact_json;
use storefront_core::text::sanitize::{sanitize, sanitize_line};

/// Save shipping details, and add and change the items of quotes.
#[derive(Debug, Subcommand)]
pub enum QuoteCommand {
    /// Save shipping and billing address, shipping method and payment on the customer's quote
    Ship(Box<ShipArgs>),
    /// Add a simple or configurable product to a quote
    AddItem(Box<AddItemArgs>),
    /// Set the quantity of an item that is in a quote
    SetItem(Box<SetItemArgs>),
    /// Remove an item from a quote
    RemoveItem(Box<RemoveItemArgs>),
    /// Remove all items from a quote
    Clear(Box<ClearArgs>),
    /// Print the customer's active quote, its items and its totals
    #[command(aliases = ["get", "list"])]
    #[command(after_help = "Examples:
  storefront quote show --sandbox --api magento --customer 1
  storefront quote show --sandbox --api magento --customer 1 -o json
  storefront quote show --sandbox --api magento --customer 1 --jq '.cart.items[].sku'")]
    Show(ReadArgs),
    /// List the shipping and payment methods of the customer's active quote
    #[command(after_help = "Examples:
  storefront quote methods --sandbox --api magento --customer 1
  storefront quote methods --sandbox --api magento --customer 1 -o json
  storefront quote methods --sandbox --api magento --customer 1 --jq '.payment[].code'")]
    Methods(ReadArgs),
}

/// Flags of `quote show` and `quote methods`.
#[derive(Debug, Args)]
pub struct ReadArgs {
    /// Whose profile or quote.
    #[command(flatten)]
    pub choice: CustomerChoice,
    /// Quote ID (in the marketplace it requires `read.quote-path`)
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub quote_id: Option<String>,
    /// The flags of every call.
    #[command(flatten)]
    pub request: RequestArgs,
}

impl QuoteCommand {
    /// Whether it may change the shop.
    pub fn can_write(&self) -> bool {
        match self {
            Self::Ship(_) | Self::AddItem(_) | Self::SetItem(_) | Self::RemoveItem(_) | Self::Clear(_) => {
                true
            }
            Self::Show(_) | Self::Methods(_) => false,
        }
    }

    /// The operation, if the command takes records.
    pub fn operation(&self) -> Option<&dyn Operation> {
        match self {
            Self::Ship(args) => Some(&**args),
            Self::AddItem(args) => Some(&**args),
            Self::SetItem(args) => Some(&**args),
            Self::RemoveItem(args) => Some(&**args),
            Self::Clear(args) => Some(&**args),
            Self::Show(_) | Self::Methods(_) => None,
        }
    }
}

/// Runs a quote command.
///
/// # Errors
/// Whatever went wrong.
pub async fn run(session: &Session<'_>, command: &QuoteCommand) -> Result<(), Failure> {
    match command {
        QuoteCommand::Ship(args) => ship::run(session, args).await,
        QuoteCommand::AddItem(args) => add_item::run(session, args).await,
        QuoteCommand::SetItem(args) => set_item::run(session, args).await,
        QuoteCommand::RemoveItem(args) => remove_item::run(session, args).await,
        QuoteCommand::Clear(args) => commands::run_operation(session, &**args).await,
        QuoteCommand::Show(ReadArgs { quote_id, .. }) => {
            commands::with_customer(session, async |service| show(service, quote_id.as_deref()).await).await
        }
        QuoteCommand::Methods(ReadArgs { quote_id, .. }) => {
            commands::with_customer(session, async |service| methods(service, quote_id.as_deref()).await)
                .await
        }
    }
}

/// Prints the customer's active quote: `{"cart", "items", "totals"}` under `-o json`, else as tables. In the marketplace,
/// prints the reply of the path that a setting names.
///
/// # Errors
/// As [`Service::read`]; `refused` without an active cart, `usage` for the id of another quote.
async fn show(service: &Service<'_>, quote: Option<&str>) -> Result<(), Failure> {
    let service = &with_id(service).await?;
    let target = service.target()?;
    let report = service.session.report;
    if target.dialect.carts.is_none() {
        let request = quote_request(service, &target, quote.unwrap_or_default())?;
        let reply = service.read(&request).await?.value;
        return report.value(&reply, |_| format!("{}\n", sanitize(&format!("{reply:#}"))));
    }
    let found = active_cart(service, quote).await?;
    let id = found.id;
    let cart = Cart::new(target, Some(id))?;
    let shown = exact_json::object([
        ("cart", found.shown),
        ("items", service.read(&cart.read("/items")).await?.value),
        ("totals", service.read(&cart.read("/totals")).await?.value),
    ]);
    report.value(&shown, |screen| text(id, &shown, screen))
}

/// The customer's active cart, which is the quote that is named, if one is.
async fn active_cart(service: &Service<'_>, quote: Option<&str>) -> Result<ActiveCart, Failure> {
    find(service, quote).await?.ok_or_else(|| no_active_cart(service))
}

fn text(id: u64, shown: &Value, screen: OutputStyle) -> String {
    let items = match shown["items"].as_array() {
        Some(items) if !items.is_empty() => objects(screen, &ITEMS, true, items),
        _ => "No items".to_owned(),
    };
    let totals = ["subtotal", "shipping_amount", "tax_amount", "grand_total", "quote_currency_code"];
    let totals = totals.iter().filter_map(|name| {
        let value = shown["totals"].get(*name).filter(|value| !value.is_null())?;
        Some([name.replace('_', " "), format_value(Some(value))])
    });
    let totals = table(screen, &[], totals);
    let assigned = &shown["cart"]["extension_attributes"]["shipping_assignments"][0]["shipping"];
    // A cart to which no address was saved shows an empty one, without a country.
    let address = |address: &Value| {
        let saved = address.as_object().filter(|address| scalar(address.get("country_id")).is_some());
        saved.map(one_liner).unwrap_or_default()
    };
    let saved = [
        ["ship to", &address(&assigned["address"])],
        ["method", assigned["method"].as_str().unwrap_or_default()],
        ["bill to", &address(&shown["cart"]["billing_address"])],
    ];
    let saved = saved.into_iter().filter(|[_, text]| !text.is_empty());
    let saved = table(screen, &[], saved.map(|row| row.map(sanitize_line)));
    let parts = [format!("Cart {id}"), items, saved, totals].into_iter().filter(|part| !part.is_empty());
    format!("{}\n", parts.collect::<Vec<_>>().join("\n\n"))
}

/// Lists the methods: `{"shipping": […], "payment": […]}` under `-o json`, else as tables.
///
/// # Errors
/// As [`Service::read`]; `usage` where the interface has no such call, `refused` where there is no active cart.
async fn methods(service: &Service<'_>, quote: Option<&str>) -> Result<(), Failure> {
    let service = &with_id(service).await?;
    let target = service.target()?;
    Cart::new(target, None)?;
    let found = active_cart(service, quote).await?;
    let cart = Cart::new(target, Some(found.id))?;
    // Nothing in the cart is shipped.
    let is_virtual = same_flag(found.shown.get("is_virtual"), Some(&Value::Bool(true)));
    let shipping =
        if is_virtual { Value::Array(Vec::new()) } else { shipping_methods(service, &cart).await? };
    let shown = exact_json::object([
        ("shipping", shipping),
        ("payment", service.read(&cart.read("/payment-methods")).await?.value),
    ]);
    service.session.report.value(&shown, |screen| {
        let tables = [("shipping", &SHIPPING[..]), ("payment", &PAYMENT)].map(|(name, columns)| {
            let methods: Vec<Value> = shown[name].as_array().into_iter().flatten().map(marked).collect();
            match &methods[..] {
                methods @ [_, ..] => objects(screen, columns, true, methods),
                [] if is_virtual && name == "shipping" => {
                    "No shipping methods (all items of the cart are virtual)".to_owned()
                }
                [] => format!("No {name} methods (an empty cart has none)"),
            }
        });
        format!("{}\n", tables.join("\n\n"))
    })
}

/// A method; if it is not available, its title says so and why.
fn marked(method: &Value) -> Value {
    const TITLE: &str = "method_title";
    let mut method = method.clone();
    if method.get("available") == Some(&Value::Bool(false)) {
        let text = |name: &str| scalar(method.get(name)).unwrap_or_default();
        let title = text(TITLE);
        let why = text("error_message");
        let why = if why.is_empty() { why } else { format!(": {why}") };
        method[TITLE] = format!("{title} (not available{why})").trim_start().into();
    }
    method
}

/// Columns: title and field.
const ITEMS: [Column; 5] =
    [("ITEM", "item_id"), ("SKU", "sku"), ("NAME", "name"), ("QTY", "qty"), ("PRICE", "price")];

const SHIPPING: [Column; 4] = [
    ("CARRIER", "carrier_code"),
    ("METHOD", "method_code"),
    ("SHIPPING METHOD", "method_title"),
    ("PRICE", "amount"),
];

const PAYMENT: [Column; 2] = [("CODE", "code"), ("PAYMENT METHOD", "title")];
