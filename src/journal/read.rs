//! Reads one journal: line by line, into a table of each record's latest state.

use std::cell::RefCell;
use std::collections::HashMap;
use std::io::{self, BufRead, BufReader, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::IgnoredAny;
use tempfile::{SpooledTempFile, spooled_tempfile_in};

use super::{Header, HeaderLine, Mismatch};
use crate::failure::{Applied, Failure, FailureKind};
use crate::journal::{FailedFileEntry, RecordState, Shard};
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
                self.pending.push((number, place, judge(&line)));
            }
            place += length as u64;
        }
    }

    fn line(&mut self, text: &[u8], number: u64, place: u64) -> Result<(), Unread> {
        if number > 1
            && self.pending.is_empty()
            && let Some(line) = parse(text)
        {
            let PlainLine { record, state, hash, status } = line;
            return self.entry(record, IndexEntry { state, hash, offset: place, status, journal: 0 });
        }
        let parsed: Option<Line> = serde_json::from_slice(text).ok();
        if number == 1 || parsed.as_ref().is_some_and(|line| line.journal.is_some()) {
            return self.header(text, number);
        }
        let Some(line) = parsed else {
            self.pending.push((number, place, judge(text)));
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

const RECORD: &str = "{\"record\":";
const HASH: &str = "\"hash\":\"";
/// How the other lines begin.
const OTHERS: [&str; 2] = ["{\"journal\":", "{\"failed_file\":"];

/// What a line is that cannot be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Torn {
    /// It names a record, and its hash where it got so far.
    Record(u64, Option<u64>),
    /// It was never complete, and names no record.
    Incomplete,
    /// It was changed after it had been written.
    Damaged,
}

/// Judges a line that is not valid JSON, or has no newline.
pub fn judge(line: &[u8]) -> Torn {
    // A power cut can leave the length of a file and not its content.
    let end =
        line.iter().rposition(|byte| !matches!(byte, 0 | b'\n' | b'\r' | b' ')).map_or(0, |last| last + 1);
    let text = String::from_utf8_lossy(&line[..end]);
    if OTHERS.iter().any(|start| text.starts_with(start)) {
        return Torn::Incomplete;
    }
    let Some(rest) = text.strip_prefix(RECORD) else {
        let is_start = OTHERS.iter().chain([&RECORD]).any(|start| start.starts_with(&*text));
        return if is_start { Torn::Incomplete } else { Torn::Damaged };
    };
    let digits = rest.find(|character: char| !character.is_ascii_digit()).unwrap_or(rest.len());
    match (rest[..digits].parse(), rest[digits..].bytes().next()) {
        (Ok(record), Some(b',')) if record > 0 => Torn::Record(record, hash(rest)),
        (_, None) => Torn::Incomplete,
        _ => Torn::Damaged,
    }
}

fn hash(text: &str) -> Option<u64> {
    let start = text.find(HASH)? + HASH.len();
    u64::from_str_radix(text.get(start..start + 16)?, 16).ok()
}

/// A line about a record that is being sent or is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct PlainLine {
    /// Number of the record, from 1.
    pub record: u64,
    /// `Sending` or `Done`.
    pub state: RecordState,
    /// Hash of the record.
    pub hash: u64,
    /// The HTTP status; 0 for none.
    pub status: u16,
}

/// Reads a line with its newline; `None` for one that is not exactly as this program writes it.
fn parse(line: &[u8]) -> Option<PlainLine> {
    let (record, rest) = number(line.strip_prefix(b"{\"record\":")?)?;
    let rest = rest.strip_prefix(b",\"state\":\"")?;
    let sending: Option<&[u8]> = rest.strip_prefix(b"sending\",\"hash\":\"");
    if let Some((hash, end)) = sending.and_then(<[u8]>::split_first_chunk) {
        let line = PlainLine { record, state: RecordState::Sending, hash: hexadecimal(hash)?, status: 0 };
        return (end == b"\"}\n").then_some(line);
    }
    let (hash, rest) = rest.strip_prefix(b"done\",\"hash\":\"")?.split_first_chunk()?;
    let status = rest.strip_prefix(b"\",\"status\":")?.strip_suffix(b"}\n")?;
    let status = match number(status) {
        Some((status, [])) => status.try_into().ok()?,
        None if status == b"null" => 0,
        _ => return None,
    };
    Some(PlainLine { record, state: RecordState::Done, hash: hexadecimal(hash)?, status })
}

