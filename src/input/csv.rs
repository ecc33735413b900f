//! CSV rows, strict about quotes: an unclosed one would swallow the rest of a file as one cell.
//!
//! Rows end with LF, CRLF or CR. A quote counts at the beginning of a cell; inside, two of them stand for one. Lines are
//! numbered as in an editor. One row is held at a time.

use std::io::{BufRead as _, Cursor, Read as _};
use std::path::Path;

use super::document::{self, TextInput};
use storefront_core::failure::Failure;

/// The largest row, in bytes. A longer one probably has an unclosed quote.
const MAX_ROW: usize = 16 * 1024 * 1024;

/// How much of the first line is searched for the delimiter, in bytes.
const MAX_FIRST_LINE: u64 = 64 * 1024;

const DELIMITERS: [u8; 4] = *b",;\t|";

/// The hint about a quote in the wrong place.
const QUOTES_HINT: &str = "quote a cell as a whole, and write a quote inside it twice: \"24\"\" monitor\"";

/// Reads rows.
pub struct CsvReader {
    /// The byte between cells.
    pub delimiter: u8,
    input: TextInput,
    name: String,
    /// The line of the next byte, from 1.
    line: u64,
    /// Whether the last byte was a CR: an LF after it is not a line of its own.
    is_after_cr: bool,
    /// The number of cells of the header, without empty ones at its end.
    width: Option<usize>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CellState {
    BeforeRow,
    CellStart,
    Bare,
    Quoted,
    AfterQuote,
}

/// A row that is being read.
struct UnfinishedRow {
    cells: csv::ByteRecord,
    cell: Vec<u8>,
    state: CellState,
    first_line: u64,
    quote_line: u64,
}

impl CsvReader {
    /// Finds the delimiter: in Excel's `sep=` line, which is skipped, or in the first line itself. `name` is that of the
    /// file in messages.
    ///
    /// # Errors
    /// `usage` for an input that cannot be read.
    pub fn open(mut input: TextInput, name: String) -> Result<Self, Failure> {
        let mut start = Vec::new();
        let read = input.by_ref().take(MAX_FIRST_LINE).read_until(b'\n', &mut start);
        read.map_err(|error| document::unreadable(Path::new(&name), &error))?;
        let end =
            start.iter().position(|byte| matches!(byte, b'\n' | b'\r')).map_or(start.len(), |end| end + 1);
        let separator = separator(&start[..end]);
        let delimiter = separator.unwrap_or_else(|| delimiter(&start[..end]));
        let (line, rest) =
            if separator.is_some() { (2, start.split_off(end)) } else { (1, start.split_off(0)) };
        let is_after_cr = start.ends_with(b"\r");
        let input = Box::new(Cursor::new(rest).chain(input));
        Ok(Self { delimiter, input, name, line, is_after_cr, width: None })
    }

    /// Reads a row, with the line on which it begins; `None` at the end. Blank lines are skipped, and so are rows of only
    /// delimiters, which spreadsheets write for cleared cells. Empty cells beyond the header are left out.
    ///
    /// # Errors
    /// `usage` for a quote in the wrong place, a row that is too long or not UTF-8, and an input that cannot be read.
    /// Later rows cannot be read either: where they begin is unknown.
    pub fn read(&mut self) -> Result<Option<(u64, csv::StringRecord)>, Failure> {
        let is_blank = |cell: &[u8]| cell.trim_ascii().is_empty();
        loop {
            let Some((line, mut cells)) = self.row()? else { return Ok(None) };
            if cells.len() > 1 && cells.iter().all(is_blank) {
                continue;
            }
            let last = cells.iter().collect::<Vec<_>>().iter().rposition(|cell| !is_blank(cell));
            let filled = last.map_or(0, |last| last + 1);
            let width = *self.width.get_or_insert(filled);
            if filled <= width && cells.len() > width {
                cells.truncate(width);
            }
            let cells = csv::StringRecord::from_byte_record(cells);
            return cells.map(|cells| Some((line, cells))).map_err(|_| document::not_utf_8(&self.name, line));
        }
    }

