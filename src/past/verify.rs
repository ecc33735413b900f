//! `storefront verify ID`: whether what a write left is still there. Nothing is written to the shop; an open outcome that a read can
//! tell is closed in the log.

use serde_json::{Map, Value, json};

use super::found::Found;
use super::owners::{self, Read};
use crate::client::service::Service;
use crate::log::{Write, WriteLog};
use crate::ops::profile::earlier::is_shown;
use crate::report::fields::format_value;
use crate::state;
use storefront_core::effect::{Document, Effect, Kind, composed};
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::hint::{hint, storefront};
use storefront_core::outcome::WriteOutcome;
use storefront_core::profile::equal::same_value;
use storefront_core::profile::stored::{Pointers, Profile};
use storefront_core::profile::verify::Proof;
use storefront_core::text::sanitize::sanitize_line;

/// What is found of one owner.
enum State {
    There,
    Changed(Vec<(String, Option<Value>, Option<Value>)>),
    Gone(String),
    NotComparable(String),
    /// Its outcome is unknown, and no read shows it.
    NotSeen,
}

impl State {
    fn name(&self) -> &'static str {
        match self {
            Self::There => "there",
            Self::Changed(_) => "changed",
            Self::Gone(_) => "gone",
            Self::NotComparable(_) => "not comparable",
            Self::NotSeen => "not seen",
        }
    }
}

/// Compares what a write left with what the shop has now, owner by owner.
///
/// # Errors
/// `partial` where something is changed or gone, `unknown` where something could not be compared; as the reads.
pub async fn verify(service: &Service<'_>, found: &Found) -> Result<(), Failure> {
    let mut states = Vec::new();
    for writes in by_owner(found) {
        let Some(last) = writes.last() else { continue };
        let own = owners::of_customer(service, last)?;
        states.push((last.owner_in_words(), look(&own, &writes).await?));
    }
    for (owner, state) in &states {
        say(service, &found.name(), owner, state)?;
    }
    let count = |is: fn(&State) -> bool| states.iter().filter(|(_, state)| is(state)).count();
    let differing = count(|state| matches!(state, State::Changed(_) | State::Gone(_)));
    let untold = count(|state| matches!(state, State::NotComparable(_) | State::NotSeen));
    let name = found.name();
    if differing > 0 {
        let message = format!("write {name} is not as it was written");
        return Err(Failure::new(FailureKind::Partial, message)
            .applied(Applied::No)
            .hint(hint!(storefront("history").arg(name), " shows what was written")));
    }
    if untold > 0 || states.is_empty() {
        let message = format!("write {name} could not be compared");
        return Err(Failure::new(FailureKind::Unknown, message)
            .applied(Applied::No)
            .hint("look in the shop"));
    }
    Ok(())
}

/// The writes that may have been applied, each owner's together.
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

async fn look(service: &Service<'_>, writes: &[&Write]) -> Result<State, Failure> {
    let effects: Vec<Effect> = writes.iter().filter_map(|write| write.changes()).collect();
    let Some(whole) = composed(&effects).filter(|_| effects.len() == writes.len()) else {
        return Ok(State::NotComparable("nobody knows what it changed".to_owned()));
    };
    if effects.iter().all(Effect::is_empty) {
        return Ok(State::NotComparable("nobody knows what it changed".to_owned()));
    }
    let document = match owners::read(service, &whole).await? {
        Read::Shown(document) => document,
        Read::Gone(why) => return Ok(State::Gone(why)),
        Read::NotComparable(why) => return Ok(State::NotComparable(why)),
    };
    if !close_open(service, &whole, writes, &effects, &document).await? {
        return Ok(State::NotSeen);
    }
    if whole.is_empty() {
        // What one call changed, a later one set back.
        return Ok(State::There);
    }
    let mut differing = Vec::new();
    for change in &whole.changes {
        let look =
            Effect { changes: vec![change.clone()], ..Effect::on(whole.owner.clone()) }.look(&document);
        if look.before > 0 || !look.third.is_empty() {
            let now = Document(&document).at(&change.path).cloned();
            differing.push((change.path.to_string(), change.after(&whole.creates).flatten(), now));
        }
    }
    for (created, there) in whole.creates.iter().zip(whole.find_created(&document)) {
        let is_as_seen = |seen: &Value| there.is_some_and(|(_, now)| same_value("", Some(now), Some(seen)));
        if !created.seen.as_ref().map_or(there.is_some(), is_as_seen) {
            let written = created.seen.as_ref().unwrap_or(&created.content).clone();
            differing.push((created.path().to_string(), Some(written), there.map(|(_, now)| now.clone())));
        }
    }
    Ok(if differing.is_empty() { State::There } else { State::Changed(differing) })
}

/// Closes the writes of unknown outcome in the log that the document shows; `false` where it does not show one.
async fn close_open(
    service: &Service<'_>,
    whole: &Effect,
    writes: &[&Write],
    effects: &[Effect],
    document: &Map<String, Value>,
) -> Result<bool, Failure> {
    if whole.owner.kind == Kind::Customer {
        return close_profile(service, writes, document);
    }
    let is_open = |write: &Write| matches!(write.outcome, WriteOutcome::Unknown { .. });
    if !writes.iter().any(|write| is_open(write)) {
        return Ok(true);
    }
    if !effects.iter().all(|effect| effect.look(document).is_proof()) {
        return Ok(false);
    }
    let at = service.session.context.clock.now();
    if let Some(log) = WriteLog::to_read(service.session.context)? {
        for (write, mut effect) in writes.iter().zip(effects.to_vec()).filter(|(write, _)| is_open(write)) {
            effect.close(document);
            log.close(write.id, WriteOutcome::Applied { at, verified: true }, Some(&effect)).await;
        }
    }
    Ok(true)
}

/// As [`close_open`], of a profile: what an old read would show, too, proves nothing. A mismatch that is shown is closed as well.
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

fn say(service: &Service<'_>, name: &str, owner: &str, state: &State) -> Result<(), Failure> {
    let report = service.session.report;
    if report.is_json() {
        let changes: Vec<Value> = match state {
            State::Changed(changes) => changes
                .iter()
                .map(|(path, written, now)| json!({"path": path, "written": written, "now": now}))
                .collect(),
            _ => Vec::new(),
        };
        let reason = match state {
            State::Gone(why) | State::NotComparable(why) => Some(why),
            _ => None,
        };
        return report.json_line(&json!({
            "write": name, "owner": owner, "state": state.name(), "reason": reason, "changes": changes,
        }));
    }
    let mut text = format!("{owner}: {}\n", state.name());
    match state {
        State::Changed(changes) => {
            for (path, written, now) in changes {
                let [written, now] = [written, now].map(|value| format_value(value.as_ref()));
                text += &format!("  {path}: written `{written}`, now `{now}`\n");
            }
        }
        State::Gone(why) | State::NotComparable(why) => text += &format!("  {why}\n"),
        State::There | State::NotSeen => {}
    }
    let lines: Vec<String> = text.lines().map(sanitize_line).collect();
    report.stdout(lines.join("\n") + "\n")
}
