//! Reads a journal line by line into the latest entry of each record.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

pub use super::places::LatestEntry;
use super::places::Places;
use super::{Entry, JournalHeader, JournalLine, OTHER_TITLES, State};
use crate::system::storage::Log;
use storefront_core::failure::{Applied, Failure};

/// A record with a higher number counts as damage.
const MAX_RECORD: u64 = 100_000_000;

/// What earlier runs left; empty without earlier runs.
#[derive(Debug, Default)]
pub struct PreviousRuns {
    records: BTreeMap<u64, LatestEntry>,
    /// Where they are in the input now.
    places: Places,
    log: Option<Arc<dyn Log>>,
    /// Whether none of it counts: it was started for another service or with other titles, and had no effect.
    pub is_void: bool,
    /// What is wrong with lines at the ends of runs, if anything.
    pub warning: Option<String>,
    /// Whether flags of a run set fields of the records.
    pub has_flags: bool,
    /// Whether a run was to send again what other journals show as sent.
    pub is_restarted: bool,
    /// When the first run began.
    pub started: Option<String>,
    /// The random names of the runs.
    runs: Vec<String>,
    /// The random names of the runs that noted a record.
    noting: Vec<String>,
    /// The ids of the logs that have the runs; `None` for a run without one.
    logs: BTreeSet<Option<String>>,
    /// Whether a run has no random name.
    has_nameless_run: bool,
    /// The header of the last run.
    last_run: Option<JournalHeader>,
}

impl PreviousRuns {
    /// The highest record number in it.
    pub fn last(&self) -> u64 {
        self.records.last_key_value().map_or(0, |(record, _)| *record)
    }

    /// Whether it names this record.
    pub fn has(&self, record: u64) -> bool {
        self.records.contains_key(&record)
    }

    /// Finds its records in an input; `read` passes on the place and the hash of each record.
    ///
    /// # Errors
    /// Those of `read`.
    pub fn find_places<E>(
        &mut self,
        read: impl FnMut(&mut dyn FnMut(u64, u64)) -> Result<(), E>,
    ) -> Result<(), E> {
        self.places = self.places_in(read)?;
        Ok(())
    }

    /// Where its records are in an input; see [`Self::find_places`].
    ///
    /// # Errors
    /// Those of `read`.
    pub fn places_in<E>(
        &self,
        read: impl FnMut(&mut dyn FnMut(u64, u64)) -> Result<(), E>,
    ) -> Result<Places, E> {
        Places::find(&self.records, read)
    }

    /// Where its records are in the input.
    pub fn places(&self) -> &Places {
        &self.places
    }

    /// Whether any record is done.
    pub fn has_done(&self) -> bool {
        self.records.values().any(|latest| latest.state == State::Done)
    }

    /// Whether every record of this input is done.
    pub fn is_complete(&self, input: &JournalHeader) -> bool {
        let is_same = |run: &JournalHeader| run.sha256.is_some() && run.sha256 == input.sha256;
        self.last_run.as_ref().is_some_and(is_same)
            && self.has_all()
            && self.records.values().all(|it| it.state == State::Done)
    }

    /// Whether resuming it would do nothing: each record of its input is done, or needs a person.
    pub fn is_settled(&self) -> bool {
        let is_open = |latest: &LatestEntry| {
            matches!(latest.state, State::NotSent | State::Sending | State::Unknown | State::FailedTemporary)
        };
        self.has_all() && !self.records.values().any(is_open)
    }

    /// Whether it has as many records as its last run was to have.
    fn has_all(&self) -> bool {
        self.last_run.as_ref().and_then(JournalHeader::own_records) == Some(self.records.len() as u64)
    }

    /// How many records it has in this state.
    pub fn count(&self, state: State) -> u64 {
        self.records.values().filter(|latest| latest.state == state).count() as u64
    }

