//! CSV rows, strict about quotes: one that is never closed would swallow the rest of a file as one cell.
//!
//! Rows end with LF, CRLF or CR. A quote counts at the beginning of a cell; inside, two of them stand for one. Lines are
//! numbered as an editor does. One row is held at a time.

use std::io::{self, BufRead, Read};

/// The largest row, in bytes. Beyond it a quote that was never closed is the likely cause.
const MAX_ROW: usize = 16 * 1024 * 1024;

/// The most of a first line that is looked at for its delimiter, in bytes.
const MAX_FIRST_LINE: u64 = 64 * 1024;

/// Reads rows.
pub struct CsvReader<R> {
    input: R,
    delimiter: u8,
    /// The line of the next byte, from 1.
    line: u64,
    /// The last byte was a CR: an LF after it is no line of its own.
    is_after_cr: bool,
}

/// Why a row cannot be read. Rows after it cannot either: where they begin is unknown.
#[derive(Debug)]
pub enum CsvError {
    /// A quote that is never closed, by the line that it is on.
    UnclosedQuote(u64),
    /// Text after a closing quote, by the line of the opening one.
    TextAfterQuote(u64),
    /// A row of more than [`MAX_ROW`] bytes, by its first line, or that of a quote that is open.
    TooLong(u64),
    /// The input itself.
    Io(io::Error),
}

impl std::fmt::Display for CsvError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::UnclosedQuote(line) => {
                write!(out, "line {line}: unclosed quoted cell")
            }
            Self::TextAfterQuote(line) => {
                write!(out, "line {line}: text after the closing quote of a cell")
            }
            Self::TooLong(line) => write!(out, "line {line}: row longer than 16 MiB (unclosed quote?)"),
            Self::Io(error) => error.fmt(out),
        }
    }
}

/// What the hint says about a quote in the wrong place.
pub const QUOTES_HINT: &str =
    "quote a cell as a whole, and write a quote inside it twice: \"24\"\" monitor\"";

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    BeforeRow,
    CellStart,
    Bare,
    Quoted,
    AfterQuote,
}

/// A row in flight.
struct Row<'a> {
    cells: &'a mut csv::ByteRecord,
    cell: Vec<u8>,
    state: State,
    first_line: u64,
    quote_line: u64,
}

impl<R: BufRead> CsvReader<io::Chain<io::Cursor<Vec<u8>>, R>> {
    /// Finds out the delimiter: from Excel's `sep=` line, which is passed over, or from the first line itself.
    ///
    /// # Errors
    /// What reading fails with.
    pub fn open(mut input: R) -> io::Result<Self> {
        let mut first = Vec::new();
        while !first.ends_with(b"\n") && !first.ends_with(b"\r") && (first.len() as u64) < MAX_FIRST_LINE {
            let buffer = input.fill_buf()?;
            let end = buffer.iter().position(|byte| matches!(byte, b'\n' | b'\r')).map(|end| end + 1);
            let taken = end.unwrap_or(buffer.len());
            if taken == 0 {
                break;
            }
            first.extend_from_slice(&buffer[..taken]);
            input.consume(taken);
        }
        if let Some(delimiter) = separator(&first) {
            let is_after_cr = first.ends_with(b"\r");
            return Ok(Self { input: io::Cursor::default().chain(input), delimiter, line: 2, is_after_cr });
        }
        let delimiter = delimiter(&first);
        Ok(Self { input: io::Cursor::new(first).chain(input), delimiter, line: 1, is_after_cr: false })
    }
}

impl<R: BufRead> CsvReader<R> {
    /// The byte between cells.
    pub fn delimiter(&self) -> u8 {
        self.delimiter
    }

    /// Reads a row; the line on which it begins, or `None` at the end. Blank lines are passed over.
    ///
    /// # Errors
    /// For a quote in the wrong place, a row that is too long, and an input that cannot be read on.
    pub fn read(&mut self, cells: &mut csv::ByteRecord) -> Result<Option<u64>, CsvError> {
        cells.clear();
        let mut row =
            Row { cells, cell: Vec::new(), state: State::BeforeRow, first_line: self.line, quote_line: 0 };
        let mut size = 0;
        loop {
            let buffer = self.input.fill_buf().map_err(CsvError::Io)?;
            if buffer.is_empty() {
                return row.end();
            }
            let (mut taken, mut is_over) = (0, false);
            while taken < buffer.len() && !is_over {
                let byte = buffer[taken];
                taken += 1;
                let line = self.line;
                self.line += u64::from(byte == b'\r' || byte == b'\n' && !self.is_after_cr);
                self.is_after_cr = byte == b'\r';
                is_over = row.take(byte, line, self.delimiter)?;
            }
            size += taken;
            self.input.consume(taken);
            if is_over {
                return Ok(Some(row.first_line));
            }
            if size > MAX_ROW {
                return Err(row.too_long());
            }
        }
    }
}

