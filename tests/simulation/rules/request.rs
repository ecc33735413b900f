//! What is checked as a request leaves.

use std::time::Duration;

use serde_json::Value;

use super::planned::differing;
use super::{Rule, batch, goods, journal, restore, signal};
use crate::action::{Action, RegionBy, Undo};
use crate::call::Call;
use crate::customers::{DEFAULT, Stored, Writer, addresses, content, defaults, fields, ids, is_empty};
use crate::disk::Disk;
use crate::faults::Observed;
use crate::magento;
use crate::world::{OutOfReach, Sent, Shown, World};

/// So long a disk may take between the last read and the PUT; nothing else may. A sync takes up to 30 ms. There are at most five
/// after each other: one for the run, and in a batch those of the journal and of the log, for each of which the one that is under
/// way for another record is waited for.
const MAX_BETWEEN: Duration = Duration::from_millis(160);
/// So long the regions of a country, or the custom attributes, may be looked up in between.
const MAX_LOOKUP: Duration = Duration::from_millis(2_100);
/// A longer `Retry-After` counts as this.
const MAX_RETRY_AFTER: Duration = Duration::from_secs(60);

/// Checks request `number`.
pub fn check(world: &mut World, number: usize, disk: &Disk) {
    let mut broken = Vec::new();
    let sent = &world.requests[number];
    if let Some(what) = too_early(world, number) {
        broken.push((Rule::RetryAfter, what));
    }
    if sent.call.is_write()
        && let Some(what) = journal::unwritten(world, sent, disk)
    {
        broken.push((Rule::Journal, what));
    }
    broken.extend(signal::too_late(world, sent).map(|what| (Rule::Signal, what)));
    broken.extend(batch::not_checked(world, number).map(|what| (Rule::Input, what)));
    broken.extend(batch::applied_before(world, sent).map(|what| (Rule::Planned, what)));
    if let Some(customer) = sent.replaces() {
        let removes = |tag| matches!(world.actions[&tag], Action::Remove(..));
        let is_named = world.is_magento && world.runs[sent.run].token.is_none();
        if is_named && sent.tag.is_some_and(removes) && !world.faults.has_no_read {
            broken.push((Rule::LostAddress, "it replaces a profile to remove an address".into()));
        }
        match (&sent.shown, sent.body["customer"].as_object(), sent.tag) {
            (Some(shown), Some(body), Some(tag)) => {
                let action = world.actions[&tag].clone();
                if world.faults.cache.is_some() {
                    world.checks(Rule::OtherProfile);
                }
                if world.planned.contains_key(&tag) {
                    world.checks(Rule::Planned);
                }
                let before = plain(world, &shown.profile);
                let after = with_kept(world, plain(world, body), &before);
                let is_undo = matches!(action, Action::Restore(_));
                let planned = world.planned.get(&tag);
                let planned = planned.and_then(|planned| differing(planned, &shown.profile, is_undo));
                broken.extend(planned.map(|what| (Rule::Planned, what)));
                if is_other_profile(world, customer, &shown.profile, body) {
                    if is_knowable(world, number, customer) {
                        broken
                            .push((Rule::OtherProfile, "it carries the profile of another customer".into()));
                    } else {
                        world.count(OutOfReach::Unknowable);
                    }
                } else {
                    check_times(world, sent, shown, disk, &mut broken);
                    check_addresses(sent, &action, (&before, &after), world, &mut broken);
                    check_fields(world, sent, &action, (&before, &after), &mut broken);
                    check_defaults(world, sent, &action, (&before, &after), &mut broken);
                    if let Action::Restore(Undo::Batch(tags)) = &action {
                        world.checks(Rule::Undo);
                        let left = restore::left_standing(world, customer, tags, (&before, &after));
                        broken.extend(left.map(|what| (Rule::Undo, what)));
                    }
                }
            }
            (None, ..) => broken.push((Rule::LostAddress, "it replaces a profile that was not read".into())),
            _ => broken.push((Rule::Exact, "no record asked for what it changes".into())),
        }
    }
    goods::check(world, number, disk, &mut broken);
    if let Call::Remove(customer, id) = world.requests[number].call {
        check_removal(world, &world.requests[number], (customer, id), disk, &mut broken);
    }
    let run = world.requests[number].run;
    for (rule, what) in broken {
        world.broke(rule, run, Some(number), what);
    }
}

