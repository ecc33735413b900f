//! Finds out later whether an update was applied whose outcome was unknown: by the snapshot taken before it was sent.

use crate::failure::{Applied, Failure};
use crate::ops::profile::{pending, read};
use crate::plan::operation::Operation;
use crate::report::outcome::Outcome;
use crate::session::service::Service;
use crate::state::CustomerStore;

/// Reads the profile and compares it with what the update named by its snapshot asked for. `None` where it does not show
/// all of it: the update may still take effect.
///
/// # Errors
/// As [`read::read_profile`], and when the snapshot cannot be read.
pub async fn resolve_unknown(service: &Service<'_>, snapshot: &str) -> Result<Option<Outcome>, Failure> {
    let stored = read::read_profile(service).await?;
    let store = CustomerStore::of(service.session.context, &service.settings, &stored.customer_key())?;
    let named = |path: &std::path::Path| path.file_stem().is_some_and(|stem| stem == snapshot);
    let Some(entry) = store.entries()?.into_iter().find(|entry| named(&entry.path)) else { return Ok(None) };
    if !pending::is_shown(service, &store, &store.read(&entry.path)?, &stored)? {
        return Ok(None);
    }
    let outcome = Outcome {
        applied: Applied::Yes,
        reason: Some("done earlier"),
        verified: Some(true),
        ..Outcome::not_sent(Operation::CustomerUpdate.name())
    };
    Ok(Some(outcome))
}
