//! One file per command: args → plan → confirm → send → report.

pub mod api;
pub mod attribute;
pub mod auth;
pub mod check;
pub mod config;
pub mod customer;
pub mod dispatch;
pub mod doctor;
pub mod help;
pub mod journal;
pub mod man;
pub mod password_login;
pub mod quote;
pub mod sandbox;
pub mod template;
pub mod token_check;

use crate::cli::{Cli, Command, LazySubcommands};
use crate::completion;
use crate::config::{ReadOnce, chosen_dialect};
use crate::context::Context;
use crate::environment::{ADMIN_TOKEN, BASE_URL, TOKEN};
use crate::failure::Failure;
use crate::plan::operation::Operation;
use crate::plan::validate::json_schema;
use crate::report::Report;
use crate::session::Session;

/// Runs the command that was asked for.
///
/// # Errors
/// Whatever went wrong, complete with its exit code.
pub async fn run(cli: &Cli, context: &Context, report: &Report) -> Result<(), Failure> {
    cli.global.validate()?;
    let config = ReadOnce::default();
    let dialect = chosen_dialect(context, &cli.global, &config)?;
    if matches!(cli.command, Command::Config(_) | Command::Auth(_)) {
        config.forget();
    }
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
        Command::Template(args) => template::run(&session, &args.operation, args.format),
        Command::Schema(operation) => {
            let schema = json_schema::of(dialect, Operation::parse(&operation.words)?);
            session.report.stdout(&format!("{schema:#}\n"))
        }
        Command::Help(args) => help::run(&session, &args.words),
        Command::Completions(args) => session.report.stdout(&completion::script(args.shell)?),
        Command::Man(args) => man::run(&session, args.directory.as_deref()),
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
