//! Inputs of many records: NDJSON, JSON arrays and CSV, read one record at a time.

use std::fs::File;
use std::io::{BufRead, BufReader, Chain, Cursor};
use std::path::{Path, PathBuf};

pub use super::columns::{Columns, RowError, paths, titles};
use super::csv::{CsvError, CsvReader, QUOTES_HINT};
use super::document::{self, Encoding, SAVE_AS_UTF_8, quoted};
use crate::cli::{GlobalArgs, InputFormat};
use crate::failure::Failure;

/// One record as it stands in the input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Record {
    /// Its number, from 1.
    pub number: u64,
    /// The line on which it begins, from 1.
    pub line: u64,
    /// What stands there.
    pub content: Content,
    /// Why it is no text, where it is none; `content` has as much of it as is.
    pub broken: Option<String>,
}

/// What a record is written in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// The text of one JSON value.
    Json(String),
    /// The cells of a CSV row.
    Row(csv::StringRecord),
}

/// Reads an input record by record; no more than one is held.
pub struct RecordReader {
    reader: Reader,
    encoding: Encoding,
    number: u64,
}

enum Reader {
    Lines(Lines),
    Array(Elements),
    Rows(Rows),
}

/// Where records are read from.
pub type Input = Box<dyn BufRead + Send>;

impl RecordReader {
    /// Opens a source; of a CSV the header is read and understood.
    ///
    /// # Errors
    /// `usage` when it cannot be read, and for a header that is not understood.
    pub fn open(
        source: &Source,
        columns: impl FnOnce(&csv::StringRecord) -> Result<Columns, Failure>,
    ) -> Result<Self, Failure> {
        let (input, encoding) = source.open()?;
        let name = source.name();
        let reader = match source.format {
            Format::Ndjson => Reader::Lines(Lines::new(input, name)),
            Format::Array => Reader::Array(Elements::new(input, name)),
            Format::Csv => Reader::Rows(Rows::new(input, name, columns)?),
        };
        Ok(Self { reader, encoding, number: 0 })
    }

    /// How the input is encoded.
    pub fn encoding(&self) -> Encoding {
        self.encoding
    }

    /// The next record; `None` at the end. A record that is wrong by itself is `Ok`: preparing it says what is wrong, and
    /// those after it can be read.
    ///
    /// # Errors
    /// `usage` when the input cannot be read on, is no JSON array after all, or has a CSV quote in the wrong place: no
    /// record after that can be read.
    pub fn read(&mut self) -> Result<Option<Record>, Failure> {
        let next = match &mut self.reader {
            Reader::Lines(lines) => lines.read()?,
            Reader::Array(elements) => elements.read()?,
            Reader::Rows(rows) => rows.read()?,
        };
        Ok(next.map(|(line, content, broken)| {
            self.number += 1;
            Record { number: self.number, line, content, broken }
        }))
    }

    /// Titles and meaning of a CSV's columns.
    pub fn columns(&self) -> Option<&Columns> {
        match &self.reader {
            Reader::Rows(rows) => Some(rows.columns()),
            _ => None,
        }
    }
}

/// A record's first line, its content, and why that is no text.
type Found = (u64, Content, Option<String>);
type Next = Result<Option<Found>, Failure>;

fn text(line: u64, bytes: Vec<u8>) -> Found {
    match String::from_utf8(bytes) {
        Ok(text) => (line, Content::Json(text), None),
        Err(error) => {
            let why =
                format!("column {}: not valid UTF-8; {SAVE_AS_UTF_8}", error.utf8_error().valid_up_to() + 1);
            (line, Content::Json(String::from_utf8_lossy(error.as_bytes()).into_owned()), Some(why))
        }
    }
}

fn unreadable(name: &str, error: &std::io::Error) -> Failure {
    if let Some(failure) = document::encoding_failure(name, error) {
        return failure;
    }
    Failure::usage(format!("error reading `{name}`: {error}"))
}

