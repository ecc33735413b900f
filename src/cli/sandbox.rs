//! `sandbox`: the built-in local service.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{LazyArgs, NoArgs};

/// What `sandbox` can do.
#[derive(Debug, Subcommand)]
pub enum SandboxCommand {
    /// Run the local service until interrupted; prints its URL and tokens first
    Serve(LazyArgs<ServeArgs>),
    /// Reset the sandbox to its seed data (safe while it is running)
    Reset(LazyArgs<DataArgs>),
    /// Print the sandbox's data
    Show(LazyArgs<DataArgs>),
    /// Print the sandbox's OpenAPI 3.1 description of the interface that --api names
    Openapi(LazyArgs<NoArgs>),
    /// Print the tokens the sandbox accepts
    ///
    /// Magento's interface issues tokens that expire, too: the password of every account is `sandbox`, a customer's user
    /// name is the email, and the administrator's is `admin`.
    Tokens(LazyArgs<DataArgs>),
}

/// Which database.
#[derive(Debug, Clone, Args)]
pub struct DataArgs {
    /// Database file (created and seeded if missing) [default: sandbox.db in the data directory]
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
}

/// Run the local service; inject faults with --fault.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Address to listen on (port 0 picks a free port)
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    pub listen: SocketAddr,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub data: DataArgs,
    /// Allow a non-loopback address (the sandbox tokens are public)
    #[arg(long)]
    pub allow_remote: bool,
    /// Also accept requests for this host name (repeatable)
    #[arg(long, value_name = "NAME")]
    pub allow_host: Vec<String>,
}
