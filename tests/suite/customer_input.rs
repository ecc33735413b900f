//! The input of `customer update`: what of it is read, trimmed, overridden by flags or refused.

use serde_json::{Value, json};
use snapbox::str;

use crate::support::test_env::TestEnv;

#[test]
fn input_with_or_without_its_wrapper_is_overridden_by_flags() {
    let env = TestEnv::new();
    let bare = r#"{"email": "in@example.com", "addresses": [{"id": 2, "city": "Albany", "postcode": "12207"},
        {"city": "Nice", "country_id": "FR"}]}"#;
    let line = [
        "customer",
        "update",
        "-i",
        "-",
        "--email",
        "flag@example.com",
        "--address",
        "2",
        "--city",
        "Troy",
        "-q",
    ];
    let outcome = env.storefront(&[&line[..], &["-o", "json"]].concat()).stdin(bare).run().done();
    assert_eq!(outcome["addresses"], json!({"kept": [1, 3, 4], "changed": [2], "added": 1, "removed": []}));
    let profile = env.profile();
    assert_eq!(profile["email"], "flag@example.com");
    assert_eq!(
        (&profile["addresses"][1]["city"], &profile["addresses"][1]["postcode"]),
        (&json!("Troy"), &json!("12207"))
    );
    assert_eq!(profile["addresses"][4]["city"], "Nice");
    env.file("wrapped.json", "\u{feff}{\"customer\": {\"gender\": 3}}");
    env.done("customer update -i wrapped.json");
    assert_eq!(env.profile()["gender"], 3);
}

