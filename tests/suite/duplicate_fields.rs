//! A field that is there twice: an input, a record or a profile with one is refused.

use serde_json::json;
use snapbox::str;

use crate::support::mock_server::answer;
use crate::support::scripted::{UPDATE, against, fails_with, ok, profile};
use crate::support::test_env::TestEnv;

#[test]
fn an_input_with_a_duplicate_field_is_refused_before_anything_is_sent() {
    let env = TestEnv::new();
    let two_lists = r#"{"customer": {"addresses": [{"id": 1, "city": "Lyon"}], "addresses": [{"id": 2, "city": "Nice"}]}}"#;
    let escaped = r#"{"addresses": [{"id": 1, "city": "Lyon", "c\u0069ty": "Nice"}]}"#;
    for (line, input, stderr) in [
        (
            "customer update -i in.json",
            two_lists,
            str![[r#"
error: in.json: duplicate field `customer.addresses`
  No changes were made.
  hint: remove one of them
"#]],
        ),
        (
            "customer update -i in.json",
            escaped,
            str![[r#"
error: in.json: duplicate field `addresses[0].city`
  No changes were made.
  hint: remove one of them
"#]],
        ),
        (
            "customer update --email a@example.com --base in.json",
            r#"{"addresses": [], "addresses": []}"#,
            str![[r#"
error: in.json: duplicate field `addresses`
  No changes were made.
  hint: remove one of them
"#]],
        ),
        (
            "quote add-item -i in.json",
            r#"{"sku": "a", "qty": 1, "qty": 2}"#,
            str![[r#"
error: in.json: duplicate field `qty`
  No changes were made.
  hint: remove one of them
"#]],
        ),
        (
            "quote ship --payment @in.json",
            r#"{"method": "a", "method": "b"}"#,
            str![[r#"
error: in.json: duplicate field `method`
  No changes were made.
  hint: remove one of them
"#]],
        ),
    ] {
        env.file("in.json", input);
        env.run(line).assert_failure(2, stderr);
    }
    assert_eq!(env.requests(), [""; 0]);
}

#[test]
fn a_record_with_a_duplicate_field_is_refused_before_anything_is_sent() {
    let env = TestEnv::new();
    let records = r#"{"sku": "mug-blue", "qty": 1, "quote_id": "1"}
        {"sku": "mug-blue", "qty": 1, "quote_id": "1", "qty": 2}"#;
    env.file("in.ndjson", records);
    env.run("quote add-item -i in.ndjson").assert_failure(
        2,
        str![[r#"
error: in.ndjson: line 2: duplicate field `qty`
  No changes were made.
  hint: fix the record and try again; --skip-invalid sends the others
"#]],
    );
    assert_eq!(env.requests(), [""; 0]);
}

#[test]
fn a_profile_with_a_duplicate_field_is_not_replaced() {
    for (reply, expected) in [
        (
            r#"{"id": 1, "addresses": [{"id": 1}, {"id": 2}], "addresses": [{"id": 1}]}"#,
            str![[r#"
cannot read the stored addresses from the response: duplicate field `addresses`
  hint: run it again with -vv to see the response, then set `read.path`, `read.customer` and `read.addresses` of the profile
"#]],
        ),
        (
            r#"{"customer": {"id": 1, "addresses": [{"id": 1, "city": "Paris", "city": null}]}}"#,
            str![[r#"
cannot read the stored addresses from the response: duplicate field `customer.addresses[0].city`
  hint: run it again with -vv to see the response, then set `read.path`, `read.customer` and `read.addresses` of the profile
"#]],
        ),
    ] {
        let (outcome, methods) = against(vec![answer("200 OK", "", reply)], UPDATE);
        fails_with(&outcome, 3, expected);
        assert_eq!(methods, ["GET"]);
    }
}

#[test]
fn a_reply_with_two_address_lists_is_refused() {
    let reply = json!({"customer": profile(json!({})), "addresses": []});
    let (outcome, methods) = against(vec![ok(&reply)], UPDATE);
    fails_with(
        &outcome,
        3,
        str![[r#"
cannot read the stored addresses from the response: ambiguous: two address lists
  hint: run it again with -vv to see the response, then set `read.path`, `read.customer` and `read.addresses` of the profile
"#]],
    );
    assert_eq!(methods, ["GET"]);
}
