//! `storefront verify ID`: whether what a write left is still there. Nothing is written to the shop; an open outcome that
//! a read settles is closed in the log.

use serde_json::{Map, Value, json};

use super::found::Found;
use super::owners::{self, Read};
use super::state::{Since, StateSince};
use crate::client::service::Service;
use crate::log::{Write, WriteLog};
use crate::ops::profile::earlier::is_shown;
use crate::report::changes::local_minute;
use crate::state;
use storefront_core::effect::{Before, Change, Document, Effect, Kind, are_shown, composed};
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::hint::{hint, storefront};
use storefront_core::outcome::WriteOutcome;
use storefront_core::profile::equal::same_value;
use storefront_core::profile::path::{FieldPath, List};
use storefront_core::profile::stored::{Pointers, Profile};
use storefront_core::profile::verify::Proof;
use storefront_core::text::sanitize::sanitize_line;

/// Compares what a write left with what the shop has now, owner by owner.
///
/// # Errors
/// `partial` if something is changed or gone, `unknown` if something could not be compared; as the reads.
pub async fn verify(service: &Service<'_>, found: &Found) -> Result<(), Failure> {
    let mut states = Vec::new();
    for writes in by_owner(found) {
        let Some(last) = writes.last() else { continue };
        let own = owners::of_customer(service, last)?;
        let state = states_of(&own, &[&writes]).await?.into_iter().next();
        states.extend(state.map(|state| (last.owner_in_words(), state)));
    }
    for (owner, state) in &states {
        say(service, &found.name(), owner, state)?;
    }
    note_told(service, found)?;
    let name = found.name();
    if states.iter().any(|(_, state)| state.differs()) {
        let message = format!("write {name} is not as it was written");
        return Err(Failure::new(FailureKind::Partial, message)
            .applied(Applied::No)
            .hint(hint!(storefront("history").arg(name), " shows what was written")));
    }
    if states.is_empty() || !states.iter().all(|(_, state)| state.is_there()) {
        let is_unseen = |(_, state): &(String, StateSince)| matches!(state, StateSince::NotSeen(_));
        let message = match &states[..] {
            [] => format!("nothing of write {name} was applied"),
            states if states.iter().any(is_unseen) => format!("the shop does not show write {name}"),
            _ => format!("write {name} could not be compared"),
        };
        return Err(Failure::new(FailureKind::Unknown, message)
            .applied(Applied::No)
            .hint(hint!(storefront("history").arg(name), " shows what became of it; look in the shop")));
    }
    Ok(())
}

/// Notes for a command that was cut short that somebody has been told what is known of its writes.
fn note_told(service: &Service<'_>, found: &Found) -> Result<(), Failure> {
    if found.writes.iter().all(|write| write.has_ended && !write.is_open) {
        return Ok(());
    }
    // What the look has closed is not open any more.
    let Some(log) = WriteLog::to_read(service.session.context)? else { return Ok(()) };
    if found.run.journal.is_none() && found.run.ended.is_none() {
        log.end_run(found.run.id, false);
    }
    for write in log.writes_of(found.run.id, found.record)?.iter().filter(|write| write.is_open) {
        log.close(write.id, write.outcome, None);
    }
    Ok(())
}

/// The writes that may have been applied, grouped by owner.
fn by_owner(found: &Found) -> Vec<Vec<&Write>> {
    let mut owners: Vec<Vec<&Write>> = Vec::new();
    for write in found.writes.iter().filter(|write| write.outcome.may_be_applied()) {
        let is_same = |one: &&Write| one.owner_kind == write.owner_kind && one.owner == write.owner;
        match owners.iter_mut().find(|of_one| of_one.first().is_some_and(is_same)) {
            Some(of_one) => of_one.push(write),
            None => owners.push(vec![write]),
        }
    }
    owners
}

