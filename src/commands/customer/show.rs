//! `storefront customer show`: the stored profile and addresses.

use serde_json::Value;

use crate::failure::Failure;
use crate::ops::profile::read;
use crate::report::profile;
use crate::session::service::Service;

/// Prints the stored customer: as it came, unwrapped, under `-o json`; else as tables.
///
/// # Errors
/// As [`read::read_profile`].
pub async fn show(service: &Service<'_>) -> Result<(), Failure> {
    let stored = read::read_profile(service).await?;
    read::remember(service, &stored);
    let report = service.session.report;
    if report.is_json() {
        return report.json(&Value::Object(stored.into_customer()));
    }
    report.stdout(&profile::text(&stored, report.stdout_style()))
}
