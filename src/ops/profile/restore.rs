//! `storefront customer restore`: an earlier update undone, through the same steps as an update.

use jiff::tz::TimeZone;

use super::earlier::is_shown;
use super::messages::{Doubt, addresses, list, may_not_be_applied, named};
use super::whose::ensure_own;
use crate::cli::ReplacementArgs;
use crate::client::service::Service;
use crate::log::{CustomerStore, Entry, Replacement};
use crate::report::changes;
use crate::report::changes::local_minute;
use storefront_core::failure::Failure;
use storefront_core::hint::{Hint, hint, storefront};
use storefront_core::id::AddressId;
use storefront_core::interface::dialect::Dialect;
use storefront_core::outcome::WriteOutcome;
use storefront_core::profile::diff::Change;
use storefront_core::profile::merge::{Merged, ProfilePatch, merge};
use storefront_core::profile::restore::{Inverse, Newer, Undo, belongs_to, inverse};
use storefront_core::profile::stored::Profile;
use storefront_core::profile::verify::Proof;

/// An update that is to be undone.
pub struct Restore<'a> {
    /// The service that the customer is of.
    pub service: &'a Service<'a>,
    /// The id of the update; without one, the last.
    pub name: Option<&'a str>,
    /// Whether the whole profile is restored.
    pub all: bool,
    /// How many newer addresses are deleted.
    pub allow_delete: Option<usize>,
    /// How the profile is replaced.
    pub replacement: &'a ReplacementArgs,
}

/// The update that is undone.
pub struct Target {
    snapshot: Replacement,
    outcome: WriteOutcome,
    /// What of it the service wrote in its own way.
    rewritten: Vec<Change>,
    /// Why it may not have been applied.
    pub doubt: Option<Doubt>,
    /// The id of the update before it.
    older: Option<String>,
    was_told: bool,
}

/// What is to be sent.
pub struct Proposal {
    /// The profile as it is to be.
    pub merged: Merged,
    /// What a person reads where nothing has to change, in place of `no changes`.
    pub unchanged: Option<Hint>,
    /// The addresses that a restore keeps although they are newer than its update.
    pub newer: Vec<AddressId>,
}

impl Proposal {
    /// That of an update.
    pub fn of(merged: Merged) -> Self {
        Self { merged, unchanged: None, newer: Vec::new() }
    }
}

impl Restore<'_> {
    /// What results call it.
    pub const OPERATION: &'static str = "customer restore";

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
        let Target { snapshot, outcome, rewritten, older, .. } = target;
        let name = named(snapshot);
        if !outcome.may_be_applied() {
            let unchanged = Some(format!("nothing to undo: {name} was {}", outcome.name()).into());
            let merged = merge(stored.customer(), &ProfilePatch::default())?;
            return Ok(Proposal { unchanged, ..Proposal::of(merged) });
        }
        let undo = Undo {
            before: &snapshot.customer,
            sent: &snapshot.merged,
            rewritten,
            all: self.all,
            lost_addresses: matches!(outcome, WriteOutcome::Mismatch { .. }),
            newer: if delete_newer.is_some_and(|number| number > 0) { Newer::Delete } else { Newer::Keep },
            dialect,
        };
        let chosen = inverse(undo, stored.customer())?;
        let mut merged = merge(stored.customer(), &chosen.patch)?;
        let unchanged = nothing_restored(&chosen, &name, older.as_deref());
        merged.notes.extend(chosen.notes);
        let until = outcome.open_until(self.service.session.context.clock.now());
        if let Some(until) = until.filter(|_| merged.changes.is_empty()) {
            let until = local_minute(until);
            merged
                .notes
                .push(format!("{name} may still take effect until {until}; restore it again after that"));
        }
        merged.notes.extend(note_of_newer(&chosen.newer));
        Ok(Proposal { merged, unchanged: Some(unchanged), newer: chosen.newer })
    }

    /// The update to undo.
    ///
    /// # Errors
    /// `usage` when there is no such snapshot, `guard` for one of another customer or service.
    pub fn find(&self, store: &CustomerStore, stored: &Profile) -> Result<Target, Failure> {
        let mut target = match self.name {
            Some(name) => {
                ensure_own(self.service, store, name)?;
                by_name(store, name)?
            }
            None => self.newest(store, stored)?,
        };
        ensure_same_owner(stored, &target.snapshot)?;
        target.older = Self::before(store, &target.snapshot)?;
        Ok(target)
    }

    /// The id of the update before this one, where there is one that can be undone.
    fn before(store: &CustomerStore, snapshot: &Replacement) -> Result<Option<String>, Failure> {
        let mut is_older = false;
        let found = store.newest(|entry| {
            if !is_older {
                is_older = entry.name() == snapshot.name;
                return false;
            }
            entry.outcome().may_be_applied() && entry.operation() != Self::OPERATION
        })?;
        Ok(found.map(|entry| entry.name().to_string()))
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

    /// The newest update that may have changed something. One of unknown outcome which the profile does not show is doubtful.
    fn newest(&self, store: &CustomerStore, stored: &Profile) -> Result<Target, Failure> {
        for entry in store.entries() {
            let entry = entry?;
            let outcome = entry.outcome();
            if !outcome.may_be_applied() || entry.operation() == Self::OPERATION {
                continue;
            }
            // An older update must not be undone in place of one that cannot be read.
            let unreadable = |failure: Failure| failure.hint(hint!("name the update to undo; ", list()));
            let snapshot = store.read(&entry).map_err(unreadable)?;
            let is_doubtful = matches!(outcome, WriteOutcome::Unknown { .. })
                && !is_shown(self.service, store, &snapshot, stored, Proof::AsSent)?;
            let doubt = is_doubtful.then(|| may_not_be_applied(&snapshot));
            return Ok(Target { doubt, ..Target::of(snapshot, &entry) });
        }
        let whose = stored.text("id").map_or_else(String::new, |id| format!(" of customer {id}"));
        Err(Failure::usage(format!("no update{whose} from this machine was applied"))
            .hint(hint!(list(), "; --customer names another customer")))
    }
}

impl Target {
    fn of(snapshot: Replacement, entry: &Entry) -> Self {
        let (outcome, rewritten) = (entry.outcome(), entry.rewritten());
        Self { snapshot, outcome, rewritten, doubt: None, older: None, was_told: false }
    }
}

/// The update with this id.
fn by_name(store: &CustomerStore, name: &str) -> Result<Target, Failure> {
    let entry = store.named(name)?;
    Ok(Target::of(store.read(&entry)?, &entry))
}

/// What is said where an inverse changes nothing; `older` is the update before the one that is undone.
fn nothing_restored(inverse: &Inverse, name: &str, older: Option<&str>) -> Hint {
    match &inverse.left[..] {
        // What came back already is as it was.
        [] if inverse.newer.is_empty() => {
            let restored = hint!(format!("nothing restored: the profile is already as it was before {name}"));
            match older {
                None => restored,
                Some(older) => restored
                    .and("; to undo the update before it, run ")
                    .and(storefront("customer restore").arg(older)),
            }
        }
        _ if inverse.is_overwritten() => {
            format!("nothing restored: all that {name} changed has changed since").into()
        }
        _ => "nothing restored: see the warnings".into(),
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
        .hint(hint!(storefront("customer history"), " lists this customer's updates")));
    }
    Ok(())
}
