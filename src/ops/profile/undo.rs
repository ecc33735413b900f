//! `storefront undo` of a write of a profile: through the same steps as an update.

use std::cell::RefCell;

use jiff::tz::TimeZone;

use super::earlier::is_shown;
use super::messages::{Doubt, addresses, may_not_be_applied, named};
use super::whose::ensure_own;
use crate::cli::ReplacementArgs;
use crate::client::service::Service;
use crate::log::{CustomerStore, Entry, Replacement};
use crate::report::changes::{self, local_minute};
use storefront_core::failure::Failure;
use storefront_core::hint::{Hint, hint, storefront};
use storefront_core::id::AddressId;
use storefront_core::interface::dialect::Dialect;
use storefront_core::outcome::WriteOutcome;
use storefront_core::profile::merge::{Merged, merge};
use storefront_core::profile::restore::{self, belongs_to, inverse};
use storefront_core::profile::stored::Profile;
use storefront_core::profile::verify::Proof;

/// A write of a profile that is to be undone.
pub struct Undo<'a> {
    /// The service that the customer is of.
    pub service: &'a Service<'a>,
    /// The id of the write.
    pub name: &'a str,
    /// Whether the whole profile goes back.
    pub all: bool,
    /// How many addresses are deleted.
    pub allow_delete: Option<usize>,
    /// How the profile is replaced.
    pub replacement: &'a ReplacementArgs,
    /// What does not go back, as it was found last.
    pub left: RefCell<Vec<String>>,
}

/// The update that is undone.
pub struct Target {
    snapshot: Replacement,
    entry: Entry,
    /// Why it may not have been applied.
    pub doubt: Option<Doubt>,
    was_told: bool,
}

/// What is to be sent.
pub struct Proposal {
    /// The profile as it is to be.
    pub merged: Merged,
    /// What a person reads where nothing has to change, in place of `no changes`.
    pub unchanged: Option<Hint>,
    /// The addresses that an undo of the whole profile keeps although they are newer than its update.
    pub newer: Vec<AddressId>,
}

impl Proposal {
    /// That of an update.
    pub fn of(merged: Merged) -> Self {
        Self { merged, unchanged: None, newer: Vec::new() }
    }
}

impl Undo<'_> {
    /// What results call it.
    pub const OPERATION: &'static str = "undo";

    /// The profile with what the update did set back.
    ///
    /// # Errors
    /// `guard` or `usage` for what cannot be merged safely.
    pub fn merge(
        &self,
        target: &Target,
        stored: &Profile,
        dialect: &'static Dialect,
        delete_newer: Option<usize>,
    ) -> Result<Proposal, Failure> {
        let Target { snapshot, entry, .. } = target;
        let outcome = entry.outcome();
        let undo = restore::Undo {
            before: &snapshot.customer,
            sent: &entry.as_stored(snapshot),
            rewritten: &entry.rewritten(),
            all: self.all,
            lost_addresses: matches!(outcome, WriteOutcome::Mismatch { .. }),
            delete_newer: delete_newer.is_some_and(|number| number > 0),
            dialect,
        };
        let chosen = inverse(undo, stored.customer())?;
        let mut merged = merge(stored.customer(), &chosen.patch)?;
        merged.notes.extend(chosen.notes);
        let until = outcome.open_until(self.service.session.context.clock.now());
        if let Some(until) = until.filter(|_| merged.changes.is_empty()) {
            let (name, until) = (named(snapshot), local_minute(until));
            merged
                .notes
                .push(format!("{name} may still take effect until {until}; undo it again after that"));
        }
        merged.notes.extend(note_of_newer(&chosen.newer));
        self.left.replace(chosen.left);
        let unchanged = format!("nothing to undo: the profile is as it was before {}", named(snapshot));
        Ok(Proposal { merged, unchanged: Some(unchanged.into()), newer: chosen.newer })
    }

    /// The update to undo. One of unknown outcome which the profile does not show is doubtful.
    ///
    /// # Errors
    /// `usage` when there is no such update, `guard` for one of another customer or service.
    pub fn find(&self, store: &CustomerStore, stored: &Profile) -> Result<Target, Failure> {
        ensure_own(self.service, store, self.name)?;
        let entry = store.named(self.name)?;
        let snapshot = store.read(&entry)?;
        ensure_same_owner(stored, &snapshot)?;
        let is_doubtful = matches!(entry.outcome(), WriteOutcome::Unknown { .. })
            && !self.replacement.after_unknown
            && !is_shown(self.service, store, &snapshot, stored, Proof::AsSent)?;
        let doubt = is_doubtful.then(|| may_not_be_applied(&snapshot));
        // A look may have closed it.
        let entry = store.entry(entry.name().id)?.unwrap_or(entry);
        Ok(Target { snapshot, entry, doubt, was_told: false })
    }

    /// Says once which update is undone, and whose it is.
    pub fn tell(&self, target: &mut Target, customer: &str) {
        if std::mem::replace(&mut target.was_told, true) {
            return;
        }
        let (session, snapshot) = (self.service.session, &target.snapshot);
        let taken = changes::when(&snapshot.taken, session.context.clock.now(), &TimeZone::system());
        session.report.status(&format!(
            "{}: update {} of customer {customer} ({taken})",
            Self::OPERATION,
            snapshot.name()
        ));
    }
}

/// Which addresses are kept though they are newer than the update.
fn note_of_newer(newer: &[AddressId]) -> Option<String> {
    let (verb, them) = match newer {
        [] => return None,
        [_] => ("is", "it"),
        _ => ("are", "them"),
    };
    let (kept, count) = (addresses(newer), newer.len());
    Some(format!(
        "{kept} {verb} newer than the update and {verb} kept; --allow-delete {count} deletes {them}"
    ))
}

/// Where the service shows neither id nor email, two customers cannot be told apart.
fn ensure_same_owner(stored: &Profile, snapshot: &Replacement) -> Result<(), Failure> {
    if !belongs_to(stored.customer(), &snapshot.customer) {
        return Err(Failure::guard(format!(
            "update {} belongs to another customer, or does not identify its customer",
            snapshot.name()
        ))
        .hint(hint!(storefront("history"), " lists the writes with their customers")));
    }
    Ok(())
}
