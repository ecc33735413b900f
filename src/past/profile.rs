//! Taking back a write of a profile.

use std::cell::RefCell;

use super::back::{How, nothing, unchanged_or_nothing, whole_or_part};
use super::found::Found;
use super::owners;
use crate::client::service::Service;
use crate::ops::profile::Change;
use crate::ops::profile::replace::replace;
use crate::ops::profile::undo::Undo;
use crate::report::outcome::Outcome;
use storefront_core::failure::Failure;

/// Takes back what a write changed of a profile.
///
/// # Errors
/// `guard` where nothing can be undone, and without the number of what is deleted; `partial` where a part is left; as [`replace`].
pub async fn undo(service: &Service<'_>, found: &Found, how: How<'_>) -> Result<Outcome, Failure> {
    let name = found.name();
    let prompt = service.session.prompt();
    if !prompt.is_attended() && !service.session.global.dry_run {
        prompt.confirm_deletion(&format!("Undo write {name}?"))?;
    }
    let write = found.writes.last().ok_or_else(|| nothing(&name, &[]))?;
    let service = &owners::of_customer(service, write)?;
    let How { allowed: allow_delete, whole_profile: all, replacement } = how;
    let undo = Undo { service, name: &name, all, allow_delete, replacement, left: RefCell::default() };
    let done = Box::pin(replace(service, Change::Undo(&undo))).await?;
    let left = undo.left.take();
    match done.reason {
        Some("unchanged") if left.is_empty() => Ok(done),
        Some("unchanged") => unchanged_or_nothing(&name, &left),
        _ if service.session.global.dry_run || left.is_empty() => Ok(done),
        _ => whole_or_part(&name, &left, done),
    }
}
