//! One file per noun: args → plan → confirm → send → report.

use crate::cli::Cli;
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
    let _session = Session { context, global: &cli.global, report };
    match &cli.command {
        _ => Ok(()),
    }
}
