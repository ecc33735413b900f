//! Regions by code or name, read from the shop's own list of a country.

use serde_json::{Map, Value};

use crate::failure::{Failure, FailureKind};
use crate::http::Reply;
use crate::plan::profile::region::RegionDirectory;
use crate::plan::request::Request;
use crate::session::service::Service;

/// Reads the regions of a country into the service's directory. Nothing is read twice in a run, and nothing where the
/// interface has no list.
///
/// # Errors
/// `usage` for a country that the shop does not have, and as [`Service::read`].
pub async fn read_country(service: &Service<'_>, country: &str) -> Result<(), Failure> {
    let Some(path) = service.settings.dialect.country else { return Ok(()) };
    if service.regions.borrow().knows(country) {
        return Ok(());
    }
    let target = service.target()?;
    let path = target.path(path, &[("country", country)]);
    match service.read(&Request::get(path, target.bearer())).await {
        Ok(reply) if is_country(&reply, country) => {
            service.regions.borrow_mut().insert(country, &reply.value());
        }
        Ok(_) => {
            let message = format!("the regions of `{country}` could not be read: unexpected response");
            return Err(
                Failure::new(FailureKind::Unavailable, message).hint("try again; -vv shows the response")
            );
        }
        Err(failure) if failure.status == Some(404) => {
            return Err(Failure::usage(format!("the shop does not know the country `{country}`"))
                .hint("give the two-letter code of a country the shop allows"));
        }
        Err(failure) => return Err(failure),
    }
    Ok(())
}

/// Whether a reply is the whole description of this country: from a page or half a list every region would be unknown.
fn is_country(reply: &Reply, country: &str) -> bool {
    let value = reply.value();
    let is_named = |name: &str| {
        value.get(name).and_then(Value::as_str).is_some_and(|code| code.eq_ignore_ascii_case(country))
    };
    reply.warning.is_none() && (is_named("id") || is_named("two_letter_abbreviation"))
}

/// Sets the region id of quote addresses that name a region by code or name alone: the service answers 200 to a code that
/// it does not know, and saves no region.
///
/// # Errors
/// As [`read_country`]; `usage` for a region that its country does not have, with those that it has.
pub async fn resolve_in_quote(service: &Service<'_>, body: &mut Map<String, Value>) -> Result<(), Failure> {
    if !service.settings.dialect.is_magento() {
        return Ok(());
    }
    let Some(Value::Object(information)) = body.get_mut("addressInformation") else { return Ok(()) };
    for side in ["shipping_address", "billing_address"] {
        let Some(Value::Object(address)) = information.get_mut(side) else { continue };
        let Some(country) = RegionDirectory::needed_by_quote_address(address) else { continue };
        read_country(service, &country).await?;
        service.regions.borrow().resolve_quote_address(&country, address)?;
    }
    Ok(())
}
