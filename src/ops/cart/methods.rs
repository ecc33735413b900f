//! The shipping methods that a cart can have.

use serde_json::Value;

use crate::failure::{Failure, FailureKind};
use crate::ops::profile::read::read_profile;
use crate::plan::profile::diff::id_of;
use crate::plan::request::cart::Cart;
use crate::session::service::Service;

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
    let Some(id) = chosen.and_then(|address| id_of(address.get("id")?)) else {
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
