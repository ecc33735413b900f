//! Reads a journal: line by line, into a list of each record's latest state.

use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;

use super::{Entry, FailedFileEntry, Header, Line, State};
use crate::failure::Failure;
use crate::storage::Log;

/// A record with a higher number is damage, and not a reason to take all memory.
const MAX_RECORD: u64 = 100_000_000;

/// The latest that a journal says of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Known {
    /// Its state.
    pub state: State,
    /// The HTTP status; 0 for none.
    pub status: u16,
    /// Hash of the record as it was then; 0 where that is unknown.
    pub hash: u64,
    /// Where the line begins, in bytes.
    offset: u64,
}

/// What earlier runs left; empty where there was none.
#[derive(Debug, Default)]
pub struct PreviousRun {
    records: Vec<Known>,
    log: Option<Arc<dyn Log>>,
    /// What earlier runs wrote with `--failed`, oldest first.
    pub failed_files: Vec<FailedFileEntry>,
    /// What is odd about the last line, if anything is.
    pub warning: Option<String>,
}

/// Why a journal was not read.
#[derive(Debug)]
pub enum Unread {
    /// It is of something else: why.
    Other(String),
    /// It has no line.
    Empty,
    /// A line is damaged, or the file cannot be read.
    Damaged(Box<Failure>),
}

impl PreviousRun {
    /// Whether there is a journal.
    pub fn exists(&self) -> bool {
        self.log.is_some()
    }

    /// The highest record number in it.
    pub fn last(&self) -> u64 {
        self.records.len() as u64
    }

    /// The latest of a record, numbered from 1.
    pub fn known(&self, record: u64) -> Known {
        let index = usize::try_from(record.saturating_sub(1)).unwrap_or(usize::MAX);
        self.records.get(index).copied().unwrap_or_default()
    }

    /// All that was written of it, read again.
    pub fn entry(&self, known: Known) -> Entry {
        let read = || -> Option<Entry> {
            let mut line = Vec::new();
            let reader = self.log.as_ref()?.reader(known.offset);
            BufReader::with_capacity(1024, reader).read_until(b'\n', &mut line).ok()?;
            match Line::parse(&line)? {
                Line::Record(entry) => Some(entry),
                _ => None,
            }
        };
        read().unwrap_or_default()
    }

    fn set(&mut self, record: u64, known: Known) -> Option<()> {
        let length = usize::try_from(record).ok().filter(|_| record <= MAX_RECORD)?;
        if self.records.len() < length {
            self.records.resize(length, Known::default());
        }
        self.records[length - 1] = known;
        Some(())
    }
}

/// The header of a journal, where it has one.
///
/// # Errors
/// The system's error.
pub fn header(log: &dyn Log) -> io::Result<Option<Header>> {
    /// No header is nearly as long.
    const MAX_HEADER: u64 = 64 << 10;
    let mut line = Vec::new();
    BufReader::new(Read::take(log.reader(0), MAX_HEADER)).read_until(b'\n', &mut line)?;
    Ok(match Line::parse(&line).filter(|_| line.last() == Some(&b'\n')) {
        Some(Line::Header(header)) => Some(header),
        _ => None,
    })
}

/// Reads a journal of the batch that `header` describes, shard included.
///
/// # Errors
/// Why it is not read.
pub fn read(path: &Path, log: &Arc<dyn Log>, header: &Header) -> Result<PreviousRun, Unread> {
    let past = PreviousRun { log: Some(log.clone()), ..PreviousRun::default() };
    let mut reading = Reading { path, header, partial: Vec::new(), past };
    reading.lines(&**log)?;
    reading.end_run()?;
    Ok(reading.past)
}

struct Reading<'a> {
    path: &'a Path,
    header: &'a Header,
    /// Lines that are not whole, of which it is not known yet whether they end a run: number, offset, what they are.
    partial: Vec<(u64, u64, Partial)>,
    past: PreviousRun,
}

