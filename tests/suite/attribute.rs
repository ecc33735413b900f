//! `attribute create`: flags, files, and the administrator's token.

use std::fmt::Write as _;

use serde_json::{Value, json};
use snapbox::str;

use crate::support::raw_http::CUSTOMER;
use crate::support::test_env::TestEnv;

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
fn options_are_read_from_csv() {
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
    for (csv, stderr) in [
        (
            "name\nA\n",
            str![[r#"
error: options.csv: unknown column `name`
  No changes were made.
  hint: expected columns: label,sort_order,is_default,label:STORE_ID…,attribute_code
"#]],
        ),
        (
            "sort_order\n1\n",
            str![[r#"
error: options.csv: missing column `label`
  No changes were made.
  hint: expected columns: label,sort_order,is_default,label:STORE_ID…,attribute_code
"#]],
        ),
        (
            "label,label:fr\nA,B\n",
            str![[r#"
error: options.csv: unknown column `label:fr`; did you mean `label`?
  No changes were made.
  hint: expected columns: label,sort_order,is_default,label:STORE_ID…,attribute_code
"#]],
        ),
        (
            "label,sort_order\nA,first\n",
            str![[r#"
error: options.csv: line 2, column sort_order: expected an integer, found "first"
  No changes were made.
  hint: expected columns: label,sort_order,is_default,label:STORE_ID…,attribute_code
"#]],
        ),
        (
            "label,is_default\nA,1\nB,maybe\n",
            str![[r#"
error: options.csv: line 3, column is_default: expected yes or no (or true, false, 1, 0), found "maybe"
  No changes were made.
  hint: expected columns: label,sort_order,is_default,label:STORE_ID…,attribute_code
"#]],
        ),
        (
            "label\n\"\"\n",
            str![[r#"
error: options.csv: line 2: the label is empty
  No changes were made.
  hint: expected columns: label,sort_order,is_default,label:STORE_ID…,attribute_code
"#]],
        ),
        (
            "label,sort_order\nA\n",
            str![[r#"
error: options.csv: line 2: the row has 1 cell, the header has 2
  No changes were made.
  hint: expected columns: label,sort_order,is_default,label:STORE_ID…,attribute_code
"#]],
        ),
    ] {
        env.file("options.csv", csv);
        env.run("attribute create --code fabric --options options.csv").assert_failure(2, stderr);
    }
    assert_eq!(env.requests(), [""; 0]);
}

#[test]
fn input_is_validated_and_overridden_by_flags() {
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
    for (input, stderr) in [
        (
            r#"{"attribute": {"attribut_code": "a"}}"#,
            str![[r#"
error: attribute.attribut_code: unknown field; did you mean `attribute_code`?
  No changes were made.
  hint: fix the input, or send unknown fields unchanged with --allow-unknown
"#]],
        ),
        (
            r#"{"is_searchable": true}"#,
            str![[r#"
error: attribute.is_searchable: expected a string, found true
  No changes were made.
  hint: fix the input and run it again
"#]],
        ),
        (
            r#"{"is_required": "yes"}"#,
            str![[r#"
error: attribute.is_required: expected true or false, found the string "yes"
  No changes were made.
  hint: fix the input and run it again
"#]],
        ),
        (
            r#"{"options": [{"label": 1}]}"#,
            str![[r#"
error: attribute.options[0].label: expected a string, found the number 1
  No changes were made.
  hint: fix the input and run it again
"#]],
        ),
        (
            r#"{"options": [{"store_labels": [{"store": 1}]}]}"#,
            str![[r#"
error: attribute.options[0].store_labels[0].store: unknown field; did you mean `store_id`?
  No changes were made.
  hint: fix the input, or send unknown fields unchanged with --allow-unknown
"#]],
        ),
    ] {
        env.file("bad.json", input);
        env.run("attribute create -i bad.json").assert_failure(2, stderr);
    }
    env.run("attribute create").assert_failure(
        2,
        str![[r#"
error: no attribute given
  No changes were made.
  hint: use --code, --label and --type, or --input FILE
"#]],
    );
    env.run("attribute create --code a --option A --default-option B").assert_failure(
        2,
        str![[r#"
error: --default-option `B` is not one of the options
  No changes were made.
  hint: use one of the --option labels
"#]],
    );
    assert_eq!(env.requests(), [""; 0]);
}

#[test]
fn codes_and_tokens_are_checked_by_the_service() {
    let env = TestEnv::new();
    let create = "attribute create --code fabric --label Fabric --type select --option Linen";
    env.done(create);
    env.run(create).assert_failure(
        4,
        str![[r#"
attribute create: host 127.0.0.1:[PORT]
error: the service answered 400 Bad Request: Attribute with the same code already exists
  No changes were made.
"#]],
    );
    env.run("attribute create --code Fabric-2 --type text").assert_failure(4, str![[r#"
warning: attribute_code `Fabric-2` may be rejected: Magento expects a letter followed by up to 59 of a-z, 0-9, _
attribute create: host 127.0.0.1:[PORT]
error: the service answered 400 Bad Request: Invalid value of "Fabric-2" provided for the attribute_code field
  No changes were made.
"#]]);
    env.requests();
    let as_customer = env.storefront("attribute create --code other --type text");
    as_customer.env("STOREFRONT_ADMIN_TOKEN", CUSTOMER).run().assert_failure(6, str![[r#"
attribute create: host 127.0.0.1:[PORT]
error: the service answered 403 Forbidden: The consumer isn't authorized to access Magento_Catalog::attributes_attributes
  No changes were made.
  hint: the token has expired or lacks the permission `Magento_Catalog::attributes_attributes`: run `storefront auth login --user NAME --admin`, or grant the permission; an integration's token must be allowed as a standalone Bearer token
"#]]);
    // The profile's token is the fallback.
    let fallback = env.storefront("attribute create --code other --type text");
    fallback.without("STOREFRONT_ADMIN_TOKEN").run().assert_failure(6, str![[r#"
attribute create: host 127.0.0.1:[PORT]
error: the service answered 403 Forbidden: The consumer isn't authorized to access Magento_Catalog::attributes_attributes
  No changes were made.
  hint: no administrator's token is set, so the customer token was used: set STOREFRONT_ADMIN_TOKEN, or run `storefront auth login --admin`; the token has expired or lacks the permission `Magento_Catalog::attributes_attributes`: run `storefront auth login --user NAME --admin`, or grant the permission; an integration's token must be allowed as a standalone Bearer token
"#]]);
    assert_eq!(env.requests(), ["POST 403", "POST 403"]);
}

#[test]
fn an_attribute_of_800_options_in_six_languages_comes_from_one_csv() {
    let env = TestEnv::new();
    let mut csv = "label,label:1,label:2,label:3,label:4,label:5,label:6\n".to_owned();
    for n in 1..=800 {
        writeln!(csv, "o{n},Couleur {n},Farbe {n},色 {n},לון {n},Цвет {n},Χρώμα {n}").unwrap();
    }
    env.file("options.csv", csv);
    env.done("attribute create --code code_1 --label Colour --type select --options options.csv --default-option o7");
    let shown = env.sandbox.show();
    let attribute =
        shown["attributes"].as_array().unwrap().iter().find(|one| one["attribute_code"] == "code_1").unwrap();
    let options = attribute["options"].as_array().unwrap();
    assert_eq!((options.len(), &options[799]["label"]), (800, &json!("o800")));
    assert_eq!(options[799]["store_labels"][2], json!({"store_id": 3, "label": "色 800"}));
    assert_eq!(options.iter().filter(|option| option["is_default"] == true).count(), 1);
}
