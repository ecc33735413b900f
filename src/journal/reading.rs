//! Reads one journal: line by line, into a table of each record's latest state.

use std::collections::HashMap;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::header::{Header, HeaderLine, Mismatch};
use super::line_parser;
use super::torn::{self, Torn};
use crate::failure::Failure;
use crate::journal::entry::FailedFileEntry;
use crate::journal::partition::Shard;
use crate::journal::record_index::{IndexEntry, RecordIndex};
use crate::journal::record_state::RecordState;
use crate::storage::Log;

/// A journal that was read.
#[derive(Debug)]
pub struct ReadJournal {
    /// The latest state of each record.
    pub ledger: RecordIndex,
    /// What earlier runs wrote with `--failed`, oldest first.
    pub failed_files: Vec<FailedFileEntry>,
    /// The shard of each header, in their order.
    pub shards: Vec<Option<Shard>>,
    /// Whether the last line is not complete.
    pub is_torn: bool,
}

/// A line: of a header, of a record, or of the file of failed records.
#[derive(Debug, Deserialize)]
struct Line {
    record: Option<u64>,
    state: Option<String>,
    hash: Option<String>,
    temporary: Option<bool>,
    status: Option<serde_json::Value>,
    journal: Option<IgnoredAny>,
    failed_file: Option<FailedFileEntry>,
}

/// Why a journal was not read.
#[derive(Debug)]
pub enum Unread {
    /// Its first line is of something else.
    Other(Mismatch),
    /// It has no line.
    Empty,
    /// Anything else: refused.
    Refused(Failure),
}

/// Reads a journal of the batch that `header` describes; shards are not compared. `directory` is for the table.
///
/// # Errors
/// [`Unread`]; a damaged journal is `guard`.
pub fn read(path: &Path, log: &dyn Log, header: &Header, directory: &Path) -> Result<ReadJournal, Unread> {
    let mut reading = Reading {
        path,
        header,
        in_flight: HashMap::new(),
        pending: Vec::new(),
        journal: ReadJournal {
            ledger: RecordIndex::new(directory),
            failed_files: Vec::new(),
            shards: Vec::new(),
            is_torn: false,
        },
    };
    reading.lines(log)?;
    reading.finish()
}

/// The first line of a journal, where it has one.
///
/// # Errors
/// The system's error.
pub fn first_line(log: &dyn Log) -> std::io::Result<Option<HeaderLine>> {
    /// No header is nearly as long.
    const MAX_HEADER: u64 = 64 << 10;
    let mut line = Vec::new();
    let reader = std::io::Read::take(log.reader(0), MAX_HEADER);
    BufReader::new(reader).read_until(b'\n', &mut line)?;
    Ok(if line.last() == Some(&b'\n') { serde_json::from_slice(&line).ok() } else { None })
}

struct Reading<'a> {
    path: &'a Path,
    header: &'a Header,
    /// Records at `sending`: there are never many, so that each record is written to the table once.
    in_flight: HashMap<u64, IndexEntry>,
    /// Lines that cannot be read, of which it is not known yet whether they end a run: number, place, what they are.
    pending: Vec<(u64, u64, Torn)>,
    journal: ReadJournal,
}

