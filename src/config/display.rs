//! Settings as they are shown: every value but a token.

use serde_json::Value;
use toml_edit::Item;

use super::keys::{self, Kind};
use crate::config::validate;

/// What a key of that kind holds, as JSON. A token is `•••`.
pub fn shown(kind: Kind, item: &Item) -> Value {
    let members = |inner: &dyn Fn(&str) -> Option<Kind>| {
        let table = item.as_table_like().into_iter().flat_map(|table| table.iter());
        table
            .filter_map(|(name, item)| inner(name).map(|kind| (name.to_owned(), shown(kind, item))))
            .collect()
    };
    match kind {
        Kind::Secret => Value::from("•••"),
        Kind::Table(known) => members(&|name| keys::find(known, name).map(|key| key.kind)),
        Kind::Profiles(known) => members(&|_| Some(Kind::Table(known))),
        _ => item.as_value().map_or(Value::Null, scalar),
    }
}

/// The dotted path and value of everything inside, in order.
pub fn flattened(value: &Value) -> Vec<(String, &Value)> {
    fn add<'a>(value: &'a Value, path: &str, lines: &mut Vec<(String, &'a Value)>) {
        match value {
            Value::Object(members) => {
                for (name, value) in members {
                    add(value, &validate::join(path, name), lines);
                }
            }
            value => lines.push((path.to_owned(), value)),
        }
    }
    let mut lines = Vec::new();
    add(value, "", &mut lines);
    lines
}

fn scalar(value: &toml_edit::Value) -> Value {
    match value {
        toml_edit::Value::String(text) => text.value().as_str().into(),
        toml_edit::Value::Integer(number) => (*number.value()).into(),
        toml_edit::Value::Float(number) => (*number.value()).into(),
        toml_edit::Value::Boolean(flag) => (*flag.value()).into(),
        toml_edit::Value::Array(list) => list.iter().map(scalar).collect(),
        _ => Value::Null,
    }
}
