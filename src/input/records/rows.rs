//! CSV: a header, then one record a row. `;` is taken where the header has it and no comma.

use std::io::{BufRead, Cursor, Read};

use super::{Columns, Content, Input, Next, unreadable};
use crate::failure::Failure;
use crate::input::cell::delimiter;

/// Reads rows.
pub struct Rows {
    reader: csv::Reader<Box<dyn Read + Send>>,
    columns: Columns,
    name: String,
    row: csv::ByteRecord,
}

impl Rows {
    pub fn new(
        mut input: Input,
        name: String,
        columns: impl FnOnce(&csv::StringRecord) -> Result<Columns, Failure>,
    ) -> Result<Self, Failure> {
        let mut first = Vec::new();
        input.read_until(b'\n', &mut first).map_err(|error| unreadable(&name, &error))?;
        let delimiter = delimiter(&String::from_utf8_lossy(&first));
        let whole: Box<dyn Read + Send> = Box::new(Cursor::new(first).chain(input));
        let mut reader = csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(whole);
        let header = reader.headers().map_err(|error| {
            Failure::usage(format!("{name}: the header cannot be read: {error}; nothing was sent"))
        })?;
        let mut columns = columns(header)?;
        columns.delimiter = delimiter;
        Ok(Self { reader, columns, name, row: csv::ByteRecord::new() })
    }

    pub fn columns(&self) -> &Columns {
        &self.columns
    }

    pub fn read(&mut self) -> Next {
        let read = self.reader.read_byte_record(&mut self.row);
        let more =
            read.map_err(|error| Failure::usage(format!("{} cannot be read on: {error}", self.name)))?;
        if !more {
            return Ok(None);
        }
        let line = self.row.position().map_or(0, csv::Position::line);
        Ok(Some(match csv::StringRecord::from_byte_record(self.row.clone()) {
            Ok(row) => (line, Content::Row(row), None),
            Err(error) => {
                let title = self.columns.title(error.utf8_error().field());
                let why = format!("column {title}: this is not UTF-8");
                let row = csv::StringRecord::from_byte_record_lossy(error.into_byte_record());
                (line, Content::Row(row), Some(why))
            }
        }))
    }
}
