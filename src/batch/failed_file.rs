//! `--failed FILE`: the records that failed for good, as they came, each with its reason, ready to be fixed and run.
//!
//! It is written under another name and gets its own at the end of the run, and only in place of a file that an earlier
//! run of the same journal wrote and nobody has changed since.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use same_file::is_same_file;
use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use tempfile::NamedTempFile;

use crate::failure::{Failure, FailureKind};
use crate::input::records::{Columns, Content, Format, Source};
use crate::journal::{FailedFileEntry, Fnv1a};
use crate::report::Report;
use crate::sanitize::sanitize_line;
use crate::storage::{parent, persist, persist_noclobber, without_path};

/// A file of failed records in the input's own format. It holds the records as they came, tokens too: 0600.
pub struct FailedFile {
    path: PathBuf,
    style: TextStyle,
    form: Form,
    /// What may be replaced; nothing else is.
    earlier: Option<FailedFileEntry>,
    is_empty: bool,
}

type Out = BufWriter<NamedTempFile>;

enum Form {
    Lines(Out),
    Array(Out),
    Rows(Box<csv::Writer<Out>>, Columns),
}

/// A file of failed records that is whole, and not given its name yet.
pub struct FinishedFile {
    file: NamedTempFile,
    /// How it is left.
    pub entry: FailedFileEntry,
    replaces: bool,
    wanted: PathBuf,
}

/// Refuses a file that must not be written: one of `others`, or one that no earlier run of this journal left so.
/// What may be replaced is returned.
///
/// # Errors
/// `guard`.
pub fn ensure_replaceable(
    path: &Path,
    others: &[(&Path, &str)],
    earlier: &[FailedFileEntry],
) -> Result<Option<FailedFileEntry>, Failure> {
    if let Some((_, what)) = others.iter().find(|(other, _)| is_one_file(path, other)) {
        return Err(Failure::guard(format!("--failed `{}` is {what}", path.display()))
            .hint("choose another file with --failed"));
    }
    let refused = |why: &str| {
        Failure::guard(format!("--failed `{}` {why}", path.display()))
            .hint("move it away, or choose another file with --failed")
    };
    match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(refused(&format!("cannot be read: {error}"))),
        Ok(_) => {}
    }
    if !path.metadata().is_ok_and(|found| found.is_file()) {
        return Err(refused("is not a regular file"));
    }
    let found = entry_of(path).map_err(|error| refused(&format!("cannot be read: {error}")))?;
    // A run that could not finish may have left an earlier one.
    if earlier.contains(&found) {
        return Ok(Some(found));
    }
    Err(refused(if earlier.iter().any(|entry| entry.path == found.path) {
        "was changed since the run that wrote it"
    } else {
        "exists, and was not written by an earlier run of this journal"
    }))
}

/// Whether two paths lead to one file, links included, or would when they are written.
pub fn is_one_file(one: &Path, other: &Path) -> bool {
    let is_file = |path: &Path| path.metadata().is_ok_and(|found| found.is_file());
    // Comparing opens both, and a pipe would wait for a writer.
    if is_file(one) && is_file(other) {
        return is_same_file(one, other).unwrap_or(true);
    }
    real_path(one).is_some_and(|one| real_path(other) == Some(one))
}

/// A file as it is now.
fn entry_of(path: &Path) -> io::Result<FailedFileEntry> {
    let path = dunce::canonicalize(path)?;
    entry_at(File::open(&path)?, &path)
}

