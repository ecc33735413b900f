//! `storefront undo` of a write of a profile: through the same steps as an update.

use std::cell::RefCell;

use jiff::tz::TimeZone;
use serde_json::{Map, Value};

use super::earlier::is_shown;
use super::messages::{Doubt, addresses, may_not_be_applied, named};
use super::whose::ensure_own;
use crate::cli::ReplacementArgs;
use crate::client::service::Service;
use crate::log::{CustomerStore, Entry, Replacement, WriteId};
use crate::report::changes::{self, local_minute};
use storefront_core::failure::Failure;
use storefront_core::hint::{Hint, hint, storefront};
use storefront_core::id::AddressId;
use storefront_core::interface::dialect::Dialect;
use storefront_core::outcome::WriteOutcome;
use storefront_core::profile::diff::PlannedUndo;
use storefront_core::profile::merge::{Merged, merge};
use storefront_core::profile::restore::{self, ProfileWrite, Together, belongs_to, inverse, together};
use storefront_core::profile::stored::Profile;
use storefront_core::profile::verify::Proof;

/// Writes of one profile that are to be undone.
pub struct Undo<'a> {
    /// The service of the customer.
    pub service: &'a Service<'a>,
    /// The name by which the writes are known.
    pub name: &'a str,
    /// The first call of each, in their order.
    pub writes: Vec<WriteId>,
    /// Whether the whole profile goes back.
    pub all: bool,
    /// How many addresses are deleted.
    pub allow_delete: Option<usize>,
    /// What was agreed to in a plan, if it belongs to one.
    pub planned: Option<PlannedUndo<'a>>,
    /// How the profile is replaced.
    pub replacement: &'a ReplacementArgs,
    /// What does not go back, as found last.
    pub left: RefCell<Vec<String>>,
}

/// The updates that are undone, in their order.
pub struct Target {
    updates: Vec<(Replacement, Entry)>,
    /// The addresses that later updates have added, by their ids, as they were sent.
    added_since: Vec<(AddressId, Value)>,
    /// Why it is doubtful whether one was applied.
    pub doubt: Option<Doubt>,
    was_told: bool,
}

/// What is to be sent.
pub struct Proposal {
    /// The profile as it is to be.
    pub merged: Merged,
    /// What a person reads if nothing has to change, in place of `no changes`.
    pub unchanged: Option<Hint>,
    /// The addresses that an undo of the whole profile keeps although they are newer than the update.
    pub newer: Vec<AddressId>,
}

impl Proposal {
    /// The proposal of an update.
    pub fn of(merged: Merged) -> Self {
        Self { merged, unchanged: None, newer: Vec::new() }
    }
}

impl Target {
    /// The updates as one.
    fn together(&self) -> Result<Option<Together>, Failure> {
        let as_stored = |(replacement, entry): &(Replacement, Entry)| entry.as_stored(replacement);
        let sent: Vec<Map<String, Value>> = self.updates.iter().map(as_stored).collect();
        let writes = self.updates.iter().zip(&sent).map(|((replacement, entry), sent)| ProfileWrite {
            before: &replacement.customer,
            sent,
            is_mismatch: entry.outcome().is_mismatch(),
        });
        together(&writes.collect::<Vec<_>>())
    }
}

