//! One file per command: args → plan → confirm → send → report.

pub mod api;
pub mod attribute;
pub mod auth;
pub mod check;
pub mod config;
pub mod customer;
pub mod doctor;
pub mod journal;
pub mod meta;
pub mod quote;
pub mod sandbox;
use crate::cli::batch::BatchArgs;
use crate::cli::{Cli, Command, LazySubcommands};
use crate::config::{ConfigFile, chosen_dialect};
use crate::context::Context;
use crate::environment::{ADMIN_TOKEN, BASE_URL, TOKEN};
use crate::failure::Failure;
use crate::input::records::{self, Source};
use crate::input::{Draft, FlagOverrides};
use crate::ops::customers::{select, with_id};
use crate::ops::draft;
use crate::ops::record::{RecordOperation, perform_and_report};
use crate::plan::operation::Operation;
use crate::plan::validate::json_schema;
use crate::report::Report;
use crate::session::Session;
use crate::session::runtime::with_service;
use crate::{batch, completion};

/// Runs the command that was asked for.
///
/// # Errors
/// Whatever went wrong, complete with its exit code.
pub async fn run(cli: &Cli, context: &Context, report: &Report) -> Result<(), Failure> {
    cli.global.validate()?;
    let config = ConfigFile::load(context);
    let dialect = chosen_dialect(context, &cli.global, &config)?;
    let session = Session { context, global: &cli.global, config: &config, dialect, report };
    if cli.global.sandbox {
        note_ignored_variables(context, report)?;
    }
    match &cli.command {
        Command::Config(LazySubcommands(command)) => config::run(&session, command),
        Command::Auth(LazySubcommands(command)) => auth::run(&session, command).await,
        Command::Quote(LazySubcommands(command)) => quote::run(&session, command).await,
        Command::Customer(LazySubcommands(command)) => customer::run(&session, command).await,
        Command::Attribute(LazySubcommands(command)) => attribute::run(&session, command).await,
        Command::Journal(LazySubcommands(command)) => journal::run(&session, command),
        Command::Doctor(_) => doctor::run(&session).await,
        Command::Api(args) => api::run(&session, args).await,
        Command::Template(args) => meta::template(&session, &args.operation, args.format),
        Command::Schema(operation) => {
            let schema = json_schema::of(dialect, Operation::parse(&operation.words)?);
            session.report.stdout(&format!("{schema:#}\n"))
        }
        Command::Help(args) => meta::help(&session, &args.words),
        Command::Completions(args) => session.report.stdout(&completion::script(args.shell)?),
        Command::Man(args) => meta::man(&session, args.directory.as_deref()),
        Command::Sandbox(LazySubcommands(command)) => sandbox::run(&session, command).await,
    }
}

/// A token that a person has set and that is not used is worth a line. Programs have asked for the sandbox knowingly.
fn note_ignored_variables(context: &Context, report: &Report) -> Result<(), Failure> {
    if report.is_json() {
        return Ok(());
    }
    let mut ignored = Vec::new();
    for name in [BASE_URL, TOKEN, ADMIN_TOKEN] {
        if context.var(name)?.is_some() {
            ignored.push(name);
        }
    }
    if !ignored.is_empty() {
        report.status(&format!("ignored with --sandbox: {}", ignored.join(", ")));
    }
    Ok(())
}

/// Runs an operation over the records of a batch; where the input is none, `one_record` runs it.
///
/// # Errors
/// Whatever went wrong.
pub async fn run_records(
    session: &Session<'_>,
    operation: RecordOperation<'_>,
    args: &BatchArgs,
    one_record: impl AsyncFnOnce() -> Result<(), Failure>,
) -> Result<(), Failure> {
    match source(session, args)? {
        Some(source) => batch::run(session, &source, args, operation).await,
        None => one_record().await,
    }
}

/// Runs an operation that acts at once, on one document or a batch. The input is checked before the service is opened.
///
/// # Errors
/// Whatever went wrong.
pub async fn direct(
    session: &Session<'_>,
    operation: Operation,
    flags: &dyn FlagOverrides,
    args: &BatchArgs,
) -> Result<(), Failure> {
    run_records(session, RecordOperation::Direct(operation, flags), args, async || {
        send(session, flags.customer(), draft(session, operation, flags)?).await
    })
    .await
}

/// Sends one draft, for the customer who is named or the token's own.
///
/// # Errors
/// Whatever went wrong.
pub async fn send(session: &Session<'_>, customer: Option<&str>, draft: Draft) -> Result<(), Failure> {
    with_service(session, async |service| {
        perform_and_report(&with_id(&select(service, customer)?).await?, draft).await
    })
    .await
}

/// The input, where it is one of many records.
fn source(session: &Session<'_>, args: &BatchArgs) -> Result<Option<Source>, Failure> {
    let source = records::detect(session.global)?;
    match (&source, args.first_given()) {
        (None, Some(flag)) => Err(Failure::usage(format!("{flag} requires batch input"))
            .hint("use --input with CSV, NDJSON or a JSON array (add --input-format for stdin)")),
        _ => Ok(source),
    }
}