/// Only an address goes by its own call that a read of this run has shown for this customer, that a record names, with
/// permission, and that a file holds.
fn check_removal(
    world: &World,
    sent: &Sent,
    (customer, id): (usize, i64),
    disk: &Disk,
    broken: &mut Vec<(Rule, String)>,
) {
    let (Some(shown), Some(tag)) = (&sent.shown, sent.tag) else {
        return broken.push((Rule::Deletion, format!("it removes address {id}, which no record asks for")));
    };
    if !ids(&shown.profile).contains(&id) || id_of(&shown.profile) != id_of(&world.customers[customer].now) {
        broken.push((Rule::Deletion, format!("it removes address {id}, which its read had not shown")));
    }
    let is_allowed = match &world.actions[&tag] {
        Action::Remove(named, is_allowed) => *named == id && *is_allowed,
        Action::Replace(kept, _, allowed) => {
            // A read after its PUT shows what that has added: it is not to go. A run after one whose PUT was not answered cannot
            // tell it from another's. The number counts those that an earlier read has shown, of which some are gone.
            let is_own = |id: &i64| match world.customers[customer].creators.get(id) {
                Some(Writer::Ours(request)) => {
                    let put = &world.requests[*request];
                    let is_answered =
                        put.heard.as_ref().is_some_and(|heard| heard.observed == Observed::Answer);
                    put.tag == sent.tag && (put.run == sent.run || is_answered)
                }
                _ => false,
            };
            let reads = world.requests.iter().filter(|other| other.tag == sent.tag);
            let mut left_out = reads.filter_map(|other| other.shown.as_ref()).map(|shown| {
                let left_out = ids(&shown.profile).into_iter().filter(|id| !kept.contains(id) && !is_own(id));
                left_out.collect::<Vec<i64>>()
            });
            !is_own(&id) && left_out.any(|ids| ids.contains(&id) && *allowed == Some(ids.len()))
        }
        Action::Restore(undo) => {
            let creator = world.customers[customer].creators.get(&id);
            match undo {
                Undo::Batch(tags) => restore::is_of_batch(world, creator.copied(), tags),
                Undo::Of(_, tag, may_delete) => {
                    *may_delete && restore::is_of_batch(world, creator.copied(), &[*tag])
                }
                Undo::All(_) => false,
            }
        }
        _ => false,
    };
    if !is_allowed {
        broken.push((Rule::Deletion, format!("it removes address {id} without permission")));
    }
    let address =
        addresses(&shown.profile).find(|address| address["id"].as_i64() == Some(id)).and_then(content);
    let is_kept = |kept: &Value| {
        let mut kept = kept.as_object().into_iter().flat_map(addresses);
        kept.any(|kept| kept["id"].as_i64() == Some(id) && content(kept) == address)
    };
    if !disk.kept_profiles().iter().any(is_kept) {
        broken.push((Rule::NoSnapshot, format!("the log on disk does not have address {id}")));
    }
}

/// A profile in the one form in which a service's bodies can be compared.
pub fn plain(world: &World, profile: &Stored) -> Stored {
    if world.is_magento { magento::plain(profile) } else { profile.clone() }
}

/// Magento keeps the extension attributes that are left out, and only those that change may be sent.
pub fn with_kept(world: &World, mut sent: Stored, before: &Stored) -> Stored {
    const EXTENSION: &str = "extension_attributes";
    if let (true, None, Some(kept)) = (world.is_magento, sent.get(EXTENSION), before.get(EXTENSION)) {
        sent.insert(EXTENSION.to_owned(), kept.clone());
    }
    sent
}

/// Whether a request of this run to the same key was told to wait longer.
fn too_early(world: &World, number: usize) -> Option<String> {
    let sent = &world.requests[number];
    // After a signal the run is to end: the comment of a saved address does not wait.
    if matches!(sent.call, Call::Comment(_)) && world.runs[sent.run].signalled.is_some() {
        return None;
    }
    let same_key = |other: &&Sent| {
        other.run == sent.run
            && match (other.profile_of(), sent.profile_of()) {
                (Some(one), Some(two)) => one == two,
                (None, None) if sent.sets().is_some() => {
                    other.sets().map(|(owner, _)| owner) == sent.sets().map(|(owner, _)| owner)
                }
                (None, None) => other.tag.is_some() && other.tag == sent.tag && other.call == sent.call,
                _ => false,
            }
    };
    world.requests[..number].iter().filter(same_key).find_map(|other| {
        let heard = other.heard.as_ref()?;
        let Observed::Status(429, Some(seconds)) = heard.observed else { return None };
        world.checks(Rule::RetryAfter);
        let until = heard.at + Duration::from_secs(seconds).min(MAX_RETRY_AFTER);
        (sent.at < until)
            .then(|| format!("it leaves {:?} before Retry-After is over", until.saturating_sub(sent.at)))
    })
}

fn id_of(profile: &Stored) -> Option<i64> {
    profile.get("id").and_then(|id| id.as_i64().or_else(|| id.as_str()?.parse().ok()))
}

fn is_other_profile(world: &World, customer: usize, shown: &Stored, body: &Stored) -> bool {
    let own = id_of(&world.customers[customer].now);
    [shown, body].iter().any(|profile| id_of(profile).is_some_and(|id| Some(id) != own))
}

