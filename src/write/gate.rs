//! The gate: a call leaves only once its effect is in the log of this machine, and its record in the journal of a batch.
//!
//! In a batch the journal's `sending` line comes first. So on this machine only what the log has can have been sent.

use serde_json::{Value, json};

use super::Call;
use crate::client::service::Service;
use crate::journal::write::WriteAhead;
use crate::log::{self, NewWrite, OpenWrite, WriteName};
use storefront_core::effect::{Effect, Sent};
use storefront_core::failure::{Failure, FailureKind};
use storefront_core::outcome::WriteOutcome;
use storefront_core::profile::path::Step;
use storefront_core::text::redact::MASK;

/// What kind of thing a call changes of which nobody knows what it changes.
const ANY: &str = "api";

/// The place of a call in the log. Where it is dropped before the call leaves, it is noted that nothing was sent.
#[derive(Debug)]
pub struct Place(Option<(OpenWrite, WriteName)>);

/// A call that has left: what people know it by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LeftCall(WriteName);

impl Place {
    /// That of a call that its caller has put into the log, and closes there.
    pub const fn of_caller() -> Self {
        Self(None)
    }

    /// The call leaves now.
    pub(super) fn leaves(self) -> Option<LeftCall> {
        let (open, name) = self.0?;
        open.leaves();
        Some(LeftCall(name))
    }
}

impl LeftCall {
    /// What it changes, as far as that is known by now.
    pub(super) fn effect(self, service: &Service<'_>) -> Option<Effect> {
        service.stage.effect(self.0)
    }

    /// Notes what became of it, with its effect where a look has closed that.
    pub(super) async fn close(self, service: &Service<'_>, outcome: WriteOutcome, effect: Option<&Effect>) {
        let effect = effect.map(recorded);
        if let Some(effect) = &effect {
            service.stage.close(self.0, effect);
        }
        if let Ok(log) = service.log() {
            log.close(self.0.id, outcome, effect.as_ref()).await;
        }
    }
}

/// Writes down that these calls are about to leave, with what they change; returns when that is on disk. After a signal nothing
/// begins.
///
/// # Errors
/// `interrupted` after a signal, and where it cannot be written down: nothing must leave then.
pub async fn gate(service: &Service<'_>, operation: &'static str, calls: &mut [Call]) -> Result<(), Failure> {
    let effects: Vec<Effect> = calls.iter().map(|call| recorded(&call.effect)).collect();
    let entry = |(call, effect): (&Call, &Effect)| Entry {
        call: call.name.clone(),
        owner: log::Owner {
            kind: effect.owner.kind.noun(),
            id: effect.owner.id.clone(),
            scope: effect.owner.scope.clone(),
        },
        effect: serde_json::to_value(effect).unwrap_or_default(),
    };
    let entries = calls.iter().zip(&effects).map(entry).collect();
    let places = pass(service, operation, entries).await?;
    for ((call, effect), place) in calls.iter_mut().zip(effects).zip(places) {
        if let Some((_, name)) = &place.0 {
            service.stage.note(*name, effect);
        }
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
) -> Result<Option<Place>, Failure> {
    let owner = log::Owner { kind: ANY, id: None, scope: None };
    let entry = Entry { call: call.to_owned(), owner, effect: json!({}) };
    Ok(pass(service, operation, vec![entry]).await?.pop())
}

/// What the log has of a call.
struct Entry {
    call: String,
    owner: log::Owner,
    effect: Value,
}

async fn pass(
    service: &Service<'_>,
    operation: &'static str,
    entries: Vec<Entry>,
) -> Result<Vec<Place>, Failure> {
    let run = service.run_of(operation).await.inspect_err(|failure| note_busy(service, failure))?;
    service.log_before_send().await?;
    let of_journal = service.write_ahead;
    let record = of_journal.map(WriteAhead::place);
    let journal_length = of_journal.map(WriteAhead::journal_length);
    let (of_service, people) = (service.settings.service_id().to_string(), service.people());
    let new = |entry: Entry| NewWrite {
        run,
        part_of: None,
        record,
        journal_length,
        call: entry.call,
        service: of_service.clone(),
        owner: entry.owner,
        effect: entry.effect,
        document: None,
        people: people.clone(),
    };
    let opened = service.log()?.gate_all(entries.into_iter().map(new).collect()).await;
    let opened = opened.inspect_err(|failure| note_busy(service, failure))?;
    let record = record.map(|(number, _)| number);
    let place = |open: OpenWrite| {
        let name = WriteName { id: open.id(), run, record };
        Place(Some((open, name)))
    };
    Ok(opened.into_iter().map(place).collect())
}

fn note_busy(service: &Service<'_>, failure: &Failure) {
    if failure.kind == FailureKind::Unavailable {
        service.stage.log_was_busy();
    }
}

/// An effect as it is kept: without the data of a payment.
fn recorded(effect: &Effect) -> Effect {
    let mut effect = effect.clone();
    for change in &mut effect.changes {
        let [Step::Member(first), Step::Member(name), ..] = change.path.steps() else { continue };
        if first == "payment" && name != "method" {
            change.sent = Sent::Value(Some(MASK.into()));
            change.seen = None;
        }
    }
    effect
}
