//! Records of a batch as they are in its input, each with the reason for which it failed: rows, lines, or the elements of
//! an array, in the format of the input. They are for people to read; a record is corrected in the input.

use std::collections::HashMap;

use serde_json::Value;

use crate::batch::listing::{ListedRecord, Listing};
use crate::batch::origin::Origin;
use crate::batch::record::REASON;
use crate::batch::token::TOKEN_FIELD;
use crate::input::records::{Columns, Content, Format};
use crate::report::Report;
use storefront_core::failure::Failure;
use storefront_core::hint::hint;
use storefront_core::text::exact_json;
use storefront_core::text::sanitize::sanitize_line;

impl Listing<'_> {
    /// Prints the wanted records, without their tokens.
    ///
    /// # Errors
    /// `usage` without the input, and for a plan, which nobody corrects; those of the input.
    pub fn print_rows(
        &self,
        report: &Report,
        is_wanted: impl Fn(&ListedRecord) -> bool,
    ) -> Result<(), Failure> {
        let Some(Origin::Input(source)) = self.origin(None)? else {
            let message =
                format!("the input `{}` is not next to the journal, or is a plan", self.header.input);
            return Err(Failure::usage(message).hint(hint!(self.shows_each(), " without --rows")));
        };
        let mut reasons = HashMap::new();
        self.rows(&[], |row| {
            if let Some(line) = row.now.filter(|_| is_wanted(&row)) {
                reasons.insert(line, row.entry.reason.unwrap_or_default());
            }
            Ok(())
        })?;
        let Some(mut input) = self.input()? else { return Ok(()) };
        let mut rows = Rows { report, format: source.format, is_empty: true };
        if let Some(columns) = input.columns() {
            rows.row(&columns.titles, columns, REASON)?;
        }
        while let Some(record) = input.read()? {
            if let Some(reason) = reasons.get(&record.line) {
                rows.add(&record.content, input.columns(), &sanitize_line(reason))?;
            }
        }
        rows.finish()
    }
}

/// Rows on their way to standard output.
struct Rows<'a> {
    report: &'a Report,
    format: Format,
    is_empty: bool,
}

impl Rows<'_> {
    fn add(&mut self, content: &Content, columns: Option<&Columns>, reason: &str) -> Result<(), Failure> {
        match (content, columns) {
            (Content::Row(row), Some(columns)) => self.row(row, columns, reason)?,
            (Content::Json(text), _) if self.format == Format::Array => {
                let before = if self.is_empty { "[" } else { "," };
                self.report.foreign(&format!("{before}\n{}", json_with_reason(text, reason)))?;
            }
            (Content::Json(text), _) => self.report.foreign(&(json_with_reason(text, reason) + "\n"))?,
            (Content::Rows(rows), Some(columns)) => {
                for (_, row) in rows {
                    self.row(row, columns, reason)?;
                }
            }
            (Content::Row(_) | Content::Rows(_), None) => {}
        }
        self.is_empty = false;
        Ok(())
    }

    /// A row of a CSV: its cells without its token and an earlier reason, with the new reason last.
    fn row(&self, row: &csv::StringRecord, columns: &Columns, reason: &str) -> Result<(), Failure> {
        let mut rows = csv::WriterBuilder::new().delimiter(columns.delimiter).from_writer(Vec::new());
        let is_left_out = |index: usize| {
            columns.titles.get(index).is_some_and(|title| [REASON, TOKEN_FIELD].contains(&title.trim()))
        };
        let cells = row.iter().enumerate().filter(|(index, _)| !is_left_out(*index)).map(|(_, cell)| cell);
        let written = rows.write_record(cells.chain([reason]));
        let text = written.map_err(|error| error.to_string()).and_then(|()| {
            let bytes = rows.into_inner().map_err(|error| error.to_string())?;
            String::from_utf8(bytes).map_err(|error| error.to_string())
        });
        self.report.foreign(&text.map_err(|error| Failure::internal(format!("cannot write CSV: {error}")))?)
    }

    fn finish(self) -> Result<(), Failure> {
        match self.format {
            Format::Array => self.report.stdout(if self.is_empty { "[]\n" } else { "\n]\n" }),
            _ => Ok(()),
        }
    }
}

/// The record with its reason and without its token. What is not a JSON object stays as it is, because it has no place
/// for a reason.
fn json_with_reason(text: &str, reason: &str) -> String {
    let Ok(Value::Object(mut record)) = exact_json::parse(text.as_bytes()) else {
        return text.replace(['\n', '\r'], " ");
    };
    for name in [REASON, TOKEN_FIELD] {
        record.shift_remove(name);
    }
    record.insert(REASON.to_owned(), reason.into());
    Value::Object(record).to_string()
}

#[cfg(test)]
mod tests {
    use super::json_with_reason;

    #[test]
    fn values_come_back_as_they_came_with_the_last_reason_only() {
        assert_eq!(
            json_with_reason(
                r#"{ "qty" : 1E2, "token": "secret", "reason":"old", "$serde_json::private::Number": {"a":1.0} }"#,
                "no \"x\""
            ),
            r#"{"qty":1E2,"$serde_json::private::Number":{"a":1.0},"reason":"no \"x\""}"#
        );
        assert_eq!(json_with_reason("[1,\n2]", "no"), "[1, 2]");
    }
}
