//! `storefront quote …`

mod methods;
mod show;

use crate::cli::customer::CustomerChoice;
use crate::cli::quote::{AddItemArgs, QuoteCommand, ShipArgs};
use crate::commands::dispatch;
use crate::failure::Failure;
use crate::ops::customers::select;
use crate::ops::record::RecordOperation;
use crate::ops::shipping::with_stored_addresses;
use crate::ops::{draft, perform};
use crate::plan::operation::Operation;
use crate::prompt::Prompt;
use crate::session::Session;
use crate::session::runtime::with_service;
use crate::{batch, exact_json};

/// Runs a quote command.
///
/// # Errors
/// Whatever went wrong.
pub fn run(session: &Session<'_>, command: &QuoteCommand) -> Result<(), Failure> {
    match command {
        QuoteCommand::Ship(args) => ship(session, args),
        QuoteCommand::AddItem(args) => add_item(session, args),
        QuoteCommand::Show(args) => with_service(session, async |service| {
            show::show(&select(service, args.choice.customer.as_deref()).await?, args.quote_id.as_deref())
                .await
        }),
        QuoteCommand::Methods(args) => with_service(session, async |service| {
            methods::list(&select(service, args.choice.customer.as_deref()).await?).await
        }),
    }
}

/// Each record of a batch names its own customer.
fn ensure_one_record(choice: &CustomerChoice) -> Result<(), Failure> {
    match choice.customer {
        None => Ok(()),
        Some(_) => Err(Failure::usage("`--customer` is for one record")
            .hint("give each record a `customer` column or field instead")),
    }
}

fn add_item(session: &Session<'_>, args: &AddItemArgs) -> Result<(), Failure> {
    let is_batch = dispatch::source(session, &args.batch)?.is_some();
    if is_batch {
        ensure_one_record(&args.choice)?;
    }
    if is_batch || args.choice.customer.is_none() {
        return dispatch::run(session, Operation::QuoteAddItem, args, &args.batch);
    }
    let draft = draft::draft(session, Operation::QuoteAddItem, args)?;
    with_service(session, async |service| {
        let service = select(service, args.choice.customer.as_deref()).await?;
        perform::perform_and_report(&service, Operation::QuoteAddItem, draft).await
    })
}

fn ship(session: &Session<'_>, args: &ShipArgs) -> Result<(), Failure> {
    let takes_stored = args.ship_to_address.is_some() || args.bill_to_address.is_some();
    if let Some(source) = dispatch::source(session, &args.batch)? {
        ensure_one_record(&args.choice)?;
        let work = if takes_stored {
            RecordOperation::ShipToSavedAddress(args)
        } else {
            RecordOperation::Direct(Operation::QuoteShip, args)
        };
        return batch::run(session, &source, &args.batch, work);
    }
    let document = draft::document(session)?;
    let prompt = Prompt::new(session.context, session.global, session.report);
    let asks = prompt.can_ask() && args.lack_payment(document.as_ref());
    let draft = |args: &ShipArgs| draft::draft_from(session, Operation::QuoteShip, document.clone(), args);
    if !asks && !takes_stored {
        let draft = draft(args)?;
        return with_service(session, async |service| {
            let service = select(service, args.choice.customer.as_deref()).await?;
            perform::perform_and_report(&service, Operation::QuoteShip, draft).await
        });
    }
    with_service(session, async |service| {
        let service = &select(service, args.choice.customer.as_deref()).await?;
        let mut args = with_stored_addresses(service, args).await?;
        if asks {
            ask_payment(session, &prompt, &mut args)?;
        }
        perform::perform_and_report(service, Operation::QuoteShip, draft(&args)?).await
    })
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
