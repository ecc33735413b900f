//! What a read shows of earlier updates: one that was refused and saved all the same, one of unknown outcome, the one
//! that a batch sent before it was resumed, and the addresses that were removed.

use serde_json::{Map, Value};

use super::read;
use super::read::LoadedProfile;
use crate::client::service::Service;
use crate::journal::read::OfRuns;
use crate::log::{CustomerStore, Replacement, WriteName};
use crate::ops::found_in_part;
use crate::report::outcome::Outcome;
use crate::state;
use storefront_core::failure::Failure;
use storefront_core::id::AddressId;
use storefront_core::outcome::WriteOutcome;
use storefront_core::profile::address::find_address;
use storefront_core::profile::restore::belongs_to;
use storefront_core::profile::stored::{Pointers, Profile};
use storefront_core::profile::verify::{Proof, Verification, verify};

/// Whether the profile already had the values that a write sent before an earlier one of our writes, of the last minute, as when
/// an undo follows its update at once. A replica that lags behind then shows the old profile, which proves nothing.
pub fn was_so_before(
    service: &Service<'_>,
    store: &CustomerStore,
    write: WriteName,
    before: &Map<String, Value>,
    sent: &Map<String, Value>,
) -> bool {
    let shows_it = |(earlier, outcome): (Replacement, WriteOutcome)| {
        // What a later one was made from was read after this one had left.
        if earlier.name.id > write.id {
            return false;
        }
        let is_recent = matches!(outcome, WriteOutcome::Applied { at, .. } if store.is_recent(at));
        let earlier = Profile::find(Value::Object(earlier.customer), &Pointers::default());
        let ignore = &service.settings.read.ignore;
        let verification = earlier.and_then(|earlier| verify(before, sent, &earlier, &[], ignore));
        is_recent && verification.map_or(true, |verification| verification.is_shown())
    };
    store.recent_profiles().map_or(true, |recent| recent.into_iter().any(shows_it))
}

/// Whether a profile shows something that this replacement carried, and that is not another editor's work.
pub fn tells_of_it(verification: &Verification) -> bool {
    verification.shows_sent && (verification.is_applied() || verification.altered.is_empty())
}

/// Notes the newest of the refused updates of the last minute that a profile that was read shows. Those before an update that was
/// not refused are not checked: it may show the same.
///
/// # Errors
/// `guard` when a list has addresses without usable ids.
pub fn note_saved_refusal(
    service: &Service<'_>,
    store: &CustomerStore,
    now: &Profile,
) -> Result<(), Failure> {
    for entry in store.entries() {
        let entry = entry?;
        match entry.outcome() {
            WriteOutcome::NotSent => continue,
            WriteOutcome::Refused => {}
            _ => break,
        }
        if entry.put().is_none() {
            continue;
        }
        let replacement = store.read(&entry)?;
        let Some(sent_at) = replacement.taken.parse().ok().filter(|taken| store.is_recent(*taken)) else {
            break;
        };
        if !belongs_to(now.customer(), &replacement.customer) {
            break;
        }
        let ignore = &service.settings.read.ignore;
        let verification = verify(&replacement.customer, &replacement.merged, now, &[], ignore)?;
        if tells_of_it(&verification)
            && !was_so_before(service, store, replacement.name, &replacement.customer, &replacement.merged)
        {
            let outcome = WriteOutcome::Mismatch { sent_at, is_final: true };
            store.set_outcome(replacement.name, outcome, Some(now.customer()));
            let warning = format!("update {} was refused, but saved", replacement.name());
            service.session.report.warn(&warning);
            break;
        }
    }
    Ok(())
}

/// Whether a profile proves a replacement that was sent earlier, as [`CustomerStore::read`] gives it; if so, this is
/// noted.
///
/// # Errors
/// `guard` when a list has addresses without usable ids.
pub fn is_shown(
    service: &Service<'_>,
    store: &CustomerStore,
    replacement: &Replacement,
    now: &Profile,
    proof: Proof,
) -> Result<bool, Failure> {
    let verification =
        verify(&replacement.customer, &replacement.merged, now, &[], &service.settings.read.ignore)?;
    let is_shown = verification.is_proof(proof)
        && !was_so_before(service, store, replacement.name, &replacement.customer, &replacement.merged);
    if is_shown {
        let at = service.session.context.clock.now();
        store.set_outcome(
            replacement.name,
            WriteOutcome::Applied { at, verified: verification.is_shown() },
            Some(now.customer()),
        );
    }
    Ok(is_shown)
}

/// Finds out whether a record of earlier runs was applied, from the log or else by reading. `None` if the profile does
/// not show all of it: it may still take effect.
///
/// # Errors
/// As [`read::read_profile`], when the log cannot be read, and [`found_in_part`].
pub async fn resolve_unknown(
    service: &Service<'_>,
    operation: &'static str,
    of: &OfRuns,
) -> Result<Option<Outcome>, Failure> {
    let stored = read::read_profile(service).await?;
    let context = service.session.context;
    let settings = &service.settings;
    let store = state::store(context, settings, &stored.customer_key(), service.session.global.dry_run)?;
    let Some(entry) = store.of_record(&of.runs, of.record)?.pop() else { return Ok(None) };
    let name = entry.name();
    let outcome = |id| store.entry(id).map(|entry| entry.map(|entry| entry.outcome()));
    // The calls that are missing never left.
    let in_part = || found_in_part(format!("of update {name} not all calls were sent"));
    let verified = match entry.outcome() {
        WriteOutcome::Applied { verified, .. } => verified,
        WriteOutcome::Partial { .. } => return Err(in_part()),
        _ if is_shown(service, &store, &store.read(&entry)?, &stored, Proof::AsSent)? => {
            match outcome(name.id)? {
                Some(WriteOutcome::Partial { .. }) => return Err(in_part()),
                _ => true,
            }
        }
        _ => return Ok(None),
    };
    Ok(Some(Outcome { verified: Some(verified), ..Outcome::done_earlier(operation) }))
}

/// Those of these addresses that are not there because a call of ours has removed them, according to the log: they are
/// asked for again. Any other missing address may be a mistake.
///
/// # Errors
/// `guard` if the log cannot be read.
pub fn removed_earlier(ids: &[AddressId], loaded: &LoadedProfile) -> Result<Vec<AddressId>, Failure> {
    let store = &loaded.store;
    let stored = loaded.stored.customer();
    let mut absent: Vec<AddressId> =
        ids.iter().copied().filter(|id| find_address(stored, *id).is_none()).collect();
    let mut gone = Vec::new();
    if absent.is_empty() {
        return Ok(gone);
    }
    for entry in store.entries() {
        let entry = entry?;
        let mut removed = entry.removals();
        removed.retain(|(id, outcome)| outcome.may_be_applied() && absent.contains(id));
        if !removed.is_empty() && belongs_to(stored, &store.read(&entry)?.customer) {
            let was_removed = |id: &mut AddressId| removed.iter().any(|(own, _)| own == id);
            gone.extend(absent.extract_if(.., was_removed));
        }
        if absent.is_empty() {
            break;
        }
    }
    Ok(gone)
}
