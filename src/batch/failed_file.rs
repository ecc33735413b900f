//! `--failed FILE`: a report of the records that failed permanently, as they stand in the input, each with its reason.
//!
//! It is written at the end of a run, from the journal and the input, and only in place of a file that an earlier run of the
//! same journal wrote and nobody has changed since.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde_json::Value;
use tempfile::NamedTempFile;

use crate::batch::record::{REASON, RecordPreparer, hash};
use crate::input::records::{Columns, Content, Format, Source};
use crate::journal::read::{self, PreviousRun};
use crate::journal::{FailedFileEntry, JournalHeader, JournalLine, Shard, State};
use crate::system::storage::{Log, parent, persist, real_path, without_path};
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::text::exact_json;
use storefront_core::text::hash::Fnv1a;
use storefront_core::text::sanitize::sanitize_line;

/// Where the failed records of a run are reported. The file holds them as they came, tokens too: 0600.
pub struct FailedFile {
    path: PathBuf,
    journal: PathBuf,
    header: JournalHeader,
    /// What it holds, where a run of this journal has written it.
    earlier: Option<FailedFileEntry>,
    log: Option<Arc<dyn Log>>,
}

/// The file that `--failed` names; that of a shard has the shard in its name: `failed.0-4.csv`.
pub fn path_of(path: &Path, shard: Option<Shard>) -> PathBuf {
    let Some(Shard { index, count }) = shard else { return path.to_owned() };
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(format!(".{index}-{count}"));
    if let Some(extension) = path.extension() {
        name.push(".");
        name.push(extension);
    }
    path.with_file_name(name)
}

impl FailedFile {
    /// Refuses a file that must not be written: the journal, and one that no run of this journal left so. What a killed run
    /// left half-written goes.
    ///
    /// # Errors
    /// `guard`; `usage` when its directory cannot be written.
    pub fn look(
        path: &Path,
        shard: Option<Shard>,
        journal: &Path,
        past: &PreviousRun,
        header: &JournalHeader,
    ) -> Result<Self, Failure> {
        let path = path_of(path, shard);
        let earlier = ensure_replaceable(&path, journal, &past.failed_files)?;
        let path = real_path(&path);
        temporary(&path)
            .map_err(|error| Failure { kind: FailureKind::Usage, ..unwritable(&path, &error) })?;
        Ok(Self { path, journal: journal.to_owned(), header: header.clone(), earlier, log: None })
    }

    /// Takes the journal of the run, which was opened meanwhile. One that was started over says again how the file was left.
    ///
    /// # Errors
    /// `internal` when the journal cannot be written.
    pub fn of_journal(self, log: &Arc<dyn Log>, past: &PreviousRun) -> Result<Self, Failure> {
        let is_said = |entry: &FailedFileEntry| !past.is_void && past.failed_files.contains(entry);
        if let Some(entry) = self.earlier.clone().filter(|entry| !is_said(entry)) {
            note(&**log, entry).map_err(|error| unwritable(&self.path, &error))?;
        }
        Ok(Self { log: Some(log.clone()), ..self })
    }

    /// Writes the records that have failed permanently by the journal, to which nobody else writes any more.
    ///
    /// # Errors
    /// `internal` when it cannot be written; `guard` where somebody has changed the file meanwhile.
    pub fn write(self, preparer: &RecordPreparer<'_>) -> Result<(), Failure> {
        let Some(log) = &self.log else { return Ok(()) };
        let past = read::read(&self.journal, log, &self.header)?;
        let earlier = ensure_replaceable(&self.path, &self.journal, &past.failed_files)?;
        let failed = |error: io::Error| unwritable(&self.path, &error);
        let (mut reader, file) = (preparer.reader()?, temporary(&self.path).map_err(failed)?);
        let mut writer = FailedWriter::begin(file, preparer.source, reader.columns()).map_err(failed)?;
        while let Some(record) = reader.read()? {
            let latest = past.latest(record.number);
            if latest.state != State::FailedPermanent || !latest.is_of(hash(&record.content)) {
                continue;
            }
            let entry = past.entry(latest);
            // What was applied in part is not to be run again.
            if entry.applied.as_deref() == Some(Applied::No.name()) {
                writer.add(&record.content, &entry.reason.unwrap_or_default()).map_err(failed)?;
            }
        }
        let file = writer.finish().map_err(failed)?;
        // The journal says how the file is left before it is left so.
        let failed_file = file.reopen().and_then(entry_of).map_err(failed)?;
        note(&**log, failed_file).map_err(failed)?;
        persist(file, &self.path, earlier.is_some()).map_err(|error| failed(error.error))
    }
}

/// Writes down in the journal how the file is left.
fn note(log: &dyn Log, failed_file: FailedFileEntry) -> io::Result<()> {
    let line = serde_json::to_string(&JournalLine::FailedFile { failed_file })? + "\n";
    log.append(line.as_bytes())?;
    log.sync()
}

