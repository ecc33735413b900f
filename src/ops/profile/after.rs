//! A profile some time after a batch: what became of what its records wrote, and what leads back. Nothing is written.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::earlier::is_shown;
use super::lag::Recent;
use super::messages::lags_behind;
use super::read::LoadedProfile;
use super::steps::Steps;
use super::{Change, Update};
use crate::cli::ReplacementArgs;
use crate::client::service::Service;
use crate::journal::read::OfRuns;
use crate::log::{Entry, Replacement};
use crate::report::changes::local_minute;
use crate::state::{self, LockName};
use storefront_core::absent::Absent;
use storefront_core::failure::Failure;
use storefront_core::operation::{self, CUSTOMER_UPDATE};
use storefront_core::outcome::WriteOutcome;
use storefront_core::profile::address::{DEFAULTS, own_id};
use storefront_core::profile::diff;
use storefront_core::profile::merge::{ProfilePatch, Twin, merge};
use storefront_core::profile::restore::{Undo, Write, belongs_to, inverse, together};
use storefront_core::profile::since::{Since, changed_since, compared};
use storefront_core::profile::verify::Proof;

/// Why the log has nothing of a record for this customer.
const OF_ANOTHER: &str = "what it wrote is of another customer, or was deleted from the log";

/// A record of a batch whose profile is read again.
#[derive(Debug, Clone)]
pub struct Sent {
    /// Its number.
    pub record: u64,
    /// By which the log finds what was written for it.
    pub of: OfRuns,
    /// Whether something was sent for it.
    pub was_sent: bool,
    /// Whether it is done; else its outcome is unknown.
    pub is_done: bool,
}

/// What is found of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// All that it wrote is there.
    There,
    /// Some of that is not as it was written.
    Differs(Vec<Since>),
    /// The customer is gone.
    Gone(String),
    /// Its outcome was unknown, and the profile shows it.
    Seen,
    /// Its outcome is unknown, and the profile does not show it; why that may be so.
    NotSeen(String),
    /// A person noted that it is done: what they wrote is not known.
    ByHand,
    /// Why it cannot be compared.
    NotKnown(String),
}

/// What is found of a record, and when it was written.
#[derive(Debug, Clone)]
pub struct Finding {
    /// Its number.
    pub record: u64,
    /// What is found.
    pub found: Found,
    /// When its last snapshot was taken, RFC 3339.
    pub taken: Option<String>,
    /// Whether it was written less than a minute ago: a replica may show what was there before.
    pub is_recent: bool,
    /// Whether something that it wrote is still there.
    pub is_left: bool,
    /// By what its last update is known.
    pub write: Option<String>,
}

/// What leads a profile back to what it was before a batch.
#[derive(Debug)]
pub struct Undone {
    /// The update that goes back; none where nothing does.
    pub back: Option<Back>,
    /// What does not go back, and why.
    pub left: Vec<String>,
    /// What goes back otherwise than it was.
    pub notes: Vec<String>,
}

/// An update, and what it changes.
#[derive(Debug)]
pub struct Back {
    /// Id of the customer, where the record names one.
    pub customer: Option<String>,
    /// The body.
    pub input: Map<String, Value>,
    /// What it changes.
    pub expect: diff::Expected,
    /// Whether it adds an address that equals a stored one.
    pub adds_twin: bool,
}

/// The customer's profile, and the snapshots that were taken for the records of a batch.
struct Looked {
    loaded: LoadedProfile,
    /// In the order in which they were taken.
    snapshots: Vec<(u64, Replacement, Entry)>,
    /// What each of them changed that may have been applied, all in one list, and where its part begins: each is compared with all
    /// that came after it.
    changes: Vec<diff::Change>,
    begins: Vec<usize>,
    /// The records of which a snapshot cannot be used, and why.
    unusable: Vec<(u64, String)>,
}

