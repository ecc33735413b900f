//! The history of a customer for a person: each replacement with its time, its outcome and the values it changed.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use super::changes;
use crate::plan::profile::diff::Change;
use crate::report::terminal::{OutputStyle, TextStyle};

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
        for line in changes::lines(&self.changes, style) {
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

/// A time as local time and age: `2026-11-21 22:04:11, 5 minutes ago`. What is no time stays as it is.
fn when(taken: &str, now: Timestamp, zone: &TimeZone) -> String {
    let Ok(taken) = taken.parse::<Timestamp>() else { return taken.to_owned() };
    let local = taken.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string();
    format!("{local}, {}", age(now.duration_since(taken)))
}

/// How long ago something was, in the largest unit that is not zero.
fn age(age: SignedDuration) -> String {
    let seconds = age.as_secs();
    if seconds < 0 {
        // A clock was set back, or another machine's is ahead.
        return "in the future".to_owned();
    }
    let (number, unit) = match seconds {
        0 => return "just now".to_owned(),
        1..=59 => (seconds, "second"),
        60..=3599 => (seconds / 60, "minute"),
        3600..=86_399 => (seconds / 3600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    format!("{number} {unit}{} ago", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use jiff::tz::{Offset, TimeZone};
    use serde_json::json;

    use super::HistoryEntry;
    use crate::plan::profile::diff;
    use crate::report::terminal::OutputStyle;

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
            "000002-20261121T210411Z  applied\n  customer update, 2026-11-21 22:04:11, 5 minutes ago\n  \
             address 2 postcode: 10118 → 10119\n  added address: city Lyon, country_id FR\n  \
             removed address 3: city Oslo\n"
        );
        for (now, age) in [
            ("2026-11-21T21:04:12.6Z", "1 second ago"),
            ("2026-11-22T00:04:12Z", "3 hours ago"),
            ("2026-12-01T00:00:00Z", "9 days ago"),
            ("2026-11-21T21:00:00Z", "in the future"),
        ] {
            assert!(text(now).contains(&format!("22:04:11, {age}\n")), "{}", text(now));
        }
    }
}