/// What the file holds, if it is there: only one that a run of this journal left so may be replaced.
fn ensure_replaceable(
    path: &Path,
    journal: &Path,
    written: &[FailedFileEntry],
) -> Result<Option<FailedFileEntry>, Failure> {
    let refused = |why: &str| {
        Failure::guard(format!("--failed `{}` {why}", path.display()))
            .hint("leave out --failed, or choose another file")
    };
    match path.symlink_metadata() {
        _ if real_path(path) == real_path(journal) => return Err(refused("is the journal")),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(refused(&format!("cannot be read: {error}"))),
        Ok(_) => {}
    }
    if !path.metadata().is_ok_and(|found| found.is_file()) {
        return Err(refused("is not a regular file"));
    }
    let found = File::open(path).and_then(entry_of);
    let found = found.map_err(|error| refused(&format!("cannot be read: {error}")))?;
    if written.contains(&found) {
        return Ok(Some(found));
    }
    Err(refused("exists, and is not as a run of this journal wrote it"))
}

/// The content of a file.
fn entry_of(mut file: File) -> io::Result<FailedFileEntry> {
    let (mut hash, mut buffer) = (Fnv1a::default(), vec![0; 64 << 10]);
    loop {
        match file.read(&mut buffer)? {
            0 => return Ok(FailedFileEntry { hash: format!("{:016x}", hash.finish()) }),
            count => hash = hash.update(&buffer[..count]),
        }
    }
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::internal(format!("cannot write --failed `{}`: {error}", path.display()))
}

/// A new file beside another one, which is removed unless it gets that one's name. It is always called the same, so that what
/// a killed run left goes with the next one.
fn temporary(path: &Path) -> io::Result<NamedTempFile> {
    let mut prefix = std::ffi::OsString::from(".");
    prefix.push(path.file_name().unwrap_or_default());
    let mut own = prefix.clone();
    own.push(".storefront");
    match fs::remove_file(parent(path).join(own)) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(without_path(error)),
        _ => {}
    }
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".storefront").rand_bytes(0);
    builder.tempfile_in(parent(path)).map_err(without_path)
}

/// A file of failed records that is being written, in the input's own format.
struct FailedWriter {
    out: BufWriter<NamedTempFile>,
    format: Format,
    style: TextStyle,
    /// The columns of a CSV.
    columns: Option<Columns>,
    is_empty: bool,
}

impl FailedWriter {
    fn begin(file: NamedTempFile, source: &Source, columns: Option<&Columns>) -> io::Result<Self> {
        let (mut out, style) = (BufWriter::new(file), TextStyle::of(source)?);
        if style.bom {
            out.write_all(b"\xef\xbb\xbf")?;
        }
        let mut writer =
            Self { out, format: source.format, style, columns: columns.cloned(), is_empty: true };
        if let Some(columns) = &writer.columns {
            if let Some(sep) = style.sep {
                write!(writer.out, "sep={sep}{}", style.line_end)?;
            }
            let titles = writer.row(&columns.titles, columns, REASON)?;
            writer.out.write_all(&titles)?;
        }
        Ok(writer)
    }

    fn add(&mut self, content: &Content, reason: &str) -> io::Result<()> {
        let (reason, end) = (sanitize_line(reason), self.style.line_end);
        match (content, &self.columns) {
            (Content::Row(row), Some(columns)) => {
                let row = self.row(row, columns, &reason)?;
                self.out.write_all(&row)?;
            }
            (Content::Json(text), _) if self.format == Format::Array => {
                let before = if self.is_empty { "[" } else { "," };
                write!(self.out, "{before}{end}{}", json_with_reason(text, &reason))?;
            }
            (Content::Json(text), _) => write!(self.out, "{}{end}", json_with_reason(text, &reason))?,
            (Content::Row(_), None) => {}
        }
        self.is_empty = false;
        Ok(())
    }

    /// A row of a CSV: its cells, an earlier reason left out, this one last.
    fn row(&self, row: &csv::StringRecord, columns: &Columns, reason: &str) -> io::Result<Vec<u8>> {
        let is_crlf = self.style.line_end == "\r\n";
        let end = if is_crlf { csv::Terminator::CRLF } else { csv::Terminator::Any(b'\n') };
        let mut text = Vec::new();
        let mut rows =
            csv::WriterBuilder::new().delimiter(columns.delimiter).terminator(end).from_writer(&mut text);
        let cells = row.iter().enumerate().filter(|(index, _)| !columns.is_reason(*index));
        rows.write_record(cells.map(|(_, cell)| cell).chain([reason]))?;
        drop(rows);
        Ok(text)
    }

    /// Ends the file, and gives it back when it is on disk.
    fn finish(mut self) -> io::Result<NamedTempFile> {
        if self.format == Format::Array {
            let begin = if self.is_empty { "[" } else { self.style.line_end };
            write!(self.out, "{begin}]{}", self.style.line_end)?;
        }
        let file = self.out.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.as_file().sync_all()?;
        Ok(file)
    }
}