impl Reading<'_> {
    fn lines(&mut self, log: &dyn Log) -> Result<(), Unread> {
        let mut reader = BufReader::with_capacity(64 << 10, log.reader(0));
        let (mut offset, mut number) = (0, 0_u64);
        let mut line = Vec::new();
        loop {
            line.clear();
            let length = reader.read_until(b'\n', &mut line).map_err(|error| {
                let path = self.path.display();
                Unread::Damaged(Failure::guard(format!("cannot read journal `{path}`: {error}")).into())
            })?;
            if length == 0 {
                return if number == 0 { Err(Unread::Empty) } else { Ok(()) };
            }
            number += 1;
            self.line(&line, number, offset)?;
            offset += length as u64;
        }
    }

    fn line(&mut self, text: &[u8], number: u64, offset: u64) -> Result<(), Unread> {
        let parsed = Line::parse(written(text));
        if number == 1 && !matches!(parsed, Some(Line::Header(_))) {
            return Err(Unread::Other("is not a storefront journal".to_owned()));
        }
        match (parsed, self.partial.first()) {
            (Some(Line::Header(header)), _) => self.run(&header, number),
            (None, _) => {
                self.partial.push((number, offset, judge(text)));
                Ok(())
            }
            // Only a new run can follow a line that was cut off.
            (Some(_), Some((partial, ..))) => Err(self.damaged(*partial, "invalid entry")),
            (Some(Line::FailedFile { failed_file }), None) => {
                self.past.failed_files.push(failed_file);
                Ok(())
            }
            (Some(Line::Record(Entry { record, state, hash, status, .. })), None) => {
                let known = Known { state, hash, offset, status: status.unwrap_or_default() };
                self.past.set(record, known).ok_or_else(|| self.damaged(number, "invalid record number"))
            }
        }
    }

    /// A run that continues the journal of the same batch.
    fn run(&mut self, header: &Header, number: u64) -> Result<(), Unread> {
        let part = |header: &Header| match header.shard {
            Some(shard) => format!("shard {shard}"),
            None => "the whole input".to_owned(),
        };
        let other_part = || {
            let (found, expected) = (part(header), part(self.header));
            (found != expected).then(|| format!("covers {found}, expected {expected}"))
        };
        match header.mismatch(self.header).or_else(other_part) {
            Some(why) if number == 1 => Err(Unread::Other(why)),
            Some(why) => Err(self.damaged(number, &format!("the entry {why}"))),
            None => self.end_run(),
        }
    }

    /// Lines that were cut off end a run: what they name may have been sent.
    fn end_run(&mut self) -> Result<(), Unread> {
        for (number, offset, partial) in std::mem::take(&mut self.partial) {
            self.past.warning =
                Some(format!("journal `{}`: line {number} is incomplete", self.path.display()));
            match partial {
                Partial::Nothing => {}
                Partial::Damaged => return Err(self.damaged(number, "invalid entry")),
                Partial::Record(record, hash) => {
                    let hash = hash.unwrap_or_else(|| self.past.known(record).hash);
                    let known = Known { state: State::Sending, hash, offset, status: 0 };
                    let set = self.past.set(record, known);
                    set.ok_or_else(|| self.damaged(number, "invalid record number"))?;
                }
            }
        }
        Ok(())
    }

    fn damaged(&self, number: u64, what: &str) -> Unread {
        Unread::Damaged(
            Failure::guard(format!("journal `{}` is corrupt at line {number}: {what}", self.path.display()))
                .hint("repair or delete that line if you know the record's outcome")
                .into(),
        )
    }
}

/// A line that is not whole. It may be the only trace of a request that was sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Partial {
    /// It names a record, and its hash where it got so far.
    Record(u64, Option<u64>),
    /// It names no record.
    Nothing,
    /// It was changed after it had been written.
    Damaged,
}