/// The states of several records that wrote to one owner, which is read once.
///
/// # Errors
/// As [`owners::read`].
pub async fn states_of(service: &Service<'_>, records: &[&[&Write]]) -> Result<Vec<StateSince>, Failure> {
    let all = |state: StateSince| Ok(vec![state; records.len()]);
    let effects: Vec<Vec<Effect>> = records.iter().map(|writes| effects_of(writes)).collect();
    let count: usize = records.iter().map(|writes| writes.len()).sum();
    let flat: Vec<Effect> = effects.iter().flatten().cloned().collect();
    let known = composed(&flat).filter(|_| flat.len() == count && !flat.iter().all(Effect::is_empty));
    let Some(whole) = known else {
        return all(StateSince::NotComparable("nobody knows what it changed".to_owned()));
    };
    let document = match owners::read(service, &whole).await? {
        Read::Shown(document) => document,
        Read::Gone(why) => return all(StateSince::Gone(why)),
        Read::NotComparable(why) => return all(StateSince::NotComparable(why)),
    };
    let mut states = Vec::new();
    for (writes, effects) in records.iter().zip(&effects) {
        states.push(match closed(service, writes, effects, &document)? {
            Open::None => StateSince::There,
            Open::Shown => StateSince::Seen,
            Open::NotShown => StateSince::NotSeen(not_shown(service, writes)),
        });
    }
    let shown = || states.iter().zip(&effects).filter(|(state, _)| state.is_there());
    let Some(whole) = composed(&shown().flat_map(|(_, effects)| effects.clone()).collect::<Vec<_>>()) else {
        return Ok(states);
    };
    let ignore = &service.settings.read.ignore;
    let is_ignored = |since: &Since| ignore.iter().any(|pointer| since.path.is_in(pointer));
    for since in differences(&whole, &document).into_iter().filter(|since| !is_ignored(since)) {
        let last = |speaks_of: fn(&Effect, &FieldPath) -> bool| {
            states.iter().zip(&effects).rposition(|(state, effects)| {
                !matches!(state, StateSince::NotSeen(_))
                    && effects.iter().any(|effect| speaks_of(effect, &since.path))
            })
        };
        // A place is the last record's that wrote it, and one that none wrote the last record's that kept it.
        let Some(at) = last(writes_to).or_else(|| last(keeps)) else { continue };
        match &mut states[at] {
            StateSince::Changed(list) => list.push(since),
            state => *state = StateSince::Changed(vec![since]),
        }
    }
    Ok(states)
}

/// Why a write of unknown outcome may not be shown.
fn not_shown(service: &Service<'_>, writes: &[&Write]) -> String {
    let now = service.session.context.clock.now();
    match writes.iter().filter_map(|write| write.outcome.open_until(now)).max() {
        Some(until) => format!("the shop does not show it; it may take effect until {}", local_minute(until)),
        None => "the shop does not show it".to_owned(),
    }
}

fn effects_of(writes: &[&Write]) -> Vec<Effect> {
    writes.iter().filter_map(|write| write.asked()).collect()
}

/// Whether an effect changes or makes what is at a path.
fn writes_to(effect: &Effect, path: &FieldPath) -> bool {
    effect.changes.iter().any(|change| change.path == *path)
        || effect.creates.iter().any(|created| created.path() == *path)
}

/// Whether an effect keeps what is at a path.
fn keeps(effect: &Effect, path: &FieldPath) -> bool {
    effect.keeps.iter().any(|kept| kept.path == *path)
}

/// The places at which a document is not as an effect left it.
fn differences(whole: &Effect, document: &Map<String, Value>) -> Vec<Since> {
    let mut differing = Vec::new();
    for change in &whole.changes {
        let alone = Effect { changes: vec![change.clone()], ..Effect::on(whole.owner.clone()) };
        let look = alone.look(document);
        if look.before > 0 || !look.third.is_empty() {
            let now = Document(document).at(&change.path).cloned();
            let written = change.after(&whole.creates).flatten();
            differing.push(Since { path: change.path.clone(), written, now });
        }
    }
    for (created, there) in whole.creates.iter().zip(whole.find_created(document)) {
        let is_as_seen = |seen: &Value| there.is_some_and(|(_, now)| same_value("", Some(now), Some(seen)));
        if !created.seen.as_ref().map_or(there.is_some(), is_as_seen) {
            let written = Some(created.seen.as_ref().unwrap_or(&created.content).clone());
            let now = there.map(|(_, now)| now.clone());
            differing.push(Since { path: created.path(), written, now });
        }
    }
    differing.extend(otherwise_than_created(whole, document));
    differing
}

