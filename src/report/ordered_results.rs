//! Results of a run on standard output, in the input's order whatever order they come in.

use std::collections::BTreeMap;
use std::io::{self, BufWriter, Write};

use serde::Serialize;
use serde_json::{Map, Value};

use super::failure::failure_json;
use super::outcome::Outcome;
use super::{Report, StandardOutput};
use crate::failure::{Applied, Failure, FailureKind};
use crate::sanitize;

/// How many results may wait for an earlier one.
const MAX_PENDING: u64 = 1024;
/// How many bytes of results may wait for an earlier one.
const MAX_PENDING_BYTES: usize = 1 << 20;

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
    bytes: usize,
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
            bytes: 0,
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
        self.turns - self.next >= MAX_PENDING || self.bytes >= MAX_PENDING_BYTES
    }

    /// The text of a record that went through. For people that is nothing, unless it is to be shown `whole`.
    pub fn outcome(&self, place: RecordLocation, outcome: &Outcome, whole: bool) -> String {
        if self.report.is_json() {
            self.line(&outcome.result(Some(place.record)))
        } else if whole {
            format!("line {}: {}", place.line, outcome.to_text(self.report.stdout_style()))
        } else {
            String::new()
        }
    }

    /// The text of a record that did not go through.
    pub fn failure(&self, place: RecordLocation, operation: &str, failure: &Failure) -> String {
        if !self.report.is_json() {
            let what = match (failure.applied, failure.kind) {
                (Applied::Unknown, _) => "unknown",
                (_, FailureKind::Mismatch) => "mismatch",
                _ => "failed",
            };
            let message = sanitize::sanitize_line(without_place(failure, place.line));
            return format!("line {}: {what}: {message}\n", place.line);
        }
        let mut line = Map::new();
        let mut set = |name: &str, value: Value| drop(line.insert(name.to_owned(), value));
        set("operation", operation.into());
        set("record", place.record.into());
        set("applied", failure.applied.name().into());
        set("status", failure.status.into());
        set("response", Value::Null);
        if let Value::Object(error) = failure_json(failure) {
            line.extend(error);
        }
        self.line(&Value::Object(line))
    }

    /// A result, or what `--jq` makes of it. Where that fails the whole result is printed: it may tell of a write.
    fn line(&self, result: &impl Serialize) -> String {
        self.report.line(result).unwrap_or_else(|failure| {
            self.report.warn(&failure.message);
            Report { filter: None, ..self.report }.line(result).unwrap_or_default()
        })
    }

    /// Takes the text of a turn, and prints what has its turn now.
    ///
    /// # Errors
    /// `internal` when standard output cannot be written; for a reader that went away see [`Self::is_closed`].
    pub fn push(&mut self, turn: u64, text: String) -> Result<(), Failure> {
        if turn != self.next {
            self.bytes += text.len();
            self.pending.insert(turn, text);
            return Ok(());
        }
        self.print(&text)?;
        self.next += 1;
        while let Some(text) = self.pending.remove(&self.next) {
            self.bytes -= text.len();
            self.print(&text)?;
            self.next += 1;
        }
        Ok(())
    }

    /// Hands on what is printed.
    pub fn flush(&mut self) -> Result<(), Failure> {
        if self.out.buffer().is_empty() || self.closed {
            return Ok(());
        }
        let flushed = self.out.flush();
        self.written(flushed)
    }

    /// Prints what is held, though earlier ones are missing: the run was broken off.
    pub fn close(&mut self) -> Result<(), Failure> {
        for text in std::mem::take(&mut self.pending).into_values() {
            self.print(&text)?;
        }
        self.flush()
    }

    fn print(&mut self, text: &str) -> Result<(), Failure> {
        if text.is_empty() || self.closed {
            return Ok(());
        }
        let written = self.out.write_all(text.as_bytes());
        self.written(written)
    }

    fn written(&mut self, written: io::Result<()>) -> Result<(), Failure> {
        match written {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                self.closed = true;
                Ok(())
            }
            Err(error) => Err(Failure::internal(format!("cannot write standard output: {error}"))),
            Ok(()) => Ok(()),
        }
    }
}

/// The message of a failure without the file and the line of its record, which are given before it.
fn without_place(failure: &Failure, line: u64) -> &str {
    let message = failure.message.as_str();
    if failure.kind != FailureKind::Usage || failure.status.is_some() {
        return message;
    }
    let Some((_, rest)) = message.split_once(&format!(": line {line}")) else { return message };
    rest.strip_prefix(": ").or_else(|| rest.strip_prefix(", ")).unwrap_or(message)
}
