//! Worlds in which nothing goes wrong, and the end of all others: everything comes to an end.

use std::time::Duration;

use super::Rule;
use super::goods::{differing as differing_goods, fields_of};
use super::looked;
use super::planned::differing;
use crate::action::{Action, Undo};
use crate::customers::{Stored, Writer, fields};
use crate::faults::Observed;
use crate::goods::{self, Scope};
use crate::world::{Changed, Reported, Run, Sent, World};

/// Checks a run of a world without faults, edits, deaths and lag.
pub fn check_calm(world: &mut World, run: usize) {
    let ended = world.runs[run].clone();
    // Somebody has cut its journal.
    if ended.journal.as_ref().is_some_and(|journal| world.cut.contains(journal)) {
        return;
    }
    let mut broken = Vec::new();
    let said: Vec<Reported> = world.reported.iter().filter(|said| said.run == run).cloned().collect();
    for (tag, customer) in &ended.records {
        if may_be_refused(world, run, *tag, *customer) {
            continue;
        }
        world.checks(Rule::Liveness);
        let what = match said.iter().find(|said| said.tag == *tag) {
            None if ended.is_part => continue,
            None => format!("nothing is said of record {tag}, with exit code {:?}", ended.code),
            Some(said) if !said.is_fine() => format!("nothing was wrong, and {said:?}"),
            Some(said) if said.verified == Some(false) => format!("{said:?} is not verified"),
            Some(_) => continue,
        };
        broken.push((*tag, what));
    }
    for (tag, what) in broken {
        world.broke_of(Rule::Liveness, run, None, &[tag], what);
    }
}

/// Checks the last run of a command, after everything was made good.
pub fn check_healed(world: &mut World, run: usize) {
    let ended = world.runs[run].clone();
    let mut broken = Vec::new();
    // Customers of whom an earlier record cannot be done: later ones wait for somebody to look.
    let mut waiting = Vec::new();
    for (tag, customer) in &ended.records {
        world.checks(Rule::Healing);
        let said = world.reported.iter().find(|said| said.run == run && said.tag == *tag);
        // A record of exit 9 is done, and somebody has to look.
        let is_fine = said.is_some_and(|said| said.is_fine() || said.kind.as_deref() == Some("mismatch"));
        // Another part has it, of which `check_parts` speaks.
        let is_elsewhere = ended.is_part && said.is_none();
        if is_fine || is_elsewhere || waiting.contains(customer) {
            continue;
        }
        if may_be_refused(world, run, *tag, *customer)
            || said.is_some_and(|said| was_refused(world, run, said) || was_decided(world, run, said))
        {
            waiting.push(*customer);
        } else {
            let what = format!("record {tag} does not come to an end: {said:?}, exit code {:?}", ended.code);
            broken.push((*tag, what));
        }
    }
    for (tag, what) in broken {
        world.broke_of(Rule::Healing, run, None, &[tag], what);
    }
}

/// Checks that each record of a command that was run in parts is in one of them; `run` is one of its runs.
pub fn check_parts(world: &mut World, run: usize) {
    let (command, records) = (world.runs[run].command, world.runs[run].records.clone());
    for (tag, _) in records {
        let said = world.reported.iter().filter(|said| said.tag == tag);
        let runs = said.map(|said| &world.runs[said.run]).filter(|run| run.command == command);
        let journals: std::collections::BTreeSet<_> = runs.map(|run| run.journal.clone()).collect();
        if journals.len() != 1 {
            let what = format!("record {tag} is reported by {} parts", journals.len());
            world.broke(Rule::Partition, run, None, what);
        }
    }
}

/// Whether a refusal repeats what somebody has answered to a request of this command.
fn was_refused(world: &World, run: usize, said: &Reported) -> bool {
    let command = world.runs[run].command;
    let is_refusal = |sent: &crate::world::Sent| {
        let status = sent.heard.as_ref().and_then(|heard| heard.status).unwrap_or_default();
        world.runs[sent.run].command == command && matches!(status, 300..=404 | 409 | 422 | 501)
    };
    matches!(said.kind.as_deref(), Some("refused" | "auth")) && world.requests.iter().any(is_refusal)
}

