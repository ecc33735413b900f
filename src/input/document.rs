//! Text and JSON documents from files and standard input: UTF-8, UTF-16 with a byte order mark, or the encoding that
//! `--encoding` names. The encoding is never guessed. The text that is returned is UTF-8.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, ErrorKind, Read};
use std::path::Path;

use encoding_rs::{DecoderResult, Encoding, UTF_8};
use serde_json::Value;

use crate::system::storage::is_directory_error;
use storefront_core::failure::Failure;
use storefront_core::text::exact_json;

/// An input of text.
pub type TextInput = Box<dyn BufRead + Send>;

const STDIN: &str = "stdin";

/// How many bytes are read at a time.
const BUFFER: usize = 64 * 1024;

/// The start of a ZIP archive, such as .xlsx and .ods.
const ZIP: &[u8] = b"PK\x03\x04";
/// The start of an .xls file.
const COMPOUND_FILE: &[u8] = b"\xd0\xcf\x11\xe0";

/// The hint about a file that is not text.
const SAVE_AS_UTF_8: &str = "save it as UTF-8 (in a spreadsheet: as CSV UTF-8) and try again";
const NAME_ENCODING: &str = "save it as UTF-8 (in a spreadsheet: as CSV UTF-8), \
     or name its encoding: --encoding windows-1252";

/// The encoding of `--encoding`.
pub type Named = Option<&'static Encoding>;

/// Opens a file, or standard input for `-`, as UTF-8. A byte order mark is dropped, and takes precedence over `encoding`.
/// UTF-8 itself is not checked.
///
/// # Errors
/// `usage`, naming the file, when it cannot be read, is a directory, or is not text.
pub fn open(path: &Path, encoding: Named) -> Result<TextInput, Failure> {
    text(path, bytes(path), encoding)
}

/// The bytes of a file, or of standard input for `-`.
pub fn bytes(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    Ok(if path == Path::new("-") { Box::new(io::stdin()) } else { Box::new(File::open(path)?) })
}

/// Reads an input as [`open()`] does, from opened bytes; `path` is their name.
pub fn text(
    path: &Path,
    bytes: io::Result<Box<dyn Read + Send>>,
    encoding: Named,
) -> Result<TextInput, Failure> {
    let input = bytes.map(|bytes| BufReader::with_capacity(BUFFER, bytes));
    input.and_then(|input| decoded(Box::new(input), encoding)).map_err(|error| unreadable(path, &error))
}

/// Passes UTF-8 through; reads text in another encoding as a whole.
fn decoded(mut input: TextInput, named: Named) -> io::Result<TextInput> {
    let mut start = Vec::with_capacity(4);
    input.by_ref().take(4).read_to_end(&mut start)?;
    let (encoding, mark) = match Encoding::for_bom(&start) {
        Some(marked) => marked,
        None if start.starts_with(ZIP) => {
            return Err(invalid("a spreadsheet (.xlsx or .ods) or another ZIP archive, not text"));
        }
        None if start.starts_with(COMPOUND_FILE) => return Err(invalid("a spreadsheet (.xls), not text")),
        None if named.is_none() && start.iter().take(2).any(|byte| *byte == 0) => {
            return Err(invalid("UTF-16 without a byte order mark, or not text"));
        }
        None => (named.unwrap_or(UTF_8), 0),
    };
    let mut whole = Cursor::new(start.split_off(mark)).chain(input);
    if encoding == UTF_8 {
        return Ok(Box::new(whole));
    }
    let mut bytes = Vec::new();
    whole.read_to_end(&mut bytes)?;
    let mut decoder = encoding.new_decoder_without_bom_handling();
    let longest = decoder.max_utf8_buffer_length_without_replacement(bytes.len()).unwrap_or_default();
    let mut text = String::with_capacity(longest);
    match decoder.decode_to_string_without_replacement(&bytes, &mut text, true) {
        (DecoderResult::InputEmpty, _) => Ok(Box::new(Cursor::new(text))),
        _ => Err(invalid(format!("not valid {}: line {}", encoding.name(), last_line(&text)))),
    }
}

fn invalid(what: impl Into<String>) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, what.into())
}

