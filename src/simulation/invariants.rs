//! The promises, compared with what the service really did.
//!
//! 1. No address that the last read before a PUT showed is lost by it, unless it was removed by name.
//! 2. No record is applied twice.
//! 3. Nothing is reported as applied that was not.
//! 4. Nothing is reported as not applied that was, or will be.
//! 5. Every record is reported exactly once in each run.
//! 6. An outage leaves at most `--jobs` + 5 records unknown.
//! 7. A repeated PUT never undoes a correction by somebody else.
//! 8. A late PUT of ours never undoes what a later command of ours did.
//! 9. A PUT changes nothing but what it was asked to change, to the digit.
//! 10. Nothing that waits stands between the last read and the PUT.
//! 11. A command that comes to its end leaves no snapshot without a mark.
//! 12. No PUT makes two addresses the default, and a restore takes it from none that somebody else chose.
//! 13. Within a batch, no shipping of a cart takes effect after a later one of the same cart.

use std::time::Duration;

use serde_json::Value;

use super::customers::{Customer, DEFAULT, Stored, Writer, fields, ids};
use super::defaults::{broken_defaults, may_move};
use super::world::{Action, Sent, World};

/// After so long the program takes it that a request will not come any more.
const MAX_LATENESS: Duration = Duration::from_secs(600);

/// Checks a PUT as it is sent.
pub fn check_request(world: &mut World, number: usize, writes: u64) {
    let mut broken = Vec::new();
    let sent = &world.requests[number];
    let action = sent.tag.and_then(|tag| world.actions.get(&tag));
    let (Some(shown), Some(body), Some(action)) = (&sent.shown, sent.body["customer"].as_object(), action)
    else {
        return world.violated(1, format!("request {number} replaces a profile that was not read"));
    };
    if shown.at != sent.at || shown.writes != writes {
        let disk = writes - shown.writes;
        broken.push((
            10,
            format!(
                "{:?} and {disk} disk writes between the last read and it",
                sent.at.saturating_sub(shown.at)
            ),
        ));
    }
    for id in ids(&shown.profile) {
        if !ids(body).contains(&id) && !may_remove(world, sent, action, id) {
            broken.push((1, format!("it leaves out address {id}")));
        }
    }
    let (before, after) = (fields(&shown.profile), fields(body));
    for path in before.keys().chain(after.keys().filter(|path| !before.contains_key(*path))) {
        if before.get(path) == after.get(path) {
            continue;
        }
        let asked = match action {
            _ if path.ends_with(DEFAULT) && after.contains_key(path) => {
                may_move(world, sent, action, path, after.get(path).copied())
            }
            Action::Set(address, name, value) => {
                *path == path_of(*address, name) && after.get(path).is_some_and(|now| *now == value)
            }
            Action::Restore(_) if after.contains_key(path) => {
                let now = after.get(path).copied();
                undoes_ours(world, sent, path, before.get(path).copied(), now)
            }
            // A lost address is reported above.
            _ => !after.contains_key(path) && path.contains('.'),
        };
        // Comparisons leave the service's own time stamp out (`read.ignore`), and so does this one.
        if !asked && path != "updated_at" {
            broken.push((9, format!("{path}: {:?} becomes {:?}", before.get(path), after.get(path))));
        }
    }
    let new =
        body["addresses"].as_array().into_iter().flatten().filter(|address| address.get("id").is_none());
    let is_wanted = match action {
        Action::Add(address) => new.collect::<Vec<_>>() == [address],
        Action::Restore(_) => new.into_iter().all(|address| was_removed_by_us(world, sent, address)),
        _ => new.count() == 0,
    };
    broken.extend(broken_defaults(world, sent, action, body).map(|what| (12, what)));
    if !is_wanted {
        broken.push((9, "its new addresses are not those that were asked for".to_owned()));
    }
    for (invariant, what) in broken {
        world.violated(invariant, format!("request {number}: {what}"));
    }
}

