//! Results of a run on standard output, in the order of the input.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};

use serde::Serialize;

use super::failure::failure_json;
use super::outcome::Outcome;
use super::{Report, StandardOutput};
use crate::journal::State;
use storefront_core::failure::{Applied, Failure};
use storefront_core::text::sanitize;

/// How many results may wait for an earlier one.
const MAX_PENDING: usize = 1024;

/// How many rows of failed records are printed, for people, before further ones of a printed cause are collected until
/// the end.
const MAX_ROWS: usize = 20;
/// The most causes that are remembered for that.
const MAX_CAUSES: usize = 100;
/// The most ranges of lines that are named for a cause.
const MAX_RANGES: usize = 20;

/// The place of a record in the input, and the number that names it.
#[derive(Debug, Clone, Copy)]
pub struct RecordLocation {
    /// Its number in the input, from 1.
    pub record: u64,
    /// The number that names it in messages, flags, the journal and the log: its line as it was sent, or in the input if
    /// it was not sent; in a JSON array and a plan, its number.
    pub line: u64,
    /// Its line in the input, if rows were moved since.
    pub now: Option<u64>,
}

impl RecordLocation {
    /// `line 7`, or `line 7 (now 9)`
    fn in_words(self, place: &str) -> String {
        format!("{place} {}", self.numbers())
    }

    /// `7`, or `7 (now 9)`
    pub fn numbers(&self) -> String {
        self.now.map_or_else(|| self.line.to_string(), |now| format!("{} (now {now})", self.line))
    }
}

/// Standard output of a run.
pub struct OrderedResults {
    out: BufWriter<StandardOutput>,
    /// Whether its reader went away.
    closed: bool,
    report: Report,
    /// Records that have started, by number, with the texts of those that ended before an earlier one.
    pending: BTreeMap<u64, Option<String>>,
    /// How many rows of failed records were printed, and their causes.
    rows: usize,
    causes: Vec<Cause>,
}

/// A cause of failures, and its records that are not printed one by one.
#[derive(Debug)]
struct Cause {
    text: String,
    records: u64,
    /// The first ranges of their lines.
    lines: Vec<(u64, u64)>,
}

impl Cause {
    fn add(&mut self, line: u64) {
        self.records += 1;
        // Records end in any order.
        if let Some(range) =
            self.lines.iter_mut().find(|(first, last)| line + 1 == *first || line == last + 1)
        {
            *range = (range.0.min(line), range.1.max(line));
        } else if self.lines.len() < MAX_RANGES {
            self.lines.push((line, line));
        }
    }

    /// `lines 21-30, 35 and 7 more: failed: why`
    fn row(mut self, place: &str) -> String {
        self.lines.sort_unstable();
        self.lines.dedup_by(|next, range| {
            let is_next = next.0 == range.1 + 1;
            range.1 = if is_next { next.1 } else { range.1 };
            is_next
        });
        let named: u64 = self.lines.iter().map(|(first, last)| last - first + 1).sum();
        let ranges = self.lines.iter().map(|(first, last)| match last - first {
            0 => first.to_string(),
            1 => format!("{first}, {last}"),
            _ => format!("{first}-{last}"),
        });
        let ranges = ranges.collect::<Vec<_>>().join(", ");
        let rest = self.records - named;
        let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
        let places = if self.records == 1 { place.to_owned() } else { format!("{place}s") };
        format!("{places} {ranges}{more}: {}", self.text)
    }
}

impl OrderedResults {
    /// Results on standard output, in the output format of the command.
    pub fn new(report: &Report) -> Self {
        Self {
            out: BufWriter::with_capacity(32 * 1024, StandardOutput(report.output.clone())),
            closed: false,
            report: report.clone(),
            pending: BTreeMap::new(),
            rows: 0,
            causes: Vec::new(),
        }
    }

    /// Notes a record that begins: the texts of later ones wait for its text.
    pub fn begin(&mut self, record: u64) {
        self.pending.insert(record, None);
    }

    /// Whether the reader of standard output went away: the other results would not be read.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether so many texts wait for an early record that no later one should begin.
    pub fn is_full(&self) -> bool {
        self.pending.len() >= MAX_PENDING
    }

    /// The text of a successful record; empty for people, unless it is to be shown `whole`.
    pub fn outcome(&self, place: RecordLocation, outcome: Outcome, whole: bool) -> String {
        if self.report.is_json() {
            self.line(&Outcome { record: Some(place.record), line: Some(place.line), ..outcome })
        } else if whole {
            format!("{}: {}", place.in_words(self.report.place), outcome.to_text(self.report.stdout_style))
        } else {
            String::new()
        }
    }

