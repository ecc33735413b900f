//! The grammar of the command line, one file per noun. Arguments are not settings: `config` makes those.

pub mod api;
pub mod attribute;
pub mod auth;
pub mod config;
pub mod customer;
pub mod global;
pub mod lazy;
pub mod member_flags;
pub mod quote;
pub mod run;
pub mod sandbox;

use clap::{Args, Parser, Subcommand};

pub use global::{Color, GlobalArgs, InputFormat, OutputFormat};
pub use lazy::Lazy;

/// Storefront operations that never lose an address and never act twice.
#[derive(Debug, Parser)]
#[command(name = "storefront", version, about, disable_help_subcommand = true, infer_long_args = false)]
pub struct Cli {
    /// What every command takes.
    #[command(flatten)]
    pub global: GlobalArgs,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// Which operation, for what is printed about its input.
#[derive(Debug, Args)]
pub struct OperationArgs {
    /// The operation, as one word or two: quote-ship, or quote ship
    #[arg(id = "operation", value_name = "OPERATION", required = true, num_args = 1..=2)]
    pub words: Vec<String>,
}

/// The nouns.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Quotes: shipping, billing, payment and items
    #[command(subcommand)]
    Quote(Lazy<quote::QuoteCommand>),
    /// Customers: the profile and its addresses
    #[command(subcommand)]
    Customer(Lazy<customer::CustomerCommand>),
    /// Product attributes
    #[command(subcommand)]
    Attribute(Lazy<attribute::AttributeCommand>),
    /// Profiles and their settings
    #[command(subcommand)]
    Config(Lazy<config::ConfigCommand>),
    /// Tokens, kept apart from the settings
    #[command(subcommand)]
    Auth(Lazy<auth::AuthCommand>),
    /// Is the set-up sound? Each finding with its mend
    Doctor,
    /// The built-in local service: everything can be tried with no account
    #[command(subcommand)]
    Sandbox(Lazy<sandbox::SandboxCommand>),
    #[allow(missing_docs)]
    Api(api::ApiArgs),
    /// Print a filled-in input to edit; what its members mean goes to standard error
    Template(OperationArgs),
    /// Print the JSON Schema (2020-12) of an operation's input
    Schema(OperationArgs),
    /// Print the script that makes a shell complete commands, flags and values
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
    /// Write the manual pages, one a command; without a directory, print the first
    Man {
        /// Where the pages go; made where it is not there
        #[arg(value_name = "DIR")]
        directory: Option<std::path::PathBuf>,
    },
}