impl Row<'_> {
    /// Takes one byte in; whether the row is over with it.
    fn take(&mut self, byte: u8, line: u64, delimiter: u8) -> Result<bool, CsvError> {
        let is_break = matches!(byte, b'\n' | b'\r');
        if self.state == State::BeforeRow {
            if is_break {
                return Ok(false);
            }
            (self.state, self.first_line) = (State::CellStart, line);
        }
        match (self.state, byte) {
            (State::Quoted, b'"') => self.state = State::AfterQuote,
            (State::Quoted, _) => self.cell.push(byte),
            (State::AfterQuote, b'"') => {
                self.cell.push(b'"');
                self.state = State::Quoted;
            }
            _ if byte == delimiter || is_break => {
                self.cells.push_field(&self.cell);
                self.cell.clear();
                self.state = State::CellStart;
                return Ok(is_break);
            }
            (State::AfterQuote, _) => return Err(CsvError::TextAfterQuote(self.quote_line)),
            (State::CellStart, b'"') => (self.state, self.quote_line) = (State::Quoted, line),
            _ => {
                self.cell.push(byte);
                self.state = State::Bare;
            }
        }
        Ok(false)
    }

    /// The end of the input.
    fn end(self) -> Result<Option<u64>, CsvError> {
        match self.state {
            State::BeforeRow => Ok(None),
            State::Quoted => Err(CsvError::UnclosedQuote(self.quote_line)),
            _ => {
                self.cells.push_field(&self.cell);
                Ok(Some(self.first_line))
            }
        }
    }

    fn too_long(&self) -> CsvError {
        match self.state {
            State::Quoted => CsvError::TooLong(self.quote_line),
            _ => CsvError::TooLong(self.first_line),
        }
    }
}

/// The delimiter of a line such as `sep=;`.
fn separator(line: &[u8]) -> Option<u8> {
    let line = line.trim_ascii_end();
    let line = line.strip_prefix(b"\"").and_then(|line| line.strip_suffix(b"\"")).unwrap_or(line);
    match line {
        [s, e, p, b'=', delimiter] if [s, e, p].map(u8::to_ascii_lowercase) == *b"sep" => Some(*delimiter),
        // The tab of `sep=` and a tab was trimmed as white space.
        [s, e, p, b'='] if [s, e, p].map(u8::to_ascii_lowercase) == *b"sep" => Some(b'\t'),
        _ => None,
    }
}

/// The most frequent of `,`, `;` and tab outside quotes; a comma where they are equally frequent.
fn delimiter(header: &[u8]) -> u8 {
    let mut counts = [0_usize; 3];
    let mut is_quoted = false;
    for &byte in header {
        is_quoted ^= byte == b'"';
        if let Some(position) = DELIMITERS.iter().position(|delimiter| *delimiter == byte && !is_quoted) {
            counts[position] += 1;
        }
    }
    let most = counts.iter().copied().max().unwrap_or_default();
    counts.iter().position(|count| *count == most).map_or(b',', |position| DELIMITERS[position])
}

const DELIMITERS: [u8; 3] = [b',', b';', b'\t'];

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor};

    use super::CsvReader;

    /// The rows with their lines, or what is wrong after them.
    fn rows(text: &str) -> (Vec<(u64, Vec<String>)>, String) {
        // A reader that gives a byte at a time finds every seam.
        let input = BufReader::with_capacity(1, Cursor::new(text.as_bytes().to_vec()));
        let mut reader = CsvReader::open(input).unwrap();
        let (mut found, mut row) = (Vec::new(), csv::ByteRecord::new());
        loop {
            match reader.read(&mut row) {
                Ok(None) => return (found, String::new()),
                Ok(Some(line)) => {
                    let cells = row.iter().map(|cell| String::from_utf8_lossy(cell).into_owned());
                    found.push((line, cells.collect()));
                }
                Err(error) => return (found, error.to_string()),
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
            let expected: Vec<Vec<String>> =
                reader.records().map(|row| row.unwrap().iter().map(str::to_owned).collect()).collect();
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
        let mut reader = CsvReader::open(BufReader::new(text.as_bytes())).unwrap();
        let mut row = csv::ByteRecord::new();
        let error = loop {
            match reader.read(&mut row) {
                Ok(Some(_)) => {}
                Ok(None) => panic!("the end was read as if it were sound"),
                Err(error) => break error.to_string(),
            }
        };
        assert!(error.starts_with("line 3: ") && error.contains("16 MiB"), "{error}");
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
            ("a\n", 1),
        ] {
            assert_eq!(rows(text).0[0].1.len(), cells, "{text:?}");
        }
    }
}
