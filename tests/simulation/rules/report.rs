//! What was said of records, compared with what took effect, once every late request has arrived.

use std::time::Duration;

use super::{Rule, goods};
use crate::action::Action;
use crate::call::Call;
use crate::customers::{Stored, fields, ids, is_nearly};
use crate::faults::{Observed, Quirk};
use crate::goods::Scope;
use crate::magento;
use crate::world::{Effect, Heard, OutOfReach, Owner, Reported, Run, Sent, World};

/// Checks all reports.
pub fn check(world: &mut World) {
    for said in world.reported.clone() {
        match said.applied.as_str() {
            "yes" => check_yes(world, &said),
            "no" => check_no(world, &said),
            "partial" => check_partial(world, &said),
            "unknown" => check_unknown(world, &said),
            _ => {}
        }
    }
    duplicates(world);
    overtaken(world);
}

/// Whether a call is one of those that a record takes.
type Part = Box<dyn Fn(&Call) -> bool>;

/// The calls that a record takes, in their order: one for most; two for a shipping with its payment, for an attribute that is assigned,
/// and for both addresses of an order. What is said of a record is said of all of them.
fn parts(world: &World, tag: u32) -> Vec<Part> {
    let part = |is_it: fn(&Call) -> bool| -> Part { Box::new(is_it) };
    match &world.actions[&tag] {
        Action::Ship if world.is_magento => {
            vec![part(|call| matches!(call, Call::Ship(_))), part(|call| matches!(call, Call::Pay(_)))]
        }
        Action::Attribute(true) => {
            vec![part(|call| matches!(call, Call::Create)), part(|call| matches!(call, Call::Assign(_)))]
        }
        Action::Correct(sides, ..) => sides
            .iter()
            .map(|side| {
                let side = *side as i64;
                let part: Part =
                    Box::new(move |call| matches!(call, Call::SaveAddress(_, id) if id % 10 == side));
                part
            })
            .collect(),
        Action::Back(..) => vec![part(|call| call.is_write() && !matches!(call, Call::Comment(_)))],
        _ => vec![part(Call::is_write)],
    }
}

/// Which parts of a record have taken effect by a moment.
fn effects_by(world: &World, tag: u32, at: Duration) -> Vec<bool> {
    let is_there = |part: &Part| {
        let mut effects = world.effects_of(tag).filter(|effect| effect.at <= at);
        effects.any(|effect| part(&world.requests[effect.request].call))
    };
    parts(world, tag).iter().map(is_there).collect()
}

/// Whether a profile has what a record asks for. Of a list that is replaced those go that its read has shown; others may have
/// come since.
pub fn is_done_in(world: &World, tag: u32, profile: &Stored) -> bool {
    let action = &world.actions[&tag];
    let Action::Replace(kept, ..) = action else { return action.is_shown_by(profile) };
    let shown =
        world.requests.iter().filter(|sent| sent.tag == Some(tag)).filter_map(|sent| sent.shown.as_ref());
    let mut gone = shown.flat_map(|shown| ids(&shown.profile)).filter(|id| !kept.contains(id));
    action.is_seen_in(profile) && gone.all(|id| !ids(profile).contains(&id))
}

