//! The gate: a call leaves only after its effect is in the log of this machine, and its record in the journal of a batch.
//!
//! In a batch the journal's `sending` line comes first. So only what the log has can have been sent from this machine.

use super::Call;
use crate::client::service::Service;
use crate::config::Writes;
use crate::journal::write::WriteAhead;
use crate::log::{self, Document, NewWrite, OpenWrite, People, WriteName};
use crate::prompt::Asked;
use storefront_core::effect::{Effect, Sent};
use storefront_core::failure::{Failure, FailureKind};
use storefront_core::outcome::WriteOutcome;
use storefront_core::profile::path::Step;
use storefront_core::text::redact::MASK;

/// The kind of owner in the log for a call of which nobody knows what it changes.
const ANY: &str = "api";

/// The place of a call in the log. If it is dropped before the call leaves, the log notes that nothing was sent.
#[derive(Debug)]
pub struct Place {
    open: OpenWrite,
    call: LeftCall,
}

/// A call that has left, by its name in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeftCall {
    name: WriteName,
    /// Whether the log has the whole document of which it changes a part: what the call keeps is in there.
    is_of_whole: bool,
}

impl Place {
    /// The name of the call.
    pub const fn name(&self) -> WriteName {
        self.call.name
    }

    /// The call leaves now.
    pub fn leaves(self) -> LeftCall {
        self.open.leaves();
        self.call
    }
}

impl LeftCall {
    /// What it changes, as far as that is known.
    pub(super) fn effect(self, service: &Service<'_>) -> Option<Effect> {
        service.stage.effect(self.name)
    }

    /// Notes what is known of it so far.
    pub(super) fn note(self, service: &Service<'_>, outcome: WriteOutcome) {
        if let Ok(log) = service.log() {
            log.close(self.name.id, outcome, None);
        }
    }

    /// Notes what became of it, with its effect if a look has closed that. After a mismatch the effect stays as it was asked for,
    /// unless the log has the whole document: what the look showed may be somebody else's.
    pub(super) fn close(self, service: &Service<'_>, outcome: WriteOutcome, effect: Option<&Effect>) {
        let is_applied = matches!(outcome, WriteOutcome::Applied { .. });
        self.note_closed(service, outcome, effect.filter(|_| is_applied || self.is_of_whole));
    }

    /// As [`Self::close`], for a call that the service did not say it applied: the effect is noted whatever became of it.
    pub(super) fn close_without_success(
        self,
        service: &Service<'_>,
        outcome: WriteOutcome,
        effect: Option<&Effect>,
    ) {
        self.note_closed(service, outcome, effect);
    }

    fn note_closed(self, service: &Service<'_>, outcome: WriteOutcome, effect: Option<&Effect>) {
        let is_applied = matches!(outcome, WriteOutcome::Applied { .. });
        let effect = effect.map(|effect| recorded(effect, self.is_of_whole));
        if let Some(effect) = effect.as_ref().filter(|_| is_applied) {
            service.stage.close(self.name, effect);
        }
        if let Ok(log) = service.log() {
            log.close(self.name.id, outcome, effect.as_ref());
        }
    }
}

/// Writes down that these calls are about to leave, with what they change, and returns when that is on disk. Calls that
/// are made from the same read of a `whole` are written down together with it: what they keep is in there.
///
/// # Errors
/// A refusal of what nobody has agreed to, and any failure to write it down: nothing must leave then.
pub async fn gate(
    service: &Service<'_>,
    operation: &'static str,
    calls: &mut [Call],
    whole: Option<Document>,
) -> Result<(), Failure> {
    let effects: Vec<Effect> = calls.iter().map(|call| recorded(&call.effect, whole.is_some())).collect();
    let entry = |(call, effect): (&Call, &Effect)| Entry {
        call: call.name.clone(),
        owner: log::Owner {
            kind: effect.owner.kind.noun(),
            id: effect.owner.id.clone(),
            scope: effect.owner.scope.clone(),
        },
        effect: serde_json::to_string(effect).unwrap_or_default(),
        people: call.people.clone(),
    };
    agreed(service, effects.iter().flat_map(deleted).collect())?;
    let entries = calls.iter().zip(&effects).map(entry).collect();
    let places = pass(service, operation, entries, whole).await?;
    service.stage.passed_gate(places.len());
    for ((call, effect), place) in calls.iter_mut().zip(effects).zip(places) {
        service.stage.note(place.name(), effect);
        call.place = Some(place);
    }
    Ok(())
}

