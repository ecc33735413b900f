//! `storefront customer …`

mod history;
mod interactive;
mod show;
pub mod update;

use crate::cli::customer::CustomerCommand;
use crate::failure::Failure;
use crate::ops::profile::restore;
use crate::session::Session;
use crate::session::runtime::with_service;

/// Runs a customer command.
///
/// # Errors
/// Whatever went wrong.
pub fn run(session: &Session<'_>, command: &CustomerCommand) -> Result<(), Failure> {
    match command {
        CustomerCommand::Update(args) => update::run(session, args),
        CustomerCommand::Show => with_service(session, show::show),
        CustomerCommand::History(args) => {
            with_service(session, async |service| history::list(service, args).await)
        }
        CustomerCommand::Restore(args) => {
            with_service(session, async |service| restore::restore(service, args).await)
        }
    }
}
