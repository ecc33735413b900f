//! The grammar of the command line, one file per command. Arguments are not settings: `config` makes those.

mod absent;
pub mod api;
pub mod attribute;
pub mod auth;
pub mod batch;
mod command_flags;
pub mod config;
pub mod customer;
pub mod duration;
mod empty_value;
mod examples;
pub mod field_flags;
pub mod global;
pub mod journal;
pub mod lazy;
pub mod number;
pub mod quote;
pub mod sandbox;

use std::ffi::OsString;
use std::mem::ManuallyDrop;

use clap::builder::styling::{AnsiColor, Styles};
use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand, ValueEnum};

pub use global::{Color, GlobalArgs, InputFormat, OutputFormat};
pub use lazy::{LazyArgs, LazySubcommands, NoArgs};

/// Colours of help and of errors about the command line, as cargo and uv have them.
const STYLES: Styles = Styles::styled()
    .header(AnsiColor::Green.on_default().bold())
    .usage(AnsiColor::Green.on_default().bold())
    .literal(AnsiColor::Cyan.on_default().bold())
    .placeholder(AnsiColor::Cyan.on_default());

/// Command-line client for a Magento-derived marketplace: safe profile updates, quotes and attributes.
#[derive(Debug, Parser)]
#[command(name = "storefront", bin_name = "storefront", version, disable_help_subcommand = true, infer_long_args = false, styles = STYLES)]
pub struct Cli {
    /// What every command takes.
    #[command(flatten)]
    pub global: GlobalArgs,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// The whole grammar, verbs, examples and all.
pub fn command() -> clap::Command {
    let mut grammar = subcommands();
    grammar.build();
    grammar
}

/// The grammar of the commands that are among these words, if there are any: clap gives each a copy of every global flag.
/// It has no help, and takes nothing the whole would not take; what it does not take is for the whole to tell of.
fn subcommands_in(words: &[OsString]) -> Option<clap::Command> {
    let all = Command::augment_subcommands(clap::Command::new("storefront"));
    let is_named = |command: &&clap::Command| words.iter().any(|word| word == command.get_name());
    let mut named = all.get_subcommands().filter(is_named).cloned().peekable();
    named.peek()?;
    let bare = clap::Command::new("storefront").bin_name("storefront");
    let bare = bare.disable_help_subcommand(true).disable_help_flag(true);
    Some(lazy::with_words(GlobalArgs::augment_args(bare).subcommands(named)))
}

/// The grammar, what each command takes made when it is needed.
fn subcommands() -> clap::Command {
    lazy::with_words(Cli::command())
}

impl Cli {
    /// Reads a command line, the program first.
    ///
    /// # Errors
    /// What clap has to say: help, the version, or what is wrong.
    pub fn parse_args(words: &[OsString]) -> Result<Self, clap::Error> {
        let read = subcommands_in(words).and_then(|grammar| Self::parse_args_with(grammar, words).ok());
        read.map_or_else(|| Self::parse_args_with(subcommands(), words), Ok)
            .map_err(|error| absent::explain(error, words))
    }

    fn parse_args_with(grammar: clap::Command, words: &[OsString]) -> Result<Self, clap::Error> {
        // Taking them apart takes half as long as making them, and this process ends soon.
        let mut grammar = ManuallyDrop::new(grammar);
        let mut matches = ManuallyDrop::new(grammar.try_get_matches_from_mut(words)?);
        empty_value::refuse(&mut grammar, &matches)?;
        let mut flags = GlobalArgs::default();
        command_flags::read(&matches, &mut flags)
            .and_then(|()| Self::from_arg_matches_mut(&mut matches))
            .map(|cli| Self { global: cli.global.with_command_flags(flags), ..cli })
            .map_err(|error| error.format(&mut grammar))
    }
}

/// Which operation, for what is printed about its input.
#[derive(Debug, Args)]
pub struct OperationArgs {
    /// The operation, as one word or two: quote-ship, or quote ship
    #[arg(id = "operation", value_name = "OPERATION", required = true, num_args = 1..=2)]
    pub words: Vec<String>,
}

/// Form of a template.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TemplateFormat {
    /// One document.
    Json,
    /// A header and one row.
    Csv,
}

/// What `storefront help` explains besides the commands.
pub const HELP_TOPICS: &[&str] = &["exit-codes", "environment", "input"];

