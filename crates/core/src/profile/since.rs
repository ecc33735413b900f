//! What became of an update since: a profile that is read later, compared with what the update left.

use serde_json::Value;

use super::address::AddressIndex;
use super::diff::Change;
use super::equal::{is_content, same_value, shares_place};
use super::path::FieldPath;
use super::restore::Write;
use super::stored::Profile;
use super::verify::{is_verified, verify};
use crate::failure::Failure;

/// A place at which the profile is not as an update left it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Since {
    /// Where.
    pub path: FieldPath,
    /// What the update left there.
    pub written: Option<Value>,
    /// What is there now; none where it, or the address that it was in, is gone.
    pub now: Option<Value>,
}

/// Which of the changes of an update that are [`compared`] are not as they were left. Values that the service wrote in its own way
/// are `rewritten`; what the JSON pointers in `ignore` name is not looked at.
///
/// # Errors
/// `guard` when a list has an address without a usable id of its own.
pub fn changed_since(
    write: Write<'_>,
    compared: &[&Change],
    rewritten: &[Change],
    now: &Profile,
    ignore: &[String],
) -> Result<Vec<Since>, Failure> {
    let verification = verify(write.before, write.sent, now, &[], ignore)?;
    let index = AddressIndex::of(now.addresses())?;
    let mut differences = Vec::new();
    for change in compared {
        let Change { path, after: written, .. } = change;
        let there = if path.is_new_address() {
            match added(now.addresses(), change, rewritten) {
                Added::There => continue,
                Added::Changed(now) => Some(now),
                Added::Gone => None,
            }
        } else {
            let is_renumbered =
                verification.renumbered.iter().any(|(old, _)| Some(*old) == path.address_id());
            let there = path.find(now.customer(), &index);
            let is = |value: Option<&Value>| same_value(path.last_name(), there, value);
            let is_ours = |own: &Change| own.path.to_string() == path.to_string() && is(own.after.as_ref());
            if is_renumbered || is(written.as_ref()) || rewritten.iter().any(is_ours) {
                continue;
            }
            there.cloned()
        };
        differences.push(Since { path: path.clone(), written: written.clone(), now: there });
    }
    Ok(differences)
}

/// Those of the changes of an update that can be compared with what is there later: not what the `later` changes of the same hand
/// touched, nor what `ignore` names.
pub fn compared<'a>(changes: &'a [Change], later: &[Change], ignore: &[String]) -> Vec<&'a Change> {
    let is_later = |change: &Change| {
        later.iter().any(|later| later.path.overlaps(&change.path) && !later.path.is_new_address())
    };
    changes.iter().filter(|change| !is_later(change) && is_verified(change, ignore)).collect()
}

/// What became of an address that was added.
enum Added {
    There,
    Changed(Value),
    Gone,
}

fn added(addresses: &[Value], change: &Change, rewritten: &[Change]) -> Added {
    let rewritten = rewritten.iter().filter(|own| own.path.is_new_address());
    let is_it = |address: &&Value| {
        let mut left = rewritten.clone().filter_map(|own| own.after.as_ref());
        is_content(address, change.after.as_ref())
            || left.any(|left| same_value("", Some(*address), Some(left)))
    };
    if addresses.iter().any(|address| is_it(&address)) {
        return Added::There;
    }
    let near = addresses.iter().find(|address| shares_place(address, change.after.as_ref()));
    near.map_or(Added::Gone, |near| Added::Changed(near.clone()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::{changed_since, compared};
    use crate::profile::diff;
    use crate::profile::restore::Write;
    use crate::profile::stored::{Pointers, Profile};

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn since(before: &Value, sent: &Value, later: &Value, now: &Value) -> Vec<String> {
        let (before, sent) = (object(before.clone()), object(sent.clone()));
        let later = diff::customers(&sent, &object(later.clone()));
        let now = Profile::find(now.clone(), &Pointers::default()).unwrap();
        let changes = diff::customers(&before, &sent);
        let compared = compared(&changes, &later, &[]);
        let found = changed_since(Write { before: &before, sent: &sent }, &compared, &[], &now, &[]).unwrap();
        let text = |value: &Option<Value>| value.as_ref().map_or("-".to_owned(), Value::to_string);
        found.iter().map(|it| format!("{} {} {}", it.path, text(&it.written), text(&it.now))).collect()
    }

    #[test]
    fn each_place_that_is_not_as_it_was_written_is_found_with_both_values() {
        let before = json!({"gender": 1, "addresses": [{"id": 1, "city": "Paris"}, {"id": 2, "city": "Rome"}, {"id": 3}]});
        let sent = json!({"gender": 2, "addresses": [{"id": 1, "city": "Lyon"}, {"id": 2, "city": "Milan"}, {"city": "Oslo"}]});
        let whole = json!({"gender": "2", "addresses": [{"id": 1, "city": " Lyon"}, {"id": 2, "city": "Milan"}, {"id": 7, "city": "Oslo"}]});
        assert!(since(&before, &sent, &sent, &whole).is_empty());
        let now = json!({"gender": 1, "addresses": [{"id": 1, "city": "Nice"}, {"id": 3}]});
        assert_eq!(
            since(&before, &sent, &sent, &now),
            [
                "gender 2 1",
                "addresses[id=1].city \"Lyon\" \"Nice\"",
                "addresses[id=2].city \"Milan\" -",
                "addresses[new] {\"city\":\"Oslo\"} -",
                "addresses[id=3] - {\"id\":3}",
            ]
        );
        // What the same batch wrote later is looked at there.
        let later = json!({"gender": 3, "addresses": [{"id": 1, "city": "Nice"}, {"id": 2, "city": "Milan"}, {"city": "Oslo"}]});
        let now = json!({"gender": 3, "addresses": [{"id": 1, "city": "Nice"}, {"id": 2, "city": "Milan"}, {"id": 7, "city": "Oslo"}]});
        assert!(since(&before, &sent, &later, &now).is_empty());
    }
}