/// What is read at a time, in bytes.
const BUFFER: usize = 64 * 1024;

/// An input of many records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Where it comes from.
    pub origin: Origin,
    /// How it is written.
    pub format: Format,
}

/// Where an input comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A file that can be read as often as is wanted.
    File(PathBuf),
    /// Standard input, or a file that flows by once, such as a named pipe.
    Stream(PathBuf),
}

/// How records are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One record a line.
    Ndjson,
    /// A JSON array.
    Array,
    /// A header and one record a row.
    Csv,
}

/// Finds out whether the input is one of many records; `None` where it is one document, or there is none.
///
/// # Errors
/// `usage` when it cannot be read.
pub fn detect(global: &GlobalArgs) -> Result<Option<Source>, Failure> {
    let Some(path) = global.input.as_deref() else { return Ok(None) };
    let stdin = path == Path::new("-");
    let format = match global.input_format.or_else(|| by_extension(path)) {
        Some(InputFormat::Csv) => Format::Csv,
        Some(InputFormat::Ndjson) => Format::Ndjson,
        // Standard input is one document unless its format is named.
        None if stdin => return Ok(None),
        Some(InputFormat::Json) | None if begins_an_array(path)? => Format::Array,
        _ => return Ok(None),
    };
    let regular = || std::fs::metadata(path).map(|found| found.is_file());
    let once = stdin || !regular().map_err(|error| document::unreadable(path, &error))?;
    let origin = if once { Origin::Stream(path.to_owned()) } else { Origin::File(path.to_owned()) };
    Ok(Some(Source { origin, format }))
}

fn by_extension(path: &Path) -> Option<InputFormat> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "csv" | "tsv" | "tab" => Some(InputFormat::Csv),
        "ndjson" | "jsonl" => Some(InputFormat::Ndjson),
        _ => None,
    }
}

/// Looks at the first byte that counts. Of standard input it stays to be read; a pipe by name is one document.
fn begins_an_array(path: &Path) -> Result<bool, Failure> {
    let first = if path == Path::new("-") {
        first_byte(std::io::stdin().lock())
    } else {
        match std::fs::metadata(path) {
            Ok(found) if !found.is_file() => return Ok(false),
            _ => File::open(path).and_then(|file| first_byte(BufReader::new(file))),
        }
    };
    Ok(first.map_err(|error| document::unreadable(path, &error))? == Some(b'['))
}

fn first_byte(mut input: impl BufRead) -> std::io::Result<Option<u8>> {
    let buffer = input.fill_buf()?;
    // Of UTF-16 the bytes of the mark and the zeros are passed over.
    let is_mark = |byte: u8| byte == 0 || matches!(byte, 0xef | 0xbb | 0xbf | 0xfe | 0xff);
    let start = buffer.iter().copied().skip_while(|byte| is_mark(*byte));
    Ok(start.into_iter().find(|byte| *byte != 0 && !byte.is_ascii_whitespace()))
}

impl Source {
    /// Opens it from its beginning, as UTF-8. A byte order mark is passed over.
    fn open(&self) -> Result<(Input, Encoding), Failure> {
        let path = self.path();
        let input: Input = if path == Path::new("-") {
            Box::new(BufReader::with_capacity(BUFFER, std::io::stdin()))
        } else {
            let file = File::open(path).map_err(|error| document::unreadable(path, &error))?;
            Box::new(BufReader::with_capacity(BUFFER, file))
        };
        document::decoded(input).map_err(|error| document::unreadable(path, &error))
    }

    /// Its name in messages.
    pub fn name(&self) -> String {
        document::name(self.path())
    }

    /// The path that was given; `-` for standard input.
    pub fn path(&self) -> &Path {
        match &self.origin {
            Origin::File(path) | Origin::Stream(path) => path,
        }
    }

    /// Whether it flows by once: it is checked as it flows.
    pub fn is_stream(&self) -> bool {
        matches!(self.origin, Origin::Stream(_))
    }
}

