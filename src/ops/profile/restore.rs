//! `storefront customer restore`: restores a snapshot through the same steps as an update.

use std::path::Path;

use serde_json::{Map, Value};

use super::change::ProfileChange;
use super::{pending, replace};
use crate::cli::customer::{ReplacementArgs, RestoreArgs};
use crate::failure::Failure;
use crate::ops::profile::read;
use crate::plan::profile::deletion_guard;
use crate::plan::profile::merge::Merged;
use crate::plan::profile::patch::ProfilePatch;
use crate::plan::profile::region_directory::RegionDirectory;
use crate::plan::profile::restore::{self, Extent};
use crate::plan::profile::stored::Profile;
use crate::prompt::Prompt;
use crate::report::history;
use crate::report::outcome::Outcome;
use crate::session::service::Service;
use crate::state::{CustomerStore, Mark, Snapshot};

const OPERATION: &str = "customer restore";

/// Finds the snapshot and replaces the profile by it.
///
/// # Errors
/// `usage` when there is no such snapshot, and as [`replace::replace`].
pub async fn restore(service: &Service<'_>, args: &RestoreArgs) -> Result<Outcome, Failure> {
    let stored = read::read_profile(service).await?;
    let store = CustomerStore::of(service.session.context, &service.settings, &stored.customer_key())?;
    // What is still open counts as applied once the profile shows it.
    pending::open(service, &store, &stored)?;
    let snapshot = find(&store, args.snapshot.as_deref())?;
    ensure_same_owner(&store, &stored, &snapshot)?;
    let report = service.session.report;
    let taken = history::when_local(&snapshot.taken, service.session.context.clock.now());
    report.status(&format!("{OPERATION}: snapshot {} ({taken})", snapshot.name()));
    let extent = if args.all { Extent::All } else { Extent::Update };
    let restore =
        Restore { snapshot, extent, allow_delete: args.allow_delete, replacement: args.replacement.clone() };
    replace::replace(service, &restore).await
}

struct Restore {
    snapshot: Snapshot,
    extent: Extent,
    allow_delete: Option<usize>,
    replacement: ReplacementArgs,
}

impl ProfileChange for Restore {
    fn operation(&self) -> &'static str {
        OPERATION
    }

    fn merge(
        &self,
        stored: &Map<String, Value>,
        regions: Option<&RegionDirectory>,
    ) -> Result<Merged, Failure> {
        let can_clear = regions.is_some();
        let (before, sent) = (&self.snapshot.customer, &self.snapshot.merged);
        restore::restore(stored, before, sent, self.extent, self.allow_delete.is_some(), can_clear)
    }

    fn check_deletions(&self, merged: &Merged, _: &Prompt, _: bool) -> Result<(), Failure> {
        let whole = ProfilePatch { replace: true, ..ProfilePatch::default() };
        deletion_guard::check(&whole, &merged.summary, self.allow_delete, false)
    }

    fn replacement_args(&self) -> &ReplacementArgs {
        &self.replacement
    }
}

/// A snapshot by file, name, number or the beginning of its name; without any, the newest that an update has taken and
/// that was applied.
fn find(store: &CustomerStore, named: Option<&str>) -> Result<Snapshot, Failure> {
    if let Some(file) = named.map(Path::new).filter(|file| file.is_file()) {
        return Snapshot::from_file(file);
    }
    for entry in store.entries()? {
        let is_wanted = match named {
            Some(name) => entry.is_named(name),
            None => entry.mark.is_some_and(Mark::is_applied),
        };
        if is_wanted {
            let snapshot = store.read(&entry.path)?;
            if named.is_some() || snapshot.operation != OPERATION {
                return Ok(snapshot);
            }
        }
    }
    let message = match named {
        Some(name) => format!("no snapshot named `{name}` of this customer on this machine"),
        None => "no update of this customer from this machine was applied".to_owned(),
    };
    Err(Failure::usage(message).hint("`storefront customer history` lists the snapshots"))
}

/// Customers of two services may have the same id, and where the service shows neither id nor e-mail address, two
/// customers cannot be distinguished.
fn ensure_same_owner(store: &CustomerStore, stored: &Profile, snapshot: &Snapshot) -> Result<(), Failure> {
    if snapshot.service.as_deref() != Some(store.service()) {
        let from = snapshot.service.as_deref().unwrap_or("an unknown service");
        return Err(Failure::guard(format!(
            "the snapshot was taken from {from}, and this is {}",
            store.service()
        ))
        .hint("use the profile of that service; if the service only moved, change `service` in the file"));
    }
    if !restore::belongs_to(stored.customer(), &snapshot.customer) {
        return Err(Failure::guard(format!(
            "snapshot {} belongs to another customer, or does not identify its customer",
            snapshot.name()
        ))
        .hint("`storefront customer history` lists this customer's snapshots"));
    }
    Ok(())
}