/// Whether a record failed for good since something else than the service answered it, or the service did with what cannot be
/// read, while others of the command went through.
fn was_decided(world: &World, run: usize, said: &Reported) -> bool {
    let command = world.runs[run].command;
    let is_odd = |sent: &Sent| {
        let is_odd = |observed| {
            matches!(observed, Observed::Page(200) | Observed::NoList | Observed::Error(_))
                || matches!(observed, Observed::Status(300..=500, _))
        };
        world.runs[sent.run].command == command && sent.heard.as_ref().is_some_and(|it| is_odd(it.observed))
    };
    let passed = |other: &Reported| {
        other.tag != said.tag && world.runs[other.run].command == command && other.is_fine()
    };
    said.applied == "no"
        && matches!(said.kind.as_deref(), Some("guard" | "unavailable" | "refused" | "auth"))
        && world.requests.iter().any(is_odd)
        && world.reported.iter().any(passed)
}

/// Whether a profile was changed by something else than these records.
fn was_changed_by_others(world: &World, customer: usize, tags: [u32; 2]) -> bool {
    let is_other = |request: &crate::world::Sent| {
        request.replaces() == Some(customer) && request.tag.is_none_or(|tag| !tags.contains(&tag))
    };
    let mut writers = world.customers[customer].writers.values().flatten();
    world.effects.iter().any(|effect| is_other(&world.requests[effect.request]))
        || writers.any(|(writer, _)| matches!(writer, Writer::Foreign))
}

/// The same of a record of an order or of a product.
fn may_refuse_goods(world: &World, run: usize, tag: u32, number: usize) -> bool {
    let is_refused = |sent: &Sent| {
        let status = sent.reply.as_ref().map_or(200, |(status, _)| *status);
        sent.tag == Some(tag) && (400..500).contains(&status)
    };
    if world.requests.iter().any(is_refused) {
        return true;
    }
    let kept = world.kept_of(tag, number);
    // Others have changed what a plan expects.
    let scope = world.actions[&tag].thing(number).1.unwrap_or(Scope::All);
    // What an earlier run of the command was shown may have been older.
    let command = world.runs[run].command;
    let owner = world.actions[&tag].owner(number);
    let heard = world.requests.iter().filter(|sent| world.runs[sent.run].command == command);
    let heard = heard.filter_map(|sent| sent.heard.as_ref()).flat_map(|heard| &heard.goods);
    let heard = heard.filter(|(of, shown, _)| *of == owner && *shown == scope).map(|(.., stored)| stored);
    let states: Vec<&Stored> =
        looked::states(world, kept, world.runs[run].began).into_iter().chain(heard).collect();
    let is_outdated =
        |planned| states.iter().any(|state| differing_goods(planned, scope, None, state).is_some());
    // What an earlier record of a plan writes, the plan has reckoned with.
    let is_other = |(by, _): &(Writer, Duration)| match by {
        Writer::Ours(request) => world.runs[world.requests[*request].run].command != command,
        _ => true,
    };
    let has_others = !world.is_calm || kept.writers.values().flatten().any(is_other);
    let is_new = !matches!(world.actions[&tag], Action::Back(_));
    if is_new && has_others && world.planned.get(&tag).is_some_and(is_outdated) {
        return true;
    }
    if was_alone(world, run, tag, number) {
        return true;
    }
    match &world.actions[&tag] {
        // A sale would begin.
        Action::Value(Scope::View, ..) => goods::value_in(&kept.now, Scope::All, "special_price").is_some(),
        // It may not have been applied, or may be changed or undone since.
        Action::Back(back) => {
            let own: Vec<&Changed> = fields_of(world, &back.tags).collect();
            let state = fields(kept.at(world.runs[run].began));
            let stands = |it: &&Changed| state.get(&it.path).copied() == it.after.as_ref();
            let has_foreign = kept.writers.values().flatten().any(|(by, _)| *by == Writer::Foreign);
            !world.is_calm || has_foreign || own.is_empty() || !own.iter().all(stands)
        }
        _ => false,
    }
}