/// A snapshot whose requests may have been applied.
struct Applied<'a> {
    snapshot: &'a Replacement,
    entry: &'a Entry,
    /// What it changed.
    changes: &'a [diff::Change],
    /// What the batch changed after it.
    later: &'a [diff::Change],
}

/// Compares a profile, which is read once, with what records wrote.
///
/// # Errors
/// As [`super::read::read_profile`].
pub async fn verify(service: &Service<'_>, sent: &[Sent]) -> Result<Vec<Finding>, Failure> {
    let service = &with_known_id(service);
    let looked = match Looked::of(service, sent).await {
        Err(failure) if failure.absent == Some(Absent::Customer) => {
            let gone = |sent: &Sent| Finding::of(sent, Found::Gone(failure.message.clone()));
            return Ok(sent.iter().map(gone).collect());
        }
        looked => looked?,
    };
    sent.iter().map(|record| looked.finding(service, record)).collect()
}

/// What sets back, in a profile that is read once, what records wrote, where it still is so.
///
/// # Errors
/// As [`super::read::read_profile`].
pub async fn undo(service: &Service<'_>, sent: &[Sent]) -> Result<Undone, Failure> {
    let service = &with_known_id(service);
    let looked = match Looked::of(service, sent).await {
        Err(failure) if failure.absent == Some(Absent::Customer) => {
            return Ok(Undone { back: None, left: vec![failure.message], notes: Vec::new() });
        }
        looked => looked?,
    };
    looked.undone(service).await
}

/// The service for a customer whom an email names, by the id to which that led the batch: it may have changed the email.
fn with_known_id<'a>(service: &Service<'a>) -> Service<'a> {
    let (context, settings) = (service.session.context, &service.settings);
    let known = service
        .email
        .as_ref()
        .and_then(|email| state::load_customer(context, settings, &LockName::email(email))?.parse().ok());
    match known {
        Some(id) => Service { customer: Some(id), email: None, ..service.clone() },
        None => service.clone(),
    }
}

impl Finding {
    fn of(sent: &Sent, found: Found) -> Self {
        Self { record: sent.record, found, taken: None, is_recent: false, is_left: false, write: None }
    }
}

impl Looked {
    async fn of(service: &Service<'_>, sent: &[Sent]) -> Result<Self, Failure> {
        let loaded = LoadedProfile::read(service, None).await?;
        let (mut snapshots, mut unusable) = (Vec::new(), Vec::new());
        for sent in sent {
            let entries = loaded.store.of_record(&sent.of.runs, sent.of.record)?;
            if entries.is_empty() && sent.was_sent {
                unusable.push((sent.record, OF_ANOTHER.to_owned()));
            }
            for entry in entries {
                match loaded.store.read(&entry) {
                    Ok(snapshot) => match ensure_own(&loaded, &snapshot) {
                        Ok(()) => snapshots.push((sent.record, snapshot, entry)),
                        Err(why) => unusable.push((sent.record, why)),
                    },
                    Err(failure) => unusable.push((sent.record, failure.message)),
                }
            }
        }
        snapshots.sort_by_key(|(_, snapshot, _)| snapshot.name.id);
        let (mut changes, mut begins) = (Vec::new(), Vec::new());
        for (_, snapshot, entry) in &snapshots {
            begins.push(changes.len());
            if entry.outcome().may_be_applied() {
                changes.extend(snapshot.changes());
            }
        }
        Ok(Self { loaded, snapshots, changes, begins, unusable })
    }