/// Whether an address may be removed by this request.
fn may_remove(world: &World, sent: &Sent, action: &Action, id: i64) -> bool {
    match action {
        Action::Remove(removed) => *removed == id,
        Action::Restore(may_delete) => {
            let customer = sent.customer.map(|customer| &world.customers[customer]);
            let creator = customer.and_then(|customer| customer.creators.get(&id));
            *may_delete && matches!(creator, Some(Writer::Ours(_)))
        }
        _ => false,
    }
}

/// Whether a restore replaces a value that an update of ours wrote by one that was there before.
fn undoes_ours(world: &World, sent: &Sent, path: &str, was: Option<&Value>, now: Option<&Value>) -> bool {
    let Some(customer) = sent.customer.map(|customer| &world.customers[customer]) else { return false };
    let is_ours = was.and_then(Value::as_str).is_some_and(|was| was.starts_with("Ours "));
    is_ours && customer.past.iter().any(|(_, past)| fields(past).get(path).copied() == now)
}

/// Whether a restore adds an address that an update of ours has removed, as it was.
fn was_removed_by_us(world: &World, sent: &Sent, address: &Value) -> bool {
    let (Some(customer), Some(added)) = (sent.customer, address.as_object()) else { return false };
    let removed = |id: i64| {
        world.actions.values().any(|action| matches!(action, Action::Remove(removed) if *removed == id))
    };
    let is_it = |past: &Value| {
        past["id"].as_i64().is_some_and(removed)
            && past.as_object().is_some_and(|past| {
                past.iter()
                    // Another address may be the default now.
                    .filter(|(name, _)| *name != "id" && (*name != DEFAULT || added.contains_key(DEFAULT)))
                    .all(|(name, value)| added.get(name) == Some(value))
            })
    };
    let past = world.customers[customer].past.iter();
    past.flat_map(|(_, past)| past["addresses"].as_array().into_iter().flatten()).any(is_it)
}

/// Checks a replacement at the moment it takes effect.
pub fn check_replacement(
    world: &mut World,
    number: usize,
    customer: usize,
    before: &Stored,
    after: &Stored,
    added: &[i64],
) {
    let mut broken = Vec::new();
    let mut foreign_lost = 0;
    let sent = &world.requests[number];
    let action = sent.tag.and_then(|tag| world.actions.get(&tag));
    let shown = sent.shown.as_ref().map(|shown| ids(&shown.profile)).unwrap_or_default();
    let state = &world.customers[customer];
    for id in ids(before).into_iter().filter(|id| !ids(after).contains(id)) {
        let by_name = action.is_some_and(|action| may_remove(world, sent, action, id));
        match state.creators.get(&id) {
            _ if by_name => {}
            _ if shown.contains(&id) => broken.push((1, format!("it removes address {id}"))),
            Some(Writer::Ours(other)) if is_protected(world, number, *other) => {
                broken.push((8, format!("it comes late and removes address {id} of request {other}")));
            }
            _ => foreign_lost += 1,
        }
    }
    for id in ids(before) {
        if let (Some(Writer::Ours(other)), false) = (state.creators.get(&id), added.is_empty())
            && world.requests[*other].tag == sent.tag
            && !is_asked_again(world, number.min(*other), number.max(*other))
            && !(world.requests[*other].run != sent.run && was_edited(state, id))
        {
            broken.push((2, format!("it adds the address {id} of request {other} once more")));
        }
    }
    let (old, new) = (fields(before), fields(after));
    for (path, value) in &new {
        let (Some(was), Some((writer, at))) = (old.get(path), state.writers.get(path)) else { continue };
        if was == value || path == "updated_at" {
            continue;
        }
        match writer {
            // What was repeated and is shown holds back only what adds an address.
            Writer::Ours(other) if is_protected(world, number, *other) && !was_repeated(world, number) => {
                broken.push((8, format!("it comes late and undoes {path} of request {other}")));
            }
            Writer::Foreign if sent.attempt > 1 => {
                let first =
                    world.requests.iter().find(|first| first.run == sent.run && first.tag == sent.tag);
                let was_shown =
                    sent.shown.as_ref().is_some_and(|shown| fields(&shown.profile).get(path) == Some(was));
                if was_shown && first.is_some_and(|first| first.at < *at) {
                    broken.push((7, format!("it is repeated and undoes the correction of {path}")));
                }
            }
            _ => {}
        }
    }
    world.foreign_lost += foreign_lost;
    for (invariant, what) in broken {
        world.violated(invariant, format!("request {number}: {what}"));
    }
}

