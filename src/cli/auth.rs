//! `auth`: tokens, kept apart from the settings.

use clap::Subcommand;

/// What `auth` can do.
#[derive(Debug, Subcommand)]
pub enum AuthCommand {
    /// Store a token for a profile; asks for it, or reads it from standard input
    Login {
        /// Read the token from standard input
        #[arg(long)]
        with_token: bool,
        /// The administrator's token instead of the customer's
        #[arg(long)]
        admin: bool,
    },
    /// Say where each token comes from, never the token; exit 6 when there is none
    Status,
    /// Forget the stored tokens of a profile
    Logout {
        /// Only the administrator's token
        #[arg(long)]
        admin: bool,
    },
}