    /// How many records it has in each state.
    pub fn counts(&self) -> BTreeMap<&'static str, u64> {
        let mut counts = BTreeMap::new();
        for latest in self.records.values() {
            *counts.entry(latest.state.name()).or_default() += 1;
        }
        counts
    }

    /// Closes a journal none of whose records counts.
    pub(super) fn close(&mut self) {
        self.log = None;
    }

    /// Its length in bytes.
    ///
    /// # Errors
    /// The system's errors.
    pub fn length(&self) -> std::io::Result<u64> {
        self.log.as_ref().map_or(Ok(0), |log| log.length())
    }

    /// The latest entry of a record, by its name.
    pub fn latest(&self, record: u64) -> LatestEntry {
        self.records.get(&record).copied().unwrap_or_default()
    }

    /// The random names of the runs.
    pub fn runs(&self) -> &[String] {
        &self.runs
    }

    /// The runs that noted a record: the others sent nothing.
    pub fn noting_runs(&self) -> &[String] {
        &self.noting
    }

    /// Whether all of its runs are in this log.
    pub fn is_of_log(&self, id: &str) -> bool {
        self.logs.iter().all(|log| log.as_deref() == Some(id))
    }

    /// The key by which the log finds a record.
    pub fn of(&self, record: u64) -> OfRuns {
        OfRuns { runs: self.runs.clone(), record }
    }

    /// Whether something was sent for each record, and whether a person noted it as done last.
    ///
    /// # Errors
    /// The system's errors.
    pub fn noted(&self) -> io::Result<HashMap<u64, Noted>> {
        let mut noted = HashMap::<u64, Noted>::new();
        let Some(log) = &self.log else { return Ok(noted) };
        let mut reader = BufReader::with_capacity(64 << 10, log.reader(0));
        let mut line = Vec::new();
        while reader.read_until(b'\n', &mut line)? > 0 {
            if let Some(JournalLine::Record(entry)) = JournalLine::parse(written(&line)) {
                let of = noted.entry(entry.line).or_default();
                of.is_by_hand = entry.is_by_hand();
                of.was_sent |= entry.state == State::Sending;
            }
            line.clear();
        }
        Ok(noted)
    }

    /// Resets records in the state `sending` to not sent, if `unsent` finds, by the random names of the runs, that
    /// nothing of them left.
    ///
    /// # Errors
    /// Those of `unsent`.
    pub fn settle_sending(
        &mut self,
        unsent: impl FnOnce(&[String], &[u64]) -> Result<Vec<u64>, Failure>,
    ) -> Result<(), Failure> {
        let is_sending = |(_, latest): &(u64, LatestEntry)| latest.state == State::Sending;
        let sending: Vec<u64> = self.records().filter(is_sending).map(|(record, _)| record).collect();
        if sending.is_empty() || self.has_nameless_run {
            return Ok(());
        }
        for record in unsent(&self.noting, &sending)? {
            match self.records.get_mut(&record) {
                Some(latest) if latest.hash != 0 => (latest.state, latest.has_left) = (State::NotSent, false),
                // Its line was cut off before the hash: it says nothing of any row.
                _ => drop(self.records.remove(&record)),
            }
        }
        Ok(())
    }

    /// Whether it has records of unknown outcome.
    pub fn has_open(&self) -> bool {
        self.records.values().any(|latest| matches!(latest.state, State::Sending | State::Unknown))
    }

    /// Notes that a look has found a record of unknown outcome done.
    pub fn found_done(&mut self, record: u64, status: u16) {
        self.records.entry(record).and_modify(|latest| {
            (latest.state, latest.status, latest.is_looked_at) = (State::Done, status, true);
        });
    }

    /// Notes that a look has found the first call of a record applied, and another one missing.
    pub fn found_in_part(&mut self, record: u64) {
        self.records.entry(record).and_modify(|latest| {
            (latest.state, latest.is_partial, latest.is_looked_at) = (State::FailedTemporary, true, true);
        });
    }

    /// Notes that a look has not settled a record.
    pub fn found_open(&mut self, record: u64) {
        self.records.entry(record).and_modify(|latest| latest.is_looked_at = true);
    }

    /// The records that it names, by their numbers, with their latest entries.
    pub fn records(&self) -> impl Iterator<Item = (u64, LatestEntry)> + '_ {
        self.records.iter().map(|(number, latest)| (*number, *latest))
    }

    /// Whether nothing of it can have been applied.
    fn is_without_effect(&self) -> bool {
        self.records.values().all(|latest| match latest.state {
            State::NotSent | State::Declined => true,
            State::FailedPermanent | State::FailedTemporary => {
                self.entry(*latest).applied.is_none_or(|applied| applied == Applied::No)
            }
            _ => false,
        })
    }

    /// The whole entry, read again.
    pub fn entry(&self, latest: LatestEntry) -> Entry {
        let mut line = Vec::new();
        if let Some(log) = self.log.as_ref().filter(|_| latest.state != State::NotSent) {
            let _ = BufReader::with_capacity(1024, log.reader(latest.offset)).read_until(b'\n', &mut line);
        }
        match JournalLine::parse(written(&line)) {
            Some(JournalLine::Record(entry)) => entry,
            _ => Entry::default(),
        }
    }
}

