//! `storefront quote …`

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use serde_json::Value;

use crate::cli::customer::CustomerChoice;
use crate::cli::quote::{AddItemArgs, ShipArgs};
use crate::cli::{RequestArgs, SharedArgs};
use crate::commands::customer::update::dialogue::select;
use crate::failure::{Failure, FailureKind};
use crate::ops::cart::{find, quote_request, shipping_methods};
use crate::ops::customers::with_id;
use crate::ops::record::{RecordOperation, perform_and_report};
use crate::ops::ship::with_stored_addresses;
use crate::ops::{draft_from, input_document};
use crate::plan::operation::Operation;
use crate::plan::request::cart::Cart;
use crate::prompt::Prompt;
use crate::report::changes::format_value;
use crate::report::list::{Column, objects};
use crate::report::style::{OutputStyle, table};
use crate::session::Session;
use crate::session::runtime::with_service;
use crate::session::service::Service;
use crate::{commands, exact_json};

/// Save shipping details and add items to quotes.
#[derive(Debug, Subcommand)]
pub enum QuoteCommand {
    /// Save shipping and billing address, shipping method and payment on the customer's quote
    #[command(after_help = "Examples:
  storefront quote ship --sandbox --ship-to-address 2 --payment-method checkmo
  storefront quote ship --sandbox --ship-to-address 2 --bill-to-address 1 --payment-method free
  storefront template quote-ship | storefront quote ship --sandbox -i - --dry-run")]
    Ship(Box<ShipArgs>),
    /// Add a simple or configurable product to a quote
    #[command(after_help = "Examples:
  storefront quote add-item --sandbox --sku mug-blue --qty 2 --quote-id 1
  storefront quote add-item --sandbox --sku cap --qty 1 --quote-id 1 --option 93=50
  storefront template quote-add-item | storefront quote add-item --sandbox -i - --qty 5")]
    AddItem(Box<AddItemArgs>),
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
    #[command(flatten)]
    #[allow(missing_docs)]
    pub choice: CustomerChoice,
    /// Quote ID (requires `read.quote-path`)
    #[arg(long, value_name = "ID", value_parser = NonEmptyStringValueParser::new())]
    pub quote_id: Option<String>,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub request: RequestArgs,
}

impl QuoteCommand {
    pub(super) fn shared(&self) -> SharedArgs<'_> {
        let (shared, choice) = match self {
            Self::Ship(args) => (SharedArgs::from(&args.run), &args.choice),
            Self::AddItem(args) => (SharedArgs::from(&args.run), &args.choice),
            Self::Show(args) | Self::Methods(args) => (SharedArgs::from(&args.request), &args.choice),
        };
        SharedArgs { choice: Some(choice), ..shared }
    }
}

/// Runs a quote command.
///
/// # Errors
/// Whatever went wrong.
pub async fn run(session: &Session<'_>, command: &QuoteCommand) -> Result<(), Failure> {
    match command {
        QuoteCommand::Ship(args) => ship(session, args).await,
        QuoteCommand::AddItem(args) => {
            commands::direct(session, Operation::QuoteAddItem, &**args, &args.batch).await
        }
        QuoteCommand::Show(args) => {
            with_service(session, async |service| {
                let service = with_id(&select(service, args.choice.customer.as_deref()).await?).await?;
                show(&service, args.quote_id.as_deref()).await
            })
            .await
        }
        QuoteCommand::Methods(args) => {
            with_service(session, async |service| {
                let service = with_id(&select(service, args.choice.customer.as_deref()).await?).await?;
                methods(&service, args.quote_id.as_deref()).await
            })
            .await
        }
    }
}

async fn ship(session: &Session<'_>, args: &ShipArgs) -> Result<(), Failure> {
    let takes_stored = args.ship_to_address.is_some() || args.bill_to_address.is_some();
    let operation = if takes_stored {
        RecordOperation::ShipToSavedAddress(args)
    } else {
        RecordOperation::Direct(Operation::QuoteShip, args)
    };
    let one = async || ship_one(session, args, takes_stored).await;
    commands::run_records(session, operation, &args.batch, one).await
}

