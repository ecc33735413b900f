//! Checks the whole input before the first write leaves, in one pass that holds one record at a time, and compares it
//! with what earlier runs have done.

use std::collections::HashSet;
use std::ops::RangeInclusive;

use crate::batch::assignments::Assignments;
use crate::batch::decide::{Decided, Decision};
use crate::batch::record::{PreparedRecord, RecordPreparer};
use crate::batch::send::RunContext;
use crate::batch::sent::ToSend;
use crate::batch::token::RecordToken;
use crate::cli::BatchArgs;
use crate::client::runtime::Signals;
use crate::input::document;
use crate::input::records::{Record, at};
use crate::journal::State;
use crate::journal::read::{LatestEntry, PreviousRuns};
use crate::ops::{Examiner, Refused, attribute};
use crate::prompt::Consent;
use crate::report::Report;
use crate::report::ordered_results::RecordLocation;
use crate::report::summary::{self, MAX_LINES, count_records, list_lines};
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::interface::request::Bearer;
use storefront_core::text::hash::fnv1a;

/// How many causes for which records cannot be sent are named.
const MAX_CAUSES: usize = 20;
/// How many warnings are printed, each once with its lines.
const MAX_WARNINGS: usize = 20;
/// How many keys are remembered to find duplicates.
const MAX_KEYS: usize = 100_000;

/// What the check found.
#[derive(Debug, Default)]
pub struct Checked {
    /// Records of the input, including those of other parts.
    pub of_input: u64,
    /// Records of this part of the input.
    pub records: u64,
    /// How many of these are going to be sent.
    pub to_send: u64,
    /// How many of these were sent before, and may have been applied.
    pub again: u64,
    /// Whether one of them needs the run's own token.
    pub needs_token: bool,
    /// Whether several are sent, and all of them have one key.
    pub is_one_key: bool,
    /// Those of an operation that adds something, to compare them with what other batches sent.
    pub additions: ToSend,
}

/// Checks an input; `past` is what the journal shows.
///
/// # Errors
/// `usage` for records that cannot be sent (unless `--skip-invalid`) and for an input without records; `guard` if the
/// journal is not this input's.
pub fn run(preparer: &RecordPreparer<'_>, past: &PreviousRuns) -> Result<Checked, Failure> {
    let mut records = preparer.reader()?;
    let mut check = Check::new(preparer);
    let mut number = 0;
    while let Some(record) = records.read()? {
        number = record.number;
        let decided = preparer.decide(past, &record, records.columns());
        if decided.latest.state == State::Declined && preparer.takes(record.line) {
            check.declined.push(record.line);
        }
        check.checked.additions.note(preparer, &record, records.columns(), &decided);
        check.record(&record, decided);
    }
    check.checked.of_input = number;
    check.checked.additions.sort();
    check.show_warnings();
    if let Some(warning) = preparer.operation.leftover() {
        check.report.warn(&warning);
    }
    check.finish(number, past)
}

/// Checks what is going to be sent against the shop: something that the shop lacks is refused like any other wrong value,
/// before anything is written.
///
/// # Errors
/// `usage`, unless `--skip-invalid`; `interrupted` after a signal; the failure of a read that the operation needs.
pub async fn compare_with_shop(shared: RunContext<'_>, past: &PreviousRuns) -> Result<(), Failure> {
    let RunContext { service, preparer, .. } = shared;
    if preparer.operation.spec().bearer != Bearer::Admin || preparer.origin.plan().is_some() {
        return Ok(());
    }
    let mut check = Check::new(preparer);
    let mut signals = Signals::listen(service.session.context)?;
    let looking = async {
        match preparer.operation.examiner(service) {
            Some(examiner) => examine(preparer, examiner, past, &mut check).await,
            None if preparer.args.skip_invalid => Ok(()),
            None => resolve_names(shared, past, &mut check).await,
        }
    };
    tokio::select! {
        biased;
        () = signals.next() => {
            service.stopping.set();
            let message = "interrupted while comparing the input with the shop: nothing was sent";
            return Err(Failure::new(FailureKind::Interrupted, message).applied(Applied::No));
        }
        looked = looking => looked?,
    }
    check.in_order();
    check.invalid_records().filter(|_| !preparer.args.skip_invalid).map_or(Ok(()), Err)
}

