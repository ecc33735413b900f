//! Saves shipping and payment. If these are two calls, the second leaves only after the first was applied.

use serde_json::{Map, Value};

use super::calls::{Calls, Planned, preview};
use super::cart::{self, ActiveCart, QUOTE_ID};
use super::cart_basis::{self, Part};
use super::ship_checks::{self, list_methods};
use super::ship_owner::Saved;
use crate::client::says;
use crate::client::service::Service;
use crate::config::ShipLayout;
use crate::input::Draft;
use crate::ops::profile::read::read_profile;
use crate::ops::{read_country, request};
use crate::report::outcome::Outcome;
use crate::report::profile::one_liner;
use crate::write::owner::Unread;
use crate::write::{self, Call, Written};
use storefront_core::absent::Absent;
use storefront_core::cart::{Cart, from_profile};
use storefront_core::effect::{self, Kind};
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::hint::hint;
use storefront_core::id::AddressId;
use storefront_core::interface::request::Request;
use storefront_core::operation::{QUOTE_SHIP, Success, scalar, without_nested};
use storefront_core::profile::region::RegionDirectory;
use storefront_core::text::exact_json;
use storefront_core::text::sanitize::sanitize_line;

const OPERATION: &str = QUOTE_SHIP.name;

/// The name of the first call.
const SHIPPING: &str = "shipping-information";
/// What to do if the second call is missing: both calls can be repeated.
const AGAIN: &str = "run the command again";
/// The name of the second call.
const PAYMENT: &str = "selected-payment-method";

/// Saves addresses and method, then the payment, or shows the calls. After a partial success both are sent again: saving
/// and setting the same a second time changes nothing.
///
/// # Errors
/// As [`write::carry_out`]; `partial` if the first call was applied and the second was not; `refused` without a cart;
/// `usage` for a quote that is not the active cart.
pub async fn perform(service: &Service<'_>, draft: &Draft) -> Result<Outcome, Failure> {
    if service.settings.dialect.carts.is_none() {
        return save_at_once(service, draft).await;
    }
    let requests = Box::pin(requests(service, draft)).await?;
    let planned = requests.planned();
    if planned.is_empty() {
        return Err(Failure::usage("there is nothing to save on the quote"));
    }
    if service.session.global.dry_run {
        let planned_owner = cart::planned_owner(Some(&requests.found));
        return Ok(Outcome { planned_owner, ..preview(service, OPERATION, planned) });
    }
    let mut to_send = requests.to_send();
    write::gate(service, OPERATION, &mut to_send, None).await?;
    let mut calls = Calls::new(service, OPERATION);
    let sent = requests.send(service, to_send, &mut calls).await;
    let may_be_saved = calls.is_applied() || matches!(&sent, Err(failure) if failure.applied != Applied::No);
    let ended = match sent {
        Ok(()) => Ok(calls.finish()),
        Err(failure) => Err(calls.failed(failure, &planned, None)),
    };
    if may_be_saved && !service.stopping.get() {
        ship_checks::compare_items(service, &requests.cart, &requests.found).await;
    }
    ended.map(|outcome| {
        let success = Some(Success { text: saved(&draft.fields, &Value::Null), covers_response: true });
        Outcome { success, ..outcome }
    })
}

/// Saves everything with the one call of the marketplace; no call reads its quotes.
async fn save_at_once(service: &Service<'_>, draft: &Draft) -> Result<Outcome, Failure> {
    let request = single_request(service, draft)?;
    if service.session.global.dry_run {
        return Ok(Outcome::dry_run(OPERATION, service.preview(request)));
    }
    let owner = Unread { noun: Kind::Cart.noun() };
    let id = scalar(draft.fields.get(QUOTE_ID));
    let effect = effect::Effect::on(effect::Owner { id, ..effect::Owner::to_be_made(Kind::Cart) });
    let call = Call { is_looked_at_later: true, ..Call::new(OPERATION, request, effect) };
    let written = write::carry_out(service, OPERATION, &owner, call).await;
    let Written { reply, status, .. } = written.map_err(|failure| cart::with_hint(service, failure))?;
    let response = reply.map(|reply| reply.value);
    // Only people read it.
    let is_read = !service.session.report.is_json();
    let success = response
        .as_ref()
        .filter(|_| is_read)
        .map(|reply| Success { text: saved(&draft.fields, reply), covers_response: true });
    Ok(Outcome { applied: Applied::Yes, status, response, success, ..Outcome::not_sent(OPERATION) })
}

