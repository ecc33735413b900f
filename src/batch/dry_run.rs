//! `--dry-run` over many records: the first few in full and the count of the rest; for programs, every one.

use super::Service;
use crate::batch::preflight;
use crate::batch::prepare::RecordPreparer;
use crate::batch::reader::RecordStream;
use crate::batch::worker::{Job, RunContext};
use crate::cli::batch::BatchArgs;
use crate::failure::{Failure, FailureKind};
use crate::input::records::Source;
use crate::journal::replay::PreviousRun;
use crate::report::ordered_results::{OrderedResults, RecordLocation};
use crate::report::summary::{count_more_records, count_records};

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
    if !source.is_stream() {
        preflight::run(service.session, source, preparer, args, &PreviousRun::default())?;
    }
    let mut reader = RecordStream::open(source, preparer)?;
    let (mut seen, mut failed) = (0, 0);
    while let Some(record) = reader.next().await? {
        let place = RecordLocation { record: record.number, line: record.line };
        let prepared = match preparer.prepare(&record, reader.columns()) {
            Ok(prepared) if preflight::in_shard(args.shard, &prepared) => Ok(prepared),
            Ok(_) => continue,
            Err(_) if !preflight::is_first_shard(args.shard) => continue,
            Err(failure) if !args.skip_invalid => return Err(failure),
            Err(failure) => Err(failure),
        };
        seen += 1;
        if seen > MAX_SHOWN && !report.is_json() {
            failed += u64::from(prepared.is_err());
            continue;
        }
        let turn = results.next_sequence();
        // The record's own token stays masked until its result is printed.
        let _masked;
        let shown = match prepared {
            Err(failure) => Err(failure),
            Ok(prepared) => {
                let task = Job {
                    sequence: turn,
                    location: place,
                    hash: 0,
                    prepared,
                    content: None,
                    unresolved: None,
                    is_half_done: false,
                };
                let ended = Box::pin(shared.run(task, None)).await;
                _masked = ended.masked;
                ended.result
            }
        };
        let text = match shown {
            Ok(outcome) => results.outcome(place, &outcome, true),
            Err(failure) => {
                failed += 1;
                results.failure(place, preparer.operation.operation().name(), &failure)
            }
        };
        results.push(turn, text)?;
        if results.is_closed() {
            break;
        }
    }
    results.close()?;
    report_suppressed_count(service, seen, failed)
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
