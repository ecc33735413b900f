//! Earlier replacements of unknown outcome: a PUT of ours that comes late would remove what the next one adds.

use crate::failure::Failure;
use crate::plan::profile::merge::Merged;
use crate::plan::profile::read_back::Expectation;
use crate::plan::profile::stored::Profile;
use crate::session::service::Service;
use crate::state::{CustomerStore, Mark, Snapshot};

/// Whether a profile shows a replacement that was sent earlier. Where it does, the replacement is marked as verified.
///
/// # Errors
/// `guard` when the snapshot's lists have addresses without usable ids.
pub fn is_shown(
    service: &Service<'_>,
    store: &CustomerStore,
    snapshot: &Snapshot,
    now: &Profile,
) -> Result<bool, Failure> {
    let merged = snapshot.replacement()?;
    let expectation =
        Expectation { before: &snapshot.customer, merged: &merged, ignore: &service.settings.read.ignore };
    let shown = expectation.compare(now)?.is_shown();
    if shown {
        store.mark(&snapshot.path, Mark::Verified, service.session.context.clock.now());
    }
    Ok(shown)
}

/// The replacements that `stored` does not show and that may still take effect.
///
/// # Errors
/// As [`is_shown`], and when the snapshots cannot be read.
pub fn open(
    service: &Service<'_>,
    store: &CustomerStore,
    stored: &Profile,
) -> Result<Vec<Snapshot>, Failure> {
    let mut open = Vec::new();
    for snapshot in store.pending()? {
        // What was sent more than once can be shown, and the other request still come.
        if store.is_repeated(&snapshot.path) || !is_shown(service, store, &snapshot, stored)? {
            open.push(snapshot);
        }
    }
    Ok(open)
}

/// Whether a replacement may be sent although this one is open: it asks for exactly the same, so that the late one
/// changes nothing, and adds no address, which would then be there twice.
pub fn is_repeated_by(snapshot: &Snapshot, merged: &Merged) -> bool {
    merged.summary.added == 0 && snapshot.replacement().is_ok_and(|earlier| merged.asks_the_same_as(&earlier))
}

/// Recent replacements that asked for exactly the same, also where that is asked again on purpose: each with whether its
/// request may still come.
///
/// # Errors
/// When the snapshots cannot be read.
pub fn repeated_by(store: &CustomerStore, merged: &Merged) -> Result<Vec<(Snapshot, bool)>, Failure> {
    let asks_the_same =
        |snapshot: &Snapshot| snapshot.replacement().is_ok_and(|earlier| merged.asks_the_same_as(&earlier));
    let recent = store.recent()?.into_iter().filter(|(snapshot, _)| asks_the_same(snapshot));
    Ok(recent.map(|(snapshot, mark)| (snapshot, !mark.is_some_and(Mark::is_applied))).collect())
}

/// What to say where nobody has decided about an open replacement.
pub fn refused(snapshot: &Snapshot) -> Failure {
    Failure::guard(format!(
        "the outcome of an earlier {} ({}) is unknown: it may still take effect and overwrite this one",
        snapshot.operation,
        snapshot.name()
    ))
    .hint(
        "run `storefront customer history --check` to look again; --after-unknown goes on all the same, \
         and without it the command works 10 minutes after that request left",
    )
}
