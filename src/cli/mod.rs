//! The flags that commands share. Each command has its own in its file in `commands`.

pub mod command_line;
pub mod field_flags;
pub mod hint;
pub mod lines;

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use clap::builder::{
    NonEmptyStringValueParser, PathBufValueParser, PossibleValue, PossibleValuesParser, TypedValueParser,
};
use clap::{ArgMatches, Args, Command, FromArgMatches as _, Id, ValueEnum};
use encoding_rs::Encoding;

use self::command_line::CommandLine;
use self::lines::Lines;
use crate::journal::{Shard, State};
use storefront_core::failure::Failure;
use storefront_core::interface::request::Interface;
use storefront_core::text::duration;
use storefront_sandbox::Fault;

/// The parser of an interface's name.
fn interface_parser() -> impl TypedValueParser<Value = Interface> {
    let about = |interface| match interface {
        Interface::Marketplace => "The marketplace's",
        Interface::Magento => "The REST API of Magento Open Source, Adobe Commerce and Mage-OS",
    };
    let named = |interface: Interface| PossibleValue::new(interface.dialect().name).help(about(interface));
    let find = |name: String| Interface::ALL.into_iter().find(|interface| interface.dialect().name == name);
    PossibleValuesParser::new(Interface::ALL.map(named))
        .try_map(move |name| find(name).ok_or("unknown interface"))
}

/// Flags every command takes, before or after its name.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Global options")]
pub struct GlobalFlags {
    /// Profile to use [env: STOREFRONT_PROFILE]
    #[arg(short, long, global = true, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
    pub profile: Option<String>,
    /// Use the built-in local service instead of a profile
    #[arg(long, global = true)]
    pub sandbox: bool,
    /// Interface of the service: marketplace or magento [env: STOREFRONT_API]
    #[arg(long, global = true, value_name = "NAME", hide_possible_values = true, value_parser = interface_parser())]
    pub api: Option<Interface>,
    /// Store view code in the path [env: STOREFRONT_STORE_VIEW]
    #[arg(long, global = true, value_name = "CODE", value_parser = NonEmptyStringValueParser::new())]
    pub store_view: Option<String>,
    /// Output format [env: STOREFRONT_OUTPUT]
    #[arg(short, long, global = true, value_name = "table|json", hide_possible_values = true)]
    pub output: Option<OutputFormat>,
    /// Filter each result through a jq expression (implies -o json)
    #[arg(long, global = true, value_name = "EXPRESSION", value_parser = NonEmptyStringValueParser::new())]
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
    /// When to use color: auto, always, never [env: NO_COLOR, CLICOLOR_FORCE]
    #[arg(long, global = true, value_name = "WHEN", hide_possible_values = true)]
    pub color: Option<Color>,
}

/// Where an operation reads its record or records.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Input options")]
pub struct InputArgs {
    /// Read input from FILE (JSON, NDJSON or CSV; - for stdin)
    #[arg(id = "input", short, long, value_name = "FILE")]
    pub path: Option<PathBuf>,
    /// Input format: json, ndjson or csv [default: from the file extension]
    #[arg(long, value_name = "FORMAT", hide_possible_values = true)]
    pub input_format: Option<InputFormat>,
    /// Encoding of the input, such as windows-1252 [default: UTF-8]
    #[arg(long, value_name = "NAME", value_parser = encoding)]
    pub encoding: Option<&'static Encoding>,
    /// Send unknown fields unchanged
    #[arg(long)]
    pub allow_unknown: bool,
}

/// Where an export goes.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Export options")]
pub struct ToArgs {
    /// Write to FILE, which must not exist [default: standard output]
    #[arg(long, value_name = "FILE")]
    pub to: Option<PathBuf>,
    /// Encoding of the sheet, such as windows-1252 [default: UTF-8]
    #[arg(long, value_name = "NAME", value_parser = encoding)]
    pub encoding: Option<&'static Encoding>,
}

/// Format of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ExportFormat {
    /// A sheet.
    Csv,
    /// JSON, as it is given in again.
    Json,
}

/// Reads the name of an encoding.
///
/// # Errors
/// What is expected instead.
pub fn encoding(name: &str) -> Result<&'static Encoding, &'static str> {
    Encoding::for_label_no_replacement(name.as_bytes())
        .ok_or("expected a name such as utf-8, windows-1252 or shift_jis")
}

/// The flags of every write.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Request options")]
pub struct WriteArgs {
    /// Show what would be sent, and send nothing
    #[arg(short = 'n', long)]
    pub dry_run: bool,
    /// With --dry-run: print a curl command
    #[arg(long, requires = "dry_run")]
    pub curl: bool,
    /// The flags of every command that asks.
    #[command(flatten)]
    pub confirm: ConfirmArgs,
    /// The flags of every call.
    #[command(flatten)]
    pub request: RequestArgs,
}

