//! The grammar of the command line, one file per noun. Arguments are not settings: `config` makes those.

pub mod attribute;
pub mod auth;
pub mod config;
pub mod customer;
pub mod global;
pub mod member_flags;
pub mod quote;
pub mod run;
pub mod sandbox;

use clap::{Parser, Subcommand};

pub use global::{Color, GlobalArgs, InputFormat, OutputFormat};

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

/// The nouns.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Quotes: shipping, billing, payment and items
    #[command(subcommand)]
    Quote(quote::QuoteCommand),
    /// Customers: the profile and its addresses
    #[command(subcommand)]
    Customer(customer::CustomerCommand),
    /// Product attributes
    #[command(subcommand)]
    Attribute(attribute::AttributeCommand),
    /// Profiles and their settings
    #[command(subcommand)]
    Config(config::ConfigCommand),
    /// Tokens, kept apart from the settings
    #[command(subcommand)]
    Auth(auth::AuthCommand),
    /// The built-in local service: everything can be tried with no account
    #[command(subcommand)]
    Sandbox(sandbox::SandboxCommand),
}
