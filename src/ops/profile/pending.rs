//! Earlier replacements of unknown outcome: a PUT of ours that comes late would remove what the next one adds.

use std::path::Path;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::plan::profile::merge::Merged;
use crate::plan::profile::read_back::Expectation;
use crate::plan::profile::replacement::asked;
use crate::plan::profile::stored::Profile;
use crate::session::service::Service;
use crate::state::{CustomerStore, Mark, Pending, REPLICA_LAG, Snapshot, lateness_minutes};

/// What a profile says of a replacement that was sent earlier.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sighting {
    /// It shows all of it.
    Shown,
    /// It shows nothing of it.
    NotShown,
    /// It shows some of it, or was changed since, or may be an old state that looks alike.
    Unclear,
}

/// Looks in a profile for a replacement that was sent earlier. Where it is shown, the replacement is marked as verified.
///
/// # Errors
/// `guard` when the snapshot's lists have addresses without usable ids.
pub fn look(
    service: &Service<'_>,
    store: &CustomerStore,
    snapshot: &Snapshot,
    now: &Profile,
) -> Result<Sighting, Failure> {
    let merged = snapshot.replacement()?;
    let expectation =
        Expectation { before: &snapshot.customer, merged: &merged, ignore: &service.settings.read.ignore };
    let found = expectation.compare(now)?;
    if !found.is_shown() {
        return Ok(if found.shows_nothing() { Sighting::NotShown } else { Sighting::Unclear });
    }
    if may_be_stale(service, store, snapshot, &merged) {
        return Ok(Sighting::Unclear);
    }
    store.mark(&snapshot.path, Mark::Verified, service.session.context.clock.now());
    Ok(Sighting::Shown)
}

/// Whether a profile shows a replacement that was sent earlier. Where it does, the replacement is marked as verified.
///
/// # Errors
/// As [`look`].
pub fn is_shown(
    service: &Service<'_>,
    store: &CustomerStore,
    snapshot: &Snapshot,
    now: &Profile,
) -> Result<bool, Failure> {
    Ok(look(service, store, snapshot, now)? == Sighting::Shown)
}

/// Whether the profile had what a replacement asks for within the last minutes, as a restore does right after its update.
/// A replica that lags behind shows the old profile, which then looks like the new one. Where that cannot be found out,
/// it counts as such.
pub fn was_there_before(store: &CustomerStore, before: &Map<String, Value>, merged: &Merged) -> bool {
    let expectation = Expectation { before, merged, ignore: &[] };
    let had_all = |snapshot: &Snapshot| expectation.has_all_changes(&snapshot.customer);
    store.recent().map_or(true, |recent| recent.iter().any(had_all))
}

/// Whether what looks like an earlier replacement may be what the profile was before it.
fn may_be_stale(service: &Service<'_>, store: &CustomerStore, snapshot: &Snapshot, merged: &Merged) -> bool {
    let now = service.session.context.clock.now();
    let sent = store.marked_at(&snapshot.path, Mark::Unknown).or_else(|| snapshot.taken.parse().ok());
    let is_recent = sent.is_none_or(|sent| now.duration_since(sent).abs() < REPLICA_LAG);
    is_recent && was_there_before(store, &snapshot.customer, merged)
}

/// An earlier replacement of which a request may still take effect.
#[derive(Debug, Clone)]
pub struct Open {
    /// What was taken for it.
    pub snapshot: Snapshot,
    /// Whether the profile shows it, or showed it once, or the service said that it has it: it was sent more than once, and
    /// the other request may still come.
    pub is_shown: bool,
    /// When it can no longer take effect.
    pub until: Timestamp,
}

/// The replacements of which a request may still take effect.
///
/// # Errors
/// As [`is_shown`], and when the snapshots cannot be read.
pub fn open(service: &Service<'_>, store: &CustomerStore, stored: &Profile) -> Result<Vec<Open>, Failure> {
    let mut open = Vec::new();
    for Pending { snapshot, until, is_repeated } in store.pending()? {
        // Where the service said that it has it, a field that it writes in its own way is never shown as it was sent.
        let is_shown =
            is_shown(service, store, &snapshot, stored)? || store.is_marked_applied(&snapshot.path);
        if is_repeated || !is_shown {
            open.push(Open { snapshot, is_shown, until });
        }
    }
    Ok(open)
}

