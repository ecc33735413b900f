//! Reading one JSON document from a file or standard input.

use std::io::{BufRead, BufReader, Read};
use std::path::Path;

use serde_json::Value;

use super::encoding;
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
    let (mut input, _) = encoding::decoded(input).map_err(|error| unreadable(path, &error))?;
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
    String::from_utf8(bytes).map_err(|error| {
        let sound = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = sound.split(|byte| *byte == b'\n').count();
        Failure::usage(format!("{} is not UTF-8: line {line}, byte {}", quoted(&name(path)), sound.len() + 1))
            .hint(encoding::SAVE_AS_UTF_8)
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
pub fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    let name = name(path);
    if let Some(failure) = encoding::failure(&name, error) {
        return failure;
    }
    if is_directory_error(path, error) {
        return Failure::usage(format!("{} is a directory, not a file", quoted(&name)));
    }
    match error.kind() {
        std::io::ErrorKind::NotFound => Failure::usage(format!("file `{name}` not found")),
        _ => Failure::usage(format!("cannot read {}: {error}", quoted(&name))),
    }
}
