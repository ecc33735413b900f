//! Changes of a profile for a person: readable at a glance, and without color.

use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use serde::Serialize;
use serde_json::{Map, Value};

use super::style::{self, OutputStyle, TextStyle, cell};
use crate::plan::profile::diff::{Change, FieldPath, join_ids};
use crate::plan::profile::merge::AddressSummary;
use crate::text::sanitize::sanitize_line;

/// Below this many columns a table of four columns is no longer read with ease.
const TABLE_COLUMNS: u16 = 64;

/// The changes, field by field: a table, or one a line where the terminal is narrow.
pub fn table(changes: &[Change], screen: OutputStyle) -> String {
    if screen.is_narrower_than(TABLE_COLUMNS) {
        return lines(changes, screen);
    }
    let mut owner = String::new();
    let changes = with_whole_regions(changes);
    let rows = changes.iter().flat_map(rows).map(|(whose, field, before, after)| {
        let shown = if whose == owner { String::new() } else { whose.clone() };
        owner = whose;
        [shown.into(), field.into(), cell(TextStyle::Before, before), cell(TextStyle::After, after)]
    });
    style::table(screen, &["ADDRESS", "FIELD", "BEFORE", "AFTER"], rows)
}

/// The parts of an address's region, which change together, as one change.
fn with_whole_regions(changes: &[Change]) -> Vec<Change> {
    let address_of = |change: &Change| {
        let is_part = ["region", "region_code", "region_id"].contains(&change.path.last_name());
        let has_object = [&change.before, &change.after].into_iter().flatten().any(Value::is_object);
        change.path.address_id().filter(|_| is_part && !has_object)
    };
    let whole = |parts: &[Change]| match (parts, address_of(&parts[0])) {
        ([_, _, ..], Some(address)) => {
            let text = |side: fn(&Change) -> &Option<Value>| {
                let values = parts.iter().map(|it| (it.path.last_name().to_owned(), side(it).clone()));
                let region = values.map(|(name, value)| (name, value.unwrap_or_default())).collect();
                Some(region_text(&region)).filter(|text| !text.is_empty()).map(Value::String)
            };
            let (before, after) = (text(|it| &it.before), text(|it| &it.after));
            Change { path: FieldPath::address(address).member("region"), before, after }
        }
        _ => parts[0].clone(),
    };
    let is_same =
        |one: &Change, other: &Change| address_of(one).is_some() && address_of(one) == address_of(other);
    changes.chunk_by(is_same).map(whole).collect()
}

/// Whose field, which, and its values; empty text where there is none.
fn rows(change: &Change) -> Vec<(String, String, String, String)> {
    let id = change.path.address_id().map(|id| id.to_string());
    let (before, after) = (change.before.as_ref(), change.after.as_ref());
    match (change.path.is_address(), before, after) {
        (true, None, Some(address)) => {
            let new = |(field, value)| ("new".to_owned(), field, String::new(), value);
            fields(address).into_iter().map(new).collect()
        }
        (true, Some(address), None) => {
            let owner = format!("{} removed", id.unwrap_or_default());
            let removed = |(field, value)| (owner.clone(), field, value, String::new());
            fields(address).into_iter().map(removed).collect()
        }
        _ => {
            let owner = id.unwrap_or_else(|| "profile".to_owned());
            let field = sanitize_line(&change.path.inside());
            vec![(owner, field, format_value(before), format_value(after))]
        }
    }
}