/// A positive decimal number at the start, and what follows it.
fn number(text: &[u8]) -> Option<(u64, &[u8])> {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, rest) = text.split_at(length);
    if digits.first().is_none_or(|first| *first == b'0') {
        return None;
    }
    let value = digits
        .iter()
        .try_fold(0_u64, |sum, digit| sum.checked_mul(10)?.checked_add(u64::from(digit - b'0')))?;
    Some((value, rest))
}

fn hexadecimal(digits: &[u8; 16]) -> Option<u64> {
    digits.iter().try_fold(0, |sum, digit| Some(sum << 4 | u64::from(char::from(*digit).to_digit(16)?)))
}

/// The last word on every record of earlier runs; empty where there was none.
#[derive(Debug, Default)]
pub struct PreviousRun {
    own: Option<Source>,
    /// Journals of the same input that differ in their shard only.
    neighbours: Vec<Source>,
    /// What was odd about them, to be warned of.
    pub notes: Vec<String>,
}

#[derive(Debug)]
struct Source {
    path: PathBuf,
    log: Arc<dyn Log>,
    journal: ReadJournal,
}

/// What was written of a record in addition to its state.
#[derive(Debug, Default, Clone, Deserialize)]
pub struct Detail {
    /// HTTP status.
    pub status: Option<u16>,
    /// Name of the failure's kind.
    pub kind: Option<String>,
    /// The failure's message.
    pub reason: Option<String>,
    /// Whether it was applied: `yes`, `no`, `unknown` or `partial`.
    pub applied: Option<String>,
    /// The snapshot taken before its request left.
    pub snapshot: Option<String>,
    /// Of one that is `partial`: the cart on which its first call was applied; older journals do not name it.
    pub cart: Option<u64>,
}

/// The first of a record's two calls was applied, and the second is missing.
#[derive(Debug, Clone, Copy)]
pub struct HalfDone {
    /// The cart on which it was applied, where that is known.
    pub cart: Option<u64>,
}

impl Detail {
    /// Whether the record is half done.
    pub fn half_done(&self) -> Option<HalfDone> {
        let is_half_done = self.applied.as_deref() == Some(Applied::Partial.name());
        is_half_done.then_some(HalfDone { cart: self.cart })
    }
}

impl PreviousRun {
    /// Takes the batch's own journal in.
    pub fn set_own(&mut self, path: PathBuf, log: Arc<dyn Log>, journal: ReadJournal) {
        if journal.is_torn {
            self.notes.push(format!("journal `{}`: ignoring an incomplete last line", path.display()));
        }
        self.own = Some(Source { path, log, journal });
    }

    /// Takes the journal of another shard, or of the whole, in.
    pub fn add_neighbour(&mut self, path: PathBuf, log: Arc<dyn Log>, journal: ReadJournal) {
        self.neighbours.push(Source { path, log, journal });
    }

    /// Whether the batch has a journal of its own.
    pub fn exists(&self) -> bool {
        self.own.is_some()
    }

    /// The highest record number the batch's own journal knows.
    pub fn last(&self) -> u64 {
        self.own.as_ref().map_or(0, |own| own.journal.ledger.last)
    }

    /// The files that earlier runs of this journal wrote with `--failed`, oldest first.
    pub fn failed_files(&self) -> &[FailedFileEntry] {
        self.own.as_ref().map_or(&[], |own| &own.journal.failed_files)
    }

    /// The last word on each record, from the first on.
    pub fn entries(&self) -> AllSlots {
        AllSlots {
            own: self.own.as_ref().map(|own| own.journal.ledger.entries()).unwrap_or_default(),
            neighbours: self.neighbours.iter().map(|neighbour| neighbour.journal.ledger.entries()).collect(),
        }
    }

    /// The file name of the journal a slot is from, where that is not the batch's own.
    pub fn neighbour(&self, slot: IndexEntry) -> Option<String> {
        let index = usize::from(slot.journal).checked_sub(1)?;
        let name = self.neighbours.get(index)?.path.file_name()?;
        Some(name.to_string_lossy().into_owned())
    }

