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

use crate::failure::Failure;
use crate::input::records::{Columns, Content, Format};
use crate::journal::open::directory;
use crate::journal::{FailedFileEntry, Fnv1a};
use crate::sanitize::sanitize_line;
use crate::storage::{persist, persist_noclobber, without_path};

/// A file of failed records in the input's own format. It holds the records as they came, tokens too: 0600.
pub struct FailedFile {
    path: PathBuf,
    style: TextStyle,
    form: Form,
    /// What may be replaced; nothing else is.
    earlier: Option<FailedFileEntry>,
    /// How many records are in it.
    pub count: u64,
}

type Out = BufWriter<Encoder<NamedTempFile>>;

enum Form {
    Lines(Out),
    Array(Out),
    Rows(Box<csv::Writer<Out>>, Columns),
}

/// How the input is written.
#[derive(Debug, Clone, Copy)]
pub struct InputForm<'a> {
    /// Its format.
    pub format: Format,
    /// Columns of a CSV.
    pub columns: Option<&'a Columns>,
    /// Encoding and line ends.
    pub style: TextStyle,
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
    match earlier.iter().rev().find(|entry| entry.path == found.path) {
        Some(entry) if *entry == found => Ok(Some(found)),
        Some(_) => Err(refused("was changed since the run that wrote it")),
        None => Err(refused("exists, and was not written by an earlier run of this journal")),
    }
}

/// Whether two paths lead to one file, links included, or would when they are written.
pub fn is_one_file(one: &Path, other: &Path) -> bool {
    let is_file = |path: &Path| path.metadata().is_ok_and(|found| found.is_file());
    // Comparing opens both, and a pipe would wait for a writer.
    if is_file(one) && is_file(other) {
        return is_same_file(one, other).unwrap_or(true);
    }
    let place = |path: &Path| Some(dunce::canonicalize(directory(path)).ok()?.join(path.file_name()?));
    place(one).is_some_and(|one| place(other) == Some(one))
}

/// A file as it is now.
fn entry_of(path: &Path) -> io::Result<FailedFileEntry> {
    let mut file = File::open(path)?;
    let (mut hash, mut length, mut buffer) = (Fnv1a::new(), 0, vec![0; 64 << 10]);
    loop {
        let count = file.read(&mut buffer)?;
        if count == 0 {
            break;
        }
        hash = hash.update(&buffer[..count]);
        length += count as u64;
    }
    let path = dunce::canonicalize(path)?.to_string_lossy().into_owned();
    Ok(FailedFileEntry { path, length, hash: format!("{:016x}", hash.finish()) })
}

impl FailedFile {
    /// Begins the file, under another name. `earlier` is what [`ensure_replaceable`] found.
    ///
    /// # Errors
    /// `usage` when its directory cannot be written.
    pub fn create(
        path: &Path,
        input: InputForm<'_>,
        earlier: Option<FailedFileEntry>,
    ) -> Result<Self, Failure> {
        let path = dunce::canonicalize(path).unwrap_or_else(|_| path.to_owned());
        let begin = || -> io::Result<Form> {
            let file = tempfile::Builder::new()
                .prefix(".storefront-failed-")
                .tempfile_in(directory(&path))
                .map_err(without_path)?;
            let style = input.style;
            let mut out = BufWriter::new(Encoder::new(file, style.encoding)?);
            Ok(match (input.format, input.columns) {
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
            })
        };
        let form = begin().map_err(|error| {
            Failure::usage(format!("cannot write --failed `{}`: {error}", path.display()))
        })?;
        Ok(Self { path, style: input.style, form, earlier, count: 0 })
    }

    /// Adds a record.
    ///
    /// # Errors
    /// `internal` when it cannot be written.
    pub fn add(&mut self, content: &Content, reason: &str) -> Result<(), Failure> {
        let first = self.count == 0;
        self.count += 1;
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
        written.map_err(|error| self.unwritable(&error))
    }

