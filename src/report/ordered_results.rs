//! Results of a run on standard output, in the input's order whatever order they come in.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};

use serde::Serialize;

use super::failure::failure_json;
use super::outcome::Outcome;
use super::{Report, StandardOutput};
use crate::failure::{Failure, FailureKind};
use crate::journal::{State, state_after};
use crate::text::sanitize;

/// How many results may wait for an earlier one.
const MAX_PENDING: u64 = 1024;

/// Where a record stands in the input.
#[derive(Debug, Clone, Copy)]
pub struct RecordLocation {
    /// Its number, from 1.
    pub record: u64,
    /// Its line, from 1.
    pub line: u64,
}

/// Standard output of a run.
pub struct OrderedResults {
    out: BufWriter<StandardOutput>,
    /// Whether its reader went away.
    closed: bool,
    report: Report,
    /// Results that came before their turn.
    pending: BTreeMap<u64, String>,
    /// Turns taken, and the turn to be printed next.
    turns: u64,
    next: u64,
}

impl OrderedResults {
    /// Results on standard output, in the output format of the command.
    pub fn new(report: &Report) -> Self {
        Self {
            out: BufWriter::with_capacity(32 * 1024, StandardOutput),
            closed: false,
            report: *report,
            pending: BTreeMap::new(),
            turns: 0,
            next: 0,
        }
    }

    /// The turn of the next record of the input.
    pub fn next_sequence(&mut self) -> u64 {
        self.turns += 1;
        self.turns - 1
    }

    /// Whether the reader of standard output went away: the other results would not be read.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether so much waits for an early record that no later one should begin.
    pub fn is_full(&self) -> bool {
        self.turns - self.next >= MAX_PENDING
    }

    /// The text of a record that went through. For people that is nothing, unless it is to be shown `whole`.
    pub fn outcome(&self, place: RecordLocation, outcome: &Outcome, whole: bool) -> String {
        if self.report.is_json() {
            self.line(&Outcome { record: Some(place.record), ..outcome.clone() })
        } else if whole {
            format!("{} {}: {}", self.report.place, place.line, outcome.to_text(self.report.stdout_style))
        } else {
            String::new()
        }
    }

    /// The text of a record that did not go through.
    pub fn failure(&self, place: RecordLocation, operation: &'static str, failure: &Failure) -> String {
        if !self.report.is_json() {
            let state = state_after(failure);
            let message = without_place(failure, place.line);
            // What was lost is for a person to look at, record by record.
            let hint = failure.hint.as_ref().filter(|_| state == State::Mismatch);
            let hint = hint.map(|hint| format!("\n  hint: {}", sanitize::sanitize_line(hint)));
            let place = format!("{} {}", self.report.place, place.line);
            let text = format!("{place}: {}: {message}{}", state.name(), hint.unwrap_or_default());
            return self.report.stdout_style.wrapped(&text) + "\n";
        }
        let (applied, status, error) = (failure.applied, failure.status, Some(failure_json(failure)));
        self.line(&Outcome {
            record: Some(place.record),
            applied,
            status,
            error,
            ..Outcome::not_sent(operation)
        })
    }

    /// A result, or what `--jq` makes of it. Where that fails the whole result is printed: it may tell of a write.
    fn line(&self, result: &impl Serialize) -> String {
        self.report.json_text(result, false).unwrap_or_else(|failure| {
            self.report.warn(&failure.message);
            Report { filter: None, ..self.report }.json_text(result, false).unwrap_or_default()
        })
    }

    /// Takes the text of a turn, and prints what has its turn now.
    ///
    /// # Errors
    /// `internal` when standard output cannot be written; for a reader that went away see [`Self::is_closed`].
    pub fn push(&mut self, turn: u64, text: String) -> Result<(), Failure> {
        self.pending.insert(turn, text);
        while let Some(text) = self.pending.remove(&self.next) {
            self.next += 1;
            self.write(|out| out.write_all(text.as_bytes()))?;
        }
        Ok(())
    }

    /// Hands on what is printed.
    pub fn flush(&mut self) -> Result<(), Failure> {
        self.write(Write::flush)
    }

    /// Prints what is held, though earlier ones are missing: the run was broken off.
    pub fn close(&mut self) -> Result<(), Failure> {
        for text in std::mem::take(&mut self.pending).into_values() {
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

/// The message of a failure without the file and the line of its record, which are given before it.
fn without_place(failure: &Failure, line: u64) -> String {
    let message = sanitize::message_line(&failure.message);
    if failure.kind != FailureKind::Usage || failure.status.is_some() {
        return message;
    }
    let Some((_, rest)) = message.split_once(&format!(": line {line}")) else { return message };
    let rest = rest.strip_prefix(": ").or_else(|| rest.strip_prefix(", "));
    rest.map_or_else(|| message.clone(), str::to_owned)
}
