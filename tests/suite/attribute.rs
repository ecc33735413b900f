//! `attribute create`: flags, files, and the administrator's token.

use serde_json::{Value, json};

use crate::support::raw_http::CUSTOMER;
use crate::support::test_env::{TestEnv, words};

/// What is inside the wrapper a command line would send.
#[track_caller]
fn attribute(env: &TestEnv, line: &str) -> Value {
    let result = env.done(&format!("attribute create {line} --dry-run"));
    assert_eq!(env.requests(), [""; 0], "{line}");
    assert!(result["request"]["url"].as_str().unwrap().ends_with("/V1/admin/product/attribute/"));
    result["request"]["body"]["attribute"].clone()
}

#[test]
fn every_flag_sets_its_member() {
    let env = TestEnv::new();
    let line = "--code fabric --label Fabric --type select --required --filterable=false --searchable \
                --store-label 2=Tissu 3=Stoff --option Linen Wool --default-option Wool";
    let expected = json!({
        "attribute_code": "fabric", "default_frontend_label": "Fabric", "frontend_input": "select", "is_required": true,
        "is_filterable": false, "is_searchable": "1",
        "frontend_labels": [{"store_id": 2, "label": "Tissu"}, {"store_id": 3, "label": "Stoff"}],
        "options": [{"label": "Linen", "sort_order": 1, "is_default": false}, {"label": "Wool", "sort_order": 2, "is_default": true}],
        "entity_type_id": "4",
    });
    assert_eq!(attribute(&env, line), expected);
    assert_eq!(attribute(&env, "--code a --searchable=false")["is_searchable"], "0");
    let result = env.done(&format!("attribute create {line}"));
    assert_eq!(
        (&result["operation"], &result["applied"], &result["status"]),
        (&json!("attribute create"), &json!("yes"), &json!(200))
    );
    assert_eq!(env.requests(), ["POST 200"]);
}

#[test]
fn options_come_from_a_table() {
    let env = TestEnv::new();
    let csv = "\u{feff}label;sort_order;is_default;label:2;label:3\nLinen;10;;Lin;Leinen\n\"Wool; fine\";;yes;Laine;\n02138 d;;0;;\n";
    env.file("options.csv", csv);
    assert_eq!(
        attribute(&env, "--code fabric --options options.csv")["options"],
        json!([
            {"label": "Linen", "sort_order": 10, "is_default": false,
                "store_labels": [{"store_id": 2, "label": "Lin"}, {"store_id": 3, "label": "Leinen"}]},
            {"label": "Wool; fine", "sort_order": 2, "is_default": true, "store_labels": [{"store_id": 2, "label": "Laine"}]},
            {"label": "02138 d", "sort_order": 3, "is_default": false},
        ])
    );
    let moved = attribute(&env, "--code fabric --options options.csv --option Silk --default-option Linen");
    assert_eq!(
        (&moved["options"][3]["sort_order"], &moved["options"][1]["is_default"]),
        (&json!(4), &json!(false))
    );
    for (csv, says) in [
        ("name\nA\n", "unknown column `name`"),
        ("sort_order\n1\n", "missing column `label`"),
        ("label,label:fr\nA,B\n", "column `label:fr`: expected a store ID after `label:`"),
        ("label,sort_order\nA,first\n", "line 2: sort_order `first` is not an integer"),
        ("label,is_default\nA,1\nB,maybe\n", "line 3: is_default `maybe` is not true or false"),
        ("label\n\"\"\n", "the label is empty"),
        ("label,sort_order\nA\n", "options.csv"),
    ] {
        env.file("options.csv", csv);
        let error = env.fails(2, "attribute create --code fabric --options options.csv");
        assert!(error["message"].as_str().unwrap().contains(says), "{csv:?}: {error}");
    }
    assert_eq!(env.requests(), [""; 0]);
}

#[test]
fn input_is_held_to_the_interface_and_flags_win() {
    let env = TestEnv::new();
    env.file(
        "in.json",
        r#"{"attribute": {"attribute_code": "fabric", "is_searchable": "0", "frontend_labels": []}}"#,
    );
    let sent = attribute(&env, "-i in.json --code cloth --searchable");
    assert_eq!(
        (&sent["attribute_code"], &sent["is_searchable"], &sent["frontend_labels"]),
        (&json!("cloth"), &json!("1"), &json!([]))
    );
    for (input, says) in [
        (
            r#"{"attribute": {"attribut_code": "a"}}"#,
            "attribute.attribut_code: unknown field; did you mean `attribute_code`?",
        ),
        (r#"{"is_searchable": true}"#, "attribute.is_searchable: expected a string, found true"),
        (r#"{"is_required": "yes"}"#, "attribute.is_required: expected true or false"),
        (r#"{"options": [{"label": 1}]}"#, "attribute.options[0].label: expected a string"),
        (
            r#"{"options": [{"store_labels": [{"store": 1}]}]}"#,
            "attribute.options[0].store_labels[0].store: unknown",
        ),
    ] {
        env.file("bad.json", input);
        let error = env.fails(2, "attribute create -i bad.json");
        assert!(error["message"].as_str().unwrap().contains(says), "{input}: {error}");
    }
    assert!(env.fails(2, "attribute create")["message"].as_str().unwrap().contains("no attribute given"));
    let error = env.fails(2, "attribute create --code a --option A --default-option B");
    assert!(
        error["message"].as_str().unwrap().contains("--default-option `B` is not one of the options"),
        "{error}"
    );
    assert_eq!(env.requests(), [""; 0]);
}

#[test]
fn the_service_decides_about_codes_and_tokens() {
    let env = TestEnv::new();
    let create = "attribute create --code fabric --label Fabric --type select --option Linen";
    env.done(create);
    let error = env.fails(4, create);
    assert!(
        error["message"].as_str().unwrap().contains("Attribute with the same code already exists"),
        "{error}"
    );
    let error = env.fails(4, "attribute create --code Fabric-2 --type text");
    assert!(error["message"].as_str().unwrap().contains("Attribute code \"Fabric-2\" is invalid"), "{error}");
    env.requests();
    let as_customer = env.storefront(&words("attribute create --code other --type text -o json -q"));
    let outcome = as_customer.env("STOREFRONT_ADMIN_TOKEN", CUSTOMER).run();
    assert_eq!((outcome.code, &outcome.error()["status"]), (6, &json!(403)));
    let fallback = env.storefront(&words("attribute create --code other --type text -o json -q"));
    let outcome = fallback.without("STOREFRONT_ADMIN_TOKEN").run();
    assert_eq!(
        (outcome.code, &outcome.error()["status"]),
        (6, &json!(403)),
        "the profile's token is the fallback"
    );
    assert_eq!(env.requests(), ["POST 403", "POST 403"]);
}