/// Whether an editor has changed this address: it no longer is the one that our record asks for, and a person who runs the
/// command again sees that it is not there.
fn was_edited(customer: &Customer, id: i64) -> bool {
    let prefix = format!("{id}.");
    customer.writers.iter().any(|(path, (writer, _))| path.starts_with(&prefix) && *writer == Writer::Foreign)
}

/// Whether what `other` did must be safe from the late request `number`.
fn is_protected(world: &World, number: usize, other: usize) -> bool {
    let (late, later) = (&world.requests[number], &world.requests[other]);
    late.tag != later.tag
        && late.at < later.at
        && later.at.saturating_sub(late.at) < MAX_LATENESS
        && !world.runs[later.run].may_repeat
}

/// Whether another request asked for the same.
fn was_repeated(world: &World, number: usize) -> bool {
    let actions = world.requests[number].tag;
    world.requests.iter().filter(|request| request.tag == actions).count() > 1
}

fn path_of(address: Option<i64>, name: &str) -> String {
    address.map_or_else(|| name.to_owned(), |id| format!("{id}.{name}"))
}

/// What a run said about a record.
#[derive(Debug, Clone)]
pub struct Reported {
    /// Which run.
    pub run: usize,
    /// Which record.
    pub tag: u32,
    /// When it was certain to have been said.
    pub at: Duration,
    /// `yes`, `no` or `unknown`.
    pub applied: String,
    /// `unchanged`, `not sent`, `done earlier`, or the message of a failure.
    pub reason: String,
}

/// Checks all reports, once every late request has arrived.
pub fn check_reports(world: &mut World, reported: &[Reported]) {
    let mut broken = Vec::new();
    for said in reported {
        let Reported { run, tag, at, applied, reason } = said;
        let of_tag = |request: usize| world.requests[request].tag == Some(*tag);
        let effects = || world.effects.iter().filter(|effect| of_tag(effect.request));
        let reported = format!("run {run}: record {tag} is reported as {applied:?} ({reason})");
        match applied.as_str() {
            "yes" if !effects().any(|effect| effect.at <= *at) && !is_removed(world, *tag) => {
                broken.push((3, format!("{reported} and was not applied")));
            }
            "no" => {
                // A single command speaks of itself only, a batch of all its runs.
                let speaks_of = |request: usize| {
                    let sent = &world.requests[request];
                    sent.at <= *at && (sent.run == *run || world.runs[*run].is_batch && reason != "unchanged")
                };
                if let Some(effect) = effects().find(|effect| speaks_of(effect.request)) {
                    broken.push((4, format!("{reported}, and request {} took effect", effect.request)));
                }
            }
            _ => {}
        }
    }
    broken.extend(duplicates(world));
    broken.extend(overtaken(world));
    for (invariant, what) in broken {
        world.violated(invariant, what);
    }
}

/// Whether an address that a record removes is gone: who removed it is unknown.
fn is_removed(world: &World, tag: u32) -> bool {
    let Some(Action::Remove(id)) = world.actions.get(&tag) else { return false };
    !world.customers.iter().any(|customer| ids(&customer.now).contains(id))
}

/// Items, attributes and shippings that took effect twice without being asked for again.
fn duplicates(world: &World) -> Vec<(u8, String)> {
    let mut broken = Vec::new();
    for (tag, _) in world
        .actions
        .iter()
        .filter(|(_, action)| matches!(action, Action::Item | Action::Attribute | Action::Ship(_)))
    {
        let requests = world.effects.iter().map(|effect| effect.request);
        let mut requests: Vec<usize> =
            requests.filter(|request| world.requests[*request].tag == Some(*tag)).collect();
        requests.sort_unstable();
        for pair in requests.windows(2).filter(|pair| !is_asked_again(world, pair[0], pair[1])) {
            broken.push((2, format!("record {tag} was applied by requests {} and {}", pair[0], pair[1])));
        }
    }
    broken
}

