//! Takes back writes of a profile: this is an update, and goes through the same steps.

use std::cell::RefCell;

use super::back::{How, Shown, unchanged_or_nothing, whole_or_part};
use super::found::Found;
use crate::cli::{GlobalArgs, ReplacementArgs};
use crate::client::Session;
use crate::client::service::Service;
use crate::log::{Write, WriteId};
use crate::ops::profile::ProfileChange;
use crate::ops::profile::messages::addresses;
use crate::ops::profile::replace::{replace, shown};
use crate::ops::profile::undo::Undo;
use crate::report::outcome::Outcome;
use storefront_core::failure::Failure;
use storefront_core::profile::diff::PlannedUndo;

/// Takes back what a write changed of a profile; `service` is that of its customer.
///
/// # Errors
/// `guard` if nothing can be undone, or the number of deletions was not given; `partial` if a part is left; as
/// [`replace`].
pub async fn undo(service: &Service<'_>, found: &Found, how: How<'_>) -> Result<Outcome, Failure> {
    let name = found.name();
    let prompt = service.session.prompt();
    if !prompt.is_attended() && !service.session.global.dry_run {
        prompt.confirm_deletion(&format!("Undo write {name}?"))?;
    }
    let How { allowed: allow_delete, whole_profile: all, replacement } = how;
    let undo = Undo { all, allow_delete, ..of(service, found, &name, replacement) };
    let done = Box::pin(replace(service, ProfileChange::Undo(&undo))).await?;
    let left = undo.left.take();
    match done.reason {
        Some("unchanged") if left.is_empty() => Ok(done),
        Some("unchanged") => unchanged_or_nothing(&name, &left),
        _ if service.session.global.dry_run || left.is_empty() => Ok(done),
        _ => whole_or_part(&name, &left, done),
    }
}

/// Takes back what several writes changed of a profile, as a plan says.
///
/// # Errors
/// `guard` if it differs from the plan; as [`replace`].
pub async fn planned(
    service: &Service<'_>,
    found: &Found,
    planned: PlannedUndo<'_>,
    replacement: &ReplacementArgs,
) -> Result<Outcome, Failure> {
    let name = found.name();
    let undo = Undo { planned: Some(planned), ..of(service, found, &name, replacement) };
    Box::pin(replace(service, ProfileChange::Undo(&undo))).await
}

/// The way back from several writes, in words for a plan. Nothing is sent.
///
/// # Errors
/// As the reads.
pub async fn preview(service: &Service<'_>, found: &Found) -> Result<Shown, Failure> {
    let global = GlobalArgs { dry_run: true, ..service.session.global.clone() };
    let session = Session { global: &global, ..*service.session };
    let service = &Service { session: &session, ..service.clone() };
    let name = found.name();
    let replacement = ReplacementArgs::default();
    let undo = of(service, found, &name, &replacement);
    let merged = shown(service, ProfileChange::Undo(&undo)).await?;
    let left = undo.left.take();
    let owner = found.owner();
    let removed = &merged.summary.removed;
    Ok(Shown {
        deletes: removed.len(),
        deleted: (!removed.is_empty()).then(|| format!("{} of {owner}", addresses(removed))),
        warnings: merged.notes.into_iter().filter(|note| !left.contains(note)).collect(),
        changes: merged.changes,
        left,
    })
}

fn of<'a>(
    service: &'a Service<'a>,
    found: &Found,
    name: &'a str,
    replacement: &'a ReplacementArgs,
) -> Undo<'a> {
    let mut writes: Vec<WriteId> = found.writes.iter().map(Write::first).collect();
    writes.sort_unstable();
    writes.dedup();
    let left = RefCell::default();
    Undo { service, name, writes, all: false, allow_delete: None, planned: None, replacement, left }
}
