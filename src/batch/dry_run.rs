//! `--dry-run` over many records: the first few in full and the number of the rest; all of them for programs, as curl
//! commands, and for a plan.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use crate::batch::command_line::next_steps;
use crate::batch::decide::Decision;
use crate::batch::record::{self, PreparedRecord};
use crate::batch::send::{Job, JobResult, Position, RunContext};
use crate::batch::sent::{self, ToSend};
use crate::batch::token::RecordToken;
use crate::batch::{again, check, files, header, looks, made_of, same_input, settle_where_known, undone};
use crate::journal::read::{self, LatestEntry, PreviousRuns};
use crate::journal::{Entry, State};
use crate::log::{SentRecords, WriteLog};
use crate::plan::planning::Planning;
use crate::plan::{PLAN_AGAIN, RecordOf, is_there, journal_of};
use crate::report::ordered_results::{OrderedResults, RecordLocation};
use crate::report::outcome::Outcome;
use crate::report::summary::{NextSteps, count_more_records, count_records};
use crate::system::storage::{LogAccess, real_path};
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::interface::request::Bearer;

/// How many records a person is shown.
const MAX_SHOWN: u64 = 3;

/// Shows what would be sent.
///
/// # Errors
/// As the run itself, before anything is sent; `partial` if a record could not be shown.
pub async fn run(shared: RunContext<'_>) -> Result<(), Failure> {
    let preparer = shared.preparer;
    let mut planning = Planning::begin(shared.service, preparer.operation)?;
    if let Some(planning) = &mut planning {
        planning.made_of(made_of(preparer, preparer.origin.source().sha256()?)?, preparer.args.restart);
    }
    let mut past = past(shared)?;
    looks::find_out(shared, &mut past).await?;
    let additions = check::run(preparer, &past)?.additions;
    let mut sent = sent_elsewhere(shared, &past, &additions)?;
    check::compare_with_shop(shared, &past).await?;
    let mut shown = DryRun::new(shared, planning, &past);
    let own = sent::own(&past);
    let mut others = HashMap::new();
    let mut reader = preparer.reader()?;
    while let Some(record) = reader.read()?
        && !shown.results.is_closed()
    {
        let decided = preparer.decide(&past, &record, reader.columns());
        let location = decided.location;
        match decided.decision {
            Decision::NotOurs => {}
            Decision::Send => {
                let Some(prepared) = decided.prepared else { continue };
                let mut of = RecordOf { hash: decided.hash, sent: 0 };
                if let Ok(prepared) = &prepared {
                    let position = Position { location, hash: decided.hash };
                    of.hash = additions.identity(preparer, &record, reader.columns(), position, prepared);
                    let others = *others.entry(of.hash).or_insert_with(|| sent.count_of(of.hash));
                    of.sent = others + own.get(&decided.hash).copied().unwrap_or(0);
                }
                if sent.take(of.hash, 0).is_none() {
                    shown.show(location, prepared, of).await?;
                }
            }
            _ => shown.show_left(location, decided.decision, past.entry(decided.latest), decided.latest)?,
        }
    }
    shown.finish()
}

/// What was shown so far.
struct DryRun<'a> {
    shared: RunContext<'a>,
    planning: Option<Planning<'a>>,
    results: OrderedResults,
    /// The number of records that are shown.
    max_shown: u64,
    /// Whether each record is compared with what the service has: when a plan is made or applied.
    is_compared: bool,
    /// Whether the records that are not shown are run, too: to compare them, and to look up the names in attributes.
    is_checked: bool,
    seen: u64,
    /// How many records are neither sent nor done, by their states.
    left: BTreeMap<&'static str, u64>,
    /// What to type next, once a record is left.
    next: Option<NextSteps>,
    /// How many records were done by an earlier run.
    done: u64,
    failed: u64,
    /// How many records went through and are not shown.
    hidden: u64,
}

