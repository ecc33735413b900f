//! Inputs of many records: NDJSON, JSON arrays and CSV, read one record at a time.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::SystemTime;

use serde_json::value::RawValue;

pub use super::columns::{Columns, at, known};
use super::csv::CsvReader;
use super::document::{self, TextInput, quoted, unreadable, utf_8};
use crate::cli::{InputArgs, InputFormat};
use crate::system::environment::STATE_HOME;
use crate::system::storage::{ReadFrom, Storage};
use storefront_core::failure::{Applied, Failure};
use storefront_core::text::exact_json;
use storefront_core::text::hash::sha256;

/// A record of the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its number, from 1.
    pub number: u64,
    /// The line on which it begins, from 1; in an array, which may be one line, its number.
    pub line: u64,
    /// Its content.
    pub content: Content,
}

/// The form of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// The text of one JSON value.
    Json(String),
    /// The cells of a CSV row.
    Row(csv::StringRecord),
    /// Consecutive rows that are one record, such as options of one attribute; each with its line.
    Rows(Vec<(u64, csv::StringRecord)>),
}

/// An input of many records.
#[derive(Debug, Clone)]
pub struct Source {
    /// The path that was given; `-` for standard input.
    pub path: PathBuf,
    /// Whether it is standard input, or a file that flows by once, such as a named pipe.
    pub is_stream: bool,
    /// The copy of its bytes, in a file without a name.
    copy: Option<Arc<File>>,
    /// Its format.
    pub format: Format,
    /// The encoding that `--encoding` names.
    pub encoding: document::Named,
}

/// How records are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One record a line.
    Ndjson,
    /// One record a line, of a plan.
    Plan,
    /// A JSON array.
    Array,
    /// A header and one record a row.
    Csv,
}

/// The input of many records; `None` for one document, and without an input.
///
/// # Errors
/// `usage` when it cannot be read.
pub fn detect(input: &InputArgs) -> Result<Option<Source>, Failure> {
    let Some(path) = input.path.as_deref() else { return Ok(None) };
    let stdin = path == Path::new("-");
    let format = match input.input_format.or_else(|| by_extension(path)) {
        Some(InputFormat::Csv) => Format::Csv,
        Some(InputFormat::Ndjson) => Format::Ndjson,
        // Standard input is one document unless its format is named.
        None if stdin => return Ok(None),
        format => match first_byte(path)? {
            Some(b'[') => Format::Array,
            Some(b'{') if format.is_none() && has_object_lines(path, input.encoding)? => Format::Ndjson,
            Some(first) if first != b'{' && format.is_none() && is_sheet(path, input.encoding)? => {
                Format::Csv
            }
            _ => return Ok(None),
        },
    };
    let regular = || std::fs::metadata(path).map(|found| found.is_file());
    let is_stream = stdin || !regular().map_err(|error| unreadable(path, &error))?;
    Ok(Some(Source { path: path.to_owned(), is_stream, copy: None, format, encoding: input.encoding }))
}

fn by_extension(path: &Path) -> Option<InputFormat> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "csv" | "tsv" | "tab" => Some(InputFormat::Csv),
        "ndjson" | "jsonl" => Some(InputFormat::Ndjson),
        _ => None,
    }
}

/// The first byte that is not blank. It stays in standard input; a named pipe is one document.
fn first_byte(path: &Path) -> Result<Option<u8>, Failure> {
    let first = |mut input: Box<dyn BufRead>| -> std::io::Result<Option<u8>> {
        let buffer = input.fill_buf()?;
        // The bytes of a byte order mark and the zeros of UTF-16 are skipped.
        let is_mark = |byte: u8| byte == 0 || matches!(byte, 0xef | 0xbb | 0xbf | 0xfe | 0xff);
        let start = buffer.iter().copied().skip_while(|byte| is_mark(*byte));
        Ok(start.into_iter().find(|byte| *byte != 0 && !byte.is_ascii_whitespace()))
    };
    let found = match std::fs::metadata(path) {
        _ if path == Path::new("-") => first(Box::new(std::io::stdin().lock())),
        Ok(found) if !found.is_file() => return Ok(None),
        _ => File::open(path).and_then(|file| first(Box::new(BufReader::new(file)))),
    };
    found.map_err(|error| unreadable(path, &error))
}

