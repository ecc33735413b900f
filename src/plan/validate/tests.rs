//! The tables held against golden JSON: one body per operation, written by hand from the service's
//! documentation, in which every listed field stands at least once.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::plan::operation::Operation;
use crate::plan::request::dialect::MARKETPLACE;
use crate::plan::validate::body::validate;
use crate::wire::{FieldType, ObjectSchema};

fn golden(operation: Operation) -> Value {
    let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden");
    let text = std::fs::read_to_string(format!("{directory}/{}.json", operation.slug())).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// Paths of all fields in a body, list positions left out.
fn written(value: &Value, path: &str, paths: &mut BTreeSet<String>) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                paths.insert(format!("{path}.{name}"));
                written(value, &format!("{path}.{name}"), paths);
            }
        }
        Value::Array(elements) => elements.iter().for_each(|element| written(element, path, paths)),
        _ => {}
    }
}

/// Paths of all fields the tables list.
fn listed(shape: &'static ObjectSchema, path: &str, paths: &mut BTreeSet<String>) {
    for member in shape.listed() {
        let path = format!("{path}.{}", member.name);
        paths.insert(path.clone());
        if let FieldType::Object(shape) | FieldType::List(shape) = member.field_type {
            listed(shape, &path, paths);
        }
    }
}

#[test]
fn the_tables_list_exactly_what_the_interface_lists() {
    for operation in Operation::ALL {
        let (mut in_golden, mut in_tables) = (BTreeSet::new(), BTreeSet::new());
        written(&golden(operation), "", &mut in_golden);
        listed(operation.schema(&MARKETPLACE), "", &mut in_tables);
        assert_eq!(in_golden, in_tables, "{}", operation.name());
    }
}

#[test]
fn the_golden_bodies_have_the_documented_types() {
    for operation in Operation::ALL {
        let mut body = golden(operation).as_object().unwrap().clone();
        let warnings = validate(&mut body, operation.schema(&MARKETPLACE), false).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        assert_eq!(Value::Object(body), golden(operation));
    }
}

#[test]
fn every_member_has_its_type_and_no_other() {
    for operation in Operation::ALL {
        let body = golden(operation);
        for pointer in pointers(&body, String::new()) {
            for wrong in [
                Value::Bool(true),
                Value::from(1.5),
                Value::from("x"),
                Value::from(7),
                Value::Array(vec![1.into()]),
            ] {
                let mut changed = body.clone();
                let member = changed.pointer_mut(&pointer).unwrap();
                if same_type(member, &wrong) {
                    continue;
                }
                *member = wrong;
                let refused =
                    validate(changed.as_object_mut().unwrap(), operation.schema(&MARKETPLACE), false)
                        .is_err();
                assert!(refused, "{}{pointer}: {changed}", operation.name());
            }
        }
    }
}

fn same_type(member: &Value, other: &Value) -> bool {
    match (member, other) {
        (Value::Number(number), Value::Number(other)) => {
            number.as_i64().is_none() || other.as_i64().is_some()
        }
        (Value::Null, Value::String(_)) => true,
        _ => std::mem::discriminant(member) == std::mem::discriminant(other) && !other.is_array(),
    }
}

fn pointers(value: &Value, path: String) -> Vec<String> {
    let inside: Vec<String> = match value {
        Value::Object(members) => {
            members.iter().flat_map(|(name, value)| pointers(value, format!("{path}/{name}"))).collect()
        }
        Value::Array(elements) => elements
            .iter()
            .enumerate()
            .flat_map(|(index, value)| pointers(value, format!("{path}/{index}")))
            .collect(),
        _ => Vec::new(),
    };
    if path.is_empty() { inside } else { [vec![path], inside].concat() }
}