impl<'a> DryRun<'a> {
    /// Nothing was shown yet.
    fn new(shared: RunContext<'a>, planning: Option<Planning<'a>>, past: &PreviousRuns) -> Self {
        let preparer = shared.preparer;
        let report = shared.service.session.report;
        let is_plan = preparer.origin.plan().is_some();
        let is_compared = planning.is_some() || is_plan;
        // People review a plan before it is applied.
        let shows_all = report.is_json() || shared.global.curl || is_plan;
        Self {
            shared,
            planning,
            results: OrderedResults::new(report),
            max_shown: if shows_all { u64::MAX } else { MAX_SHOWN },
            is_compared,
            is_checked: is_compared || preparer.operation.spec().bearer == Bearer::Admin,
            seen: 0,
            left: BTreeMap::new(),
            next: None,
            done: past.counts().get(State::Done.name()).copied().unwrap_or(0),
            failed: 0,
            hidden: 0,
        }
    }

    /// Runs a record, and shows it or what is wrong with it.
    async fn show(
        &mut self,
        location: RecordLocation,
        prepared: Result<PreparedRecord, Failure>,
        of: RecordOf,
    ) -> Result<(), Failure> {
        let report = self.shared.service.session.report;
        self.seen += 1;
        let is_shown = self.seen <= self.max_shown;
        if !is_shown && prepared.is_ok() && !self.is_checked {
            self.hidden += 1;
            return Ok(());
        }
        self.results.begin(location.record);
        // It masks the record's own token until the result is printed.
        let ended = match prepared {
            Ok(prepared) => Ok(self.run(location, prepared, of).await?),
            Err(failure) => Err(failure),
        };
        let result = ended.as_ref().and_then(|ended| ended.result.as_ref());
        self.failed += u64::from(result.is_err());
        let text = match result {
            Ok(_) if !is_shown => {
                self.hidden += 1;
                String::new()
            }
            // A command is for a shell.
            Ok(outcome) if self.shared.global.curl => outcome.to_text(report.stdout_style),
            Ok(outcome) => self.results.outcome(location, outcome.clone(), true),
            Err(failure) => {
                self.results.failure(location, self.shared.preparer.operation.spec().name, failure)
            }
        };
        self.results.push(location.record, text)
    }

    /// Shows a record that is not sent: what an earlier run left, or what flags say of it.
    fn show_left(
        &mut self,
        location: RecordLocation,
        decision: Decision,
        entry: Entry,
        latest: LatestEntry,
    ) -> Result<(), Failure> {
        if self.planning.is_some() {
            return Ok(());
        }
        let preparer = self.shared.preparer;
        let operation = preparer.operation.spec().name;
        self.results.begin(location.record);
        let text = if latest.state == State::Done || decision == Decision::Mark {
            let status = Some(latest.status).filter(|status| *status > 0);
            let outcome = Outcome { status, ..Outcome::done_earlier(operation) };
            self.results.outcome(location, outcome, false)
        } else {
            *self.left.entry(latest.state.name()).or_default() += 1;
            let next = match self.next.take() {
                Some(next) => next,
                None => next_steps(preparer, &files(preparer)?.journal),
            };
            let failure = record::failure_of(&entry, location, self.next.insert(next));
            self.results.failure(location, operation, &failure)
        };
        self.results.push(location.record, text)
    }

    async fn run(
        &mut self,
        location: RecordLocation,
        prepared: PreparedRecord,
        of: RecordOf,
    ) -> Result<JobResult, Failure> {
        if self.planning.is_some() && prepared.token_source != RecordToken::Shared {
            return Err(token_in_plan());
        }
        // Warnings about all records are not this record's.
        drop(self.shared.service.session.report.noted());
        let token = prepared.token_source.clone().token().await;
        let position = Position { location, hash: 0 };
        let earlier = None;
        let write_ahead = None;
        let job = Rc::new(Job { position, key: 0, token, prepared, earlier, write_ahead });
        let ended = Box::pin(self.shared.run(job.clone())).await;
        if let (Some(planning), Ok(outcome)) = (&mut self.planning, &ended.result) {
            planning.add(job.prepared.customer.clone(), &job.prepared.draft, outcome, Some(of))?;
        }
        Ok(ended)
    }