/// Whether the first line with text is a whole object, and the next one begins another: a file of such lines is NDJSON,
/// whatever its name.
fn has_object_lines(path: &Path, encoding: document::Named) -> Result<bool, Failure> {
    let mut input = document::open(path, encoding)?;
    let mut line = 0;
    let mut next = || match next_line(&mut input, &mut line, path)? {
        Some((_, Content::Json(text))) => Ok(text),
        _ => Ok(String::new()),
    };
    Ok(exact_json::parse_object(next()?.as_bytes()).is_ok() && next()?.trim_start().starts_with('{'))
}

/// Whether the first line with text contains tabs or semicolons, as in a sheet that Excel saves as `.txt`: no JSON
/// document begins so.
fn is_sheet(path: &Path, encoding: document::Named) -> Result<bool, Failure> {
    Ok(match next_line(&mut document::open(path, encoding)?, &mut 0, path)? {
        Some((_, Content::Json(line))) => line.contains(['\t', ';']),
        _ => false,
    })
}

impl Source {
    /// A copy of the input, in a private file without a name in this directory, so that every read gives the same bytes
    /// even if the named file changes. The copy of a plan was made when it was read.
    ///
    /// # Errors
    /// `usage` when it cannot be read, and where it changed meanwhile; `internal` when it cannot be copied.
    pub fn copied(self, storage: &dyn Storage, directory: &Path) -> Result<Self, Failure> {
        if self.copy.is_some() {
            return Ok(self);
        }
        let file = storage.unnamed(directory).map_err(|error| unwritable(directory, &error))?;
        if self.is_stream {
            let mut input = self.bytes().map_err(|error| unreadable(&self.path, &error))?;
            copy(&mut input, &file, &self.path, directory)?;
        } else {
            let mut input = File::open(&self.path).map_err(|error| unreadable(&self.path, &error))?;
            let before = Identity::of(&input, &self.path);
            copy(&mut input, &file, &self.path, directory)?;
            if before.is_none() || before != Identity::of(&input, &self.path) {
                let message = format!("{} changed while it was read", quoted(&self.name()));
                return Err(Failure::usage(message).hint("try again when no other program writes to it"));
            }
        }
        Ok(Self { copy: Some(Arc::new(file)), ..self })
    }

    /// The records of a plan.
    pub fn of_plan(path: &Path, records: Arc<File>) -> Self {
        let path = path.to_owned();
        let copy = Some(records);
        Self { path, is_stream: false, copy, format: Format::Plan, encoding: None }
    }

    /// Whether it begins like a plan.
    pub fn is_plan(&self) -> bool {
        let mut start = [0; 16];
        let mut begins = || self.bytes()?.read(&mut start);
        !self.is_stream && self.format == Format::Ndjson && begins().is_ok() && begins_like_a_plan(&start)
    }

    /// Its bytes from the beginning.
    ///
    /// # Errors
    /// The system's errors.
    pub fn bytes(&self) -> std::io::Result<Box<dyn Read + Send>> {
        match &self.copy {
            Some(file) => Ok(Box::new(ReadFrom { file: file.clone(), offset: 0 })),
            None => document::bytes(&self.path),
        }
    }

    /// SHA-256 of its bytes, in hexadecimal digits.
    ///
    /// # Errors
    /// `usage` when it cannot be read.
    pub fn sha256(&self) -> Result<String, Failure> {
        let digest = self.bytes().and_then(|mut bytes| sha256(&mut bytes));
        digest.map_err(|error| unreadable(&self.path, &error))
    }

