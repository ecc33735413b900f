//! Saves shipping and payment. Where these are two calls, the second leaves only after the first was applied.

use serde_json::{Map, Value};

use super::find;
use super::payment::Payment;
use crate::exact_json;
use crate::failure::{Applied, Failure, FailureKind};
use crate::input::Draft;
use crate::ops::{regions, send};
use crate::plan::operation::Operation;
use crate::plan::request::Request;
use crate::plan::request::cart::Cart;
use crate::report::outcome::{Call, Outcome};
use crate::session::service::Service;

const OPERATION: &str = Operation::QuoteShip.name();

/// The first call.
const SHIPPING: &str = "shipping-information";
/// What to do where the second call is missing: both calls can be repeated.
const AGAIN: &str = "run the command again";
/// The second call.
const PAYMENT: &str = "selected-payment-method";

/// Saves addresses and method, then the payment, or shows the calls. `half_done_cart` is the cart on which an earlier run
/// made the first call: where it still is the customer's, only the second is sent. An order may have been made of it
/// meanwhile; both are sent then, as saving and setting the same a second time changes nothing.
///
/// # Errors
/// As [`Service::write`]; `partial` where the first call was applied and the second was not. `usage` where the named
/// customer has no cart.
pub async fn perform(
    service: &Service<'_>,
    draft: &Draft,
    half_done_cart: Option<u64>,
) -> Result<Outcome, Failure> {
    if service.settings.dialect.carts.is_none() {
        return send::send(service, draft).await;
    }
    let requests = requests(service, draft.clone().into_body()).await?;
    if service.session.global.dry_run {
        return dry_run(service, requests);
    }
    let mut calls = Vec::new();
    let mut outcome = Outcome { applied: Applied::Yes, ..Outcome::not_sent(OPERATION) };
    if let Some(request) = &requests.shipping {
        let has_payment = requests.payment.is_some();
        if has_payment && half_done_cart.is_some() && half_done_cart == requests.cart {
            calls.push(Call { reason: Some("done earlier"), ..Call::new(SHIPPING, Applied::Yes) });
        } else {
            let sent = service.write(OPERATION, request).await;
            let reply = sent.map_err(|failure| first_failed(failure, has_payment))?;
            reply.warning.iter().for_each(|warning| service.session.report.warn(warning));
            outcome.status = Some(reply.status);
            calls.push(Call::replied(SHIPPING, &reply));
        }
    }
    let Some(payment) = &requests.payment else { return Ok(Outcome { calls, ..outcome }) };
    if service.is_stopping() {
        let interrupted = Failure::new(FailureKind::Interrupted, "interrupted before the payment was sent");
        return Err(second_failed(interrupted.applied(Applied::No), calls, requests.cart));
    }
    if outcome.status.is_none() {
        service.log_before_send(None).await?;
    }
    match payment.send(service, OPERATION).await {
        Ok(reply) => {
            outcome.status = Some(reply.status);
            calls.push(Call::replied(PAYMENT, &reply));
            Ok(Outcome { calls, ..outcome })
        }
        Err(failure) if calls.is_empty() => Err(failure),
        Err(failure) => Err(second_failed(failure, calls, requests.cart)),
    }
}

/// The two calls; either may be missing.
struct Requests {
    shipping: Option<Request>,
    payment: Option<Payment>,
    /// Id of the cart, where it is known.
    cart: Option<u64>,
}

async fn requests(service: &Service<'_>, mut body: Map<String, Value>) -> Result<Requests, Failure> {
    let target = service.target()?;
    let has_payment = body.get("paymentMethod").is_some_and(|payment| !payment.is_null());
    let id = match target.customer {
        // Only the journal of a batch needs to know which cart it is.
        None if service.is_recorded() && has_payment => find::find(service).await?,
        None => None,
        Some(customer) => Some(find::find(service).await?.ok_or_else(|| {
            Failure::usage(format!("customer {customer} has no active cart"))
                .hint("check the customer with `storefront customer show`, or add an item first: `storefront quote add-item --sku SKU --qty N`")
        })?),
    };
    let cart = Cart::new(target, id)?;
    regions::resolve_in_quote(service, &mut body).await?;
    let billing = body.shift_remove("billingAddress");
    if let (Some(billing), Some(Value::Object(information))) = (billing, body.get_mut("addressInformation")) {
        information.entry("billing_address").or_insert(billing);
    }
    let wrapped = |wrapper: &'static str, value| exact_json::object([(wrapper, value)]).to_string();
    let information = body.shift_remove("addressInformation");
    let payment = body.shift_remove("paymentMethod").filter(|payment| !payment.is_null());
    Ok(Requests {
        shipping: information.map(|value| cart.save_shipping(wrapped("addressInformation", value))),
        payment: payment.map(|value| Payment::new(&cart, value.clone(), wrapped("method", value))),
        cart: id,
    })
}

fn dry_run(service: &Service<'_>, requests: Requests) -> Result<Outcome, Failure> {
    let payment = requests.payment.map(|payment| payment.request);
    let previews = [(SHIPPING, requests.shipping), (PAYMENT, payment)];
    let calls: Vec<Call> = previews
        .into_iter()
        .filter_map(|(name, request)| {
            Some(Call { request: Some(service.preview(request?)), ..Call::new(name, Applied::No) })
        })
        .collect();
    let first = calls.first().and_then(|call| call.request.clone());
    let first = first.ok_or_else(|| Failure::usage("there is nothing to save on the quote"))?;
    Ok(Outcome { calls, ..Outcome::dry_run(OPERATION, first) })
}

/// The second call was not sent.
fn first_failed(failure: Failure, has_second: bool) -> Failure {
    let mut calls = vec![Call::failed(SHIPPING, &failure).to_json()];
    if has_second {
        calls.push(Call::new(PAYMENT, Applied::No).to_json());
    }
    Failure { calls, ..failure }
}

/// The first call was applied: the whole is no longer "not applied", whatever became of the second.
fn second_failed(failure: Failure, mut calls: Vec<Call>, cart: Option<u64>) -> Failure {
    calls.push(Call::failed(PAYMENT, &failure));
    let calls = calls.iter().map(Call::to_json).collect();
    if failure.applied == Applied::Unknown {
        let message = format!(
            "the shipping information was saved, and the outcome of the payment is unknown: {}",
            failure.message
        );
        return Failure { message, calls, ..failure }.hint(format!(
            "{AGAIN}: saving the same addresses, methods and payment a second time changes nothing"
        ));
    }
    let kind = match failure.kind {
        FailureKind::Interrupted => FailureKind::Interrupted,
        _ => FailureKind::Partial,
    };
    let hint = match (failure.kind, &failure.hint) {
        // The shop does not take this payment.
        (FailureKind::Refused, _) => {
            format!("{AGAIN} with a payment that the shop takes; `storefront quote methods` lists them")
        }
        (FailureKind::Interrupted, _) | (_, None) => AGAIN.to_owned(),
        (_, Some(hint)) => format!("{hint}; then {AGAIN}"),
    };
    Failure {
        kind,
        applied: Applied::Partial,
        message: format!("the shipping information was saved, and the payment was not: {}", failure.message),
        hint: Some(hint),
        calls,
        cart,
        ..failure
    }
}
