//! Changes of a profile for a person: readable at a glance, and without colour.

use serde_json::Value;

use super::table::cell;
use crate::plan::profile::address_ids::join_ids;
use crate::plan::profile::diff::Change;
use crate::plan::profile::patch::AddressSummary;
use crate::report::table::{header, new_table, render};
use crate::report::terminal::{OutputStyle, TextStyle};
use crate::sanitize::sanitize_line;

/// Below this many columns a table of four columns is no longer read with ease.
const TABLE_COLUMNS: u16 = 64;

/// One field that changes: whose, which, and its values. Empty text where there is none.
struct Row {
    owner: String,
    member: String,
    before: String,
    after: String,
}

/// The changes, field by field: a table, or one below the other where the terminal is narrow.
pub fn table(changes: &[Change], screen: OutputStyle) -> String {
    let rows: Vec<Row> = changes.iter().flat_map(rows).collect();
    if screen.is_narrower_than(TABLE_COLUMNS) {
        return stacked(&rows, screen);
    }
    let mut table = new_table(screen);
    table.set_header(header(&["ADDRESS", "FIELD", "BEFORE", "AFTER"]));
    let mut owner = String::new();
    for row in rows {
        let again = row.owner == owner;
        table.add_row([
            (if again { "" } else { row.owner.as_str() }).into(),
            row.member.into(),
            cell(TextStyle::Before, row.before),
            cell(TextStyle::After, row.after),
        ]);
        owner = row.owner;
    }
    render(&table)
}

fn stacked(rows: &[Row], screen: OutputStyle) -> String {
    let mut lines = Vec::new();
    let mut owner = "";
    for row in rows {
        if row.owner != owner {
            owner = &row.owner;
            let address = owner.starts_with(|first: char| first.is_ascii_digit());
            let head = if address { format!("address {owner}") } else { owner.to_owned() };
            lines.push(screen.paint(TextStyle::Head, &head));
        }
        lines.push(format!("  {}", row.member));
        for (mark, ink, value) in [('-', TextStyle::Before, &row.before), ('+', TextStyle::After, &row.after)]
        {
            if !value.is_empty() {
                lines.push(screen.paint(ink, &format!("    {mark} {value}")));
            }
        }
    }
    lines.join("\n")
}

fn rows(change: &Change) -> Vec<Row> {
    if change.path.is_new_address() {
        let row =
            |member, value| Row { owner: "new".to_owned(), member, before: String::new(), after: value };
        return whole(change.after.as_ref(), row);
    }
    if change.after.is_none() && change.path.inside().is_empty() {
        let owner = change.path.address_id().map(|id| format!("{id} removed")).unwrap_or_default();
        let row = |member, value| Row { owner: owner.clone(), member, before: value, after: String::new() };
        return whole(change.before.as_ref(), row);
    }
    let [before, after] = [&change.before, &change.after].map(|value| format_value(value.as_ref()));
    let owner = change.path.address_id().map_or_else(|| "profile".to_owned(), |id| id.to_string());
    vec![Row { owner, member: sanitize_line(&change.path.inside()), before, after }]
}

/// One row for each field of an address that appears or goes as a whole.
fn whole(address: Option<&Value>, row: impl Fn(String, String) -> Row) -> Vec<Row> {
    let Some(Value::Object(members)) = address else { return Vec::new() };
    let telling = members.iter().filter(|(_, value)| is_telling(value));
    telling.map(|(member, value)| row(sanitize_line(member), format_value(Some(value)))).collect()
}

/// What becomes of the addresses, in one line.
pub fn summary(tally: &AddressSummary, new_ids: &[i64]) -> String {
    let mut parts = Vec::new();
    let mut part = |what: &str, ids: &[i64]| {
        if !ids.is_empty() {
            parts.push(format!("{what} {}", join_ids(ids)));
        }
    };
    part("unchanged", &tally.kept);
    part("changed", &tally.changed);
    part("removed", &tally.removed);
    if tally.added > 0 {
        let ids =
            if new_ids.is_empty() { String::new() } else { format!(" (new IDs {})", join_ids(new_ids)) };
        parts.push(format!("added {}{ids}", tally.added));
    }
    if parts.is_empty() { "Addresses: none".to_owned() } else { format!("Addresses: {}", parts.join("; ")) }
}

/// A value as a person reads it: text without quotes, street lines joined, nothing as `–`.
pub fn format_value(value: Option<&Value>) -> String {
    match value {
        None => "–".to_owned(),
        Some(Value::Null) => "null".to_owned(),
        Some(Value::String(text)) if text.is_empty() => "\"\"".to_owned(),
        Some(Value::String(text)) => sanitize_line(text),
        Some(Value::Array(lines)) if !lines.is_empty() && lines.iter().all(Value::is_string) => {
            let lines: Vec<&str> = lines.iter().filter_map(Value::as_str).collect();
            sanitize_line(&lines.join(" / "))
        }
        Some(other) => sanitize_line(&other.to_string()),
    }
}

fn is_telling(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(elements) => !elements.is_empty(),
        Value::Object(members) => members.values().any(is_telling),
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::table;
    use crate::plan::profile::diff;
    use crate::report::terminal::OutputStyle;

    fn shown_on(width: u16) -> String {
        let before = json!({"email": "a@b", "addresses": [
            {"id": 1, "city": "Paris", "postcode": "75001"}, {"id": 2, "city": "Oslo"}]});
        let after = json!({"email": "c@d", "addresses": [
            {"id": 1, "city": "Lyon", "postcode": "69001"}, {"city": "بيروت"}]});
        let changes = diff::customers(before.as_object().unwrap(), after.as_object().unwrap());
        table(&changes, OutputStyle { width: Some(width), color: false })
    }

    #[test]
    fn a_wide_terminal_gets_a_table_that_names_an_address_once() {
        assert_eq!(
            shown_on(80),
            "ADDRESS    FIELD     BEFORE  AFTER\n\
             profile    email     a@b     c@d\n\
             1          city      Paris   Lyon\n\
             \x20          postcode  75001   69001\n\
             new        city              بيروت\u{200e}\n\
             2 removed  id        2\n\
             \x20          city      Oslo"
        );
    }

    #[test]
    fn a_narrow_one_gets_what_goes_and_what_comes_below_each_other() {
        assert_eq!(
            shown_on(40),
            "profile\n  email\n    - a@b\n    + c@d\n\
             address 1\n  city\n    - Paris\n    + Lyon\n  postcode\n    - 75001\n    + 69001\n\
             new\n  city\n    + بيروت\n\
             address 2 removed\n  id\n    - 2\n  city\n    - Oslo"
        );
    }
}