#[test]
fn unknown_fields_and_wrong_types_are_refused_before_anything_is_sent() {
    let env = TestEnv::new();
    for (input, stderr) in [
        (
            r#"{"customer": {"addresses": [{"id": 1}, {"id": 2, "postcod": "1"}]}}"#,
            str![[r#"
error: customer.addresses[1].postcod: unknown field; did you mean `postcode`?
  No changes were made.
  hint: fix the input, or send unknown fields unchanged with --allow-unknown
"#]],
        ),
        (
            r#"{"emial": "a"}"#,
            str![[r#"
error: customer.emial: unknown field; did you mean `email`?
  No changes were made.
  hint: fix the input, or send unknown fields unchanged with --allow-unknown
"#]],
        ),
        (
            r#"{"customer": {"email": 1}}"#,
            str![[r#"
error: customer.email: expected a string, found the number 1
  No changes were made.
  hint: fix the input and run it again
"#]],
        ),
        (
            r#"{"customer": {"gender": "1"}}"#,
            str![[r#"
error: customer.gender: expected an integer, found the string "1"
  No changes were made.
  hint: fix the input and run it again
"#]],
        ),
        (
            r#"{"addresses": {"id": 1}}"#,
            str![[r#"
error: customer.addresses: expected an array of objects, found an object
  No changes were made.
  hint: fix the input and run it again
"#]],
        ),
        (
            r#"{"addresses": [{"id": 1, "street": "1 Main St"}]}"#,
            str![[r#"
error: customer.addresses[0].street: expected an array of strings, found the string "1 Main St"
  No changes were made.
  hint: fix the input and run it again
"#]],
        ),
        (
            r#"{"addresses": [{"id": 1, "street": [null]}]}"#,
            str![[r#"
error: customer.addresses[0].street[0]: expected a string, found null
  No changes were made.
  hint: fix the input and run it again
"#]],
        ),
        (
            r#"{"addresses": [{"id": 1, "region": "Berlin"}]}"#,
            str![[r#"
error: customer.addresses[0].region: expected an object, found the string "Berlin"
  No changes were made.
  hint: fix the input and run it again
"#]],
        ),
        (
            r#"{"addresses": [{"id": 1, "custom_attributes": [{"code": "a"}]}]}"#,
            str![[r#"
error: customer.addresses[0].custom_attributes[0].code: unknown field
  No changes were made.
  hint: fix the input, or send unknown fields unchanged with --allow-unknown
"#]],
        ),
        (
            r#"{"addresses": null}"#,
            str![[r#"
error: customer.addresses: expected an array of objects, found null
  No changes were made.
  hint: fix the input and run it again
"#]],
        ),
        (
            r#"{"customer": []}"#,
            str![[r#"
error: customer: expected an object, found an array
  No changes were made.
  hint: fix the input and run it again
"#]],
        ),
        (
            "[",
            str![[r#"
error: `in.json` is not a JSON array of records: EOF while parsing a list at line 1 column 1
  No changes were made.
"#]],
        ),
        (
            " ",
            str![[r#"
error: `in.json` is empty
  No changes were made.
"#]],
        ),
    ] {
        env.file("in.json", input);
        env.run("customer update -i in.json").assert_failure(2, stderr);
        let error = env.fails(2, "customer update -i in.json");
        assert_eq!(
            (&error["kind"], &error["applied"], &error["status"]),
            (&json!("usage"), &json!("no"), &Value::Null)
        );
    }
    // The stored profile may have such a field or value itself, so it is read; nothing is written.
    assert!(env.requests().iter().all(|heard| heard == "GET 200"));
}

#[test]
fn allow_unknown_sends_unknown_fields_unchanged() {
    let env = TestEnv::new();
    env.file("in.json", r#"{"x_price": 1.10, "addresses": [{"id": 2, "x_seen": 1.5e+3, "company": null}]}"#);
    env.done("customer update -i in.json --allow-unknown");
    let profile = env.profile();
    assert_eq!(profile["x_price"].to_string(), "1.10");
    assert_eq!(
        (profile["addresses"][1]["x_seen"].to_string(), &profile["addresses"][1]["company"]),
        ("1.5e+3".into(), &Value::Null)
    );
}

#[test]
fn spaces_around_names_are_trimmed_with_a_warning() {
    let env = TestEnv::new();
    env.file("in.json", r#"{"customer ": {" email": "trim@example.com"}}"#);
    let outcome = env.run("customer update -q -i in.json");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(
        outcome.stderr,
        "warning: customer: trimmed spaces around the field name\nwarning: customer.email: trimmed spaces around the field name\n"
    );
    assert_eq!(env.profile()["email"], "trim@example.com");
}

#[test]
fn a_missing_or_duplicate_attribute_code_is_refused() {
    let env = TestEnv::new();
    for (attributes, stderr) in [
        (
            json!([{"value": "1"}]),
            str![[r#"
error: address 1: custom_attributes: an element has no `attribute_code`
  No changes were made.
  hint: add an `attribute_code` to each element
"#]],
        ),
        (
            json!([{"attribute_code": "door", "value": "1"}, {"attribute_code": "door", "value": "2"}]),
            str![[r#"
error: address 1: custom_attributes: duplicate attribute_code `door`
  No changes were made.
  hint: list each attribute once
"#]],
        ),
    ] {
        env.file("in.json", json!({"addresses": [{"id": 1, "custom_attributes": attributes}]}).to_string());
        env.run("customer update -i in.json").assert_failure(2, stderr);
    }
    assert!(!env.requests().iter().any(|request| request.starts_with("PUT")));
}

#[test]
fn an_attribute_flag_keeps_the_attributes_of_the_input() {
    let env = TestEnv::new();
    let attributes =
        json!([{"attribute_code": "door", "value": "1"}, {"attribute_code": "gate", "value": "2"}]);
    env.file("in.json", json!({"addresses": [{"id": 1, "custom_attributes": attributes}]}).to_string());
    env.done("customer update -i in.json --address 1 --custom-attribute gate=3");
    let stored = env.address(1)["custom_attributes"].to_string();
    for attribute in [r#"{"attribute_code":"door","value":"1"}"#, r#"{"attribute_code":"gate","value":"3"}"#]
    {
        assert!(stored.contains(attribute), "{stored}");
    }
}