    /// The failure a record ended with in the earlier run.
    pub fn failure(&self, slot: IndexEntry) -> Failure {
        let detail = self.entry_at(slot);
        if slot.state != RecordState::FailedPermanent {
            let journal = self.neighbour(slot).map(|name| format!(" (journal `{name}`)")).unwrap_or_default();
            let why = detail.reason.map(|reason| format!(": {reason}")).unwrap_or_default();
            let mut failure = Failure::new(
                FailureKind::Unknown,
                format!("sent by an earlier run{journal}, with unknown outcome{why}"),
            )
            .hint("check whether it took effect; --resume --retry-unknown sends it again");
            failure.status = detail.status;
            return failure;
        }
        let kind = detail.kind.as_deref().and_then(FailureKind::from_name).unwrap_or(FailureKind::Refused);
        let reason = detail.reason.unwrap_or_else(|| "no reason recorded".to_owned());
        let mut failure = Failure::new(kind, format!("failed in an earlier run: {reason}"))
            .hint("fix the record, then --resume sends it");
        failure.status = detail.status;
        failure.applied = if detail.applied.as_deref() == Some("yes") { Applied::Yes } else { Applied::No };
        failure
    }

    /// What else was written of a record.
    pub fn entry_at(&self, slot: IndexEntry) -> Detail {
        let source = match slot.journal {
            0 => self.own.as_ref(),
            index => self.neighbours.get(usize::from(index) - 1),
        };
        let read = || -> Option<Detail> {
            let mut line = String::new();
            BufReader::with_capacity(1024, source?.log.reader(slot.offset)).read_line(&mut line).ok()?;
            serde_json::from_str(&line).ok()
        };
        read().unwrap_or_default()
    }
}

/// The last word on each record, from all journals together.
#[derive(Debug, Default)]
pub struct AllSlots {
    own: IndexEntries,
    neighbours: Vec<IndexEntries>,
}

impl AllSlots {
    /// The last word on the next record, whose hash is `hash` now.
    ///
    /// # Errors
    /// `internal` when the table cannot be read.
    pub fn read(&mut self, hash: u64) -> Result<IndexEntry, Failure> {
        let own = self.own.read().map_err(|error| unreadable(&error))?;
        let mut settled: Option<IndexEntry> = None;
        for (journal, slots) in (1..).zip(&mut self.neighbours) {
            let slot = IndexEntry { journal, ..slots.read().map_err(|error| unreadable(&error))? };
            let is_settled =
                matches!(slot.state, RecordState::Done | RecordState::Unknown | RecordState::Sending);
            let weighs_more = settled.is_none_or(|other| other.state != RecordState::Done);
            if is_settled && weighs_more && (slot.hash == hash || slot.hash == 0) {
                settled = Some(slot);
            }
        }
        Ok(match (own.state, settled) {
            (RecordState::Done, _) | (_, None) => own,
            (RecordState::Sending | RecordState::Unknown, Some(other))
                if other.state != RecordState::Done =>
            {
                own
            }
            (_, Some(other)) => other,
        })
    }
}

fn unreadable(error: &std::io::Error) -> Failure {
    Failure::internal(format!("cannot read the journal index: {error}"))
}

/// Bytes of an entry: the line's hash, then the place of its last line, the status in it, and its state.
const ENTRY_SIZE: usize = 16;
/// The longest journal that can be indexed, in bytes: 40 bits.
const MAX_PLACE: u64 = 1 << 40;

/// What is known of one record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct IndexEntry {
    /// Its latest state.
    pub state: RecordState,
    /// Hash of the record as it was then; 0 where that is unknown.
    pub hash: u64,
    /// Where its last line begins in its journal, in bytes.
    pub offset: u64,
    /// The HTTP status in that line; 0 for none. Only kept for records that are done.
    pub status: u16,
    /// Which journal that is: 0 is the batch's own. Not in the table: each journal has its own.
    pub journal: u16,
}

/// The table; it is gone when dropped.
#[derive(Debug)]
pub struct RecordIndex {
    file: Rc<RefCell<PagedFile>>,
    /// The highest record number there is.
    pub last: u64,
}

