//! Which input is a run over records, and how it is opened.

use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use super::Input;
use crate::cli::{GlobalArgs, InputFormat};
use crate::failure::Failure;
use crate::input::document;
use crate::input::encoding::{self, Encoding};

/// What is read at a time, in bytes.
const BUFFER: usize = 64 * 1024;

/// An input of many records.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// Where it comes from.
    pub origin: Origin,
    /// How it is written.
    pub format: Format,
}

/// Where an input comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A file that can be read as often as is wanted.
    File(PathBuf),
    /// Standard input, or a file that flows by once, such as a named pipe.
    Stream(PathBuf),
}

/// How records are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// One record a line.
    Ndjson,
    /// A JSON array.
    Array,
    /// A header and one record a row.
    Csv,
}

/// Finds out whether the input is one of many records; `None` where it is one document, or there is none.
///
/// # Errors
/// `usage` when it cannot be read.
pub fn detect(global: &GlobalArgs) -> Result<Option<Source>, Failure> {
    let Some(path) = global.input.as_deref() else { return Ok(None) };
    let stdin = path == Path::new("-");
    let format = match global.input_format.or_else(|| by_extension(path)) {
        Some(InputFormat::Csv) => Format::Csv,
        Some(InputFormat::Ndjson) => Format::Ndjson,
        // Standard input is one document unless its format is named.
        None if stdin => return Ok(None),
        Some(InputFormat::Json) | None if begins_an_array(path)? => Format::Array,
        _ => return Ok(None),
    };
    let regular = || std::fs::metadata(path).map(|found| found.is_file());
    let once = stdin || !regular().map_err(|error| document::unreadable(path, &error))?;
    let origin = if once { Origin::Stream(path.to_owned()) } else { Origin::File(path.to_owned()) };
    Ok(Some(Source { origin, format }))
}

fn by_extension(path: &Path) -> Option<InputFormat> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "csv" | "tsv" | "tab" => Some(InputFormat::Csv),
        "ndjson" | "jsonl" => Some(InputFormat::Ndjson),
        _ => None,
    }
}

/// Looks at the first byte that counts. Of standard input it stays to be read; a pipe by name is one document.
fn begins_an_array(path: &Path) -> Result<bool, Failure> {
    let first = if path == Path::new("-") {
        first_byte(std::io::stdin().lock())
    } else {
        match std::fs::metadata(path) {
            Ok(found) if !found.is_file() => return Ok(false),
            _ => File::open(path).and_then(|file| first_byte(BufReader::new(file))),
        }
    };
    Ok(first.map_err(|error| document::unreadable(path, &error))? == Some(b'['))
}

fn first_byte(mut input: impl BufRead) -> std::io::Result<Option<u8>> {
    let buffer = input.fill_buf()?;
    // Of UTF-16 the bytes of the mark and the zeros are passed over.
    let is_mark = |byte: u8| byte == 0 || matches!(byte, 0xef | 0xbb | 0xbf | 0xfe | 0xff);
    let start = buffer.iter().copied().skip_while(|byte| is_mark(*byte));
    Ok(start.into_iter().find(|byte| *byte != 0 && !byte.is_ascii_whitespace()))
}

impl Source {
    /// Opens it from its beginning, as UTF-8. A byte order mark is passed over.
    pub(super) fn open(&self) -> Result<(Input, Encoding), Failure> {
        let path = self.path();
        let input: Input = if path == Path::new("-") {
            Box::new(BufReader::with_capacity(BUFFER, std::io::stdin()))
        } else {
            let file = File::open(path).map_err(|error| document::unreadable(path, &error))?;
            Box::new(BufReader::with_capacity(BUFFER, file))
        };
        encoding::decoded(input).map_err(|error| document::unreadable(path, &error))
    }

    /// Its name in messages.
    pub fn name(&self) -> String {
        document::name(self.path())
    }

    /// The path that was given; `-` for standard input.
    pub fn path(&self) -> &Path {
        match &self.origin {
            Origin::File(path) | Origin::Stream(path) => path,
        }
    }

    /// Whether it flows by once: it is checked as it flows.
    pub fn is_stream(&self) -> bool {
        matches!(self.origin, Origin::Stream(_))
    }
}