/// Whether the value of a store view was applied alone, before the value for all that its plan has reckoned with: it has
/// failed for good then.
fn was_alone(world: &World, run: usize, tag: u32, number: usize) -> bool {
    let Action::Value(Scope::View, code, _) = &world.actions[&tag] else { return false };
    let is_for_all = |(of, other): &&(u32, usize)| {
        *other == number && matches!(&world.actions[of], Action::Value(Scope::All, all, _) if all == code)
    };
    let Some((for_all, _)) = world.runs[run].records.iter().find(is_for_all) else { return false };
    let is_alone = |other: &&Run| {
        let only = other.only.and_then(|only| other.records.get(only - 1));
        other.command == world.runs[run].command && only.is_some_and(|(of, _)| *of == tag)
    };
    let mut alone = world.runs[..=run].iter().filter(is_alone);
    alone.any(|other| !world.effects_of(*for_all).any(|effect| effect.at <= other.began))
}

/// Whether what a record asks for cannot be done, or must not be, at some moment of a run.
fn may_be_refused(world: &World, run: usize, tag: u32, customer: usize) -> bool {
    let action = &world.actions[&tag];
    if action.is_of_goods() {
        return may_refuse_goods(world, run, tag, customer);
    }
    let (began, ended) = (world.runs[run].began, world.runs[run].ended.unwrap_or_default());
    let number = customer;
    let customer = &world.customers[number];
    let during = customer.past.iter().filter(|(since, _)| (began..=ended).contains(since));
    // What an earlier run was shown may have been old, or of somebody else.
    let command = world.runs[run].command;
    let of_command = world.requests.iter().filter(|sent| world.runs[sent.run].command == command);
    let heard = of_command.filter_map(|sent| sent.heard.as_ref()?.profile.as_ref());
    let states: Vec<_> = during.map(|(_, state)| state).chain([customer.at(began)]).chain(heard).collect();
    let has_effect = world.effects_of(tag).next().is_some();
    // The service has said no.
    let is_refused = |sent: &crate::world::Sent| {
        let status = sent.reply.as_ref().map_or(200, |(status, _)| *status);
        sent.tag == Some(tag) && (400..500).contains(&status)
    };
    if world.requests.iter().any(is_refused) {
        return true;
    }
    // Others, or an earlier record of the same plan, have changed what it changes.
    let is_expected = |planned| states.iter().all(|state| differing(planned, state, false).is_none());
    if !world.planned.get(&tag).is_none_or(is_expected) {
        return true;
    }
    match action {
        Action::Attribute(_) => world.effects_of(tag).any(|effect| effect.at <= began),
        Action::Item | Action::Ship | Action::Assign => false,
        Action::Remove(_, false) => true,
        Action::Add(_) => states.iter().any(|state| action.is_shown_by(state)),
        Action::Replace(kept, ..) => {
            let deletes = |state: &crate::customers::Stored| {
                crate::customers::ids(state).iter().filter(|id| !kept.contains(id)).count()
            };
            let is_allowed = |state| match action {
                Action::Replace(_, _, allowed) => deletes(state) == allowed.unwrap_or_default(),
                _ => false,
            };
            has_effect || states.iter().any(|state| !action.fits(state) || !is_allowed(state))
        }
        // An address that may not be deleted, or something that was changed since.
        Action::Restore(Undo::Of(_, updated, may_delete))
            if !may_delete
                && matches!(world.actions[updated], Action::Add(_) | Action::Replace(_, Some(_), _))
                || was_changed_by_others(world, number, [*updated, tag]) =>
        {
            true
        }
        // What others have changed of it since is not what the plan said is left.
        Action::Restore(Undo::Batch(_))
            if customer.writers.values().flatten().any(|(by, _)| *by == Writer::Foreign) =>
        {
            true
        }
        // There may be nothing to undo.
        Action::Restore(Undo::All(_) | Undo::Of(..) | Undo::Batch(_)) => {
            let is_update = |request: &crate::world::Sent| {
                request.replaces() == Some(number)
                    && world.runs[request.run].machine == world.runs[run].machine
                    && request.tag.is_some_and(|tag| !matches!(world.actions[&tag], Action::Restore(_)))
            };
            let machine = world.runs[run].machine;
            let is_forgotten = world.forgotten.iter().any(|(on, of, _)| (*on, *of) == (machine, number));
            is_forgotten || !world.effects.iter().any(|effect| is_update(&world.requests[effect.request]))
        }
        _ => states.iter().any(|state| !action.fits(state)),
    }
}
