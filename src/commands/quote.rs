//! `storefront quote …`

use serde_json::{Map, Value};

use super::customer::reading;
use super::operation;
use crate::batch::{self, Work};
use crate::cli::quote::{QuoteCommand, ShipArgs};
use crate::commands::dispatch;
use crate::exact_json;
use crate::failure::Failure;
use crate::plan::operation::Operation;
use crate::plan::request::quote_address::from_profile;
use crate::prompt::Prompt;
use crate::session::Session;
use crate::session::runtime::online;
use crate::session::service::Service;

/// Runs a quote command.
///
/// # Errors
/// Whatever went wrong.
pub fn run(session: &Session<'_>, command: &QuoteCommand) -> Result<(), Failure> {
    match command {
        QuoteCommand::Ship(args) => ship(session, args),
        QuoteCommand::AddItem(args) => dispatch::run(session, Operation::QuoteAddItem, args, &args.run),
    }
}

fn ship(session: &Session<'_>, args: &ShipArgs) -> Result<(), Failure> {
    let takes_stored = args.ship_to_address.is_some() || args.bill_to_address.is_some();
    if let Some(source) = dispatch::source(session, &args.run)? {
        let work =
            if takes_stored { Work::ShipToStored(args) } else { Work::AtOnce(Operation::QuoteShip, args) };
        return batch::run(session, &source, &args.run, work);
    }
    let document = operation::document(session)?;
    let prompt = Prompt::new(session.context, session.global, session.report);
    let asks = prompt.can_ask() && args.lack_payment(document.as_ref());
    let draft =
        |args: &ShipArgs| operation::draft_from(session, Operation::QuoteShip, document.clone(), args);
    if !asks && !takes_stored {
        let draft = draft(args)?;
        return online(session, async |service| {
            operation::perform_and_report(service, Operation::QuoteShip, draft).await
        });
    }
    online(session, async |service| {
        let mut args = with_stored_addresses(service, args).await?;
        if asks {
            ask_payment(session, &prompt, &mut args)?;
        }
        operation::perform_and_report(service, Operation::QuoteShip, draft(&args)?).await
    })
}

/// The interface lists the payment as required (2.4), so it is asked for.
fn ask_payment(session: &Session<'_>, prompt: &Prompt, args: &mut ShipArgs) -> Result<(), Failure> {
    session.report.show(
        "The service lists a payment as required. Give a code such as checkmo, a JSON object, or none.",
    );
    let check = |text: &str| match text.trim() {
        "" => Err("type a code, a JSON object, or none".to_owned()),
        json if json.starts_with('{') => exact_json::parse_object(json.as_bytes())
            .map(drop)
            .map_err(|error| format!("that is not a JSON object: {error}")),
        _ => Ok(()),
    };
    let hint = "give --payment-method CODE or --payment JSON, or --no-payment to send none";
    let payment = prompt.input("Payment", hint, None, check)?;
    match payment.trim() {
        "none" => args.no_payment = true,
        json if json.starts_with('{') => args.payment = Some(json.to_owned()),
        code => args.payment_method = Some(code.to_owned()),
    }
    Ok(())
}

/// Addresses of the stored profile become flags, under those that were given.
///
/// # Errors
/// As [`reading::read_profile`], and `usage` for an address the profile does not have.
pub async fn with_stored_addresses(service: &Service<'_>, args: &ShipArgs) -> Result<ShipArgs, Failure> {
    let mut args = args.clone();
    if args.ship_to_address.is_none() && args.bill_to_address.is_none() {
        return Ok(args);
    }
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