fn check_yes(world: &mut World, said: &Reported) {
    world.checks(Rule::FalseYes);
    let Reported { run, tag, at, reason, .. } = said;
    let action = world.actions[tag].clone();
    let customer = customer_of(world, *run, *tag);
    if effects_by(world, *tag, *at).contains(&false) {
        let mut past = world.kept_of(*tag, customer).past.iter().filter(|(since, _)| since <= at);
        // A run that was killed before it said so may have found that nothing had to be changed.
        let was_sent = world.requests.iter().any(|sent| sent.tag == Some(*tag) && sent.call.is_write());
        let was_found = reason == "done earlier" && !was_sent;
        let was_shown = past.any(|(_, past)| match &action {
            Action::Back(back) => goods::is_undone_in(world, &back.tags, past),
            Action::Restore(_) => has_what_was_sent(world, *run, past),
            _ => is_done_in(world, *tag, past) || was_found && action.is_alike_in(past),
        });
        // What an earlier run has said is judged where it was said.
        let was_said = |other: &Reported| {
            let is_first = other.run < *run && other.applied == "yes" && other.reason != reason.as_str();
            other.tag == *tag && (other.reason == "unchanged" || is_first)
        };
        if reason == "done earlier" && world.reported.iter().any(was_said) {
            return;
        }
        // Somebody else did the same: nobody can tell.
        if was_shown {
            return world.count(OutOfReach::Indistinguishable);
        }
        let what = format!("record {tag} is reported as applied ({reason})");
        return world.broke_of(Rule::FalseYes, *run, None, &[*tag], what);
    }
    if matches!(action, Action::Item) && said.verified == Some(true) {
        let effect = world.effects_of(*tag).map(|effect| effect.at).min();
        let is_read = |sent: &Sent| {
            let is_cart = sent.run == *run && matches!(sent.call, Call::Items(_) | Call::Cart(_));
            let is_answer = |heard: &Heard| heard.observed == Observed::Answer && heard.at <= *at;
            is_cart && sent.processed >= effect && sent.heard.as_ref().is_some_and(is_answer)
        };
        if !world.requests.iter().any(is_read) {
            let what = format!("record {tag} is reported as verified, and its cart was not read");
            world.broke_of(Rule::FalseYes, *run, None, &[*tag], what);
        }
    }
    // What a profile shows is compared by ids here.
    let has_ids = world.began_with != Quirk::Renumbers;
    if said.verified == Some(true) && has_ids && reason != "done earlier" && said.kind.is_none() {
        let is_seen = |profile: &_| matches!(action, Action::Restore(_)) || is_verified_by(&action, profile);
        let heard =
            world.requests.iter().filter(|sent| sent.run == *run).filter_map(|sent| sent.heard.as_ref());
        let mut profiles = heard.filter(|heard| heard.at <= *at).filter_map(|heard| heard.profile.as_ref());
        let is_shown = match &action {
            // Each address by a read after its own call.
            Action::Back(back) => {
                let is_whole = |stored: &_| goods::is_undone_in(world, &back.tags, stored);
                heard_goods(world, *run, *at).any(is_whole)
                    || goods::fields_of(world, &back.tags).all(|changed| {
                        let stands =
                            |stored| fields(stored).get(&changed.path).copied() == changed.after.as_ref();
                        heard_goods(world, *run, *at).any(|stored| !stands(stored))
                    })
            }
            // Each address by a read after its own call.
            Action::Correct(sides, field, value) => sides.iter().all(|side| {
                let one = Action::Correct(vec![*side], field, value.clone());
                heard_goods(world, *run, *at).any(|stored| one.is_shown_by(stored))
            }),
            Action::Value(..) => heard_goods(world, *run, *at).any(is_seen),
            _ => !action.is_of_profile() || profiles.any(is_seen),
        };
        if !is_shown {
            let what = format!("record {tag} is reported as verified, and was not seen");
            world.broke_of(Rule::FalseYes, *run, None, &[*tag], what);
        }
    }
}

/// The orders and the products that a run was shown by a moment.
fn heard_goods(world: &World, run: usize, at: Duration) -> impl Iterator<Item = &Stored> {
    let heard = world.requests.iter().filter(move |sent| sent.run == run);
    let heard = heard.filter_map(|sent| sent.heard.as_ref()).filter(move |heard| heard.at <= at);
    heard.flat_map(|heard| heard.goods.iter().map(|(.., stored)| stored))
}

/// Whether a read verifies what took effect. Blanks around a text need not be shown.
pub fn is_verified_by(action: &Action, profile: &Stored) -> bool {
    let Action::Set(address, name, value) = action else { return action.is_seen_in(profile) };
    let path = address.map_or_else(|| (*name).to_owned(), |id| format!("{id}.{name}"));
    action.is_alike_in(profile) || is_nearly(fields(profile).get(&path).copied(), Some(value))
}

/// Whether a state has all that the last PUT of a run asked for.
fn has_what_was_sent(world: &World, run: usize, state: &Stored) -> bool {
    let is_put = |sent: &&Sent| sent.run == run && sent.replaces().is_some();
    let Some(sent) = world.requests.iter().rev().find(is_put) else {
        // Addresses that were removed by calls of their own may have been gone before.
        let of_run = world.requests.iter().filter(|sent| sent.run == run);
        let removed =
            of_run.filter_map(|sent| if let Call::Remove(_, id) = sent.call { Some(id) } else { None });
        let removed: Vec<i64> = removed.collect();
        return !removed.is_empty() && removed.iter().all(|id| !ids(state).contains(id));
    };
    let Some(body) = sent.body["customer"].as_object() else { return false };
    let plain = |profile: &Stored| if world.is_magento { magento::plain(profile) } else { profile.clone() };
    let (body, state) = (plain(body), plain(state));
    let (wanted, now) = (fields(&body), fields(&state));
    wanted.iter().all(|(path, value)| path == "updated_at" || now.get(path) == Some(value))
}

