//! `auth`: tokens, kept apart from the settings.

use clap::Subcommand;

/// What `auth` can do.
#[derive(Debug, Subcommand)]
pub enum AuthCommand {
    /// Store an access token for a profile
    Login {
        /// Read the token from stdin
        #[arg(long)]
        with_token: bool,
        /// Store the administrator token instead of the customer token
        #[arg(long)]
        admin: bool,
    },
    /// Show where each token comes from; exits 6 if there is none
    Status,
    /// Delete a profile's stored tokens
    Logout {
        /// Only the administrator's token
        #[arg(long)]
        admin: bool,
    },
}