/// A record of some runs: the key by which the log finds its writes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OfRuns {
    /// The random names of the runs over its journal.
    pub runs: Vec<String>,
    /// Its number.
    pub record: u64,
}

/// Whether something was sent for a record, and whether a person noted it as done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Noted {
    /// Whether something was sent for it.
    pub was_sent: bool,
    /// Whether a person noted that it is done.
    pub is_by_hand: bool,
}

/// The header of a journal, if it has one.
///
/// # Errors
/// The system's error.
pub fn header(log: &dyn Log) -> io::Result<Option<JournalHeader>> {
    /// The longest header.
    const MAX_HEADER: u64 = 64 << 10;
    let mut line = Vec::new();
    BufReader::new(Read::take(log.reader(0), MAX_HEADER)).read_until(b'\n', &mut line)?;
    Ok(match JournalLine::parse(&line).filter(|_| line.last() == Some(&b'\n')) {
        Some(JournalLine::Header(header)) => Some(*header),
        _ => None,
    })
}

/// Reads a journal of the batch that `header` describes. A journal that was started for another service, or with other
/// titles, does not count if it had no effect.
///
/// # Errors
/// `guard` for a journal of something else, and for a damaged one.
pub fn read(path: &Path, log: &Arc<dyn Log>, header: &JournalHeader) -> Result<PreviousRuns, Failure> {
    let past = PreviousRuns { log: Some(log.clone()), ..PreviousRuns::default() };
    let mut reading = Reading { path, header, partial: Vec::new(), past, other: None };
    let mut reader = BufReader::with_capacity(64 << 10, log.reader(0));
    let mut offset = 0;
    let mut number = 0;
    let mut line = Vec::new();
    loop {
        line.clear();
        let length = reader.read_until(b'\n', &mut line);
        match length.map_err(|error| guard(format!("cannot read journal `{}`: {error}", path.display())))? {
            0 if number == 0 => {
                return Err(reading.foreign().hint(
                    "it is empty: remove it by hand only if nothing was sent, or choose another file with --journal",
                ));
            }
            0 => break,
            length => {
                number += 1;
                reading.line(&line, number, offset)?;
                offset += length as u64;
            }
        }
    }
    reading.end_run()?;
    let Reading { past, other, .. } = reading;
    match other {
        None => Ok(past),
        Some(why) if !past.is_without_effect() => {
            let failure = guard(format!("journal `{}` {why}", path.display()));
            Err(if why == OTHER_TITLES {
                failure.hint("put the titles back, or move the rows that are not done to a new file")
            } else {
                failure
            })
        }
        Some(_) => {
            Ok(PreviousRuns { is_void: true, log: past.log, runs: past.runs, ..PreviousRuns::default() })
        }
    }
}

fn guard(message: String) -> Failure {
    Failure::guard(message).hint("choose another file with --journal")
}

struct Reading<'a> {
    path: &'a Path,
    header: &'a JournalHeader,
    /// Incomplete lines, which may end a run: number, offset, kind.
    partial: Vec<(u64, u64, Partial)>,
    past: PreviousRuns,
    /// Why it cannot be continued, unless it had no effect.
    other: Option<String>,
}

