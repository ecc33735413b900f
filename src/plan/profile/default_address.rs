//! Making one address the default for shipping or billing: the flag is set there, and taken from every other address.

use std::collections::BTreeMap;

use serde_json::{Map, Value};

use super::diff::Change;
use super::equivalence::is_equivalent;
use crate::plan::profile::field_path::FieldPath;
use crate::plan::profile::patch::{DefaultAddress, ProfilePatch};

/// Sets the flag to false on every other stored address that has it. `before` gets those addresses as they were.
pub fn clear_others(
    wish: &ProfilePatch,
    ids: &[i64],
    stored: &mut [Value],
    before: &mut BTreeMap<usize, Value>,
) {
    for (position, (id, address)) in ids.iter().zip(stored).enumerate() {
        let others = wish.default_addresses.iter().filter(|default| default.address != Some(*id));
        for name in others.flat_map(|default| default.names()) {
            if !is_equivalent(name, Some(&Value::Bool(true)), address.get(name)) {
                continue;
            }
            before.entry(position).or_insert_with(|| address.clone());
            address[name] = no_flag(address.get(name));
        }
    }
}

/// A flag that is not set, in the type that is stored.
pub(super) fn no_flag(stored: Option<&Value>) -> Value {
    match stored {
        Some(Value::Number(_)) => 0.into(),
        Some(Value::String(_)) => "0".into(),
        _ => false.into(),
    }
}

/// Sets the profile's own default, where it is stored, to the id of the address. A new address has none yet: the default
/// is left out, and a note says so.
pub fn set_own(
    wish: &ProfilePatch,
    customer: &mut Map<String, Value>,
    changes: &mut Vec<Change>,
    notes: &mut Vec<String>,
) {
    let names = |default: DefaultAddress| default.names().map(move |name| (default.address, name));
    for (address, name) in wish.default_addresses.iter().copied().flat_map(names) {
        let Some(stored) = customer.get_mut(name) else { continue };
        let path = FieldPath::default().member(name);
        let Some(id) = address else {
            customer.shift_remove(name);
            changes.retain(|change| change.path != path);
            notes.push(format!("{name} is left out: the new address gets its id from the service"));
            continue;
        };
        let after = if stored.is_number() { Value::from(id) } else { Value::from(id.to_string()) };
        if is_equivalent(name, Some(&after), Some(stored)) {
            continue;
        }
        let before = std::mem::replace(stored, after.clone());
        match changes.iter_mut().find(|change| change.path == path) {
            Some(drafted) => drafted.after = Some(after),
            None => changes.push(Change { path, before: Some(before), after: Some(after) }),
        }
    }
}
