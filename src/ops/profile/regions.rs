//! The regions of a country, as the shop lists them.

use crate::failure::Failure;
use crate::plan::profile::region_directory::RegionDirectory;
use crate::plan::request::Request;
use crate::session::service::Service;

/// Reads the regions of a country into the directory. Nothing is read twice, and nothing where the interface has no list.
///
/// # Errors
/// `usage` for a country that the shop does not have, and as [`Service::read`].
pub async fn read_country(
    service: &Service<'_>,
    country: &str,
    directory: &mut RegionDirectory,
) -> Result<(), Failure> {
    let Some(rules) = service.settings.dialect.profile_rules else { return Ok(()) };
    if directory.knows(country) {
        return Ok(());
    }
    let target = service.target()?;
    let path = target.path(rules.country, &[("country", country)]);
    match service.read(&Request::get(path, target.bearer())).await {
        Ok(reply) => directory.insert(country, &reply.value()),
        Err(failure) if failure.status == Some(404) => {
            return Err(Failure::usage(format!("the shop does not know the country `{country}`"))
                .hint("give the two-letter code of a country the shop allows"));
        }
        Err(failure) => return Err(failure),
    }
    Ok(())
}