    fn row(&mut self) -> Result<Option<(u64, csv::ByteRecord)>, Failure> {
        let cells = csv::ByteRecord::new();
        let cell = Vec::new();
        let mut row =
            UnfinishedRow { cells, cell, state: CellState::BeforeRow, first_line: self.line, quote_line: 0 };
        let mut size = 0;
        loop {
            let buffer =
                self.input.fill_buf().map_err(|error| document::unreadable(Path::new(&self.name), &error))?;
            if buffer.is_empty() {
                return row.end().map_err(|(line, what)| refused(&self.name, line, what));
            }
            let mut taken = 0;
            let mut is_over = false;
            while taken < buffer.len() && !is_over {
                let byte = buffer[taken];
                taken += 1;
                let line = self.line;
                self.line += u64::from(byte == b'\r' || byte == b'\n' && !self.is_after_cr);
                self.is_after_cr = byte == b'\r';
                is_over = row
                    .take(byte, line, self.delimiter)
                    .map_err(|(line, what)| refused(&self.name, line, what))?;
            }
            size += taken;
            self.input.consume(taken);
            if is_over {
                return Ok(Some((row.first_line, row.cells)));
            }
            if size > MAX_ROW {
                let line = if row.state == CellState::Quoted { row.quote_line } else { row.first_line };
                return Err(refused(&self.name, line, "row longer than 16 MiB (unclosed quote?)"));
            }
        }
    }
}

fn refused(name: &str, line: u64, what: &str) -> Failure {
    Failure::usage(format!("{name}: line {line}: {what}")).hint(QUOTES_HINT)
}

/// The line of a quote in the wrong place, and what is wrong with it.
type Misplaced = (u64, &'static str);

impl UnfinishedRow {
    /// Takes one byte; `true` if it ends the row.
    fn take(&mut self, byte: u8, line: u64, delimiter: u8) -> Result<bool, Misplaced> {
        let is_break = matches!(byte, b'\n' | b'\r');
        if self.state == CellState::BeforeRow {
            if is_break {
                return Ok(false);
            }
            (self.state, self.first_line) = (CellState::CellStart, line);
        }
        match (self.state, byte) {
            (CellState::Quoted, b'"') => self.state = CellState::AfterQuote,
            (CellState::Quoted, _) => self.cell.push(byte),
            (CellState::AfterQuote, b'"') => {
                self.cell.push(b'"');
                self.state = CellState::Quoted;
            }
            _ if byte == delimiter || is_break => {
                self.cells.push_field(&self.cell);
                self.cell.clear();
                self.state = CellState::CellStart;
                return Ok(is_break);
            }
            (CellState::AfterQuote, _) => {
                return Err((self.quote_line, "text after the closing quote of a cell"));
            }
            (CellState::CellStart, b'"') => (self.state, self.quote_line) = (CellState::Quoted, line),
            _ => {
                self.cell.push(byte);
                self.state = CellState::Bare;
            }
        }
        Ok(false)
    }

    /// Ends the row at the end of the input.
    fn end(mut self) -> Result<Option<(u64, csv::ByteRecord)>, Misplaced> {
        match self.state {
            CellState::BeforeRow => Ok(None),
            CellState::Quoted => Err((self.quote_line, "unclosed quoted cell")),
            _ => {
                self.cells.push_field(&self.cell);
                Ok(Some((self.first_line, self.cells)))
            }
        }
    }
}

/// The delimiter of a line such as `sep=;`.
fn separator(line: &[u8]) -> Option<u8> {
    let line = line.trim_ascii_end();
    let line = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")).unwrap_or(line);
    let (_, rest) = line.split_at_checked(4).filter(|(sep, _)| sep.eq_ignore_ascii_case(b"sep="))?;
    match rest {
        [delimiter] => Some(*delimiter),
        // The tab of `sep=` and a tab was trimmed as white space.
        [] => Some(b'\t'),
        _ => None,
    }
}

/// The most frequent of `,`, `;`, tab and `|` outside quotes; of equally frequent ones, the first in this order.
fn delimiter(header: &[u8]) -> u8 {
    let count = |delimiter: &u8| {
        let outside = header.split(|byte| *byte == b'"').step_by(2);
        outside.flatten().filter(|byte| *byte == delimiter).count()
    };
    DELIMITERS.into_iter().rev().max_by_key(count).unwrap_or(b',')
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor};

    use super::CsvReader;

    /// The rows with their lines, and the failure after them.
    fn rows(text: &str) -> (Vec<(u64, Vec<String>)>, String) {
        // A reader that gives a byte at a time finds every seam.
        let input = BufReader::with_capacity(1, Cursor::new(text.as_bytes().to_vec()));
        let mut reader = CsvReader::open(Box::new(input), "x.csv".to_owned()).unwrap();
        let mut found = Vec::new();
        loop {
            match reader.read() {
                Ok(None) => return (found, String::new()),
                Ok(Some((line, row))) => found.push((line, row.iter().map(str::to_owned).collect())),
                Err(error) => return (found, error.message.replace("x.csv: ", "")),
            }
        }
    }

    fn lines(text: &str) -> Vec<u64> {
        let (rows, error) = rows(text);
        assert_eq!(error, "", "{text:?}");
        rows.into_iter().map(|(line, _)| line).collect()
    }

    #[test]
    fn lines_are_those_of_an_editor_for_every_line_end() {
        let text = "a,b\n1,\"x\ny\"\n\n\n\"\n\",2\n3,4";
        for end in ["\n", "\r\n", "\r"] {
            assert_eq!(lines(&text.replace('\n', end)), [1, 2, 6, 8], "{end:?}");
            assert_eq!(lines(&format!("sep=;{end}a;b{end}1;2{end}")), [2, 3], "{end:?}");
        }
        assert_eq!(lines("a\r\n\r\nb\r\n"), [1, 3]);
    }

    #[test]
    fn cells_are_what_the_csv_crate_reads_in_sound_files() {
        for text in [
            "a,b\n\"x\"\"y\",\" z\"\n",
            "a,b\r\n,\r\n\"\",x\"y\"\r\n",
            "a,b\n1,2,3\n4\n\"5\"",
            "a\n\"line\r\nbreak\"\n é, \"\n",
        ] {
            let mut reader =
                csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
            let expected = reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect());
            // Rows of empty cells are skipped.
            let is_filled = |row: &Vec<String>| row.len() == 1 || row.iter().any(|cell| !cell.is_empty());
            let expected: Vec<Vec<String>> = expected.filter(is_filled).collect();
            let (rows, error) = rows(text);
            assert_eq!(rows.into_iter().map(|(_, cells)| cells).collect::<Vec<_>>(), expected, "{text:?}");
            assert_eq!(error, "");
        }
    }