/// What is read of a file, as an entry for `path`.
fn entry_at(mut file: File, path: &Path) -> io::Result<FailedFileEntry> {
    let (mut hash, mut length, mut buffer) = (Fnv1a::new(), 0, vec![0; 64 << 10]);
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

/// The real path of a file, or the one that it will have.
fn real_path(path: &Path) -> Option<PathBuf> {
    dunce::canonicalize(path)
        .ok()
        .or_else(|| Some(dunce::canonicalize(parent(path)).ok()?.join(path.file_name()?)))
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    Failure::internal(format!("cannot write --failed `{}`: {error}", path.display()))
}

impl FailedFile {
    /// Begins the file, under another name. `earlier` is what [`ensure_replaceable`] found.
    ///
    /// # Errors
    /// `usage` when its directory cannot be written.
    pub fn create(
        path: &Path,
        source: &Source,
        columns: Option<&Columns>,
        earlier: Option<FailedFileEntry>,
    ) -> Result<Self, Failure> {
        let path = real_path(path).unwrap_or_else(|| path.to_owned());
        let begin = || -> io::Result<(TextStyle, Form)> {
            let file = tempfile::Builder::new()
                .prefix(".storefront-failed-")
                .tempfile_in(parent(&path))
                .map_err(without_path)?;
            let style = TextStyle::of(source)?;
            let mut out = BufWriter::new(file);
            if style.bom {
                out.write_all(b"\xef\xbb\xbf")?;
            }
            let form = match (source.format, columns) {
                (Format::Csv, Some(columns)) => {
                    if let Some(sep) = style.sep {
                        write!(out, "sep={sep}{}", style.line_end())?;
                    }
                    let end = if style.crlf { csv::Terminator::CRLF } else { csv::Terminator::Any(b'\n') };
                    let mut rows = csv::WriterBuilder::new()
                        .delimiter(columns.delimiter)
                        .terminator(end)
                        .flexible(true)
                        .from_writer(out);
                    rows.write_record(with_reason(columns.titles(), columns, REASON))?;
                    Form::Rows(Box::new(rows), columns.clone())
                }
                (Format::Array, _) => Form::Array(out),
                _ => Form::Lines(out),
            };
            Ok((style, form))
        };
        let (style, form) =
            begin().map_err(|error| Failure { kind: FailureKind::Usage, ..unwritable(&path, &error) })?;
        Ok(Self { path, style, form, earlier, is_empty: true })
    }

    /// Adds a record.
    ///
    /// # Errors
    /// `internal` when it cannot be written.
    pub fn add(&mut self, content: &Content, reason: &str) -> Result<(), Failure> {
        let first = std::mem::take(&mut self.is_empty);
        let reason = sanitize_line(reason);
        let end = self.style.line_end();
        let written = match (&mut self.form, content) {
            (Form::Rows(rows, columns), Content::Row(row)) => {
                rows.write_record(with_reason(row, columns, &reason)).map_err(io::Error::from)
            }
            (Form::Array(out), Content::Json(text)) => {
                let before = if first { "[" } else { "," };
                write!(out, "{before}{end}{}", json_with_reason(text, &reason))
            }
            (Form::Lines(out), Content::Json(text)) => {
                write!(out, "{}{end}", json_with_reason(text, &reason))
            }
            _ => Ok(()),
        };
        written.map_err(|error| unwritable(&self.path, &error))
    }

    /// Ends the file. It gets its name when the journal says so: where somebody wrote one of that name meanwhile, the
    /// first `NAME.1`, `NAME.2` … that is free.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn finish(self) -> Result<FinishedFile, Failure> {
        let path = self.path.clone();
        self.finished().map_err(|error| unwritable(&path, &error))
    }

    fn finished(self) -> io::Result<FinishedFile> {
        let end = self.style.line_end();
        let out = match self.form {
            Form::Rows(rows, _) => rows.into_inner().map_err(|error| io::Error::other(error.to_string()))?,
            Form::Array(mut out) => {
                let text = if self.is_empty { format!("[]{end}") } else { format!("{end}]{end}") };
                out.write_all(text.as_bytes())?;
                out
            }
            Form::Lines(out) => out,
        };
        let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
        file.as_file().sync_all()?;
        let replaces =
            self.earlier.is_some_and(|earlier| entry_of(&self.path).is_ok_and(|found| found == earlier));
        let mut place = self.path.clone();
        for number in 1..1000 {
            if replaces || place.symlink_metadata().is_err() {
                break;
            }
            let mut other = self.path.clone().into_os_string();
            other.push(format!(".{number}"));
            place = other.into();
        }
        Ok(FinishedFile { entry: entry_at(file.reopen()?, &place)?, file, replaces, wanted: self.path })
    }
}

impl FinishedFile {
    /// Gives the file its name. Nothing is overwritten but what an earlier run left.
    ///
    /// # Errors
    /// `internal` when that cannot be done.
    pub fn persist(self, report: &Report) -> Result<(), Failure> {
        let place = Path::new(&self.entry.path);
        let persisted = if self.replaces {
            persist(self.file, place)
        } else {
            persist_noclobber(self.file, place).map_err(|error| error.error)
        };
        persisted.map_err(|error| unwritable(place, &error))?;
        if place != self.wanted {
            report.warn(&format!(
                "the file given with --failed was changed during the run: the failed records are in `{}`",
                place.display()
            ));
        }
        Ok(())
    }
}

/// The cells of a row, an earlier reason left out, this one last.
fn with_reason<'a>(
    row: &'a csv::StringRecord,
    columns: &Columns,
    reason: &'a str,
) -> impl Iterator<Item = &'a str> {
    let cells = row.iter().enumerate().filter(|(index, _)| !columns.is_reason(*index)).map(|(_, cell)| cell);
    cells.chain([reason]).collect::<Vec<_>>().into_iter()
}

