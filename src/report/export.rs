//! The output of an export: a sheet or lines of JSON, in a private new file, whole or not at all, or on standard output.
//! A file is written here because a shell of Windows would change the encoding.

use std::borrow::Cow;
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use encoding_rs::{Encoding, UTF_8};
use serde_json::Value;

use super::Report;
use crate::cli::ToArgs;
use crate::system::storage::NewFile;
use storefront_core::failure::{Applied, Failure};
use storefront_core::sheet::cells::{self, Cell};
use storefront_core::text::sanitize::sanitize_line;

/// A running export.
pub struct Export<'a> {
    report: &'a Report,
    file: Option<(BufWriter<NewFile>, PathBuf)>,
    encoding: &'static Encoding,
    lost: u64,
    first_lost: Option<String>,
}

impl<'a> Export<'a> {
    /// Begins an export. A file that exists is refused before anything is read from the shop.
    ///
    /// # Errors
    /// `guard` where the file exists, `usage` where it cannot be written or the encoding has two bytes a character.
    pub fn begin(report: &'a Report, args: &ToArgs) -> Result<Self, Failure> {
        let encoding = args.encoding.unwrap_or(UTF_8);
        if encoding.output_encoding() != encoding {
            return Err(Failure::usage(format!("a sheet cannot be written as {}", encoding.name()))
                .hint("leave out --encoding, or name one such as windows-1252"));
        }
        let file = args.to.as_ref().map(|path| match NewFile::begin(path) {
            Ok(file) => Ok((BufWriter::new(file), path.clone())),
            Err(error) => Err(unwritable(path, &error)),
        });
        let file = file.transpose()?;
        Ok(Self { report, file, encoding, lost: 0, first_lost: None })
    }

    /// Writes the titles of a sheet.
    ///
    /// # Errors
    /// `internal` where they cannot be written.
    pub fn titles(&mut self, titles: &[&str]) -> Result<(), Failure> {
        // Spreadsheets recognize UTF-8 by the mark.
        if self.encoding == UTF_8 && (self.file.is_some() || !self.report.stdout_is_terminal) {
            self.write("\u{feff}".as_bytes())?;
        }
        self.record(titles.iter().copied())
    }

    /// Writes a row about `what`, with a cell for each title.
    ///
    /// # Errors
    /// `usage` for what the encoding does not have, `internal` where the row cannot be written.
    pub fn row(&mut self, what: &str, titles: &[&str], cells: &[Cell]) -> Result<(), Failure> {
        for (title, _) in titles.iter().zip(cells).filter(|(_, cell)| **cell == Cell::Lost) {
            self.lost += 1;
            self.first_lost.get_or_insert_with(|| format!("{title} of {what}"));
        }
        let texts: Vec<Cow<'_, str>> = cells
            .iter()
            .map(|cell| match cell {
                Cell::Plain(text) => Cow::from(text),
                Cell::Value(text) => cells::written(text),
                Cell::Lost => "".into(),
            })
            .collect();
        self.record(texts.iter().map(|text| &**text))
    }

    fn record<'t>(&mut self, texts: impl Iterator<Item = &'t str>) -> Result<(), Failure> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let is_shown = self.file.is_none() && self.report.stdout_is_terminal;
        // A terminal would obey what a file only holds.
        let shown = |text: &'t str| if is_shown { sanitize_line(text).into() } else { Cow::from(text) };
        let written = writer.write_record(texts.map(|text| shown(text).into_owned()));
        let written = written
            .map_err(io::Error::from)
            .and_then(|()| writer.into_inner().map_err(|error| io::Error::other(error.to_string())));
        let bytes = written.map_err(|error| Failure::internal(format!("cannot write a row: {error}")))?;
        if self.encoding == UTF_8 {
            return self.write(&bytes);
        }
        let text = String::from_utf8_lossy(&bytes);
        let (encoded, _, is_lossy) = self.encoding.encode(&text);
        if is_lossy {
            let lost = text.chars().find(|it| self.encoding.encode(it.encode_utf8(&mut [0; 4])).2);
            let name = self.encoding.name();
            let lost = lost.map(|it| format!(" `{}`", sanitize_line(&it.to_string()))).unwrap_or_default();
            return Err(Failure::usage(format!("{name} has no{lost}"))
                .hint("leave out --encoding: a spreadsheet knows UTF-8 by its mark")
                .applied(Applied::No));
        }
        self.write(&encoded)
    }

    /// Writes one value as a line of JSON.
    ///
    /// # Errors
    /// As [`Report::json_line`], and `internal` where the file cannot be written.
    pub fn line(&mut self, value: &Value) -> Result<(), Failure> {
        match self.file {
            None => self.report.json_line(value),
            Some(_) => self.write(format!("{value}\n").as_bytes()),
        }
    }

    /// Writes a text as it is.
    ///
    /// # Errors
    /// `internal` where it cannot be written.
    pub fn text(&mut self, text: &str) -> Result<(), Failure> {
        match self.file {
            None => self.report.document(text),
            Some(_) => self.write(text.as_bytes()),
        }
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        match &mut self.file {
            None => self.report.stdout(bytes),
            Some((file, path)) => file.write_all(bytes).map_err(|error| unwritable(path, &error)),
        }
    }

    /// Gives the file its name, and warns about values that are left out. Returns the name for people.
    ///
    /// # Errors
    /// `guard` where another program took the name meanwhile, `internal` where the file cannot be written.
    pub fn finish(self) -> Result<Option<String>, Failure> {
        let Self { report, file, lost, first_lost, .. } = self;
        if let Some(first) = first_lost {
            let what = if lost == 1 {
                "1 value that a cell cannot hold is".to_owned()
            } else {
                format!("{lost} values that a cell cannot hold are")
            };
            report.warn(&format!(
                "{what} left out (line breaks, control characters, errors of spreadsheets): {first}"
            ));
        }
        let Some((file, path)) = file else { return Ok(None) };
        let named = file.into_inner().map_err(io::IntoInnerError::into_error).and_then(NewFile::finish);
        named.map_err(|error| unwritable(&path, &error))?;
        Ok(Some(path.display().to_string()))
    }
}

fn unwritable(path: &Path, error: &io::Error) -> Failure {
    let shown = path.display();
    match error.kind() {
        io::ErrorKind::AlreadyExists => {
            Failure::guard(format!("`{shown}` exists")).hint("choose another name with --to")
        }
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory | io::ErrorKind::PermissionDenied => {
            Failure::usage(format!("cannot write `{shown}`: {error}"))
        }
        _ => Failure::internal(format!("cannot write `{shown}`: {error}")).applied(Applied::No),
    }
}
