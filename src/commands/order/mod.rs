//! `storefront order …`

mod dialogue;
mod show;
pub mod update;

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use serde_json::Value;

use self::update::UpdateArgs;
use crate::cli::{CustomerChoice, RequestArgs};
use crate::client::Session;
use crate::client::runtime::with_service;
use crate::client::service::Service;
use crate::commands;
use crate::ops::Operation;
use crate::ops::orders::{OrderName, of_customer};
use crate::report::list::{Column, List};
use storefront_core::failure::Failure;
use storefront_core::text::exact_json;

/// List and show orders, and correct their addresses.
#[derive(Debug, Subcommand)]
pub enum OrderCommand {
    /// Correct an address of an order, and add a comment that says so
    Update(Box<UpdateArgs>),
    /// List the newest orders of a customer, or of a guest by email
    #[command(after_help = "Examples:
  storefront order list --sandbox --api magento --customer 1
  storefront order list --sandbox --api magento --customer amina.haddad@example.com --limit 1
  storefront order list --sandbox --api magento --customer 1 --jq .order")]
    List(ListArgs),
    /// Print an order: state, customer, items, totals, both addresses and comments
    #[command(alias = "get")]
    #[command(after_help = "Examples:
  storefront order show --sandbox --api magento 000000002
  storefront order show --sandbox --api magento --id 2
  storefront order show --sandbox --api magento 000000002 --jq .billing_address.city")]
    Show(ShowArgs),
}

/// The choice of an order.
#[derive(Debug, Clone, Default, Args)]
pub struct OrderChoice {
    /// Number of the order, such as 000000002
    #[arg(value_name = "NUMBER", value_parser = NonEmptyStringValueParser::new())]
    pub number: Option<String>,
    /// ID of the order, in place of its number
    #[arg(long, value_name = "ID", conflicts_with = "number")]
    pub id: Option<u64>,
}

impl OrderChoice {
    /// Whether an order is named.
    pub fn is_given(&self) -> bool {
        self.number.is_some() || self.id.is_some()
    }

    /// The name of the order.
    ///
    /// # Errors
    /// `usage` without a name.
    pub fn name(&self) -> Result<OrderName, Failure> {
        OrderName::of(self.number.clone(), self.id.map(|id| id.to_string()))
    }
}

/// Flags of `order list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// Whose orders.
    #[command(flatten)]
    pub choice: CustomerChoice,
    /// Show at most N orders
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u16).range(1..=300))]
    pub limit: u16,
    /// The flags of every call.
    #[command(flatten)]
    pub request: RequestArgs,
}

/// Flags of `order show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// The order.
    #[command(flatten)]
    pub choice: OrderChoice,
    /// The flags of every call.
    #[command(flatten)]
    pub request: RequestArgs,
}

impl OrderCommand {
    /// Whether it may change the shop.
    pub fn can_write(&self) -> bool {
        match self {
            Self::Update(_) => true,
            Self::List(_) | Self::Show(_) => false,
        }
    }

    /// The operation, if the command takes records.
    pub fn operation(&self) -> Option<&dyn Operation> {
        match self {
            Self::Update(args) => Some(&**args),
            Self::List(_) | Self::Show(_) => None,
        }
    }
}

/// Runs an order command.
///
/// # Errors
/// Whatever went wrong.
pub async fn run(session: &Session<'_>, command: &OrderCommand) -> Result<(), Failure> {
    match command {
        OrderCommand::Update(args) => update(session, args).await,
        OrderCommand::List(args) => with_service(session, async |service| list(service, args).await).await,
        OrderCommand::Show(args) => {
            let name = args.choice.name()?;
            with_service(session, async |service| show::show(service, &name).await).await
        }
    }
}

/// Reads the input and corrects the address; on a terminal, what is open is asked for.
///
/// # Errors
/// Whatever went wrong.
async fn update(session: &Session<'_>, args: &UpdateArgs) -> Result<(), Failure> {
    commands::run_records(session, args, async |document| {
        let is_complete = args.choice.is_given()
            && (args.names_a_change() && args.side().is_some() || args.is_comment_alone());
        if document.is_none()
            && !is_complete
            && session.prompt().can_ask()
            && session.dialect.orders.is_some()
        {
            return with_service(session, async |service| dialogue::run(service, args).await).await;
        }
        commands::run_one(session, args, document).await
    })
    .await
}

const COLUMNS: &[Column] = &[
    ("ORDER", "order"),
    ("DATE", "created_at"),
    ("STATUS", "status"),
    ("TOTAL", "total"),
    ("SHIP TO", "city"),
    ("", "order_id"),
    ("", "state"),
];

/// Prints the newest orders of a customer: a table, or a flat object each.
///
/// # Errors
/// As [`of_customer`].
async fn list(service: &Service<'_>, args: &ListArgs) -> Result<(), Failure> {
    let Some(customer) = &args.choice.customer else {
        return Err(Failure::usage("no customer given")
            .hint("name the customer with --customer ID|EMAIL; a guest has only an email"));
    };
    let (orders, total) = of_customer(service, customer, args.limit.into()).await?;
    let report = service.session.report;
    if let Some(total) = total.filter(|total| *total > orders.len() as u64) {
        report.status(&format!("{} of {total} shown; --limit N shows more", orders.len()));
    }
    if orders.is_empty() {
        if !report.is_json() {
            report.status(&format!("no order of `{customer}` found"));
        }
        return Ok(());
    }
    let mut list = List::new(report, COLUMNS, false);
    for order in &orders {
        list.add(row(order))?;
    }
    list.finish()
}

/// An order as a flat object.
fn row(order: &Value) -> Value {
    let member = |name: &str| order.get(name).cloned().unwrap_or_default();
    let city = order.pointer("/extension_attributes/shipping_assignments/0/shipping/address/city");
    let total = [member("grand_total"), member("order_currency_code")];
    let total = total.iter().map(crate::report::list::plain).collect::<Vec<_>>().join(" ");
    exact_json::object([
        ("order", member("increment_id")),
        ("order_id", member("entity_id")),
        ("created_at", member("created_at")),
        ("state", member("state")),
        ("status", member("status")),
        ("total", total.trim().into()),
        ("city", city.cloned().unwrap_or_default()),
    ])
}
