//! What an earlier run left in its journal.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Seek, SeekFrom};
use std::path::Path;

use serde::Deserialize;

use super::journal::Header;
use super::ledger::{Ledger, Slot, Slots};
use super::verdict::State;
use crate::cli::run::Shard;
use crate::failure::{Applied, Failure, Kind};

/// The last word on every record of an earlier run; empty where there was none.
#[derive(Debug, Default)]
pub struct Past {
    ledger: Option<Ledger>,
    journal: Option<File>,
    /// Name of the input it was made for.
    pub input: String,
    /// What was odd about it, to be told.
    pub notes: Vec<String>,
}

/// A line: of a header, or of a record.
#[derive(Debug, Deserialize)]
struct Line {
    record: Option<u64>,
    state: Option<String>,
    hash: Option<String>,
    passing: Option<bool>,
    journal: Option<String>,
    operation: Option<String>,
    input: Option<String>,
    service: Option<String>,
    shard: Option<String>,
}

/// What was written of a record beside its state.
#[derive(Debug, Default, Deserialize)]
struct Detail {
    status: Option<u16>,
    kind: Option<String>,
    reason: Option<String>,
    applied: Option<String>,
}

impl Past {
    /// Reads a journal, and cuts off a last line that was not finished.
    ///
    /// # Errors
    /// `guard` when it is damaged, no journal at all, or of another operation, service or part.
    pub fn read(path: &Path, file: &File, header: &Header) -> Result<Self, Failure> {
        let broken = |error: std::io::Error| {
            Failure::guard(format!(
                "the journal {} cannot be read: {error}; nothing was sent",
                path.display()
            ))
        };
        let directory =
            path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let mut reading = Reading {
            path,
            header,
            ledger: Ledger::new(directory).map_err(broken)?,
            standing: HashMap::new(),
            shards: Vec::new(),
            input: None,
        };
        let (end, whole) = reading.lines(file)?;
        reading.parts()?;
        let mut notes = Vec::new();
        if !whole {
            file.set_len(end).map_err(broken)?;
            notes.push(format!(
                "the journal {} was cut off in the middle of its last line; that line is left out",
                path.display()
            ));
        }
        let (ledger, input) = reading.finish().map_err(broken)?;
        let journal = file.try_clone().map_err(broken)?;
        Ok(Self { ledger: Some(ledger), journal: Some(journal), input, notes })
    }

    /// Whether there is an earlier run.
    pub fn is_there(&self) -> bool {
        self.ledger.is_some()
    }

    /// The highest record number it knows.
    pub fn last(&self) -> u64 {
        self.ledger.as_ref().map_or(0, |ledger| ledger.last)
    }

    /// The last word on each record, from the first on.
    ///
    /// # Errors
    /// `internal` when the table cannot be read.
    pub fn slots(&mut self) -> Result<Slots, Failure> {
        let slots = self.ledger.as_mut().map(Ledger::slots).transpose();
        Ok(slots.map_err(|error| unreadable(&error))?.unwrap_or_default())
    }

    /// The status with which a record was done.
    pub fn status(&self, slot: Slot) -> Option<u16> {
        self.detail(slot).status
    }

    /// The failure a record ended with in the earlier run.
    pub fn failure(&self, slot: Slot) -> Failure {
        let detail = self.detail(slot);
        if slot.state != State::FailedLasting {
            let why = detail.reason.map(|reason| format!(": {reason}")).unwrap_or_default();
            return Failure::new(
                Kind::Unknown,
                format!("it was sent by an earlier run, and nobody knows whether it was applied{why}"),
            )
            .hint("look whether it took effect; --resume --retry-unknown sends it again");
        }
        let kind = detail.kind.as_deref().and_then(Kind::from_name).unwrap_or(Kind::Refused);
        let reason = detail.reason.unwrap_or_else(|| "no reason is known".to_owned());
        let mut failure = Failure::new(kind, format!("it failed in an earlier run: {reason}"))
            .hint("mend the record, then --resume sends it");
        failure.status = detail.status;
        failure.applied = if detail.applied.as_deref() == Some("yes") { Applied::Yes } else { Applied::No };
        failure
    }

    fn detail(&self, slot: Slot) -> Detail {
        let read = || -> Option<Detail> {
            let file = self.journal.as_ref()?;
            let mut reader = BufReader::with_capacity(1024, file);
            reader.seek(SeekFrom::Start(slot.place)).ok()?;
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            serde_json::from_str(&line).ok()
        };
        read().unwrap_or_default()
    }
}

/// A journal while it is read.
struct Reading<'a> {
    path: &'a Path,
    header: &'a Header,
    ledger: Ledger,
    /// Records at `sending`: there are never many, so that each record is written to the table once.
    standing: HashMap<u64, Slot>,
    shards: Vec<Option<Shard>>,
    input: Option<String>,
}

