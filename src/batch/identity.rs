//! What makes a record the same one in a copy of its sheet, under another name, and in a plan that was made of it: its
//! content in any order of the columns, the flags that add to it, and its customer.

use crate::batch::record::{PreparedRecord, REASON, RecordPreparer, hash, rows};
use crate::input::records::{Columns, Content, Record};
use crate::plan;
use storefront_core::text::exact_json;
use storefront_core::text::hash::Fnv1a;

impl RecordPreparer<'_> {
    /// The hash by which the log knows a record that was sent, wherever it was. That of a plan's record is its source's.
    pub fn identity(&self, record: &Record, columns: Option<&Columns>, prepared: &PreparedRecord) -> u64 {
        let of_plan = match (self.origin.plan(), &record.content) {
            (Some(_), Content::Json(text)) => plan::hash_of_record(text),
            _ => None,
        };
        if let Some(hash) = of_plan {
            return hash;
        }
        let mut identity = Fnv1a::default();
        let mut add = |text: &str| {
            identity = std::mem::take(&mut identity).update(text.as_bytes()).update(&[0]);
        };
        match (&record.content, self.origin.plan(), columns) {
            // A plan of a single command has no source record.
            (content, Some(plan), _) => {
                add(&plan.header.id);
                add(&hash(content).to_string());
            }
            (Content::Json(text), ..) => add(&compact(text)),
            (content, _, columns) => {
                for row in rows(content) {
                    let titles = columns.map(|columns| columns.titles.iter()).into_iter().flatten();
                    let mut cells: Vec<[&str; 2]> =
                        titles.zip(row).map(|(title, cell)| [title.trim(), cell.trim()]).collect();
                    cells.retain(|[title, cell]| !cell.is_empty() && *title != REASON);
                    cells.sort_unstable();
                    cells.iter().flatten().for_each(|text| add(text));
                    add("");
                }
            }
        }
        self.flags.iter().for_each(|flag| add(flag));
        add(&prepared.key);
        if prepared.key.is_empty() {
            // The customer is the token's own.
            add(&self.run_token.as_ref().map(|token| token.expose().into_owned()).unwrap_or_default());
        }
        identity.finish()
    }
}

/// A JSON text without the blanks between its values, and with its escapes as this program writes them.
fn compact(text: &str) -> String {
    if text.contains('\\') {
        return exact_json::parse(text.as_bytes())
            .map_or_else(|_| text.to_owned(), |value| value.to_string());
    }
    // Without escapes, each quote begins or ends a string.
    let mut is_inside = false;
    let is_kept = |character: &char| {
        is_inside ^= *character == '"';
        is_inside || !character.is_ascii_whitespace()
    };
    text.chars().filter(is_kept).collect()
}

#[cfg(test)]
mod tests {
    use super::compact;

    #[test]
    fn blanks_and_escapes_do_not_make_another_record() {
        let plain = r#"{"sku":"a b","qty":1.50,"name":"Zoë"}"#;
        assert_eq!(compact(plain), plain);
        assert_eq!(compact("{ \"sku\" :\t\"a b\", \"qty\": 1.50,\r\n\"name\":\"Zoë\" }"), plain);
        assert_eq!(compact(r#"{"sku": "a\u0020b", "qty": 1.50, "name": "Zo\u00eb"}"#), plain);
        assert_ne!(compact(r#"{"sku":"a  b","qty":1.50,"name":"Zoë"}"#), plain);
    }
}
