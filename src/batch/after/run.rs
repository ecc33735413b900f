//! Reads many groups at once, at the pace of a batch.

use std::cell::RefCell;
use std::collections::{HashMap, VecDeque};
use std::rc::Rc;
use std::time::Duration;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use tokio::time::Instant;

use super::{Answer, Follower, Group};
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

/// Looks at all groups and passes each with its answer to `answered`. If the service fails for too long, or refuses the
/// token, the remaining groups get that failure.
///
/// # Errors
/// `interrupted` after a signal, and those of `answered`.
pub async fn run(
    shared: RunContext<'_>,
    follower: &Follower<'_>,
    groups: Vec<(Group, PreparedRecord)>,
    mut answered: impl FnMut(&Group, Result<Answer, Failure>) -> Result<(), Failure>,
) -> Result<Duration, Failure> {
    let service = shared.service;
    let total = groups.iter().map(|(group, _)| group.members.len() as u64).sum();
    let mut course = Course::new(shared);
    let mut signals = Signals::listen(service.session.context)?;
    let mut tick = tokio::time::interval(PROGRESS_INTERVAL);
    let mut progress = Progress::new(service.session.report, total, total);
    let (mut waiting, by_record) = jobs(follower, groups);
    let mut running = FuturesUnordered::new();
    loop {
        while course.can_start(running.len())
            && let Some((job, prepared)) = waiting.pop_front()
        {
            course.pace.borrow_mut().on_start(Instant::now());
            running.push(Box::pin(run_group(shared, job, prepared)));
        }
        if running.is_empty() && (waiting.is_empty() || course.broken.is_some()) {
            break;
        }
        let pause = course.pace.borrow().delay(Instant::now()).filter(|_| !waiting.is_empty());
        tokio::select! {
            biased;
            Some(ended) = running.next() => {
                let Some(group) = by_record.get(&ended.record) else { continue };
                course.note(group, &ended);
                answered(group, ended.result.and_then(|_| answer_of(follower, group)))?;
            }
            () = signals.next() => return Err(interrupted(service)),
            () = tokio::time::sleep(pause.unwrap_or_default()), if pause.is_some() => {}
            _ = tick.tick() => progress.show(course.count),
        }
        course.note_outage();
    }
    for group in waiting.iter().filter_map(|(job, _)| by_record.get(&job.record)) {
        answered(group, Err(course.broken.clone().unwrap_or_else(nothing)))?;
    }
    Ok(progress.finish())
}

/// How far the reads are, and whether more may start.
struct Course<'a> {
    pace: &'a RefCell<Pace>,
    count: RecordCounts,
    /// Why waiting groups are not looked at.
    broken: Option<Failure>,
}

impl<'a> Course<'a> {
    fn new(shared: RunContext<'a>) -> Self {
        Self { pace: shared.pace, count: RecordCounts::default(), broken: None }
    }

    fn can_start(&self, running: usize) -> bool {
        self.broken.is_none() && self.pace.borrow().can_start(running)
    }

    /// Notes the result of a group. If the token is refused, the others are not looked at.
    fn note(&mut self, group: &Group, ended: &JobResult) {
        let members = group.members.len() as u64;
        match &ended.result {
            Ok(_) => {
                self.count.done += members;
                self.pace.borrow_mut().on_success();
            }
            Err(failure) => {
                self.count.failed += members;
                if ended.is_unauthorized {
                    self.broken.get_or_insert_with(|| failure.clone());
                }
            }
        }
    }

    /// Notes that the service fails for too long.
    fn note_outage(&mut self) {
        if self.pace.borrow().is_exhausted() {
            let outage = || Failure::new(FailureKind::Unavailable, "the service is failing");
            self.broken.get_or_insert_with(outage);
        }
    }
}

/// The answer for a group.
fn answer_of(follower: &Follower<'_>, group: &Group) -> Result<Answer, Failure> {
    follower.answers.borrow_mut().remove(&group.members[0].record).ok_or_else(nothing)
}

/// Groups that were not looked at yet, by their first records.
type Waiting = VecDeque<(RecordLocation, PreparedRecord)>;

/// The groups in the order of their first records, and by these.
fn jobs(follower: &Follower<'_>, groups: Vec<(Group, PreparedRecord)>) -> (Waiting, HashMap<u64, Rc<Group>>) {
    let mut waiting = VecDeque::new();
    let mut by_record = HashMap::new();
    for (group, prepared) in groups {
        let Some(first) = group.members.first() else { continue };
        let location = RecordLocation { record: first.record, line: first.record, now: None };
        waiting.push_back((location, prepared));
        let group = Rc::new(group);
        follower.groups.borrow_mut().insert(location.line, group.clone());
        by_record.insert(location.record, group);
    }
    (waiting, by_record)
}

/// Runs one group, with the token of its records.
async fn run_group(shared: RunContext<'_>, location: RecordLocation, prepared: PreparedRecord) -> JobResult {
    let token = prepared.token_source.clone().token().await;
    let position = Position { location, hash: 0 };
    let job = Job { position, key: 0, prepared, token, earlier: None, write_ahead: None };
    Box::pin(shared.run(Rc::new(job))).await
}

fn nothing() -> Failure {
    Failure::internal("the record was not looked at")
}