    /// Ends the file and gives it its name. Returns what it is now, and where: under another name if somebody wrote one
    /// of its name meanwhile.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn close(self) -> Result<(FailedFileEntry, PathBuf), Failure> {
        let path = self.path.clone();
        let failed = |error: io::Error| {
            Failure::internal(format!("cannot write --failed `{}`: {error}", path.display()))
        };
        let (is_empty, end) = (self.count == 0, self.style.line_end());
        let out = match self.form {
            Form::Rows(rows, _) => {
                rows.into_inner().map_err(|error| failed(io::Error::other(error.to_string())))?
            }
            Form::Array(mut out) => {
                let text = if is_empty { format!("[]{end}") } else { format!("{end}]{end}") };
                out.write_all(text.as_bytes()).map_err(failed)?;
                out
            }
            Form::Lines(out) => out,
        };
        let encoder = out.into_inner().map_err(|error| failed(error.into_error()))?;
        let file = encoder.into_inner();
        file.as_file().sync_all().map_err(failed)?;
        let unchanged =
            self.earlier.is_some_and(|earlier| entry_of(&path).is_ok_and(|found| found == earlier));
        let place = if unchanged {
            persist(file, &path).map_err(failed)?;
            path.clone()
        } else {
            persist_beside(file, &path).map_err(failed)?
        };
        Ok((entry_of(&place).map_err(failed)?, place))
    }

    fn unwritable(&self, error: &io::Error) -> Failure {
        Failure::internal(format!("cannot write --failed `{}`: {error}", self.path.display()))
    }
}

/// Gives a file its name, or the first `NAME.1`, `NAME.2` … that is free: nothing is overwritten.
fn persist_beside(mut file: NamedTempFile, path: &Path) -> io::Result<PathBuf> {
    let mut number = 0;
    loop {
        let mut place = path.as_os_str().to_owned();
        if number > 0 {
            place.push(format!(".{number}"));
        }
        match persist_noclobber(file, Path::new(&place)) {
            Ok(()) => return Ok(place.into()),
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => {
                file = error.file;
                number += 1;
            }
            Err(error) => return Err(error.error),
        }
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

/// How a text file is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TextStyle {
    /// Its encoding.
    pub encoding: Encoding,
    /// Whether its lines end with CR LF.
    pub crlf: bool,
    /// The delimiter that its first line, `sep=…`, names.
    pub sep: Option<char>,
}

/// An encoding, with or without a byte order mark.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8 without a mark.
    #[default]
    Utf8,
    /// UTF-8 with a mark, as Excel writes it.
    Utf8Bom,
    /// UTF-16, little end first, with a mark.
    Utf16Le,
    /// UTF-16, big end first, with a mark.
    Utf16Be,
}

impl TextStyle {
    /// Reads the style off the beginning of a file.
    ///
    /// # Errors
    /// The system's errors.
    pub fn of(path: &Path) -> io::Result<Self> {
        /// A first line is hardly longer.
        const MAX_START: u64 = 64 << 10;
        let mut start = Vec::new();
        std::fs::File::open(path)?.take(MAX_START).read_to_end(&mut start)?;
        Ok(Self::of_start(&start))
    }

    fn of_start(start: &[u8]) -> Self {
        let (encoding, text) = match start {
            [0xef, 0xbb, 0xbf, rest @ ..] => (Encoding::Utf8Bom, rest.to_vec()),
            [0xff, 0xfe, rest @ ..] => (Encoding::Utf16Le, low_bytes(rest, u16::from_le_bytes)),
            [0xfe, 0xff, rest @ ..] => (Encoding::Utf16Be, low_bytes(rest, u16::from_be_bytes)),
            _ => (Encoding::Utf8, start.to_vec()),
        };
        let line = text.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let crlf = line.len() < text.len() && line.last() == Some(&b'\r');
        let sep = match line.trim_ascii_end() {
            [b's' | b'S', b'e' | b'E', b'p' | b'P', b'=', sep] => Some(char::from(*sep)),
            // A tab at the end is white space.
            [b's' | b'S', b'e' | b'E', b'p' | b'P', b'='] if line.get(4) == Some(&b'\t') => Some('\t'),
            _ => None,
        };
        Self { encoding, crlf, sep }
    }