/// The flags of every command that asks before it does something.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Request options")]
pub struct ConfirmArgs {
    /// Skip confirmation prompts
    #[arg(short, long)]
    pub yes: bool,
}

/// The flags of every call.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Request options")]
pub struct RequestArgs {
    /// Request timeout, such as 30, 500ms or 1m [default: 30]
    #[arg(long, value_name = "DURATION", value_parser = duration::positive)]
    pub timeout: Option<Duration>,
    /// Retries for requests that are safe to repeat [default: 2]
    #[arg(long, value_name = "N")]
    pub retry: Option<u32>,
    /// Inject a fault into the sandbox (repeatable; see `sandbox serve`)
    #[arg(long, value_name = "FAULT")]
    pub fault: Vec<Fault>,
}

/// Whose profile or quote it is.
#[derive(Debug, Clone, Default, Args)]
pub struct CustomerChoice {
    /// Customer ID or email, with an admin token [default: the token's own]
    #[arg(long, value_name = "ID|EMAIL", value_parser = NonEmptyStringValueParser::new())]
    pub customer: Option<String>,
}

/// How long a write waits: before it for other commands, and after it for what it changed.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Request options")]
pub struct WaitArgs {
    /// Maximum time to wait until the change is visible [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = duration::or_zero)]
    pub settle: Option<Duration>,
    /// Maximum wait for another command that writes the same [default: 5m]
    #[arg(long, value_name = "TIME", value_parser = duration::or_zero)]
    pub lock_timeout: Option<Duration>,
}

/// Flags of every command that replaces a profile.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Update options")]
pub struct ReplacementArgs {
    /// Continue even if an earlier unknown update may still take effect
    #[arg(long)]
    pub after_unknown: bool,
    /// Write the profile back even if stored values look masked
    #[arg(long)]
    pub allow_masked: bool,
}

/// How a plan is written.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Request options")]
pub struct PlanArgs {
    /// Write a plan to FILE for `storefront apply` instead of sending anything
    #[arg(id = "plan", long, value_name = "FILE", value_parser = plan_file())]
    pub file: Option<PathBuf>,
    /// With --plan: how long it can be applied, such as 8h [default: 24h]
    #[arg(long, value_name = "DURATION", requires = "plan", value_parser = duration::up_to_30_days)]
    pub expires: Option<Duration>,
}

/// Flags of a run over many records; without such an input they are refused.
#[derive(Debug, Clone, Default, Args)]
#[command(next_help_heading = "Batch options")]
pub struct BatchArgs {
    /// Journal file [default: INPUT.journal]
    #[arg(long, value_name = "FILE")]
    pub journal: Option<PathBuf>,
    /// Resume from the journal (or start one), skipping completed records
    #[arg(long)]
    pub resume: bool,
    /// Discard the journal and process every record again
    #[arg(long, conflicts_with = "resume")]
    pub restart: bool,
    /// With --resume: also resend unknown records, all or those in LINES
    #[arg(long, value_name = "LINES", num_args = 0..=1, require_equals = true, requires = "resume")]
    pub retry_unknown: Option<Option<Lines>>,
    /// With --resume: also resend failed records as they are, all or those in LINES
    #[arg(long, value_name = "LINES", num_args = 0..=1, require_equals = true, requires = "resume", hide = true)]
    pub retry_failed: Option<Option<Lines>>,
    /// With --resume: note unknown or failed records in LINES as done
    #[arg(long, value_name = "LINES", requires = "resume")]
    pub mark_done: Option<Lines>,
    /// Stop at the first failure
    #[arg(long)]
    pub stop_on_error: bool,
    /// Report invalid records as failed instead of rejecting the input
    #[arg(long)]
    pub skip_invalid: bool,
    /// Process only shard I of N (from 0); equal keys share a shard
    #[arg(long, value_name = "I/N")]
    pub shard: Option<Shard>,
    /// With --shard and --resume: start the shard if it has no journal
    #[arg(long, requires_all = ["shard", "resume"])]
    pub start: bool,
}

impl BatchArgs {
    /// Whether the record in this line, with this state, is sent again.
    pub fn retries(&self, line: u64, state: State) -> bool {
        let asked = match state {
            State::Sending | State::Unknown => &self.retry_unknown,
            State::FailedPermanent => &self.retry_failed,
            _ => &None,
        };
        let is_asked = asked.as_ref().is_some_and(|lines| is_all_or(lines.as_ref(), line));
        is_asked && !self.marks_done(line)
    }

