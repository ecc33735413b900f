//! `--dry-run` over many records: the first few in full and the count of the rest; for programs, every one.

use super::Service;
use crate::batch::preflight;
use crate::batch::prepare::Intake;
use crate::batch::reader::Feed;
use crate::batch::worker::{Shared, Task};
use crate::cli::batch::RunArgs;
use crate::failure::{Failure, Kind};
use crate::input::records::Source;
use crate::journal::replay::Past;
use crate::report::ordered_results::{Place, Results};
use crate::report::summary::records;

/// As many records are shown to a person.
const SHOWN: u64 = 3;

/// Shows what would be sent.
///
/// # Errors
/// As the run itself, before anything is sent; `partial` when a record could not be shown.
pub async fn run(
    shared: Shared<'_>,
    source: &Source,
    intake: &Intake<'_>,
    args: &RunArgs,
    mut results: Results,
) -> Result<(), Failure> {
    let service: &Service<'_> = shared.service;
    let report = service.session.report;
    if !source.is_stream() {
        preflight::check(service.session, source, intake, args, &Past::default())?;
    }
    let mut feed = Feed::open(source, intake)?;
    let (mut seen, mut failed) = (0, 0);
    while let Some(record) = feed.next().await? {
        let place = Place { record: record.number, line: record.line };
        let prepared = match intake.prepare(&record, feed.columns()) {
            Ok(prepared) if preflight::is_ours(args.shard, &prepared) => Ok(prepared),
            Ok(_) => continue,
            Err(_) if !preflight::is_first(args.shard) => continue,
            Err(failure) if !args.skip_invalid => return Err(failure),
            Err(failure) => Err(failure),
        };
        seen += 1;
        if seen > SHOWN && !report.is_json() {
            failed += u64::from(prepared.is_err());
            continue;
        }
        let turn = results.turn();
        // The record's own token stays masked until its result is printed.
        let _masked;
        let shown = match prepared {
            Err(failure) => Err(failure),
            Ok(prepared) => {
                let task = Task { turn, place, hash: 0, prepared, content: None, unresolved: None };
                let ended = shared.run(task, None).await;
                _masked = ended.masked;
                ended.result
            }
        };
        let text = match shown {
            Ok(outcome) => results.outcome(place, &outcome, true),
            Err(failure) => {
                failed += 1;
                results.failure(place, intake.work.operation().name(), &failure)
            }
        };
        results.put(turn, text)?;
        if results.is_closed() {
            break;
        }
    }
    results.close()?;
    tell_rest(service, seen, failed)
}

fn tell_rest(service: &Service<'_>, seen: u64, failed: u64) -> Result<(), Failure> {
    let report = service.session.report;
    if seen > SHOWN && !report.is_json() {
        report.data(&format!("and {} more\n", records(seen - SHOWN)))?;
    }
    report.note(&format!("dry run over {}, nothing was sent", records(seen)));
    if failed == 0 {
        return Ok(());
    }
    Err(Failure::new(Kind::Partial, format!("{failed} of {} would not go through", records(seen)))
        .applied(crate::failure::Applied::No))
}
