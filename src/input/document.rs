//! Reading one JSON document or text from a file or standard input: UTF-8, or UTF-16 where a byte order mark says so. What
//! is read is UTF-8 from here on.

use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Read};
use std::path::Path;

use serde_json::Value;

use crate::exact_json;
use crate::failure::Failure;
use crate::storage::is_directory_error;

const STDIN: &str = "stdin";

/// Reads a file, or standard input for `-`, as text: UTF-8, or UTF-16 after a byte order mark. The mark is dropped.
///
/// # Errors
/// `usage`, naming the file, when it cannot be read, is a directory, or is not text.
pub fn read_text(path: &Path) -> Result<String, Failure> {
    let input: Box<dyn BufRead + Send> = if path == Path::new("-") {
        Box::new(BufReader::new(std::io::stdin()))
    } else {
        Box::new(BufReader::new(std::fs::File::open(path).map_err(|error| unreadable(path, &error))?))
    };
    let (mut input, _) = decoded(input).map_err(|error| unreadable(path, &error))?;
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
    String::from_utf8(bytes).map_err(|error| {
        let sound = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = sound.split(|byte| *byte == b'\n').count();
        Failure::usage(format!("{} is not UTF-8: line {line}, byte {}", quoted(&name(path)), sound.len() + 1))
            .hint(SAVE_AS_UTF_8)
    })
}

/// Reads one JSON document.
///
/// # Errors
/// `usage`, as [`read_text`], and with line and column where the text is not JSON.
pub fn read_json(path: &Path) -> Result<Value, Failure> {
    parse_json(&read_text(path)?, &name(path))
}

/// Reads one JSON document that is a record. On standard input other formats have to be named.
///
/// # Errors
/// As [`read_json`].
pub fn read_record(path: &Path) -> Result<Value, Failure> {
    let text = read_text(path)?;
    parse_json(&text, &name(path)).map_err(|failure| {
        if path != Path::new("-") || failure.hint.is_some() || text.trim().is_empty() {
            return failure;
        }
        failure.hint("for CSV or NDJSON on standard input add --input-format csv or --input-format ndjson")
    })
}

/// Parses one JSON document; `name` says where it came from.
///
/// # Errors
/// `usage`, with line and column where the text is not JSON, and with the path of a field that is named twice.
pub fn parse_json(text: &str, name: &str) -> Result<Value, Failure> {
    let quoted = quoted(name);
    if text.trim().is_empty() {
        return Err(Failure::usage(format!("{quoted} is empty")));
    }
    exact_json::parse(text.as_bytes()).map_err(|error| match error {
        exact_json::Error::Syntax { .. } => Failure::usage(format!("{quoted} is not valid JSON: {error}")),
        exact_json::Error::Repeated(_) => {
            Failure::usage(format!("{name}: {error}")).hint("remove one of them")
        }
        error => Failure::usage(format!("{quoted} cannot be used: {error}")),
    })
}

/// A file's name in messages.
pub fn name(path: &Path) -> String {
    if path == Path::new("-") { STDIN.to_owned() } else { path.display().to_string() }
}

/// The name of an input inside a sentence: in backticks, unless it is stdin or a flag, which are no file names.
pub fn quoted(name: &str) -> String {
    if name == STDIN || name.starts_with("--") { name.to_owned() } else { format!("`{name}`") }
}

/// Why a file could not be read.
pub fn unreadable(path: &Path, error: &io::Error) -> Failure {
    let name = name(path);
    if let Some(failure) = encoding_failure(&name, error) {
        return failure;
    }
    if is_directory_error(path, error) {
        return Failure::usage(format!("{} is a directory, not a file", quoted(&name)));
    }
    match error.kind() {
        io::ErrorKind::NotFound => Failure::usage(format!("file `{name}` not found")),
        _ => Failure::usage(format!("cannot read {}: {error}", quoted(&name))),
    }
}

/// How the text of an input is encoded.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Encoding {
    /// UTF-8.
    #[default]
    Utf8,
    /// UTF-8 after a byte order mark, as spreadsheets write it.
    Utf8WithMark,
    /// UTF-16, the low byte first, after a byte order mark.
    Utf16Le,
    /// UTF-16, the high byte first, after a byte order mark.
    Utf16Be,
}

const UTF_8_MARK: &[u8] = b"\xef\xbb\xbf";
/// How a ZIP archive begins, and so .xlsx and .ods.
const ZIP: &[u8] = b"PK\x03\x04";
/// How an .xls file begins.
const COMPOUND_FILE: &[u8] = b"\xd0\xcf\x11\xe0";

/// What to do about a file that is not text.
pub const SAVE_AS_UTF_8: &str = "save it as UTF-8 (in a spreadsheet: as CSV UTF-8) and try again";

/// Reads as UTF-8 what may be UTF-16. A byte order mark is passed over. UTF-8 itself is not checked.
///
/// # Errors
/// `InvalidData`, in words for a message, for a spreadsheet's own file and for UTF-16 without a byte order mark; while
/// reading on, for invalid UTF-16.
pub fn decoded(mut input: Box<dyn BufRead + Send>) -> io::Result<(Box<dyn BufRead + Send>, Encoding)> {
    let mut start = Vec::with_capacity(4);
    input.by_ref().take(4).read_to_end(&mut start)?;
    let (encoding, mark) = match start.as_slice() {
        start if start.starts_with(UTF_8_MARK) => (Encoding::Utf8WithMark, UTF_8_MARK.len()),
        [0xff, 0xfe, ..] => (Encoding::Utf16Le, 2),
        [0xfe, 0xff, ..] => (Encoding::Utf16Be, 2),
        start if start.starts_with(ZIP) => {
            return Err(invalid("a spreadsheet (.xlsx or .ods) or another ZIP archive, not text"));
        }
        start if start.starts_with(COMPOUND_FILE) => return Err(invalid("a spreadsheet (.xls), not text")),
        [0, ..] | [_, 0, ..] => return Err(invalid("UTF-16 without a byte order mark, or not text")),
        _ => (Encoding::Utf8, 0),
    };
    let whole = Cursor::new(start.split_off(mark)).chain(input);
    Ok(match encoding {
        Encoding::Utf8 | Encoding::Utf8WithMark => (Box::new(whole), encoding),
        Encoding::Utf16Le | Encoding::Utf16Be => (Box::new(Utf16::new(whole, encoding)), encoding),
    })
}

