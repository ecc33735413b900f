//! One file per noun: args → plan → confirm → send → report.

pub mod auth;
pub mod config;

use crate::cli::{Cli, Command};
use crate::context::Context;
use crate::failure::Failure;
use crate::report::Report;

/// What every command is given.
#[derive(Debug)]
pub struct Session<'a> {
    /// The captured surroundings.
    pub context: &'a Context,
    /// The flags every command takes.
    pub global: &'a crate::cli::GlobalArgs,
    /// The way out.
    pub report: &'a Report,
}

/// Runs the command that was asked for.
///
/// # Errors
/// Whatever went wrong, complete with its exit code.
pub fn run(cli: &Cli, context: &Context, report: &Report) -> Result<(), Failure> {
    let session = Session { context, global: &cli.global, report };
    match &cli.command {
        Command::Config(command) => config::run(&session, command),
        Command::Auth(command) => auth::run(&session, command),
        _ => Err(Failure::internal("this command has no body on this branch yet")),
    }
}
