//! What is checked when a run has come to its end.

use serde_json::Value;

use super::Rule;
use crate::action::Action;
use crate::call::Call;
use crate::customers::{DEFAULT, Stored, addresses, content, ids};
use crate::faults::{Observed, Quirk};
use crate::magento;
use crate::notation;
use crate::world::{Reported, Sent, World};

/// Checks how a run ended, by its exit code and the error on its standard error.
pub fn check(world: &mut World, run: usize, code: u8, error: &Value, counts: &[usize], is_outage: bool) {
    let said: Vec<Reported> = world.reported.iter().filter(|said| said.run == run).cloned().collect();
    let mut broken = Vec::new();
    world.checks(Rule::Once);
    world.checks(Rule::ExitCode);
    let was_refused =
        said.iter().all(|said| said.kind.is_some()) && world.runs[run].is_batch && said.is_empty();
    if !(was_refused && code != 0) {
        // One that is interrupted once it was done prints its result and the error.
        let most = if code == 130 { 2 } else { 1 };
        let least = usize::from(!world.runs[run].is_part);
        for (record, count) in counts.iter().enumerate().filter(|(_, count)| !(least..=most).contains(*count))
        {
            broken.push((Rule::Once, format!("record {} is reported {count} times: {error}", record + 1)));
        }
    }
    if let Some(what) = wrong_code(world, run, code, error, &said) {
        broken.push((Rule::ExitCode, what));
    }
    for said in &said {
        if let Some(what) = wrong_mismatch(world, run, said) {
            world.broke_of(Rule::Mismatch, run, None, &[said.tag], what);
        }
    }
    if world.began_with == Quirk::Notation && world.healing_since.is_none() {
        // No replica lags behind, and nobody else changes anything.
        for said in said.iter().filter(|said| said.reason.contains("an older profile")) {
            world.broke_of(
                Rule::Liveness,
                run,
                None,
                &[said.tag],
                format!("every read is of now, and {said:?}"),
            );
        }
    }
    if is_outage {
        world.checks(Rule::Outage);
        let unknown = unknown_since_last_answer(world, run, &said);
        if unknown > usize::from(world.runs[run].jobs) + 5 {
            broken.push((Rule::Outage, format!("{unknown} records are unknown")));
        }
    }
    for (rule, what) in broken {
        world.broke(rule, run, None, what);
    }
}

/// The codes of the kinds of errors (docs/exit-codes.md).
fn code_of(kind: &str) -> Option<u8> {
    let kinds =
        ["internal", "usage", "guard", "refused", "unavailable", "auth", "partial", "unknown", "mismatch"];
    if kind == "interrupted" {
        return Some(130);
    }
    let at = kinds.iter().position(|known| *known == kind)?;
    u8::try_from(at + 1).ok()
}

fn wrong_code(world: &World, run: usize, code: u8, error: &Value, said: &[Reported]) -> Option<String> {
    let kind = error["kind"].as_str();
    if kind.and_then(code_of) != (code != 0).then_some(code) {
        return Some(format!("exit code {code} with an error of kind {kind:?}"));
    }
    let sent = world.requests.iter().filter(|sent| sent.run == run && sent.call.is_write()).count();
    if said.is_empty() && matches!(code, 2 | 3) && sent > 0 {
        return Some(format!("exit code {code}, and {sent} requests were sent"));
    }
    let is_fine = said.iter().all(Reported::is_fine);
    if world.runs[run].is_batch {
        let of_kind =
            |code| said.iter().filter(|said| said.kind.as_deref().and_then(code_of) == Some(code)).count();
        let is_right = match code {
            0 => is_fine,
            8 => said.is_empty() || said.iter().any(|said| said.applied == "unknown"),
            9 => said.is_empty() || of_kind(9) > 0,
            1 | 6 | 130 => true,
            _ => !is_fine || said.is_empty(),
        };
        return (!is_right).then(|| format!("exit code {code} after {said:?}"));
    }
    let [said] = said else { return (code == 0).then(|| "exit code 0 without a result".to_owned()) };
    let is_right = match code {
        0 => is_fine,
        // What was refused may have been saved all the same, where no look can tell.
        4 if said.applied == "unknown" => was_refused(world, said),
        2..=6 => said.applied == "no",
        7 => said.applied == "partial" || said.applied == "unknown",
        8 => said.applied == "unknown",
        // What was refused and is shown all the same may be another's work.
        9 => matches!(said.applied.as_str(), "yes" | "unknown" | "partial"),
        _ => true,
    };
    (!is_right).then(|| format!("exit code {code} after {said:?}"))
}

