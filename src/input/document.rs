//! Reading one JSON document from a file or standard input.

use std::io::Read;
use std::path::Path;

use serde_json::Value;

use crate::exact_json;
use crate::failure::Failure;

/// Reads a file, or standard input for `-`, as text. A UTF-8 byte order mark is dropped.
///
/// # Errors
/// `usage`, naming the file, when it cannot be read, is a directory, or is not UTF-8.
pub fn read_text(path: &Path) -> Result<String, Failure> {
    let name = name(path);
    let mut bytes = Vec::new();
    let read = if path == Path::new("-") {
        std::io::stdin().lock().read_to_end(&mut bytes)
    } else {
        std::fs::File::open(path).and_then(|mut file| file.read_to_end(&mut bytes))
    };
    read.map_err(|error| unreadable(path, &error))?;
    let text = String::from_utf8(bytes).map_err(|error| {
        Failure::usage(format!(
            "{name} is not UTF-8: byte {} is invalid",
            error.utf8_error().valid_up_to() + 1
        ))
        .hint("save it as UTF-8 and run the command again")
    })?;
    Ok(text.strip_prefix('\u{feff}').map(str::to_owned).unwrap_or(text))
}

/// Reads one JSON document.
///
/// # Errors
/// `usage`, as [`read_text`], and with line and column where the text is not JSON.
pub fn read_json(path: &Path) -> Result<Value, Failure> {
    parse_json(&read_text(path)?, &name(path))
}

/// Parses one JSON document; `name` says where it came from.
///
/// # Errors
/// `usage`, with line and column where the text is not JSON, and with the path of a member that is named twice.
pub fn parse_json(text: &str, name: &str) -> Result<Value, Failure> {
    if text.trim().is_empty() {
        return Err(Failure::usage(format!("{name} is empty; nothing was sent")));
    }
    exact_json::parse(text.as_bytes()).map_err(|error| match error {
        exact_json::Error::Syntax { .. } => {
            Failure::usage(format!("{name} is not JSON: {error}; nothing was sent"))
        }
        exact_json::Error::Repeated(_) => Failure::usage(format!("{name}: {error}; nothing was sent"))
            .hint("only one of the two would count: leave out the other"),
        error => Failure::usage(format!("{name} cannot be used: {error}; nothing was sent")),
    })
}

/// A file's name in messages.
pub fn name(path: &Path) -> String {
    if path == Path::new("-") { "standard input".to_owned() } else { path.display().to_string() }
}

/// Why a file could not be read.
pub fn unreadable(path: &Path, error: &std::io::Error) -> Failure {
    let name = name(path);
    match error.kind() {
        std::io::ErrorKind::NotFound => Failure::usage(format!("there is no file {name}; nothing was sent")),
        std::io::ErrorKind::IsADirectory => {
            Failure::usage(format!("{name} is a directory, not a file; nothing was sent"))
        }
        _ => Failure::usage(format!("{name} cannot be read: {error}; nothing was sent")),
    }
}