    /// The snapshots of a record whose requests may have been applied, each with its changes and those of the batch that came after it.
    fn applied(&self, record: u64) -> impl DoubleEndedIterator<Item = Applied<'_>> + Clone {
        let own = self.snapshots.iter().enumerate().filter(move |(_, (of, ..))| *of == record);
        own.filter(|(_, (_, _, entry))| entry.outcome().may_be_applied()).map(|(at, (_, snapshot, entry))| {
            let from = &self.changes[self.begins[at]..];
            let end = self.begins.get(at + 1).map_or(from.len(), |end| end - self.begins[at]);
            let (changes, later) = from.split_at(end);
            Applied { snapshot, entry, changes, later }
        })
    }

    /// What the profile shows of a record.
    fn finding(&self, service: &Service<'_>, sent: &Sent) -> Result<Finding, Failure> {
        let (store, stored) = (&self.loaded.store, &self.loaded.stored);
        let applied = self.applied(sent.record);
        let unusable = self.unusable.iter().find(|(record, _)| *record == sent.record);
        let is_recent = |own: Applied<'_>| own.entry.outcome().time().is_some_and(|at| store.is_recent(at));
        let mut written = 0;
        let found = if let Some((_, why)) = unusable {
            Found::NotKnown(why.clone())
        } else if sent.is_done {
            let mut differences = Vec::new();
            for Applied { snapshot, entry, changes, later } in applied.clone() {
                let write = Write { before: &snapshot.customer, sent: &snapshot.merged };
                let ignore = &service.settings.read.ignore;
                let compared = compared(changes, later, ignore);
                written += compared.len();
                differences.extend(changed_since(write, &compared, &entry.rewritten(), stored, ignore)?);
            }
            written -= differences.len();
            if differences.is_empty() { Found::There } else { Found::Differs(differences) }
        } else {
            self.look(service, sent)?
        };
        let taken = applied.clone().next_back().map(|own| own.snapshot.taken.clone());
        let (is_recent, is_left) = (applied.clone().any(is_recent), written > 0);
        let own = self.snapshots.iter().rfind(|(record, ..)| *record == sent.record);
        let write = own.map(|(_, snapshot, _)| snapshot.name());
        Ok(Finding { record: sent.record, found, taken, is_recent, is_left, write })
    }

    /// Looks for a record of unknown outcome. One that is seen is noted beside its snapshot, where a resumed run finds it; that one is
    /// not seen says nothing.
    fn look(&self, service: &Service<'_>, sent: &Sent) -> Result<Found, Failure> {
        let own = self.snapshots.iter().rfind(|(record, ..)| *record == sent.record);
        let Some((_, snapshot, entry)) = own else {
            return Ok(Found::NotSeen("the log does not have what it was to change".to_owned()));
        };
        let outcome = entry.outcome();
        Ok(match outcome {
            WriteOutcome::Applied { .. } => Found::Seen,
            WriteOutcome::NotSent | WriteOutcome::Refused => {
                Found::NotSeen(format!("its last request was {}", outcome.name()))
            }
            _ if is_shown(service, &self.loaded.store, snapshot, &self.loaded.stored, Proof::AsSent)? => {
                Found::Seen
            }
            _ => Found::NotSeen(match outcome.open_until(service.session.context.clock.now()) {
                Some(until) => {
                    format!("the profile does not show it; it may take effect until {}", local_minute(until))
                }
                None => "the profile does not show it".to_owned(),
            }),
        })
    }

    /// What leads back.
    async fn undone(self, service: &Service<'_>) -> Result<Undone, Failure> {
        let applied = self.snapshots.iter().filter(|(_, _, entry)| entry.outcome().may_be_applied());
        let applied: Vec<(&Replacement, &Entry)> =
            applied.map(|(_, snapshot, entry)| (snapshot, entry)).collect();
        let stored: Vec<Map<String, Value>> =
            applied.iter().map(|(snapshot, entry)| entry.as_stored(snapshot)).collect();
        let writes: Vec<Write<'_>> = applied
            .iter()
            .zip(&stored)
            .map(|((snapshot, _), sent)| Write { before: &snapshot.customer, sent })
            .collect();
        let mut seen = HashSet::new();
        let mut left: Vec<String> = self.unusable.iter().map(|(_, why)| why.clone()).collect();
        left.retain(|why| seen.insert(why.clone()));
        let Some(both) = together(&writes)? else {
            return Ok(Undone { back: None, left, notes: Vec::new() });
        };
        let rewritten: Vec<diff::Change> = applied.iter().flat_map(|(_, entry)| entry.rewritten()).collect();
        let undo = Undo {
            before: &both.before,
            sent: &both.after,
            rewritten: &rewritten,
            all: false,
            lost_addresses: false,
            delete_newer: false,
            dialect: service.settings.dialect,
        };
        // In a read that lags behind all seems to be as it was before.
        let recent = Recent::of(&self.loaded, false)?;
        let missing = recent.missing_in(&self.loaded.stored)?;
        if !missing.is_empty() {
            return Err(lags_behind(&missing, recent.is_any()).refusal);
        }
        let back = inverse(undo, self.loaded.stored.customer())?;
        let notes = back.notes.iter().filter(|note| !back.left.contains(note)).cloned().collect();
        left.extend(back.left);
        let back = update(service, &self.loaded, &back.patch).await?;
        Ok(Undone { back, left, notes })
    }
}

