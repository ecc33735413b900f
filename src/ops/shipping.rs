//! Shipping and billing addresses taken from the stored profile.

use serde_json::Map;
use serde_json::Value;

use crate::cli::quote::ShipArgs;
use crate::failure::Failure;
use crate::ops::profile::read;
use crate::plan::request::cart::from_profile;
use crate::session::service::Service;

/// Addresses of the stored profile become flags, under those that were given.
///
/// # Errors
/// As [`read::read_profile`], and `usage` for an address the profile does not have.
pub async fn with_stored_addresses(service: &Service<'_>, args: &ShipArgs) -> Result<ShipArgs, Failure> {
    let mut args = args.clone();
    if args.ship_to_address.is_none() && args.bill_to_address.is_none() {
        return Ok(args);
    }
    let profile = read::read_profile(service).await?;
    for (id, named) in
        [(args.ship_to_address, &mut args.ship.named), (args.bill_to_address, &mut args.bill.named)]
    {
        if let Some(id) = id {
            *named = with_defaults(
                from_profile(&profile, id, service.settings.dialect.fields.quote_address)?,
                named,
            );
        }
    }
    Ok(args)
}

pub(crate) fn with_defaults(
    mut stored: Map<String, Value>,
    named: &Map<String, Value>,
) -> Map<String, Value> {
    stored.extend(named.clone());
    stored
}