/// Refuses fields of a draft that have no place in either of Magento's calls: they would be dropped silently. With
/// `takes_stored` the shipping or the billing address still comes from the stored profile.
///
/// # Errors
/// `usage`, naming the first one.
pub fn refuse_unsent(fields: &Map<String, Value>, takes_stored: bool) -> Result<(), Failure> {
    let is_sent = |name: &str| match name {
        "addressInformation" | "paymentMethod" | QUOTE_ID => true,
        "billingAddress" => takes_stored || fields.contains_key("addressInformation"),
        _ => false,
    };
    match fields.keys().find(|name| !is_sent(name)) {
        None => Ok(()),
        Some(name) if name == "billingAddress" => {
            Err(Failure::usage("`billingAddress` cannot be saved without a shipping address")
                .hint("give the shipping address, too"))
        }
        Some(name) => {
            Err(Failure::usage(format!("`{name}` cannot be sent: no call for a cart has a place for it"))
                .hint("remove it, or put it where it belongs in `addressInformation` or `paymentMethod`"))
        }
    }
}

/// The one call that saves everything.
fn single_request(service: &Service<'_>, draft: &Draft) -> Result<Request, Failure> {
    let dialect = service.settings.dialect;
    let request = request(service, draft, dialect.ship)?;
    let body = match service.settings.ship_layout {
        ShipLayout::Flat => {
            let flat = without_nested(draft.body())?;
            Some(Value::Object(flat).to_string().into())
        }
        ShipLayout::Wrapped => request.body,
    };
    Ok(Request { body, also_success: dialect.ship_success, ..request })
}

/// What was saved, to be read back to the customer. The marketplace answers with the payment methods and the totals.
fn saved(sent: &Map<String, Value>, reply: &Value) -> String {
    let information = &sent.get("addressInformation").unwrap_or(&Value::Null);
    let address = |side: &str| Some(one_liner(information[side].as_object()?));
    // An address that is not sent stays as it is in the cart.
    let kept = address("shipping_address")
        .map(|_| "not changed; --bill-same-as-ship or --bill-to-address ID sets it".to_owned());
    let method = ["shipping_carrier_code", "shipping_method_code"].map(|name| scalar(information.get(name)));
    let totals = &reply["totals"];
    let total = ["grand_total", "quote_currency_code"].map(|name| scalar(totals.get(name)));
    let parts = [
        ("Ship to", address("shipping_address")),
        ("Bill to", address("billing_address").or(kept)),
        ("Method", method.into_iter().collect::<Option<Vec<_>>>().map(|codes| codes.join("/"))),
        ("Payment", sent.get("paymentMethod").and_then(|payment| scalar(payment.get("method")))),
        ("Total", total[0].is_some().then(|| total.into_iter().flatten().collect::<Vec<_>>().join(" "))),
    ];
    let lines =
        parts.into_iter().filter_map(|(name, text)| Some(format!("\n  {name:<8} {}", sanitize_line(&text?))));
    format!("{OPERATION}: done{}", lines.collect::<String>())
}

