//! What is asked about one group of records.

use super::{Group, Member, NOT_IN_LOG};
use crate::cli::GlobalArgs;
use crate::client::Session;
use crate::client::service::Service;
use crate::input::Draft;
use crate::log::{MAX_LAG, Write, WriteLog, is_younger};
use crate::ops::{self, Operation};
use crate::past::found::Found as FoundWrites;
use crate::past::owners::{customer_of, of_customer};
use crate::past::state::{Since, StateSince};
use crate::past::verify;
use crate::past::{planned, undo};
use crate::plan::Planned;
use storefront_core::effect::Effect;
use storefront_core::failure::{Failure, FailureKind};
use storefront_core::profile::diff::Expected;

/// What to do with the records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Task {
    /// Look for what they wrote.
    Verify,
    /// Plan how they are taken back.
    Undo,
}

/// The answer for a group.
#[derive(Debug)]
pub enum Answer {
    /// What is found of each record.
    Findings(Vec<Finding>),
    /// The way back.
    WayBack(Box<WayBack>),
}

/// The state of a record, and when it was written.
#[derive(Debug, Clone)]
pub struct Finding {
    /// Its number.
    pub record: u64,
    /// Its state.
    pub state: StateSince,
    /// When its last call left, RFC 3339.
    pub taken: Option<String>,
    /// Whether it was written less than a minute ago: a replica may show what was there before.
    pub is_recent: bool,
    /// Whether something that it wrote is still there.
    pub is_left: bool,
    /// The name of its last write.
    pub write: Option<String>,
}

/// The way back from what a group wrote.
#[derive(Debug, Default)]
pub struct WayBack {
    /// The record of a plan.
    pub planned: Option<Planned>,
    /// What does not go back.
    pub left: Vec<String>,
    /// What goes back differently.
    pub notes: Vec<String>,
}

impl Finding {
    /// The state of a record without known writes.
    pub fn of(record: u64, state: StateSince) -> Self {
        Self { record, state, taken: None, is_recent: false, is_left: false, write: None }
    }
}

impl Task {
    /// Reads what a group wrote. `draft` is that of its last record.
    pub async fn answer(
        self,
        service: &Service<'_>,
        operation: &dyn Operation,
        draft: &Draft,
        group: &Group,
    ) -> Result<Answer, Failure> {
        let members = &group.members;
        let wrote = members.iter().any(|member| !member.writes.is_empty());
        Ok(match (self, wrote) {
            (Self::Verify, false) => Answer::Findings(as_it_says(service, operation, draft, members).await?),
            (Self::Verify, true) => Answer::Findings(as_written(service, members).await?),
            (Self::Undo, false) => Answer::WayBack(Box::default()),
            (Self::Undo, true) => Answer::WayBack(Box::new(of_owner(service, members).await?)),
        })
    }
}

/// What the owner shows of each record's writes.
async fn as_written(service: &Service<'_>, members: &[Member]) -> Result<Vec<Finding>, Failure> {
    let records: Vec<Vec<&Write>> = members.iter().map(|member| member.writes.iter().collect()).collect();
    let records: Vec<&[&Write]> = records.iter().map(Vec::as_slice).collect();
    let Some(last) = members.iter().rev().find_map(|member| member.writes.last()) else {
        return Ok(Vec::new());
    };
    let states = verify::states_of(&of_customer(service, last)?, &records).await?;
    let now = service.session.context.clock.now();
    let finding = |(member, state): (&Member, StateSince)| {
        // The look may have closed a write of unknown outcome.
        let state = if state == StateSince::There && !member.is_done { StateSince::Seen } else { state };
        let write = member.writes.last();
        let count = |effect: Effect| effect.changes.len() + effect.creates.len();
        let wrote: usize = member.writes.iter().filter_map(Write::changes).map(count).sum();
        Finding {
            record: member.record,
            is_left: state.is_there() || (1..wrote).contains(&state.places().len()),
            state,
            taken: write.map(|write| write.left_at.to_string()),
            is_recent: write.is_some_and(|write| is_younger(MAX_LAG, write.left_at, now)),
            write: write.map(|write| write.name().to_string()),
        }
    };
    Ok(members.iter().zip(states).map(finding).collect())
}

/// Whether a record that changed nothing would still change nothing.
async fn as_it_says(
    service: &Service<'_>,
    operation: &dyn Operation,
    draft: &Draft,
    members: &[Member],
) -> Result<Vec<Finding>, Failure> {
    let global = GlobalArgs { dry_run: true, ..service.session.global.clone() };
    let session = Session { global: &global, ..*service.session };
    let service = Service { session: &session, ..service.clone() };
    let state = match ops::run(operation, &service, draft, None).await {
        Ok(outcome) if outcome.reason == Some("unchanged") => StateSince::There,
        Ok(outcome) => match outcome.expected().changes {
            changes if changes.is_empty() => StateSince::NotComparable(
                "it changed nothing, and no read shows what it was to leave".to_owned(),
            ),
            changes => {
                let since = changes.into_iter().map(|change| Since {
                    path: change.path,
                    written: change.after,
                    now: change.before,
                });
                StateSince::Changed(since.collect())
            }
        },
        Err(failure) if [FailureKind::Usage, FailureKind::Guard].contains(&failure.kind) => {
            StateSince::NotComparable(failure.message)
        }
        Err(failure) => return Err(failure),
    };
    let finding = |member: &Member| Finding::of(member.record, state.clone());
    Ok(members.iter().map(finding).collect())
}

/// The way back for the owner.
async fn of_owner(service: &Service<'_>, members: &[Member]) -> Result<WayBack, Failure> {
    let writes: Vec<&Write> = members.iter().flat_map(|member| &member.writes).collect();
    let run = writes.last().map(|last| last.run);
    let log = WriteLog::to_read(service.session.context)?;
    let run = log.zip(run).map(|(log, run)| log.run(run)).transpose()?.flatten();
    let (Some(run), Some(last)) = (run, writes.last()) else {
        return Ok(WayBack { left: vec![NOT_IN_LOG.to_owned()], ..WayBack::default() });
    };
    let customer = customer_of(service, last).map(str::to_owned);
    let found = FoundWrites { run, record: None, writes: writes.iter().copied().cloned().collect() };
    let shown = undo::preview(service, &found).await?;
    if shown.changes.is_empty() {
        return Ok(WayBack { left: shown.left, notes: shown.warnings, ..WayBack::default() });
    }
    let planned = Planned {
        customer,
        input: planned::record(&writes, &shown),
        expect: Expected { changes: shown.changes, ..Expected::default() },
        warnings: shown.warnings,
        ..Planned::default()
    };
    Ok(WayBack { planned: Some(planned), left: shown.left, ..WayBack::default() })
}
