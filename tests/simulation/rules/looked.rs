//! What `verify` says at any later time of what was written, compared with what the service has.

use std::time::Duration;

use serde_json::Value;

use super::Rule;
use super::history::was_done_by_others;
use super::report::customer_of;
use crate::action::Action;
use crate::customers::{Kept, Stored};
use crate::faults::Quirk;
use crate::machine::RunEnd;
use crate::world::World;

/// Checks what `verify` says of each of these writes, of a profile, an order or a product: it is there if it has taken effect and the
/// service has it at some moment of the run, or of the time before it by which a replica lags behind; it is changed or gone if
/// the service does not have it at some of these moments. `record` names the record of a line. Whether something is not there.
pub fn check(world: &mut World, ended: &RunEnd, record: impl Fn(&World, &Value) -> Option<u32>) -> bool {
    let mut is_any_missing = false;
    for line in &ended.lines {
        let (Some(state), Some(tag)) = (line["state"].as_str(), record(world, line)) else { continue };
        let said = world.reported.iter().find(|said| said.tag == tag).cloned();
        let action = world.actions[&tag].clone();
        if matches!(action, Action::Back(..) | Action::Restore(_))
            || rewrites(world.began_with)
            || world.is_long_lag
        {
            continue;
        }
        let Some(said) = said else { continue };
        world.checks(Rule::Verified);
        let had_effect = world.effects_of(tag).next().is_some();
        let kept = world.kept_of(tag, customer_of(world, said.run, tag));
        let states = states(world, kept, world.runs[ended.run].began);
        let has = |state: &&Stored| action.is_alike_in(state);
        let is_known = had_effect || was_done_by_others(world, &said) || said.reason == "unchanged";
        let is_right = match state {
            "there" | "seen" => is_known && states.iter().any(has),
            "changed" | "gone" => !states.iter().all(has),
            // It was not sent, or no read could show it.
            _ => !(world.is_calm && had_effect),
        };
        is_any_missing |= matches!(state, "changed" | "gone");
        if !is_right {
            let what = format!("what record {tag} wrote is {state:?}, and took effect: {had_effect}");
            world.broke_of(Rule::Verified, ended.run, None, &[tag], what);
        }
    }
    is_any_missing
}

/// Whether the service stores something else than it was sent.
fn rewrites(quirk: Quirk) -> bool {
    !matches!(quirk, Quirk::None | Quirk::Refuses(_))
}

/// What reads may show from a moment on.
pub fn states<'a>(world: &World, kept: &'a Kept, began: Duration) -> Vec<&'a Stored> {
    let from = began.saturating_sub(world.faults.replicas.into_iter().max().unwrap_or_default());
    let first = kept.past.iter().rposition(|(since, _)| *since <= from).unwrap_or_default();
    kept.past[first..].iter().map(|(_, state)| state).collect()
}
