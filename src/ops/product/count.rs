//! Whether products have a value of an attribute: deleting it would delete the values.
//!
//! A search in a scope finds the values that this scope shows, so every scope is searched. The shop counts values
//! whatever the flags of the attribute, and also those of products that are disabled, hidden, out of stock or in no
//! website.

use jiff::SignedDuration;
use serde_json::Value;

use super::{Catalog, search};
use crate::client::LOOK_CLOSER;
use crate::client::service::Service;
use crate::log::WriteLog;
use storefront_core::effect::{Change, Kind, Sent};
use storefront_core::failure::Failure;
use storefront_core::interface::request::{Bearer, Request, any_query};
use storefront_core::product::ALL;

/// How long a value that we wrote ourselves may not be counted yet.
const RECENT: SignedDuration = SignedDuration::from_mins(10);

/// A condition of a search.
type Condition<'c> = (&'c str, String);

/// Why an attribute, or this option of it, cannot be deleted without a loss, in words; `None` if no product has a value
/// of it.
///
/// # Errors
/// As [`Service::read`]; `guard` if the log cannot be read.
pub async fn why_used(
    service: &Service<'_>,
    code: &str,
    option: Option<&str>,
) -> Result<Option<String>, Failure> {
    if is_written_lately(service, code, option)? {
        let why = "a value of it was written from this machine in the last 10 minutes";
        return Ok(Some(why.to_owned()));
    }
    let has_value = match option {
        Some(option) => ("eq", option.to_owned()),
        None => ("notnull", "1".to_owned()),
    };
    let views = Catalog::default().views(service).await?;
    for scope in [ALL].into_iter().chain(views.iter().map(String::as_str)) {
        let count = count(service, scope, code, &has_value).await?;
        if count > 0 {
            let have = if count == 1 { "product has" } else { "products have" };
            let place = if scope == ALL { String::new() } else { format!(" in the store view {scope}") };
            return Ok(Some(format!("{count} {have} it{place}")));
        }
    }
    Ok(None)
}

/// How many products meet a condition on an attribute in a scope.
async fn count(
    service: &Service<'_>,
    scope: &str,
    code: &str,
    condition: &Condition<'_>,
) -> Result<u64, Failure> {
    let query = any_query(code, std::slice::from_ref(condition), "total_count", 1);
    let request = Request::get(format!("{}?{query}", search::path(service, scope)?), Bearer::Admin);
    let reply = service.read(&request).await?;
    let count = reply.value.get("total_count").and_then(Value::as_u64).filter(|_| reply.warning.is_none());
    count.ok_or_else(|| {
        Failure::unexpected_reply("unexpected response: no number of products").hint(LOOK_CLOSER)
    })
}

/// Whether this machine wrote such a value recently.
fn is_written_lately(service: &Service<'_>, code: &str, option: Option<&str>) -> Result<bool, Failure> {
    let Some(log) = WriteLog::to_read(service.session.context)? else { return Ok(false) };
    let of_service = service.settings.service_id().to_string();
    let is_it = |change: &Change| {
        let Sent::Value(Some(value)) = &change.sent else { return false };
        let has = |option: &str| value.as_str().is_some_and(|ids| ids.split(',').any(|id| id == option));
        change.path.is_value() && change.path.last_name() == code && option.is_none_or(has)
    };
    let lately = log.lately(&of_service, Kind::Product, RECENT)?;
    Ok(lately.iter().flat_map(|effect| &effect.changes).any(is_it))
}
