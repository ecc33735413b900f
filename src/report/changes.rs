//! Changes of a profile or a cart for a person: readable at a glance, and without color.

use std::time::Duration;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use serde_json::Value;

use super::fields::{fields, format_value, region};
use super::style::{self, OutputStyle, TextStyle, cell};
use storefront_core::id::AddressId;
use storefront_core::interface::label::label;
use storefront_core::profile::address::join_ids;
use storefront_core::profile::diff::FieldChange;
use storefront_core::profile::merge::AddressSummary;
use storefront_core::profile::path::List;
use storefront_core::text::sanitize::sanitize_line;

/// What is changed in one place: in the profile, an address or an item of a cart.
#[derive(Debug)]
pub struct Block {
    /// The place.
    pub head: String,
    /// Its fields.
    pub rows: Vec<ChangeRow>,
}

/// A field with its old and its new value; a side is `None` if the whole address or item does not exist there.
#[derive(Debug)]
pub struct ChangeRow {
    /// Its label.
    pub field: String,
    /// What is stored.
    pub before: Option<String>,
    /// What is sent.
    pub after: Option<String>,
}

/// A time as hours and minutes here, rounded up: `14:05`.
pub fn local_minute(time: Timestamp) -> String {
    let time = time.checked_add(SignedDuration::from_secs(59)).unwrap_or(time);
    time.to_zoned(TimeZone::system()).strftime("%H:%M").to_string()
}

/// How long a token lasts, such as `expires in 3 h 59 min`.
pub fn expiry(expires: Timestamp) -> String {
    let seconds = expires.as_second() - Timestamp::now().as_second();
    let span = style::time(Duration::from_secs(seconds.unsigned_abs()));
    if seconds > 0 { format!("expires in {span}") } else { format!("expired {span} ago") }
}

/// The changes, field by field, below the address or the item that they are in.
pub fn text(changes: &[FieldChange], screen: OutputStyle) -> String {
    let cells = |ChangeRow { field, before, after }: ChangeRow| match (before, after) {
        (Some(before), Some(after)) => {
            let after = cell(TextStyle::Success, format!("→ {after}"));
            vec![field.into(), cell(TextStyle::Error, before), after]
        }
        (before, None) => vec![field.into(), cell(TextStyle::Error, before.unwrap_or_default())],
        (None, Some(after)) => vec![field.into(), cell(TextStyle::Success, after)],
    };
    let text = |Block { head, rows }: Block| {
        style::block(&screen.paint(TextStyle::Id, &head), screen, rows.into_iter().map(cells))
    };
    blocks(changes).into_iter().map(text).collect::<Vec<_>>().join("\n")
}

/// The changes, by the place that they are in.
pub fn blocks(changes: &[FieldChange]) -> Vec<Block> {
    let is_one = |one: &FieldChange, other: &FieldChange| !is_whole(one) && owner(one) == owner(other);
    let block = |changes: &[FieldChange]| Block { head: owner(&changes[0]), rows: rows(changes) };
    changes.chunk_by(is_one).map(block).collect()
}

/// Whether it is the change of a whole address or item.
fn is_whole(change: &FieldChange) -> bool {
    change.path.is_address() || change.path.is_item()
}

/// What was changed, in a few words: `address 2: Postcode, City; new address`.
pub fn in_words(changes: &[FieldChange]) -> String {
    const SHOWN: usize = 3;
    let is_one = |one: &FieldChange, other: &FieldChange| !is_whole(one) && owner(one) == owner(other);
    let more =
        |count: usize| if count > SHOWN { format!(" and {} more", count - SHOWN) } else { String::new() };
    let part = |changes: &[FieldChange]| {
        let whole = owner(&changes[0]);
        if is_whole(&changes[0]) {
            return whole;
        }
        let labels = changes.iter().take(SHOWN).map(|change| sanitize_line(&change.path.label()));
        format!("{whole}: {}{}", labels.collect::<Vec<_>>().join(", "), more(changes.len()))
    };
    let parts: Vec<String> = changes.chunk_by(is_one).map(part).collect();
    format!("{}{}", parts[..parts.len().min(SHOWN)].join("; "), more(parts.len()))
}

/// The place of a change.
fn owner(change: &FieldChange) -> String {
    let of_order = change.path.order_address().map(str::to_owned);
    let address = of_order.or(change.path.address_id().map(|id| format!("address {id}")));
    let id = address.or(change.path.item_id().map(|id| format!("item {id}")));
    match (is_whole(change), &change.before, &change.after) {
        (true, None, Some(_)) => match List::of(&change.path) {
            Some(List::Items) => "new item".to_owned(),
            Some(List::Options) => "new option".to_owned(),
            _ => "new address".to_owned(),
        },
        (true, Some(_), None) => format!("{}, removed", id.unwrap_or_default()),
        _ => id.unwrap_or_else(|| if change.path.is_value() { "values" } else { "profile" }.to_owned()),
    }
}

