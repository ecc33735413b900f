//! `storefront customer restore`: an earlier update undone, through the same steps as an update.

use std::cell::{Cell, OnceCell, RefCell};
use std::path::Path;

use jiff::tz::TimeZone;

use super::messages::local_minute;
use super::verify::is_shown;
use crate::cli::ReplacementArgs;
use crate::client::service::Service;
use crate::prompt::Prompt;
use crate::report::changes;
use crate::state::{CustomerStore, Snapshot};
use storefront_core::failure::Failure;
use storefront_core::interface::dialect::Dialect;
use storefront_core::outcome::WriteOutcome;
use storefront_core::profile::address::join_ids;
use storefront_core::profile::merge::{self, ProfilePatch};
use storefront_core::profile::merge::{Merged, merge};
use storefront_core::profile::restore::{Undo, belongs_to, inverse};
use storefront_core::profile::stored::Profile;

const LIST: &str = "`storefront customer history` lists the snapshots";

/// An update that is to be undone.
pub struct Restore<'a> {
    service: &'a Service<'a>,
    /// Number, name or file of the snapshot; without one, that of the last update.
    name: Option<&'a str>,
    /// Whether the whole profile is restored.
    all: bool,
    /// How the profile is replaced.
    pub replacement: &'a ReplacementArgs,
    found: OnceCell<(Snapshot, WriteOutcome)>,
    /// How many newer addresses are deleted.
    allow_delete: Cell<Option<usize>>,
    /// Why nothing has to change: what a person then reads.
    pub unchanged: RefCell<Option<String>>,
}

impl<'a> Restore<'a> {
    /// What results call it.
    pub const OPERATION: &'static str = "customer restore";

    /// What the flags ask for.
    pub fn new(
        service: &'a Service<'a>,
        name: Option<&'a str>,
        all: bool,
        allow_delete: Option<usize>,
        replacement: &'a ReplacementArgs,
    ) -> Self {
        Self {
            service,
            name,
            all,
            replacement,
            found: OnceCell::new(),
            allow_delete: Cell::new(allow_delete),
            unchanged: RefCell::default(),
        }
    }

    /// The profile with what the update did set back.
    ///
    /// # Errors
    /// `usage` when there is no such snapshot, `guard` for one of another customer or service.
    pub fn merge(
        &self,
        store: &CustomerStore,
        stored: &Profile,
        dialect: &'static Dialect,
        prompt: &Prompt,
    ) -> Result<Merged, Failure> {
        let (snapshot, outcome) = self.snapshot(store, stored, prompt)?;
        let name = snapshot.name();
        if !outcome.may_be_applied() {
            let what = outcome.name();
            self.unchanged.replace(Some(format!("nothing to undo: {name} was {what}")));
            return merge(stored.customer(), &ProfilePatch::default());
        }
        let rewritten = store.rewritten(&snapshot.path);
        let undo = |delete_newer| Undo {
            before: &snapshot.customer,
            sent: &snapshot.merged,
            rewritten: &rewritten,
            all: self.all,
            lost_addresses: matches!(outcome, WriteOutcome::Mismatch { .. }),
            delete_newer,
            dialect,
        };
        let kept = inverse(undo(false), stored.customer())?;
        let offers = prompt.can_ask() && !prompt.assume_yes() && !self.service.session.global.dry_run;
        if let (None, false, true) = (self.allow_delete.get(), kept.newer.is_empty(), offers) {
            let question = format!("Also delete {}, added since?", addresses(&kept.newer));
            let deletes = prompt.agrees(&question)?;
            self.allow_delete.set(Some(if deletes { kept.newer.len() } else { 0 }));
        }
        let deletes = self.allow_delete.get().is_some_and(|number| number > 0);
        let chosen = if deletes { inverse(undo(true), stored.customer())? } else { kept };
        let mut merged = merge(stored.customer(), &chosen.patch)?;
        self.unchanged.replace(Some(match &chosen.notes[..] {
            [] if chosen.newer.is_empty() => {
                format!("nothing restored: the profile is already as it was before {name}")
            }
            _ if chosen.is_overwritten() => {
                format!("nothing restored: all that {name} changed has changed since")
            }
            _ => "nothing restored: see the warnings".to_owned(),
        }));
        merged.notes.extend(chosen.notes);
        let until = outcome.open_until(self.service.session.context.clock.now());
        if let Some(until) = until.filter(|_| merged.changes.is_empty()) {
            let until = local_minute(until);
            merged
                .notes
                .push(format!("{name} may still take effect until {until}; restore it again after that"));
        }
        merged.notes.extend(note_of_newer(&chosen.newer));
        Ok(merged)
    }