impl Undo<'_> {
    /// What results call it.
    pub const OPERATION: &'static str = "undo";

    /// The profile with the changes of the updates set back.
    ///
    /// # Errors
    /// `guard` or `usage` for what cannot be merged safely, and for what differs from the plan.
    pub fn merge(
        &self,
        target: &Target,
        stored: &Profile,
        dialect: &'static Dialect,
        delete_newer: Option<usize>,
    ) -> Result<Proposal, Failure> {
        let entries = || target.updates.iter().map(|(_, entry)| entry);
        let (Some(both), Some((last, last_entry))) = (target.together()?, target.updates.last()) else {
            return Err(none_of(self.name));
        };
        let undo = restore::Undo {
            before: &both.before,
            sent: &both.after,
            rewritten: &entries().flat_map(Entry::rewritten).collect::<Vec<_>>(),
            all: self.all,
            // What an earlier one has lost is among its changes.
            lost_addresses: last_entry.outcome().is_mismatch(),
            added_since: &target.added_since,
            delete_newer: delete_newer.is_some_and(|number| number > 0),
            dialect,
        };
        let chosen = inverse(undo, stored.customer())?;
        let mut merged = merge(stored.customer(), &chosen.patch)?;
        if let Some(planned) = self.planned {
            planned.ensure(&merged.changes, &chosen.left)?;
        }
        // The plan has named it already.
        let is_said = |note: &String| self.planned.is_some_and(|planned| planned.left.contains(note));
        merged.notes.extend(chosen.notes.into_iter().filter(|note| !is_said(note)));
        let now = self.service.session.context.clock.now();
        let until = entries().filter_map(|entry| entry.outcome().open_until(now)).max();
        if let Some(until) = until.filter(|_| merged.changes.is_empty()) {
            let name = named(last);
            let until = local_minute(until);
            merged
                .notes
                .push(format!("{name} may still take effect until {until}; undo it again after that"));
        }
        merged.notes.extend(note_of_newer(&chosen.newer));
        self.left.replace(chosen.left);
        let unchanged = format!("nothing to undo: the profile is as it was before {}", named(last));
        Ok(Proposal { merged, unchanged: Some(unchanged.into()), newer: chosen.newer })
    }

    /// The updates to undo. An update of unknown outcome that the profile does not show is doubtful.
    ///
    /// # Errors
    /// `usage` if the log has none of them, or has them for another customer; `guard` if they are of another profile.
    pub fn find(&self, store: &CustomerStore, stored: &Profile) -> Result<Target, Failure> {
        ensure_own(self.service, store, self.name)?;
        let mut updates = Vec::new();
        let mut doubt = None;
        for id in &self.writes {
            let Some(entry) = store.entry(*id)?.filter(|entry| entry.outcome().may_be_applied()) else {
                continue;
            };
            let replacement = store.read(&entry)?;
            ensure_same_owner(stored, &replacement)?;
            let is_doubtful = matches!(entry.outcome(), WriteOutcome::Unknown { .. })
                && !self.replacement.after_unknown
                && !is_shown(self.service, store, &replacement, stored, Proof::AsSent)?;
            doubt = doubt.or_else(|| is_doubtful.then(|| may_not_be_applied(&replacement)));
            // A look may have closed it.
            let entry = store.entry(*id)?.unwrap_or(entry);
            updates.push((replacement, entry));
        }
        if updates.is_empty() {
            return Err(none_of(self.name));
        }
        let last = updates.last().map(|(_, entry)| entry);
        let added_since = last.map(|last| store.added_since(last)).transpose()?.unwrap_or_default();
        Ok(Target { updates, added_since, doubt, was_told: false })
    }

    /// Reports once which update is undone, and whose it is. In a batch the results say it.
    pub fn tell(&self, target: &mut Target, customer: &str) {
        let session = self.service.session;
        if std::mem::replace(&mut target.was_told, true) || session.report.line.is_some() {
            return;
        }
        for (replacement, _) in &target.updates {
            let taken = changes::when(&replacement.taken, session.context.clock.now(), &TimeZone::system());
            let operation = Self::OPERATION;
            let name = replacement.name();
            session.report.status(&format!("{operation}: update {name} of customer {customer} ({taken})"));
        }
    }
}

/// The failure if the log has nothing to undo.
fn none_of(name: &str) -> Failure {
    Failure::usage(format!("no update `{name}` of this customer on this machine"))
        .hint(hint!(storefront("history"), " lists them"))
}

/// The note about addresses that are kept although they are newer than the update.
fn note_of_newer(newer: &[AddressId]) -> Option<String> {
    let (verb, them) = match newer {
        [] => return None,
        [_] => ("is", "it"),
        _ => ("are", "them"),
    };
    let kept = addresses(newer);
    let count = newer.len();
    Some(format!(
        "{kept} {verb} newer than the update and {verb} kept; --allow-delete {count} deletes {them}"
    ))
}

/// Refuses the update of another customer. If the service shows neither id nor email, customers cannot be told apart.
fn ensure_same_owner(stored: &Profile, replacement: &Replacement) -> Result<(), Failure> {
    if !belongs_to(stored.customer(), &replacement.customer) {
        return Err(Failure::guard(format!(
            "update {} belongs to another customer, or does not identify its customer",
            replacement.name()
        ))
        .hint(hint!(storefront("history"), " lists the writes with their customers")));
    }
    Ok(())
}
