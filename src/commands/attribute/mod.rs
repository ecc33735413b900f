//! `storefront attribute …`

use clap::builder::NonEmptyStringValueParser;
use clap::{Args, Subcommand};
use serde_json::Value;

mod wizard;

use self::wizard::Wizard;
use crate::cli::attribute::CreateArgs;
use crate::cli::{RequestArgs, SharedArgs};
use crate::failure::{Failure, FailureKind};
use crate::input::{Draft, Unfinished};
use crate::ops::record::{RecordOperation, perform_and_report};
use crate::ops::{attribute, draft_from, input_document};
use crate::plan::operation::Operation;
use crate::plan::validate::attribute::in_reply;
use crate::prompt::Prompt;
use crate::session::Session;
use crate::session::runtime::with_service;
use crate::session::service::Service;
use crate::{commands, report};

/// Create product attributes.
#[derive(Debug, Subcommand)]
pub enum AttributeCommand {
    /// Create a product attribute
    #[command(after_help = "Examples:
  storefront attribute create --sandbox --code fit --label Fit --type select --option Slim Wide
  storefront attribute create --sandbox --code note --label Note --type text --dry-run
  storefront template attribute-create | storefront attribute create --sandbox -i -")]
    Create(Box<CreateArgs>),
    /// Print an attribute
    #[command(alias = "get")]
    #[command(after_help = "Examples:
  storefront attribute show color --sandbox --api magento
  storefront attribute show color --sandbox --api magento -o json
  storefront attribute show color --sandbox --api magento --jq '.options[].label'")]
    Show(ShowArgs),
}

/// Flags of `attribute show`.
#[derive(Debug, Args)]
pub struct ShowArgs {
    /// Code of the attribute
    #[arg(value_name = "CODE", value_parser = NonEmptyStringValueParser::new())]
    pub code: String,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub request: RequestArgs,
}

impl AttributeCommand {
    pub(super) fn shared(&self) -> SharedArgs<'_> {
        match self {
            Self::Create(args) => SharedArgs::from(&args.run),
            Self::Show(args) => SharedArgs::from(&args.request),
        }
    }
}

/// Runs an attribute command.
///
/// # Errors
/// Whatever went wrong.
pub async fn run(session: &Session<'_>, command: &AttributeCommand) -> Result<(), Failure> {
    match command {
        AttributeCommand::Create(args) => create(session, args).await,
        AttributeCommand::Show(args) => {
            with_service(session, async |service| show(service, &args.code).await).await
        }
    }
}

async fn create(session: &Session<'_>, args: &CreateArgs) -> Result<(), Failure> {
    let operation = RecordOperation::Direct(Operation::AttributeCreate, args);
    commands::run_records(session, operation, &args.batch, async || create_one(session, args).await).await
}

/// On a terminal, what is missing is asked for first.
async fn create_one(session: &Session<'_>, args: &CreateArgs) -> Result<(), Failure> {
    let document = input_document(session)?;
    let prompt = Prompt::new(session.context, session.global, session.report);
    if prompt.can_ask() {
        let allow_unknown = session.global.allow_unknown;
        let operation = Operation::AttributeCreate;
        let input = Draft::new(session.dialect, operation, document.clone(), &Unfinished, allow_unknown)?;
        let mut wizard = Wizard::new(session, &prompt, args.clone(), input.fields);
        if wizard.lacks_something() {
            return with_service(session, async |service| {
                let draft = wizard.run(document)?;
                let sent = perform_and_report(service, draft).await;
                wizard.tell();
                sent
            })
            .await;
        }
    }
    commands::send(session, None, draft_from(session, Operation::AttributeCreate, document, args)?).await
}

/// Prints an attribute: as it came under `-o json`, else as tables.
///
/// # Errors
/// As [`Service::read`]; `usage` where the interface has no such read and no setting names one.
async fn show(service: &Service<'_>, code: &str) -> Result<(), Failure> {
    let request = attribute::read_request(service, code).ok_or_else(|| {
        let interface = service.settings.dialect.name;
        Failure::usage(format!("the interface `{interface}` does not support reading attributes"))
            .hint("set `read.attribute-path` in the profile to the path that shows it")
    })?;
    let reply = service.read(&request).await?.value();
    let report = service.session.report;
    if report.is_json() {
        return report.json(&reply);
    }
    let stored = in_reply(reply).ok_or_else(|| {
        Failure::new(FailureKind::Unavailable, "unexpected response: not an attribute")
            .hint("print it as it came with -o json")
    })?;
    let mut shown = stored;
    if let Some(Value::Array(options)) = shown.get_mut("options") {
        // A blank option stands for "nothing chosen".
        options.retain(|option| option["label"].as_str().is_some_and(|label| !label.trim().is_empty()));
    }
    report.stdout(&format!("{}\n", report::attribute::text(&shown, report.stdout_style)))
}
