//! What a restore may set back.

use std::collections::BTreeMap;

use serde_json::Value;

use super::request::{plain, with_kept};
use crate::action::Undo;
use crate::customers::{DEFAULT, Stored, Writer, addresses, content, fields, is_empty, is_nearly, is_same};
use crate::faults::Quirk;
use crate::magento;
use crate::world::{Sent, World};

/// Whether the profile has had this value, and an update of ours has written the one that is there now.
pub fn was_value(world: &World, sent: &Sent, path: &str, now: Option<&Value>) -> bool {
    let Some(customer) = sent.replaces().map(|customer| &world.customers[customer]) else { return false };
    customer.past.iter().any(|(_, past)| {
        let past = if world.is_magento { &magento::plain(past) } else { past };
        let then = fields(past).get(path).copied();
        // Nothing may be written as null.
        then == now || then.is_none_or(is_empty) && now.is_none_or(is_empty)
    })
}

/// Whether the profile has had this address, and has it no more.
pub fn was_there(world: &World, sent: &Sent, address: &Value) -> bool {
    let (Some(customer), Some(wanted)) = (sent.replaces(), content(address)) else { return false };
    let has = |past: &crate::customers::Stored| {
        addresses(past).filter_map(content).any(|past| {
            // The service stores what stands for nothing in its own way.
            past.iter().all(|(name, value)| wanted.get(name).is_none_or(|wanted| wanted == value))
                && wanted.contains_key("street")
        })
    };
    world.customers[customer].past.iter().any(|(_, past)| has(past))
}

/// Whether the value of this path is one that what is undone did not write: the update, or none of the records of the batch.
pub fn undoes_another(
    world: &World,
    sent: &Sent,
    undo: &Undo,
    (path, was): (&str, Option<&Value>),
) -> Option<String> {
    let customer = sent.replaces()?;
    let tags = match undo {
        Undo::Batch(tags) => &tags[..],
        Undo::Of(_, tag, _) => std::slice::from_ref(tag),
        Undo::All(_) => return None,
    };
    // The parts of a region go back together, also one that was not there.
    if was.is_none() && path.contains("region") {
        return None;
    }
    let what = || format!("it sets back {path}, whose value {was:?} what it undoes did not write");
    (!was_written(world, customer, tags, path, was)).then(what)
}

/// Whether a record of a batch has added an address.
pub fn is_of_batch(world: &World, creator: Option<Writer>, tags: &[u32]) -> bool {
    match creator {
        Some(Writer::Ours(request)) if is_of(world, request, tags) => true,
        // A later update of ours gave it another id.
        Some(Writer::Ours(_) | Writer::Service) => world.began_with == Quirk::Renumbers,
        _ => false,
    }
}

fn is_of(world: &World, request: usize, tags: &[u32]) -> bool {
    world.requests[request].tag.is_some_and(|tag| tags.contains(&tag))
}

/// Whether this path has got this value from a record of a batch. Blanks around a text do not count: a later write, or an old
/// replica, that differs in nothing else shows what was written.
fn was_written(world: &World, customer: usize, tags: &[u32], path: &str, value: Option<&Value>) -> bool {
    let customer = &world.customers[customer];
    let is_it = |(writer, at): &(Writer, std::time::Duration)| {
        let profile = plain(world, customer.at(*at));
        let now = fields(&profile).get(path).copied();
        let is_same = is_nearly(now, value) || now.is_none_or(is_empty) && value.is_none_or(is_empty);
        is_of_batch(world, Some(*writer), tags) && is_same
    };
    customer.writers.get(path).is_some_and(|writers| writers.iter().any(is_it))
}

/// The fields that say where an address is: they go back together.
const PLACE: [&str; 6] = ["street", "city", "postcode", "country_id", "region", "region_id"];

/// What records of a batch have changed in a profile that still is so in one that was read, and that a PUT which undoes them does
/// not set back. Only what is plain is looked at: each record has one PUT, which took effect once.
pub fn left_standing(
    world: &World,
    customer: usize,
    tags: &[u32],
    (shown, after): (&Stored, &Stored),
) -> Option<String> {
    // What a person has noted as done is left, which the plan says.
    let is_marked = |sent: &Sent| sent.tag.is_some_and(|tag| world.marked.contains(&tag));
    let is_own = |(number, sent): &(usize, &Sent)| {
        sent.replaces() == Some(customer) && is_of(world, *number, tags) && !is_marked(sent)
    };
    let puts: Vec<(usize, &Sent)> = world.requests.iter().enumerate().filter(is_own).collect();
    let is_plain = |(number, sent): &(usize, &Sent)| {
        world.effects.iter().filter(|effect| effect.request == *number).count() == 1
            && puts.iter().filter(|(_, other)| other.tag == sent.tag).count() == 1
    };
    if !puts.iter().all(is_plain) {
        return None;
    }
    let mut changes: Vec<(String, Value, Value)> = Vec::new();
    let mut last = BTreeMap::new();
    for (_, sent) in &puts {
        let (found, body) = (sent.shown.as_ref()?, sent.body["customer"].as_object()?);
        let before = plain(world, &found.profile);
        let merged = with_kept(world, plain(world, body), &before);
        let (old, new) = (fields(&before), fields(&merged));
        last = new.iter().map(|(path, value)| (path.clone(), (*value).clone())).collect();
        let changed = new.iter().filter_map(|(path, value)| {
            let from = *old.get(path)?;
            // What was not there cannot be removed; blanks around a text do not count.
            let is_change = !is_nearly(Some(from), Some(value)) && !is_empty(from);
            is_change.then(|| (path.clone(), from.clone(), (*value).clone()))
        });
        changes.extend(changed.filter(|(path, ..)| path != "updated_at" && !path.ends_with(DEFAULT)));
    }
    let (now, then) = (fields(shown), fields(after));
    let is_once = |path: &String| changes.iter().filter(|(other, ..)| other == path).count() == 1;
    let was = |path: &String| changes.iter().find(|(other, ..)| other == path).map(|(_, from, _)| from);
    // Nothing of a place goes back where a part of it is neither as it was written nor as it was before.
    let is_moved = |path: &str| {
        let Some((address, name)) = path.split_once('.') else { return false };
        let is_other = |name: &str| {
            let path = format!("{address}.{name}");
            let there = now.get(&path).copied();
            let is_back = was(&path).is_some_and(|was| is_nearly(there, Some(was)));
            !is_nearly(there, last.get(&path)) && !is_back
        };
        PLACE.contains(&name) && PLACE.iter().any(|name| is_other(name))
    };
    let stands = |(path, from, to): &&(String, Value, Value)| {
        is_once(path)
            && !is_moved(path)
            && is_same(now.get(path).copied(), Some(to))
            && !is_nearly(then.get(path).copied(), Some(from))
            // With the whole address.
            && then.contains_key(path)
    };
    let (path, from, to) = changes.iter().find(stands)?;
    Some(format!("{path} still is {to}, as the batch wrote it, and is not set back to {from}"))
}
