//! `storefront product …`

mod dialogue;
pub mod export;
pub mod set;
pub mod show;

use clap::Subcommand;

use self::export::ExportArgs;
use self::set::SetArgs;
use self::show::ShowArgs;
use crate::client::Session;
use crate::client::runtime::with_service;
use crate::ops::Operation;
use storefront_core::failure::Failure;

/// Show and set the values of products.
#[derive(Debug, Subcommand)]
pub enum ProductCommand {
    /// Set values of attributes, for all store views or for one
    Set(Box<SetArgs>),
    /// Show the values of a product, for all store views and in each
    #[command(alias = "get")]
    Show(ShowArgs),
    /// Write values of products to a sheet that `product set` takes
    Export(ExportArgs),
}

impl ProductCommand {
    /// Whether it may change the shop.
    pub fn can_write(&self) -> bool {
        match self {
            Self::Set(_) => true,
            Self::Show(_) | Self::Export(_) => false,
        }
    }

    /// The operation, if the command takes records.
    pub fn operation(&self) -> Option<&dyn Operation> {
        match self {
            Self::Set(args) => Some(&**args),
            Self::Show(_) | Self::Export(_) => None,
        }
    }
}

/// Runs a product command.
///
/// # Errors
/// Whatever went wrong.
pub async fn run(session: &Session<'_>, command: &ProductCommand) -> Result<(), Failure> {
    match command {
        ProductCommand::Set(args) => set::run(session, args).await,
        ProductCommand::Export(args) => {
            with_service(session, async |service| export::run(service, args).await).await
        }
        ProductCommand::Show(args) => {
            with_service(session, async |service| show::run(service, &args.sku).await).await
        }
    }
}
