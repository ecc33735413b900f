//! `storefront journal list`: the batches of this machine, and how their journals stand.

use clap::{Args, value_parser};
use jiff::tz::TimeZone;
use serde_json::{Value, json};

use crate::batch::listing::Listing;
use crate::batch::undone::undone;
use crate::client::Session;
use crate::journal::State;
use crate::journal::known::{KnownRun, known_runs};
use crate::plan::is_there;
use crate::report::changes;
use crate::report::list::{Column, List};
use crate::system::storage::lock_of;
use storefront_core::failure::Failure;

/// How many batches are listed where `--limit` does not say it.
const LISTED: usize = 20;

/// The states of records in the order in which they are counted.
const STATES: [State; 7] = [
    State::Done,
    State::FailedPermanent,
    State::FailedTemporary,
    State::Unknown,
    State::Sending,
    State::Mismatch,
    State::NotSent,
];

/// Flags of `journal list`.
#[derive(Debug, Args)]
pub struct ListArgs {
    /// List at most N batches [default: 20]
    #[arg(long, value_name = "N", value_parser = value_parser!(u16).range(1..))]
    pub limit: Option<u16>,
}

/// Columns: title and field.
const COLUMNS: &[Column] = &[
    ("STARTED", "started"),
    ("OPERATION", "operation"),
    ("STATE", "state"),
    ("RECORDS", "counts"),
    ("INPUT", "input"),
    ("JOURNAL", "journal"),
];

/// Lists the batches that began on this machine, newest first. What became of their records is read from the journals.
///
/// # Errors
/// As [`known_runs`].
pub fn run(session: &Session<'_>, args: &ListArgs) -> Result<(), Failure> {
    let (report, runs) = (session.report, known_runs(session.context)?);
    if runs.is_empty() && !report.is_json() {
        report.status("no batch of this machine is known");
        return Ok(());
    }
    let known: Vec<&KnownRun> = runs.iter().collect();
    let limit = args.limit.map_or(LISTED, usize::from);
    let mut list = List::new(report, COLUMNS, false).with_whole_last();
    for run in runs.iter().take(limit) {
        list.add(row(session, &known, run))?;
    }
    list.finish()?;
    if runs.len() > limit {
        report.status(&format!("{limit} of {} shown; --limit N shows more", runs.len()));
    }
    Ok(())
}

/// The state of a batch, and how many of its records are in which state, for people.
pub fn state_of(session: &Session<'_>, run: &KnownRun) -> (String, String) {
    let row = row(session, &[], run);
    let text = |name: &str| row[name].as_str().unwrap_or_default().to_owned();
    (text("state"), text("counts"))
}

/// A batch as it is listed.
fn row(session: &Session<'_>, runs: &[&KnownRun], run: &KnownRun) -> Value {
    let (report, known) = (session.report, Listing::read(session, &run.path));
    let counts = known.as_ref().ok().map(|listing| counts(listing, run));
    let state = match &counts {
        _ if !is_there(&*session.context.storage, &run.path) => "gone",
        None => "unreadable",
        Some(_) if is_running(session, run) => "running",
        Some(counts) if is_open(counts) => "incomplete",
        Some(counts) if has_failed(counts) => "partial",
        Some(_) => "complete",
    };
    let header = known.as_ref().map_or(&run.header, |listing| &listing.header);
    let started = run.header.started.as_str();
    let shown = changes::minute(started, &TimeZone::system());
    let mut row = json!({
        "journal": run.path.display().to_string(),
        "started": if report.is_json() { started } else { &shown },
        "operation": header.operation,
        "service": header.service,
        "interface": header.interface,
        "store_view": header.store_view,
        "input": header.input,
        "shard": header.shard,
        "state": state,
        "records": run.header.records,
    });
    let undone = known.as_ref().ok().and_then(|listing| undone(session, runs, &run.path, &listing.past));
    row["undone"] = undone.as_ref().map(|undone| if undone.is_whole { "yes" } else { "partial" }).into();
    row["undone_by"] = undone.as_ref().map(|undone| undone.journal.display().to_string()).into();
    let mut texts = Vec::new();
    for (index, state) in STATES.iter().enumerate() {
        let count = counts.and_then(|counts| counts[index]);
        row[state.name().replace(' ', "_")] = count.into();
        texts.extend(count.filter(|count| *count > 0).map(|count| format!("{count} {}", state.name())));
    }
    if !report.is_json() {
        if let Some(undone) = undone {
            row["state"] = format!("{state}, {}", undone.in_words()).into();
        }
        row["counts"] = texts.join(", ").into();
        row["input"] = known.as_ref().map_or_else(|_| header.input.clone(), input).into();
    }
    row
}

/// The input as people see it: that of a plan's journal is a plan.
fn input(listing: &Listing<'_>) -> String {
    let name = &listing.header.input;
    match listing.source(None) {
        _ if listing.header.undoes.is_some() => format!("undo plan {name}"),
        Ok(Some((_, Some(_)))) => format!("plan {name}"),
        _ => name.clone(),
    }
}

/// How many records are in each of [`STATES`]. Of a shard it is not known how many were not sent.
fn counts(listing: &Listing<'_>, run: &KnownRun) -> [Option<u64>; STATES.len()] {
    let counts = listing.past.counts();
    let records = run.header.records.filter(|_| listing.header.shard.is_none());
    STATES.map(|state| match state {
        State::NotSent => Some(records?.saturating_sub(counts.values().sum())),
        state => Some(counts.get(state.name()).copied().unwrap_or(0)),
    })
}

/// Whether the batch is to be resumed.
fn is_open(counts: &[Option<u64>; STATES.len()]) -> bool {
    has_any(counts, &[State::Sending, State::Unknown, State::FailedTemporary, State::NotSent])
}

/// Whether records have to be corrected or compared, and no resumed run sends them as they are.
fn has_failed(counts: &[Option<u64>; STATES.len()]) -> bool {
    has_any(counts, &[State::FailedPermanent, State::Mismatch])
}

fn has_any(counts: &[Option<u64>; STATES.len()], states: &[State]) -> bool {
    STATES.iter().zip(counts).any(|(state, count)| states.contains(state) && count.is_some_and(|it| it > 0))
}

/// Whether a process writes the journal.
fn is_running(session: &Session<'_>, run: &KnownRun) -> bool {
    matches!(session.context.storage.try_lock(&lock_of(&run.path)), Ok(None))
}