impl RecordIndex {
    /// An empty table; where it becomes long, in a file without a name in `directory`.
    pub fn new(directory: &Path) -> Self {
        Self { file: Rc::new(RefCell::new(PagedFile::new(directory))), last: 0 }
    }

    /// Sets the entry of a record, numbered from 1.
    pub fn set(&mut self, record: u64, entry: IndexEntry) -> io::Result<()> {
        if entry.offset >= MAX_PLACE {
            return Err(io::Error::new(ErrorKind::FileTooLarge, "the journal is longer than 1 TiB"));
        }
        self.file.borrow_mut().write(offset(record), entry.to_bytes())?;
        self.last = self.last.max(record);
        Ok(())
    }

    /// The entry of a record; an empty one beyond the end.
    pub fn get(&self, record: u64) -> io::Result<IndexEntry> {
        get(&self.file, record, self.last)
    }

    /// Reads the table from the first record on.
    pub fn entries(&self) -> IndexEntries {
        IndexEntries { file: Some(self.file.clone()), at: 0, last: self.last }
    }
}

/// Entries in the order of the records.
#[derive(Debug, Default)]
pub struct IndexEntries {
    file: Option<Rc<RefCell<PagedFile>>>,
    at: u64,
    last: u64,
}

impl IndexEntries {
    /// The next record's entry; an empty one beyond the end.
    pub fn read(&mut self) -> io::Result<IndexEntry> {
        let Some(file) = &self.file else { return Ok(IndexEntry::default()) };
        self.at += 1;
        get(file, self.at, self.last)
    }
}

impl IndexEntry {
    fn to_bytes(self) -> [u8; ENTRY_SIZE] {
        let rest = self.offset << 24 | u64::from(self.status) << 8 | u64::from(self.state.code());
        (u128::from(self.hash) | u128::from(rest) << 64).to_le_bytes()
    }

    fn from_bytes(bytes: [u8; ENTRY_SIZE]) -> Self {
        let [hash, rest] = [0, 64].map(|shift| low_half(u128::from_le_bytes(bytes) >> shift));
        let [state, low, high, ..] = rest.to_le_bytes();
        Self {
            state: RecordState::from_code(state),
            hash,
            offset: rest >> 24,
            status: u16::from_le_bytes([low, high]),
            journal: 0,
        }
    }
}

#[allow(clippy::cast_possible_truncation)]
const fn low_half(number: u128) -> u64 {
    number as u64
}

fn get(file: &RefCell<PagedFile>, record: u64, last: u64) -> io::Result<IndexEntry> {
    if record > last {
        return Ok(IndexEntry::default());
    }
    file.borrow_mut().read(offset(record)).map(IndexEntry::from_bytes)
}

fn offset(record: u64) -> u64 {
    record.saturating_sub(1) * ENTRY_SIZE as u64
}

/// Bytes of a page.
const PAGE_SIZE: usize = 32 << 10;
/// A file of up to so many bytes stays in memory.
const MAX_IN_MEMORY: usize = 256 << 10;

/// A file without a name, gone when dropped. What was never written is zeros.
#[derive(Debug)]
pub struct PagedFile {
    file: SpooledTempFile,
    /// Bytes in the file itself.
    length: u64,
    /// The page used last, and the one before it: entries around a boundary between pages go to both in turn.
    pages: [Page; 2],
}

#[derive(Debug)]
struct Page {
    number: u64,
    /// Empty until the page is used.
    bytes: Vec<u8>,
    is_changed: bool,
}

impl PagedFile {
    /// An empty file; where it becomes long, it is created in `directory`.
    pub fn new(directory: &Path) -> Self {
        let unused = |number| Page { number, bytes: Vec::new(), is_changed: false };
        // Two numbers, so that no page is held twice.
        let pages = [unused(0), unused(1)];
        Self { file: spooled_tempfile_in(MAX_IN_MEMORY, directory), length: 0, pages }
    }

    /// The entry at a multiple of its own size, which divides the size of a page.
    ///
    /// # Errors
    /// Whatever the system says.
    pub fn read<const SIZE: usize>(&mut self, offset: u64) -> io::Result<[u8; SIZE]> {
        let entry = self.entry::<SIZE>(offset)?;
        Ok(*entry)
    }

