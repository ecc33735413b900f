//! `--failed FILE`: the records that did not go through, as they came, each with its reason, ready to be run again.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::exact_json;
use crate::failure::Failure;
use crate::input::records::{Columns, Content, Format};

/// The name of the column or member that says why.
const REASON: &str = "reason";

/// A file of failed records in the input's own format. It holds the records as they came, tokens too: 0600.
pub struct FailedFile {
    path: PathBuf,
    form: Form,
    /// How many records are in it.
    pub count: u64,
}

enum Form {
    Lines(BufWriter<File>),
    Array(BufWriter<File>),
    Rows(Box<csv::Writer<File>>, Columns),
}

impl FailedFile {
    /// Makes the file, empty.
    ///
    /// # Errors
    /// `usage` when it cannot be made, or is one of `others`: files that would be overwritten.
    pub fn create(
        path: &Path,
        format: Format,
        columns: Option<&Columns>,
        others: &[&Path],
    ) -> Result<Self, Failure> {
        let same = |other: &&Path| {
            path.canonicalize().is_ok_and(|path| other.canonicalize().is_ok_and(|other| path == other))
        };
        if let Some(other) = others.iter().find(|other| same(other)) {
            return Err(Failure::usage(format!(
                "--failed would overwrite {}; nothing was sent",
                other.display()
            )));
        }
        let unwritable = |error| {
            Failure::usage(format!("{} cannot be written: {error}; nothing was sent", path.display()))
        };
        let file = create_private(path).map_err(unwritable)?;
        let form = match (format, columns) {
            (Format::Csv, Some(columns)) => {
                let mut rows = csv::WriterBuilder::new().delimiter(columns.delimiter).from_writer(file);
                rows.write_record(with_reason(columns.titles(), columns, REASON))
                    .map_err(|error| unwritable(error.into()))?;
                Form::Rows(Box::new(rows), columns.clone())
            }
            (Format::Array, _) => Form::Array(BufWriter::new(file)),
            _ => Form::Lines(BufWriter::new(file)),
        };
        Ok(Self { path: path.to_owned(), form, count: 0 })
    }

    /// Adds a record.
    ///
    /// # Errors
    /// `internal` when it cannot be written.
    pub fn add(&mut self, content: &Content, reason: &str) -> Result<(), Failure> {
        let first = self.count == 0;
        self.count += 1;
        let written = match (&mut self.form, content) {
            (Form::Rows(rows, columns), Content::Row(row)) => {
                rows.write_record(with_reason(row, columns, reason)).map_err(io::Error::from)
            }
            (Form::Array(out), Content::Json(text)) => {
                write!(out, "{}{}", if first { "[\n" } else { ",\n" }, json_with_reason(text, reason))
            }
            (Form::Lines(out), Content::Json(text)) => writeln!(out, "{}", json_with_reason(text, reason)),
            _ => Ok(()),
        };
        written.map_err(|error| self.unwritable(&error))
    }

    /// Ends the file.
    ///
    /// # Errors
    /// As [`Self::add`].
    pub fn close(mut self) -> Result<(), Failure> {
        let empty = self.count == 0;
        let written = match &mut self.form {
            Form::Rows(rows, _) => rows.flush(),
            Form::Array(out) => {
                out.write_all(if empty { b"[]\n" } else { b"\n]\n" }).and_then(|()| out.flush())
            }
            Form::Lines(out) => out.flush(),
        };
        written.map_err(|error| self.unwritable(&error))
    }

    fn unwritable(&self, error: &io::Error) -> Failure {
        Failure::internal(format!("{} cannot be written: {error}", self.path.display()))
    }
}

fn create_private(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.create(true).write(true).truncate(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let file = options.open(path)?;
    #[cfg(unix)]
    if file.metadata()?.is_file() {
        file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
    }
    Ok(file)
}

/// The cells of a row, an earlier reason left out, this one last.
fn with_reason<'a>(
    row: &'a csv::StringRecord,
    columns: &Columns,
    reason: &'a str,
) -> impl Iterator<Item = &'a str> {
    let cells = row.iter().enumerate().filter(|(index, _)| !columns.is_reason(*index)).map(|(_, cell)| cell);
    cells.chain([reason]).collect::<Vec<_>>().into_iter()
}

/// What is no JSON object stays as it is: there is no place for a reason in it.
fn json_with_reason(text: &str, reason: &str) -> String {
    match exact_json::parse_object(text.as_bytes()) {
        Ok(mut record) => {
            record.insert(REASON.to_owned(), reason.into());
            Value::Object(record).to_string()
        }
        Err(_) => text.replace('\n', " "),
    }
}
