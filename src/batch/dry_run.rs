//! `--dry-run` over many records: the first few in full and the count of the rest; for programs, as curl commands, and for
//! a plan, every one.

use std::rc::Rc;

use crate::batch::check::{self, Step, next_step};
use crate::batch::planning::Planning;
use crate::batch::record::hash;
use crate::batch::send::{Job, Position, RunContext};
use crate::batch::token::TokenSource;
use crate::batch::{files, header};
use crate::failure::{Applied, Failure, FailureKind};
use crate::journal::plan_file::{PLAN_AGAIN, is_there};
use crate::journal::read::{self, PreviousRun};
use crate::plan::request::Bearer;
use crate::report::ordered_results::{OrderedResults, RecordLocation};
use crate::report::summary::{count_more_records, count_records};

/// As many records are shown to a person.
const MAX_SHOWN: u64 = 3;

/// Shows what would be sent.
///
/// # Errors
/// As the run itself, before anything is sent; `partial` when a record could not be shown.
pub async fn run(shared: RunContext<'_>, grammar: fn() -> clap::Command) -> Result<(), Failure> {
    let (preparer, report) = (shared.preparer, shared.service.session.report);
    let curl = shared.global.curl;
    let max_shown = if report.is_json() || curl { u64::MAX } else { MAX_SHOWN };
    let mut planning = Planning::begin(shared.service, preparer.operation, grammar)?;
    let past = past(shared)?;
    check::run(preparer, &past, &[])?;
    check::look_up(shared, &past).await?;
    let (mut reader, mut results) = (preparer.reader()?, OrderedResults::new(report));
    let (mut seen, mut failed, mut hidden) = (0, 0, 0);
    let is_compared = planning.is_some() || preparer.args.plan.is_some();
    // The expectations of a plan are all checked, and the names in attributes; what fails is shown.
    let is_checked = is_compared || preparer.operation.spec().bearer == Bearer::Admin;
    while let Some(record) = reader.read()?
        && !results.is_closed()
    {
        let is_sent = next_step(past.known(record.number), hash(&record.content)) == Step::Send;
        if !is_sent || !preparer.takes(record.number) {
            continue;
        }
        let Some(prepared) = preparer.prepare_part(&record, reader.columns()) else { continue };
        seen += 1;
        failed += u64::from(prepared.is_err());
        let is_shown = seen <= max_shown;
        if !is_shown && prepared.is_ok() && !is_checked {
            hidden += 1;
            continue;
        }
        let location = RecordLocation { record: record.number, line: record.line };
        let position = Position { location, hash: 0 };
        results.begin(location.record);
        // It masks the record's own token until the result is printed.
        let ended = match prepared {
            Ok(prepared) => {
                if planning.is_some() && prepared.token_source != TokenSource::Shared {
                    return Err(token_in_plan());
                }
                let token = prepared.token_source.clone().token().await;
                let (content, earlier, write_ahead) = (None, None, None);
                let job = Rc::new(Job { position, key: 0, token, prepared, content, earlier, write_ahead });
                let ended = Box::pin(shared.run(job.clone())).await;
                failed += u64::from(ended.result.is_err());
                if let (Some(planning), Ok(outcome)) = (&mut planning, &ended.result) {
                    planning.add(job.prepared.customer.clone(), &job.prepared.draft, outcome);
                }
                Ok(ended)
            }
            Err(failure) => Err(failure),
        };
        let text = match ended.as_ref().and_then(|ended| ended.result.as_ref()) {
            Ok(_) if !is_shown => {
                hidden += 1;
                String::new()
            }
            // They are for a shell.
            Ok(outcome) if curl => outcome.to_text(report.stdout_style),
            Ok(outcome) => results.outcome(location, outcome, true),
            Err(failure) => results.failure(location, preparer.operation.spec().name, failure),
        };
        results.push(location.record, text)?;
    }
    results.close()?;
    if hidden > 0 {
        let is_merged = preparer.operation.spec().is_merged;
        let checked =
            if is_compared || !is_merged { "" } else { ", not compared with the shop; --plan compares all" };
        report.stdout(format!("{}{checked}\n", count_more_records(hidden)))?;
    }
    report.status(&format!("dry run: {}, nothing sent", count_records(seen)));
    let is_planned = planning.is_some();
    if failed == 0 {
        return planning.map_or(Ok(()), Planning::finish);
    }
    let message = format!("{failed} of {} would fail", count_records(seen));
    let message = if is_planned { format!("{message}: no plan was written") } else { message };
    let failure = Failure::new(FailureKind::Partial, message).applied(Applied::No);
    let is_applied = preparer.args.plan.is_some();
    Err(failure.hint(if is_applied { PLAN_AGAIN } else { "fix these records, then run the command again" }))
}

/// What was done of a plan already.
fn past(shared: RunContext<'_>) -> Result<PreviousRun, Failure> {
    let (preparer, service) = (shared.preparer, shared.service);
    let files = preparer.args.plan.as_ref().map(|_| files(preparer.source, preparer.args)).transpose()?;
    let storage = &*service.session.context.storage;
    let Some(files) = files.filter(|files| is_there(storage, &files.journal)) else {
        return Ok(PreviousRun::default());
    };
    let unreadable =
        |error| Failure::guard(format!("cannot read journal `{}`: {error}", files.journal.display()));
    let log = storage.open_log(&files.journal, false).map_err(unreadable)?;
    read::read(&files.journal, &log, &header(&service.settings, &files, preparer)?)
}

/// A plan is handed on to others, who apply it with their own tokens.
fn token_in_plan() -> Failure {
    Failure::usage("a plan holds no tokens, and a record has a token of its own")
        .hint("name customers in the column `customer`, with an administrator's token")
}