    /// The word for the places of its records.
    pub fn place(&self) -> &'static str {
        if matches!(self.format, Format::Array | Format::Plan) { "record" } else { "line" }
    }

    /// Its name in messages.
    pub fn name(&self) -> String {
        document::name(&self.path)
    }
}

/// The identity and the state of a file, which show that it was written to or replaced.
#[derive(Debug, PartialEq, Eq)]
struct Identity {
    handle: same_file::Handle,
    length: u64,
    modified: Option<SystemTime>,
}

impl Identity {
    /// The identity of an open file; `None` if the path names another file by now.
    fn of(file: &File, path: &Path) -> Option<Self> {
        let metadata = file.metadata().ok()?;
        let handle = same_file::Handle::from_path(path).ok()?;
        let is_same = same_file::Handle::from_file(file.try_clone().ok()?).ok()? == handle;
        is_same.then(|| Self { handle, length: metadata.len(), modified: metadata.modified().ok() })
    }
}

/// Copies an input.
fn copy(input: &mut impl Read, mut file: &File, path: &Path, directory: &Path) -> Result<(), Failure> {
    let mut buffer = vec![0; 64 << 10];
    loop {
        match input.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => {
                file.write_all(&buffer[..count]).map_err(|error| unwritable(directory, &error))?;
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(unreadable(path, &error)),
        }
    }
}

/// The failure of a state directory in which a batch could write down nothing.
fn unwritable(directory: &Path, error: &std::io::Error) -> Failure {
    Failure::internal(format!("cannot write to the state directory `{}`: {error}", directory.display()))
        .hint(format!("free some disk space, or set {STATE_HOME}"))
        .applied(Applied::No)
}

/// Reads an input record by record. It holds one record, or a whole JSON array.
pub struct RecordReader {
    reader: Reader,
    path: PathBuf,
    /// How many records were read.
    number: u64,
}

enum Reader {
    /// With the number of lines read.
    Lines(TextInput, u64),
    Array(std::vec::IntoIter<Content>),
    /// With the row after the last record, where that was read.
    Rows(Box<CsvReader>, Columns, Option<(u64, csv::StringRecord)>),
}

impl RecordReader {
    /// Opens a source, and reads the header of a CSV.
    ///
    /// # Errors
    /// `usage` when it cannot be read, and for a header that is not understood.
    pub fn open(
        source: &Source,
        columns: impl FnOnce(&csv::StringRecord) -> Result<Columns, Failure>,
    ) -> Result<Self, Failure> {
        let input = document::text(&source.path, source.bytes(), source.encoding)?;
        Self::over(input, source.path.clone(), source.format, columns)
    }

    pub(super) fn over(
        mut input: TextInput,
        path: PathBuf,
        format: Format,
        columns: impl FnOnce(&csv::StringRecord) -> Result<Columns, Failure>,
    ) -> Result<Self, Failure> {
        let name = document::name(&path);
        let reader = match format {
            Format::Ndjson | Format::Plan => Reader::Lines(input, 0),
            Format::Array => {
                let mut bytes = Vec::new();
                input.read_to_end(&mut bytes).map_err(|error| unreadable(&path, &error))?;
                Reader::Array(elements(&utf_8(bytes, &name, 1)?, &name)?.into_iter())
            }
            Format::Csv => {
                let mut rows = CsvReader::open(input, name)?;
                let header = rows.read()?.map(|(_, header)| header).unwrap_or_default();
                let mut columns = columns(&header)?;
                columns.delimiter = rows.delimiter;
                Reader::Rows(Box::new(rows), columns, None)
            }
        };
        Ok(Self { reader, path, number: 0 })
    }

    /// The next record; `None` at the end. A record that is wrong in itself is `Ok`: preparing it fails, and later ones
    /// can be read.
    ///
    /// # Errors
    /// `usage` when the input cannot be read on, is not UTF-8, or has a CSV quote in the wrong place: no record after that
    /// can be read.
    pub fn read(&mut self) -> Result<Option<Record>, Failure> {
        let next = match &mut self.reader {
            Reader::Lines(input, line) => next_line(input, line, &self.path)?,
            Reader::Array(elements) => elements.next().map(|content| (self.number + 1, content)),
            Reader::Rows(rows, columns, ahead) => next_rows(rows, columns, ahead)?,
        };
        Ok(next.map(|(line, content)| {
            self.number += 1;
            Record { number: self.number, line, content }
        }))
    }

