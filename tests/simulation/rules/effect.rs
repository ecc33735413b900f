//! What is checked at the moment a PUT takes effect.

use serde_json::Value;

use super::{Rule, excuse};
use crate::action::Action;
use crate::customers::{Stored, Writer, fields, has_twins, ids, is_nearly};
use crate::magento;
use crate::world::{OutOfReach, World};

/// Checks what request `number` makes of the profile of a customer; `added` are the ids of new addresses.
pub fn check(
    world: &mut World,
    number: usize,
    (customer, is_copy): (usize, bool),
    before: &Stored,
    after: &Stored,
    added: &[i64],
) {
    let mut found = Vec::new();
    overwritten(world, number, customer, (before, after), &mut found);
    found.extend(twice(world, number, customer, (before, after), added));
    let is_restore = matches!(action(world, number), Some(Action::Restore(_)));
    if is_restore {
        world.checks(Rule::Twins);
    }
    if is_restore && !has_twins(before) && has_twins(after) {
        found.push((Rule::Twins, None, "it adds an address that is there already".to_owned()));
    }
    let run = world.requests[number].run;
    for (rule, other, what) in found {
        let excuse = match other {
            _ if is_copy => Some(OutOfReach::Doubled),
            Some(other) => excuse::overwrites(world, number, other),
            None => None,
        };
        if let Some(excuse) = excuse {
            world.count(excuse);
        } else {
            let requests = [Some(number), other].into_iter().flatten();
            let tags: Vec<u32> = requests.filter_map(|request| world.requests[request].tag).collect();
            world.broke_of(rule, run, Some(number), &tags, what);
        }
    }
}

fn action(world: &World, request: usize) -> Option<&Action> {
    world.actions.get(&world.requests[request].tag?)
}

/// A rule, the request whose change is concerned, and what happened.
type Found = (Rule, Option<usize>, String);

/// Changes that this one overwrites without having been shown them.
fn overwritten(
    world: &mut World,
    number: usize,
    customer: usize,
    (before, after): (&Stored, &Stored),
    found: &mut Vec<Found>,
) {
    let sent = &world.requests[number];
    let shown = sent.shown.as_ref().map(|shown| plain(world, &shown.profile)).unwrap_or_default();
    let state = &world.customers[customer];
    let is_ours = |(writer, _): &(Writer, std::time::Duration)| matches!(writer, Writer::Ours(_));
    if state.writers.values().flatten().any(is_ours) {
        world.checks(Rule::OwnOverwrite);
    }
    let mut foreign = 0;
    for id in ids(before).into_iter().filter(|id| !ids(after).contains(id) && !ids(&shown).contains(id)) {
        match state.creators.get(&id) {
            Some(Writer::Ours(other)) if is_of_another(world, number, *other) => {
                let what =
                    format!("it removes address {id} of request {other}, which its read had not shown");
                found.push((Rule::OwnOverwrite, Some(*other), what));
            }
            _ => foreign += 1,
        }
    }
    let (before, after) = (plain(world, before), plain(world, after));
    let (old, new, shown_fields) = (fields(&before), fields(&after), fields(&shown));
    let (mut third, mut alike) = (0, 0);
    for (path, was) in &old {
        let id = path.split_once('.').and_then(|(id, _)| id.parse().ok());
        if new.get(path) == Some(was)
            || path == "updated_at"
            || id.is_some_and(|id| !ids(&after).contains(&id))
        {
            continue;
        }
        // A default that is not there is none.
        let is_flag = path.ends_with(".default_billing") || path.ends_with(".default_shipping");
        let is_none = |flag: Option<&Value>| flag.is_none_or(|flag| flag.is_null() || *flag == false);
        let now_shown = shown_fields.get(path).copied();
        let was_shown = now_shown == Some(*was) || is_flag && is_none(now_shown) && is_none(Some(*was));
        match state.writer_at(path, world.now().max(sent.at)) {
            Some((Writer::Ours(other), _))
                if !was_shown
                    && is_of_another(world, number, other)
                    && is_third(world, customer, number, path, now_shown) =>
            {
                third += 1;
            }
            Some((Writer::Ours(other), _))
                if is_undone(world, number, other, path, new.get(path).copied()) => {}
            Some((Writer::Ours(other), _))
                if !was_shown && is_of_another(world, number, other) && is_nearly(now_shown, Some(was)) =>
            {
                alike += 1;
            }
            Some((Writer::Ours(other), _)) if !was_shown && is_of_another(world, number, other) => {
                let what = format!("it undoes {path} of request {other}, which its read had not shown");
                found.push((Rule::OwnOverwrite, Some(other), what));
            }
            Some((Writer::Foreign, at)) if was_shown => {
                world.checks(Rule::CorrectionUndone);
                let shown_at = sent.shown.as_ref().map_or(sent.at, |shown| shown.at);
                // What this record had done was corrected, and the correction was seen.
                let is_earlier = |effect: &&crate::world::Effect| {
                    let other = &world.requests[effect.request];
                    other.run == sent.run && other.replaces() == Some(customer) && effect.at < at
                };
                if at <= shown_at
                    && sent.tag.is_some_and(|tag| world.effects_of(tag).any(|effect| is_earlier(&effect)))
                {
                    let what = format!("it is repeated and undoes the correction of {path}");
                    found.push((Rule::CorrectionUndone, None, what));
                }
            }
            Some((Writer::Foreign, _)) => foreign += 1,
            _ => {}
        }
    }
    (0..foreign).for_each(|_| world.count(OutOfReach::ForeignLost));
    (0..third).for_each(|_| world.count(OutOfReach::Indistinguishable));
    (0..alike).for_each(|_| world.count(OutOfReach::Alike));
}

