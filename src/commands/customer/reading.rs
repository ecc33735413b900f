//! Reading the stored profile. "Could not read the addresses" is never "there are none" (DESIGN 5).

use std::path::Path;

use serde_json::{Map, Value};

use crate::commands::service::Service;
use crate::exact_json;
use crate::failure::{Failure, Kind};
use crate::input::document;
use crate::plan::diff::{self, Change};
use crate::plan::profile::{self, Pointers, Profile};
use crate::plan::request::Request;

/// Reads the stored profile from the service.
///
/// # Errors
/// `auth` for 401 and 403, `unavailable` for network trouble and 5xx, `guard` for anything else in which the
/// complete address list is not plain to see.
pub async fn read_profile(service: &Service<'_>) -> Result<Profile, Failure> {
    let read = &service.settings.read;
    let request = Request::read_profile(service.store_view()?, read.path.as_deref());
    let reply = service.read(&request).await.map_err(unreadable)?;
    if let Some(warning) = reply.warning {
        return Err(Failure::guard(format!(
            "the stored addresses could not be read: {warning}; nothing was written"
        ))
        .hint("run the command again; -vv shows the reply"));
    }
    let value = exact_json::parse(&reply.body).or_else(|error| match error {
        // An empty reply, a page, a text: it is told by what it is.
        exact_json::Error::Syntax { .. } => Ok(reply.value()),
        exact_json::Error::Repeated(path) => {
            Err(profile::unreadable(&format!("{path} is named twice in it")))
        }
        error => Err(profile::unreadable(&error.to_string())),
    })?;
    let pointers = Pointers { customer: read.customer.clone(), addresses: read.addresses.clone() };
    Profile::find(value, &pointers)
}

/// Reads a profile somebody saved, for `--base`.
///
/// # Errors
/// `usage` for a file that cannot be read, `guard` for one without a complete address list.
pub fn read_base(path: &Path) -> Result<Profile, Failure> {
    Profile::find(document::read_json(path)?, &Pointers::default())
}

/// Reads the profile again, and refuses if it is not what was read before.
///
/// # Errors
/// As [`read_profile`], and `guard`, naming what changed.
pub async fn unchanged_since(service: &Service<'_>, stored: &Profile) -> Result<(), Failure> {
    let now = read_profile(service).await?;
    let differences = differences(stored.customer(), now.customer(), &service.settings.read.ignore);
    if differences.is_empty() {
        return Ok(());
    }
    Err(Failure::guard(format!(
        "somebody changed the profile since it was read: {}; nothing was written",
        named(&differences)
    ))
    .hint("run the command again: it will start from the profile as it is now"))
}

/// The first few differences, by their paths.
pub fn named(differences: &[Change]) -> String {
    const SHOWN: usize = 4;
    let mut paths: Vec<String> =
        differences.iter().take(SHOWN).map(|change| change.path.to_string()).collect();
    if differences.len() > SHOWN {
        paths.push(format!("{} more", differences.len() - SHOWN));
    }
    format!("{} differ{}", paths.join(", "), if differences.len() == 1 { "s" } else { "" })
}

/// How two readings of one profile differ, beside what `read.ignore` leaves out.
pub fn differences(
    before: &Map<String, Value>,
    after: &Map<String, Value>,
    ignore: &[String],
) -> Vec<Change> {
    // As a rule; a copy of each to leave something out of is then not needed.
    if before == after {
        return Vec::new();
    }
    diff::customers(&diff::without(before, ignore), &diff::without(after, ignore))
}

/// A refused read is no answer about the addresses.
fn unreadable(failure: Failure) -> Failure {
    if failure.kind != Kind::Refused {
        return failure;
    }
    Failure {
        kind: Kind::Guard,
        message: format!("the stored addresses could not be read, so nothing was written: {}", failure.message),
        hint: failure.hint.or_else(|| Some(
            "set read.path of the profile to where the service gives the profile, or give it by hand with --base FILE"
                .to_owned(),
        )),
        ..failure
    }
}
