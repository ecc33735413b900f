//! What a plan expects of a profile, compared with what the read before the PUT showed.

use serde_json::Value;

use crate::customers::{Stored, addresses};

/// The first value that is not as it was planned. Of an address that is to be deleted texts are compared: a shop may write
/// a region in several forms. Of an undo something may be back already: an address that it deletes is gone.
pub fn differing(expected: &Value, shown: &Stored, is_undo: bool) -> Option<String> {
    expected.as_array().into_iter().flatten().find_map(|change| {
        let path = change["path"].as_str()?;
        let (owner, rest) = match path.strip_prefix("addresses[id=").and_then(|rest| rest.split_once(']')) {
            Some((id, rest)) => {
                let id: i64 = id.parse().ok()?;
                let address = addresses(shown).find(|address| address["id"] == id).cloned();
                let is_gone = address.is_none() && change["after"].is_null();
                let address = address.unwrap_or_default();
                let Some(field) = rest.strip_prefix('.') else {
                    if is_undo && is_gone {
                        return None;
                    }
                    return other_address(path, change, &address);
                };
                (address, field)
            }
            None if path.starts_with("addresses[") => return None,
            None => (Value::Object(shown.clone()), path),
        };
        let now = rest.split('.').try_fold(&owner, |value, name| below(value, name)).unwrap_or(&Value::Null);
        let before = &change["before"];
        let is_back = is_undo && *now == change["after"];
        (now != before && !is_back).then(|| format!("{path} is {now}, and {before} was planned"))
    })
}

/// What a step of a path leads to: a field, or the custom attribute that it names.
fn below<'a>(value: &'a Value, step: &str) -> Option<&'a Value> {
    match step.strip_suffix(']').and_then(|step| step.split_once('[')) {
        Some((name, code)) => value.get(name)?.as_array()?.iter().find(|own| own["attribute_code"] == code),
        None => value.get(step),
    }
}

fn other_address(path: &str, change: &Value, now: &Value) -> Option<String> {
    let planned = change["before"].as_object()?;
    let differs = |(name, value): &(&String, &Value)| value.is_string() && now[name.as_str()] != **value;
    let (name, before) = planned.iter().find(differs)?;
    Some(format!("{path} {name} is {}, and {before} was planned", now[name.as_str()]))
}