/// The two calls, each with what it saves; either may be missing.
struct Requests<'a> {
    cart: Cart<'a>,
    /// The cart before.
    found: ActiveCart,
    shipping: Option<(Saved<'a>, Planned)>,
    payment: Option<(Saved<'a>, Planned)>,
}

impl<'a> Requests<'a> {
    fn calls(&self) -> impl Iterator<Item = &(Saved<'a>, Planned)> {
        self.shipping.iter().chain(&self.payment)
    }

    fn planned(&self) -> Vec<Planned> {
        self.calls().map(|(_, planned)| planned.clone()).collect()
    }

    /// The calls with what they change.
    fn to_send(&self) -> Vec<Call> {
        let call = |(owner, (name, request)): &(Saved<'_>, Planned)| Call {
            is_looked_at_later: true,
            ..Call::new(name.clone(), request.clone(), owner.effect())
        };
        self.calls().map(call).collect()
    }

    /// Sends the calls. The second leaves only if the first was applied, and then even after a signal.
    async fn send(
        &self,
        service: &Service<'_>,
        to_send: Vec<Call>,
        calls: &mut Calls<'_>,
    ) -> Result<(), Failure> {
        let mut to_send = to_send.into_iter();
        if let Some((owner, _)) = &self.shipping
            && let Some(call) = to_send.next()
            && let Err(failure) = calls.carry_out(owner, call).await
        {
            let failure = first_failed(service, failure);
            calls.last_is(failure.applied);
            return Err(failure);
        }
        let Some(((owner, _), call)) = self.payment.as_ref().zip(to_send.next()) else { return Ok(()) };
        let sent = match &self.shipping {
            Some(_) => calls.complete(owner, call).await.map_err(second_failed),
            None => calls.carry_out(owner, call).await.map_err(|it| cart::with_hint(service, it)),
        };
        sent.map(drop)
    }
}

/// Reads the cart, and makes the calls from it. A method that the shop does not have is refused here.
async fn requests<'a>(service: &'a Service<'a>, draft: &Draft) -> Result<Requests<'a>, Failure> {
    let mut body = draft.body();
    let named = scalar(body.shift_remove(QUOTE_ID).as_ref());
    let found = cart_basis::find(service, named.as_deref(), Part::Whole).await?;
    cart::ensure_planned(service, draft, found.as_ref())?;
    let found = found.ok_or_else(|| cart::no_active_cart(service))?;
    let cart = Cart::new(service.target()?, Some(found.id))?;
    let billing = body.shift_remove("billingAddress");
    if let (Some(billing), Some(Value::Object(information))) = (billing, body.get_mut("addressInformation")) {
        information.entry("billing_address").or_insert(billing);
    }
    for address in addresses(&mut body) {
        // The service answers 200 to an unknown region code, and saves no region.
        if let Some(country) = RegionDirectory::needed_by(address, &Map::new()) {
            read_country(service, &country).await?;
            service.regions.borrow().resolve_address(&country, address)?;
        }
        for name in KEPT_BY_THE_CART {
            let value = address.entry(name).or_insert(Value::Null);
            if value.is_null() {
                *value = "".into();
            }
        }
    }
    let wrapped = |wrapper: &'static str, value| exact_json::object([(wrapper, value)]).to_string();
    let information = body.shift_remove("addressInformation");
    let payment = body.shift_remove("paymentMethod").filter(|payment| !payment.is_null());
    if let Some(information) = &information {
        ship_checks::ensure_method(service, &cart, &found, information).await?;
    }
    let shipping = information.map(|value| {
        let owner = Saved::shipping(service, &cart, &found, &value);
        (owner, (SHIPPING.to_owned(), cart.save_shipping(wrapped("addressInformation", value))))
    });
    let payment = payment.map(|method| {
        let owner = Saved::payment(service, &cart, &found, &method);
        (owner, (PAYMENT.to_owned(), cart.select_payment(wrapped("method", method))))
    });
    Ok(Requests { cart, found, shipping, payment })
}

/// The shipping and the billing address.
fn addresses(body: &mut Map<String, Value>) -> impl Iterator<Item = &mut Map<String, Value>> {
    let information = body.get_mut("addressInformation").and_then(Value::as_object_mut);
    let sides = information.into_iter().flatten();
    let sides = sides.filter(|(name, _)| matches!(name.as_str(), "shipping_address" | "billing_address"));
    sides.filter_map(|(_, address)| address.as_object_mut())
}

/// Fields that a cart keeps from its previous address unless they are sent empty: an invoice could carry another
/// address's VAT id.
const KEPT_BY_THE_CART: [&str; 6] = ["company", "vat_id", "fax", "prefix", "middlename", "suffix"];

/// The failure of the first call. The shop refuses an unknown method only after it has saved the addresses.
fn first_failed(service: &Service<'_>, failure: Failure) -> Failure {
    if failure.absent == Some(Absent::ShippingMethod) {
        let message = format!(
            "the addresses were saved, and the shipping method of the cart was erased: {}",
            failure.message
        );
        let hint = hint!(AGAIN, " with a method that the shop has; ", list_methods());
        Failure { kind: FailureKind::Partial, applied: Applied::Partial, message, ..failure }.hint(hint)
    } else if says(failure.service.as_ref(), "The shipping method is missing") {
        failure.hint(hint!("add --carrier and --method; ", list_methods()))
    } else if cart::is_no_cart(&failure) {
        failure.hint(hint!("if there is no active cart, ", cart::without_cart(service)))
    } else {
        cart::with_hint(service, failure)
    }
}

/// The failure of the second call after the first was applied.
fn second_failed(failure: Failure) -> Failure {
    let became = match failure.applied {
        Applied::Unknown => "the outcome of the payment is unknown",
        _ => "the payment was not",
    };
    let message = format!("the shipping information was saved, and {became}: {}", failure.message);
    let hint = match (failure.kind, failure.applied, failure.hint) {
        (_, Applied::Unknown, _) => {
            hint!(AGAIN, ": saving the same addresses, methods and payment a second time changes nothing")
        }
        // The shop does not take this payment.
        (FailureKind::Refused, ..) => {
            hint!(AGAIN, " with a payment that the shop takes; ", list_methods())
        }
        (FailureKind::Interrupted, ..) | (_, _, None) => AGAIN.into(),
        (_, _, Some(hint)) => hint!(hint, "; then ", AGAIN),
    };
    Failure { message, hint: Some(hint), ..failure }
}

/// Addresses of the stored profile in the form that a quote takes, by their ids, and the service with the customer's id.
///
/// # Errors
/// As [`read_profile`], and `usage` for an address the profile does not have.
pub async fn stored_addresses<'a>(
    service: &Service<'a>,
    ids: [Option<AddressId>; 2],
) -> Result<([Map<String, Value>; 2], Service<'a>), Failure> {
    let profile = read_profile(service).await?;
    let named = profile.text("id").and_then(|id| id.parse().ok()).filter(|_| service.email.is_some());
    let service = service.of_customer(named.or(service.customer));
    let fields = service.settings.dialect.fields.quote_address;
    let stored =
        |id: Option<AddressId>| id.map_or_else(|| Ok(Map::new()), |id| from_profile(&profile, id, fields));
    let [shipping, billing] = ids;
    Ok(([stored(shipping)?, stored(billing)?], service))
}