impl Reading<'_> {
    fn line(&mut self, text: &[u8], number: u64, offset: u64) -> Result<(), Failure> {
        match (JournalLine::parse(written(text)), self.partial.first()) {
            // A run that continues the journal of the same batch.
            (Some(JournalLine::Header(header)), _) => match header.mismatch(self.header) {
                Some(why) if header.is_for_input(self.header) => {
                    self.other.get_or_insert(why);
                    self.past.runs.extend(header.run.clone());
                    self.end_run()
                }
                Some(why) if number == 1 => Err(guard(format!("journal `{}` {why}", self.path.display()))),
                Some(why) => Err(self.damaged(number, &format!("the entry {why}"))),
                None => {
                    self.past.has_flags |= header.flags;
                    self.past.is_restarted |= header.restart;
                    self.past.started.get_or_insert_with(|| header.started.clone());
                    self.past.runs.extend(header.run.clone());
                    self.past.has_nameless_run |= header.run.is_none();
                    self.past.logs.insert(header.log.clone());
                    self.past.last_run = Some(*header);
                    self.end_run()
                }
            },
            _ if number == 1 => Err(self.foreign()),
            (None, _) => {
                self.partial.push((number, offset, unfinished_line(text)));
                Ok(())
            }
            // Only a new run can follow a line that was cut off.
            (Some(_), Some((partial, ..))) => Err(self.damaged(*partial, "invalid entry")),
            (Some(JournalLine::Record(entry)), None) => {
                let status = entry.status.unwrap_or_default();
                let hash = entry.hash().unwrap_or_default();
                let state = entry.state;
                let is_partial = entry.applied == Some(Applied::Partial);
                let is_applied = entry.applied == Some(Applied::Yes);
                let latest = LatestEntry {
                    state,
                    status,
                    hash,
                    is_partial,
                    is_applied,
                    offset,
                    ..LatestEntry::default()
                };
                self.set(number, entry.line, latest)
            }
        }
    }

    /// Ends a run at lines that were cut off: records that they name may have been sent.
    fn end_run(&mut self) -> Result<(), Failure> {
        for (number, offset, partial) in std::mem::take(&mut self.partial) {
            self.past.warning =
                Some(format!("journal `{}`: line {number} is incomplete", self.path.display()));
            match partial {
                Partial::Nothing => {}
                Partial::Damaged => return Err(self.damaged(number, "invalid entry")),
                Partial::Record(record, hash) => {
                    let hash = hash.unwrap_or_else(|| self.past.latest(record).hash);
                    let sending =
                        LatestEntry { state: State::Sending, hash, offset, ..LatestEntry::default() };
                    self.set(number, record, sending)?;
                }
            }
        }
        Ok(())
    }

    fn set(&mut self, number: u64, record: u64, latest: LatestEntry) -> Result<(), Failure> {
        if record > MAX_RECORD {
            return Err(self.damaged(number, "invalid record number"));
        }
        if self.past.noting.last() != self.past.runs.last() {
            self.past.noting.extend(self.past.runs.last().cloned());
        }
        let has_left = latest.state == State::Sending || self.past.latest(record).has_left;
        self.past.records.insert(record, LatestEntry { has_left, ..latest });
        Ok(())
    }

    fn foreign(&self) -> Failure {
        guard(format!("journal `{}` is not a storefront journal", self.path.display()))
    }

    fn damaged(&self, number: u64, what: &str) -> Failure {
        guard(format!("journal `{}` is corrupt at line {number}: {what}", self.path.display()))
            .hint("repair or delete that line if you know the record's outcome")
    }
}

/// An incomplete line. It may be the only trace of a request that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Partial {
    /// It names a record, and its hash if the line got so far.
    Record(u64, Option<u64>),
    /// It names no record.
    Nothing,
    /// It was changed after it was written.
    Damaged,
}

/// A line without what may follow it: a power cut can leave the length of a file without its content.
fn written(line: &[u8]) -> &[u8] {
    let last = line.iter().rposition(|byte| !matches!(byte, 0 | b'\n' | b'\r' | b' '));
    &line[..last.map_or(0, |last| last + 1)]
}

