//! `sandbox`: the built-in local service.

use std::net::SocketAddr;
use std::path::PathBuf;

use clap::{Args, Subcommand};

/// What `sandbox` can do.
#[derive(Debug, Subcommand)]
pub enum SandboxCommand {
    /// Run the local service until Ctrl-C or SIGTERM; the first line of standard output says where and with which tokens
    Serve(ServeArgs),
    /// Replace everything the sandbox holds by its seed, also while one runs
    Reset(DataArgs),
    /// Print everything the sandbox holds
    Show(DataArgs),
    /// Print the OpenAPI 3.1 description of what the sandbox serves
    Openapi,
    /// Print the tokens the sandbox accepts
    Tokens(DataArgs),
}

/// Which database.
#[derive(Debug, Clone, Args)]
pub struct DataArgs {
    /// Database file; made and seeded where there is none [default: sandbox.db in the data directory]
    #[arg(long, value_name = "FILE")]
    pub data: Option<PathBuf>,
}

/// Run the local service. It misbehaves by --fault.
#[derive(Debug, Args)]
pub struct ServeArgs {
    /// Where to listen; port 0 takes a free one
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:0")]
    pub listen: SocketAddr,
    #[command(flatten)]
    #[allow(missing_docs)]
    pub data: DataArgs,
    /// Listen on an address that other machines can reach; the tokens are no secret
    #[arg(long)]
    pub allow_remote: bool,
}
