//! `storefront customer restore`: restores a snapshot through the same steps as an update.

mod find;

use serde_json::{Map, Value};

use super::change::ProfileChange;
use super::{pending, replace};
use crate::cli::customer::{ReplacementArgs, RestoreArgs};
use crate::failure::Failure;
use crate::ops::profile::read;
use crate::plan::profile::merge::Merged;
use crate::plan::profile::patch;
use crate::plan::profile::patch::ProfilePatch;
use crate::plan::profile::region::RegionDirectory;
use crate::plan::profile::restore::{self, Extent};
use crate::plan::profile::stored::Profile;
use crate::prompt::Prompt;
use crate::report::history;
use crate::report::outcome::Outcome;
use crate::session::service::Service;
use crate::state::{CustomerStore, Mark, Snapshot, SnapshotEntry};

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
    let snapshot = find::find(service, &store, &stored, args.snapshot.as_deref())?;
    ensure_same_owner(&store, &stored, &snapshot)?;
    let report = service.session.report;
    let taken = history::when_local(&snapshot.taken, service.session.context.clock.now());
    report.status(&format!("{OPERATION}: snapshot {} ({taken})", snapshot.name()));
    let extent = if args.all { Extent::All } else { Extent::Update };
    let undone = match extent {
        Extent::Update => undone_already(&store, &snapshot)?,
        Extent::All => None,
    };
    let restore = Restore {
        snapshot,
        undone,
        extent,
        allow_delete: args.allow_delete,
        replacement: args.replacement.clone(),
    };
    replace::replace(service, &restore).await
}

struct Restore {
    snapshot: Snapshot,
    /// Where an earlier restore has undone that update: which, and what goes further back.
    undone: Option<String>,
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

    fn describe_unchanged(&self, merged: &Merged) -> Option<String> {
        let name = self.snapshot.name();
        Some(match &self.undone {
            Some(undone) => format!("nothing restored: {undone}"),
            None if restore::all_changed_again(&merged.notes) => {
                format!("nothing restored: all that {name} changed was changed again since")
            }
            None if merged.notes.is_empty() => {
                format!("nothing restored: the profile is already as it was before {name}")
            }
            None => "nothing restored: see the warnings".to_owned(),
        })
    }

    fn check_deletions(&self, merged: &Merged, _: &Prompt, _: bool) -> Result<(), Failure> {
        let whole = ProfilePatch { replace: true, ..ProfilePatch::default() };
        patch::check(&whole, &merged.summary, self.allow_delete, false)
    }

    fn replacement_args(&self) -> &ReplacementArgs {
        &self.replacement
    }
}

/// Which restore has undone an update since, and how to undo the one before it that is not undone.
fn undone_already(store: &CustomerStore, update: &Snapshot) -> Result<Option<String>, Failure> {
    let entries = store.entries()?;
    let number_of = |snapshot: &Snapshot| {
        entries.iter().find(|entry| entry.path == snapshot.path).map(|entry| entry.number)
    };
    let Some(number) = number_of(update) else { return Ok(None) };
    let Some(undone_by) = undone_by(store, &entries, number, update) else { return Ok(None) };
    let mut below = number;
    let mut hint = String::new();
    while let Some(before) = find::last_update(store, below)? {
        below = number_of(&before).unwrap_or_default();
        if self::undone_by(store, &entries, below, &before).is_none() {
            hint = format!("; to undo the one before: `storefront customer restore {}`", before.name());
            break;
        }
    }
    Ok(Some(format!("already undone by {undone_by}{hint}")))
}

/// Name of the restore that has undone the update with this number.
fn undone_by(
    store: &CustomerStore,
    entries: &[SnapshotEntry],
    number: u64,
    update: &Snapshot,
) -> Option<String> {
    let changes = update.changes();
    for entry in
        entries.iter().filter(|entry| entry.number > number && entry.mark.is_some_and(Mark::is_applied))
    {
        let Ok(later) = store.read(&entry.path) else { continue };
        if later.operation == OPERATION && restore::takes_back(&later.changes(), &changes) {
            return Some(later.name().to_owned());
        }
    }
    None
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