fn invalid(what: impl Into<String>) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what.into())
}

/// The failure of an input that cannot be read on; `None` for an error that is not about its encoding.
pub(super) fn encoding_failure(name: &str, error: &io::Error) -> Option<Failure> {
    (error.kind() == ErrorKind::InvalidData)
        .then(|| Failure::usage(format!("{name} is {error}")).hint(SAVE_AS_UTF_8))
}

/// UTF-16, read as UTF-8.
struct Utf16<R> {
    input: R,
    encoding: Encoding,
    /// The first byte of a unit that is cut by the end of the buffer.
    half_unit: Option<u8>,
    /// The first unit of a pair that is cut there.
    high_surrogate: Option<u16>,
    line: u64,
    output: Vec<u8>,
    consumed: usize,
}

impl<R: BufRead> Utf16<R> {
    fn new(input: R, encoding: Encoding) -> Self {
        Self {
            input,
            encoding,
            half_unit: None,
            high_surrogate: None,
            line: 1,
            output: Vec::new(),
            consumed: 0,
        }
    }

    /// Decodes what the input has buffered; whether there was anything.
    fn decode_buffer(&mut self) -> io::Result<bool> {
        let buffer = self.input.fill_buf()?;
        let length = buffer.len();
        if length == 0 && (self.half_unit.is_some() || self.high_surrogate.is_some()) {
            return Err(self.invalid());
        }
        let bytes: Vec<u8> = self.half_unit.take().into_iter().chain(buffer.iter().copied()).collect();
        self.input.consume(length);
        let units = bytes.chunks_exact(2);
        self.half_unit = units.remainder().first().copied();
        let order = if self.encoding == Encoding::Utf16Be { u16::from_be_bytes } else { u16::from_le_bytes };
        let mut units: Vec<u16> = self
            .high_surrogate
            .take()
            .into_iter()
            .chain(units.map(|unit| order([unit[0], unit[1]])))
            .collect();
        if let Some(0xd800..0xdc00) = units.last() {
            self.high_surrogate = units.pop();
        }
        for character in char::decode_utf16(units) {
            let character = character.map_err(|_| self.invalid())?;
            self.line += u64::from(character == '\n');
            self.output.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
        }
        Ok(length > 0)
    }

    fn invalid(&self) -> io::Error {
        invalid(format!("not valid UTF-16: line {}", self.line))
    }
}

impl<R: BufRead> BufRead for Utf16<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.consumed == self.output.len() {
            self.output.clear();
            self.consumed = 0;
            while self.output.is_empty() && self.decode_buffer()? {}
        }
        Ok(&self.output[self.consumed..])
    }

    fn consume(&mut self, amount: usize) {
        self.consumed = (self.consumed + amount).min(self.output.len());
    }
}

impl<R: BufRead> Read for Utf16<R> {
    fn read(&mut self, target: &mut [u8]) -> io::Result<usize> {
        let length = self.fill_buf()?.read(target)?;
        self.consume(length);
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor, Read as _};

    use super::{Encoding, decoded};

    fn read(bytes: Vec<u8>) -> Result<(String, Encoding), String> {
        // A reader that gives a byte at a time finds every seam.
        let input = Box::new(BufReader::with_capacity(1, Cursor::new(bytes)));
        let (mut input, encoding) = decoded(input).map_err(|error| error.to_string())?;
        let mut text = String::new();
        input.read_to_string(&mut text).map_err(|error| error.to_string())?;
        Ok((text, encoding))
    }

    fn utf_16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(to_bytes).collect()
    }

    #[test]
    fn every_encoding_reads_as_the_same_text() {
        let text = "a,é\r\n\"😀\",東京\r\n";
        assert_eq!(read(text.into()), Ok((text.to_owned(), Encoding::Utf8)));
        assert_eq!(read(format!("\u{feff}{text}").into()), Ok((text.to_owned(), Encoding::Utf8WithMark)));
        assert_eq!(read(utf_16(text, u16::to_le_bytes)), Ok((text.to_owned(), Encoding::Utf16Le)));
        assert_eq!(read(utf_16(text, u16::to_be_bytes)), Ok((text.to_owned(), Encoding::Utf16Be)));
        assert_eq!(read(Vec::new()), Ok((String::new(), Encoding::Utf8)));
    }

    #[test]
    fn what_is_not_text_is_named() {
        for (bytes, what) in [
            (b"PK\x03\x04\x14\0".to_vec(), "a spreadsheet (.xlsx or .ods)"),
            (b"\xd0\xcf\x11\xe0\xa1".to_vec(), "a spreadsheet (.xls)"),
            (b"l\0a\0".to_vec(), "UTF-16 without a byte order mark"),
            (b"\0l\0a".to_vec(), "UTF-16 without a byte order mark"),
            (b"\xff\xfea\0\n\0\0\xd8b\0".to_vec(), "not valid UTF-16: line 2"),
            (b"\xff\xfea\0\n".to_vec(), "not valid UTF-16: line 1"),
        ] {
            let refusal = read(bytes).unwrap_err();
            assert!(refusal.starts_with(what), "{what}: {refusal}");
        }
    }
}