/// The text of bytes that begin on this line of an input.
///
/// # Errors
/// `usage`, with the line, where they are not UTF-8.
pub fn utf_8(bytes: Vec<u8>, name: &str, line: u64) -> Result<String, Failure> {
    String::from_utf8(bytes).map_err(|error| {
        let sound = String::from_utf8_lossy(&error.as_bytes()[..error.utf8_error().valid_up_to()]);
        let line = line - 1 + last_line(&sound);
        not_utf_8(name, line)
    })
}

/// The failure of an input that is not UTF-8 on this line.
pub fn not_utf_8(name: &str, line: u64) -> Failure {
    Failure::usage(format!("{} is not UTF-8: line {line}", quoted(name))).hint(NAME_ENCODING)
}

/// The line on which a text ends, from 1. Lines end with LF, CRLF or CR, as in an editor.
pub fn last_line(text: &str) -> u64 {
    let ends = text.bytes().zip(text.bytes().skip(1).chain([0]));
    1 + ends.filter(|(one, next)| *one == b'\n' || *one == b'\r' && *next != b'\n').count() as u64
}

/// Reads a file, or standard input for `-`, as text.
///
/// # Errors
/// As [`open()`] and [`utf_8`].
pub fn read_text(path: &Path, encoding: Named) -> Result<String, Failure> {
    let mut bytes = Vec::new();
    open(path, encoding)?.read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
    utf_8(bytes, &name(path), 1)
}

/// Reads one JSON document.
///
/// # Errors
/// `usage`, as [`read_text`], and with line and column where the text is not JSON.
pub fn read_json(path: &Path) -> Result<Value, Failure> {
    parse_json(&read_text(path, None)?, &name(path))
}

/// Reads one JSON document that is a record. On standard input other formats have to be named.
///
/// # Errors
/// As [`read_json`].
pub fn read_record(path: &Path, encoding: Named) -> Result<Value, Failure> {
    let text = read_text(path, encoding)?;
    let document = parse_json(&text, &name(path));
    if document.as_ref().is_ok_and(|it| it.get("customer").is_some_and(|it| it.is_u64() || it.is_string())) {
        return Err(Failure::usage(
            "`customer` names the customer of a record of a batch, and this is one document",
        )
        .hint("add --input-format ndjson, or name the customer with --customer instead"));
    }
    if let Some(list) = document.as_ref().ok().and_then(list_of_records) {
        let name = name(path);
        let message = format!("is one document with a list in `{list}`, not a record");
        let hint = format!("take the records out: {}", split_by_jq(path, &format!("'.{list}[]'")));
        return Err(Failure::usage(format!("{} {message}", quoted(&name))).hint(hint));
    }
    document.map_err(|failure| {
        if has_several_documents(&text) {
            let name = name(path);
            let message = format!("{} has several JSON documents, one after another", quoted(&name));
            let hint = format!("write one a line: {}", split_by_jq(path, "."));
            return Failure::usage(message).hint(hint);
        }
        let is_json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
        if is_json || failure.hint.is_some() || text.trim().is_empty() {
            return failure;
        }
        failure.hint("for CSV or NDJSON add --input-format csv or --input-format ndjson")
    })
}

/// The member in which services and exports put the records of a page.
fn list_of_records(document: &Value) -> Option<&'static str> {
    let is_list = |name: &&&str| {
        let list = document.get(**name).and_then(Value::as_array);
        list.is_some_and(|list| !list.is_empty() && list.iter().all(Value::is_object))
    };
    ["items", "value", "data", "records", "results"].iter().find(is_list).copied()
}

/// The command that writes the records of a document one a line.
fn split_by_jq(path: &Path, filter: &str) -> String {
    if path == Path::new("-") {
        return format!("`jq -c {filter}`, and add --input-format ndjson");
    }
    let file = path.display().to_string();
    format!("`jq -c {filter} {} > records.ndjson`", shell_words::quote(&file))
}

/// Whether a text is more than one JSON document, as `jq` prints them.
fn has_several_documents(text: &str) -> bool {
    let mut documents = serde_json::Deserializer::from_str(text).into_iter::<serde::de::IgnoredAny>();
    documents.by_ref().take(2).flatten().count() == 2
}

/// Parses one JSON document; `name` is its source in messages.
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
        exact_json::Error::TooDeep => Failure::usage(format!("{quoted} cannot be used: {error}")),
    })
}

