//! The grammar of the command line, one file per noun. Arguments are not settings: `config` makes those.

pub mod auth;
pub mod config;
pub mod global;

use clap::{Parser, Subcommand};

pub use global::{Color, GlobalArgs, InputFormat, OutputFormat};

/// Storefront operations that never lose an address and never act twice.
#[derive(Debug, Parser)]
#[command(
    name = "storefront",
    version,
    about,
    disable_help_subcommand = true,
    infer_long_args = false
)]
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
    /// Show and change profiles and their settings
    Config(config::ConfigArgs),
    /// Store, forget and explain tokens
    Auth(auth::AuthArgs),
}
