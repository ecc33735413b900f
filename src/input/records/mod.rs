//! Inputs of many records: NDJSON, JSON arrays and CSV, read one record at a time.

mod array;
mod columns;
mod lines;
mod rows;
mod source;
mod titles;

pub use columns::{Columns, RowError};
pub use source::{Format, Origin, Source, detect};
pub use titles::{paths, titles};

use std::io::BufRead;

use crate::failure::Failure;
use crate::input::encoding::{self, Encoding, SAVE_AS_UTF_8};

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
    Lines(lines::Lines),
    Array(array::Elements),
    Rows(rows::Rows),
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
            source::Format::Ndjson => Reader::Lines(lines::Lines::new(input, name)),
            source::Format::Array => Reader::Array(array::Elements::new(input, name)),
            source::Format::Csv => Reader::Rows(rows::Rows::new(input, name, columns)?),
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
    if let Some(failure) = encoding::failure(name, error) {
        return failure;
    }
    Failure::usage(format!("error reading `{name}`: {error}"))
}

#[cfg(test)]
mod tests;
