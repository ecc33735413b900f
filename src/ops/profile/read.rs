//! Reading the stored profile. "Could not read the addresses" is never "there are none".

use std::path::Path;
use std::time::Duration;

use serde_json::{Map, Value};

use crate::config::ReadSettings;
use crate::exact_json;
use crate::failure::{Failure, FailureKind};
use crate::http::error_body::{self, refusal_hint::names_no_entity};
use crate::input::document;
use crate::ops::reads::Reads;
use crate::plan::profile::diff::{self, Change};
use crate::plan::profile::stored::{self, Pointers, Profile};
use crate::plan::request::Request;
use crate::session::service::Service;
use crate::state::{self, CustomerStore};

/// Reads the stored profile from the service.
///
/// # Errors
/// `auth` for 401 and 403, `unavailable` for network trouble, 429 and 5xx, `guard` for anything else in which the
/// complete address list is not plain to see.
pub async fn read_profile(service: &Service<'_>) -> Result<Profile, Failure> {
    let read = &service.settings.read;
    let request = Request::read_profile(&service.target()?, read.path.as_deref());
    let reply = service.read(&request).await.map_err(|failure| match (service.customer, failure.status) {
        (Some(id), Some(404)) if names_no_entity(failure.service.as_ref()) => no_such_customer(id),
        _ => unreadable(service, failure),
    })?;
    if let Some(warning) = reply.warning {
        return Err(Failure::guard(format!("cannot read the stored addresses: {warning}"))
            .hint("try again with -vv to see the response"));
    }
    if reply.is_page() {
        let (page, service) = error_body::render(reply.status, None, &reply.body);
        let failure =
            Failure::guard(format!("cannot read the stored addresses: the service answered {page}"));
        let failure = Failure { service, ..failure.status(reply.status) };
        return Err(failure.hint(
            "a page came instead of the service's answer: check the base URL, and proxies and login pages between",
        ));
    }
    let value = exact_json::parse(&reply.body).map_err(|error| match error {
        exact_json::Error::Syntax { .. } if reply.body.trim_ascii().is_empty() => "it is empty".to_owned(),
        exact_json::Error::Syntax { .. } => format!("it is not valid JSON: {error}"),
        error => error.to_string(),
    });
    let value = value.map_err(|what| stored::unreadable(&what))?;
    let read = if service.customer.is_some() { &ReadSettings::default() } else { read };
    let pointers = Pointers { customer: read.customer.clone(), addresses: read.addresses.clone() };
    let profile = Profile::find(value, &pointers)?;
    service.ensure_same_customer("profile", profile.text("id"))?;
    match service.customer {
        // The id in the body of a PUT goes before the one in the path.
        Some(id) if profile.text("id") != Some(id.to_string()) => {
            Err(stored::unreadable(&format!("it is not that of customer {id}")))
        }
        _ => Ok(profile),
    }
}

/// No customer has this id.
pub fn no_such_customer(id: u64) -> Failure {
    Failure::usage(format!("no customer has the id {id}")).hint("search with `storefront customer find TEXT`")
}

/// Keeps what completion and an offline history need of a profile: the ids of its addresses, and whose token it is.
pub fn remember(service: &Service<'_>, stored: &Profile) {
    let context = service.session.context;
    state::save_addresses(context, &service.name(), stored, service.customer.is_some());
    if let (None, Some(token)) = (service.customer, service.token_in_use()) {
        state::save_customer(context, &service.settings, token, stored);
    }
}

/// Reads a profile somebody saved, for `--base`.
///
/// # Errors
/// `usage` for a file that cannot be read, `guard` for one without a complete address list.
pub fn read_base(path: &Path) -> Result<Profile, Failure> {
    Profile::in_file(document::read_json(path)?, &document::quoted(&document::name(path)))
}

