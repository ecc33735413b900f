//! `--failed FILE`: the records that failed for good, as they came, each with its reason, ready to be fixed and run.
//!
//! It is written under another name and gets its own at the end of the run, and only in place of a file that an earlier
//! run of the same journal wrote and nobody has changed since.

use std::fs::{self, File};
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::NamedTempFile;

use crate::input::records::{Columns, Content, Format, Source};
use crate::journal::FailedFileEntry;
use crate::journal::open::journals_of;
use crate::journal::read::Known;
use crate::system::shell::Shell;
use crate::system::storage::{Storage, parent, persist, real_path, without_path};
use storefront_core::failure::{Failure, FailureKind};
use storefront_core::text::exact_json;
use storefront_core::text::hash::Fnv1a;
use storefront_core::text::sanitize::sanitize_line;

/// The name of the column or field that says why.
pub const REASON: &str = "reason";

/// A file of failed records in the input's own format. It holds the records as they came, tokens too: 0600.
pub struct FailedFile {
    path: PathBuf,
    out: BufWriter<NamedTempFile>,
    format: Format,
    style: TextStyle,
    /// The columns of a CSV.
    columns: Option<Columns>,
    is_empty: bool,
}

/// An earlier file of failed records. A record that failed is in the first one after its entry in the journal.
#[derive(Debug)]
pub struct EarlierFile {
    /// Where the journal names it, in bytes.
    offset: u64,
    /// What is to be done about its records, where it still has them: it is there, or was run on its own. They are not put
    /// into another file, or they would be run twice.
    hint: Option<String>,
}

impl EarlierFile {
    /// What is to be done about its records, where it still has them.
    pub fn hint(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

/// The files of a journal, oldest first. `this` is the file that is to be written now.
///
/// # Errors
/// `guard` where a directory cannot be read, and where `this` was run on its own.
pub fn earlier_files(
    storage: &dyn Storage,
    written: &[(u64, FailedFileEntry)],
    this: Option<&Path>,
) -> Result<Vec<EarlierFile>, Failure> {
    let (this, mut files) = (this.map(real_path), Vec::new());
    for (offset, FailedFileEntry { path, .. }) in written {
        let is_this = this.as_deref() == Some(Path::new(path));
        let journal = journals_of(storage, Path::new(path))?.into_iter().next();
        let journal = journal.map(|(journal, _)| journal.to_string_lossy().into_owned());
        let hint = match &journal {
            Some(journal) if is_this => {
                let message = format!("--failed `{path}` was run on its own: journal `{journal}`");
                return Err(Failure::guard(message).hint("leave out --failed, or choose another file"));
            }
            Some(journal) => {
                let show = ["storefront", "journal", "show", journal].map(str::to_owned);
                let show = Shell::NATIVE.join(show);
                Some(format!(
                    "`{show}` shows what became of the failed records of an earlier run; resume with --mark-done for \
                     those that went through from there"
                ))
            }
            None if is_this || !Path::new(path).exists() => None,
            None => Some(format!("fix the failed records of an earlier run in `{path}`, and run that file")),
        };
        files.push(EarlierFile { offset: *offset, hint });
    }
    Ok(files)
}

/// What is to be done about a failed record that an earlier file still has.
pub fn handed_out(files: &[EarlierFile], known: Known) -> Option<&str> {
    files.iter().find(|file| known.is_before(file.offset))?.hint()
}

/// Refuses a file that must not be written: the journal, or one that no earlier run of this journal left so. What may be
/// replaced is returned.
///
/// # Errors
/// `guard`.
pub fn ensure_replaceable(
    path: &Path,
    journal: &Path,
    earlier: &[(u64, FailedFileEntry)],
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
    let found = entry_of(path).map_err(|error| refused(&format!("cannot be read: {error}")))?;
    // A run that could not finish may have left an earlier one.
    if earlier.iter().any(|(_, entry)| *entry == found) {
        return Ok(Some(found));
    }
    Err(refused(if earlier.iter().any(|(_, entry)| entry.path == found.path) {
        "was changed since the run that wrote it"
    } else {
        "exists, and was not written by an earlier run of this journal"
    }))
}

/// A file as it is now.
fn entry_of(path: &Path) -> io::Result<FailedFileEntry> {
    let path = dunce::canonicalize(path)?;
    entry_at(File::open(&path)?, &path)
}

/// What is read of a file, as an entry for `path`.
fn entry_at(mut file: File, path: &Path) -> io::Result<FailedFileEntry> {
    let (mut hash, mut length, mut buffer) = (Fnv1a::default(), 0, vec![0; 64 << 10]);
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        hash = hash.update(&buffer[..count]);
        length += count as u64;
    }
    let path = path.to_string_lossy().into_owned();
    Ok(FailedFileEntry { path, length, hash: format!("{:016x}", hash.finish()) })
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::internal(format!("cannot write --failed `{}`: {error}", path.display()))
}

impl FailedFile {
    /// Begins the file, under another name. `earlier` is what [`ensure_replaceable`] found: it goes now, for its records may
    /// be corrected and sent by this run, and its name is free at the end.
    ///
    /// # Errors
    /// `usage` when its directory cannot be written.
    pub fn create(path: &Path, source: &Source, columns: Option<&Columns>) -> Result<Self, Failure> {
        let path = real_path(path);
        let begin = || -> io::Result<Self> {
            let file = tempfile::Builder::new().prefix(".storefront-failed-").tempfile_in(parent(&path));
            let (mut out, style) = (BufWriter::new(file.map_err(without_path)?), TextStyle::of(source)?);
            if style.bom {
                out.write_all(b"\xef\xbb\xbf")?;
            }
            let (path, columns, format) = (path.clone(), columns.cloned(), source.format);
            let mut file = Self { path, out, format, style, columns, is_empty: true };
            if let Some(columns) = &file.columns {
                if let Some(sep) = style.sep {
                    write!(file.out, "sep={sep}{}", style.line_end)?;
                }
                let titles = file.row(&columns.titles, columns, REASON)?;
                file.out.write_all(&titles)?;
            }
            Ok(file)
        };
        begin().map_err(|error| Failure { kind: FailureKind::Usage, ..unwritable(&path, &error) })
    }

