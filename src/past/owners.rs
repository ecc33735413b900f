//! Reads the thing that a write changed.

use serde_json::{Map, Value};

use super::order;
use crate::client::service::Service;
use crate::log::Write;
use crate::ops::attribute::by_id;
use crate::ops::cart_owner::CartOwner;
use crate::ops::customers::select;
use crate::ops::product;
use crate::ops::profile::read::read_profile;
use crate::ops::ship_owner::{is_saved, read_saved};
use storefront_core::absent::Absent;
use storefront_core::effect::{Effect, Kind};
use storefront_core::failure::Failure;

/// What a read of an owner shows.
pub enum Read {
    /// Everything that effects can compare.
    Shown(Map<String, Value>),
    /// It is not there any more, in words.
    Gone(String),
    /// No call shows it, in words.
    NotComparable(String),
}

/// The service with the customer of what was written, if an administrator's token is there to name them; else the token's
/// own.
///
/// # Errors
/// `usage` for a customer who cannot be named.
pub fn of_customer<'a>(service: &Service<'a>, write: &Write) -> Result<Service<'a>, Failure> {
    select(service, customer_of(service, write))
}

/// The customer whom calls on what was written must name, if they can. A record that was sent with a customer's own token is
/// read with that token, which names nobody.
pub fn customer_of<'w>(service: &Service<'_>, write: &'w Write) -> Option<&'w str> {
    let named = write.customer.as_deref().or_else(|| {
        let is_customer = write.owner_kind == Kind::Customer.noun();
        write.owner.as_deref().filter(|_| is_customer)
    });
    let has_admin = service.settings.dialect.customers.is_some() && !service.settings.shares_token();
    let is_sandbox = service.settings.sandbox.is_some();
    let is_own = service.has_own_token() && service.customer.is_none() && service.email.is_none();
    named.filter(|_| (has_admin && !is_own) || is_sandbox)
}

/// Reads the owner of an effect; `service` comes from [`of_customer`].
///
/// # Errors
/// As the reads of its kind.
pub async fn read(service: &Service<'_>, effect: &Effect) -> Result<Read, Failure> {
    let owner = &effect.owner;
    let Some(id) = owner.id.as_deref() else {
        return Ok(Read::NotComparable("no answer told its ID".to_owned()));
    };
    match owner.kind {
        Kind::Customer => {
            let profile = match read_profile(service).await {
                Err(failure) if failure.absent == Some(Absent::Customer) => {
                    return Ok(Read::Gone(failure.message));
                }
                profile => profile?,
            };
            if profile.customer_key() != id {
                let message = format!("the service answered with customer {}", profile.customer_key());
                return Ok(Read::NotComparable(format!("{message}, not with {id}")));
            }
            Ok(Read::Shown(profile.customer().clone()))
        }
        Kind::Cart if service.settings.dialect.carts.is_some() => {
            let gone = format!("{owner} is not active any more");
            match read_cart(service, effect, id).await {
                Ok(read) => Ok(read),
                Err(failure) if matches!(failure.absent, Some(Absent::Cart | Absent::Customer)) => {
                    Ok(Read::Gone(gone))
                }
                Err(failure) => Err(failure),
            }
        }
        Kind::Attribute if service.settings.dialect.changes_attributes => {
            Ok(match by_id(service, id, effect).await? {
                Some((_, attribute)) => Read::Shown(attribute),
                None => Read::Gone(format!("{owner} is gone")),
            })
        }
        Kind::Order if service.settings.dialect.orders.is_some() => {
            Ok(order::read(service, effect).await?.map_or_else(Read::Gone, Read::Shown))
        }
        Kind::Product if service.settings.dialect.products.is_some() => {
            Ok(match product::back::read(service, effect).await? {
                Some(document) => Read::Shown(document),
                None => Read::Gone(format!("{owner} is gone")),
            })
        }
        kind => Ok(Read::NotComparable(format!("no call shows the {} again", kind.noun()))),
    }
}

/// The items of a cart, or what was saved to it.
async fn read_cart(service: &Service<'_>, effect: &Effect, id: &str) -> Result<Read, Failure> {
    if is_saved(effect) {
        return Ok(read_saved(service, effect).await?.map_or_else(Read::NotComparable, Read::Shown));
    }
    Ok(Read::Shown(CartOwner::read_named(service, Some(id)).await?.document()))
}
