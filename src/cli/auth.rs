//! `auth`: tokens, kept apart from the settings.

use clap::{Args, Subcommand};

use super::{LazyArgs, NoArgs};

/// What `auth` can do.
#[derive(Debug, Subcommand)]
pub enum AuthCommand {
    /// Store a token for a profile; asks for it, reads it from standard input, or gets it for a user name
    Login(LazyArgs<LoginArgs>),
    /// Say where each token comes from, never the token; exit 6 when there is none
    Status(LazyArgs<NoArgs>),
    /// Delete a profile's stored tokens
    Logout(LazyArgs<LogoutArgs>),
}

/// Flags of `auth logout`.
#[derive(Debug, Args)]
pub struct LogoutArgs {
    /// Only the administrator's token
    #[arg(long)]
    pub admin: bool,
}

/// Flags of `auth login`.
#[derive(Debug, Clone, Default, Args)]
pub struct LoginArgs {
    /// Read the token from standard input
    #[arg(long, conflicts_with = "user")]
    pub with_token: bool,
    /// The administrator's token instead of the customer's
    #[arg(long)]
    pub admin: bool,
    /// Get a token from the service for this user name, which is a customer's email; asks for the password
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// Read the password from standard input
    #[arg(long, requires = "user")]
    pub with_password: bool,
    /// Code of the administrator's second factor (Google Authenticator)
    #[arg(long, value_name = "CODE", requires = "user", requires = "admin")]
    pub otp: Option<String>,
}
