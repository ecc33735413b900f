use serde_json::{Map, Value, json};

use crate::check::body::{Warnings, findings, refuse, tidy};
use crate::check::field_names::FieldNames;
use crate::failure::Failure;
use crate::interface::dialect::MARKETPLACE;
use crate::interface::fields::ObjectSchema;
use crate::operation::{CUSTOMER_UPDATE, OperationSpec, QUOTE_ADD_ITEM, QUOTE_SHIP};

fn body(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

/// The check that an input has.
fn validate(
    body: &mut Map<String, Value>,
    shape: &'static ObjectSchema,
    allow_unknown: bool,
) -> Result<Warnings, Failure> {
    let warnings = tidy(body, shape)?;
    refuse(&findings(body, shape, allow_unknown, &FieldNames::default()))?;
    Ok(warnings)
}

fn problem(operation: &OperationSpec, value: Value) -> String {
    validate(&mut body(value), operation.schema(&MARKETPLACE), false).unwrap_err().message
}

#[test]
fn an_unknown_member_is_named_with_the_nearest_known_name() {
    let draft = json!({"customer": {"addresses": [{}, {"postcod": "75001"}]}});
    assert_eq!(
        problem(&CUSTOMER_UPDATE, draft),
        "customer.addresses[1].postcod: unknown field; did you mean `postcode`?"
    );
    assert_eq!(problem(&QUOTE_ADD_ITEM, json!({"cartItem": {"zzz": 1}})), "cartItem.zzz: unknown field");
    let camel = json!({"cartItem": {"quoteId": "1"}});
    assert_eq!(problem(&QUOTE_ADD_ITEM, camel), "cartItem.quoteId: unknown field; did you mean `quote_id`?");
}

#[test]
fn a_wrong_type_is_named_with_what_was_expected_and_found() {
    let cases = [
        (json!({"qty": "2"}), "cartItem.qty: expected a number, found the string \"2\""),
        (json!({"quote_id": 1}), "cartItem.quote_id: expected a string, found the number 1"),
        (json!({"product_option": null}), "cartItem.product_option: expected an object, found null"),
        (json!({"sku": true}), "cartItem.sku: expected a string, found true"),
    ];
    for (item, expected) in cases {
        assert_eq!(problem(&QUOTE_ADD_ITEM, json!({"cartItem": item})), expected);
    }
    let half = json!({"customer": {"gender": 1.5}});
    assert_eq!(problem(&CUSTOMER_UPDATE, half), "customer.gender: expected an integer, found the number 1.5");
}

#[test]
fn every_problem_is_kept_and_the_message_names_the_first() {
    let names = (0..23).map(|number| (format!("x{number}"), Value::Null));
    let mut many = body(json!({"cartItem": names.collect::<Map<String, Value>>()}));
    let failure = validate(&mut many, QUOTE_ADD_ITEM.schema(&MARKETPLACE), false).unwrap_err();
    assert_eq!((failure.message.lines().count(), failure.problems.len()), (21, 23));
    assert!(failure.message.ends_with("and 3 more"), "{}", failure.message);
}

#[test]
fn a_country_is_two_upper_case_letters() {
    let ship = |code: &str| {
        let address = json!({"country_id": code});
        let draft = json!({"addressInformation": {"shipping_address": address}});
        validate(&mut body(draft), QUOTE_SHIP.schema(&MARKETPLACE), false).map_err(|failure| failure.message)
    };
    assert!(ship("FR").is_ok() && ship("UK").is_ok());
    assert!(ship("us").is_ok() && ship("Deutschland").is_ok());
    for code in ["FRA", "Narnia", "", "F1", "ÉT"] {
        let refusal = ship(code).unwrap_err();
        assert!(refusal.contains("expected a country's code of two letters or its name"), "{refusal}");
    }
}

#[test]
fn the_samples_own_blemishes_are_mended_with_a_warning() {
    let option = json!({"option_id ": "93", "option_value": 52, "note": "see the product detail"});
    let item = json!({"sku": "MS-01", "product_option ":
        {"extension_attributes": {"configurable_item_options": [option]}}});
    let mut body = body(json!({"cartItem": item}));
    let warnings = validate(&mut body, QUOTE_ADD_ITEM.schema(&MARKETPLACE), false).unwrap();
    assert_eq!(warnings.len(), 3, "{warnings:?}");
    let sent = &body["cartItem"]["product_option"]["extension_attributes"]["configurable_item_options"][0];
    assert_eq!(*sent, json!({"option_id": "93", "option_value": 52}));
}

#[test]
fn a_name_that_becomes_another_by_trimming_is_refused() {
    let twice = json!({"cartItem": {"sku": "a", "sku ": "b"}});
    assert_eq!(problem(&QUOTE_ADD_ITEM, twice), "cartItem.sku: duplicate field");
}

#[test]
fn unknown_members_pass_when_allowed_but_types_still_count() {
    let mut odd = body(json!({"cartItem": {"product_type": "simple", "qty": 1}}));
    assert!(validate(&mut odd, QUOTE_ADD_ITEM.schema(&MARKETPLACE), true).unwrap().is_empty());
    let mut wrong = body(json!({"cartItem": {"product_type": "simple", "qty": "1"}}));
    assert!(validate(&mut wrong, QUOTE_ADD_ITEM.schema(&MARKETPLACE), true).is_err());
}

/// The tables held against golden JSON: one body per operation, written by hand from the service's documentation, in which
/// every listed field stands at least once.
mod golden {
    use std::collections::BTreeSet;

    use serde_json::Value;

    use super::validate;
    use crate::interface::dialect::MARKETPLACE;
    use crate::interface::fields::{FieldType, ObjectSchema};
    use crate::operation::{OPERATIONS, OperationSpec};

    fn golden(operation: &OperationSpec) -> Value {
        let directory = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/golden");
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
        for operation in OPERATIONS.into_iter().filter(|operation| operation.is_in(&MARKETPLACE)) {
            let mut in_golden = BTreeSet::new();
            let mut in_tables = BTreeSet::new();
            written(&golden(operation), "", &mut in_golden);
            listed(operation.schema(&MARKETPLACE), "", &mut in_tables);
            assert_eq!(in_golden, in_tables, "{}", operation.name);
        }
    }

    #[test]
    fn the_golden_bodies_have_the_documented_types() {
        for operation in OPERATIONS.into_iter().filter(|operation| operation.is_in(&MARKETPLACE)) {
            let mut body = golden(operation).as_object().unwrap().clone();
            let warnings = validate(&mut body, operation.schema(&MARKETPLACE), false).unwrap();
            assert!(warnings.is_empty(), "{warnings:?}");
            assert_eq!(Value::Object(body), golden(operation));
        }
    }

    #[test]
    fn every_member_has_its_type_and_no_other() {
        for operation in OPERATIONS.into_iter().filter(|operation| operation.is_in(&MARKETPLACE)) {
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
                    assert!(refused, "{}{pointer}: {changed}", operation.name);
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
}
