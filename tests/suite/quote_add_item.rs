//! `quote add-item`: the exact request, and the input it refuses.

use serde_json::{Value, json};
use snapbox::{IntoData, str};

use crate::support::test_env::TestEnv;

/// The body a command line would send, and proof that a dry run sends nothing.
#[track_caller]
pub fn body(env: &TestEnv, line: &str) -> Value {
    let result = env.done(&format!("{line} --dry-run"));
    assert_eq!(
        (&result["applied"], &result["response"], &result["status"]),
        (&json!("no"), &Value::Null, &Value::Null)
    );
    assert!(env.requests().iter().all(|heard| heard.starts_with("GET")), "{line}");
    result["request"]["body"].clone()
}

#[track_caller]
pub fn refused(env: &TestEnv, line: &str, stderr: impl IntoData) {
    env.run(line).assert_failure(2, stderr);
    assert!(env.requests().iter().all(|heard| heard == "GET 200"), "{line}");
}

#[test]
fn add_item_sends_its_flags_and_exact_numbers() {
    let env = TestEnv::new();
    assert_eq!(
        body(&env, "quote add-item --sku shirt --qty 1.50 --quote-id 1 --option 93=50 144=168").to_string(),
        json!({"cartItem": {"sku": "shirt", "qty": serde_json::from_str::<Value>("1.50").unwrap(), "quote_id": "1",
            "product_option": {"extension_attributes": {"configurable_item_options": [
                {"option_id": "93", "option_value": 50}, {"option_id": "144", "option_value": 168}]}}}})
        .to_string()
    );
    let result = env.done("quote add-item --sku mug-blue --qty 2 --quote-id 1");
    assert_eq!(
        (&result["operation"], &result["applied"], &result["status"]),
        (&json!("quote add-item"), &json!("yes"), &json!(200))
    );
    assert_eq!(result["response"]["qty"], 2);
    env.done("quote add-item --sku mug-blue --qty 0.5 --quote-id 1");
    assert_eq!(env.requests(), ["POST 200", "POST 200"]);
    assert_eq!(env.sandbox.show()["quotes"][0]["items"][0]["qty"].to_string(), "2.5");
}

#[test]
fn add_item_takes_the_samples_of_the_interface() {
    let env = TestEnv::new();
    let sample = r#"{"cartItem ": {"sku ": "cap", "qty ": 1, "quote_id ": "1", "product_option ": {"extension_attributes ":
        {"configurable_item_options ": [{"option_id ": "93", "option_value ": 52, "note": "option_id is the attribute_id"}]}}}}"#;
    env.storefront("quote add-item -i - -q").stdin(sample).run().assert(0, str!["Added 1 × cap to quote 1 (item 1, now 1 in the cart)"], str![[r#"
warning: cartItem: trimmed spaces around the field name
warning: cartItem.sku: trimmed spaces around the field name
warning: cartItem.qty: trimmed spaces around the field name
warning: cartItem.quote_id: trimmed spaces around the field name
warning: cartItem.product_option: trimmed spaces around the field name
warning: cartItem.product_option.extension_attributes: trimmed spaces around the field name
warning: cartItem.product_option.extension_attributes.configurable_item_options: trimmed spaces around the field name
warning: cartItem.product_option.extension_attributes.configurable_item_options[0].option_id: trimmed spaces around the field name
warning: cartItem.product_option.extension_attributes.configurable_item_options[0].option_value: trimmed spaces around the field name
warning: cartItem.product_option.extension_attributes.configurable_item_options[0].note: ignored (documentation only)
"#]]);
    assert_eq!(
        env.sandbox.show()["quotes"][0]["items"][0]["options"],
        json!([{"option_id": "93", "option_value": 52}])
    );
    assert_eq!(env.requests(), ["POST 200"]);
    env.file("bare.json", r#"{"sku": "mug-blue", "qty": 1, "quote_id": "1"}"#);
    assert_eq!(
        body(&env, "quote add-item -i bare.json --qty 3"),
        json!({"cartItem": {"sku": "mug-blue", "qty": 3, "quote_id": "1"}})
    );
}

#[test]
fn add_item_input_is_validated() {
    let env = TestEnv::new();
    for (input, stderr) in [
        (
            r#"{"cartItem": {"sku": "a", "qty": "2"}}"#,
            str![[r#"
error: cartItem.qty: expected a number, found the string "2"
  No changes were made.
  hint: fix the input and run it again
"#]],
        ),
        (
            r#"{"cartItem": {"quote_id": 1}}"#,
            str![[r#"
error: cartItem.quote_id: expected a string, found the number 1
  No changes were made.
  hint: fix the input and run it again
"#]],
        ),
        (
            r#"{"cartItem": {"quoteId": "1"}}"#,
            str![[r#"
error: cartItem.quoteId: unknown field; did you mean `quote_id`?
  No changes were made.
  hint: fix the input, or send unknown fields unchanged with --allow-unknown
"#]],
        ),
        (
            r#"{"product_option": {"extension_attributes": {"configurable_item_options": [{"option_id": 93}]}}}"#,
            str![[r#"
error: cartItem.product_option.extension_attributes.configurable_item_options[0].option_id: expected a string, found the number 93
  No changes were made.
  hint: fix the input and run it again
"#]],
        ),
        (
            r#"{"note": "x"}"#,
            str![[r#"
error: cartItem.note: unknown field
  No changes were made.
  hint: fix the input, or send unknown fields unchanged with --allow-unknown
"#]],
        ),
        (
            r#"{"sku": "a", "sku ": "b"}"#,
            str![[r#"
error: cartItem.sku: duplicate field
  No changes were made.
  hint: fix the input and run it again
"#]],
        ),
        (
            "7",
            str![[r#"
error: the input must be a JSON object
  No changes were made.
"#]],
        ),
    ] {
        env.file("in.json", input);
        refused(&env, "quote add-item -i in.json", stderr);
    }
    refused(
        &env,
        "quote add-item",
        str![[r#"
error: no item given
  No changes were made.
  hint: use --sku, --qty and --quote-id, or --input FILE
"#]],
    );
    for (line, stderr) in [
        (
            "--qty two",
            str![[r#"
error: invalid value 'two' for '--qty <N>': expected a number

For more information, try '--help'.
"#]],
        ),
        (
            "--option 93",
            str![[r#"
error: invalid value '93' for '--option <OPTION_ID=OPTION_VALUE>...': expected OPTION_ID=OPTION_VALUE

For more information, try '--help'.
"#]],
        ),
        (
            "--option =1",
            str![[r#"
error: invalid value '=1' for '--option <OPTION_ID=OPTION_VALUE>...': expected OPTION_ID=OPTION_VALUE

For more information, try '--help'.
"#]],
        ),
        (
            "--option 93=blue",
            str![[r#"
error: invalid value '93=blue' for '--option <OPTION_ID=OPTION_VALUE>...': `blue` is not an integer

For more information, try '--help'.
"#]],
        ),
    ] {
        refused(&env, &format!("quote add-item {line}"), stderr);
    }
}