/// Whether the program could know whose profile this must be: an administrator named the customer, an earlier update of
/// this machine with a token of the customer was seen as verified, or this run has read two customers.
fn is_knowable(world: &World, number: usize, customer: usize) -> bool {
    let sent = &world.requests[number];
    let run = &world.runs[sent.run];
    // Whose a token is, is forgotten with the customer.
    let is_forgotten = |said: Duration| {
        let mut forgotten = world.forgotten.iter();
        forgotten.any(|(machine, of, at)| (*machine, *of) == (run.machine, customer) && said <= *at)
    };
    let is_verified = |reported: &&crate::world::Reported| {
        let of = &world.runs[reported.run];
        reported.verified == Some(true)
            && !is_forgotten(reported.at)
            && of.machine == run.machine
            && of.token == run.token
            && of.records.iter().any(|(tag, of)| *tag == reported.tag && *of == customer)
    };
    let own = id_of(&world.customers[customer].now);
    let has_read_own = world.requests[..number].iter().filter(|other| other.run == sent.run).any(|other| {
        let profile = other.heard.as_ref().and_then(|heard| heard.profile.as_ref());
        other.profile_of() == Some(customer) && profile.is_some_and(|profile| id_of(profile) == own)
    });
    run.token.is_none() || has_read_own || world.reported.iter().any(|said| is_verified(&said))
}

fn check_times(world: &World, sent: &Sent, shown: &Shown, disk: &Disk, broken: &mut Vec<(Rule, String)>) {
    world.checks(Rule::Waits);
    world.checks(Rule::NoSnapshot);
    let between = sent.at.saturating_sub(shown.at);
    let is_lookup = |other: &&Sent| {
        other.run == sent.run
            && other.at >= shown.at
            && matches!(other.call, Call::Country(_) | Call::CustomAttributes)
    };
    let looks_up =
        world.requests.iter().rev().take_while(|other| other.at >= shown.at).any(|other| is_lookup(&other));
    if between > if looks_up { MAX_LOOKUP } else { MAX_BETWEEN } {
        broken.push((Rule::Waits, format!("{between:?} between the last read and it")));
    }
    if !disk.kept_profiles().iter().any(|kept| holds(kept, &shown.profile)) {
        broken.push((Rule::NoSnapshot, "the log on disk does not have the profile as read".into()));
    }
}

/// Whether a value is this profile, or has it somewhere within.
fn holds(value: &Value, profile: &Stored) -> bool {
    match value {
        Value::Object(members) => {
            let mut as_read = profile.clone();
            as_read.shift_remove("updated_at");
            let mut stored = members.clone();
            stored.shift_remove("updated_at");
            stored == as_read || members.values().any(|value| holds(value, profile))
        }
        Value::Array(list) => list.iter().any(|value| holds(value, profile)),
        _ => false,
    }
}

/// No address is left out but one that was named, with permission; none is added but the one that was asked for.
fn check_addresses(
    sent: &Sent,
    action: &Action,
    (before, after): (&Stored, &Stored),
    world: &World,
    broken: &mut Vec<(Rule, String)>,
) {
    world.checks(Rule::LostAddress);
    if !matches!(action, Action::Set(..) | Action::Add(_)) {
        world.checks(Rule::Deletion);
    }
    let left_out: Vec<i64> = ids(before).into_iter().filter(|id| !ids(after).contains(id)).collect();
    let is_allowed = match action {
        Action::Remove(id, is_allowed) => {
            let is_named = left_out.iter().all(|left_out| left_out == id);
            if is_named && !is_allowed && !left_out.is_empty() {
                broken.push((Rule::Deletion, "it deletes an address without permission".into()));
            }
            is_named
        }
        Action::Replace(kept, _, allowed) => {
            if !left_out.is_empty() && *allowed != Some(left_out.len()) {
                let what = format!("it deletes {} addresses where {allowed:?} were allowed", left_out.len());
                broken.push((Rule::Deletion, what));
            }
            left_out.iter().all(|id| !kept.contains(id))
        }
        Action::Restore(undo) => {
            let creator = |id: &i64| {
                let customer = sent.replaces().map(|customer| &world.customers[customer]);
                customer.and_then(|customer| customer.creators.get(id).copied())
            };
            match undo {
                Undo::Batch(tags) => left_out.iter().all(|id| restore::is_of_batch(world, creator(id), tags)),
                Undo::Of(_, tag, may_delete) => {
                    let is_ours = |id: &i64| *may_delete && restore::is_of_batch(world, creator(id), &[*tag]);
                    left_out.len() <= 1 && left_out.iter().all(is_ours)
                }
                Undo::All(_) => left_out.is_empty(),
            }
        }
        _ => left_out.is_empty(),
    };
    if !is_allowed {
        broken.push((Rule::LostAddress, format!("it leaves out the addresses {left_out:?}")));
    }
    let new: Vec<&Value> = addresses(after).filter(|address| address.get("id").is_none()).collect();
    let is_wanted = if let Action::Restore(_) = action {
        new.iter().all(|address| restore::was_there(world, sent, address))
    } else {
        let wanted: Vec<_> = action.added().and_then(content).into_iter().collect();
        new.into_iter().filter_map(content).collect::<Vec<_>>() == wanted
    };
    if !is_wanted {
        broken.push((Rule::Exact, "its new addresses are not those that were asked for".into()));
    }
}