/// Flags of `template`.
#[derive(Debug, Args)]
pub struct TemplateArgs {
    /// Which operation.
    #[command(flatten)]
    pub operation: OperationArgs,
    /// Input format
    #[arg(long, value_name = "json|csv", default_value = "json", hide_possible_values = true)]
    pub format: TemplateFormat,
}

/// What `help` is asked about.
#[derive(Debug, Args)]
pub struct HelpArgs {
    /// The topic, or the command's words
    #[arg(value_name = "TOPIC|COMMAND")]
    pub words: Vec<String>,
}

/// Which completion script.
#[derive(Debug, Args)]
pub struct CompletionsArgs {
    /// The shell
    pub shell: clap_complete::Shell,
}

/// Where man pages go.
#[derive(Debug, Args)]
pub struct ManArgs {
    /// Output directory (created if missing)
    #[arg(value_name = "DIR")]
    pub directory: Option<std::path::PathBuf>,
}

/// The nouns.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Save shipping details and add items to quotes
    #[command(subcommand)]
    Quote(LazySubcommands<quote::QuoteCommand>),
    /// Show, update and restore customer profiles
    #[command(subcommand)]
    Customer(LazySubcommands<customer::CustomerCommand>),
    /// Create product attributes
    #[command(subcommand)]
    Attribute(LazySubcommands<attribute::AttributeCommand>),
    /// Inspect the journals of batches
    #[command(subcommand)]
    Journal(LazySubcommands<journal::JournalCommand>),
    /// Manage profiles and settings
    #[command(subcommand)]
    Config(LazySubcommands<config::ConfigCommand>),
    /// Manage access tokens
    #[command(subcommand)]
    Auth(LazySubcommands<auth::AuthCommand>),
    /// Check the setup and suggest a fix for each problem
    Doctor(LazyArgs<NoArgs>),
    /// Run and inspect the built-in local service (no account needed)
    #[command(subcommand)]
    Sandbox(LazySubcommands<sandbox::SandboxCommand>),
    /// Call any other endpoint with the profile's base URL and token
    Api(LazyArgs<api::ApiArgs>),
    /// Print an example input to edit (field descriptions go to stderr)
    Template(LazyArgs<TemplateArgs>),
    /// Print the JSON Schema (2020-12) of an operation's input
    Schema(LazyArgs<OperationArgs>),
    /// Explain a topic (exit-codes, environment, input) or a command
    Help(LazyArgs<HelpArgs>),
    /// Print a shell completion script
    Completions(LazyArgs<CompletionsArgs>),
    /// Write the man pages to DIR, or print the main page
    Man(LazyArgs<ManArgs>),
}

#[cfg(test)]
mod tests {
    use std::ffi::OsString;

    use super::{Cli, subcommands, subcommands_in};

    fn words(line: &str) -> Vec<OsString> {
        ["storefront"].into_iter().chain(line.split(' ')).map(OsString::from).collect()
    }

    /// What the grammar of the typed command makes of a line; `None` where the whole is asked.
    fn read_first(line: &str) -> Option<String> {
        let words = words(line);
        Cli::parse_args_with(subcommands_in(&words)?, &words).ok().map(|cli| format!("{cli:?}"))
    }

    #[test]
    fn the_grammar_of_the_typed_command_reads_a_line_as_the_whole_one_does() {
        for line in [
            "-q quote add-item --sku a --qty 1e2 --option 1=2 3=4 --jobs 4 --sandbox",
            "quote -p shop ship --ship-to-address 2 -n --curl --payment-method free",
            "--api magento customer update --customer 7 --address 1 --city Lyon -vv --yes",
            "customer history --limit 3 --fault latency=5",
            "attribute create --label Size --required --options sizes.csv",
            "config set profiles.shop.retry 3",
            "auth login --admin --user ada --timeout 5",
            "doctor --retry 1",
            "api get /V1/store --admin -i body.json",
            "template quote ship --format csv",
            "help customer update",
            "journal show quote",
        ] {
            let whole = Cli::parse_args_with(subcommands(), &words(line)).unwrap();
            assert_eq!(read_first(line), Some(format!("{whole:?}")), "{line}");
        }
    }

    #[test]
    fn help_and_errors_are_for_the_whole_grammar() {
        for line in [
            "--version",
            "-h",
            "quote",
            "quote --help",
            "quote ship -h",
            "quote ship --ship-to-address x",
            "quote send",
            "customer update --bogus",
            "customer update --city",
            "orders list",
        ] {
            assert_eq!(read_first(line), None, "{line}");
        }
    }
}
