//! `storefront attribute show`

use serde_json::Value;

use crate::failure::{Failure, FailureKind};
use crate::ops::attribute;
use crate::plan::validate::attribute::in_reply;
use crate::report;
use crate::session::service::Service;

/// Prints an attribute: as it came under `-o json`, else as tables.
///
/// # Errors
/// As [`Service::read`]; `usage` where the interface has no such read and no setting names one.
pub async fn show(service: &Service<'_>, code: &str) -> Result<(), Failure> {
    let request = attribute::read_request(service, code).ok_or_else(|| {
        let interface = service.settings.dialect.name;
        Failure::usage(format!("the interface `{interface}` documents no call that reads an attribute"))
            .hint("set `read.attribute-path` in the profile to the path that shows it")
    })?;
    let reply = service.read(&request).await?.value();
    let report = service.session.report;
    if report.is_json() {
        return report.json(&reply);
    }
    let stored = in_reply(reply).ok_or_else(|| {
        Failure::new(FailureKind::Unavailable, "the service's answer is no attribute")
            .hint("print it as it came with -o json")
    })?;
    let mut shown = stored;
    if let Some(Value::Array(options)) = shown.get_mut("options") {
        // A blank option stands for "nothing chosen".
        options.retain(|option| option["label"].as_str().is_some_and(|label| !label.trim().is_empty()));
    }
    report.stdout(&format!("{}\n", report::attribute::text(&shown, report.stdout_style())))
}
