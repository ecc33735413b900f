//! `config`: profiles and their settings.

use clap::{Args, Subcommand};

use super::{LazyArgs, NoArgs};

/// What `config` can do.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Create a profile, prompting for missing values
    Init(LazyArgs<InitArgs>),
    /// Print the path of the configuration file
    Path(LazyArgs<NoArgs>),
    /// List all settings and token sources (one profile with -p)
    List(LazyArgs<NoArgs>),
    /// Print a setting (tokens are masked)
    Get(LazyArgs<KeyArgs>),
    /// Change a setting, preserving comments
    Set(LazyArgs<SetArgs>),
    /// Remove a setting or a profile
    Unset(LazyArgs<KeyArgs>),
    /// Set the default profile
    Use(LazyArgs<UseArgs>),
}

/// Which setting.
#[derive(Debug, Args)]
pub struct KeyArgs {
    /// `profiles.NAME.KEY`, or `KEY` for the selected profile
    pub key: String,
}

/// Which setting, and its value.
#[derive(Debug, Args)]
pub struct SetArgs {
    /// `profiles.NAME.KEY`, or `KEY` for the selected profile
    pub key: String,
    /// Value (several for a list); tokens are prompted for, or read from stdin with -
    #[arg(allow_negative_numbers = true)]
    pub value: Vec<String>,
}

/// Which profile.
#[derive(Debug, Args)]
pub struct UseArgs {
    /// The profile
    #[arg(value_name = "PROFILE")]
    pub name: String,
}

/// Create a profile. Name it with -p, set its store view with --store-view.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// Base URL of the service, e.g. https://shop.example/rest
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// Replace an existing profile
    #[arg(long)]
    pub replace: bool,
}