    #[test]
    fn a_quote_in_the_wrong_place_is_named_by_the_line_where_it_opens() {
        for end in ["\n", "\r\n", "\r"] {
            let (before, error) = rows(&"a,b\n1,2\n3,\"x\n4,5\n6,7\n".replace('\n', end));
            assert_eq!((before.len(), error.as_str()), (2, "line 3: unclosed quoted cell"));
            let (before, error) = rows(&"a,b\n1,\"x\ny\"z\n3,4\n".replace('\n', end));
            let expected = "line 2: text after the closing quote of a cell";
            assert_eq!((before.len(), error.as_str()), (1, expected));
        }
        assert_eq!(rows("a\n\"x\" \n").1.split(':').next(), Some("line 2"));
        assert_eq!(rows("\"a\n").1, "line 1: unclosed quoted cell");
    }

    #[test]
    fn an_open_quote_in_a_large_file_is_refused_without_holding_it() {
        let text = format!("a\n1\n\"2\n{}", "3\n".repeat(9 << 20));
        let mut reader = CsvReader::open(Box::new(Cursor::new(text)), "x.csv".to_owned()).unwrap();
        let error = loop {
            match reader.read() {
                Ok(Some(_)) => {}
                Ok(None) => panic!("the end was read as if it were sound"),
                Err(error) => break error.message,
            }
        };
        assert!(error.starts_with("x.csv: line 3: ") && error.contains("16 MiB"), "{error}");
    }

    #[test]
    fn delimiters_are_recognised() {
        for (text, cells) in [
            ("a;b\n", 2),
            ("a\tb\tc\n", 3),
            ("a,b;c\n", 2),
            ("\"a,b\";c;d\n", 3),
            ("sep=;\na;b\n", 2),
            ("\"sep=|\"\r\na|b\r\n", 2),
            ("SEP=\t\na\tb,c\n", 2),
            ("a|b|c\n1|2|3\n", 3),
            ("a,b\nx|y|z,2\n", 2),
            ("a\n", 1),
        ] {
            assert_eq!(rows(text).0[0].1.len(), cells, "{text:?}");
        }
    }
}
