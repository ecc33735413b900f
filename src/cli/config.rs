//! `config`: profiles and their settings.

use clap::{Args, Subcommand};

/// What `config` can do.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Make a profile; asks on a terminal for what is not given
    Init(InitArgs),
    /// Print where the configuration file is
    Path,
    /// Print every setting of the file, and where the tokens come from; with -p, of one profile
    List,
    /// Print a setting; tokens as •••
    Get {
        /// profiles.NAME.KEY, or KEY of the chosen profile
        key: String,
    },
    /// Change a setting; comments and the rest of the file stay as they are
    Set {
        /// profiles.NAME.KEY, or KEY of the chosen profile
        key: String,
        /// The value, several for a list; a token is asked for, or - reads it from standard input
        #[arg(allow_negative_numbers = true)]
        value: Vec<String>,
    },
    /// Take a setting, or a whole profile, out of the file
    Unset {
        /// profiles.NAME.KEY, or KEY of the chosen profile
        key: String,
    },
    /// Use this profile when none is named
    Use {
        /// The profile
        #[arg(value_name = "PROFILE")]
        name: String,
    },
}

/// Make a profile. Its name is -p, its store view --store-view.
#[derive(Debug, Args)]
pub struct InitArgs {
    /// Where the service is, such as https://shop.example/rest
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,
    /// Replace the profile where there is one of that name
    #[arg(long)]
    pub replace: bool,
}
