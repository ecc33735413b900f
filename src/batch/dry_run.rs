//! `--dry-run` over many records: the first few in full and the count of the rest; for programs, every one.

use std::rc::Rc;

use crate::batch::check;
use crate::batch::record::{PreparedRecord, RecordPreparer};
use crate::batch::send::{Job, JobResult, RunContext};
use crate::cli::batch::BatchArgs;
use crate::failure::{Failure, FailureKind};
use crate::input::records::{Columns, Record, RecordReader, Source};
use crate::journal::read::PreviousRun;
use crate::journal::shard_contains;
use crate::report::ordered_results::{OrderedResults, RecordLocation};
use crate::report::summary::{count_more_records, count_records};
use crate::session::service::Service;

/// As many records are shown to a person.
const MAX_SHOWN: u64 = 3;

/// Shows what would be sent.
///
/// # Errors
/// As the run itself, before anything is sent; `partial` when a record could not be shown.
pub async fn run(
    shared: RunContext<'_>,
    source: &Source,
    preparer: &RecordPreparer<'_>,
    args: &BatchArgs,
    mut results: OrderedResults,
) -> Result<(), Failure> {
    let service: &Service<'_> = shared.service;
    let report = service.session.report;
    check::run(service.session, source, preparer, args, &PreviousRun::default(), None)?;
    let mut reader = RecordReader::open(source, |header| preparer.columns(header))?;
    let (mut seen, mut failed) = (0, 0);
    while let Some(record) = reader.read()? {
        let location = RecordLocation { record: record.number, line: record.line };
        let Some(prepared) = prepared(preparer, args, &record, reader.columns())? else { continue };
        seen += 1;
        if seen > MAX_SHOWN && !report.is_json() {
            failed += u64::from(prepared.is_err());
            continue;
        }
        let sequence = results.next_sequence();
        // It masks the record's own token until the result is printed.
        let ended = match prepared {
            Ok(prepared) => Ok(perform(shared, prepared, location, sequence).await),
            Err(failure) => Err(failure),
        };
        let text = match ended.as_ref().and_then(|ended| ended.result.as_ref()) {
            Ok(outcome) => results.outcome(location, outcome, true),
            Err(failure) => {
                failed += 1;
                results.failure(location, preparer.operation.operation().name(), failure)
            }
        };
        results.push(sequence, text)?;
        if results.is_closed() {
            break;
        }
    }
    results.close()?;
    report_suppressed_count(service, seen, failed)
}

/// A record of this part of the input, or why it cannot be sent; `None` for those of other parts.
///
/// # Errors
/// Why it cannot be sent, where that ends the run.
fn prepared(
    preparer: &RecordPreparer<'_>,
    args: &BatchArgs,
    record: &Record,
    columns: Option<&Columns>,
) -> Result<Option<Result<PreparedRecord, Failure>>, Failure> {
    match preparer.prepare(record, columns) {
        Ok(prepared) => Ok(shard_contains(args.shard, &prepared.key).then_some(Ok(prepared))),
        Err(_) if !check::is_first_shard(args) => Ok(None),
        Err(failure) if args.skip_invalid => Ok(Some(Err(failure))),
        Err(failure) => Err(failure),
    }
}

async fn perform(
    shared: RunContext<'_>,
    prepared: PreparedRecord,
    location: RecordLocation,
    sequence: u64,
) -> JobResult {
    let job = Job {
        sequence,
        location,
        hash: 0,
        key: 0,
        input_key: 0,
        token: prepared.token_source.clone().token().await,
        prepared,
        size: 0,
        content: None,
        earlier: None,
        write_ahead: None,
    };
    Box::pin(shared.run(Rc::new(job))).await
}

fn report_suppressed_count(service: &Service<'_>, seen: u64, failed: u64) -> Result<(), Failure> {
    let report = service.session.report;
    if seen > MAX_SHOWN && !report.is_json() {
        report.stdout(&format!("{}\n", count_more_records(seen - MAX_SHOWN)))?;
    }
    report.status(&format!("dry run: {}, nothing sent", count_records(seen)));
    if failed == 0 {
        return Ok(());
    }
    Err(Failure::new(FailureKind::Partial, format!("{failed} of {} would fail", count_records(seen)))
        .applied(crate::failure::Applied::No))
}
