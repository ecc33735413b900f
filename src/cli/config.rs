//! `config`: profiles and their settings.

use clap::{Args, Subcommand};

/// What `config` can do.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Create a profile, prompting for missing values
    Init(InitArgs),
    /// Print the path of the configuration file
    Path,
    /// List all settings and token sources (one profile with -p)
    List,
    /// Print a setting (tokens are masked)
    Get {
        /// `profiles.NAME.KEY`, or `KEY` for the selected profile
        key: String,
    },
    /// Change a setting, preserving comments
    Set {
        /// `profiles.NAME.KEY`, or `KEY` for the selected profile
        key: String,
        /// Value (several for a list); tokens are prompted for, or read from stdin with -
        #[arg(allow_negative_numbers = true)]
        value: Vec<String>,
    },
    /// Remove a setting or a profile
    Unset {
        /// `profiles.NAME.KEY`, or `KEY` for the selected profile
        key: String,
    },
    /// Set the default profile
    Use {
        /// The profile
        #[arg(value_name = "PROFILE")]
        name: String,
    },
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