    /// What ends a line.
    pub fn line_end(self) -> &'static str {
        if self.crlf { "\r\n" } else { "\n" }
    }
}

/// The text as far as it is ASCII, which is all that is looked for.
fn low_bytes(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Vec<u8> {
    let (pairs, _) = bytes.as_chunks::<2>();
    pairs.iter().map(|pair| u8::try_from(unit(*pair)).unwrap_or(b'?')).collect()
}

/// Takes UTF-8 and writes it in an encoding.
#[derive(Debug)]
pub struct Encoder<W> {
    out: W,
    encoding: Encoding,
    /// The beginning of a character whose other bytes have not come yet.
    partial: Vec<u8>,
}

impl<W: Write> Encoder<W> {
    /// Writes the byte order mark, where there is one.
    ///
    /// # Errors
    /// The system's errors.
    pub fn new(mut out: W, encoding: Encoding) -> io::Result<Self> {
        out.write_all(match encoding {
            Encoding::Utf8 => b"",
            Encoding::Utf8Bom => b"\xef\xbb\xbf",
            Encoding::Utf16Le => b"\xff\xfe",
            Encoding::Utf16Be => b"\xfe\xff",
        })?;
        Ok(Self { out, encoding, partial: Vec::new() })
    }

    /// Where it is written.
    pub fn into_inner(self) -> W {
        self.out
    }
}

impl<W: Write> Write for Encoder<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if matches!(self.encoding, Encoding::Utf8 | Encoding::Utf8Bom) {
            return self.out.write(bytes);
        }
        self.partial.extend_from_slice(bytes);
        let valid = match std::str::from_utf8(&self.partial) {
            Ok(text) => text.len(),
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(error) => return Err(io::Error::other(error)),
        };
        let rest = self.partial.split_off(valid);
        let text = std::mem::replace(&mut self.partial, rest);
        let units = String::from_utf8_lossy(&text);
        let encode = if self.encoding == Encoding::Utf16Le { u16::to_le_bytes } else { u16::to_be_bytes };
        let encoded: Vec<u8> = units.encode_utf16().flat_map(encode).collect();
        self.out.write_all(&encoded)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
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
mod text_style_tests {
    use std::io::Write;

    use super::{Encoder, Encoding, TextStyle};

    #[test]
    fn a_style_is_read_and_written_back() {
        for encoding in [Encoding::Utf8, Encoding::Utf8Bom, Encoding::Utf16Le, Encoding::Utf16Be] {
            for crlf in [false, true] {
                for (first, sep) in [("sep=;", Some(';')), ("sep=\t", Some('\t')), ("größe,☃𝄞", None)]
                {
                    let style = TextStyle { encoding, crlf, sep };
                    let mut encoder = Encoder::new(Vec::new(), encoding).unwrap();
                    let text = format!("{first}{}1,2{}", style.line_end(), style.line_end());
                    // Characters come in pieces.
                    for byte in text.as_bytes() {
                        encoder.write_all(&[*byte]).unwrap();
                    }
                    let written = encoder.into_inner();
                    assert_eq!(TextStyle::of_start(&written), style, "{text:?}");
                    if encoding == Encoding::Utf16Be {
                        let (pairs, _) = written[2..].as_chunks::<2>();
                        let units: Vec<u16> = pairs.iter().map(|pair| u16::from_be_bytes(*pair)).collect();
                        assert_eq!(String::from_utf16(&units).unwrap(), text);
                    }
                }
            }
        }
    }
}