impl Reading<'_> {
    fn lines(&mut self, log: &dyn Log) -> Result<(), Unread> {
        let mut reader = BufReader::with_capacity(64 << 10, log.reader(0));
        let (mut place, mut number) = (0, 0_u64);
        let mut line = Vec::new();
        loop {
            line.clear();
            let length = reader.read_until(b'\n', &mut line).map_err(|error| self.unreadable(&error))?;
            if length == 0 {
                return if number == 0 { Err(Unread::Empty) } else { Ok(()) };
            }
            number += 1;
            if line.last() == Some(&b'\n') {
                self.line(&line, number, place)?;
            } else if number == 1 {
                return Err(Unread::Other(Mismatch::NotAJournal));
            } else {
                self.journal.is_torn = true;
                self.pending.push((number, place, torn::judge(&line)));
            }
            place += length as u64;
        }
    }

    fn line(&mut self, text: &[u8], number: u64, place: u64) -> Result<(), Unread> {
        if number > 1
            && self.pending.is_empty()
            && let Some(line) = line_parser::parse(text)
        {
            let line_parser::PlainLine { record, state, hash, status } = line;
            return self.entry(record, IndexEntry { state, hash, offset: place, status, journal: 0 });
        }
        let parsed: Option<Line> = serde_json::from_slice(text).ok();
        if number == 1 || parsed.as_ref().is_some_and(|line| line.journal.is_some()) {
            return self.header(text, number);
        }
        let Some(line) = parsed else {
            self.pending.push((number, place, torn::judge(text)));
            return Ok(());
        };
        // Only a new run can follow a line that was cut off.
        if let Some((torn, ..)) = self.pending.first() {
            return Err(self.damaged(*torn, "invalid entry"));
        }
        if let Some(file) = line.failed_file {
            self.journal.failed_files.push(file);
            return Ok(());
        }
        let record = line.record.filter(|record| *record > 0);
        let (Some(record), Some(state)) = (record, state(&line)) else {
            return Err(self.damaged(number, "missing record number or state"));
        };
        let hash = line.hash.and_then(|hash| u64::from_str_radix(&hash, 16).ok());
        let hash = hash.ok_or_else(|| self.damaged(number, "missing hash"))?;
        let status = line.status.as_ref().and_then(serde_json::Value::as_u64).unwrap_or_default();
        let status = if state == RecordState::Done { status.try_into().unwrap_or_default() } else { 0 };
        self.entry(record, IndexEntry { state, hash, offset: place, status, journal: 0 })
    }

    fn entry(&mut self, record: u64, entry: IndexEntry) -> Result<(), Unread> {
        if entry.state == RecordState::Sending {
            self.in_flight.insert(record, entry);
            return Ok(());
        }
        self.in_flight.remove(&record);
        self.set(record, entry)
    }

    fn header(&mut self, text: &[u8], number: u64) -> Result<(), Unread> {
        let parsed: HeaderLine =
            serde_json::from_slice(text).map_err(|_| Unread::Other(Mismatch::NotAJournal))?;
        let shard = self.header.matches(parsed).map_err(|mismatch| {
            if number == 1 {
                Unread::Other(mismatch)
            } else {
                self.damaged(number, &format!("the entry {mismatch}"))
            }
        })?;
        self.journal.shards.push(shard);
        self.settle_pending()
    }

    /// Lines that were cut off end a run: what they name may have been sent.
    fn settle_pending(&mut self) -> Result<(), Unread> {
        for (number, place, torn) in std::mem::take(&mut self.pending) {
            match torn {
                Torn::Incomplete => {}
                Torn::Damaged => return Err(self.damaged(number, "invalid entry")),
                Torn::Record(record, hash) => {
                    let known = match self.in_flight.get(&record) {
                        Some(slot) => slot.hash,
                        None => {
                            self.journal.ledger.get(record).map_err(|error| self.unreadable(&error))?.hash
                        }
                    };
                    let hash = hash.unwrap_or(known);
                    let state = RecordState::Sending;
                    let entry = IndexEntry { state, hash, offset: place, ..IndexEntry::default() };
                    self.in_flight.insert(record, entry);
                }
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<ReadJournal, Unread> {
        self.settle_pending()?;
        for (record, slot) in std::mem::take(&mut self.in_flight) {
            self.set(record, slot)?;
        }
        Ok(self.journal)
    }

    fn set(&mut self, record: u64, slot: IndexEntry) -> Result<(), Unread> {
        self.journal.ledger.set(record, slot).map_err(|error| {
            Unread::Refused(Failure::internal(format!("cannot write the journal index: {error}")))
        })
    }

    fn damaged(&self, number: u64, what: &str) -> Unread {
        Unread::Refused(
            Failure::guard(format!("journal `{}` is corrupt at line {number}: {what}", self.path.display()))
                .hint("repair or delete that line if you know the record's outcome, or use --restart"),
        )
    }

    fn unreadable(&self, error: &std::io::Error) -> Unread {
        Unread::Refused(Failure::guard(format!("cannot read journal `{}`: {error}", self.path.display())))
    }
}

fn state(line: &Line) -> Option<RecordState> {
    Some(match line.state.as_deref()? {
        "sending" => RecordState::Sending,
        "unknown" => RecordState::Unknown,
        "done" => RecordState::Done,
        "failed" if line.temporary == Some(true) => RecordState::FailedTemporary,
        "failed" if line.temporary == Some(false) => RecordState::FailedPermanent,
        _ => return None,
    })
}