/// The update that carries out a patch, with the changes that it makes now. `None` where there are none.
async fn update(
    service: &Service<'_>,
    loaded: &LoadedProfile,
    patch: &ProfilePatch,
) -> Result<Option<Back>, Failure> {
    let whole = merge(loaded.stored.customer(), patch)?;
    let patch = ProfilePatch {
        draft: with_defaults(&patch.draft, &whole.changes),
        remove: patch.remove.clone(),
        ..ProfilePatch::default()
    };
    let adds_twin = merge(loaded.stored.customer(), &patch).is_err();
    let twin = if adds_twin { Twin::Added } else { Twin::Refused };
    let patch = ProfilePatch { twin, ..patch };
    let (draft, replacement) = (patch.draft.clone(), ReplacementArgs::default());
    let update = Update {
        patch,
        expect: None,
        allow_delete: None,
        base: None,
        replacement,
        warned: Vec::new(),
        row: None,
    };
    let unasked = service.session.prompt().unasked();
    let own = loaded.service(service);
    let mut steps = Steps::new(service, Change::Update(&update), unasked);
    let merged = steps.propose(&own, loaded).await?.merged;
    if merged.changes.is_empty() {
        return Ok(None);
    }
    let is_named = service.customer.is_some() || service.email.is_some();
    let customer = loaded.stored.text("id").filter(|_| is_named);
    let expect =
        diff::Expected { owner: loaded.stored.owner(), changes: merged.changes, ..diff::Expected::default() };
    let input = operation::body(&CUSTOMER_UPDATE, draft);
    Ok(Some(Back { customer, input, expect, adds_twin }))
}

/// A draft that names the default flags that a change sets and clears: those of the addresses that were not to be defaults, too.
fn with_defaults(draft: &Map<String, Value>, changes: &[diff::Change]) -> Map<String, Value> {
    let mut draft = draft.clone();
    let flags = changes.iter().filter(|change| DEFAULTS.contains(&change.path.last_name()));
    for (change, value) in flags.filter_map(|change| Some((change, change.after.as_ref()?))) {
        let Some(id) = change.path.address_id() else {
            draft.insert(change.path.last_name().to_owned(), value.clone());
            continue;
        };
        let Some(Value::Array(addresses)) = draft.get_mut("addresses") else { continue };
        let at = addresses.iter().position(|address| own_id(address) == Some(id));
        let at = at.unwrap_or_else(|| {
            addresses.push(Value::Object([("id".to_owned(), id.into())].into_iter().collect()));
            addresses.len() - 1
        });
        addresses[at][change.path.last_name()] = value.clone();
    }
    draft
}

/// An update has to be of this customer.
fn ensure_own(loaded: &LoadedProfile, snapshot: &Replacement) -> Result<(), String> {
    if belongs_to(loaded.stored.customer(), &snapshot.customer) {
        Ok(())
    } else {
        Err(format!("update {} is of another customer", snapshot.name()))
    }
}
