//! Settings as they are shown: every value but a token.

use serde_json::Value;
use toml_edit::Item;

use super::keys;
use crate::config::keys::ValueType;
use crate::config::validate;

/// What a key of that kind holds, as JSON. A token is `•••`.
pub fn format_value(kind: ValueType, item: &Item) -> Value {
    let members = |inner: &dyn Fn(&str) -> Option<ValueType>| {
        let table = item.as_table_like().into_iter().flat_map(|table| table.iter());
        table
            .filter_map(|(name, item)| inner(name).map(|kind| (name.to_owned(), format_value(kind, item))))
            .collect()
    };
    match kind {
        ValueType::Secret => Value::from("•••"),
        ValueType::Table(known) => members(&|name| keys::find(known, name).map(|key| key.kind)),
        ValueType::Profiles(known) => members(&|_| Some(ValueType::Table(known))),
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