    /// Writes an entry, placed as in [`Self::read`].
    ///
    /// # Errors
    /// Whatever the system says: what was written before may be lost.
    pub fn write<const SIZE: usize>(&mut self, offset: u64, entry: [u8; SIZE]) -> io::Result<()> {
        *self.entry::<SIZE>(offset)? = entry;
        self.pages[0].is_changed = true;
        Ok(())
    }

    fn entry<const SIZE: usize>(&mut self, offset: u64) -> io::Result<&mut [u8; SIZE]> {
        let page_size = PAGE_SIZE as u64;
        let within = usize::try_from(offset % page_size).unwrap_or_default();
        let page = self.page(offset / page_size)?;
        page.bytes[within..].first_chunk_mut().ok_or_else(|| io::ErrorKind::InvalidInput.into())
    }

    fn page(&mut self, number: u64) -> io::Result<&mut Page> {
        if self.pages[0].number != number {
            self.pages.swap(0, 1);
        }
        if self.pages[0].number != number || self.pages[0].bytes.is_empty() {
            self.save()?;
            self.load(number)?;
        }
        Ok(&mut self.pages[0])
    }

    fn save(&mut self) -> io::Result<()> {
        let page = &mut self.pages[0];
        if page.is_changed {
            let start = page.number * PAGE_SIZE as u64;
            self.file.seek(SeekFrom::Start(start))?;
            self.file.write_all(&page.bytes)?;
            self.length = self.length.max(start + PAGE_SIZE as u64);
            page.is_changed = false;
        }
        Ok(())
    }

