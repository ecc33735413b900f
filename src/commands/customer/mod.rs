//! `storefront customer …`

mod edit;
mod history;
pub mod reading;
mod replace;
mod restore;
mod show;
pub mod update;
mod verdict;

pub use replace::Replaced;

use super::{Session, online};
use crate::cli::customer::CustomerCommand;
use crate::failure::Failure;

/// Runs a customer command.
///
/// # Errors
/// Whatever went wrong.
pub fn run(session: &Session<'_>, command: &CustomerCommand) -> Result<(), Failure> {
    match command {
        CustomerCommand::Update(args) => update::run(session, args),
        CustomerCommand::Show => online(session, show::show),
        CustomerCommand::History => online(session, history::list),
        CustomerCommand::Restore(args) => {
            online(session, async |service| restore::restore(service, args).await)
        }
    }
}
