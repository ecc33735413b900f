//! Flags every command takes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::duration;
use crate::failure::Failure;
use crate::plan::request::Interface;
use crate::sandbox::Fault;

/// Flags every command takes, before or after its name.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Global options")]
pub struct GlobalArgs {
    /// Which profile of the configuration to use [env: STOREFRONT_PROFILE]
    #[arg(short, long, global = true, value_name = "NAME")]
    pub profile: Option<String>,
    /// Use the built-in local service: no account, no configuration
    #[arg(long, global = true)]
    pub sandbox: bool,
    /// Inject a fault into the sandbox
    #[arg(long, global = true, value_name = "FAULT", help = fault_help())]
    pub fault: Vec<Fault>,
    /// Interface of the service [env: STOREFRONT_API] [default: marketplace]
    #[arg(long, global = true, value_name = "INTERFACE")]
    pub api: Option<Interface>,
    /// Store view code in the path [env: STOREFRONT_STORE_VIEW]
    #[arg(long, global = true, value_name = "CODE")]
    pub store_view: Option<String>,
    /// JSON, NDJSON or CSV to read; - is standard input
    #[arg(short, long, global = true, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Format of the input, where its extension does not say
    #[arg(long, global = true, value_name = "FORMAT")]
    pub input_format: Option<InputFormat>,
    /// Send members the interface does not list, as they are
    #[arg(long, global = true)]
    pub allow_unknown: bool,
    /// Form of the result on standard output [env: STOREFRONT_OUTPUT]
    #[arg(short, long, global = true, value_name = "FORMAT")]
    pub output: Option<OutputFormat>,
    /// Print what this jq expression makes of each result; implies -o json
    #[arg(long, global = true, value_name = "EXPRESSION")]
    pub jq: Option<String>,
    /// Show exactly what would be sent; send no write
    #[arg(short = 'n', long, global = true)]
    pub dry_run: bool,
    /// With --dry-run: show it as a curl command
    #[arg(long, global = true)]
    pub curl: bool,
    /// Answer yes to confirmations
    #[arg(short, long, global = true)]
    pub yes: bool,
    /// Never prompt; what would need an answer is an error
    #[arg(long, global = true)]
    pub no_input: bool,
    /// Print results and errors only
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Show requests and replies on standard error, tokens redacted; -vv with bodies
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// When to use colour [env: NO_COLOR, CLICOLOR_FORCE]
    #[arg(long, global = true, value_name = "WHEN")]
    pub color: Option<Color>,
    /// Request timeout, such as 30, 500ms or 1m [default: 30]
    #[arg(long, global = true, value_name = "DURATION", value_parser = duration::positive)]
    pub timeout: Option<std::time::Duration>,
    /// Repeats of what cannot act twice [default: 2]
    #[arg(long, global = true, value_name = "N")]
    pub retry: Option<u32>,
}

fn fault_help() -> String {
    let kinds = crate::sandbox::fault_kinds();
    format!(
        "Inject a fault into the sandbox: [METHOD:]KIND[=VALUE][@PERCENT][xTIMES] (repeatable). Kinds: {kinds}"
    )
}

impl GlobalArgs {
    /// Refuses flags that contradict each other. clap checks its own conflicts only among flags on one side of the
    /// command's name, so it is done here, wherever they stand.
    ///
    /// # Errors
    /// `usage`, with the flags.
    pub fn validate(&self) -> Result<(), Failure> {
        let both = |one: &str, other: &str| {
            Err(Failure::usage(format!("`{one}` cannot be used with `{other}`"))
                .hint(format!("leave out `{one}` or `{other}`")))
        };
        if self.sandbox && self.profile.is_some() {
            return both("--sandbox", "--profile");
        }
        if self.quiet && self.verbose > 0 {
            return both("--quiet", "--verbose");
        }
        if self.curl && !self.dry_run {
            return Err(Failure::usage("`--curl` requires `--dry-run`").hint("add --dry-run"));
        }
        Ok(())
    }
}

/// Format of `--input`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum InputFormat {
    /// One document, or an array of records.
    Json,
    /// One record a line.
    Ndjson,
    /// A header and one record a line.
    Csv,
}

/// Format of results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// For people.
    #[default]
    Table,
    /// For programs: one object an operation.
    Json,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// On a terminal that wants it.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}
