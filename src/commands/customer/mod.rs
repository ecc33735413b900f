//! `storefront customer …`

mod delete_history;
mod find;
mod history;
mod show;
pub mod update;

use crate::cli::customer::CustomerCommand;
use crate::failure::Failure;
use crate::ops::customers;
use crate::ops::profile::restore;
use crate::session::Session;
use crate::session::runtime::with_service;

/// Runs a customer command.
///
/// # Errors
/// Whatever went wrong.
pub async fn run(session: &Session<'_>, command: &CustomerCommand) -> Result<(), Failure> {
    match command {
        CustomerCommand::Update(args) => update::run(session, args).await,
        CustomerCommand::Show(choice) => {
            with_service(session, async |service| {
                show::show(&customers::select(service, choice.customer.as_deref()).await?).await
            })
            .await
        }
        CustomerCommand::Find(args) => {
            with_service(session, async |service| find::find(service, args).await).await
        }
        CustomerCommand::History(args) => {
            with_service(session, async |service| {
                let service = customers::select(service, args.choice.customer.as_deref()).await?;
                history::list(&service, args).await
            })
            .await
        }
        CustomerCommand::Restore(args) => {
            with_service(session, async |service| {
                let service = customers::select(service, args.choice.customer.as_deref()).await?;
                session.report.outcome(&restore::restore(&service, args).await?)
            })
            .await
        }
    }
}