/// Passes the records that are going to be sent to the operation's examiner.
async fn examine(
    preparer: &RecordPreparer<'_>,
    mut examiner: Box<dyn Examiner + '_>,
    past: &PreviousRuns,
    check: &mut Check<'_>,
) -> Result<(), Failure> {
    let mut records = preparer.reader()?;
    while let Some(record) = records.read()? {
        let decided = preparer.decide(past, &record, records.columns());
        let Some(Ok(prepared)) = decided.prepared.filter(|_| decided.decision.is_sent()) else { continue };
        check.checked.records += 1;
        check.refuse_all(examiner.take(record.line, &prepared.draft).await?);
    }
    check.refuse_all(examiner.finish().await?);
    Ok(())
}

/// Resolves the store views and sets that attributes name, as far as the shop answers.
async fn resolve_names(
    shared: RunContext<'_>,
    past: &PreviousRuns,
    check: &mut Check<'_>,
) -> Result<(), Failure> {
    let RunContext { service, preparer, .. } = shared;
    let mut records = preparer.reader()?;
    while let Some(record) = records.read()? {
        let decided = preparer.decide(past, &record, records.columns());
        let Some(Ok(prepared)) = decided.prepared.filter(|_| decided.decision.is_sent()) else { continue };
        match attribute::resolve_names(service, &prepared.draft.fields).await {
            Ok(()) => check.checked.records += 1,
            Err(failure) if failure.kind == FailureKind::Usage => check.refuse(record.line, failure),
            // The run will meet the same failure, and can be resumed.
            Err(_) => {
                check.invalid.clear();
                return Ok(());
            }
        }
    }
    Ok(())
}

/// Whether a flag that names this record settles it, or a look has settled it.
fn settles(flag: &str, latest: LatestEntry, decision: Decision) -> bool {
    match flag {
        "--retry-failed" => latest.state == State::FailedPermanent && decision == Decision::Send,
        _ => decision == Decision::Mark || latest.is_looked_at,
    }
}

struct Check<'a> {
    name: String,
    args: &'a BatchArgs,
    report: &'a Report,
    /// It learns the records that are going to be sent.
    consent: &'a Consent,
    unique_key: Option<&'static str>,
    checked: Checked,
    keys: HashSet<u64>,
    /// What records set so far.
    assignments: Assignments,
    /// Whether records contradict each other: leaving one of them out would choose between them.
    is_contradictory: bool,
    /// Why records cannot be sent, with the lines of each cause.
    invalid: Vec<(Failure, Vec<u64>)>,
    /// The warnings about records, each with its first lines and their number.
    warnings: Vec<(String, Vec<u64>, u64)>,
    /// Whether the question shows them with their records.
    is_asked: bool,
    /// How many more warnings there are.
    more_warnings: u64,
    /// The lines of records that may not be changed, and were.
    changed: Vec<u64>,
    /// The lines that flags name, and that were not met yet.
    named: Vec<(&'static str, RangeInclusive<u64>)>,
    /// The records that were declined, and are not sent.
    declined: Vec<u64>,
}

impl<'a> Check<'a> {
    fn new(preparer: &RecordPreparer<'a>) -> Self {
        let args = preparer.args;
        Self {
            name: preparer.origin.source().name(),
            args,
            report: preparer.session.report,
            consent: preparer.session.consent,
            unique_key: preparer.operation.spec().unique_key,
            checked: Checked { additions: ToSend::new(preparer), ..Checked::default() },
            keys: HashSet::new(),
            assignments: Assignments::default(),
            is_contradictory: false,
            invalid: Vec::new(),
            warnings: Vec::new(),
            is_asked: preparer.origin.plan().is_some() && preparer.session.prompt().confirms(),
            more_warnings: 0,
            changed: Vec::new(),
            named: args
                .named()
                .flat_map(|(flag, lines)| lines.ranges().iter().map(move |range| (flag, range.clone())))
                .collect(),
            declined: Vec::new(),
        }
    }