/// A line without what can follow it: a power cut can leave the length of a file and not its content.
fn written(line: &[u8]) -> &[u8] {
    let last = line.iter().rposition(|byte| !matches!(byte, 0 | b'\n' | b'\r' | b' '));
    &line[..last.map_or(0, |last| last + 1)]
}

fn judge(line: &[u8]) -> Partial {
    const RECORD: &str = "{\"record\":";
    const HASH: &str = "\"hash\":\"";
    let text = String::from_utf8_lossy(written(line));
    let Some(rest) = text.strip_prefix(RECORD) else {
        let starts = [RECORD, "{\"journal\":", "{\"failed_file\":"];
        let is_start = starts[1..].iter().any(|start| text.starts_with(start))
            || starts.iter().any(|start| start.starts_with(&*text));
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

    use super::{Header, Partial, PreviousRun, Unread, judge, read};
    use crate::journal::{Line, State};
    use crate::storage::{Disk, Log, Storage};

    const LINE: &str = r#"{"record":12,"state":"sending","hash":"00000000000000a0"}"#;

    fn read_text(text: &str) -> Result<PreviousRun, Unread> {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.journal");
        let header = serde_json::to_string(&Line::Header(Header::new())).unwrap();
        std::fs::write(&path, text.replace("HEADER", &header)).unwrap();
        let log: Arc<dyn Log> = Disk.open_log(&path, false).unwrap();
        read(Path::new("a.journal"), &log, &Header::new())
    }

    #[test]
    fn a_line_cut_anywhere_names_its_record_or_was_never_complete() {
        for length in 0..LINE.len() {
            let expected = match length {
                0..=12 => Partial::Nothing,
                13..=54 => Partial::Record(12, None),
                _ => Partial::Record(12, Some(0xa0)),
            };
            assert_eq!(judge(&LINE.as_bytes()[..length]), expected, "{length}");
            let zeros = [&LINE.as_bytes()[..length], &[0; 9]].concat();
            assert_eq!(judge(&zeros), expected, "{length}");
        }
    }

    #[test]
    fn a_line_that_was_changed_is_damage() {
        for line in [r#"{"rec0rd":12,"state":"sending"}"#, r#"{"record":0,"#, r#"{"record":x,"#, "hello", "}"]
        {
            assert_eq!(judge(line.as_bytes()), Partial::Damaged, "{line}");
        }
        assert_eq!(judge(br#"{"journal":"storefront","vers"#), Partial::Nothing);
    }

    #[test]
    fn a_last_line_that_lacks_only_its_newline_counts() {
        let done = LINE.replace("sending", "done");
        for end in ["", "\n", "\0\0"] {
            let past = read_text(&format!("HEADER\n{LINE}\n{done}{end}")).unwrap();
            assert_eq!((past.known(12).state, past.known(12).hash), (State::Done, 0xa0));
            assert_eq!((past.last(), past.known(11).state, past.warning), (12, State::NotSent, None));
        }
        let past = read_text(&format!("HEADER\n{done}\n{{\"record\":12,\"sta")).unwrap();
        assert_eq!((past.known(12).state, past.known(12).hash), (State::Sending, 0xa0));
        assert!(past.warning.is_some());
    }

    #[test]
    fn what_follows_an_incomplete_line_in_the_same_run_is_damage() {
        let cut = &LINE[..20];
        assert!(matches!(read_text(&format!("HEADER\n{cut}\n{LINE}\n")), Err(Unread::Damaged(_))));
        let past = read_text(&format!("HEADER\n{cut}\nHEADER\n{LINE}\n")).unwrap();
        assert_eq!(past.known(12).state, State::Sending);
        let far = LINE.replace("12", "100000001");
        assert!(matches!(read_text(&format!("HEADER\n{far}\n")), Err(Unread::Damaged(_))));
        assert!(matches!(read_text(""), Err(Unread::Empty)));
        assert!(matches!(read_text("hello\n"), Err(Unread::Other(_))));
    }
}
