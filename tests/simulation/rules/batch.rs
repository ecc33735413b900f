//! What a batch makes of its input as it was checked: each record is sent at most once, and none is left out.

use super::{Rule, excuse, report};
use crate::call::Call;
use crate::world::{Sent, World};

/// Why a write of a batch must not leave: its input had no such record when it was checked, or has sent it already.
pub fn not_checked(world: &World, number: usize) -> Option<String> {
    let sent = &world.requests[number];
    let (run, tag) = (&world.runs[sent.run], sent.tag?);
    if !run.is_batch || !sent.call.is_write() {
        return None;
    }
    let record = run.records.iter().position(|(of, _)| *of == tag);
    if let (Some(only), Some(record)) = (run.only, record)
        && record + 1 != only
    {
        return Some(format!("record {} is sent, with --only {only}", record + 1));
    }
    if record.is_none() {
        return Some(format!("record {tag} was not in the input that was checked"));
    }
    // The payment method is set again, an attribute assigned and an address removed again, until that is answered.
    if matches!(sent.call, Call::Pay(_) | Call::SetDefault(_) | Call::Assign(_) | Call::Remove(..)) {
        return None;
    }
    let is_applied = |effect: &crate::world::Effect| {
        let other = &world.requests[effect.request];
        other.run == sent.run && other.call == sent.call
    };
    world.effects_of(tag).any(is_applied).then(|| format!("record {tag} was applied by this run already"))
}

/// Why a record of a plan must not be sent: an earlier run has applied it.
pub fn applied_before(world: &World, sent: &Sent) -> Option<String> {
    let run = &world.runs[sent.run];
    let is_of_command = |other: usize| world.runs[other].command == run.command;
    let may_repeat = world.runs.iter().any(|other| other.command == run.command && other.may_repeat);
    if !run.is_plan || may_repeat || !sent.call.is_write() {
        return None;
    }
    let earlier = world.effects_of(sent.tag?).find(|effect| {
        let other = &world.requests[effect.request];
        // Of two addresses of an order of which one was corrected later, each has its comment.
        let is_same = !matches!(sent.call, Call::Comment(_)) || other.body == sent.body;
        other.run < sent.run && is_of_command(other.run) && other.call == sent.call && is_same
    })?;
    // The same shipping again changes nothing.
    (!matches!(sent.call, Call::Ship(_)))
        .then(|| format!("an earlier run has applied this record of the plan by request {}", earlier.request))
}

/// Checks a run that came to its end with exit code 0: no record of the input as it was checked was left out.
pub fn check(world: &mut World, run: usize) {
    let ended = &world.runs[run];
    // What a part has to do, only its report says.
    if ended.is_edited && !ended.is_part {
        world.checks(Rule::Input);
        let command = ended.command;
        let is_of_command = |tag: u32| {
            world
                .effects_of(tag)
                .any(|effect| world.runs[world.requests[effect.request].run].command == command)
        };
        let is_unchanged = |tag: u32| {
            world.reported.iter().any(|said| said.run == run && said.tag == tag && said.reason == "unchanged")
        };
        let says_done = |tag: u32, reason: Option<&str>| {
            world.reported.iter().any(|said| {
                said.run == run
                    && said.tag == tag
                    && said.applied == "yes"
                    && reason.is_none_or(|reason| said.reason == reason)
            })
        };
        // An earlier run may have found it as it is asked for, and sent nothing.
        let was_found = |tag: u32| {
            let was_sent = world.requests.iter().any(|sent| sent.tag == Some(tag) && sent.call.is_write());
            !was_sent && says_done(tag, Some("done earlier"))
        };
        // It was sent; that it was not applied, nobody could tell.
        let is_misled = |tag: u32| says_done(tag, None) && excuse::is_misled_about(world, tag);
        let is_there = |(tag, customer): &(u32, usize)| {
            is_of_command(*tag) || is_unchanged(*tag) || is_misled(*tag) || {
                let mut past = world.kept_of(*tag, *customer).past.iter();
                past.any(|(_, past)| {
                    report::is_done_in(world, *tag, past)
                        || was_found(*tag) && world.actions[tag].is_alike_in(past)
                })
            }
        };
        let missing: Vec<u32> =
            ended.records.iter().filter(|record| !is_there(record)).map(|(tag, _)| *tag).collect();
        if ended.code == Some(0) && !missing.is_empty() {
            world.broke(
                Rule::Input,
                run,
                None,
                format!("the records {missing:?} were left out, with exit code 0"),
            );
        }
    }
}