    /// Whether a person found that the record in this line did not take effect.
    pub fn excludes(&self, line: u64) -> bool {
        self.retry_unknown.as_ref().and_then(Option::as_ref).is_some_and(|lines| lines.contains(line))
    }

    /// Whether a person found that the record in this line took effect, or was made by hand.
    pub fn marks_done(&self, line: u64) -> bool {
        self.mark_done.as_ref().is_some_and(|lines| lines.contains(line))
    }

    /// The lists of lines that a person decides about, with their flags.
    pub fn named(&self) -> impl Iterator<Item = (&'static str, &Lines)> {
        let retried = [("--retry-unknown", &self.retry_unknown), ("--retry-failed", &self.retry_failed)];
        let retried = retried.into_iter().filter_map(|(flag, lines)| Some((flag, lines.as_ref()?.as_ref()?)));
        retried.chain(self.mark_done.as_ref().map(|lines| ("--mark-done", lines)))
    }
}

/// Whether a line is in a list; without a list, every line is.
fn is_all_or(lines: Option<&Lines>, line: u64) -> bool {
    lines.is_none_or(|lines| lines.contains(line))
}

/// How many records are in flight, and how fast they are started.
#[derive(Debug, Clone, Copy, Default, Args)]
#[command(next_help_heading = "Batch options")]
pub struct PaceArgs {
    /// Records to process concurrently [default: 8]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub jobs: Option<u16>,
    /// Maximum rate: N/s, N/m or N/h
    #[arg(long, value_name = "N/s")]
    pub rate: Option<Rate>,
}

impl PaceArgs {
    /// Records in flight without `--jobs`.
    pub const JOBS: u16 = 8;

    /// Records in flight at most.
    pub fn jobs(&self) -> u16 {
        self.jobs.unwrap_or(Self::JOBS)
    }
}

/// The flags of every operation.
#[derive(Debug, Clone, Default, Args)]
pub struct OperationArgs {
    /// The input.
    #[command(flatten)]
    pub input: InputArgs,
    /// The flags of every write.
    #[command(flatten)]
    pub write: WriteArgs,
    /// How long it waits.
    #[command(flatten)]
    pub waits: WaitArgs,
    /// Plans.
    #[command(flatten)]
    pub plan: PlanArgs,
    /// How many records at a time.
    #[command(flatten)]
    pub pace: PaceArgs,
    /// Many records.
    #[command(flatten)]
    pub batch: BatchArgs,
}

/// All flags that a command shares with others, as the rest of the program reads them. Those that the command does not
/// take are not set.
#[derive(Debug, Clone, Default)]
pub struct GlobalArgs {
    /// The command line as typed.
    pub typed: CommandLine,
    /// The flags of every command.
    pub flags: GlobalFlags,
    /// The profile that flag or environment name; commands of hints name it, too.
    pub profile: Option<String>,
    /// The input.
    pub input: InputArgs,
    /// How calls are made.
    pub request: RequestArgs,
    /// How long a write waits.
    pub waits: WaitArgs,
    /// Where to write a plan; then nothing is sent and nothing is asked.
    pub plan: PlanArgs,
    /// The customer whom the command names.
    pub customer: Option<String>,
    /// Whether the command can name one.
    pub takes_customer: bool,
    /// Whether it can be told to use the administrator's token.
    pub takes_admin: bool,
    /// Whether only what would be sent is shown, and no write is sent.
    pub dry_run: bool,
    /// Whether a dry run is shown as a curl command.
    pub curl: bool,
    /// Whether the command may change something at the service.
    pub can_write: bool,
    /// How many records are in flight.
    pub pace: PaceArgs,
    /// The flags of a batch.
    pub batch: BatchArgs,
    /// The first flag that was given for a batch.
    pub batch_flag: Option<String>,
    /// Whether nothing is asked.
    pub no_input: bool,
    /// Whether confirmation prompts are skipped.
    pub yes: bool,
}

