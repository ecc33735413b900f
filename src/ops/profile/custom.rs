//! The shop's lists of the custom attributes of customers and addresses.

use serde_json::{Map, Value};

use crate::client::service::Service;
use storefront_core::failure::Failure;
use storefront_core::interface::request::Request;
use storefront_core::profile::custom::{AttributeDirectory, Owner};

/// Reads the lists that a draft needs into the service's directory: each once a run, and only if the interface has it. If
/// a shop refuses to show a list, nothing is checked against it.
///
/// # Errors
/// As [`Service::read`].
pub async fn read_attributes(
    service: &Service<'_>,
    draft: &Map<String, Value>,
    stored: &Map<String, Value>,
) -> Result<(), Failure> {
    for owner in AttributeDirectory::needed(draft, stored) {
        read_list(service, owner).await?;
    }
    Ok(())
}

/// Reads the list of an owner's attributes, once a run.
///
/// # Errors
/// As [`Service::read`].
pub async fn read_list(service: &Service<'_>, owner: Owner) -> Result<(), Failure> {
    let Some(path) = service.settings.dialect.custom_attributes else { return Ok(()) };
    if !service.custom_attributes.borrow().knows(owner) {
        let target = service.target()?;
        let path = target.path(path, &[("owner", owner.in_path())]);
        let list = match service.read(&Request::get(path, target.bearer())).await {
            Ok(reply) => Some(reply.value).filter(|_| reply.warning.is_none()),
            Err(failure) if failure.status == Some(403) || failure.absent.is_some() => None,
            Err(failure) => return Err(failure),
        };
        service.custom_attributes.borrow_mut().insert(owner, list.as_ref());
    }
    Ok(())
}