    fn load(&mut self, number: u64) -> io::Result<()> {
        let page = &mut self.pages[0];
        let start = number * PAGE_SIZE as u64;
        page.number = number;
        page.bytes.clear();
        page.bytes.resize(PAGE_SIZE, 0);
        // Pages are written whole.
        if start < self.length {
            self.file.seek(SeekFrom::Start(start))?;
            self.file.read_exact(&mut page.bytes)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod torn_tests {
    use super::{Torn, judge};

    const LINE: &str = r#"{"record":12,"state":"sending","hash":"00000000000000a0"}"#;

    #[test]
    fn a_line_cut_anywhere_names_its_record_or_was_never_complete() {
        for length in 0..=LINE.len() {
            let expected = match length {
                0..=12 => Torn::Incomplete,
                13..=54 => Torn::Record(12, None),
                _ => Torn::Record(12, Some(0xa0)),
            };
            assert_eq!(judge(&LINE.as_bytes()[..length]), expected, "{length}");
            let zeros = [&LINE.as_bytes()[..length], &[0; 9]].concat();
            assert_eq!(judge(&zeros), expected, "{length}");
        }
        assert_eq!(judge(format!("{LINE}J").as_bytes()), Torn::Record(12, Some(0xa0)));
    }

    #[test]
    fn a_line_that_was_changed_is_damage() {
        for line in [r#"{"rec0rd":12,"state":"sending"}"#, r#"{"record":0,"#, r#"{"record":x,"#, "hello", "}"]
        {
            assert_eq!(judge(line.as_bytes()), Torn::Damaged, "{line}");
        }
        assert_eq!(judge(br#"{"journal":"storefront","vers"#), Torn::Incomplete);
    }
}

#[cfg(test)]
mod line_parser_tests {
    use super::{PlainLine, parse};
    use crate::journal::RecordState;
    use crate::journal::{Done, Sending};

    fn line(entry: &impl serde::Serialize) -> String {
        serde_json::to_string(entry).unwrap() + "\n"
    }

    #[test]
    fn what_is_written_is_read() {
        for (record, hash) in [(1, 0), (10_000_000, 0x0123_4567_89ab_cdef), (u64::MAX, u64::MAX)] {
            let sending = PlainLine { record, state: RecordState::Sending, hash, status: 0 };
            assert_eq!(parse(line(&Sending::new(record, hash, None)).as_bytes()), Some(sending));
            for status in [None, Some(200), Some(u16::MAX)] {
                let done = PlainLine { state: RecordState::Done, status: status.unwrap_or(0), ..sending };
                assert_eq!(parse(line(&Done::new(record, hash, status)).as_bytes()), Some(done));
            }
        }
    }

    #[test]
    fn any_other_line_is_for_the_json_parser() {
        let sending = line(&Sending::new(12, 7, None));
        let done = line(&Done::new(12, 7, Some(200)));
        for text in [&sending, &done] {
            for length in 0..text.len() {
                assert_eq!(parse(&text.as_bytes()[..length]), None, "{}", &text[..length]);
            }
        }
        for other in [
            line(&Sending::new(12, 7, Some("a"))),
            line(&Sending::new(0, 7, None)),
            sending.replace("12", "012"),
            sending.replace("12", "18446744073709551616"),
            sending.replace("0007", "000g"),
            sending.replace("sending", "unknown"),
            done.replace("200", "70000"),
            done.replace("200", "\"200\""),
            done.replace("200", "2e2"),
            done.replace('}', ",\"record\":13}"),
        ] {
            assert_eq!(parse(other.as_bytes()), None, "{other}");
        }
    }
}

#[cfg(test)]
mod record_index_tests {
    use super::RecordState;
    use crate::journal::read::{IndexEntry, RecordIndex};

    #[test]
    fn slots_come_back_in_order_with_holes_between_them() {
        let directory = tempfile::tempdir().unwrap();
        let mut ledger = RecordIndex::new(directory.path());
        let done = IndexEntry {
            state: RecordState::Done,
            hash: u64::MAX,
            offset: (1 << 40) - 1,
            status: u16::MAX,
            journal: 0,
        };
        let unknown = IndexEntry { state: RecordState::Unknown, hash: 7, offset: 0, status: 0, journal: 0 };
        ledger.set(4, unknown).unwrap();
        ledger.set(2, unknown).unwrap();
        ledger.set(2, done).unwrap();
        for _ in 0..2 {
            let mut slots = ledger.entries();
            let read: Vec<IndexEntry> = (0..6).map(|_| slots.read().unwrap()).collect();
            assert_eq!(
                read,
                [
                    IndexEntry::default(),
                    done,
                    IndexEntry::default(),
                    unknown,
                    IndexEntry::default(),
                    IndexEntry::default()
                ]
            );
        }
        assert_eq!(
            (ledger.last, ledger.get(2).unwrap(), ledger.get(9).unwrap()),
            (4, done, IndexEntry::default())
        );
        assert!(ledger.set(1, IndexEntry { offset: 1 << 40, ..done }).is_err());
    }

    #[test]
    fn a_long_table_is_read_to_its_end() {
        let directory = tempfile::tempdir().unwrap();
        let mut ledger = RecordIndex::new(directory.path());
        for record in 1..=200_000 {
            ledger
                .set(
                    record,
                    IndexEntry {
                        state: RecordState::Done,
                        hash: record,
                        offset: record,
                        status: 200,
                        journal: 0,
                    },
                )
                .unwrap();
        }
        let mut slots = ledger.entries();
        assert!((1..=200_000).all(|record| slots.read().unwrap().hash == record));
        assert_eq!(slots.read().unwrap().state, RecordState::NotSent);
    }
}

#[cfg(test)]
mod paged_file_tests {
    use super::{PAGE_SIZE, PagedFile};

    #[test]
    fn entries_of_many_pages_are_kept_in_any_order() {
        let directory = tempfile::tempdir().unwrap();
        let mut file = PagedFile::new(directory.path());
        let pages: u64 = 20;
        let offset = |page: u64, entry: u64| page * PAGE_SIZE as u64 + entry * 8;
        let written = |page: u64| [page.to_le_bytes()[0] + 1; 8];
        for page in (0..pages).rev().step_by(2).chain((0..pages).step_by(2)) {
            file.write(offset(page, page), written(page)).unwrap();
            file.write(offset(page.saturating_sub(1), 100), [0xff; 8]).unwrap();
        }
        for page in 0..pages {
            assert_eq!(file.read(offset(page, page)).unwrap(), written(page), "{page}");
            assert_eq!(file.read(offset(page, 99)).unwrap(), [0; 8], "{page}");
        }
        assert_eq!(file.read(offset(pages + 7, 0)).unwrap(), [0; 8], "beyond the end");
    }
}