fn check_no(world: &mut World, said: &Reported) {
    check_unchanged(world, said);
    world.checks(Rule::FalseNo);
    let Reported { run, tag, at, reason, .. } = said;
    let is_batch = world.runs[*run].is_batch;
    // A single command speaks of itself only, a batch of all its runs.
    let speaks_of = |request: usize| {
        let sent = &world.requests[request];
        let is_before_restart = world.runs[sent.run + 1..=(*run).max(sent.run)]
            .iter()
            .any(|later| later.is_restarted && later.command == world.runs[*run].command);
        sent.at <= *at && (sent.run == *run || is_batch && reason != "unchanged" && !is_before_restart)
    };
    let effect = world.effects_of(*tag).find(|effect| speaks_of(effect.request)).copied();
    if let Some(Effect { request, .. }) = effect {
        let what = format!("record {tag} is reported as not applied ({reason})");
        world.broke(Rule::FalseNo, *run, Some(request), what);
    }
}

/// Where nothing had to be changed, a read has shown that it is so already.
fn check_unchanged(world: &mut World, said: &Reported) {
    let action = world.actions[&said.tag].clone();
    if said.reason != "unchanged"
        || !matches!(action, Action::Set(..) | Action::Correct(..) | Action::Value(..))
    {
        return;
    }
    let of_run = world.requests.iter().filter(|sent| sent.run == said.run);
    let heard = of_run.filter_map(|sent| sent.heard.as_ref()?.profile.as_ref());
    // A profile that is given in place of a read is an earlier one.
    let kept = world.kept_of(said.tag, customer_of(world, said.run, said.tag));
    let past = kept.past.iter().map(|(_, past)| past).filter(|_| !action.is_of_goods());
    let heard = heard.chain(heard_goods(world, said.run, said.at));
    if !heard.chain(past).any(|profile| action.is_alike_in(profile)) {
        let what = format!("record {} is reported as unchanged, and no read showed it", said.tag);
        world.broke_of(Rule::FalseYes, said.run, None, &[said.tag], what);
    }
}

/// What was never sent is not unknown. After a death the program cannot know what left.
fn check_unknown(world: &mut World, said: &Reported) {
    let Reported { run, tag, reason, .. } = said;
    let command = world.runs[*run].command;
    let is_first = !world.runs[..*run].iter().any(|run| run.command == command);
    let of_record = |sent: &Sent| sent.run == *run && sent.tag == Some(*tag) && sent.call.is_write();
    if is_first {
        world.checks(Rule::FalseUnknown);
    }
    if is_first && !world.requests.iter().any(of_record) {
        let what = format!("record {tag} is reported as unknown ({reason}), and nothing was sent");
        world.broke_of(Rule::FalseUnknown, *run, None, &[*tag], what);
    }
}

fn check_partial(world: &mut World, said: &Reported) {
    let Reported { run, tag, at, .. } = said;
    let of_run: Vec<Call> = world
        .effects_of(*tag)
        .map(|effect| &world.requests[effect.request])
        .filter(|sent| sent.run == *run)
        .map(|sent| sent.call.clone())
        .collect();
    let by_then = effects_by(world, *tag, *at);
    if world.actions[tag].is_of_profile() && by_then.contains(&true) {
        return;
    }
    // A part that comes later was not told.
    let later: Vec<bool> = parts(world, *tag).iter().map(|part| of_run.iter().any(part)).collect();
    let (is_first, is_last) = (by_then.first() == Some(&true), later.last() == Some(&true));
    // Of an undo a part may be left that was changed since.
    let is_last = is_last && !matches!(world.actions[tag], Action::Back(..));
    if (!is_first || is_last) && !world.runs[*run].is_batch {
        let what = format!("record {tag} is reported as partial: first call {is_first}, last {is_last}");
        let rule = if is_last { Rule::FalseNo } else { Rule::FalseYes };
        world.broke_of(rule, *run, None, &[*tag], what);
    }
}

/// Whose profile or cart a record of a run is about.
pub fn customer_of(world: &World, run: usize, tag: u32) -> usize {
    world.runs[run].records.iter().find(|(of, _)| *of == tag).map_or(0, |(_, customer)| *customer)
}

