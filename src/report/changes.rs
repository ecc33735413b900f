//! Changes of a profile for a person: readable at a glance, and without colour.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};
use std::time::Duration;

use super::style::{self, OutputStyle, TextStyle, cell};
use crate::plan::profile::diff::{Change, join_ids};
use crate::plan::profile::merge::AddressSummary;
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
    let mut owner = String::new();
    let rows = rows.into_iter().map(|row| {
        let shown = if row.owner == owner { "" } else { row.owner.as_str() }.into();
        owner = row.owner;
        [shown, row.member.into(), cell(TextStyle::Before, row.before), cell(TextStyle::After, row.after)]
    });
    style::table(screen, &["ADDRESS", "FIELD", "BEFORE", "AFTER"], rows)
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
    let has_region = members.get("region").is_some_and(Value::is_object);
    let is_shown = |name: &str, value: &Value| match name {
        // The owner of the row names the address, and a region its id.
        "id" | "customer_id" => false,
        "region_id" => !has_region && *value != 0,
        _ => is_telling(value),
    };
    let shown = members.iter().filter(|(name, value)| is_shown(name, value));
    let rows = shown.map(|(name, value)| match (name.as_str(), value) {
        ("region", Value::Object(region)) => ("region".to_owned(), region_text(region)),
        _ => (sanitize_line(name), format_value(Some(value))),
    });
    let rows: Vec<(String, String)> = rows.filter(|(_, text)| !text.is_empty()).collect();
    if rows.is_empty() {
        // Whatever comes or goes is shown.
        return vec![row("id".to_owned(), format_value(members.get("id")))];
    }
    rows.into_iter().map(|(name, text)| row(name, text)).collect()
}

/// A region in one line: `New York, NY, id 43`; empty where it is none.
fn region_text(region: &Map<String, Value>) -> String {
    let texts = ["region", "region_code"].into_iter().filter_map(|name| region.get(name)?.as_str());
    let mut parts: Vec<String> = texts.filter(|text| !text.is_empty()).map(sanitize_line).collect();
    parts.dedup();
    let id = region.get("region_id").filter(|id| !id.is_null() && **id != 0 && **id != "0");
    parts.extend(id.map(|id| format!("id {}", format_value(Some(id)))));
    parts.join(", ")
}

/// The changes one a line, for a list of many: `address 2 postcode: 10118 → 10119`. An address that appears or goes as a
/// whole is one line. A line that does not fit the terminal, less an indent of two, is wrapped.
pub fn lines(changes: &[Change], style: OutputStyle) -> Vec<String> {
    let style = OutputStyle { width: style.width.map(|width| width.saturating_sub(2)), ..style };
    let fields = |rows: Vec<Row>| {
        let field = |row: Row| format!("{} {}{}", row.member, row.before, row.after);
        rows.into_iter().map(field).collect::<Vec<_>>().join(", ")
    };
    let line = |change: &Change| {
        let all = rows(change);
        if change.path.is_new_address() || change.before.is_none() && change.path.is_address() {
            return format!("added address: {}", fields(all));
        }
        if change.after.is_none() && change.path.is_address() {
            let id = change.path.address_id().map(|id| id.to_string()).unwrap_or_default();
            let all = all.into_iter().filter(|row| row.member != "id").collect();
            return format!("removed address {id}: {}", fields(all));
        }
        all.iter().map(one_line).collect::<Vec<_>>().join("\n")
    };
    changes.iter().map(|change| style.wrapped(&line(change))).collect()
}

fn one_line(row: &Row) -> String {
    let is_address = row.owner.starts_with(|first: char| first.is_ascii_digit());
    let owner = if is_address { format!("address {} ", row.owner) } else { String::new() };
    format!("{owner}{}: {} → {}", row.member, row.before, row.after)
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
    match (tally.added, new_ids) {
        (0, _) => {}
        (added, []) => parts.push(format!("added {added}")),
        (_, [id]) => parts.push(format!("added address {id}")),
        (_, ids) => parts.push(format!("added addresses {}", join_ids(ids))),
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

/// One replacement as it is shown.
#[derive(Debug)]
pub struct HistoryEntry<'a> {
    /// Name of the snapshot taken before.
    pub snapshot: &'a str,
    /// Command that replaced the profile, such as `customer update`.
    pub operation: &'a str,
    /// `applied`, `refused` or `unknown`.
    pub outcome: &'a str,
    /// When the snapshot was taken, RFC 3339, UTC.
    pub taken: &'a str,
    /// What it changed.
    pub changes: Vec<Change>,
}

impl HistoryEntry<'_> {
    /// A few lines, the name of the snapshot first; they end in a newline.
    pub fn to_text(&self, now: Timestamp, zone: &TimeZone, style: OutputStyle) -> String {
        let outcome = match self.outcome {
            "applied" => style.paint(TextStyle::After, self.outcome),
            _ => style.paint(TextStyle::Warning, self.outcome),
        };
        let mut text = format!(
            "{}  {outcome}\n  {}\n",
            style.paint(TextStyle::Id, self.snapshot),
            style.paint(TextStyle::Dim, &format!("{}, {}", self.operation, when(self.taken, now, zone)))
        );
        for line in lines(&self.changes, style) {
            text.push_str("  ");
            text.push_str(&line.replace('\n', "\n  "));
            text.push('\n');
        }
        text
    }
}