    fn record(&mut self, record: &Record, decided: Decided) {
        let args = self.args;
        let line = record.line;
        let Decided { location: RecordLocation { line: name, .. }, latest, hash, decision, prepared, .. } =
            decided;
        match decision {
            Decision::Refuse => self.changed.push(line),
            _ => {
                self.named
                    .retain(|(flag, named)| !(named.contains(&name) && settles(flag, latest, decision)));
            }
        }
        let is_settled = latest.state == State::Done && decision == Decision::Report;
        let is_sent = decision.is_sent();
        match prepared {
            Some(Err(failure)) => match decision {
                // It is not sent.
                Decision::Report | Decision::Mark => self.checked.records += 1,
                // The state of a record that was sent is not forgotten.
                _ if args.skip_invalid && !latest.was_sent() => {
                    self.checked.records += u64::from(decision != Decision::NotOurs);
                }
                _ => self.refuse(line, failure),
            },
            _ if decision == Decision::NotOurs => {}
            Some(Ok(prepared)) => {
                self.checked.records += 1;
                if is_sent {
                    self.checked.to_send += 1;
                    // A journal that is started over names it by its present line.
                    self.consent.name(name);
                    self.consent.name(line);
                }
                self.checked.again += u64::from(args.restart && latest.may_be_applied());
                self.checked.needs_token |= prepared.token_source == RecordToken::Shared && is_sent;
                let is_new = self.remember(&prepared.key);
                let mut duplicate = self.unique_key.filter(|_| !is_new);
                // A line that was changed since is as new as one that was added.
                let was_sent = latest.has_left && latest.is_of(hash) && !args.restart;
                if is_sent && self.refuse_contradiction(&prepared, line, was_sent) {
                    duplicate = None;
                }
                let duplicate = duplicate.map(|key| format!("duplicate {key} `{}`", prepared.key));
                let warnings = prepared.draft.warnings.iter().chain(&duplicate).filter(|_| !is_settled);
                warnings.for_each(|warning| self.warn(line, warning));
            }
            // It was checked before it was sent.
            None => self.checked.records += 1,
        }
    }

    /// Whether a record contradicts an earlier one, which is refused.
    fn refuse_contradiction(&mut self, prepared: &PreparedRecord, line: u64, was_sent: bool) -> bool {
        let Err(failure) = self.assignments.add(prepared, line, self.report.place, was_sent) else {
            return false;
        };
        self.is_contradictory = true;
        self.refuse(line, failure);
        true
    }

    /// Where a record is, such as `line 7`.
    fn at(&self, line: u64) -> String {
        format!("{} {line}", self.report.place)
    }

    /// Whether a key is the first of its kind, as far as keys are remembered.
    fn remember(&mut self, key: &str) -> bool {
        let hash = fnv1a(key.as_bytes());
        !self.keys.contains(&hash) && (self.keys.len() >= MAX_KEYS || self.keys.insert(hash))
    }

    fn refuse(&mut self, line: u64, failure: Failure) {
        let same = |(other, _): &(Failure, Vec<u64>)| other.message == failure.message;
        // Records of causes that are not named are only counted.
        let known = self.invalid.iter().position(same).unwrap_or(MAX_CAUSES);
        match self.invalid.get_mut(known) {
            Some((_, lines)) => lines.push(line),
            None => self.invalid.push((failure, vec![line])),
        }
    }

    /// Refuses records that were counted as good.
    fn refuse_all(&mut self, refused: Vec<Refused>) {
        self.checked.records = self.checked.records.saturating_sub(refused.len() as u64);
        for (line, failure) in refused {
            self.refuse(line, failure);
        }
    }

    /// Sorts the lines of each cause.
    fn in_order(&mut self) {
        self.invalid.iter_mut().for_each(|(_, lines)| lines.sort_unstable());
        self.invalid.sort_by_key(|(_, lines)| lines.first().copied());
    }

    /// Notes a warning about a record: each is shown once, with its first lines.
    fn warn(&mut self, line: u64, warning: &str) {
        let is_full = self.warnings.len() >= MAX_WARNINGS;
        match self.warnings.iter_mut().find(|(other, ..)| other == warning) {
            Some((_, lines, count)) => {
                *count += 1;
                if lines.len() < MAX_LINES {
                    lines.push(line);
                }
            }
            None if is_full => self.more_warnings += 1,
            None => self.warnings.push((warning.to_owned(), vec![line], 1)),
        }
    }