impl GlobalArgs {
    /// The flags of a command line; `command` is the called command, and `matches` its arguments.
    pub fn new(flags: &GlobalFlags, command: &Command, matches: &ArgMatches) -> Self {
        let takes = |id: &str| command.get_arguments().any(|argument| argument.get_id() == id);
        let is_set = |id: &str| takes(id) && matches.get_flag(id);
        let plan: PlanArgs = flattened(command, matches);
        let dry_run = is_set("dry_run") || plan.file.is_some();
        let customer: CustomerChoice = flattened(command, matches);
        let first_of = |group: Option<Id>| matches.try_get_one::<Id>(group?.as_str()).ok()?;
        let is_batch =
            BatchArgs::group_id().is_some_and(|id| command.get_groups().any(|group| *group.get_id() == id));
        let batch_flag = first_of(BatchArgs::group_id());
        let batch_flag = batch_flag.or_else(|| first_of(PaceArgs::group_id().filter(|_| is_batch)));
        Self {
            typed: CommandLine::default(),
            flags: flags.clone(),
            profile: flags.profile.clone(),
            input: flattened(command, matches),
            request: flattened(command, matches),
            waits: flattened(command, matches),
            customer: customer.customer.or_else(|| {
                let named = takes("named_customer").then(|| matches.get_one::<String>("named_customer"));
                named.flatten().cloned()
            }),
            takes_customer: takes("customer"),
            takes_admin: takes("admin"),
            dry_run,
            curl: is_set("curl"),
            can_write: false,
            batch_flag: batch_flag.map(|id| format!("--{}", id.as_str().replace('_', "-"))),
            pace: flattened(command, matches),
            batch: flattened(command, matches),
            no_input: flags.no_input || plan.file.is_some(),
            yes: is_set("yes"),
            plan,
        }
    }

    /// These arguments for another profile.
    #[must_use]
    pub fn for_profile(&self, name: &str) -> Self {
        let flags = GlobalFlags { profile: Some(name.to_owned()), ..self.flags.clone() };
        Self { flags, ..self.clone() }
    }
}

/// The file of a plan. It is kept beside a journal, so it is never standard input or output.
pub fn plan_file() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new()
        .try_map(|path| if path == Path::new("-") { Err("a plan is a file; name one") } else { Ok(path) })
}

/// The flags of a group, which clap names after their struct; defaults if the command does not take the group.
fn flattened<T: Args + Default>(command: &Command, matches: &ArgMatches) -> T {
    let is_taken = T::group_id().is_some_and(|id| command.get_groups().any(|group| *group.get_id() == id));
    if is_taken { T::from_arg_matches(matches).unwrap_or_default() } else { T::default() }
}

impl GlobalFlags {
    /// The global flags among the words of an incomplete or wrong command line; other words are ignored.
    pub fn find_in(words: &[OsString]) -> Self {
        let bare = Command::new("storefront").no_binary_name(true).disable_help_flag(true);
        let grammar = Self::augment_args(bare);
        let parse = |words: &[OsString]| grammar.clone().try_get_matches_from(words);
        let mut found = Vec::new();
        let mut rest = words;
        while !rest.is_empty() {
            let known = (1..=rest.len().min(2)).find(|count| parse(&rest[..*count]).is_ok());
            found.extend_from_slice(&rest[..known.unwrap_or(0)]);
            rest = &rest[known.unwrap_or(1)..];
        }
        let matches = grammar.ignore_errors(true).try_get_matches_from(found);
        matches.and_then(|matches| Self::from_arg_matches(&matches)).unwrap_or_default()
    }

    /// Refuses flags that contradict each other. clap checks conflicts only among flags on one side of the command's
    /// name.
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
        Ok(())
    }
}

/// A limit on how many records are started in a time.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// Records a second, above 0.
    pub per_second: f64,
}

impl FromStr for Rate {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (number, unit) = text.split_once('/').unwrap_or((text, "s"));
        let seconds = match unit {
            "s" => 1.0,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return Err("expected N, N/s, N/m or N/h".to_owned()),
        };
        let number: Option<f64> = number.parse().ok();
        number
            .filter(|number| number.is_finite() && *number > 0.0)
            .map(|number| Self { per_second: number / seconds })
            .ok_or_else(|| "expected a positive rate, e.g. 20/s".to_owned())
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

/// When to use color.
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

#[cfg(test)]
mod tests {
    use super::Rate;
    use crate::journal::Shard;

    #[test]
    fn rates_have_a_unit_of_time() {
        let rate = |text: &str| text.parse::<Rate>().map(|rate| rate.per_second);
        assert_eq!(
            (rate("20"), rate("20/s"), rate("30/m"), rate("36/h")),
            (Ok(20.0), Ok(20.0), Ok(0.5), Ok(0.01))
        );
        for bad in ["", "0", "-1", "x", "5/d", "inf", "NaN"] {
            assert!(rate(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn shards_count_from_zero() {
        assert_eq!("3/4".parse(), Ok(Shard { index: 3, count: 4 }));
        for bad in ["4/4", "0/0", "-1/2", "1", "a/b", ""] {
            assert!(bad.parse::<Shard>().is_err(), "{bad:?}");
        }
    }
}
