//! Flags every command takes.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, FromArgMatches as _, ValueEnum};

use crate::failure::Failure;
use crate::plan::request::Interface;
use crate::sandbox::Fault;

/// Flags every command takes, before or after its name; and what the flags of the command itself came to, where it
/// takes them ([`super::command_flags`]).
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Global options")]
pub struct GlobalArgs {
    /// Profile to use [env: STOREFRONT_PROFILE]
    #[arg(short, long, global = true, value_name = "NAME")]
    pub profile: Option<String>,
    /// Use the built-in local service instead of a profile
    #[arg(long, global = true)]
    pub sandbox: bool,
    /// Interface of the service: marketplace or magento [env: STOREFRONT_API]
    #[arg(long, global = true, value_name = "NAME", hide_possible_values = true)]
    pub api: Option<Interface>,
    /// Store view code in the path [env: STOREFRONT_STORE_VIEW]
    #[arg(long, global = true, value_name = "CODE")]
    pub store_view: Option<String>,
    /// Output format [env: STOREFRONT_OUTPUT]
    #[arg(short, long, global = true, value_name = "table|json", hide_possible_values = true)]
    pub output: Option<OutputFormat>,
    /// Filter each result through a jq expression (implies -o json)
    #[arg(long, global = true, value_name = "EXPRESSION")]
    pub jq: Option<String>,
    /// Never prompt; fail if input is required
    #[arg(long, global = true)]
    pub no_input: bool,
    /// Print only results, warnings and errors
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Show requests and replies on stderr, tokens redacted; -vv with bodies
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// When to use colour: auto, always, never [env: NO_COLOR, CLICOLOR_FORCE]
    #[arg(long, global = true, value_name = "WHEN", hide_possible_values = true)]
    pub color: Option<Color>,
    /// The customer whom the command names.
    #[arg(skip)]
    pub customer: Option<String>,
    /// Whether the command can name one.
    #[arg(skip)]
    pub takes_customer: bool,
    /// File to read the input from; `-` is standard input.
    #[arg(skip)]
    pub input: Option<PathBuf>,
    /// Format of the input, where its extension does not say.
    #[arg(skip)]
    pub input_format: Option<InputFormat>,
    /// Send fields that the interface does not list, as they are.
    #[arg(skip)]
    pub allow_unknown: bool,
    /// Show exactly what would be sent, and send no write.
    #[arg(skip)]
    pub dry_run: bool,
    /// Show a dry run as a curl command.
    #[arg(skip)]
    pub curl: bool,
    /// Whether the command may change something at the service.
    #[arg(skip)]
    pub can_write: bool,
    /// Answer yes to confirmations.
    #[arg(skip)]
    pub yes: bool,
    /// How long a request may take.
    #[arg(skip)]
    pub timeout: Option<Duration>,
    /// Retries for requests that are safe to repeat.
    #[arg(skip)]
    pub retry: Option<u32>,
    /// Faults to inject into the sandbox.
    #[arg(skip)]
    pub fault: Vec<Fault>,
}

impl GlobalArgs {
    /// The global flags among the words of a command line that is incomplete or wrong; what cannot be understood is
    /// left out.
    pub fn find_in(words: &[OsString]) -> Self {
        let bare = clap::Command::new("storefront").no_binary_name(true).disable_help_flag(true);
        let grammar = Self::augment_args(bare);
        let parse = |words: &[OsString]| grammar.clone().try_get_matches_from(words);
        let (mut found, mut rest) = (Vec::new(), words);
        while !rest.is_empty() {
            let known = (1..=rest.len().min(2)).find(|count| parse(&rest[..*count]).is_ok());
            found.extend_from_slice(&rest[..known.unwrap_or(0)]);
            rest = &rest[known.unwrap_or(1)..];
        }
        let matches = grammar.ignore_errors(true).try_get_matches_from(found);
        matches.and_then(|matches| Self::from_arg_matches(&matches)).unwrap_or_default()
    }

    /// The global flags, with what the flags of the command came to.
    #[must_use]
    pub(super) fn with_command_flags(self, command: Self) -> Self {
        Self {
            input: command.input,
            input_format: command.input_format,
            allow_unknown: command.allow_unknown,
            dry_run: command.dry_run,
            curl: command.curl,
            can_write: command.can_write,
            yes: command.yes,
            timeout: command.timeout,
            retry: command.retry,
            fault: command.fault,
            takes_customer: command.takes_customer,
            customer: command.customer,
            ..self
        }
    }

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
