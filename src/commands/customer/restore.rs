//! `storefront customer restore`: a snapshot put back, through the same steps as an update.

use std::path::Path;

use serde_json::{Map, Value};

use super::reading;
use super::replace::{self, Edit};
use crate::cli::customer::RestoreArgs;
use crate::commands::service::Service;
use crate::failure::Failure;
use crate::history::{Archive, Snapshot};
use crate::plan::guard;
use crate::plan::merge::{Merged, Wish};
use crate::plan::restoration;
use crate::prompt::Prompt;

const OPERATION: &str = "customer restore";

/// Finds the snapshot and replaces the profile by it.
///
/// # Errors
/// `usage` when there is no such snapshot, and as [`replace::replace`].
pub async fn restore(service: &Service<'_>, args: &RestoreArgs) -> Result<(), Failure> {
    let snapshot = find(service, args.snapshot.as_deref()).await?;
    of_this_service(service, &snapshot)?;
    let report = service.session.report;
    report.note(&format!("{OPERATION}: the profile as it was on {}", snapshot.taken));
    let outcome = replace::replace(service, &Restore { snapshot, allow_delete: args.allow_delete }).await?;
    report.outcome(&outcome)
}

struct Restore {
    snapshot: Snapshot,
    allow_delete: Option<usize>,
}

impl Edit for Restore {
    fn operation(&self) -> &'static str {
        OPERATION
    }

    fn merge(&self, stored: &Map<String, Value>) -> Result<Merged, Failure> {
        restoration::restore(stored, &self.snapshot.customer, self.allow_delete.is_some())
    }

    fn allow(&self, merged: &Merged, _: &Prompt) -> Result<(), Failure> {
        let whole = Wish { replace: self.allow_delete.is_some(), ..Wish::default() };
        guard::deletions(&whole, &merged.tally, self.allow_delete)
    }
}

/// A snapshot by name or file; without either, the newest that a restore did not make.
async fn find(service: &Service<'_>, named: Option<&str>) -> Result<Snapshot, Failure> {
    if let Some(file) = named.map(Path::new).filter(|file| file.is_file()) {
        return Snapshot::read(file);
    }
    let stored = reading::read_profile(service).await?;
    let archive = Archive::of(service.session.context, &service.settings, &stored.customer_key())?;
    let wanted = |snapshot: &Snapshot| match named {
        Some(name) => snapshot.name() == name,
        None => snapshot.operation != OPERATION,
    };
    let found = archive.snapshots()?.into_iter().find(wanted).ok_or_else(|| {
        let which = named.map_or_else(|| "a snapshot".to_owned(), |name| format!("a snapshot {name}"));
        Failure::usage(format!("this customer has not {which} on this machine; nothing was sent"))
            .hint("`storefront customer history` lists the snapshots")
    })?;
    if named.is_none() && !restoration::is_of(stored.customer(), &found.customer) {
        return Err(doubtful(&found));
    }
    Ok(found)
}

/// Where the service tells neither id nor e-mail address, customers share one archive.
fn doubtful(found: &Snapshot) -> Failure {
    let (name, file) = (found.name(), found.path.display());
    Failure::guard(format!(
        "whether the snapshot {name} is of this customer cannot be told; nothing was written"
    ))
    .hint(format!("look into {file}; if it is, `storefront customer restore {name}` puts it back"))
}

/// Customers of two services may have the same id.
fn of_this_service(service: &Service<'_>, snapshot: &Snapshot) -> Result<(), Failure> {
    let here = service.settings.place();
    match &snapshot.service {
        Some(there) if *there != here => Err(Failure::guard(format!(
            "the snapshot was taken from {there}, and this is {here}; nothing was written"
        ))
        .hint("use the profile that leads there; if the service only moved, put its new place into the file's `service`")),
        _ => Ok(()),
    }
}