/// The stored profile; `base`, with `false`, where the service has no call that reads it.
///
/// # Errors
/// As [`read_profile`]; `guard` for a base that is not what is stored.
pub async fn read_or_base(service: &Service<'_>, base: Option<&Profile>) -> Result<(Profile, bool), Failure> {
    let Some(base) = base else {
        let stored = read_profile(service).await.map_err(|failure| offer_base(service, failure))?;
        return Ok((stored, true));
    };
    match read_profile(service).await {
        Err(failure) if has_no_read(service, &failure) => {
            service.session.report.warn(&format!(
                "the service has no call that reads the profile ({}): the base is taken as it is, and the result is not verified",
                failure.message
            ));
            Ok((base.clone(), false))
        }
        Err(failure) => Err(failure),
        Ok(stored) => {
            let differences = differences(base, &stored, &service.settings.read.ignore);
            if differences.is_empty() {
                return Ok((stored, true));
            }
            Err(Failure::guard(format!(
                "the base is out of date: {}; an update based on it would delete newer data",
                list_changes(&differences)
            ))
            .hint("save the profile anew with `storefront customer show -o json`, or leave --base out"))
        }
    }
}

/// Only an update takes `--base`, only alone, and only where the service has no call that reads the profile.
fn offer_base(service: &Service<'_>, failure: Failure) -> Failure {
    let is_batch = service.session.report.record.is_some();
    if is_batch || failure.kind != FailureKind::Guard || !has_no_read(service, &failure) {
        return failure;
    }
    let hint = failure.hint.as_deref().map(|hint| format!("{hint}, or ")).unwrap_or_default();
    let hint = format!("{hint}pass the profile with --base FILE");
    failure.hint(hint)
}

/// "Not read this time" is not "cannot be read": only these answers say that there is no such call.
fn has_no_read(service: &Service<'_>, failure: &Failure) -> bool {
    match failure.status {
        Some(405 | 501) => true,
        Some(404) => service.settings.read.path.is_none(),
        _ => false,
    }
}

/// Reads the profile until it no longer is the one before our own last write, which a replica may still answer with.
/// Where it stays so, it is taken as true: somebody undid that write.
///
/// # Errors
/// As [`read_profile`], and when the snapshots cannot be read.
pub async fn wait_for_replica(
    service: &Service<'_>,
    store: &CustomerStore,
    mut stored: Profile,
    settle: Duration,
) -> Result<Profile, Failure> {
    let Some(last) = store.applied_within(state::REPLICA_LAG)? else { return Ok(stored) };
    let is_before = |stored: &Profile| stored.customer() == &last.customer && last.customer != last.merged;
    let mut reads = Reads::new(settle);
    while is_before(&stored) {
        if !reads.wait().await {
            service.session.report.warn(&format!(
                "the profile reads as it did before the last update from this machine ({}): that update was undone, or the service still returns old data",
                last.name()
            ));
            break;
        }
        stored = read_profile(service).await?;
    }
    Ok(stored)
}

/// The first few differences, by their paths.
pub fn list_changes(differences: &[Change]) -> String {
    const SHOWN: usize = 4;
    let mut paths: Vec<String> =
        differences.iter().take(SHOWN).map(|change| change.path.to_string()).collect();
    if differences.len() > SHOWN {
        paths.push(format!("{} more", differences.len() - SHOWN));
    }
    format!("{} differ{}", paths.join(", "), if differences.len() == 1 { "s" } else { "" })
}

/// How two reads of one profile differ, without what `read.ignore` leaves out.
pub fn differences(before: &Profile, after: &Profile, ignore: &[String]) -> Vec<Change> {
    let (before, after): (&Map<String, Value>, _) = (before.customer(), after.customer());
    // As a rule; a copy of each to leave something out of is then not needed.
    if before == after {
        return Vec::new();
    }
    diff::customers_except(before, after, ignore)
}

/// A refused read is no answer about the addresses.
fn unreadable(service: &Service<'_>, failure: Failure) -> Failure {
    if failure.kind != FailureKind::Refused {
        return failure;
    }
    Failure {
        kind: FailureKind::Guard,
        message: format!("cannot read the stored addresses: {}", failure.message),
        hint: failure.hint.or_else(|| {
            // Where the interface documents its read, no setting has to name it.
            if service.settings.dialect.is_magento() {
                return Some("check the base URL, which usually ends with `/rest`".to_owned());
            }
            let url = if failure.status == Some(404) {
                "check the path of the base URL; if it is right, "
            } else {
                ""
            };
            Some(format!("{url}set `read.path` to the path that returns the profile"))
        }),
        ..failure
    }
}
