//! Which cart is written: the active one of the customer.

use jiff::Timestamp;
use serde_json::Value;

use super::owner;
use crate::failure::{Applied, Failure, FailureKind};
use crate::http::{Effect, names_no_entity};
use crate::ops::customers;
use crate::ops::reads::Reads;
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
                owner::ensure(service, &shown).await?;
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
    let of_customer = |cart: &&Value| {
        owner::is_active(cart) && owner::customer_of(cart).as_ref() == Some(&customer.to_string())
    };
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
pub async fn read_with_date(service: &Service<'_>, id: u64) -> Result<(Value, Option<Timestamp>), Failure> {
    let reply = service.read(&Cart::new(service.target()?, Some(id))?.read("")).await?;
    let shown = reply.value();
    let shown_id = id_of(&shown["id"])?;
    owner::ensure(service, &shown).await?;
    if shown_id != id {
        return Err(owner::refused(format!(
            "the service answered with cart {shown_id}, and before with cart {id}"
        )));
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
    let created = service.send(operation, &Cart::new(target, None)?.create(), Effect::State).await;
    // What is asked for is not written yet.
    service.stage.set(Stage::NothingSent);
    match (created, target.customer) {
        (Err(failure), Some(customer))
            if failure.status == Some(NOT_FOUND) && names_no_entity(failure.service.as_ref()) =>
        {
            Err(customers::no_such_customer(customer))
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
