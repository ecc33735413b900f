//! Changes of a profile for a person: readable at a glance, and without colour.

use comfy_table::{ContentArrangement, Table, presets};
use serde_json::Value;

use super::escape::one_line;
use crate::plan::diff::Change;
use crate::plan::merge::Tally;
use crate::plan::roster::listed;

/// A table of changes, member by member. `width` is the terminal's, `None` where there is none.
pub fn table(changes: &[Change], width: Option<u16>) -> String {
    let mut table = plain_table(width);
    table.set_header(["ADDRESS", "MEMBER", "BEFORE", "AFTER"]);
    for change in changes {
        if change.path.is_new_address() {
            whole(&mut table, "new", change.after.as_ref(), |member, value| [member, String::new(), value]);
        } else if change.after.is_none() && change.path.inside().is_empty() {
            let id = change.path.address_id().map(|id| format!("{id} removed")).unwrap_or_default();
            whole(&mut table, &id, change.before.as_ref(), |member, value| [member, value, String::new()]);
        } else {
            let owner = change.path.address_id().map_or_else(|| "profile".to_owned(), |id| id.to_string());
            let [before, after] = [&change.before, &change.after].map(|value| shown(value.as_ref()));
            table.add_row([owner, one_line(&change.path.inside()), before, after]);
        }
    }
    trimmed(&table)
}

/// One row for each member of an address that appears or goes as a whole.
fn whole(
    table: &mut Table,
    owner: &str,
    address: Option<&Value>,
    row: impl Fn(String, String) -> [String; 3],
) {
    let Some(Value::Object(members)) = address else { return };
    for (index, (member, value)) in members.iter().filter(|(_, value)| is_telling(value)).enumerate() {
        let [member, before, after] = row(one_line(member), shown(Some(value)));
        table.add_row([if index == 0 { owner.to_owned() } else { String::new() }, member, before, after]);
    }
}

/// What becomes of the addresses, in one line.
pub fn summary(tally: &Tally, new_ids: &[i64]) -> String {
    let mut parts = Vec::new();
    let mut part = |what: &str, ids: &[i64]| {
        if !ids.is_empty() {
            parts.push(format!("{what} {}", listed(ids)));
        }
    };
    part("kept as they are", &tally.kept);
    part("changed", &tally.changed);
    part("removed", &tally.removed);
    if tally.added > 0 {
        let ids = if new_ids.is_empty() { String::new() } else { format!(" (now {})", listed(new_ids)) };
        parts.push(format!("added {}{ids}", tally.added));
    }
    if parts.is_empty() { "Addresses: none".to_owned() } else { format!("Addresses: {}", parts.join("; ")) }
}

/// A table without lines, fit for the terminal.
pub fn plain_table(width: Option<u16>) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING).set_content_arrangement(ContentArrangement::Dynamic);
    if let Some(width) = width {
        table.set_width(width);
    }
    table
}

/// The table's text without the blanks at its edges.
pub fn trimmed(table: &Table) -> String {
    let text = table.to_string();
    let indent = text.lines().map(|line| line.len() - line.trim_start().len()).min().unwrap_or(0);
    let lines: Vec<&str> = text.lines().map(|line| line[indent..].trim_end()).collect();
    lines.join("\n")
}

/// A value as a person reads it: text without quotes, street lines joined, nothing as `–`.
pub fn shown(value: Option<&Value>) -> String {
    match value {
        None => "–".to_owned(),
        Some(Value::Null) => "null".to_owned(),
        Some(Value::String(text)) if text.is_empty() => "\"\"".to_owned(),
        Some(Value::String(text)) => one_line(text),
        Some(Value::Array(lines)) if !lines.is_empty() && lines.iter().all(Value::is_string) => {
            let lines: Vec<&str> = lines.iter().filter_map(Value::as_str).collect();
            one_line(&lines.join(" / "))
        }
        Some(other) => one_line(&other.to_string()),
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