/// The name of the column or field that says why.
pub const REASON: &str = "reason";

/// The record with its values exactly as they came. What is not a JSON object stays as it is: there is no place for a
/// reason in it.
pub fn json_with_reason(text: &str, reason: &str) -> String {
    let Ok(Fields(fields)) = serde_json::from_str(text) else { return text.replace(['\n', '\r'], " ") };
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let kept = fields.iter().filter(|(name, _)| name != REASON);
    let mut fields: Vec<String> =
        kept.map(|(name, value)| format!("{}:{}", quoted(name), value.get())).collect();
    fields.push(format!("{}:{}", quoted(REASON), quoted(reason)));
    format!("{{{}}}", fields.join(","))
}

/// The fields of a JSON object, in their order, each value as text.
struct Fields<'a>(Vec<(String, &'a RawValue)>);

impl<'de> Deserialize<'de> for Fields<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> Visitor<'de> for InOrder {
            type Value = Fields<'de>;

            fn expecting(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                out.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut fields = Vec::new();
                while let Some((name, value)) = map.next_entry::<String, &RawValue>()? {
                    fields.push((name, value));
                }
                Ok(Fields(fields))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}

/// How a text file is written. What is not UTF-8 is given back as UTF-8 with a byte order mark, by which Excel knows it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct TextStyle {
    bom: bool,
    /// Whether its lines end with CR LF.
    crlf: bool,
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
        let bom = marks.iter().any(|mark| start.starts_with(mark));
        // What is looked for is ASCII, between zeros in UTF-16.
        let text: Vec<u8> = start.iter().copied().filter(|byte| *byte != 0 && byte.is_ascii()).collect();
        let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let crlf = line.len() < text.len() && line.last() == Some(&b'\r');
        let sep = match line.trim_ascii_end() {
            [b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', sep] => Some(char::from(*sep)),
            // A tab at the end is white space.
            [b's' | b'S', b'e' | b'E', b'p' | b'P', b'='] if line.get(4) == Some(&b'\t') => Some('\t'),
            _ => None,
        };
        Self { bom, crlf, sep }
    }

    /// What ends a line.
    fn line_end(self) -> &'static str {
        if self.crlf { "\r\n" } else { "\n" }
    }
}

#[cfg(test)]
mod failed_file_tests {
    use super::{ensure_replaceable, entry_of};

    #[test]
    fn only_a_file_that_is_as_it_was_left_may_be_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("bad.csv");
        assert_eq!(ensure_replaceable(&path, &[], &[]).unwrap(), None);
        std::fs::write(&path, "mine").unwrap();
        assert!(ensure_replaceable(&path, &[], &[]).unwrap_err().message.contains("was not written by"));
        let entry = entry_of(&path).unwrap();
        assert_eq!(
            ensure_replaceable(&path, &[], std::slice::from_ref(&entry)).unwrap(),
            Some(entry.clone())
        );
        let input = directory.path().join("input.csv");
        std::fs::hard_link(&path, &input).unwrap();
        let refused = ensure_replaceable(&path, &[(&input, "the input")], std::slice::from_ref(&entry));
        assert!(refused.unwrap_err().message.contains("is the input"));
        std::fs::write(&path, "edited").unwrap();
        let refused = ensure_replaceable(&path, &[], &[entry]).unwrap_err();
        assert!(refused.message.contains("was changed since"), "{refused}");
    }
}

#[cfg(test)]
mod json_reason_tests {
    use super::json_with_reason;

    #[test]
    fn values_come_back_as_they_came_with_the_last_reason_only() {
        assert_eq!(
            json_with_reason(
                r#"{ "qty" : 1E2, "reason":"old", "$serde_json::private::Number": {"a": 1.0} }"#,
                "no \"x\""
            ),
            r#"{"qty":1E2,"$serde_json::private::Number":{"a": 1.0},"reason":"no \"x\""}"#
        );
        assert_eq!(json_with_reason("[1,\n2]", "no"), "[1, 2]");
    }
}

#[cfg(test)]
mod style_tests {
    use super::TextStyle;

    #[test]
    fn a_style_is_read_off_the_first_line_in_any_encoding() {
        for crlf in [false, true] {
            for (first, sep) in [("sep=;", Some(';')), ("sep=\t", Some('\t')), ("größe,☃𝄞", None)] {
                let text = format!("{first}{}1,2\n", if crlf { "\r\n" } else { "\n" });
                let utf16 = |unit: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(unit).collect::<Vec<_>>();
                let style = |bom| TextStyle { bom, crlf, sep };
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