/// A file's name in messages.
pub fn name(path: &Path) -> String {
    if path == Path::new("-") { STDIN.to_owned() } else { path.display().to_string() }
}

/// The name of an input inside a sentence: in backticks, unless it is stdin or a flag.
pub fn quoted(name: &str) -> String {
    if name == STDIN || name.starts_with("--") { name.to_owned() } else { format!("`{name}`") }
}

/// The failure of a file that could not be read.
pub fn unreadable(path: &Path, error: &io::Error) -> Failure {
    let name = quoted(&name(path));
    if is_directory_error(path, error) {
        return Failure::usage(format!("{name} is a directory, not a file"));
    }
    match error.kind() {
        ErrorKind::InvalidData => Failure::usage(format!("{name} is {error}")).hint(SAVE_AS_UTF_8),
        ErrorKind::NotFound => Failure::usage(format!("file {name} not found")),
        _ => Failure::usage(format!("cannot read {name}: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufReader, Cursor, Read as _};

    use super::{Named, decoded, last_line};

    fn read(bytes: Vec<u8>) -> Result<String, String> {
        read_as(bytes, None)
    }

    fn read_as(bytes: Vec<u8>, named: Named) -> Result<String, String> {
        // A reader that gives a byte at a time finds every seam.
        let input = Box::new(BufReader::with_capacity(1, Cursor::new(bytes)));
        let mut input = decoded(input, named).map_err(|error| error.to_string())?;
        let mut text = String::new();
        input.read_to_string(&mut text).map_err(|error| error.to_string())?;
        Ok(text)
    }

    fn utf_16(text: &str, to_bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
        "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(to_bytes).collect()
    }

    #[test]
    fn every_encoding_reads_as_the_same_text() {
        let text = "a,é\r\n\"😀\",東京\r\n";
        let marked = format!("\u{feff}{text}");
        let (low, high) = (utf_16(text, u16::to_le_bytes), utf_16(text, u16::to_be_bytes));
        for bytes in [text.into(), marked.into(), low, high] {
            assert_eq!(read(bytes), Ok(text.to_owned()));
        }
        assert_eq!(read(Vec::new()), Ok(String::new()));
    }

    #[test]
    fn a_named_encoding_is_read_as_it_is_and_a_mark_says_more() {
        let latin = Some(encoding_rs::WINDOWS_1252);
        assert_eq!(read_as(b"Gr\xf6\xdfe \x80".to_vec(), latin), Ok("Größe €".to_owned()));
        assert_eq!(read_as("\u{feff}Größe".into(), latin), Ok("Größe".to_owned()));
        assert_eq!(read_as(utf_16("Größe", u16::to_le_bytes), latin), Ok("Größe".to_owned()));
        assert_eq!(read_as(b"l\0a\0".to_vec(), Some(encoding_rs::UTF_16LE)), Ok("la".to_owned()));
        let refusal = read_as(b"a\n\x82".to_vec(), Some(encoding_rs::SHIFT_JIS)).unwrap_err();
        assert_eq!(refusal, "not valid Shift_JIS: line 2");
    }

    #[test]
    fn what_is_not_text_is_named() {
        for (bytes, what) in [
            (b"PK\x03\x04\x14\0".to_vec(), "a spreadsheet (.xlsx or .ods)"),
            (b"\xd0\xcf\x11\xe0\xa1".to_vec(), "a spreadsheet (.xls)"),
            (b"l\0a\0".to_vec(), "UTF-16 without a byte order mark"),
            (b"\0l\0a".to_vec(), "UTF-16 without a byte order mark"),
            (b"\xff\xfea\0\n\0\0\xd8b\0".to_vec(), "not valid UTF-16LE: line 2"),
            (b"\xff\xfea\0\n".to_vec(), "not valid UTF-16LE: line 1"),
        ] {
            let refusal = read(bytes).unwrap_err();
            assert!(refusal.starts_with(what), "{what}: {refusal}");
        }
    }

    #[test]
    fn lines_are_those_of_an_editor() {
        for (text, line) in
            [("", 1), ("a\nb", 2), ("a\r\nb\r\n", 3), ("a\rb", 2), ("a\r", 2), ("\r\r\n\n", 4)]
        {
            assert_eq!(last_line(text), line, "{text:?}");
        }
    }
}