fn unfinished_line(line: &[u8]) -> Partial {
    const LINE: &str = "{\"line\":";
    const HASH: &str = "\"hash\":\"";
    let text = String::from_utf8_lossy(written(line));
    let Some(rest) = text.strip_prefix(LINE) else {
        const HEADER: &str = "{\"journal\":";
        let is_start =
            text.starts_with(HEADER) || [LINE, HEADER].iter().any(|start| start.starts_with(&*text));
        return if is_start { Partial::Nothing } else { Partial::Damaged };
    };
    let digits = rest.find(|character: char| !character.is_ascii_digit()).unwrap_or(rest.len());
    let hash = || {
        let start = rest.find(HASH)? + HASH.len();
        u64::from_str_radix(rest.get(start..start + 16)?, 16).ok()
    };
    match (rest[..digits].parse(), rest[digits..].bytes().next()) {
        (Ok(record), Some(b',')) if record > 0 => Partial::Record(record, hash()),
        (_, None) => Partial::Nothing,
        _ => Partial::Damaged,
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::{JournalHeader, Partial, PreviousRuns, read, unfinished_line};
    use crate::journal::{JournalLine, State};
    use crate::system::storage::{Disk, Log, LogAccess, Storage};
    use storefront_core::failure::Failure;

    const LINE: &str = r#"{"line":12,"state":"sending","hash":"00000000000000a0"}"#;

    fn read_text(text: &str) -> Result<PreviousRuns, Failure> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.journal");
        let header = serde_json::to_string(&JournalLine::Header(Box::new(JournalHeader::new()))).unwrap();
        std::fs::write(&path, text.replace("HEADER", &header)).unwrap();
        let log: Arc<dyn Log> = Disk.open_log(&path, LogAccess::Read).unwrap();
        read(Path::new("a.journal"), &log, &JournalHeader::new())
    }

    #[test]
    fn a_line_cut_anywhere_names_its_record_or_was_never_complete() {
        for length in 0..LINE.len() {
            let expected = match length {
                0..=10 => Partial::Nothing,
                11..=52 => Partial::Record(12, None),
                _ => Partial::Record(12, Some(0xa0)),
            };
            assert_eq!(unfinished_line(&LINE.as_bytes()[..length]), expected, "{length}");
            let zeros = [&LINE.as_bytes()[..length], &[0; 9]].concat();
            assert_eq!(unfinished_line(&zeros), expected, "{length}");
        }
    }

    #[test]
    fn a_line_that_was_changed_is_damage() {
        for line in [r#"{"l1ne":12,"state":"sending"}"#, r#"{"line":0,"#, r#"{"line":x,"#, "hello", "}"] {
            assert_eq!(unfinished_line(line.as_bytes()), Partial::Damaged, "{line}");
        }
        assert_eq!(unfinished_line(br#"{"journal":"storefront","vers"#), Partial::Nothing);
    }

    #[test]
    fn a_last_line_that_lacks_only_its_newline_counts() {
        let done = LINE.replace("sending", "done");
        for end in ["", "\n", "\0\0"] {
            let past = read_text(&format!("HEADER\n{LINE}\n{done}{end}")).unwrap();
            assert_eq!((past.latest(12).state, past.latest(12).hash), (State::Done, 0xa0));
            assert_eq!(past.entry(past.latest(12)).state, State::Done, "{end:?}");
            assert_eq!((past.last(), past.latest(11).state, past.warning), (12, State::NotSent, None));
        }
        let past = read_text(&format!("HEADER\n{done}\n{{\"line\":12,\"sta")).unwrap();
        assert_eq!((past.latest(12).state, past.latest(12).hash), (State::Sending, 0xa0));
        assert!(past.warning.is_some());
    }

    #[test]
    fn what_follows_an_incomplete_line_in_the_same_run_is_damage() {
        let cut = &LINE[..20];
        let refused = |text: &str| read_text(text).unwrap_err().message;
        assert!(refused(&format!("HEADER\n{cut}\n{LINE}\n")).contains("corrupt at line 2: invalid entry"));
        let past = read_text(&format!("HEADER\n{cut}\nHEADER\n{LINE}\n")).unwrap();
        assert_eq!(past.latest(12).state, State::Sending);
        let far = LINE.replace("12", "100000001");
        assert!(refused(&format!("HEADER\n{far}\n")).contains("corrupt at line 2: invalid record number"));
        assert!(["", "hello\n"].iter().all(|text| refused(text).contains("is not a storefront journal")));
    }
}
