//! Flags every command takes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::duration;
use crate::failure::Failure;
use crate::sandbox::Fault;

/// Flags every command takes, before or after its name.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Global options")]
pub struct GlobalArgs {
    /// Profile to use [env: STOREFRONT_PROFILE]
    #[arg(short, long, global = true, value_name = "NAME")]
    pub profile: Option<String>,
    /// Use the built-in local service instead of a profile
    #[arg(long, global = true)]
    pub sandbox: bool,
    /// Inject a fault into the sandbox
    #[arg(long, global = true, value_name = "FAULT", help = fault_help())]
    pub fault: Vec<Fault>,
    /// Store view code [env: STOREFRONT_STORE_VIEW]
    #[arg(long, global = true, value_name = "CODE")]
    pub store_view: Option<String>,
    /// Read input from FILE (JSON, NDJSON or CSV; - for stdin)
    #[arg(short, long, global = true, value_name = "FILE")]
    pub input: Option<PathBuf>,
    /// Input format [default: from the file extension]
    #[arg(long, global = true, value_name = "FORMAT")]
    pub input_format: Option<InputFormat>,
    /// Send unknown fields unchanged
    #[arg(long, global = true)]
    pub allow_unknown: bool,
    /// Output format [env: STOREFRONT_OUTPUT]
    #[arg(short, long, global = true, value_name = "FORMAT")]
    pub output: Option<OutputFormat>,
    /// Filter each result through a jq expression (implies -o json)
    #[arg(long, global = true, value_name = "EXPRESSION")]
    pub jq: Option<String>,
    /// Show the request without sending it
    #[arg(short = 'n', long, global = true)]
    pub dry_run: bool,
    /// With --dry-run: print a curl command
    #[arg(long, global = true)]
    pub curl: bool,
    /// Answer yes to confirmations
    #[arg(short, long, global = true)]
    pub yes: bool,
    /// Never prompt; fail if input is required
    #[arg(long, global = true)]
    pub no_input: bool,
    /// Suppress informational messages (warnings are still shown)
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Log requests and responses to stderr (tokens redacted); -vv includes bodies
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// When to use colour [env: NO_COLOR, CLICOLOR_FORCE]
    #[arg(long, global = true, value_name = "WHEN")]
    pub color: Option<Color>,
    /// Request timeout, such as 30, 500ms or 1m [default: 30]
    #[arg(long, global = true, value_name = "DURATION", value_parser = duration::positive)]
    pub timeout: Option<std::time::Duration>,
    /// Maximum retries of requests that are safe to repeat [default: 2]
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
    /// A document or an array of records.
    Json,
    /// One record per line.
    Ndjson,
    /// Header plus one record per line.
    Csv,
}

/// Format of results.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum OutputFormat {
    /// Human-readable.
    #[default]
    Table,
    /// One JSON object per result.
    Json,
}

/// When to use colour.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum Color {
    /// When writing to a terminal.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}
