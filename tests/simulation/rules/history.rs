//! What `history` says in the end, compared with what took effect.

use serde_json::Value;

use super::Rule;
use super::report::{customer_of, is_done_in};
use crate::action::Action;
use crate::machine::RunEnd;
use crate::world::{Reported, World};

/// Checks the lines of a history on a machine, that a run has printed, as the last one before run `end`. Where nothing
/// was lost on the disk, an update whose outcome was told does not count as unknown.
pub fn check(world: &mut World, listed: &RunEnd, end: usize, is_complete: bool) {
    let RunEnd { run, lines, error, .. } = listed;
    let run = *run;
    // A list that could not be read to its end may lack the write that was applied.
    let is_whole_list = error.is_null();
    let mut broken = Vec::new();
    for tag in world.actions.keys().copied() {
        let of_tag = |line: &&Value| {
            let name = |write: &str| Some(write) == line["write"].as_str();
            // Two machines give their writes the same ids.
            let is_here = |said: &Reported| world.runs[said.run].machine == world.runs[run].machine;
            world
                .reported
                .iter()
                .any(|said| said.tag == tag && is_here(said) && said.write.as_deref().is_some_and(name))
        };
        let outcomes: Vec<&str> = lines.iter().filter(of_tag).filter_map(outcome).collect();
        if outcomes.is_empty() {
            continue;
        }
        world.checks(Rule::History);
        // What everything being made good has brought about came after it.
        let has_effect = world.effects_of(tag).any(|effect| world.requests[effect.request].run < end);
        let said: Vec<_> = world.reported.iter().filter(|said| said.tag == tag && said.run < end).collect();
        let is_indistinguishable =
            said.iter().any(|said| said.applied == "yes" || was_done_by_others(world, said));
        if outcomes.iter().any(|outcome| matches!(*outcome, "applied" | "mismatch"))
            && !has_effect
            && !is_indistinguishable
            && !matches!(world.actions[&tag], Action::Restore(_) | Action::Back(..))
        {
            broken.push((
                tag,
                format!("the update of record {tag} counts as {outcomes:?}, and was not applied"),
            ));
        }
        // A run that was killed has named no write.
        let has_reported = |run: usize| said.iter().any(|said| said.run == run);
        let has_reported_effect = world.effects_of(tag).any(|effect| {
            let run = world.requests[effect.request].run;
            run < end && has_reported(run)
        });
        if is_whole_list
            && outcomes.iter().all(|outcome| matches!(*outcome, "refused" | "not sent"))
            && has_reported_effect
            && said.iter().all(|said| said.write.is_some() || said.applied == "no")
        {
            broken.push((tag, format!("the update of record {tag} counts as {outcomes:?}, and was applied")));
        }
        // What became of a comment is not what is told of the correction.
        let is_told = |said: &&Reported| !said.warned && (said.applied == "yes" || said.applied == "no");
        let is_told = said.iter().all(is_told);
        let runs = world.runs[..end].iter().filter(|run| run.records.iter().any(|(of, _)| *of == tag));
        let is_whole = runs.into_iter().all(|run| run.code.is_some());
        if is_complete && is_told && is_whole && outcomes.contains(&"unknown") {
            broken.push((
                tag,
                format!("the update of record {tag} counts as unknown, and its outcome was told"),
            ));
        }
    }
    for (tag, what) in broken {
        world.broke_of(Rule::History, run, None, &[tag], what);
    }
}

/// Whether somebody else did what a record asks for, after it was first sent: nobody can tell.
pub fn was_done_by_others(world: &World, said: &Reported) -> bool {
    let of_tag = world.requests.iter().filter(|sent| sent.tag == Some(said.tag));
    let Some(left) = of_tag.map(|sent| sent.at).min() else { return false };
    let past = &world.kept_of(said.tag, customer_of(world, said.run, said.tag)).past;
    past.iter().any(|(since, past)| *since >= left && is_done_in(world, said.tag, past))
}

fn outcome(line: &Value) -> Option<&str> {
    line["outcome"].as_str().or_else(|| line["applied"].as_str())
}
