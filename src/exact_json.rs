//! JSON text as a [`Value`] that loses nothing: numbers keep their letters, every field name is an ordinary name, and
//! a repeated name is reported with its path.
//!
//! `serde_json` itself writes `1E2` as `1e+2`, and takes `{"$serde_json::private::Number": "1"}` for the number 1.
//! Neither may happen to what a service or a user gave us, so foreign text becomes a [`Value`] only here. Values must
//! also never pass through `serde_json::to_value`, `from_value` or `json!`, which read numbers anew; writing them as
//! text is exact.

use std::fmt;

use serde_json::{Map, Number, Value};

use reader::Reader;

mod reader;
#[cfg(test)]
mod tests;

/// As many levels as are read; `serde_json` has the same limit.
const DEEPEST: usize = 127;

/// A parsed document.
#[derive(Debug, Clone, PartialEq)]
pub struct Document {
    /// The value. Of a repeated field the last one counts, as in most parsers.
    pub value: Value,
    /// The path of the first field that is repeated in its object, such as `customer.addresses`.
    pub repeated: Option<String>,
}

/// Why a text is not read as JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The text is not JSON.
    Syntax {
        /// What is wrong.
        problem: String,
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1.
        column: usize,
    },
    /// It is nested over 127 levels deep.
    TooDeep,
    /// A `\u` escape is one half of a surrogate pair, which is no character and could not be sent back.
    LoneSurrogate {
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1.
        column: usize,
    },
    /// The field at this path is repeated in its object.
    Repeated(String),
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { problem, line, column } => write!(out, "{problem} at line {line} column {column}"),
            Self::TooDeep => write!(out, "nested over {DEEPEST} levels deep"),
            Self::LoneSurrogate { line, column } => {
                write!(
                    out,
                    "half of a surrogate pair (`\\ud800` to `\\udfff`) at line {line} column {column}"
                )
            }
            Self::Repeated(path) => write!(out, "duplicate field `{path}`"),
        }
    }
}

impl std::error::Error for Error {}

/// Parses a document in which every field stands once.
///
/// # Errors
/// [`Error`], a repeated field included.
pub fn parse(text: &[u8]) -> Result<Value, Error> {
    let document = parse_with_repeats(text)?;
    document.repeated.map_or(Ok(document.value), |path| Err(Error::Repeated(path)))
}

/// Parses a document; a repeated field is reported in it, not refused.
///
/// # Errors
/// [`Error`], but never [`Error::Repeated`].
pub fn parse_with_repeats(text: &[u8]) -> Result<Document, Error> {
    let mut reader = Reader::new(text);
    let value = reader.document(Reader::value)?;
    Ok(Document { value, repeated: reader.repeated })
}

/// Checks a document as [`parse`] does, and keeps nothing of it: for text that travels on as it is.
///
/// # Errors
/// As [`parse`].
pub fn check(text: &[u8]) -> Result<(), Error> {
    let mut reader = Reader::new(text);
    reader.document(Reader::skip)?;
    reader.repeated.map_or(Ok(()), |path| Err(Error::Repeated(path)))
}

/// A number that keeps its letters, where the text, without blanks, is one.
pub fn number(text: &str) -> Option<Number> {
    match parse(text.as_bytes()) {
        Ok(Value::Number(number)) => Some(number),
        _ => None,
    }
}

/// The number that a text with a comma before its decimals stands for, as many countries write it: `1.5` for `1,5`.
pub fn with_decimal_point(text: &str) -> Option<String> {
    let with_point = text.trim().replacen(',', ".", 1);
    number(&with_point).is_some().then_some(with_point)
}

/// Parses an object in which every field stands once.
///
/// # Errors
/// As [`parse`]; for a value of another kind, a syntax error that says so.
pub fn parse_object(text: &[u8]) -> Result<Map<String, Value>, Error> {
    match parse(text)? {
        Value::Object(object) => Ok(object),
        _ => Err(Error::Syntax { problem: "expected an object".to_owned(), line: 1, column: 1 }),
    }
}

/// An object of these fields. Unlike `json!` it leaves the values as they are.
pub fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}
