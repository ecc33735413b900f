//! Results of a run on standard output, in the input's order whatever order they come in.

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
    /// Records that have begun, by number, with the texts of those that ended before an earlier one.
    pending: BTreeMap<u64, Option<String>>,
}

impl OrderedResults {
    /// Results on standard output, in the output format of the command.
    pub fn new(report: &Report) -> Self {
        Self {
            out: BufWriter::with_capacity(32 * 1024, StandardOutput(report.output.clone())),
            closed: false,
            report: report.clone(),
            pending: BTreeMap::new(),
        }
    }

    /// Takes note of a record that begins: what later ones print waits for its text.
    pub fn begin(&mut self, record: u64) {
        self.pending.insert(record, None);
    }

    /// Whether the reader of standard output went away: the other results would not be read.
    pub fn is_closed(&self) -> bool {
        self.closed
    }

    /// Whether so much waits for an early record that no later one should begin.
    pub fn is_full(&self) -> bool {
        self.pending.len() >= MAX_PENDING
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
            let state = State::after(failure);
            let message = sanitize::message_line(&failure.message);
            let is_in_part = failure.applied == Applied::Partial;
            // What was lost, or applied in part, is for a person to look at, record by record.
            let is_for_person = state == State::Mismatch || is_in_part;
            let hint = failure.hint.as_ref().filter(|_| is_for_person);
            let hint = hint.map(|hint| format!("\n  hint: {}", sanitize::sanitize_line(hint)));
            let place = format!("{} {}", self.report.place, place.line);
            let what = if is_in_part { "applied in part" } else { state.name() };
            let text = format!("{place}: {what}: {message}{}", hint.unwrap_or_default());
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

    /// Hands on what is printed.
    pub fn flush(&mut self) -> Result<(), Failure> {
        self.write(Write::flush)
    }

    /// Prints what is held, though earlier ones are missing: the run was broken off.
    pub fn close(&mut self) -> Result<(), Failure> {
        for text in std::mem::take(&mut self.pending).into_values().flatten() {
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