/// The same for now and here.
pub fn when_local(taken: &str, now: Timestamp) -> String {
    when(taken, now, &TimeZone::system())
}

/// A time as local time and age: `2026-11-21 22:04:11, 5 min ago`. What is no time stays as it is.
fn when(taken: &str, now: Timestamp, zone: &TimeZone) -> String {
    let Ok(taken) = taken.parse::<Timestamp>() else { return taken.to_owned() };
    let local = taken.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string();
    format!("{local}, {}", age(now.duration_since(taken)))
}

/// How long ago something was, in the largest unit that is not zero.
fn age(age: SignedDuration) -> String {
    let seconds = age.as_secs();
    match u64::try_from(seconds) {
        Ok(0) => "just now".to_owned(),
        Ok(seconds) => format!("{} ago", style::time(Duration::from_secs(seconds))),
        // A clock was set back, or another machine's is ahead.
        Err(_) => "in the future".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use jiff::tz::{Offset, TimeZone};
    use serde_json::json;

    use super::{HistoryEntry, table};
    use crate::plan::profile::diff;
    use crate::report::style::OutputStyle;

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
             2 removed  city      Oslo"
        );
    }

    #[test]
    fn a_narrow_one_gets_what_goes_and_what_comes_below_each_other() {
        assert_eq!(
            shown_on(40),
            "profile\n  email\n    - a@b\n    + c@d\n\
             address 1\n  city\n    - Paris\n    + Lyon\n  postcode\n    - 75001\n    + 69001\n\
             new\n  city\n    + بيروت\n\
             address 2 removed\n  city\n    - Oslo"
        );
    }

    #[test]
    fn a_region_is_one_line_and_an_address_without_fields_is_shown_all_the_same() {
        let region = json!({"region": "New York", "region_code": "NY", "region_id": 43});
        let none = json!({"region": null, "region_code": null, "region_id": 0});
        let before = json!({"addresses": [{"id": 1, "customer_id": 1},
            {"id": 2, "customer_id": 1, "region": region, "region_id": 43, "city": "New York"}]});
        let after = json!({"addresses": [{"region": none, "region_id": 0, "city": "Oslo"}]});
        let changes = diff::customers(before.as_object().unwrap(), after.as_object().unwrap());
        assert_eq!(
            table(&changes, OutputStyle::default()),
            "ADDRESS    FIELD   BEFORE               AFTER\n\
             new        city                         Oslo\n\
             1 removed  id      1\n\
             2 removed  region  New York, NY, id 43\n\
             \x20          city    New York"
        );
    }

    #[test]
    fn an_entry_has_local_time_age_and_values() {
        let before = json!({"addresses": [{"id": 2, "city": "New York", "postcode": "10118"}, {"id": 3, "city": "Oslo"}]});
        let after = json!({"addresses": [{"id": 2, "city": "New York", "postcode": "10119"}, {"city": "Lyon", "country_id": "FR"}]});
        let entry = HistoryEntry {
            snapshot: "000002-20261121T210411Z",
            operation: "customer update",
            outcome: "applied",
            taken: "2026-11-21T21:04:11.5Z",
            changes: diff::customers(before.as_object().unwrap(), after.as_object().unwrap()),
        };
        let zone = TimeZone::fixed(Offset::constant(1));
        let text = |now: &str| entry.to_text(now.parse().unwrap(), &zone, OutputStyle::default());
        assert_eq!(
            text("2026-11-21T21:09:30Z"),
            "000002-20261121T210411Z  applied\n  customer update, 2026-11-21 22:04:11, 5 min ago\n  \
             address 2 postcode: 10118 → 10119\n  added address: city Lyon, country_id FR\n  \
             removed address 3: city Oslo\n"
        );
        for (now, age) in [
            ("2026-11-21T21:04:12.6Z", "1 s ago"),
            ("2026-11-22T00:04:12Z", "3 h 0 min ago"),
            ("2026-12-01T00:00:00Z", "9 days ago"),
            ("2026-11-21T21:00:00Z", "in the future"),
        ] {
            assert!(text(now).contains(&format!("22:04:11, {age}\n")), "{}", text(now));
        }
    }
}
