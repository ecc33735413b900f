//! Regions by code or name, read from the shop's own list of a country.

use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::plan::profile::region_directory::RegionDirectory;
use crate::plan::request::Request;
use crate::plan::request::dialect::ProfileRules;
use crate::session::service::Service;

/// Reads the regions of a country, unless they are known.
///
/// # Errors
/// As [`Service::read`]; `usage` for a country that the shop does not know.
pub async fn read(
    service: &Service<'_>,
    rules: &ProfileRules,
    directory: &mut RegionDirectory,
    country: &str,
) -> Result<(), Failure> {
    if directory.knows(country) {
        return Ok(());
    }
    let target = service.target()?;
    let path = target.path(rules.country, &[("country", country)]);
    match service.read(&Request::get(path, target.bearer())).await {
        Ok(reply) => {
            directory.insert(country, &reply.value());
            Ok(())
        }
        Err(failure) if failure.status == Some(404) => {
            Err(Failure::usage(format!("the shop does not know the country `{country}`"))
                .hint("give the two-letter code of a country the shop allows"))
        }
        Err(failure) => Err(failure),
    }
}

/// Sets the region id of quote addresses that name a region by code or name alone: the service answers 200 to a code that
/// it does not know, and saves no region.
///
/// # Errors
/// As [`read`]; `usage` for a region that its country does not have, with those that it has.
pub async fn resolve_in_quote(service: &Service<'_>, body: &mut Map<String, Value>) -> Result<(), Failure> {
    let Some(rules) = service.settings.dialect.profile_rules else { return Ok(()) };
    let Some(Value::Object(information)) = body.get_mut("addressInformation") else { return Ok(()) };
    let mut directory = RegionDirectory::default();
    for side in ["shipping_address", "billing_address"] {
        let Some(Value::Object(address)) = information.get_mut(side) else { continue };
        let Some(country) = RegionDirectory::needed_by_quote_address(address) else { continue };
        read(service, rules, &mut directory, &country).await?;
        directory.resolve_quote_address(&country, address)?;
    }
    Ok(())
}