/// The fields of an address or an item that appears or goes as a whole, or each change of one that stays.
fn rows(changes: &[FieldChange]) -> Vec<ChangeRow> {
    if let [change @ FieldChange { before, after, .. }] = changes
        && is_whole(change)
    {
        let is_removed = after.is_none();
        let whole = if is_removed { before } else { after };
        let all = whole.as_ref().and_then(Value::as_object).map(|whole| {
            let region = region(whole).map(|text| (label("region").to_owned(), text));
            fields(whole, "id customer_id region region_id").into_iter().chain(region)
        });
        let row = |(field, value)| {
            let (before, after) = if is_removed { (Some(value), None) } else { (None, Some(value)) };
            ChangeRow { field, before, after }
        };
        return all.into_iter().flatten().map(row).collect();
    }
    let row = |field: String, before, after| ChangeRow { field, before: Some(before), after: Some(after) };
    // The parts of a region change together.
    let (parts, others): (Vec<&FieldChange>, Vec<&FieldChange>) = changes.iter().partition(|change| {
        let name = change.path.last_name();
        let is_of_address = change.path.address_id().is_some() || change.path.order_address().is_some();
        is_of_address && ["region", "region_code", "region_id"].contains(&name)
    });
    let side = |side: fn(&FieldChange) -> &Option<Value>| {
        let parts =
            parts.iter().map(|it| (it.path.last_name().to_owned(), side(it).clone().unwrap_or_default()));
        region(&parts.collect()).unwrap_or_else(|| format_value(None))
    };
    let region = (!parts.is_empty())
        .then(|| row(label("region").to_owned(), side(|it| &it.before), side(|it| &it.after)));
    let others = others.into_iter().map(|FieldChange { path, before, after }| {
        // An address without the flag is not a default.
        let is_flag = [before, after].into_iter().flatten().any(Value::is_boolean);
        let no = Value::Bool(false);
        let side = |value: &Option<Value>| format_value(value.as_ref().or(is_flag.then_some(&no)));
        row(sanitize_line(&path.label()), side(before), side(after))
    });
    others.chain(region).collect()
}

/// What becomes of the addresses, in one line.
pub fn summary(tally: &AddressSummary, new_ids: &[AddressId]) -> String {
    let AddressSummary { kept, changed, removed, added } = tally;
    let groups =
        [("unchanged", &kept[..]), ("changed", changed), ("removed", removed), ("added as", new_ids)];
    let groups = groups.into_iter().filter(|(_, ids)| !ids.is_empty());
    let mut parts: Vec<String> = groups.map(|(what, ids)| format!("{what} {}", join_ids(ids))).collect();
    if *added > 0 && new_ids.is_empty() {
        parts.push(format!("added {added}"));
    }
    if parts.is_empty() { "Addresses: none".to_owned() } else { format!("Addresses: {}", parts.join("; ")) }
}

/// A time as local time and age: `2026-11-21 22:04:11+01:00, 5 min ago`. What is not a time stays as it is.
pub fn when(taken: &str, now: Timestamp, zone: &TimeZone) -> String {
    let Ok(time) = taken.parse::<Timestamp>() else { return taken.to_owned() };
    format!("{}, {}", local(time, zone), age(time, now))
}

/// A moment, RFC 3339, as a time in this zone, by the second.
pub fn second(moment: &str, zone: &TimeZone) -> String {
    moment.parse().map_or_else(|_| moment.to_owned(), |time| local(time, zone))
}

/// A time in this zone, by the second, with what it differs from UTC.
pub fn local(time: Timestamp, zone: &TimeZone) -> String {
    time.to_zoned(zone.clone()).strftime("%Y-%m-%d %H:%M:%S%:z").to_string()
}