fn check_fields(
    world: &World,
    sent: &Sent,
    action: &Action,
    (before, after): (&Stored, &Stored),
    broken: &mut Vec<(Rule, String)>,
) {
    world.checks(Rule::Exact);
    if let Action::Restore(_) = action {
        world.checks(Rule::WrongUndo);
    }
    let (old, new) = (fields(before), fields(after));
    for path in old.keys().chain(new.keys().filter(|path| !old.contains_key(*path))) {
        let (was, now) = (old.get(path).copied(), new.get(path).copied());
        // Comparisons leave the service's own time stamp out (`read.ignore`), and so does this one.
        if was == now || path == "updated_at" || path.ends_with(DEFAULT) {
            continue;
        }
        let id = path.split_once('.').and_then(|(id, _)| id.parse::<i64>().ok());
        // An address that is left out is reported above.
        let is_gone = id.is_some_and(|id| !ids(after).contains(&id));
        let is_asked = match action {
            _ if is_gone => true,
            Action::Set(address, name, value) => {
                let asked = address.map_or_else(|| (*name).to_owned(), |id| format!("{id}.{name}"));
                *path == asked && (now == Some(value) || now.is_none_or(is_empty) && is_empty(value))
            }
            Action::Region(id, by) => {
                let fields: &[&str] = match by {
                    RegionBy::Country => &["region", "region_id", "country_id"],
                    _ => &["region", "region_id"],
                };
                fields.iter().any(|name| *path == format!("{id}.{name}"))
            }
            Action::Custom(address, code, value) => {
                let attribute = format!("custom_attributes.{code}");
                let asked = address.map_or_else(|| attribute.clone(), |id| format!("{id}.{attribute}"));
                *path == asked && now.is_some_and(|now| now == value)
            }
            Action::Restore(undo) => {
                if let Some(what) = restore::undoes_another(world, sent, undo, (path, was)) {
                    broken.push((Rule::WrongUndo, what));
                }
                restore::was_value(world, sent, path, now)
            }
            _ => false,
        };
        if !is_asked {
            broken.push((Rule::Exact, format!("{path}: {was:?} becomes {now:?}")));
        }
    }
}

/// No more defaults than there were, and none moved but by who may.
fn check_defaults(
    world: &World,
    sent: &Sent,
    action: &Action,
    (before, after): (&Stored, &Stored),
    broken: &mut Vec<(Rule, String)>,
) {
    let Some(customer) = sent.replaces().map(|customer| &world.customers[customer]) else { return };
    let (was, now) = (defaults(before), defaults(after));
    if matches!(action, Action::Default(_) | Action::Restore(_)) {
        world.checks(Rule::Defaults);
    }
    // An editor who strikes between the last read and the PUT leaves two.
    let most = customer.past.iter().map(|(_, past)| defaults(past).len()).max().unwrap_or_default().max(1);
    if now.len() > most {
        broken.push((Rule::Defaults, format!("it makes {now:?} the default, and {was:?} were")));
    }
    let moved_by_name = match action {
        Action::Default(id) => now == [*id],
        Action::Restore(_) => true,
        _ => false,
    };
    // Where the default address itself is left out there is none.
    let kept: Vec<i64> = was.iter().copied().filter(|id| ids(after).contains(id)).collect();
    if now != kept && !moved_by_name {
        broken.push((Rule::Exact, format!("the default moves from {was:?} to {now:?}")));
    }
    if matches!(action, Action::Restore(Undo::Of(..))) && now != was {
        let is_foreign = |id: &&i64| {
            let writer = customer.writer_at(&format!("{id}.{DEFAULT}"), sent.at);
            let shown = sent.shown.as_ref().map_or(Duration::ZERO, |shown| shown.at);
            matches!(writer, Some((Writer::Foreign, at)) if at <= shown)
        };
        // A replica may not have what the editor chose.
        if was == defaults(&customer.now)
            && let Some(id) = was.iter().find(is_foreign)
        {
            broken.push((Rule::Defaults, format!("it takes the default from {id}, which an editor chose")));
        }
    }
}
