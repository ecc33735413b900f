//! `storefront history`: what this machine wrote, newest first, and one write in full. Nothing is read from the service.

use jiff::tz::TimeZone;
use serde_json::{Map, Value, json};

use super::found::{Found, undone_by};
use crate::client::service::Service;
use crate::journal::known::KnownRun;
use crate::log::{LoggedRun, Owner, Write, WriteLog};
use crate::report::changes;
use crate::report::list::{Column, List};
use storefront_core::failure::Failure;
use storefront_core::outcome::WriteOutcome;
use storefront_core::profile::diff::FieldChange;
use storefront_core::text::exact_json;

/// How many writes are listed without `--limit`.
const LISTED: usize = 20;

/// Columns: title and field.
const COLUMNS: &[Column] = &[
    ("ID", "write"),
    ("BEGAN", "began"),
    ("PROFILE", "profile"),
    ("OPERATION", "operation"),
    ("OWNER", "owner"),
    ("OUTCOME", "outcome"),
    ("UNDONE BY", "undone_by"),
];

/// Lists the writes to this service, newest first: one line for each command, and for a batch one line with its last run.
/// `of_batch` reads the fields of a batch from its journal.
///
/// # Errors
/// `guard` where the log cannot be read.
pub fn list(
    service: &Service<'_>,
    owner: Option<&Owner>,
    limit: Option<u16>,
    of_batch: impl Fn(&KnownRun) -> Map<String, Value>,
) -> Result<(), Failure> {
    let report = service.session.report;
    let id = service.settings.service_id().to_string();
    let log = WriteLog::to_read(service.session.context)?;
    let limit = limit.map_or(LISTED, usize::from);
    let mut list = List::new(report, COLUMNS, false);
    let mut count = 0;
    if let Some(log) = &log {
        let runs = log.runs(&id, owner, Some(limit + 1))?;
        count = runs.len();
        // All are read before the first one is printed: with an error, standard output stays empty.
        let rows = runs.into_iter().take(limit).map(|run| row(service, log, run, &of_batch));
        let rows = rows.collect::<Result<Vec<Value>, Failure>>()?;
        rows.into_iter().try_for_each(|row| list.add(row))?;
    }
    if count == 0 && !report.is_json() {
        report.status("nothing was written to this shop from this machine");
        return Ok(());
    }
    list.finish()?;
    if count > limit {
        report.status(&format!("the newest {limit} shown; --limit N shows more"));
    }
    Ok(())
}

fn row(
    service: &Service<'_>,
    log: &WriteLog,
    run: LoggedRun,
    of_batch: &impl Fn(&KnownRun) -> Map<String, Value>,
) -> Result<Value, Failure> {
    let is_json = service.session.report.is_json();
    // A batch may have thousands of writes: the last one stands for all.
    let writes = match run.journal {
        Some(_) => log.last_of(run.id)?.into_iter().collect(),
        None => log.writes_of(run.id, None)?,
    };
    let found = Found { writes, run, record: None };
    let undone = undone_by(log, found.run.id, None)?.map(|undo| undo.to_string());
    let began = found.run.began.to_string();
    let now = service.session.context.clock.now();
    let mut row = json!({
        "write": found.name(),
        "began": if is_json { began } else { changes::when(&began, now, &TimeZone::system()) },
        "profile": found.run.profile,
        "operation": found.run.operation,
        "owner": if is_json { owner_json(&found) } else { found.owner().into() },
        "outcome": found.outcome().name(),
        "undoes": found.run.undoes.map(|undone| undone.to_string()),
        "undone_by": undone,
        "journal": found.run.journal.as_ref().map(|(path, _)| path),
    });
    if is_json && found.run.journal.is_none() {
        let differences: Vec<_> = found.last_made().flat_map(differences).collect();
        row["changes"] = exact_json::of(&differences);
    }
    if let Some((path, header)) = &found.run.journal {
        let header = serde_json::from_value(header.clone()).unwrap_or_default();
        for (name, value) in of_batch(&KnownRun { path: path.into(), header }) {
            row[name] = value;
        }
    }
    Ok(row)
}

fn owner_json(found: &Found) -> Value {
    let owner = |write: &Write| write.changes().map(|effect| effect.owner.to_json());
    found.writes.last().and_then(owner).into()
}

/// Shows one write: what it changed, and the outcome of each of its calls.
///
/// # Errors
/// `guard` where the log cannot be read.
pub fn show(service: &Service<'_>, found: &Found) -> Result<(), Failure> {
    let report = service.session.report;
    let log = WriteLog::to_read(service.session.context)?;
    let undone = log
        .map(|log| undone_by(&log, found.run.id, found.record.map(|_| &*found.writes)))
        .transpose()?
        .flatten();
    let now = service.session.context.clock.now();
    let calls: Vec<Value> = found.writes.iter().map(call).collect();
    let whole = json!({
        "write": found.name(),
        "began": found.run.began.to_string(),
        "profile": found.run.profile,
        "operation": found.run.operation,
        "owner": owner_json(found),
        "outcome": found.outcome().name(),
        "undoes": found.run.undoes.map(|undone| undone.to_string()),
        "undone_by": undone.map(|undo| undo.to_string()),
        "calls": calls,
    });
    report.value(&whole, |screen| {
        let when = changes::when(&found.run.began.to_string(), now, &TimeZone::system());
        let by = undone.map(|undo| format!(", undone by {undo}")).unwrap_or_default();
        let operation = &found.run.operation;
        let owner = found.owner();
        let mut text = format!("{}  {operation}, {owner}, {when}{by}\n", found.name());
        for write in &found.writes {
            text += &format!("{}: {}\n", write.call, in_words(write));
            let differences = differences(write);
            if !differences.is_empty() {
                text += &(changes::text(&differences, screen) + "\n");
            }
        }
        text
    })
}

fn call(write: &Write) -> Value {
    let differences = differences(write);
    json!({
        "call": write.call,
        "outcome": in_words(write),
        "time": write.left_at.to_string(),
        "changes": exact_json::of(&differences),
    })
}

fn differences(write: &Write) -> Vec<FieldChange> {
    write.asked().map(|effect| effect.differences()).unwrap_or_default()
}

fn in_words(write: &Write) -> &'static str {
    match write.outcome {
        WriteOutcome::Unknown { .. } if write.is_open => "open",
        outcome => outcome.name(),
    }
}