/// Items, attributes and shippings that took effect twice without being asked for again.
fn duplicates(world: &mut World) {
    let mut broken = Vec::new();
    for (tag, action) in &world.actions {
        if action.is_of_profile() {
            continue;
        }
        let has = |sent: &&Sent| sent.tag == Some(*tag) && sent.call.is_write();
        if world.requests.iter().filter(has).count() > 1 {
            world.checks(Rule::Twice);
        }
        let mut effects: Vec<Effect> = world.effects_of(*tag).copied().collect();
        effects.sort_by_key(|effect| effect.request);
        for pair in effects.windows(2) {
            let (first, second) = (&world.requests[pair[0].request], &world.requests[pair[1].request]);
            let run = &world.runs[second.run];
            // Running a single command again asks for it again.
            let since = first.run + 1..(second.run + 1).max(first.run + 1);
            let is_restarted =
                world.runs[since].iter().any(|later| later.is_restarted && later.command == run.command);
            let is_asked_again = first.run != second.run && (run.may_repeat || is_restarted || !run.is_batch);
            // Saving the same address a second time changes nothing, where the payment failed.
            let is_first_of_two =
                world.is_magento && first.run != second.run && matches!(first.call, Call::Ship(_));
            let is_first_of_two = is_first_of_two || matches!(first.call, Call::Pay(_) | Call::Assign(_));
            if first.call != second.call || is_asked_again || is_first_of_two {
                continue;
            }
            if pair[1].is_copy {
                broken.push(None);
            } else {
                let what = format!(
                    "record {tag} was applied by requests {} and {}",
                    pair[0].request, pair[1].request
                );
                broken.push(Some((second.run, pair[1].request, what)));
            }
        }
    }
    for found in broken {
        match found {
            Some((run, request, what)) => world.broke(Rule::Twice, run, Some(request), what),
            None => world.count(OutOfReach::Doubled),
        }
    }
}

/// What is set: a thing, or one scope of it.
type Key = (Owner, Option<Scope>);

/// Shippings and updates that took effect after a later record of their command had set the same cart or profile.
fn overtaken(world: &mut World) {
    let mut broken = Vec::new();
    let mut latest: Vec<(u32, Key, (u32, usize))> = Vec::new();
    let is_of_choice = |run: &Run| run.may_repeat || run.only.is_some();
    for effect in world.effects.iter().filter(|effect| !effect.is_copy) {
        let sent = &world.requests[effect.request];
        let owner = match sent.call {
            Call::Ship(cart) => Some(Owner::Customer(cart)),
            Call::Put(_) | Call::SaveAddress(..) | Call::SetValues(..) => sent.sets().map(|(owner, _)| owner),
            _ => None,
        };
        let (Some(owner), Some(tag)) = (owner, sent.tag) else { continue };
        // A record of an undo is about one scope of a product.
        let is_undo = matches!(world.actions[&tag], Action::Back(_));
        let key = (owner, sent.sets().filter(|_| is_undo).map(|(_, scope)| scope));
        let command = world.runs[sent.run].command;
        // Once somebody has asked for it again, a request that was given up may still arrive.
        if !world.runs[sent.run].is_batch
            || world
                .runs
                .iter()
                .any(|run| is_of_choice(run) && run.command == command && run.began < effect.at)
        {
            continue;
        }
        if latest.iter().any(|(of, other, _)| *of == command && *other == key) {
            world.checks(Rule::Order);
        }
        // As the inputs of both runs have them: rows may have been sorted in between.
        let place =
            |run: usize, wanted: u32| world.runs[run].records.iter().position(|(of, _)| *of == wanted);
        // A person may have given a record that was not sent to another customer meanwhile.
        let is_new = !world.runs.iter().any(|run| {
            run.command == command
                && run.began < world.runs[sent.run].began
                && run.records.iter().any(|(of, _)| *of == tag)
        });
        if is_new {
            latest.push((command, key, (tag, sent.run)));
            continue;
        }
        let comes_after = |(later, of): (u32, usize)| {
            let is_behind =
                |run| place(run, later).zip(place(run, tag)).is_some_and(|(later, own)| later > own);
            is_behind(sent.run) && is_behind(of)
        };
        let later =
            latest.iter().find(|(of, other, later)| *of == command && *other == key && comes_after(*later));
        if let Some((_, _, (later, _))) = later {
            let what = format!("record {tag} was applied after record {later} of the same key");
            broken.push((sent.run, effect.request, what));
        }
        latest.push((command, key, (tag, sent.run)));
    }
    for (run, request, what) in broken {
        world.broke(Rule::Order, run, Some(request), what);
    }
}
