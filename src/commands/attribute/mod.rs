//! `storefront attribute …`

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use serde_json::Value;

pub mod assign;
pub mod create;
pub mod diff;
pub mod export;
pub mod list;
pub mod option;

use self::assign::AssignArgs;
use self::create::CreateArgs;
use self::diff::DiffArgs;
use self::export::ExportArgs;
use self::list::ListArgs;
use self::option::OptionCommand;
use crate::cli::RequestArgs;
use crate::client::Session;
use crate::client::runtime::with_service;
use crate::client::service::Service;
use crate::ops::{Operation, attribute};
use crate::{commands, report};
use storefront_core::attribute::view::Attribute;
use storefront_core::failure::Failure;

/// Create product attributes, and make them ready for products.
#[derive(Debug, Subcommand)]
pub enum AttributeCommand {
    /// Create a product attribute
    Create(Box<CreateArgs>),
    /// Assign an attribute to attribute sets so products can use it
    Assign(Box<AssignArgs>),
    /// Add options, and set the default one
    #[command(subcommand)]
    Option(OptionCommand),
    /// Print an attribute
    #[command(alias = "get")]
    #[command(after_help = "Examples:
  storefront attribute show color --sandbox --api magento
  storefront attribute show color --sandbox --api magento -o json
  storefront attribute show color --sandbox --api magento --jq '.options[].label'")]
    Show(ShowArgs),
    /// List attributes with their labels, types and sets
    List(ListArgs),
    /// Print attributes as a file for another shop
    Export(ExportArgs),
    /// Compare a file of attributes with a shop, and plan what it lacks
    Diff(DiffArgs),
}

/// Flags of `attribute show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Code of the attribute
    #[arg(value_name = "CODE", value_parser = NonEmptyStringValueParser::new())]
    pub code: String,
    /// The flags of every call.
    #[command(flatten)]
    pub request: RequestArgs,
}

impl AttributeCommand {
    /// Whether it may change the shop.
    pub fn can_write(&self) -> bool {
        match self {
            Self::Create(_)
            | Self::Assign(_)
            | Self::Option(OptionCommand::Add(_) | OptionCommand::Default(_)) => true,
            Self::Show(_) | Self::List(_) | Self::Export(_) | Self::Diff(_) => false,
        }
    }

    /// The operation, if the command takes records.
    pub fn operation(&self) -> Option<&dyn Operation> {
        match self {
            Self::Create(args) => Some(&**args),
            Self::Assign(args) => Some(&**args),
            Self::Option(OptionCommand::Add(args)) => Some(&**args),
            Self::Option(OptionCommand::Default(args)) => Some(&**args),
            Self::Show(_) | Self::List(_) | Self::Export(_) | Self::Diff(_) => None,
        }
    }
}

/// Runs an attribute command.
///
/// # Errors
/// Whatever went wrong.
pub async fn run(session: &Session<'_>, command: &AttributeCommand) -> Result<(), Failure> {
    match command {
        AttributeCommand::Create(args) => create::run(session, args).await,
        AttributeCommand::Assign(args) => commands::run_operation(session, &**args).await,
        AttributeCommand::Option(command) => option::run(session, command).await,
        AttributeCommand::Show(args) => {
            with_service(session, async |service| show(service, &args.code).await).await
        }
        AttributeCommand::List(args) => {
            with_service(session, async |service| list::run(service, args).await).await
        }
        AttributeCommand::Export(args) => {
            with_service(session, async |service| export::run(service, args).await).await
        }
        AttributeCommand::Diff(args) => {
            with_service(session, async |service| diff::run(service, args).await).await
        }
    }
}

/// Prints an attribute: as it came under `-o json`, else as tables.
///
/// # Errors
/// As [`attribute::read_named`]; `usage` where the interface has no such read and no setting names one.
async fn show(service: &Service<'_>, code: &str) -> Result<(), Failure> {
    let request = attribute::read_request(service, code).ok_or_else(|| {
        let interface = service.settings.dialect.name;
        Failure::usage(format!("the interface `{interface}` does not support reading attributes")).hint(
            if service.session.global.flags.sandbox {
                "the sandbox of Magento does: add --api magento"
            } else {
                "set `read.attribute-path` in the profile to the path that shows it"
            },
        )
    })?;
    let report = service.session.report;
    if report.is_json() {
        return report.json(&attribute::read_named(service, &request, code).await?);
    }
    let has_own_path = service.settings.read.attribute_path.is_some();
    let reply = if service.settings.dialect.lists_store_views && !has_own_path {
        attribute::read_whole(service, code).await?.into()
    } else {
        attribute::read_named(service, &request, code).await?
    };
    let shown = Attribute::in_reply(&reply).ok_or_else(|| {
        Failure::unexpected_reply("unexpected response: not an attribute")
            .hint("print it as it came with -o json")
    })?;
    let mut shown = shown.0.clone();
    if let Some(Value::Array(options)) = shown.get_mut("options") {
        // A blank option stands for "nothing chosen".
        options.retain(|option| option["label"].as_str().is_some_and(|label| !label.trim().is_empty()));
    }
    report.stdout(format!("{}\n", report::attribute::text(&shown, report.stdout_style)))
}