    /// Refuses to delete another number of addresses than was allowed.
    ///
    /// # Errors
    /// `guard`, naming the addresses.
    pub fn check_deletions(&self, merged: &Merged) -> Result<(), Failure> {
        let whole = ProfilePatch { replace: true, ..ProfilePatch::default() };
        merge::check(&whole, &merged.summary, self.allow_delete.get(), false)
    }

    /// The snapshot to restore, found once.
    fn snapshot(
        &self,
        store: &CustomerStore,
        stored: &Profile,
        prompt: &Prompt,
    ) -> Result<&(Snapshot, WriteOutcome), Failure> {
        if let Some(found) = self.found.get() {
            return Ok(found);
        }
        let (snapshot, outcome) = match self.name {
            Some(name) => {
                let file = Path::new(name);
                // A number is always that of a snapshot, whatever files there are.
                let is_file = name.parse::<u64>().is_err() && file.is_file();
                let path = match store.named(name) {
                    Err(_) if is_file => file.to_owned(),
                    found => found?.path,
                };
                (store.read(&path)?, store.outcome(&path))
            }
            None => self.newest(store, stored, prompt)?,
        };
        ensure_same_owner(store, stored, &snapshot)?;
        let context = self.service.session.context;
        let taken = changes::when(&snapshot.taken, context.clock.now(), &TimeZone::system());
        let status = format!("{}: snapshot {} ({taken})", Self::OPERATION, snapshot.name());
        self.service.session.report.status(&status);
        Ok(self.found.get_or_init(|| (snapshot, outcome)))
    }

    /// The newest update that may have changed something. One of unknown outcome which the profile does not show is asked
    /// about.
    fn newest(
        &self,
        store: &CustomerStore,
        stored: &Profile,
        prompt: &Prompt,
    ) -> Result<(Snapshot, WriteOutcome), Failure> {
        for entry in store.entries()? {
            let outcome = store.outcome(&entry.path);
            if !outcome.may_be_applied() {
                continue;
            }
            // An older update must not be undone in place of one that cannot be read.
            let unreadable = |failure: Failure| failure.hint(format!("name the update to undo; {LIST}"));
            let snapshot = store.read(&entry.path).map_err(unreadable)?;
            if snapshot.operation == Self::OPERATION {
                continue;
            }
            let is_unknown = matches!(outcome, WriteOutcome::Unknown { .. });
            if is_unknown && !is_shown(self.service, store, &snapshot, stored, false)? {
                let name = snapshot.name();
                let fact = format!("the outcome of {name} is unknown, and the profile does not show it");
                if !prompt.can_ask() {
                    let hint = format!(
                        "name the update to undo, such as `storefront customer restore {name}`; {LIST}"
                    );
                    return Err(Failure::guard(fact).hint(hint));
                }
                if !prompt.agrees(&format!("{fact}. Undo it?"))? {
                    return Err(Failure::cancelled());
                }
            }
            return Ok((snapshot, outcome));
        }
        let whose = stored.text("id").map_or_else(String::new, |id| format!(" of customer {id}"));
        Err(Failure::usage(format!("no update{whose} from this machine was applied"))
            .hint(format!("{LIST}; --customer names another customer")))
    }
}

/// Which addresses are kept though they are newer than the snapshot.
fn note_of_newer(newer: &[i64]) -> Option<String> {
    let (verb, them) = match newer {
        [] => return None,
        [_] => ("is", "it"),
        _ => ("are", "them"),
    };
    let (kept, count) = (addresses(newer), newer.len());
    Some(format!(
        "{kept} {verb} newer than the snapshot and {verb} kept; --allow-delete {count} deletes {them}"
    ))
}

fn addresses(ids: &[i64]) -> String {
    format!("{} {}", if ids.len() == 1 { "address" } else { "addresses" }, join_ids(ids))
}

/// Customers of two services may have the same id, and where the service shows neither id nor email, two customers cannot
/// be told apart.
fn ensure_same_owner(store: &CustomerStore, stored: &Profile, snapshot: &Snapshot) -> Result<(), Failure> {
    if snapshot.service.as_deref() != Some(&*store.service) {
        let from = snapshot.service.as_deref().unwrap_or("an unknown service");
        let message = format!("the snapshot was taken from {from}, and this is {}", store.service);
        return Err(Failure::guard(message).hint(
            "use the profile of that service; if the service only moved, change `service` in the file",
        ));
    }
    if !belongs_to(stored.customer(), &snapshot.customer) {
        return Err(Failure::guard(format!(
            "snapshot {} belongs to another customer, or does not identify its customer",
            snapshot.name()
        ))
        .hint("`storefront customer history` lists this customer's snapshots"));
    }
    Ok(())
}