/// How long ago it was: `5 min ago`.
fn age(time: Timestamp, now: Timestamp) -> String {
    match u64::try_from(now.duration_since(time).as_secs()) {
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

    use super::{in_words, summary, text, when};
    use crate::report::style::OutputStyle;
    use storefront_core::id::AddressId;
    use storefront_core::profile::diff::{self, FieldChange};
    use storefront_core::profile::merge::AddressSummary;
    use storefront_core::profile::path::FieldPath;

    fn shown(before: &serde_json::Value, after: &serde_json::Value, width: Option<u16>) -> String {
        let changes = diff::customers(before.as_object().unwrap(), after.as_object().unwrap());
        text(&changes, OutputStyle { width, color: false })
    }

    #[test]
    fn each_address_is_named_once_above_its_changes() {
        let before = json!({"email": "a@b", "addresses": [
            {"id": 1, "city": "Paris", "postcode": "75001"}, {"id": 2, "city": "بيروت", "fax": ""}]});
        let after = json!({"email": "c@d", "addresses": [
            {"id": 1, "city": "Lyon", "postcode": "69001"}, {"city": "Oslo"}, {"city": "Rome"}]});
        for width in [30, 80] {
            assert_eq!(
                shown(&before, &after, Some(width)),
                "profile\n  Email address  a@b  → c@d\n\
                 address 1\n  City      Paris  → Lyon\n  Postcode  75001  → 69001\n\
                 new address\n  City  Oslo\nnew address\n  City  Rome\n\
                 address 2, removed\n  City  بيروت\u{200e}"
            );
        }
    }

    #[test]
    fn items_of_a_cart_are_shown_like_addresses() {
        let item = FieldPath::item(4);
        let qty = FieldChange {
            path: FieldPath::item(3).member("qty"),
            before: Some(2.into()),
            after: Some(5.into()),
        };
        let removed = FieldChange { path: item, before: Some(json!({"sku": "mug", "qty": 1})), after: None };
        let text = text(&[qty, removed], OutputStyle::default());
        assert_eq!(text, "item 3\n  qty  2  → 5\nitem 4, removed\n  sku  mug\n  qty  1");
    }

    #[test]
    fn what_was_changed_is_said_in_a_few_words() {
        let before = json!({"email": "a@b", "addresses": [{"id": 1, "city": "Paris", "postcode": "75001",
            "telephone": "1", "country_id": "FR"}, {"id": 2}]});
        let after = json!({"email": "c@d", "addresses": [{"id": 1, "city": "Lyon", "postcode": "69001",
            "telephone": "2", "country_id": "BE"}, {"city": "Oslo"}]});
        let changes = diff::customers(before.as_object().unwrap(), after.as_object().unwrap());
        let words = in_words(&changes);
        assert!(words.starts_with("profile: Email address; address 1: City, "), "{words}");
        assert!(words.contains(" and 1 more; new address and 1 more"), "{words}");
        assert_eq!(in_words(&changes[..1]), "profile: Email address");
    }

    #[test]
    fn thousands_of_addresses_are_counted() {
        let kept: Vec<AddressId> = (1..=5000).map(AddressId).collect();
        let tally = AddressSummary { kept, changed: vec![AddressId(7001)], ..AddressSummary::default() };
        assert_eq!(
            summary(&tally, &[]),
            "Addresses: unchanged 1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 4990 more; changed 7001"
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
        let row = "address 1\n  Region  New York, NY, id 43  → Berlin, BER, id 82";
        assert_eq!(shown(&before, &after, None), row);
    }

    #[test]
    fn a_region_is_one_line_and_an_address_without_fields_is_shown_all_the_same() {
        let region = json!({"region": "New York", "region_code": "NY", "region_id": 43});
        let none = json!({"region": null, "region_code": null, "region_id": 0});
        let before = json!({"addresses": [{"id": 1, "customer_id": 1},
            {"id": 2, "customer_id": 1, "region": region, "region_id": 43, "city": "New York"}]});
        let after = json!({"addresses": [{"region": none, "region_id": 0, "city": "Oslo"}]});
        assert_eq!(
            shown(&before, &after, None),
            "new address\n  City  Oslo\naddress 1, removed\n\
             address 2, removed\n  City    New York\n  Region  New York, NY, id 43"
        );
    }

    #[test]
    fn a_time_is_local_and_has_its_age() {
        let zone = TimeZone::fixed(Offset::constant(1));
        for (now, age) in [
            ("2026-11-21T21:09:30Z", "5 min ago"),
            ("2026-11-21T21:04:12.6Z", "1 s ago"),
            ("2026-11-22T00:04:12Z", "3 h 0 min ago"),
            ("2026-12-01T00:00:00Z", "9 days ago"),
            ("2026-11-21T21:00:00Z", "in the future"),
        ] {
            let shown = when("2026-11-21T21:04:11.5Z", now.parse().unwrap(), &zone);
            assert_eq!(shown, format!("2026-11-21 22:04:11+01:00, {age}"));
        }
    }
}