/// The fields of an address that appears or goes as a whole.
fn fields(address: &Value) -> Vec<(String, String)> {
    let Some(members) = address.as_object() else { return Vec::new() };
    let has_region = members.get("region").is_some_and(Value::is_object);
    let shown = members.iter().filter(|(name, value)| match name.as_str() {
        // The owner of the row names the address, and a region its id.
        "id" | "customer_id" => false,
        "region_id" => !has_region && **value != 0,
        _ => is_telling(value),
    });
    let fields = shown.map(|(name, value)| match (name.as_str(), value) {
        ("region", Value::Object(region)) => ("region".to_owned(), region_text(region)),
        _ => (sanitize_line(name), format_value(Some(value))),
    });
    let mut fields: Vec<(String, String)> = fields.filter(|(_, text)| !text.is_empty()).collect();
    if fields.is_empty() {
        // Whatever comes or goes is shown.
        fields.push(("id".to_owned(), format_value(members.get("id"))));
    }
    fields
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

/// The changes one a line, wrapped: `address 2 postcode: 10118 → 10119`. An address that appears or goes as a whole is one.
fn lines(changes: &[Change], screen: OutputStyle) -> String {
    let changes = with_whole_regions(changes);
    changes.iter().map(|change| screen.wrapped(&line(change))).collect::<Vec<_>>().join("\n")
}

fn line(change: &Change) -> String {
    let what = sanitize_line(&change.path.in_words());
    let all = |address: Option<&Value>| {
        let fields = address.map(fields).unwrap_or_default().into_iter().filter(|(name, _)| name != "id");
        fields.map(|(name, value)| format!("{name} {value}")).collect::<Vec<_>>().join(", ")
    };
    match (change.path.is_address(), change.before.as_ref(), change.after.as_ref()) {
        (true, None, address) => format!("added address: {}", all(address)),
        (true, address, None) => format!("removed {what}: {}", all(address)),
        (_, before, after) => format!("{what}: {} → {}", format_value(before), format_value(after)),
    }
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

/// One replacement of a profile as the history lists it.
#[derive(Debug, Default, Serialize)]
pub struct HistoryEntry {
    /// Name of the snapshot taken before.
    pub snapshot: String,
    /// When it was taken, RFC 3339, UTC.
    pub taken: String,
    /// Command that replaced the profile, such as `customer update`.
    pub operation: String,
    /// What became of it, as a fate is called; `unreadable` where the file of the snapshot cannot be read.
    pub outcome: &'static str,
    /// What it changed.
    pub changes: Vec<Change>,
    /// The file of the snapshot.
    pub file: String,
}

impl HistoryEntry {
    /// A few lines, the name of the snapshot first; they end in a newline.
    pub fn to_text(&self, now: Timestamp, zone: &TimeZone, screen: OutputStyle) -> String {
        let ink = if self.outcome == "applied" { TextStyle::After } else { TextStyle::Warning };
        let when = format!("{}, {}", self.operation, when(&self.taken, now, zone));
        let mut lines = vec![screen.paint(TextStyle::Dim, &when), lines(&self.changes, screen.indented())];
        lines.retain(|text| !text.is_empty());
        let (snapshot, outcome) =
            (screen.paint(TextStyle::Id, &self.snapshot), screen.paint(ink, self.outcome));
        format!("{snapshot}  {outcome}\n  {}\n", lines.join("\n").replace('\n', "\n  "))
    }
}

/// A time as local time and age: `2026-11-21 22:04:11, 5 min ago`. What is no time stays as it is.
pub fn when(taken: &str, now: Timestamp, zone: &TimeZone) -> String {
    let Ok(time) = taken.parse::<Timestamp>() else { return taken.to_owned() };
    let local = time.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S");
    let age = match u64::try_from(now.duration_since(time).as_secs()) {
        Ok(0) => "just now".to_owned(),
        Ok(seconds) => format!("{} ago", style::time(Duration::from_secs(seconds))),
        // A clock was set back, or another machine's is ahead.
        Err(_) => "in the future".to_owned(),
    };
    format!("{local}, {age}")
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
    fn a_region_that_changes_is_one_row() {
        let address = |code: &str, name: &str, id: u32| {
            json!({"id": 1, "region_id": id, "region":
            {"region_code": code, "region": name, "region_id": id}})
        };
        let [before, after] = [address("NY", "New York", 43), address("BER", "Berlin", 82)]
            .map(|address| json!({"addresses": [address]}));
        let changes = diff::customers(before.as_object().unwrap(), after.as_object().unwrap());
        assert_eq!(changes.len(), 4);
        let screen = OutputStyle { width: Some(40), color: false };
        assert_eq!(table(&changes, screen), "address 1 region: New York, NY, id 43 →\n  Berlin, BER, id 82");
    }

    #[test]
    fn a_narrow_one_gets_one_change_a_line() {
        assert_eq!(
            shown_on(40),
            "email: a@b → c@d\n\
             address 1 city: Paris → Lyon\naddress 1 postcode: 75001 → 69001\n\
             added address: city بيروت\nremoved address 2: city Oslo"
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
            snapshot: "000002-20261121T210411Z".to_owned(),
            operation: "customer update".to_owned(),
            outcome: "applied",
            taken: "2026-11-21T21:04:11.5Z".to_owned(),
            changes: diff::customers(before.as_object().unwrap(), after.as_object().unwrap()),
            file: String::new(),
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
