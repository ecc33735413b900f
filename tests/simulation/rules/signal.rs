//! What a signal stops: after the first one nothing new is written, and a run with nothing in flight ends soon; after the
//! second one it ends at once.

use std::time::Duration;

use super::Rule;
use crate::call::Call;
use crate::states::State;
use crate::world::{Sent, World};

/// For so long a run with nothing in flight may go on after the first signal: it waits for no answer to a read.
const MAX_IDLE: Duration = Duration::from_secs(1);
/// The same of any run after the second one: its disk may have to be waited for.
const MAX_AFTER_SECOND: Duration = Duration::from_secs(1);
/// A run that ends so soon after a signal may have been at its end.
const MAX_REACTION: Duration = Duration::from_millis(200);

/// Why a request must not leave: the run was told to stop, and its record has sent no write yet, or another than one that
/// belongs to the first.
pub fn too_late(world: &World, sent: &Sent) -> Option<String> {
    let signalled = world.runs[sent.run].signalled?;
    // What leaves in the moment of the signal was not told of it.
    if !sent.call.is_write() || sent.at <= signalled {
        return None;
    }
    let has_begun = world.requests.iter().any(|other| {
        other.run == sent.run && other.tag == sent.tag && other.call.is_write() && other.at < sent.at
    });
    let is_second = matches!(sent.call, Call::Pay(_) | Call::SetDefault(_) | Call::Comment(_));
    (!has_begun || !is_second).then(|| {
        let what = if has_begun { "one more write" } else { "the first write" };
        format!(
            "{what} of record {:?} leaves {:?} after the signal",
            sent.tag,
            sent.at.saturating_sub(signalled)
        )
    })
}

/// Checks a run that came to its end.
pub fn check(world: &mut World, run: usize) {
    let ended = &world.runs[run];
    let (Some(signalled), Some(end)) = (ended.signalled, ended.ended) else { return };
    world.checks(Rule::Signal);
    let (code, took) = (ended.code, end.saturating_sub(signalled));
    let of_run = || world.requests.iter().filter(|sent| sent.run == run && sent.at <= signalled);
    let was_said = |sent: &Sent| {
        let mut said = world.reported.iter().filter(|said| said.run == run && said.at <= signalled);
        said.any(|said| Some(said.tag) == sent.tag)
    };
    let is_idle = of_run().filter(|sent| sent.call.is_write()).all(was_said);
    let is_reading = of_run()
        .any(|sent| !sent.call.is_write() && sent.heard.as_ref().is_none_or(|heard| heard.at > signalled));
    let mut broken = Vec::new();
    if is_idle && took > MAX_IDLE {
        broken.push(format!("nothing was in flight, and the run ended {took:?} after the signal"));
    }
    if took > MAX_REACTION && !matches!(code, Some(130 | 1)) {
        broken.push(format!("the run ended {took:?} after the signal with exit code {code:?}"));
    }
    if let Some(again) = ended.signalled_again.filter(|again| *again <= end) {
        if end.saturating_sub(again) > MAX_AFTER_SECOND {
            broken.push(format!("the run ended {:?} after the second signal", end.saturating_sub(again)));
        }
        world.reach(State::SecondSignal);
    }
    world.reach(State::Signal);
    if is_reading && is_idle {
        world.reach(State::SignalInRead);
    }
    for what in broken {
        world.broke(Rule::Signal, run, None, what);
    }
}