    /// Shows the warnings about all records.
    fn show_warnings(&self) {
        let place = self.report.place;
        let shown = if self.is_asked { &[] } else { self.warnings.as_slice() };
        for (warning, lines, count) in shown {
            match lines.as_slice() {
                [line] if *count == 1 => self.report.for_line(Some(*line)).warn(warning),
                lines => {
                    self.report.warn(&format!("{place}s {}: {warning}", list_lines(lines, *count)));
                }
            }
        }
        if let Some(warning) = self.assignments.warning() {
            self.report.warn(&warning);
        }
        if !self.declined.is_empty() {
            let records = count_records(self.declined.len() as u64);
            let numbers = list_lines(&self.declined, self.declined.len() as u64);
            let were = if self.declined.len() == 1 { "was" } else { "were" };
            self.report.warn(&format!(
                "{records} ({numbers}) {were} declined in a review: to send one, name it with --only"
            ));
        }
        if self.more_warnings > 0 {
            self.report.warn(&format!("{} more warnings not shown", self.more_warnings));
        }
    }

    fn finish(mut self, records: u64, past: &PreviousRuns) -> Result<Checked, Failure> {
        if let Some(failure) = self.invalid_records() {
            return Err(failure);
        }
        if records == 0 {
            return Err(Failure::usage(format!("{} contains no records", document::quoted(&self.name))));
        }
        if !self.args.restart {
            self.compared(past)?;
        }
        if let Some(line) = self.named.first().map(|(_, named)| named.start()) {
            let message = format!("{}: {}: the record is not open", self.name, self.at(*line));
            return Err(Failure::usage(message).hint(
                "--retry-unknown is for unknown records, --retry-failed for failed ones, --mark-done for both",
            ));
        }
        self.checked.is_one_key = self.checked.to_send > 1 && self.keys.len() == 1;
        Ok(self.checked)
    }

    /// The failure for records that cannot be sent: each cause once, with its first lines.
    fn invalid_records(&self) -> Option<Failure> {
        let ((first, _), place) = (self.invalid.first()?, self.report.place);
        let count: usize = self.invalid.iter().map(|(_, lines)| lines.len()).sum();
        let named = self.invalid.iter().take(MAX_CAUSES).map(|(failure, lines)| match lines.as_slice() {
            [line] => at(&self.name, &self.at(*line), &failure.message),
            lines => format!(
                "{}: {place}s {}: {}",
                self.name,
                list_lines(lines, lines.len() as u64),
                failure.message
            ),
        });
        let more =
            self.invalid.get(MAX_CAUSES).map(|(_, rest)| summary::count_more_records(rest.len() as u64));
        let message = named.chain(more).collect::<Vec<_>>().join("\n");
        let these = if count == 1 { "the record" } else { "these records" };
        let can_skip = self.checked.records > 0 && !self.args.skip_invalid && !self.is_contradictory;
        let others = if can_skip { "; --skip-invalid sends the others" } else { "" };
        Some(Failure { message, ..first.clone() }.hint(format!("fix {these} and try again{others}")))
    }

    /// Compares the input with what an earlier run sent.
    fn compared(&self, past: &PreviousRuns) -> Result<(), Failure> {
        let places = past.places();
        match (self.changed.as_slice(), places.missing.as_slice()) {
            ([line], _) => Err(changed(&self.name, &self.at(*line))),
            ([line, others @ ..], _) => {
                Err(changed(&self.name, &format!("{} and {} more", self.at(*line), others.len())))
            }
            ([], missing @ [_, ..]) => {
                let lines = list_lines(missing, missing.len() as u64);
                let (places, sent) =
                    if missing.len() == 1 { ("", "it was sent") } else { ("s", "they were sent") };
                let message = format!("{place}{places} {lines}", place = self.report.place);
                Err(Failure::guard(format!("{}: {message}: removed or changed after {sent}", self.name))
                    .hint("put the removed rows back, with what was sent; a new file is for other rows"))
            }
            ([], []) if places.is_unsure => {
                let message = "rows were moved, and the journal does not say how one of them read";
                Err(Failure::guard(format!("{}: {message}: a line of it was cut off", self.name))
                    .hint("put the rows back in the order in which they were sent"))
            }
            ([], []) => Ok(()),
        }
    }
}

/// The failure of a record that was changed after it was sent.
pub fn changed(name: &str, places: &str) -> Failure {
    Failure::guard(format!("{name}: {places} changed after the record was sent")).hint(
        "put the record back as it was sent, and add changes as new rows or in a new file; for a new file of the same name, \
         move the journal of the old one away first",
    )
}