    /// Removes the file that it replaces, where that is still as an earlier run left it.
    ///
    /// # Errors
    /// `internal` when that cannot be done.
    pub fn remove_earlier(&self, earlier: &FailedFileEntry) -> Result<(), Failure> {
        if entry_of(&self.path).is_ok_and(|found| found == *earlier) {
            fs::remove_file(&self.path).map_err(|error| unwritable(&self.path, &error))?;
        }
        Ok(())
    }

    /// Adds a record.
    ///
    /// # Errors
    /// `internal` when it cannot be written.
    pub fn add(&mut self, content: &Content, reason: &str) -> Result<(), Failure> {
        let (reason, end) = (sanitize_line(reason), self.style.line_end);
        let written = match (content, &self.columns) {
            (Content::Row(row), Some(columns)) => {
                self.row(row, columns, &reason).and_then(|row| self.out.write_all(&row))
            }
            (Content::Json(text), _) if self.format == Format::Array => {
                let before = if self.is_empty { "[" } else { "," };
                write!(self.out, "{before}{end}{}", json_with_reason(text, &reason))
            }
            (Content::Json(text), _) => write!(self.out, "{}{end}", json_with_reason(text, &reason)),
            (Content::Row(_), None) => Ok(()),
        };
        self.is_empty = false;
        written.map_err(|error| unwritable(&self.path, &error))
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

    /// Ends the file; it gets its name when the journal says how it is left.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn finish(&mut self) -> Result<FailedFileEntry, Failure> {
        let mut finish = || -> io::Result<FailedFileEntry> {
            if self.format == Format::Array {
                let (begin, end) =
                    (if self.is_empty { "[" } else { self.style.line_end }, self.style.line_end);
                write!(self.out, "{begin}]{end}")?;
            }
            self.out.flush()?;
            self.out.get_ref().as_file().sync_all()?;
            entry_at(self.out.get_ref().reopen()?, &self.path)
        };
        finish().map_err(|error| unwritable(&self.path, &error))
    }

    /// Gives the file its name. Nothing is overwritten.
    ///
    /// # Errors
    /// `internal` when that cannot be done; the message names the file that has the records then.
    pub fn persist(self) -> Result<(), Failure> {
        let path = &self.path;
        let file = self.out.into_inner().map_err(|error| unwritable(path, &error.into_error()))?;
        let Err(error) = persist(file, path, false) else { return Ok(()) };
        let failure = unwritable(path, &error.error);
        Err(match error.file.keep() {
            Ok((_, kept)) => failure.hint(format!("the failed records are in `{}`", kept.display())),
            Err(_) => failure,
        })
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
    use super::{TextStyle, ensure_replaceable, entry_of, json_with_reason};

    #[test]
    fn only_a_file_that_is_as_it_was_left_may_be_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let [path, journal] = ["bad.csv", "a.journal"].map(|name| directory.path().join(name));
        let replaceable = |earlier: &[_]| ensure_replaceable(&path, &journal, earlier);
        assert_eq!(replaceable(&[]).unwrap(), None);
        assert!(ensure_replaceable(&journal, &journal, &[]).unwrap_err().message.ends_with("is the journal"));
        std::fs::write(&path, "mine").unwrap();
        assert!(replaceable(&[]).unwrap_err().message.contains("was not written by"));
        let entry = entry_of(&path).unwrap();
        assert_eq!(replaceable(&[(9, entry.clone())]).unwrap(), Some(entry.clone()));
        std::fs::write(&path, "edited").unwrap();
        assert!(replaceable(&[(9, entry)]).unwrap_err().message.contains("was changed since"));
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
