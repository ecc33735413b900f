//! `storefront quote …`

mod methods;
mod show;

use crate::cli::LazyArgs;
use crate::cli::quote::{QuoteCommand, ShipArgs};
use crate::commands::dispatch;
use crate::exact_json;
use crate::failure::Failure;
use crate::ops::customers::select;
use crate::ops::record::RecordOperation;
use crate::ops::shipping::with_stored_addresses;
use crate::ops::{draft, perform};
use crate::plan::operation::Operation;
use crate::prompt::Prompt;
use crate::session::Session;
use crate::session::runtime::with_service;

/// Runs a quote command.
///
/// # Errors
/// Whatever went wrong.
pub async fn run(session: &Session<'_>, command: &QuoteCommand) -> Result<(), Failure> {
    match command {
        QuoteCommand::Ship(args) => ship(session, args).await,
        QuoteCommand::AddItem(LazyArgs(args)) => {
            dispatch::direct(session, Operation::QuoteAddItem, &**args, &args.batch).await
        }
        QuoteCommand::Show(args) => {
            with_service(session, async |service| {
                let service = select(service, args.choice.customer.as_deref()).await?;
                show::show(&service, args.quote_id.as_deref()).await
            })
            .await
        }
        QuoteCommand::Methods(args) => {
            with_service(session, async |service| {
                methods::list(&select(service, args.choice.customer.as_deref()).await?).await
            })
            .await
        }
    }
}

async fn ship(session: &Session<'_>, args: &ShipArgs) -> Result<(), Failure> {
    let takes_stored = args.ship_to_address.is_some() || args.bill_to_address.is_some();
    let operation = if takes_stored {
        RecordOperation::ShipToSavedAddress(args)
    } else {
        RecordOperation::Direct(Operation::QuoteShip, args)
    };
    let one = async || ship_one(session, args, takes_stored).await;
    dispatch::run(session, operation, &args.batch, one).await
}

async fn ship_one(session: &Session<'_>, args: &ShipArgs, takes_stored: bool) -> Result<(), Failure> {
    let document = draft::document(session)?;
    let prompt = Prompt::new(session.context, session.global, session.report);
    let asks = prompt.can_ask() && args.lack_payment(document.as_ref());
    let draft = |args: &ShipArgs| draft::draft_from(session, Operation::QuoteShip, document.clone(), args);
    let customer = args.choice.customer.as_deref();
    if !asks && !takes_stored {
        return dispatch::send(session, customer, draft(args)?).await;
    }
    with_service(session, async |service| {
        let service = &select(service, customer).await?;
        let mut args = with_stored_addresses(service, args).await?;
        if asks {
            ask_payment(session, &prompt, &mut args)?;
        }
        perform::perform_and_report(service, draft(&args)?).await
    })
    .await
}

/// The interface lists the payment as required (docs/interface.md, "Shipping information"), so it is asked
/// for.
fn ask_payment(session: &Session<'_>, prompt: &Prompt, args: &mut ShipArgs) -> Result<(), Failure> {
    session.report.stderr("A payment is required. Enter a code (e.g. checkmo), a JSON object, or none.");
    let check = |text: &str| match text.trim() {
        "" => Err("enter a code, a JSON object, or none".to_owned()),
        json if json.starts_with('{') => exact_json::parse_object(json.as_bytes())
            .map(drop)
            .map_err(|error| format!("not a JSON object: {error}")),
        _ => Ok(()),
    };
    let hint = "use --payment-method CODE, --payment JSON, or --no-payment";
    let payment = prompt.input("Payment", hint, None, check)?;
    match payment.trim() {
        "none" => args.no_payment = true,
        json if json.starts_with('{') => args.payment = Some(json.to_owned()),
        code => args.payment_method = Some(code.to_owned()),
    }
    Ok(())
}