/// The record with its reason. What is not a JSON object stays as it is: there is no place for a reason in it.
fn json_with_reason(text: &str, reason: &str) -> String {
    let Ok(Value::Object(mut record)) = exact_json::parse(text.as_bytes()) else {
        return text.replace(['\n', '\r'], " ");
    };
    record.shift_remove(REASON);
    record.insert(REASON.to_owned(), reason.into());
    Value::Object(record).to_string()
}

/// How a text file is written. What is not UTF-8 is given back as UTF-8 with a byte order mark, by which Excel knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TextStyle {
    bom: bool,
    line_end: &'static str,
    /// The delimiter that its first line, `sep=…`, names.
    sep: Option<char>,
}

impl TextStyle {
    /// Reads the style off the beginning of a file.
    fn of(source: &Source) -> io::Result<Self> {
        /// In bytes: longer than any first line that matters.
        const MAX_START: u64 = 64 << 10;
        let mut start = Vec::new();
        source.bytes()?.take(MAX_START).read_to_end(&mut start)?;
        let style = Self::of_start(&start);
        let is_other = source.encoding.is_some_and(|encoding| encoding != encoding_rs::UTF_8);
        Ok(Self { bom: style.bom || is_other, ..style })
    }

    fn of_start(start: &[u8]) -> Self {
        let marks: [&[u8]; 3] = [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"];
        // What is looked for is ASCII, between zeros in UTF-16.
        let text: String = start
            .iter()
            .filter(|byte| **byte != 0 && byte.is_ascii())
            .map(|byte| char::from(*byte))
            .collect();
        let line = text.split_inclusive('\n').next().unwrap_or_default();
        let sep = line.split_at_checked(4).filter(|(name, _)| name.eq_ignore_ascii_case("sep="));
        Self {
            bom: marks.iter().any(|mark| start.starts_with(mark)),
            line_end: if line.ends_with("\r\n") { "\r\n" } else { "\n" },
            sep: sep.and_then(|(_, sep)| sep.chars().next()).filter(|sep| !matches!(sep, '\r' | '\n')),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::path::Path;

    use super::{TextStyle, ensure_replaceable, entry_of, json_with_reason, path_of};
    use crate::journal::Shard;

    #[test]
    fn only_a_file_that_is_as_it_was_left_may_be_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let [path, journal] = ["bad.csv", "a.journal"].map(|name| directory.path().join(name));
        let replaceable = |written: &[_]| ensure_replaceable(&path, &journal, written);
        assert_eq!(replaceable(&[]).unwrap(), None);
        assert!(ensure_replaceable(&journal, &journal, &[]).unwrap_err().message.ends_with("is the journal"));
        std::fs::write(&path, "mine").unwrap();
        assert!(replaceable(&[]).unwrap_err().message.contains("is not as a run of this journal wrote it"));
        let entry = entry_of(File::open(&path).unwrap()).unwrap();
        assert_eq!(replaceable(std::slice::from_ref(&entry)).unwrap().as_ref(), Some(&entry));
        std::fs::write(&path, "edited").unwrap();
        assert!(
            replaceable(&[entry]).unwrap_err().message.contains("is not as a run of this journal wrote it")
        );
    }

    #[test]
    fn the_file_of_a_shard_has_the_shard_in_its_name() {
        let shard = Some(Shard { index: 1, count: 4 });
        for (path, expected) in
            [("bad.csv", "bad.1-4.csv"), ("out/bad", "out/bad.1-4"), ("b.ad.csv", "b.ad.1-4.csv")]
        {
            assert_eq!(path_of(Path::new(path), shard), Path::new(expected));
            assert_eq!(path_of(Path::new(path), None), Path::new(path));
        }
    }

    #[test]
    fn values_come_back_as_they_came_with_the_last_reason_only() {
        assert_eq!(
            json_with_reason(
                r#"{ "qty" : 1E2, "reason":"old", "$serde_json::private::Number": {"a":1.0} }"#,
                "no \"x\""
            ),
            r#"{"qty":1E2,"$serde_json::private::Number":{"a":1.0},"reason":"no \"x\""}"#
        );
        assert_eq!(json_with_reason("[1,\n2]", "no"), "[1, 2]");
    }

    #[test]
    fn a_style_is_read_off_the_first_line_in_any_encoding() {
        for line_end in ["\n", "\r\n"] {
            for (first, sep) in [("sep=;", Some(';')), ("sep=\t", Some('\t')), ("größe,☃𝄞", None)] {
                let text = format!("{first}{line_end}1,2\n");
                let utf16 = |unit: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(unit).collect::<Vec<_>>();
                let style = |bom| TextStyle { bom, line_end, sep };
                assert_eq!(TextStyle::of_start(text.as_bytes()), style(false), "{text:?}");
                for (mark, bytes) in [
                    (&b"\xef\xbb\xbf"[..], text.as_bytes().to_vec()),
                    (b"\xff\xfe", utf16(u16::to_le_bytes)),
                    (b"\xfe\xff", utf16(u16::to_be_bytes)),
                ] {
                    assert_eq!(TextStyle::of_start(&[mark, &bytes].concat()), style(true), "{text:?}");
                }
            }
        }
    }
}