/// A profile in the one form in which a service's bodies can be compared.
fn plain(world: &World, profile: &Stored) -> Stored {
    if world.is_magento { magento::plain(profile) } else { profile.clone() }
}

/// Whether a restore sets a field back to what the update of `other` had found: it was asked to.
fn is_undone(world: &World, number: usize, other: usize, path: &str, new: Option<&Value>) -> bool {
    let found = world.requests[other].shown.as_ref().map(|shown| plain(world, &shown.profile));
    matches!(action(world, number), Some(Action::Restore(_)))
        && found.is_some_and(|found| fields(&found).get(path).copied() == new)
}

/// Whether a read shows a value of a field that no request of ours has ever found and changed: an old one from a replica that lags
/// behind, or a new one of somebody else.
fn is_third(world: &World, customer: usize, number: usize, path: &str, shown: Option<&Value>) -> bool {
    let Some(shown) = shown else { return false };
    let at = |profile: &Stored| fields(&plain(world, profile)).get(path).map(|value| (*value).clone());
    let mut ours = world.requests[..number].iter().filter(|sent| sent.replaces() == Some(customer));
    !ours.any(|sent| {
        let found = sent.shown.as_ref().and_then(|found| at(&found.profile));
        found.as_ref() == Some(shown) && sent.body["customer"].as_object().and_then(at) != found
    })
}

/// Whether `other` is of another record, and nobody accepted that one of the two may come late.
fn is_of_another(world: &World, number: usize, other: usize) -> bool {
    number != other
        && world.requests[number].tag != world.requests[other].tag
        && !excuse::is_accepted(world, number, other)
}

/// An address of this record that is there already, as it was sent, and stays.
fn twice(
    world: &World,
    number: usize,
    customer: usize,
    (before, after): (&Stored, &Stored),
    added: &[i64],
) -> Option<Found> {
    let state = &world.customers[customer];
    if added.is_empty() || matches!(action(world, number), Some(Action::Restore(_))) {
        return None;
    }
    ids(before).into_iter().filter(|id| ids(after).contains(id)).find_map(|id| {
        let Some(Writer::Ours(other)) = state.creators.get(&id) else { return None };
        let is_same = world.requests[*other].tag == world.requests[number].tag;
        if !is_same || state.was_edited(id) || excuse::is_accepted(world, number, *other) {
            return None;
        }
        Some((Rule::Twice, Some(*other), format!("it adds the address {id} of request {other} once more")))
    })
}
