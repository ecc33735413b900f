//! `storefront quote …`

use serde_json::{Map, Value};

use super::customer::reading;
use super::many::{self, Work};
use super::service::Service;
use super::{Session, online, operation};
use crate::cli::quote::{QuoteCommand, ShipArgs};
use crate::failure::Failure;
use crate::plan::operation::Operation;
use crate::plan::quote_address::from_profile;

/// Runs a quote command.
///
/// # Errors
/// Whatever went wrong.
pub fn run(session: &Session<'_>, command: &QuoteCommand) -> Result<(), Failure> {
    match command {
        QuoteCommand::Ship(args) if args.ship_to_address.is_some() || args.bill_to_address.is_some() => {
            if let Some(source) = many::source(session, &args.run)? {
                return many::run(session, &source, &args.run, Work::ShipToStored(args));
            }
            online(session, async |service| {
                let args = with_stored_addresses(service, args).await?;
                let draft = operation::draft(session, Operation::QuoteShip, &args)?;
                operation::perform_and_report(service, Operation::QuoteShip, draft).await
            })
        }
        QuoteCommand::Ship(args) => operation::run(session, Operation::QuoteShip, args.as_ref(), &args.run),
        QuoteCommand::AddItem(args) => operation::run(session, Operation::QuoteAddItem, args, &args.run),
    }
}

/// Addresses of the stored profile become flags, under those that were given.
///
/// # Errors
/// As [`reading::read_profile`], and `usage` for an address the profile does not have.
pub async fn with_stored_addresses(service: &Service<'_>, args: &ShipArgs) -> Result<ShipArgs, Failure> {
    let mut args = args.clone();
    let profile = reading::read_profile(service).await?;
    for (id, named) in
        [(args.ship_to_address, &mut args.ship.named), (args.bill_to_address, &mut args.bill.named)]
    {
        if let Some(id) = id {
            *named = laid_under(from_profile(&profile, id)?, named);
        }
    }
    Ok(args)
}

fn laid_under(mut stored: Map<String, Value>, named: &Map<String, Value>) -> Map<String, Value> {
    stored.extend(named.clone());
    stored
}