    /// Reports how many records were not shown, and how many would fail; or writes the plan, if one is made.
    fn finish(mut self) -> Result<(), Failure> {
        let preparer = self.shared.preparer;
        let report = self.shared.service.session.report;
        self.results.close()?;
        if self.hidden > 0 {
            let is_checked = self.is_compared || !preparer.operation.spec().is_merged;
            let checked = if is_checked { "" } else { ", not compared with the shop; --plan compares all" };
            report.stdout(format!("{}{checked}\n", count_more_records(self.hidden)))?;
        }
        let records = preparer.origin.plan().map_or(0, |plan| plan.header.records);
        let left =
            self.left.iter().map(|(state, count)| format!(", {count} {state}")).collect::<Vec<_>>().concat();
        let what = if self.seen == 0 && records > 0 && self.done == records {
            "the plan was applied already".to_owned()
        } else if self.done > 0 {
            format!("{}, {} already done", count_records(self.seen), self.done)
        } else {
            count_records(self.seen)
        };
        report.status(&format!("dry run: {what}{left}, nothing sent"));
        if self.failed == 0 {
            return self.planning.map_or(Ok(()), Planning::finish);
        }
        let no_plan = if self.planning.is_some() { ": no plan was written" } else { "" };
        let message = format!("{} of {} would fail{no_plan}", self.failed, count_records(self.seen));
        let is_applied = preparer.origin.plan().is_some();
        let hint = if is_applied { PLAN_AGAIN } else { "fix these records, then run the command again" };
        Err(Failure::new(FailureKind::Partial, message).applied(Applied::No).hint(hint))
    }
}

/// What other batches sent of the records that a resumed run would send. For a plan, such records are refused.
fn sent_elsewhere(
    shared: RunContext<'_>,
    past: &PreviousRuns,
    additions: &ToSend,
) -> Result<SentRecords, Failure> {
    let preparer = shared.preparer;
    let service = shared.service;
    let is_asked = preparer.origin.plan().is_some() || preparer.args.resume;
    let Some(log) = WriteLog::to_read(service.session.context)?.filter(|_| is_asked) else {
        return Ok(SentRecords::default());
    };
    if preparer.origin.plan().is_some() {
        let again = additions.again(shared, &log, past.runs())?;
        again.ensure_meant(preparer, past, &journal_of(&real_path(&preparer.origin.source().path)))?;
        return Ok(SentRecords::default());
    }
    additions.sent(shared, &log, past.runs())
}

/// What was done already, for a plan and for a run that would be resumed.
fn past(shared: RunContext<'_>) -> Result<PreviousRuns, Failure> {
    let preparer = shared.preparer;
    let service = shared.service;
    let args = preparer.args;
    let has_journal = args.journal.is_some() || !preparer.origin.source().is_stream;
    let is_resumed = preparer.origin.plan().is_some() || args.resume && has_journal;
    let files = is_resumed.then(|| files(preparer)).transpose()?;
    let storage = &*service.session.context.storage;
    let Some(files) = files.filter(|files| is_there(storage, &files.journal)) else {
        return Ok(PreviousRuns::default());
    };
    let unreadable =
        |error| Failure::guard(format!("cannot read journal `{}`: {error}", files.journal.display()));
    let log = storage.open_log(&files.journal, LogAccess::Read).map_err(unreadable)?;
    let mut past = read::read(&files.journal, &log, &header(&service.settings, &files, preparer)?)?;
    settle_where_known(&mut past, service.session);
    preparer.find_places(&mut past)?;
    if let Ok(Some(log)) = WriteLog::to_read(service.session.context) {
        same_input::ensure_newest(service.session, &log, &files.journal, &past)?;
    }
    undone::warn(service.session, &files.journal, &past, &again(preparer, files.commands.restart));
    Ok(past)
}

/// The refusal of tokens in a plan: it is passed on to others, who apply it with their own tokens.
fn token_in_plan() -> Failure {
    Failure::usage("a plan cannot contain tokens, and a record has its own token")
        .hint("name customers in the column `customer`, with an administrator's token")
}