async fn ship_one(session: &Session<'_>, args: &ShipArgs, takes_stored: bool) -> Result<(), Failure> {
    let document = input_document(session)?;
    let prompt = Prompt::new(session.context, session.global, session.report);
    let asks = prompt.can_ask() && args.lack_payment(document.as_ref());
    let draft = |args: &ShipArgs| draft_from(session, Operation::QuoteShip, document.clone(), args);
    let customer = args.choice.customer.as_deref();
    if !asks && !takes_stored {
        return commands::send(session, customer, draft(args)?).await;
    }
    with_service(session, async |service| {
        let (mut args, service) = with_stored_addresses(&select(service, customer).await?, args).await?;
        if asks {
            ask_payment(session, &prompt, &mut args)?;
        }
        perform_and_report(&service, draft(&args)?).await
    })
    .await
}

/// The interface lists the payment as required (docs/interface.md, "Shipping information"), so it is asked
/// for.
fn ask_payment(session: &Session<'_>, prompt: &Prompt, args: &mut ShipArgs) -> Result<(), Failure> {
    session.report.stderr("A payment is required. Enter a code (e.g. checkmo), a JSON object, or none.");
    let check = |text: &str| match text.trim() {
        "" => Err("enter a code, a JSON object, or none".to_owned()),
        json if json.starts_with('{') => exact_json::parse_object(json.as_bytes())
            .map(drop)
            .map_err(|error| format!("not a JSON object: {error}")),
        _ => Ok(()),
    };
    let hint = "use --payment-method CODE, --payment JSON, or --no-payment";
    let payment = prompt.input("Payment", hint, None, check)?;
    match payment.trim() {
        "none" => args.no_payment = true,
        json if json.starts_with('{') => args.payment = Some(json.to_owned()),
        code => args.payment_method = Some(code.to_owned()),
    }
    Ok(())
}

/// Prints the customer's active quote: `{"cart", "items", "totals"}` under `-o json`, else as tables. Where a setting
/// names the path that shows a quote, what came is printed.
///
/// # Errors
/// As [`Service::read`]; `refused` where there is no active cart, `usage` for a quote id that is not its.
async fn show(service: &Service<'_>, quote: Option<&str>) -> Result<(), Failure> {
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
    report.stdout(&text(id, &shown, report.stdout_style))
}

/// There is no cart, as the service would say it.
fn no_cart() -> Failure {
    Failure::new(FailureKind::Refused, "the customer has no active cart")
        .hint("create one with `storefront quote add-item`")
}

fn text(id: u64, shown: &Value, screen: OutputStyle) -> String {
    let items = shown["items"].as_array().map_or(&[][..], Vec::as_slice);
    let items = if items.is_empty() { "No items".to_owned() } else { objects(screen, &ITEMS, true, items) };
    let totals = ["subtotal", "shipping_amount", "tax_amount", "grand_total", "quote_currency_code"];
    let totals = totals.iter().filter_map(|name| {
        let value = shown["totals"].get(*name).filter(|value| !value.is_null())?;
        Some([name.replace('_', " "), format_value(Some(value))])
    });
    let totals = table(screen, &[], totals);
    format!("Cart {id}\n\n{items}\n\n{totals}\n")
}

/// Lists the methods: `{"shipping": […], "payment": […]}` under `-o json`, else as tables.
///
/// # Errors
/// As [`Service::read`]; `usage` where the interface has no such call, `refused` where there is no active cart.
async fn methods(service: &Service<'_>, quote: Option<&str>) -> Result<(), Failure> {
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
    let style = report.stdout_style;
    let rows = |name: &str| shown[name].as_array().map_or(&[][..], Vec::as_slice);
    let shipping = objects(style, &SHIPPING, true, rows("shipping"));
    report.stdout(&format!("{shipping}\n\n{}\n", objects(style, &PAYMENT, true, rows("payment"))))
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
