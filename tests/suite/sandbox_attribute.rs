//! Rules of product attributes (docs/interface.md, "Operations") over raw HTTP.

use serde_json::{Value, json};

use crate::support::raw_http::{ADMIN, ATTRIBUTE, Answer, Sandbox};

fn create(sandbox: &Sandbox, attribute: &Value) -> Answer {
    sandbox.call(ADMIN, "POST", ATTRIBUTE, &json!({"attribute": attribute}).to_string())
}

#[test]
fn an_attribute_is_created_with_its_options() {
    let sandbox = Sandbox::new();
    let sent = json!({
        "attribute_code": "fabric", "frontend_input": "select", "entity_type_id": "4", "is_filterable": true,
        "is_searchable": "1", "is_required": false, "default_frontend_label": "Fabric",
        "frontend_labels": [{"store_id": 2, "label": "Tissu"}], "position": 3,
        "options": [{"label": "Linen", "sort_order": 1, "is_default": true,
                     "store_labels": [{"store_id": 3, "label": "Leinen"}]}, {"label": "Wool"}],
    });
    let answer = create(&sandbox, &sent);
    assert_eq!(answer.status, 200, "{answer:?}");
    let expected = json!({
        "attribute_id": 145, "attribute_code": "fabric", "frontend_input": "select", "entity_type_id": "4",
        "is_filterable": true, "is_searchable": "1", "is_required": false, "default_frontend_label": "Fabric",
        "frontend_labels": [{"store_id": 2, "label": "Tissu"}], "position": 3,
        "options": [{"label": "Linen", "sort_order": 1, "is_default": true,
                     "store_labels": [{"store_id": 3, "label": "Leinen"}], "value": "171"},
                    {"label": "Wool", "value": "172"}],
    });
    assert_eq!(answer.json(), expected);
    let shown = sandbox.show();
    assert_eq!(shown["attributes"].as_array().unwrap().last(), Some(&expected));
    let no_slash = json!({"attribute": {"attribute_code": "weave"}}).to_string();
    assert_eq!(sandbox.call(ADMIN, "POST", ATTRIBUTE.trim_end_matches('/'), &no_slash).status, 200);
}

#[test]
fn a_code_is_taken_once() {
    let sandbox = Sandbox::new();
    let before = sandbox.show();
    create(&sandbox, &json!({"attribute_code": "color", "default_frontend_label": "Colour"})).refuses(
        400,
        "%1 already exists.",
        json!(["Attribute with the same code"]),
    );
    assert_eq!(sandbox.show(), before);
}

#[test]
fn codes_are_lower_case_words_of_sixty_characters() {
    let sandbox = Sandbox::new();
    for code in ["a".repeat(60).as_str(), "a_1", "z"] {
        assert_eq!(create(&sandbox, &json!({"attribute_code": code})).status, 200, "{code}");
    }
    create(&sandbox, &json!({"attribute_code": "a".repeat(61)})).refuses(
        400,
        "An attribute code must not be less than 1 and more than 60 characters.",
        Value::Null,
    );
    for code in ["", "1a", "_a", "A", "aB", "a-b", "a b", "é"] {
        let answer = create(&sandbox, &json!({"attribute_code": code}));
        assert_eq!((answer.status, &answer.json()["parameters"]["value"]), (400, &json!(code)));
    }
    create(&sandbox, &json!({})).refuses(
        400,
        "\"%fieldName\" is required. Enter and try again.",
        json!({"fieldName": "attribute_code"}),
    );
    assert_eq!(create(&sandbox, &json!({"attribute_code": null})).status, 400);
}

#[test]
fn entity_type_and_input_kind_are_checked() {
    let sandbox = Sandbox::new();
    let invalid = "Invalid value of \"%value\" provided for the %fieldName field.";
    create(&sandbox, &json!({"attribute_code": "x", "entity_type_id": "3"})).refuses(
        400,
        invalid,
        json!({"fieldName": "entity_type_id", "value": "3"}),
    );
    create(&sandbox, &json!({"attribute_code": "x", "frontend_input": "selct"})).refuses(
        400,
        invalid,
        json!({"fieldName": "frontend_input", "value": "selct"}),
    );
    for wrong in [
        json!({"options": [1]}),
        json!({"options": {}}),
        json!({"is_required": "no"}),
        json!({"entity_type_id": 4}),
        json!({"is_searchable": true}),
        json!({"options": [{"sort_order": "1"}]}),
    ] {
        let mut attribute = wrong.clone();
        attribute["attribute_code"] = json!("x");
        assert_eq!(create(&sandbox, &attribute).status, 400, "{wrong}");
    }
    let empty = sandbox.call(ADMIN, "POST", ATTRIBUTE, "{}");
    assert_eq!(empty.json()["parameters"], json!({"fieldName": "attribute"}));
}
