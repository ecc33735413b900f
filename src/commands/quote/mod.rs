//! `storefront quote …`

mod methods;
mod show;

use crate::cli::customer_arg::CustomerArg;
use crate::cli::quote::{AddItemArgs, QuoteCommand, ShipArgs};
use crate::commands::dispatch;
use crate::failure::Failure;
use crate::ops::record::RecordOperation;
use crate::ops::shipping::with_stored_addresses;
use crate::ops::{draft, send};
use crate::plan::operation::Operation;
use crate::prompt::Prompt;
use crate::session::Session;
use crate::session::runtime::with_service;
use crate::session::service::Service;
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
            show::show(&for_customer(service, &args.customer).await?, args.quote_id.as_deref()).await
        }),
        QuoteCommand::Methods(args) => with_service(session, async |service| {
            methods::list(&for_customer(service, &args.customer).await?).await
        }),
    }
}

/// The service for the named customer, or for the token's own.
///
/// # Errors
/// `usage` where the interface has no calls for a named customer.
async fn for_customer<'a>(service: &Service<'a>, customer: &CustomerArg) -> Result<Service<'a>, Failure> {
    match &customer.named {
        None => Ok(service.for_own_customer()),
        Some(named) => resolve_customer(service, named).await.map(|id| service.of_customer(id)),
    }
}

async fn resolve_customer(service: &Service<'_>, named: &str) -> Result<u64, Failure> {
    if service.settings.dialect.customers.is_none() {
        return Err(Failure::usage("the interface `marketplace` has no calls for a named customer")
            .hint("leave out --customer, and use the token of that customer"));
    }
    named.trim().parse().map_err(|_| Failure::usage(format!("`{named}` is no customer id")))
}

fn add_item(session: &Session<'_>, args: &AddItemArgs) -> Result<(), Failure> {
    if args.customer.named.is_none() || dispatch::source(session, &args.batch)?.is_some() {
        return dispatch::run(session, Operation::QuoteAddItem, args, &args.batch);
    }
    let draft = draft::draft(session, Operation::QuoteAddItem, args)?;
    with_service(session, async |service| {
        let service = for_customer(service, &args.customer).await?;
        send::perform_and_report(&service, Operation::QuoteAddItem, draft).await
    })
}

fn ship(session: &Session<'_>, args: &ShipArgs) -> Result<(), Failure> {
    let takes_stored = args.ship_to_address.is_some() || args.bill_to_address.is_some();
    if let Some(source) = dispatch::source(session, &args.batch)? {
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
            let service = for_customer(service, &args.customer).await?;
            send::perform_and_report(&service, Operation::QuoteShip, draft).await
        });
    }
    with_service(session, async |service| {
        let service = &for_customer(service, &args.customer).await?;
        let mut args = with_stored_addresses(service, args).await?;
        if asks {
            ask_payment(session, &prompt, &mut args)?;
        }
        send::perform_and_report(service, Operation::QuoteShip, draft(&args)?).await
    })
}

/// The interface lists the payment as required (2.4), so it is asked for.
fn ask_payment(session: &Session<'_>, prompt: &Prompt, args: &mut ShipArgs) -> Result<(), Failure> {
    session.report.stderr(
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