/// As [`gate()`], for a call of which nobody knows what it changes.
///
/// # Errors
/// As [`gate()`].
pub(super) async fn gate_any(
    service: &Service<'_>,
    operation: &'static str,
    call: &str,
    deleted: Option<String>,
) -> Result<Option<Place>, Failure> {
    agreed(service, deleted.into_iter().collect())?;
    let owner = log::Owner { kind: ANY, id: None, scope: None };
    let entry = Entry { call: call.to_owned(), owner, effect: "{}".to_owned(), people: None };
    Ok(pass(service, operation, vec![entry], None).await?.pop())
}

/// What an effect deletes, by names that are unique.
fn deleted(effect: &Effect) -> impl Iterator<Item = String> {
    effect.deleted().map(|path| format!("{} {path}", effect.owner))
}

/// Refuses what nobody has agreed to, whatever the caller.
fn agreed(service: &Service<'_>, deleted: Vec<String>) -> Result<(), Failure> {
    let global = service.session.global;
    let writes = service.settings.writes;
    let asked = Asked {
        may_write: global.can_write && !global.dry_run && writes != Writes::No,
        needs_answer: writes == Writes::Ask,
        yes: global.yes,
        deleted,
        record: service.write_ahead.map(|of_journal| of_journal.place().0),
    };
    service.session.consent.covers(&asked)
}

/// What the log stores of a call.
struct Entry {
    call: String,
    owner: log::Owner,
    effect: String,
    people: Option<People>,
}

async fn pass(
    service: &Service<'_>,
    operation: &'static str,
    entries: Vec<Entry>,
    mut whole: Option<Document>,
) -> Result<Vec<Place>, Failure> {
    let run = service.run_of(operation).await.inspect_err(|failure| note_busy(service, failure))?;
    let of_journal = service.write_ahead;
    if let Some(write_ahead) = of_journal {
        write_ahead.log_before_send().await?;
    }
    let record = of_journal.map(WriteAhead::place);
    let journal_length = of_journal.map(WriteAhead::journal_length);
    let of_service = service.settings.service_id().to_string();
    let is_whole = whole.is_some();
    let mut is_first = true;
    let people = match (&whole, entries.first().and_then(|entry| entry.owner.id.as_deref())) {
        (Some(whole), Some(customer)) => People::of(customer, whole),
        _ => service.people(),
    };
    let new = |entry: Entry| NewWrite {
        run,
        is_part: is_whole && !std::mem::take(&mut is_first),
        record,
        journal_length,
        call: entry.call,
        service: of_service.clone(),
        owner: entry.owner,
        effect: entry.effect,
        document: whole.take(),
        people: entry.people.unwrap_or_else(|| people.clone()),
    };
    let opened = service.log()?.gate_all(entries.into_iter().map(new).collect()).await;
    let opened = opened.inspect_err(|failure| note_busy(service, failure))?;
    let record = record.map(|(number, _)| number);
    let place = |open: OpenWrite| {
        let name = WriteName { id: open.id(), run, record };
        Place { open, call: LeftCall { name, is_of_whole: is_whole } }
    };
    Ok(opened.into_iter().map(place).collect())
}

fn note_busy(service: &Service<'_>, failure: &Failure) {
    if failure.kind == FailureKind::Unavailable {
        service.stage.note_log_busy();
    }
}

/// An effect as it is stored: without payment data, and without what is in the whole document of which it changes a part.
fn recorded(effect: &Effect, is_of_whole: bool) -> Effect {
    let mut effect = effect.clone();
    if is_of_whole {
        effect.keeps.clear();
    }
    for change in &mut effect.changes {
        let [Step::Member(first), Step::Member(name), ..] = change.path.steps() else { continue };
        if first == "payment" && name != "method" {
            change.sent = Sent::Value(Some(MASK.into()));
            change.seen = None;
        }
    }
    effect
}