impl Reading<'_> {
    /// Where the last whole line ends, and whether it is the end of the file.
    fn lines(&mut self, file: &File) -> Result<(u64, bool), Failure> {
        let mut reader = BufReader::new(file);
        let (mut place, mut number) = (0, 0_u64);
        let mut line = Vec::new();
        reader.rewind().map_err(|error| self.refused_because(&format!("cannot be read: {error}")))?;
        loop {
            line.clear();
            let length = match reader.read_until(b'\n', &mut line) {
                Ok(0) => return Ok((place, true)),
                Ok(length) => length as u64,
                Err(error) => return Err(self.refused_because(&format!("cannot be read: {error}"))),
            };
            if line.last() != Some(&b'\n') {
                return Ok((place, false));
            }
            number += 1;
            self.line(&line, number, place)?;
            place += length;
        }
    }

    fn line(&mut self, text: &[u8], number: u64, place: u64) -> Result<(), Failure> {
        let damaged = |what: &str| {
            Failure::guard(format!(
                "the journal {} is damaged: line {number} {what}; nothing was sent",
                self.path.display()
            ))
            .hint("mend or remove that line, if you know what became of its record; --restart runs every record again")
        };
        let line: Line = serde_json::from_slice(text).map_err(|_| {
            if number == 1 {
                self.refused_because("is no journal of a run")
            } else {
                damaged("is not understood")
            }
        })?;
        if line.journal.is_some() {
            return self.header(line);
        }
        if number == 1 {
            return Err(self.refused_because("is no journal of a run"));
        }
        let record = line.record.filter(|record| *record > 0);
        let (Some(record), Some(state)) = (record, state(&line)) else {
            return Err(damaged("names no record"));
        };
        let hash = line.hash.and_then(|hash| u64::from_str_radix(&hash, 16).ok());
        let hash = hash.ok_or_else(|| damaged("has no hash"))?;
        let slot = Slot { state, hash, place };
        if state == State::Sending {
            self.standing.insert(record, slot);
            return Ok(());
        }
        self.standing.remove(&record);
        self.ledger.set(record, slot).map_err(|error| unreadable(&error))
    }

    fn header(&mut self, line: Line) -> Result<(), Failure> {
        let other = |what: &str, theirs: &str, ours: &str| {
            self.refused_because(&format!("is of another {what}: {theirs}, not {ours}"))
        };
        let (operation, service) = (line.operation.unwrap_or_default(), line.service.unwrap_or_default());
        if operation != self.header.operation {
            return Err(other("operation", &operation, self.header.operation));
        }
        if service != self.header.service {
            return Err(other("service", &service, &self.header.service));
        }
        let shard = line.shard.map(|shard| shard.parse::<Shard>()).transpose();
        self.shards
            .push(shard.map_err(|_| self.refused_because("names no part of an input that is understood"))?);
        self.input.get_or_insert(line.input.unwrap_or_default());
        Ok(())
    }

    /// The table, once the journal fits the run; and the name of its input.
    fn finish(mut self) -> std::io::Result<(Ledger, String)> {
        for (record, slot) in self.standing.drain() {
            self.ledger.set(record, slot)?;
        }
        Ok((self.ledger, self.input.unwrap_or_default()))
    }

    /// Parts put together are the whole only when none is lacking: the records of a lacking one would be sent again.
    fn parts(&self) -> Result<(), Failure> {
        let ours = self.header.shard;
        let complete = |of: u32| (0..of).all(|index| self.shards.contains(&Some(Shard { index, of })));
        for theirs in &self.shards {
            match (theirs, ours) {
                (theirs, ours) if *theirs == ours => {}
                (Some(theirs), None) if complete(theirs.of) => {}
                (Some(theirs), None) => {
                    return Err(self.refused_because(&format!(
                        "is of part {theirs}, and the journals of the other parts are not in it"
                    )));
                }
                (Some(theirs), Some(ours)) => {
                    return Err(self.refused_because(&format!("is of part {theirs}, not of part {ours}")));
                }
                (None, _) => {}
            }
        }
        Ok(())
    }

    fn refused_because(&self, what: &str) -> Failure {
        Failure::guard(format!("the journal {} {what}; nothing was sent", self.path.display())).hint(
            "name the right one with --journal; --restart throws this one away and runs every record again",
        )
    }
}

fn state(line: &Line) -> Option<State> {
    Some(match line.state.as_deref()? {
        "sending" => State::Sending,
        "unknown" => State::Unknown,
        "done" => State::Done,
        "failed" if line.passing == Some(true) => State::FailedPassing,
        "failed" => State::FailedLasting,
        _ => return None,
    })
}

fn unreadable(error: &std::io::Error) -> Failure {
    Failure::internal(format!("the table of the journal's records cannot be kept: {error}; nothing was sent"))
}