/// Reads lines.
struct Lines {
    input: Input,
    name: String,
    line: u64,
}

impl Lines {
    pub fn new(input: Input, name: String) -> Self {
        Self { input, name, line: 0 }
    }

    pub fn read(&mut self) -> Next {
        loop {
            let mut bytes = Vec::new();
            let read = self.input.read_until(b'\n', &mut bytes);
            if read.map_err(|error| unreadable(&self.name, &error))? == 0 {
                return Ok(None);
            }
            self.line += 1;
            while bytes.last().is_some_and(u8::is_ascii_whitespace) {
                bytes.pop();
            }
            if !bytes.iter().all(u8::is_ascii_whitespace) {
                return Ok(Some(text(self.line, bytes)));
            }
        }
    }
}

/// Reads elements.
struct Elements {
    input: Input,
    name: String,
    line: u64,
    is_after_cr: bool,
    begun: bool,
    ended: bool,
}

/// Where the scanner stands inside an element.
#[derive(Default)]
struct Depth {
    brackets: usize,
    in_string: bool,
    escaped: bool,
}

impl Elements {
    pub fn new(input: Input, name: String) -> Self {
        Self { input, name, line: 1, is_after_cr: false, begun: false, ended: false }
    }

    pub fn read(&mut self) -> Next {
        if self.ended {
            return Ok(None);
        }
        match (self.begun, self.peek()?) {
            (false, Some(b'[')) => self.skip(),
            (true, Some(b',')) => {
                self.skip();
                return self.element();
            }
            (true, Some(b']')) => return self.end(),
            (false, found) => return Err(self.unexpected("`[`", found)),
            (true, found) => return Err(self.unexpected("`,` or `]`", found)),
        }
        self.begun = true;
        if self.peek()? == Some(b']') { self.end() } else { self.element() }
    }

    fn element(&mut self) -> Next {
        match self.peek()? {
            Some(b',' | b']') | None => {
                let found = self.peek()?;
                Err(self.unexpected("a value", found))
            }
            Some(_) => {
                let line = self.line;
                let bytes = self.take()?;
                Ok(Some(text(line, bytes)))
            }
        }
    }

    /// The bytes up to the comma or bracket that ends the element.
    fn take(&mut self) -> Result<Vec<u8>, Failure> {
        let mut element = Vec::new();
        let mut depth = Depth::default();
        loop {
            let buffer = self.input.fill_buf().map_err(|error| unreadable(&self.name, &error))?;
            if buffer.is_empty() {
                return Err(self.unexpected("`,` or `]`", None));
            }
            let end = buffer.iter().position(|byte| depth.ends_before(*byte));
            let taken = end.unwrap_or(buffer.len());
            element.extend_from_slice(&buffer[..taken]);
            self.line += newlines(&buffer[..taken], &mut self.is_after_cr);
            self.input.consume(taken);
            if end.is_some() {
                element.truncate(element.trim_ascii_end().len());
                return Ok(element);
            }
        }
    }

    /// The next byte that is no white space.
    fn peek(&mut self) -> Result<Option<u8>, Failure> {
        loop {
            let buffer = self.input.fill_buf().map_err(|error| unreadable(&self.name, &error))?;
            let blank = buffer.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let found = buffer.get(blank).copied();
            let at_end = buffer.is_empty();
            self.line += newlines(&buffer[..blank], &mut self.is_after_cr);
            self.input.consume(blank);
            if found.is_some() || at_end {
                return Ok(found);
            }
        }
    }

    fn skip(&mut self) {
        self.input.consume(1);
        self.is_after_cr = false;
    }

    fn end(&mut self) -> Next {
        self.skip();
        self.ended = true;
        match self.peek()? {
            None => Ok(None),
            found => Err(self.unexpected("the end of the input", found)),
        }
    }