impl Open {
    /// Whether it speaks against sending `merged` now. One that the profile shows can only do the same once more: it
    /// would remove an address that is added now, and nothing else that was stored when it was sent.
    pub fn endangers(&self, before: &Map<String, Value>, merged: &Merged) -> bool {
        (merged.summary.added > 0 || !self.is_shown) && !is_repeated_by(&self.snapshot, before, merged)
    }

    /// What may happen, for a question or an error.
    pub fn describe(&self) -> String {
        let (operation, name) = (&self.snapshot.operation, self.snapshot.name());
        if self.is_shown {
            format!(
                "an earlier {operation} ({name}) was sent more than once: the other request may still take effect \
                 and remove the address that is added now"
            )
        } else {
            format!(
                "the outcome of an earlier {operation} ({name}) is unknown: it may still take effect and overwrite this one"
            )
        }
    }
}

/// Whether a replacement may be sent although this one is open: it asks for exactly the same, so that the late one
/// changes nothing, and adds no address, which would then be there twice.
fn is_repeated_by(snapshot: &Snapshot, before: &Map<String, Value>, merged: &Merged) -> bool {
    merged.summary.added == 0 && snapshot.asked() == asked(before, &merged.customer)
}

/// The refusal for an open replacement. Looking again helps only where its outcome is unknown.
pub fn refused(open: &Open) -> Failure {
    let until = local_minute(open.until);
    let wait = format!("wait until {until}, or go on now with --after-unknown");
    Failure::guard(open.describe()).hint(if open.is_shown {
        wait
    } else {
        format!("run `storefront customer history --check` to look again, {wait}")
    })
}

/// A time as hours and minutes here, rounded up: `14:05`.
fn local_minute(time: Timestamp) -> String {
    let time = time.checked_add(SignedDuration::from_secs(59)).unwrap_or(time);
    time.to_zoned(TimeZone::system()).strftime("%H:%M").to_string()
}

/// What `customer history --check` says of a replacement that was sent more than once and holds up later commands.
pub fn describe_repeated(open: &Open) -> String {
    format!(
        "{} ({}) was sent more than once: until {}, commands that add an address are refused without --after-unknown",
        open.snapshot.name(),
        open.snapshot.operation,
        local_minute(open.until)
    )
}

/// The warning for a replacement that is sent although a recent one asked for the same.
pub fn repeat_warning(earlier: &str) -> String {
    format!(
        "the same was sent before ({earlier}): for {} minutes, commands that add an address are refused without \
         --after-unknown",
        lateness_minutes()
    )
}

/// Notes where the replacement of `before` that is about to be sent (`own` is its snapshot) and an earlier one would both
/// show what one of them asks for: when that is seen, nobody knows which of the requests did it, and the other may still
/// come. The warning about that, if there is any.
///
/// # Errors
/// `internal` where that cannot be written, and when the snapshots cannot be read.
pub fn note_repeats(
    store: &CustomerStore,
    before: &Map<String, Value>,
    merged: &Merged,
    own: &Path,
) -> Result<Option<String>, Failure> {
    let note = |path: &Path| {
        store.note_repeat(path).map_err(|error| {
            Failure::internal(format!("`{}` cannot be written: {error}", store.directory().display()))
        })
    };
    let mut alike = store.recent_like(&asked(before, &merged.customer), own)?;
    let mut is_repeat = !alike.is_empty();
    let mut after = None;
    for Pending { snapshot, .. } in store.pending()?.into_iter().filter(|open| open.snapshot.path != own) {
        let replacement = snapshot.replacement()?;
        let [wanted, its] = [(before, merged), (&snapshot.customer, &replacement)]
            .map(|(before, merged)| Expectation { before, merged, ignore: &[] });
        let shows_own = wanted.has_all_changes(&replacement.as_stored());
        let is_shown = its.has_all_changes(after.get_or_insert_with(|| merged.as_stored()));
        if is_shown {
            note(&snapshot.path)?;
        }
        if shows_own || is_shown {
            alike.push(snapshot);
        }
        is_repeat |= shows_own;
    }
    if is_repeat {
        note(own)?;
    }
    Ok(alike.first().map(|earlier| repeat_warning(earlier.name())))
}