    /// The text of a failed record; empty if it is collected with others of the same cause.
    pub fn failure(&mut self, place: RecordLocation, operation: &'static str, failure: &Failure) -> String {
        if !self.report.is_json() {
            let state = State::after(failure);
            let message = sanitize::message_line(&failure.message);
            let is_in_part = failure.applied == Applied::Partial;
            // A person looks at lost and partly applied records one by one.
            let is_for_person = state == State::Mismatch || is_in_part;
            let hint = failure.hint.as_ref().filter(|_| is_for_person);
            let hint = hint.map(|hint| format!("\n  hint: {}", sanitize::sanitize_line(&hint.to_string())));
            let what = if is_in_part { "applied in part" } else { state.name() };
            let text = format!("{what}: {message}");
            if !is_for_person && self.is_collected(&text, place.line) {
                return String::new();
            }
            let text = format!("{}: {text}{}", place.in_words(self.report.place), hint.unwrap_or_default());
            return self.report.stdout_style.wrapped(&text) + "\n";
        }
        let applied = failure.applied;
        let status = failure.status;
        let error = Some(failure_json(failure));
        self.line(&Outcome {
            record: Some(place.record),
            line: Some(place.line),
            applied,
            status,
            error,
            ..Outcome::not_sent(operation)
        })
    }

    /// The line of another object, for programs.
    pub fn object(&self, value: &impl Serialize) -> String {
        self.line(value)
    }

    /// Whether a row is collected for the end: many were printed, one with its text among them.
    fn is_collected(&mut self, text: &str, line: u64) -> bool {
        let is_enough = self.rows >= MAX_ROWS;
        if let Some(cause) = self.causes.iter_mut().find(|cause| cause.text == text) {
            if is_enough {
                cause.add(line);
                return true;
            }
        } else if self.causes.len() < MAX_CAUSES {
            self.causes.push(Cause { text: text.to_owned(), records: 0, lines: Vec::new() });
        }
        self.rows += 1;
        false
    }

    /// A result, or what `--jq` makes of it. If `--jq` fails, the whole result is printed: it may tell of a write.
    fn line(&self, result: &impl Serialize) -> String {
        self.report.json_text(result, false).unwrap_or_else(|failure| {
            self.report.warn(&failure.message);
            Report { filter: None, ..self.report.clone() }.json_text(result, false).unwrap_or_default()
        })
    }

    /// Takes the text of a record, and prints it and those behind it, unless an earlier one is missing.
    ///
    /// # Errors
    /// `internal` when standard output cannot be written; for a reader that went away see [`Self::is_closed`].
    pub fn push(&mut self, record: u64, text: String) -> Result<(), Failure> {
        self.pending.insert(record, Some(text));
        while let Some(first) = self.pending.first_entry().filter(|first| first.get().is_some()) {
            let text = first.remove().unwrap_or_default();
            self.write(|out| out.write_all(text.as_bytes()))?;
        }
        Ok(())
    }

    /// Flushes the output.
    pub fn flush(&mut self) -> Result<(), Failure> {
        self.write(Write::flush)
    }

    /// Prints the texts that still wait, because the run ended early, and the collected causes.
    pub fn close(&mut self) -> Result<(), Failure> {
        for text in std::mem::take(&mut self.pending).into_values().flatten() {
            self.write(|out| out.write_all(text.as_bytes()))?;
        }
        for cause in std::mem::take(&mut self.causes).into_iter().filter(|cause| cause.records > 0) {
            let text = self.report.stdout_style.wrapped(&cause.row(self.report.place)) + "\n";
            self.write(|out| out.write_all(text.as_bytes()))?;
        }
        self.flush()
    }

    fn write(
        &mut self,
        write: impl FnOnce(&mut BufWriter<StandardOutput>) -> io::Result<()>,
    ) -> Result<(), Failure> {
        match if self.closed { Ok(()) } else { write(&mut self.out) } {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            written => {
                written.map_err(|error| Failure::internal(format!("cannot write standard output: {error}")))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Cause, MAX_RANGES};

    fn row(lines: impl IntoIterator<Item = u64>) -> String {
        let mut cause = Cause { text: "failed: no".to_owned(), records: 0, lines: Vec::new() };
        lines.into_iter().for_each(|line| cause.add(line));
        cause.row("line")
    }

    #[test]
    fn the_lines_of_a_cause_are_ranges() {
        assert_eq!(row([7]), "line 7: failed: no");
        assert_eq!(row([7, 8, 30]), "lines 7, 8, 30: failed: no");
        assert_eq!(row([12, 9, 11, 10, 30]), "lines 9-12, 30: failed: no");
        let many = row((1..=MAX_RANGES as u64 + 3).map(|number| number * 2));
        assert!(many.contains("38, 40 and 3 more: failed"), "{many}");
    }
}