    fn unexpected(&self, expected: &str, found: Option<u8>) -> Failure {
        let what = match found {
            None => "unexpected end of input in array".to_owned(),
            Some(byte) => format!("expected {expected}, found `{}`", char::from(byte)),
        };
        let name = quoted(&self.name);
        Failure::usage(format!("{name} is not a JSON array: line {}: {what}", self.line))
    }
}

impl Depth {
    /// Takes one byte in; whether the element has ended before it.
    fn ends_before(&mut self, byte: u8) -> bool {
        if self.in_string {
            if self.escaped {
                self.escaped = false;
            } else if byte == b'\\' {
                self.escaped = true;
            } else if byte == b'"' {
                self.in_string = false;
            }
            return false;
        }
        match byte {
            b'"' => self.in_string = true,
            b'[' | b'{' => self.brackets += 1,
            b',' | b']' if self.brackets == 0 => return true,
            b']' | b'}' => self.brackets = self.brackets.saturating_sub(1),
            _ => {}
        }
        false
    }
}

/// How many lines end in these bytes, with LF, CRLF or CR. `is_after_cr` says whether the byte before them was a CR.
fn newlines(bytes: &[u8], is_after_cr: &mut bool) -> u64 {
    let mut lines = 0;
    for &byte in bytes {
        lines += u64::from(byte == b'\r' || byte == b'\n' && !*is_after_cr);
        *is_after_cr = byte == b'\r';
    }
    lines
}

/// Reads rows.
struct Rows {
    reader: CsvReader<Chain<Cursor<Vec<u8>>, Input>>,
    columns: Columns,
    name: String,
    row: csv::ByteRecord,
}

impl Rows {
    pub fn new(
        input: Input,
        name: String,
        columns: impl FnOnce(&csv::StringRecord) -> Result<Columns, Failure>,
    ) -> Result<Self, Failure> {
        let mut reader = CsvReader::open(input).map_err(|error| unreadable(&name, &error))?;
        let mut row = csv::ByteRecord::new();
        let line = reader.read(&mut row).map_err(|error| refused(&name, error))?.unwrap_or(1);
        let header = csv::StringRecord::from_byte_record(row.clone()).map_err(|_| {
            Failure::usage(format!("{name}: line {line}: the header is not UTF-8")).hint(SAVE_AS_UTF_8)
        })?;
        let mut columns = columns(&header)?;
        columns.delimiter = reader.delimiter();
        Ok(Self { reader, columns, name, row })
    }

    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    pub fn read(&mut self) -> Next {
        let line = loop {
            match self.reader.read(&mut self.row).map_err(|error| refused(&self.name, error))? {
                None => return Ok(None),
                // Spreadsheets write rows of nothing but delimiters where cells have been cleared.
                Some(_) if is_cleared(&self.row) => {}
                Some(line) => break line,
            }
        };
        let width = self.columns.titles().len();
        if self.row.iter().skip(width).all(|cell| cell.trim_ascii().is_empty()) {
            self.row.truncate(width);
        }
        Ok(Some(match csv::StringRecord::from_byte_record(self.row.clone()) {
            Ok(row) => (line, Content::Row(row), None),
            Err(error) => {
                let title = self.columns.title(error.utf8_error().field());
                let why = format!("column {title}: not valid UTF-8; {SAVE_AS_UTF_8}");
                let row = csv::StringRecord::from_byte_record_lossy(error.into_byte_record());
                (line, Content::Row(row), Some(why))
            }
        }))
    }
}

/// Whether a row has several cells, all of them empty.
fn is_cleared(row: &csv::ByteRecord) -> bool {
    row.len() > 1 && row.iter().all(|cell| cell.trim_ascii().is_empty())
}

fn refused(name: &str, error: CsvError) -> Failure {
    match error {
        CsvError::Io(error) => unreadable(name, &error),
        quotes => Failure::usage(format!("{name}: {quotes}")).hint(QUOTES_HINT),
    }
}

#[cfg(test)]
mod tests;