/// The places at which an attribute is not as it was created. Options that were added since do not count.
fn otherwise_than_created(whole: &Effect, document: &Map<String, Value>) -> Vec<Since> {
    let is_new = |change: &Change| change.before == Before::Read(None) && List::of(&change.path).is_none();
    if whole.owner.kind != Kind::Attribute || !whole.changes.iter().any(is_new) {
        return Vec::new();
    }
    let differing = whole.keeps.iter().filter_map(|kept| {
        let option = List::of(&kept.path).zip(kept.path.element_id());
        let (written, now) = match option {
            Some((list, id)) => {
                let now = Document(document).element(list, id).and_then(|option| option.get("label"));
                (kept.content.get("label"), now)
            }
            None => (Some(&kept.content), document.get(kept.path.last_name())),
        };
        let since = || Since { path: kept.path.clone(), written: written.cloned(), now: now.cloned() };
        (!same_value(kept.path.last_name(), now, written)).then(since)
    });
    differing.collect()
}

/// What a read shows of a record's writes of unknown outcome.
enum Open {
    /// It has none.
    None,
    /// The owner shows them.
    Shown,
    /// The owner does not show them.
    NotShown,
}

/// Closes writes of unknown outcome in the log if the document shows them.
fn closed(
    service: &Service<'_>,
    writes: &[&Write],
    effects: &[Effect],
    document: &Map<String, Value>,
) -> Result<Open, Failure> {
    let is_open = |write: &Write| matches!(write.outcome, WriteOutcome::Unknown { .. });
    let has_open = writes.iter().any(|write| is_open(write));
    let is_of_customer = effects.iter().any(|effect| effect.owner.kind == Kind::Customer);
    if is_of_customer && !close_profile(service, writes, document)? {
        return Ok(Open::NotShown);
    }
    if !has_open {
        return Ok(Open::None);
    }
    if is_of_customer {
        return Ok(Open::Shown);
    }
    if !are_shown(effects, document) {
        return Ok(Open::NotShown);
    }
    if let Some(log) = WriteLog::to_read(service.session.context)? {
        log.note_shown(writes.iter().copied(), document);
    }
    Ok(Open::Shown)
}

/// As [`closed`], for a profile: what an old read would show as well proves nothing. A mismatch that is shown is closed,
/// too. `false` if an unknown write is not shown.
fn close_profile(
    service: &Service<'_>,
    writes: &[&Write],
    document: &Map<String, Value>,
) -> Result<bool, Failure> {
    let stored = Profile::find(Value::Object(document.clone()), &Pointers::default())?;
    let store = state::store(service.session.context, &service.settings, &stored.customer_key(), false)?;
    for write in writes {
        let proof = match write.outcome {
            WriteOutcome::Unknown { .. } => Proof::AsSent,
            WriteOutcome::Mismatch { .. } => Proof::OrRewritten,
            _ => continue,
        };
        let Some(entry) = store.entry(write.first())? else { continue };
        if !is_shown(service, &store, &store.read(&entry)?, &stored, proof)? && proof == Proof::AsSent {
            return Ok(false);
        }
    }
    Ok(true)
}

fn say(service: &Service<'_>, name: &str, owner: &str, state: &StateSince) -> Result<(), Failure> {
    let report = service.session.report;
    if report.is_json() {
        return report.json_line(&json!({
            "write": name,
            "owner": owner,
            "state": state.name(),
            "reason": state.reason(),
            "differences": state.places(),
        }));
    }
    let why = state.reason().map(|why| format!("  {why}"));
    let places = state.places().iter().map(|since| format!("  {}", since.in_words()));
    let lines = [format!("{owner}: {}", state.name())].into_iter().chain(why).chain(places);
    let lines: Vec<String> = lines.map(|line| sanitize_line(&line)).collect();
    report.stdout(lines.join("\n") + "\n")
}
