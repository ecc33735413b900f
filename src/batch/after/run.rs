//! Reads for many groups at once, at the pace of a batch.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::time::Instant;

use super::{Answer, Follower, Group};
use crate::batch::JOBS;
use crate::batch::pace::Pace;
use crate::batch::record::PreparedRecord;
use crate::batch::send::{Job, JobResult, Position, RunContext};
use crate::client::runtime::Signals;
use crate::client::service::interrupted;
use crate::report::ordered_results::RecordLocation;
use crate::report::progress::Progress;
use storefront_core::failure::{Failure, FailureKind, RecordCounts};

/// How often progress is shown.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(200);

/// Looks at all groups; `answered` is handed each with what came of it. Where the service fails for too long, or refuses the token, the
/// others are handed on as that failure.
///
/// # Errors
/// `interrupted` after a signal, and those of `answered`.
pub async fn run(
    shared: RunContext<'_>,
    follower: &Follower,
    groups: Vec<(Group, PreparedRecord)>,
    mut answered: impl FnMut(&Group, Result<Answer, Failure>) -> Result<(), Failure>,
) -> Result<Duration, Failure> {
    let (service, args) = (shared.service, shared.preparer.args);
    let total = groups.iter().map(|(group, _)| group.members.len() as u64).sum();
    let pace = Rc::new(RefCell::new(Pace::new(args.jobs.unwrap_or(JOBS), args.rate)));
    let paced = pace.clone();
    service.client.observe(Box::new(move |signal| paced.borrow_mut().on_signal(signal, Instant::now())));
    let mut signals = Signals::listen(service.session.context)?;
    let mut tick = tokio::time::interval(PROGRESS_INTERVAL);
    let mut progress = Progress::new(service.session.report, total, total);
    let (mut waiting, by_record) = jobs(follower, groups);
    let (mut running, mut count) = (FuturesUnordered::new(), RecordCounts::default());
    let mut broken: Option<Failure> = None;
    loop {
        let now = Instant::now();
        while broken.is_none()
            && pace.borrow().delay(now).is_none()
            && pace.borrow().has_capacity(running.len(), now)
            && let Some((job, prepared)) = waiting.pop_front()
        {
            pace.borrow_mut().on_start(now);
            running.push(Box::pin(look(shared, job, prepared)));
        }
        if running.is_empty() && (waiting.is_empty() || broken.is_some()) {
            break;
        }
        let pause = pace.borrow().delay(Instant::now()).filter(|_| !waiting.is_empty());
        tokio::select! {
            biased;
            Some(ended) = running.next() => {
                let Some(group) = by_record.get(&ended.record) else { continue };
                let members = group.members.len() as u64;
                if ended.result.is_ok() { count.done += members } else { count.failed += members }
                if ended.result.is_ok() {
                    pace.borrow_mut().on_success();
                }
                let answer = ended.result.map(|_| follower.answers.borrow_mut().remove(&group.members[0].line));
                if let Some(failure) = answer.as_ref().err().filter(|_| ended.is_unauthorized) {
                    broken.get_or_insert_with(|| failure.clone());
                }
                answered(group, answer.and_then(|answer| answer.ok_or_else(nothing)))?;
            }
            () = signals.next() => return Err(interrupted(service)),
            () = tokio::time::sleep(pause.unwrap_or_default()), if pause.is_some() => {}
            _ = tick.tick() => progress.show(count),
        }
        if pace.borrow().is_exhausted() {
            broken.get_or_insert_with(|| Failure::new(FailureKind::Unavailable, "the service is failing"));
        }
    }
    for (job, _) in waiting {
        let failure = broken.clone().unwrap_or_else(nothing);
        if let Some(group) = by_record.get(&job.record) {
            answered(group, Err(failure))?;
        }
    }
    Ok(progress.finish())
}

/// Groups that are not looked at yet, by their first records.
type Waiting = VecDeque<(RecordLocation, PreparedRecord)>;

/// The groups in the order of their first records, and by these.
fn jobs(follower: &Follower, groups: Vec<(Group, PreparedRecord)>) -> (Waiting, HashMap<u64, Rc<Group>>) {
    let (mut waiting, mut by_record) = (VecDeque::new(), HashMap::new());
    for (group, prepared) in groups {
        let Some(first) = group.members.first() else { continue };
        let location = RecordLocation { record: first.record, line: first.line };
        waiting.push_back((location, prepared));
        let group = Rc::new(group);
        follower.groups.borrow_mut().insert(location.line, group.clone());
        by_record.insert(location.record, group);
    }
    (waiting, by_record)
}

/// Looks at one group, with the token of its records.
async fn look(shared: RunContext<'_>, location: RecordLocation, prepared: PreparedRecord) -> JobResult {
    let token = prepared.token_source.clone().token().await;
    let position = Position { location, hash: 0 };
    let job = Job { position, key: 0, prepared, token, earlier: None, write_ahead: None };
    Box::pin(shared.run(Rc::new(job))).await
}

fn nothing() -> Failure {
    Failure::internal("the record was not looked at")
}
