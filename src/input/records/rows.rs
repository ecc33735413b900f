//! CSV: a header, then one record a row.

use std::io::{Chain, Cursor};

use super::{Columns, Content, Input, Next, unreadable};
use crate::failure::Failure;
use crate::input::encoding::SAVE_AS_UTF_8;
use crate::input::strict_csv::{CsvError, CsvReader, QUOTES_HINT};

/// Reads rows.
pub struct Rows {
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
