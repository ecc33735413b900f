//! The customer's active cart, in an interface where a cart is found or created before it is written, and the shipping
//! methods that it can have.

use jiff::Timestamp;
use serde_json::Value;

use crate::failure::{Applied, Failure, FailureKind};
use crate::http::error_body::refusal_hint::names_no_entity;
use crate::ops::profile::read::{no_such_customer, read_profile};
use crate::ops::reads::Reads;
use crate::ops::send_repeatable;
use crate::plan::profile::address_ids;
use crate::plan::request::cart::Cart;
use crate::session::service::{Service, Stage};

const NOT_FOUND: u16 = 404;

/// Id of the active cart; `None` where there is none.
///
/// # Errors
/// As [`Service::read`], `unavailable` for a reply without an id, and `guard` for the cart of another customer.
pub async fn find(service: &Service<'_>) -> Result<Option<u64>, Failure> {
    let target = service.target()?;
    let cart = Cart::new(target, None)?;
    let Some(customer) = target.customer else {
        return match service.read(&cart.read("")).await {
            Ok(reply) => {
                let shown = reply.value();
                let id = id_of(&shown["id"])?;
                ensure_owner(service, &shown).await?;
                Ok(Some(id))
            }
            Err(failure)
                if failure.status == Some(NOT_FOUND) && names_no_entity(failure.service.as_ref()) =>
            {
                Ok(None)
            }
            Err(failure) => Err(failure),
        };
    };
    let found = service.read(&cart.search(customer)).await?.value();
    // The service ignores a filter that it does not understand: what it found is looked at.
    let of_customer =
        |cart: &&Value| is_active(cart) && customer_of(cart).as_ref() == Some(&customer.to_string());
    let Some(carts) = found["items"].as_array() else {
        return Err(Failure::new(
            FailureKind::Unavailable,
            "the search for carts was not answered with a list",
        )
        .hint("try again; -vv shows the response"));
    };
    match carts.iter().find(of_customer) {
        Some(cart) => id_of(&cart["id"]).map(Some),
        None => Ok(None),
    }
}

/// Id of the active cart, which is created where there is none.
///
/// # Errors
/// As [`find`]. Where the cart cannot be created, or the outcome of that is unknown, nothing was added to it.
pub async fn find_or_create(service: &Service<'_>, operation: &str) -> Result<u64, Failure> {
    let target = service.target()?;
    if target.customer.is_some()
        && let Some(id) = find(service).await?
    {
        return Ok(id);
    }
    let id = create(service, operation).await?;
    if target.customer.is_some() {
        // The item goes to the cart that this id names, whosever it is.
        read_new(service, id).await?;
    }
    Ok(id)
}

/// The active cart with this id, as the service shows it.
///
/// # Errors
/// As [`Service::read`], and `guard` for another cart than this, or one of another customer.
pub async fn read(service: &Service<'_>, id: u64) -> Result<Value, Failure> {
    Ok(read_with_date(service, id).await?.0)
}

/// The same, with the service's time of the answer, where it says so.
///
/// # Errors
/// As [`read`].
pub async fn read_with_date(service: &Service<'_>, id: u64) -> Result<(Value, Option<Timestamp>), Failure> {
    let reply = service.read(&Cart::new(service.target()?, Some(id))?.read("")).await?;
    let shown = reply.value();
    let shown_id = id_of(&shown["id"])?;
    ensure_owner(service, &shown).await?;
    if shown_id != id {
        return Err(refused(format!("the service answered with cart {shown_id}, and before with cart {id}")));
    }
    Ok((shown, reply.date))
}

/// Reads a cart that was just created, which a replica may not have yet.
async fn read_new(service: &Service<'_>, id: u64) -> Result<(), Failure> {
    let mut reads = Reads::new(service.settings.settle);
    loop {
        match read(service, id).await {
            Ok(_) => return Ok(()),
            Err(failure) if failure.status == Some(NOT_FOUND) && reads.wait().await => {}
            Err(failure) => return Err(failure),
        }
    }
}

/// Creates the cart; where there is an active one, the service answers with its id.
async fn create(service: &Service<'_>, operation: &str) -> Result<u64, Failure> {
    let target = service.target()?;
    let created = send_repeatable(service, operation, &Cart::new(target, None)?.create()).await;
    // What is asked for is not written yet.
    service.stage.set(Stage::NothingSent);
    match (created, target.customer) {
        (Err(failure), Some(customer))
            if failure.status == Some(NOT_FOUND) && names_no_entity(failure.service.as_ref()) =>
        {
            Err(no_such_customer(customer))
        }
        (created, _) => id_of(&created.map_err(not_created)?.value()),
    }
}

/// A cart more or less is nothing that was asked for: whatever became of it, the operation was not applied.
fn not_created(failure: Failure) -> Failure {
    // Without a token, nothing was tried.
    if failure.kind == FailureKind::Auth && failure.status.is_none() {
        return failure;
    }
    let kind = if failure.kind == FailureKind::Unknown { FailureKind::Unavailable } else { failure.kind };
    let hint = if failure.kind == FailureKind::Unknown {
        Some("run the command again".to_owned())
    } else {
        failure.hint
    };
    Failure {
        kind,
        applied: Applied::No,
        message: format!("the cart could not be created: {}", failure.message),
        hint,
        ..failure
    }
}

