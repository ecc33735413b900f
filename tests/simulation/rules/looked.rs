//! What `verify` says at any later time of what was written, compared with what the service has.

use std::collections::BTreeSet;
use std::time::Duration;

use serde_json::Value;

use super::history::was_done_by_others;
use super::report::{customer_of, is_verified_by};
use super::{Rule, goods};
use crate::action::Action;
use crate::customers::{DEFAULT, Kept, Stored, Writer, addresses, defaults, fields, is_nearly};
use crate::faults::Quirk;
use crate::machine::RunEnd;
use crate::world::{Reported, World};

/// Checks what `verify` says of each of these writes, of a profile, an order or a product: it is there if it has taken effect and the
/// service has it at some moment of the run, or of the time before it by which a replica lags behind, or for which a cache keeps an answer; it is changed or gone if
/// the service does not have all that it wrote at some of these moments. `record` names the record of a line; `of` is the run that
/// made the write, where one write is looked at: other runs of the record may have written the rest. Whether something is not there.
pub fn check(
    world: &mut World,
    ended: &RunEnd,
    of: Option<usize>,
    record: impl Fn(&World, &Value) -> Option<u32>,
) -> bool {
    let mut is_any_missing = false;
    for line in &ended.lines {
        let (Some(state), Some(tag)) = (line["state"].as_str(), record(world, line)) else { continue };
        let is_meant = |said: &&Reported| said.tag == tag && of.is_none_or(|run| said.run == run);
        let said = world.reported.iter().find(is_meant).cloned();
        let action = world.actions[&tag].clone();
        // The second copy of a request adds an address under another id.
        let was_doubled = world.effects_of(tag).any(|effect| effect.is_copy);
        if matches!(action, Action::Back(..) | Action::Restore(_))
            || rewrites(world.began_with)
            || world.is_long_lag
            || was_doubled
        {
            continue;
        }
        let Some(said) = said else { continue };
        world.checks(Rule::Verified);
        let had_effect = world.effects_of(tag).next().is_some();
        let kept = world.kept_of(tag, customer_of(world, said.run, tag));
        let states = states(world, kept, world.runs[ended.run].began);
        // One that somebody typed in with another number is not ours.
        let has_added = |state: &Stored| action.added().is_none_or(|added| has_address(state, added));
        let has = |state: &&Stored| is_verified_by(&action, state) && has_added(state);
        let wrote = wrote(world, kept, tag, of);
        let is_known = had_effect || was_done_by_others(world, &said) || said.reason == "unchanged";
        let is_right = match state {
            // Of several calls, some may never have been sent; a write of a resumed run may be one of them alone.
            "there" | "seen" => {
                let names = world
                    .reported
                    .iter()
                    .filter(|said| said.tag == tag)
                    .filter_map(|said| said.write.as_ref());
                let is_of_several = of.is_none() && names.collect::<BTreeSet<_>>().len() > 1;
                let has_part =
                    |state: &Stored| wrote.iter().any(|part| !lacks(std::slice::from_ref(part), state));
                let has_wrote = |state: &&Stored| {
                    !wrote.is_empty() && !lacks(&wrote, state) || is_of_several && has_part(state)
                };
                is_known && states.iter().any(|state| has(state) || has_wrote(state))
            }
            // Of what others did nobody knows what else it was to leave.
            "changed" | "gone" => {
                !had_effect && is_known || states.iter().any(|state| !has(state) || lacks(&wrote, state))
            }
            // It was not sent, no read could show it, or it was deleted from the log.
            _ => !(world.is_calm && had_effect) || is_forgotten(world, said.run, tag),
        };
        is_any_missing |= matches!(state, "changed" | "gone");
        if !is_right {
            let what = format!("what record {tag} wrote is {state:?}, and took effect: {had_effect}");
            world.broke_of(Rule::Verified, ended.run, None, &[tag], what);
        }
    }
    is_any_missing
}

/// Whether the log of the machine of a run no longer has what it wrote for the customer of a record.
fn is_forgotten(world: &World, run: usize, tag: u32) -> bool {
    let of = (world.runs[run].machine, customer_of(world, run, tag));
    world.forgotten.iter().any(|(machine, customer, _)| (*machine, *customer) == of)
}

/// Whether the service stores something else than it was sent.
fn rewrites(quirk: Quirk) -> bool {
    !matches!(quirk, Quirk::None | Quirk::Refuses(_))
}

/// What the effects of a record left: fields, and the default addresses and the list of comments as they were then.
fn wrote(world: &World, kept: &Kept, tag: u32, of: Option<usize>) -> Vec<(String, Option<Value>)> {
    let is_own = |by: &Writer| match by {
        Writer::Ours(request) => {
            let sent = &world.requests[*request];
            sent.tag == Some(tag) && of.is_none_or(|run| sent.run == run)
        }
        _ => false,
    };
    // A place is the last record's of a batch that wrote it.
    let command = |request: usize| world.runs[world.requests[request].run].command;
    let commands: BTreeSet<u32> = world.effects_of(tag).map(|effect| command(effect.request)).collect();
    let is_of_other_record = |by: &Writer| match by {
        Writer::Ours(request) => {
            world.requests[*request].tag != Some(tag) && commands.contains(&command(*request))
        }
        _ => false,
    };
    let of_path = |(path, writers): (&String, &Vec<(Writer, Duration)>)| {
        let own = writers.iter().rposition(|(by, _)| is_own(by))?;
        if path != "comments" && writers[own..].iter().any(|(by, _)| is_of_other_record(by)) {
            return None;
        }
        let (_, at) = writers[own];
        let then = kept.at(at);
        let value = fields(then).get(path).map(|value| (*value).clone());
        Some((path.clone(), if path.ends_with(DEFAULT) { Some(defaults(then).into()) } else { value }))
    };
    // An address is saved whole: what only happened to change with it is not what was written.
    let is_asked =
        |(path, _): &(String, Option<Value>)| path == "comments" || goods::is_asked_by(world, tag, path);
    kept.writers.iter().filter_map(of_path).filter(is_asked).collect()
}

/// Whether an address has all that was sent.
fn has_address(state: &Stored, added: &Value) -> bool {
    let has = |address: &Value| {
        let mut sent = added.as_object().into_iter().flatten();
        sent.all(|(name, value)| is_nearly(address.get(name), Some(value)))
    };
    addresses(state).any(has)
}

/// Whether something of that is not so in a state. A comment that came later takes none away.
fn lacks(wrote: &[(String, Option<Value>)], state: &Stored) -> bool {
    let now = fields(state);
    wrote.iter().any(|(path, value)| match (value, now.get(path)) {
        (Some(Value::Array(then)), Some(Value::Array(now))) if path == "comments" => {
            then.iter().any(|comment| !now.contains(comment))
        }
        (then, _) if path.ends_with(DEFAULT) => *then != Some(defaults(state).into()),
        (value, now) => value.as_ref() != now.copied(),
    })
}

/// What reads may show from a moment on.
pub fn states<'a>(world: &World, kept: &'a Kept, began: Duration) -> Vec<&'a Stored> {
    let oldest = world.faults.replicas.into_iter().chain(world.faults.cache).max().unwrap_or_default();
    let from = began.saturating_sub(oldest);
    let first = kept.past.iter().rposition(|(since, _)| *since <= from).unwrap_or_default();
    kept.past[first..].iter().map(|(_, state)| state).collect()
}