/// Whether the service refused a write of a record, with a status after which some shops have saved all the same.
fn was_refused(world: &World, said: &Reported) -> bool {
    let is_of = |sent: &&Sent| sent.run == said.run && sent.tag == Some(said.tag) && sent.call.is_write();
    let status = |sent: &Sent| sent.heard.as_ref().and_then(|heard| heard.status);
    world.requests.iter().filter(is_of).filter_map(status).any(|status| matches!(status, 400..=501))
}

/// A loss that a read showed and that was not reported, or one that was reported where the last read shows everything.
fn wrong_mismatch(world: &World, run: usize, said: &Reported) -> Option<String> {
    let is_of = |sent: &&Sent| sent.run == run && sent.tag == Some(said.tag) && sent.replaces().is_some();
    let (number, sent) = world.requests.iter().enumerate().rev().find(|(_, sent)| is_of(sent))?;
    let customer = sent.replaces()?;
    let heard = sent.heard.as_ref()?;
    if heard.status != Some(200) || !matches!(heard.observed, Observed::Answer) {
        return None;
    }
    let later = world.requests[number..].iter().filter(|later| later.run == run);
    let later = later.filter(|later| later.profile_of() == Some(customer) && later.heard.is_some());
    // What another record of the batch reads later is not what this one was judged by.
    let own = later.take_while(|later| later.tag.is_none() || later.tag == sent.tag);
    let profiles = own.filter_map(|later| later.heard.as_ref()).filter(|heard| heard.at <= said.at);
    let profiles: Vec<&Stored> = profiles.filter_map(|heard| heard.profile.as_ref()).collect();
    let body = sent.body["customer"].as_object()?;
    // The first read of the next record of a batch comes after the last of this one.
    let has_all = |profile: &&&Stored| ids(body).iter().all(|id| ids(profile).contains(id));
    let whole = profiles.iter().rev().find(|profile| world.runs[run].is_batch && has_all(profile));
    let last = *whole.or(profiles.last())?;
    if last.get("id") != world.customers[customer].now.get("id") {
        // A cache has answered with another customer's.
        return None;
    }
    world.checks(Rule::Mismatch);
    let (body, last) = if world.is_magento {
        (magento::plain(body), magento::plain(last))
    } else {
        (body.clone(), last.clone())
    };
    let contents: Vec<_> = addresses(&last).filter_map(content).collect();
    let is_missing = |address: &&Value| {
        address["id"].as_i64().is_some_and(|id| !ids(&last).contains(&id))
            && content(address).is_none_or(|content| !contents.contains(&content))
    };
    let missing = addresses(&body).filter(is_missing).filter_map(|address| address["id"].as_i64());
    // What the record has removed since by a call of its own.
    let is_removed = |id: &i64| {
        let mut removals = world.requests.iter().filter(|other| other.tag == sent.tag);
        removals.any(|other| other.call == Call::Remove(customer, *id))
    };
    let missing: Vec<i64> = missing.filter(|id| !is_removed(id)).collect();
    let is_reported = said.kind.as_deref() == Some("mismatch");
    // A signal goes before; the message says what is missing.
    let is_interrupted = said.kind.as_deref() == Some("interrupted");
    let is_named = is_reported || is_interrupted && said.reason.contains("missing");
    // Who did not wait does not know.
    let is_abandoned = world.runs[run].signalled_again.is_some();
    if !missing.is_empty() && !is_named && !is_abandoned {
        return Some(format!(
            "the last read lacks the addresses {missing:?}, and record {} is {}",
            said.tag, said.applied
        ));
    }
    let action = &world.actions[&said.tag];
    let defaults = addresses(&last).filter(|address| address[DEFAULT] == true).count();
    let is_one = !matches!(action, Action::Default(_)) || defaults == 1;
    let is_rewritten =
        action.custom_value_in(&last).is_some_and(|(now, value)| now == notation::rewritten(value));
    let is_shown = missing.is_empty() && is_one && (action.is_shown_by(&last) || is_rewritten);
    (is_shown && is_reported && !world.began_with_lag && world.faults.cache.is_none())
        .then(|| format!("the last read shows all of record {}, and exit 9 was reported", said.tag))
}

/// How many records an outage left unknown, which begins after the last answer.
fn unknown_since_last_answer(world: &World, run: usize, said: &[Reported]) -> usize {
    let of_run = || world.requests.iter().filter(|sent| sent.run == run);
    let heard = |sent: &Sent| sent.heard.as_ref().map(|heard| heard.at);
    let is_answer =
        |sent: &&Sent| sent.heard.as_ref().is_some_and(|heard| matches!(heard.observed, Observed::Answer));
    let last = of_run().filter(is_answer).filter_map(heard).max();
    let later: Vec<Option<u32>> = of_run().filter(|sent| heard(sent) > last).map(|sent| sent.tag).collect();
    said.iter().filter(|said| said.applied == "unknown" && later.contains(&Some(said.tag))).count()
}