/// An id as a number or its text.
fn id_of(id: &Value) -> Result<u64, Failure> {
    let number = id.as_u64().or_else(|| id.as_str()?.trim().parse().ok());
    number.filter(|id| *id > 0).ok_or_else(|| {
        Failure::new(FailureKind::Unavailable, "the service's answer names no cart")
            .hint("check the base URL and what -vv shows of the answer")
    })
}

/// Id of the customer of a cart, as a number or its text; `None` where the cart shows none, as a guest's.
fn customer_of(cart: &Value) -> Option<String> {
    match cart.pointer("/customer/id")? {
        Value::Number(id) => Some(id.to_string()),
        Value::String(id) => Some(id.trim().to_owned()).filter(|id| !id.is_empty()),
        _ => None,
    }
}

/// Whether a cart is active: no order was made of it.
fn is_active(cart: &Value) -> bool {
    match &cart["is_active"] {
        Value::Bool(is_active) => *is_active,
        Value::Number(number) => number.as_u64() == Some(1),
        Value::String(text) => matches!(text.trim(), "1" | "true"),
        _ => false,
    }
}

/// Makes sure that a cart is the customer's: a cache that does not look at the token answers with any other.
///
/// # Errors
/// `guard` where it is another customer's, and where an administrator names the customer, also where it shows none;
/// `unavailable` where the profile cannot be reached to compare them.
async fn ensure_owner(service: &Service<'_>, cart: &Value) -> Result<(), Failure> {
    let shown = customer_of(cart);
    match (service.customer, shown) {
        (Some(customer), shown) if shown.as_ref() != Some(&customer.to_string()) => {
            let whose = shown.map_or_else(|| "no customer".to_owned(), |other| format!("customer {other}"));
            Err(refused(format!(
                "the service answered with a cart of {whose} instead of customer {customer}"
            )))
        }
        (None, Some(shown)) => {
            if !service.has_read_customer() {
                // The profile says who the token's customer is. Where it has another form there is nothing to compare.
                match Box::pin(read_profile(service)).await {
                    Err(failure) if failure.kind == FailureKind::Unavailable => return Err(failure),
                    _ => {}
                }
            }
            service.ensure_same_customer("cart", Some(shown))
        }
        _ => Ok(()),
    }
}

/// An answer that is not about the customer's cart.
pub(super) fn refused(message: String) -> Failure {
    Failure::guard(message).hint("check the token and any cache in front of the service, then try again")
}

/// The status for a cart without a shipping address.
const BAD_REQUEST: u16 = 400;

/// The shipping methods of a cart. A cart has no shipping address until shipping information is saved, and the service
/// then lists none: those to the customer's default shipping address, or else to the first one, are listed instead, with
/// a warning.
///
/// # Errors
/// As [`Service::read`].
pub async fn shipping_methods(service: &Service<'_>, cart: &Cart<'_>) -> Result<Value, Failure> {
    let refused = match service.read(&cart.read("/shipping-methods")).await {
        Ok(reply) => return Ok(reply.value()),
        Err(failure) if is_without_address(&failure) => failure,
        Err(failure) => return Err(failure),
    };
    let report = service.session.report;
    let profile = match read_profile(service).await {
        Ok(profile) => profile,
        Err(failure) => {
            report.warn(&format!(
                "no shipping methods are listed, because the cart has no shipping address yet, and those of the customer \
                 cannot be read: {}",
                failure.message
            ));
            return Ok(Value::Array(Vec::new()));
        }
    };
    let is_default = |address: &&Value| address["default_shipping"] == true;
    let chosen = profile.addresses().iter().find(is_default).or_else(|| profile.addresses().first());
    let Some(id) = chosen.and_then(|address| address_ids::id_of(address.get("id")?)) else {
        report.warn(&format!(
            "no shipping methods are listed, because neither the cart nor the customer has an address: {}",
            refused.message
        ));
        return Ok(Value::Array(Vec::new()));
    };
    report.warn(&format!(
        "the cart has no shipping address yet: the shipping methods are those to address {id} of the customer"
    ));
    Ok(service.read(&cart.estimate_shipping(id)).await?.value())
}

fn is_without_address(failure: &Failure) -> bool {
    let message = failure.service.as_ref().and_then(|body| body.get("message")?.as_str());
    failure.kind == FailureKind::Refused
        && failure.status == Some(BAD_REQUEST)
        && message.is_some_and(|message| message.starts_with("The shipping address is missing"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{customer_of, is_active};

    #[test]
    fn ids_and_flags_may_come_as_numbers_or_text() {
        for active in [json!(true), json!(1), json!("1"), json!("true")] {
            assert!(is_active(&json!({"is_active": active})), "{active}");
        }
        for inactive in [json!(false), json!(0), json!("0"), json!(""), json!(null), json!("no")] {
            assert!(!is_active(&json!({"is_active": inactive})), "{inactive}");
        }
        assert!(!is_active(&json!({})));
        for id in [json!(7), json!("7"), json!(" 7 ")] {
            assert_eq!(customer_of(&json!({"customer": {"id": id}})).as_deref(), Some("7"));
        }
        for none in [json!({}), json!({"customer": {}}), json!({"customer": {"id": ""}}), json!([])] {
            assert_eq!(customer_of(&none), None);
        }
    }
}
