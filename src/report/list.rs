//! A list of flat objects: a table, CSV, or one object a line.

use serde_json::Value;
use textwrap::core::display_width;

use super::Report;
use super::fields::member;
use super::style::{OutputStyle, TextStyle, cell, table};
use storefront_core::failure::Failure;
use storefront_core::text::sanitize::sanitize_line;

/// How many rows are laid out together: a long list is never held whole.
const ROWS: usize = 500;

/// A column: its title in tables, empty where it is only in JSON and CSV, and its field.
pub type Column<'a> = (&'a str, &'a str);

/// A list on its way to standard output.
pub struct List<'a> {
    report: &'a Report,
    columns: &'static [Column<'static>],
    csv: bool,
    rows: Vec<Value>,
    is_first: bool,
    has_whole_last: bool,
}

impl<'a> List<'a> {
    /// An empty list; a table unless CSV or JSON is asked for.
    pub const fn new(report: &'a Report, columns: &'static [Column<'static>], csv: bool) -> Self {
        Self { report, columns, csv, rows: Vec::new(), is_first: true, has_whole_last: false }
    }

    /// This list with its last column never broken: where the table is wider than the screen, it stands below each row.
    #[must_use]
    pub const fn with_whole_last(mut self) -> Self {
        self.has_whole_last = true;
        self
    }

    /// Adds an object.
    pub fn add(&mut self, row: Value) -> Result<(), Failure> {
        if self.report.is_json() {
            return self.report.json_line(&row);
        }
        self.rows.push(row);
        if self.rows.len() == ROWS { self.flush() } else { Ok(()) }
    }

    /// Prints the remaining rows; for an empty list, the headings.
    pub fn finish(mut self) -> Result<(), Failure> {
        if self.report.is_json() || self.rows.is_empty() && !self.is_first { Ok(()) } else { self.flush() }
    }

    /// Prints what was added so far.
    pub fn flush(&mut self) -> Result<(), Failure> {
        let rows = std::mem::take(&mut self.rows);
        if self.csv {
            let csv = self.csv(&rows);
            self.report
                .stdout(csv.map_err(|error| Failure::internal(format!("cannot write CSV: {error}")))?)?;
        } else {
            let screen = self.report.stdout_style;
            let has_heads = self.is_first;
            let table = if self.has_whole_last {
                with_whole_last(screen, self.columns, has_heads, &rows)
            } else {
                objects(screen, self.columns, has_heads, &rows)
            };
            self.report.stdout(table + "\n")?;
        }
        self.is_first = false;
        Ok(())
    }

    fn csv(&self, rows: &[Value]) -> Result<Vec<u8>, Box<dyn std::error::Error>> {
        let fields = || self.columns.iter().map(|(_, field)| *field);
        let mut writer = csv::Writer::from_writer(Vec::new());
        if self.is_first {
            writer.write_record(fields())?;
        }
        // A terminal would obey what a file only holds.
        let shown = |text: String| if self.report.stdout_is_terminal { sanitize_line(&text) } else { text };
        for row in rows {
            writer.write_record(fields().map(|field| shown(plain(&row[field]))))?;
        }
        Ok(writer.into_inner()?)
    }
}

/// Objects as a table whose last column is never broken.
fn with_whole_last(screen: OutputStyle, columns: &[Column<'_>], has_heads: bool, rows: &[Value]) -> String {
    let Some(width) = screen.width.map(usize::from) else { return objects(screen, columns, has_heads, rows) };
    let unlimited = OutputStyle { width: Some(u16::MAX), ..screen };
    let whole = objects(unlimited, columns, has_heads, rows);
    let (Some(((title, field), others)), true) =
        (columns.split_last(), whole.lines().any(|line| display_width(line) > width))
    else {
        return whole;
    };
    let below = has_heads.then(|| (*title).to_owned()).into_iter();
    let mut below = below.chain(rows.iter().map(|row| sanitize_line(&plain(&row[*field]))));
    let upper = objects(unlimited, others, has_heads, rows);
    let lines = upper.lines().map(|line| format!("{line}\n  {}", below.next().unwrap_or_default()));
    lines.collect::<Vec<_>>().join("\n")
}

/// Objects as a table, the first column in the color of IDs.
pub fn objects<'a>(
    screen: OutputStyle,
    columns: &[Column<'_>],
    has_heads: bool,
    rows: impl IntoIterator<Item = &'a Value>,
) -> String {
    let shown = columns.iter().filter(|(title, _)| !title.is_empty());
    let heads: Vec<&str> = shown.clone().map(|(title, _)| *title).collect();
    let rows = rows.into_iter().map(|row| {
        let cells = shown.clone().enumerate().map(|(index, (_, field))| {
            let text = row.as_object().map(|row| member(row, field)).unwrap_or_default();
            if index == 0 { cell(TextStyle::Id, text) } else { text.into() }
        });
        cells.collect::<Vec<_>>()
    });
    table(screen, if has_heads { &heads } else { &[] }, rows)
}

/// A value without quotes; nothing where it is null.
pub fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
