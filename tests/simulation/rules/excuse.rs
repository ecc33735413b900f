//! Where one change of ours overwrites another, and no client could have known.

use std::time::Duration;

use serde_json::Value;

use super::{Break, Rule};
use crate::action::{Action, OWN_STAMP};
use crate::call::Call;
use crate::faults::Observed;
use crate::world::{OutOfReach, Reported, Run, Sent, World};

/// For so long the program expects that a request may still come.
const MAX_LATENESS: Duration = Duration::from_secs(600);

/// For so long a replica may show what was there before a write.
pub const MAX_LAG: Duration = Duration::from_secs(60);

/// Why request `late`, whose read had not shown what request `other` did, may have overwritten it.
pub fn overwrites(world: &World, late: usize, other: usize) -> Option<OutOfReach> {
    let (one, two) = (&world.requests[late], &world.requests[other]);
    let (machine, of_other) = (world.machine_of(late), world.machine_of(other));
    let (from, until) = (one.at.min(two.at), one.at.max(two.at));
    if machine != of_other {
        return Some(OutOfReach::ForeignLost);
    }
    if world.is_long_lag {
        return Some(OutOfReach::LongLag);
    }
    // Somebody else did what it asks for, and two reads had proven it.
    let is_proven = |said: &Reported| {
        said.run == one.run && Some(said.tag) == one.tag && said.applied == "yes" && said.at < world.now()
    };
    let is_first = !world.effects.iter().any(|effect| effect.request == late && effect.at < world.now());
    if is_first && world.reported.iter().any(is_proven) {
        return Some(OutOfReach::Indistinguishable);
    }
    // The hold and the clock of a run that goes on while it is set are those of its start.
    let began = world.runs[one.run].began.min(world.runs[two.run].began).min(from);
    if world.was_set_forward(machine, began, until) {
        return Some(OutOfReach::ClockSetForward);
    }
    // A proxy handed it on once more after what the read showed, and something had come in between.
    let read_at = one.shown.as_ref().map(|shown| shown.at)?;
    let lag = world.faults.replicas.into_iter().max().unwrap_or_default();
    let mut effects = world.effects.iter().filter(|effect| effect.request == other);
    let was_before = effects.next().is_some_and(|first| !first.is_copy && first.at < read_at);
    (was_before && effects.any(|copy| copy.at + lag >= read_at)).then_some(OutOfReach::Doubled)
}

/// Whether somebody took it upon themselves that one of two requests may still come: by a flag of a run after the
/// earlier one, up to the later one, given before anybody had said that the earlier request was applied.
pub fn is_accepted(world: &World, late: usize, other: usize) -> bool {
    let (one, two) = (&world.requests[late], &world.requests[other]);
    let (earlier, later) = if one.at < two.at { (one, two) } else { (two, one) };
    let was_said = world.reported.iter().any(|said| {
        said.run == earlier.run
            && Some(said.tag) == earlier.tag
            && said.applied == "yes"
            && said.at < later.at
    });
    let is_over = later.at.saturating_sub(earlier.at) >= MAX_LATENESS;
    let may_repeat = |run: &Run| run.may_repeat && run.began > earlier.at && run.began <= later.at;
    earlier.run != later.run && (!was_said && world.runs.iter().any(may_repeat) || is_over)
}

/// Whether no read tells what a record changes from what was there before: it gives a text other blanks around it, or sets what the
/// service sets by itself.
fn is_untellable(action: &Action) -> bool {
    match action {
        Action::Set(None, name, _) if *name == OWN_STAMP => true,
        Action::Set(_, _, Value::String(text)) => text.trim() != text,
        _ => false,
    }
}

/// Whether what was said of a write is false because the service misled the client, and nothing that a client may rely on
/// tells that: it refused what it saved, and no read of the command shows that or tells it from what was there a moment ago;
/// or it gave an error under 200, and its interface does not show its replies.
pub fn is_misled(world: &World, broken: &Break) -> bool {
    const RULES: [Rule; 4] = [Rule::FalseYes, Rule::FalseNo, Rule::Journal, Rule::History];
    RULES.contains(&broken.rule) && broken.tags.iter().any(|tag| is_misled_about(world, *tag))
}

/// Whether the service misled the client about a write of this record.
pub fn is_misled_about(world: &World, tag: u32) -> bool {
    let is_of = |sent: &&Sent| sent.tag == Some(tag);
    let is_untold = |sent: &Sent| match sent.heard.as_ref().map(|heard| heard.observed) {
        // Only these say that they can be nothing else.
        Some(Observed::Error(number)) => !world.is_magento && !matches!(number, 1 | 2),
        Some(Observed::Status(400..=501, None)) if sent.processed.is_some() => match sent.call {
            Call::Put(customer) => {
                let mut effects = world.effects.iter();
                let is_recent = effects.any(|effect| {
                    let is_before = effect.at <= sent.at && sent.at < effect.at + MAX_LAG;
                    is_before && world.requests[effect.request].replaces() == Some(customer)
                });
                is_recent || sent.tag.is_some_and(|tag| world.actions.get(&tag).is_some_and(is_untellable))
            }
            Call::Item(_) => !world.runs[sent.run].verifies,
            Call::SaveAddress(..) | Call::SetValues(..) => false,
            _ => true,
        },
        _ => false,
    };
    world.began_misreported && world.requests.iter().filter(is_of).any(is_untold)
}