    /// Titles and meaning of a CSV's columns.
    pub fn columns(&self) -> Option<&Columns> {
        match &self.reader {
            Reader::Rows(_, columns, _) => Some(columns),
            _ => None,
        }
    }
}

/// The next row, or the rows that are one record with it; the row after them is `ahead` then.
fn next_rows(
    rows: &mut CsvReader,
    columns: &Columns,
    ahead: &mut Option<(u64, csv::StringRecord)>,
) -> Result<Option<(u64, Content)>, Failure> {
    let first = match ahead.take() {
        Some(first) => Some(first),
        None => rows.read()?,
    };
    let Some((line, row)) = first else { return Ok(None) };
    let mut all = vec![(line, row)];
    if columns.joins_rows {
        *ahead = loop {
            match rows.read()? {
                Some((line, next)) if columns.are_one_record(&all[0].1, &next) => all.push((line, next)),
                next => break next,
            }
        };
    }
    Ok(Some((line, if all.len() > 1 { Content::Rows(all) } else { Content::Row(all.swap_remove(0).1) })))
}

/// The next line of NDJSON; blank ones are skipped.
fn next_line(input: &mut TextInput, line: &mut u64, path: &Path) -> Result<Option<(u64, Content)>, Failure> {
    loop {
        let mut bytes = Vec::new();
        if input.read_until(b'\n', &mut bytes).map_err(|error| unreadable(path, &error))? == 0 {
            return Ok(None);
        }
        *line += 1;
        bytes.truncate(bytes.trim_ascii_end().len());
        if !bytes.is_empty() {
            return Ok(Some((*line, Content::Json(utf_8(bytes, &document::name(path), *line)?))));
        }
    }
}

/// The texts of an array's elements.
fn elements(text: &str, name: &str) -> Result<Vec<Content>, Failure> {
    let elements: Vec<&RawValue> = serde_json::from_str(text).map_err(|error| {
        Failure::usage(format!("{} is not a JSON array of records: {error}", quoted(name)))
    })?;
    Ok(elements.into_iter().map(|element| Content::Json(element.get().to_owned())).collect())
}

/// Whether a text begins like a plan, which `--plan` wrote and `apply` reads.
fn begins_like_a_plan(start: &[u8]) -> bool {
    start.starts_with(b"{\"plan\":")
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};

    use super::Identity;

    #[test]
    fn a_file_that_was_written_to_or_replaced_is_another_one() {
        let directory = tempfile::tempdir().unwrap();
        let [path, other] = ["a.csv", "b.csv"].map(|name| directory.path().join(name));
        let changes: [(&str, &dyn Fn()); 4] = [
            ("grows", &|| fs::write(&path, "one\ntwo\nthree\n").unwrap()),
            ("is overwritten", &|| {
                fs::write(&path, "two\none\n").unwrap();
                let later = std::time::SystemTime::now() + std::time::Duration::from_secs(1);
                File::options().write(true).open(&path).unwrap().set_modified(later).unwrap();
            }),
            ("is replaced", &|| {
                fs::write(&other, "one\ntwo\n").unwrap();
                fs::rename(&other, &path).unwrap();
            }),
            ("is removed", &|| fs::remove_file(&path).unwrap()),
        ];
        for (what, change) in changes {
            fs::write(&path, "one\ntwo\n").unwrap();
            let file = File::open(&path).unwrap();
            let before = Identity::of(&file, &path);
            assert!(before.is_some() && before == Identity::of(&file, &path));
            change();
            assert_ne!(before, Identity::of(&file, &path), "{what}");
        }
    }
}
