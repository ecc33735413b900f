//! `schema`: it accepts exactly what the input check accepts.

use crate::support::json_schema::accepts;
use crate::support::storefront::Home;
use serde_json::{Map, Value, json};
use storefront_core::check::body::{findings, tidy};
use storefront_core::check::field_names::FieldNames;
use storefront_core::interface::dialect::MARKETPLACE;
use storefront_core::operation::json_schema;
use storefront_core::operation::{CUSTOMER_UPDATE, OPERATIONS, OperationSpec};

fn template(operation: &OperationSpec) -> Value {
    serde_json::from_str(&storefront::input::template::json(&MARKETPLACE, operation).unwrap()).unwrap()
}

/// Those of both interfaces.
fn operations() -> impl Iterator<Item = &'static OperationSpec> {
    OPERATIONS.into_iter().filter(|operation| operation.is_in(&MARKETPLACE))
}

/// The document, with each value replaced in turn, and with an unknown field in each object.
fn variations(value: &Value) -> Vec<Value> {
    let odd =
        [json!("x"), json!(1), json!(1.5), json!(true), json!(null), json!([]), json!(["x"]), json!({})];
    let mut all: Vec<Value> = odd.to_vec();
    all.push(value.clone());
    let within: Vec<(String, &Value)> = match value {
        Value::Object(object) => object.iter().map(|(name, inner)| (name.clone(), inner)).collect(),
        Value::Array(list) => {
            list.iter().enumerate().map(|(index, inner)| (index.to_string(), inner)).collect()
        }
        _ => Vec::new(),
    };
    for (step, inner) in within {
        for variation in variations(inner) {
            let mut whole = value.clone();
            *whole.pointer_mut(&format!("/{step}")).unwrap() = variation;
            all.push(whole);
        }
    }
    if let Value::Object(object) = value {
        for name in ["odd", "note"] {
            let mut whole = object.clone();
            whole.insert(name.to_owned(), json!("x"));
            all.push(whole.into());
        }
    }
    all
}

/// Whether the check accepts a body in its wrapper.
fn passes(operation: &OperationSpec, document: &Value) -> bool {
    let Value::Object(mut body) = document.clone() else { return false };
    let shape = operation.schema(&MARKETPLACE);
    tidy(&mut body, shape).is_ok() && findings(&body, shape, false, &FieldNames::default()).is_empty()
}

#[test]
fn schema_and_check_agree_about_every_variation_of_every_template() {
    for operation in operations() {
        let schema = json_schema::of(&MARKETPLACE, operation);
        let mut counts = [0, 0];
        // A body without its wrapper and an array have tests of their own.
        let is_wrapped = |body: &Value| {
            body.get(template(operation).as_object().unwrap().keys().next().unwrap()).is_some()
        };
        for document in variations(&template(operation)).into_iter().filter(is_wrapped) {
            let passes = passes(operation, &document);
            assert_eq!(accepts(&schema, &schema, &document), passes, "{}: {document}", operation.name);
            counts[usize::from(passes)] += 1;
        }
        assert!(counts.iter().all(|count| *count > 10), "{counts:?}");
    }
}

#[test]
fn a_body_without_its_wrapper_and_an_array_of_records_are_inputs_too() {
    for operation in operations() {
        let schema = json_schema::of(&MARKETPLACE, operation);
        let accepts = |document: &Value| accepts(&schema, &schema, document);
        let wrapped = template(operation);
        let mut bare: Map<String, Value> = wrapped.as_object().unwrap().clone();
        let outer = bare.keys().next().unwrap().clone();
        if let Some(Value::Object(inner)) = bare.shift_remove(&outer) {
            bare.extend(inner);
        }
        let mut bare = Value::Object(bare);
        assert!(accepts(&bare), "{bare}");
        assert!(accepts(&json!([wrapped, bare])));
        assert!(!accepts(&json!([])) && !accepts(&json!([1])));
        bare["reason"] = "the service said no".into();
        assert!(!accepts(&bare) && accepts(&json!([bare])));
        bare["odd"] = 1.into();
        assert!(!accepts(&json!([bare])));
    }
}

#[test]
fn the_printed_schema_describes_every_field() {
    let home = Home::new();
    let printed: Value = serde_json::from_str(&home.ok("schema customer update")).unwrap();
    assert_eq!(printed, json_schema::of(&MARKETPLACE, &CUSTOMER_UPDATE));
    assert_eq!(printed["$schema"], "https://json-schema.org/draft/2020-12/schema");
    let postcode = &printed["$defs"]["ProfileAddress"]["properties"]["postcode"];
    assert_eq!(*postcode, json!({"type": ["string", "null"], "description": "Postcode"}));
}