/// Shippings that took effect after a later record of their command had set the same cart.
fn overtaken(world: &World) -> Vec<(u8, String)> {
    let mut broken = Vec::new();
    let shippings: Vec<(u32, u32, usize)> = world
        .effects
        .iter()
        .filter_map(|effect| {
            let sent = &world.requests[effect.request];
            let Some(Action::Ship(customer)) = world.actions.get(&sent.tag?) else { return None };
            let command = world.runs[sent.run].command;
            // Once somebody asks for it again, a request that was given up may still arrive.
            let is_asked_again = world.runs.iter().any(|run| run.command == command && run.may_repeat);
            (!is_asked_again).then_some((command, sent.tag?, *customer))
        })
        .collect();
    for (at, (command, tag, customer)) in shippings.iter().enumerate() {
        let is_later =
            |(of, other, cart): &&(u32, u32, usize)| of == command && cart == customer && other > tag;
        if let Some((_, other, _)) = shippings[..at].iter().find(is_later) {
            broken.push((13, format!("record {tag} was applied after record {other} of the same cart")));
        }
    }
    broken
}

/// Whether somebody asked for what a second request repeats.
fn is_asked_again(world: &World, first: usize, second: usize) -> bool {
    let (first, second) = (&world.requests[first], &world.requests[second]);
    let run = &world.runs[second.run];
    let is_update = second.customer.is_some();
    // Running a single command again asks for it again; for an update only after the time in which the first may arrive late.
    let is_again = !run.is_batch && (!is_update || second.at.saturating_sub(first.at) >= MAX_LATENESS);
    first.run != second.run && (run.may_repeat || is_again)
}

/// Checks the marks of the snapshots: a later command relies on them.
pub fn check_marks<'a>(world: &mut World, files: impl Iterator<Item = &'a std::path::Path>) {
    let mut broken = Vec::new();
    for file in files {
        let mark = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        let snapshot = file.with_extension("json");
        let is_put = |sent: &&Sent| sent.tag.is_some() && sent.snapshot.as_ref() == Some(&snapshot);
        // Where it never left, another attempt at the same may have been taken for it, which does no harm.
        let Some(tag) = world.requests.iter().find(is_put).map(|sent| sent.tag) else { continue };
        let mut effects = world.effects.iter().map(|effect| &world.requests[effect.request]);
        let name = snapshot.file_name().unwrap_or_default().display();
        match mark {
            "refused" if effects.any(|sent| is_put(&sent)) => {
                broken.push((4, format!("snapshot {name} is marked refused, and its PUT took effect")));
            }
            "verified" | "applied" | "mismatched"
                if !effects.any(|sent| sent.tag == tag) && !is_removed(world, tag.unwrap_or_default()) =>
            {
                broken.push((3, format!("snapshot {name} is marked {mark}, and was not applied")));
            }
            _ => {}
        }
    }
    for (invariant, what) in broken {
        world.violated(invariant, what);
    }
}

/// How many snapshots have no mark. One that a command leaves so would hold up later commands.
pub fn unmarked<'a>(files: impl Iterator<Item = &'a std::path::Path>) -> usize {
    let files: Vec<_> = files.collect();
    let is_snapshot = |file: &std::path::Path| {
        file.extension().is_some_and(|extension| extension == "json")
            && file.components().any(|part| part.as_os_str() == "snapshots")
    };
    let is_marked = |file: &std::path::Path| {
        let marks = ["verified", "applied", "mismatched", "refused", "unknown"];
        marks.iter().any(|mark| files.contains(&file.with_extension(mark).as_path()))
    };
    files.iter().filter(|file| is_snapshot(file) && !is_marked(file)).count()
}
