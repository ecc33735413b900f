//! Which snapshot `customer restore` restores: the one that is named, or that of the last update that was applied.

use std::path::Path;

use super::OPERATION;
use crate::failure::Failure;
use crate::ops::profile::pending::{self, Sighting};
use crate::plan::profile::stored::Profile;
use crate::session::service::Service;
use crate::state::{self, CustomerStore, Mark, Snapshot, SnapshotEntry};

/// As many snapshots of one beginning are named.
const MOST_NAMED: usize = 5;

const LIST: &str = "`storefront customer history` lists the snapshots";

/// A snapshot by file, name, number or the beginning of its name; without any, the newest that an update has taken and
/// that was applied. A newer one of unknown outcome is looked for in the profile first, however old it is.
///
/// # Errors
/// `usage` where there is none, or several have that name; `guard` where the profile does not tell whether a newer update
/// was applied.
pub(super) fn find(
    service: &Service<'_>,
    store: &CustomerStore,
    stored: &Profile,
    named: Option<&str>,
) -> Result<Snapshot, Failure> {
    if let Some(name) = named {
        return find_named(store, name);
    }
    let applied = last_update(store, u64::MAX)?;
    for entry in store.entries()? {
        if applied.as_ref().is_some_and(|applied| applied.path == entry.path) {
            break;
        }
        if entry.number == 0 || !matches!(entry.mark, None | Some(Mark::Unknown)) {
            continue;
        }
        let unknown = store.read(&entry.path)?;
        if unknown.operation == OPERATION {
            continue;
        }
        match pending::look(service, store, &unknown, stored)? {
            Sighting::Shown => {
                let name = unknown.name();
                service.session.report.status(&format!("{name} was applied: the profile shows all of it"));
                return Ok(unknown);
            }
            Sighting::NotShown => service.session.report.warn(&format!(
                "skipped {}: its outcome is unknown, and the profile does not show it",
                unknown.name()
            )),
            Sighting::Unclear => return Err(unclear(&unknown, applied.as_ref())),
        }
    }
    applied
        .ok_or_else(|| Failure::usage("no update of this customer from this machine was applied").hint(LIST))
}

/// The refusal to choose for the user.
fn unclear(unknown: &Snapshot, applied: Option<&Snapshot>) -> Failure {
    let before = applied.map(|applied| format!(", or `storefront customer restore {}`", applied.name()));
    Failure::guard(format!(
        "cannot tell from the profile whether {}, of unknown outcome, was applied",
        unknown.name()
    ))
    .hint(format!(
        "name the update to undo: `storefront customer restore {}`{}",
        unknown.name(),
        before.unwrap_or_default()
    ))
}

fn find_named(store: &CustomerStore, name: &str) -> Result<Snapshot, Failure> {
    let file = Path::new(name);
    if file.is_file() {
        return Snapshot::from_file(file);
    }
    match &state::named(&store.entries()?, name)[..] {
        [one] => store.read(&one.path),
        [] => {
            Err(Failure::usage(format!("no snapshot named `{name}` of this customer on this machine"))
                .hint(LIST))
        }
        several => {
            let names: Vec<&str> = several.iter().take(MOST_NAMED).map(SnapshotEntry::name).collect();
            let more = several.len() - names.len();
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            Err(Failure::usage(format!(
                "`{name}` names {} snapshots: {}{more}",
                several.len(),
                names.join(", ")
            ))
            .hint("give more of the name, or the number of one"))
        }
    }
}

/// The newest snapshot of an update that was applied, below a number.
///
/// # Errors
/// When the snapshots cannot be read.
pub(super) fn last_update(store: &CustomerStore, below: u64) -> Result<Option<Snapshot>, Failure> {
    let is_applied = |entry: &SnapshotEntry| entry.mark.is_some_and(Mark::is_applied);
    for entry in store.entries()?.into_iter().filter(|entry| entry.number < below && is_applied(entry)) {
        let snapshot = store.read(&entry.path)?;
        if snapshot.operation != OPERATION {
            return Ok(Some(snapshot));
        }
    }
    Ok(None)
}
