//! `storefront customer …`

mod check;
mod each;
mod export;
mod paced;
pub mod update;
use check::CheckArgs;
use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use export::ExportArgs;
use serde_json::Value;

use self::update::UpdateArgs;
use crate::cli::{CustomerChoice, RequestArgs};
use crate::client::Session;
use crate::client::runtime::with_service;
use crate::client::service::Service;
use crate::commands;
use crate::commands::past::{self, HistoryArgs, UndoArgs};
use crate::ops::Operation;
use crate::ops::customers::{self, Found, NO_CUSTOMER_FOUND, billing_address};
use crate::ops::profile::read;
use crate::report::list::{Column, List};
use crate::report::profile;
use storefront_core::failure::Failure;

/// Show and update customer profiles.
#[derive(Debug, Subcommand)]
pub enum CustomerCommand {
    /// Update the profile; addresses you do not name are kept
    #[command(alias = "edit")]
    Update(Box<UpdateArgs>),
    /// Print the stored profile and addresses
    #[command(alias = "get")]
    #[command(after_help = "Examples:
  storefront customer show --sandbox
  storefront customer show --sandbox -o json > before.json
  storefront customer show --sandbox --jq '.addresses[] | [.id, .city]'")]
    Show(ShowArgs),
    /// Search customers by email, name, company, telephone or postcode, with an administrator's token
    #[command(alias = "search")]
    #[command(after_help = "Examples:
  storefront customer find --sandbox --api magento haddad
  storefront customer find --sandbox --api magento '+33 1 42 68 53 00'
  storefront customer find --sandbox --api magento haddad --jq .id")]
    Find(FindArgs),
    /// Check address books for duplicates and for addresses that block updates
    Check(CheckArgs),
    /// Write addresses into a sheet that `customer update` takes
    Export(ExportArgs),
    /// As `storefront history`
    #[command(hide = true)]
    History(HistoryArgs),
    /// As `storefront undo`
    #[command(hide = true, alias = "undo")]
    Restore(Box<UndoArgs>),
}

/// Flags of `customer show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Customer ID or email, as with --customer
    #[arg(id = "named_customer", value_name = "ID|EMAIL", value_parser = NonEmptyStringValueParser::new())]
    #[arg(conflicts_with = "customer")]
    pub named: Option<String>,
    /// Whose profile or quote.
    #[command(flatten)]
    pub choice: CustomerChoice,
    /// The flags of every call.
    #[command(flatten)]
    pub request: RequestArgs,
}

/// Flags of `customer find`.
#[derive(Debug, Args)]
pub struct FindArgs {
    /// Words to find in email, name or company, or a telephone number or postcode
    #[arg(value_name = "TEXT", required = true, value_parser = NonEmptyStringValueParser::new())]
    pub text: Vec<String>,
    /// Show at most N customers
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = clap::value_parser!(u16).range(1..))]
    pub limit: u16,
    /// The flags of every call.
    #[command(flatten)]
    pub request: RequestArgs,
}

impl CustomerCommand {
    /// Whether it may change the shop.
    pub fn can_write(&self) -> bool {
        match self {
            Self::Update(_) | Self::Restore(_) => true,
            Self::Show(_) | Self::Find(_) | Self::Check(_) | Self::Export(_) | Self::History(_) => false,
        }
    }

    /// The operation, if the command takes records.
    pub fn operation(&self) -> Option<&dyn Operation> {
        match self {
            Self::Update(args) => Some(&**args),
            Self::Show(_)
            | Self::Find(_)
            | Self::Check(_)
            | Self::Export(_)
            | Self::History(_)
            | Self::Restore(_) => None,
        }
    }
}

/// Runs a customer command.
///
/// # Errors
/// Whatever went wrong.
pub async fn run(session: &Session<'_>, command: &CustomerCommand) -> Result<(), Failure> {
    match command {
        CustomerCommand::Update(args) => update::run(session, args).await,
        CustomerCommand::Show(_) => commands::with_customer(session, show).await,
        CustomerCommand::Find(args) => with_service(session, async |service| find(service, args).await).await,
        CustomerCommand::Check(args) => check::run(session, args).await,
        CustomerCommand::Export(args) => export::run(session, args).await,
        CustomerCommand::History(args) => past::history(session, args).await,
        CustomerCommand::Restore(args) => past::undo(session, args).await,
    }
}

/// Prints the stored customer: as it came, unwrapped, under `-o json`; else as tables.
///
/// # Errors
/// As [`read::read_profile`].
async fn show(service: &Service<'_>) -> Result<(), Failure> {
    let stored = read::read_profile(service).await?;
    read::remember(service, &stored);
    service.session.report.value(stored.customer(), |screen| profile::text(&stored, screen))
}

const COLUMNS: &[Column] = &[
    ("CUSTOMER", "id"),
    ("EMAIL", "email"),
    ("FIRST NAME", "firstname"),
    ("LAST NAME", "lastname"),
    ("WEBSITE", "website_id"),
    ("CITY", "city"),
    ("TELEPHONE", "telephone"),
    ("", "postcode"),
    ("", "company"),
];

/// The fields of the default billing address, by which people tell namesakes apart.
const OF_ADDRESS: [&str; 4] = ["city", "telephone", "postcode", "company"];

/// Prints the customers that were found: a table, or a flat object each.
///
/// # Errors
/// As [`customers::find`].
async fn find(service: &Service<'_>, args: &FindArgs) -> Result<(), Failure> {
    let Found { customers: found, total } =
        customers::find(service, &args.text.join(" "), args.limit.into()).await?;
    let report = service.session.report;
    if let Some(total) = total.filter(|total| *total > found.len() as u64) {
        report.status(&format!("{} of {total} shown; --limit N shows more", found.len()));
    }
    if found.is_empty() {
        if !report.is_json() {
            report.status(NO_CUSTOMER_FOUND);
        }
        return Ok(());
    }
    let mut list = List::new(report, COLUMNS, false);
    for customer in &found {
        let billing = billing_address(customer).unwrap_or(&Value::Null);
        let field = |name: &str| if OF_ADDRESS.contains(&name) { &billing[name] } else { &customer[name] };
        list.add(COLUMNS.iter().map(|(_, name)| ((*name).to_owned(), field(name).clone())).collect())?;
    }
    list.finish()
}
