//! `--customer`, where an administrator's token acts for a customer.

use clap::Args;

/// The flag.
#[derive(Debug, Clone, Default, Args)]
pub struct CustomerArg {
    /// Act for this customer, with an administrator's token: id or email
    #[arg(long = "customer", value_name = "ID|EMAIL")]
    pub named: Option<String>,
}
