//! `quote ship`: the exact request, and the input it refuses.

use serde_json::{Value, json};
use snapbox::str;

use crate::quote_add_item::{body, refused};
use crate::support::test_env::TestEnv;

const ADDRESS: &str = "--ship-firstname Ann --ship-lastname Lee --ship-email ann@example.com --ship-street '1 Main St' \
    'Floor 2' --ship-city Boston --ship-postcode 02138 --ship-country US --ship-region-id 32 --ship-telephone '+1 617 495 1000' \
    --ship-customer-id 1";
const WAY: &str = "--carrier flatrate --method flatrate --payment-method checkmo";

fn address() -> Value {
    json!({"firstname": "Ann", "lastname": "Lee", "email": "ann@example.com", "street": ["1 Main St", "Floor 2"],
        "city": "Boston", "postcode": "02138", "country_id": "US", "region_id": 32, "telephone": "+1 617 495 1000", "customer_id": 1})
}

#[test]
fn ship_sends_the_wrapped_layout() {
    let env = TestEnv::new();
    let line = format!("quote ship {ADDRESS} --bill-same-as-ship --bill-city Salem --bill-no-postcode {WAY}");
    let mut billing = address();
    billing["city"] = "Salem".into();
    billing["postcode"] = Value::Null;
    let expected = json!({
        "addressInformation": {"shipping_address": address(), "billing_address": billing,
            "shipping_carrier_code": "flatrate", "shipping_method_code": "flatrate"},
        "paymentMethod": {"method": "checkmo"},
    });
    assert_eq!(body(&env, &line), expected);
    let outcome = env.run(&format!("{line} -o json -q"));
    let result = outcome.done();
    let members: Vec<&String> = result.as_object().unwrap().keys().collect();
    assert_eq!(members, ["operation", "applied", "status", "response"]);
    assert_eq!(
        (&result["operation"], &result["applied"], &result["status"]),
        (&json!("quote ship"), &json!("yes"), &json!(320))
    );
    assert_eq!(env.requests(), ["POST 320"]);
    let saved = &env.sandbox.show()["quotes"][0]["shipping_information"];
    assert_eq!(saved["shipping_address"]["postcode"], "02138");
    assert_eq!(saved["billing_address"]["city"], "Salem");
}

#[test]
fn ship_sends_the_flat_layout_where_the_profile_says_so() {
    let env = TestEnv::new();
    let profile = format!(
        "[profiles.flat]\nbase-url = \"{}\"\nstore-view = \"fr\"\ntoken = \"sandbox-customer-1\"\nship-layout = \"flat\"\n",
        env.url()
    );
    env.home.write("config.toml", profile, 0o600);
    let line = format!("quote ship -p flat {ADDRESS} {WAY}");
    let flat = json!({"shipping_address": address(), "shipping_carrier_code": "flatrate", "shipping_method_code": "flatrate",
        "paymentMethod": {"method": "checkmo"}});
    assert_eq!(body(&env, &line), flat);
    env.done(&line);
    assert_eq!(env.requests(), ["POST 320"]);
    assert_eq!(env.sandbox.show()["quotes"][0]["shipping_information"]["shipping_address"]["city"], "Boston");
    env.file("in.json", flat.to_string());
    let wrapped = body(&env, "quote ship -i in.json");
    assert_eq!(
        wrapped["addressInformation"]["shipping_address"],
        address(),
        "both layouts are taken as input"
    );
    assert_eq!(wrapped["paymentMethod"], json!({"method": "checkmo"}));
    let twice = json!({"addressInformation": {"note": 1, "shipping_address": address()}, "note": 2});
    env.file("twice.json", twice.to_string());
    env.run(&format!("quote ship -p flat -i twice.json --allow-unknown {WAY}")).assert_failure(
        2,
        str![[r#"
error: `note` is in `addressInformation` and at the top of the input, which is one place in the flat layout
  No changes were made.
  hint: leave one of them out
"#]],
    );
}

#[test]
fn ship_takes_stored_addresses_by_the_fields_the_interface_lists() {
    let env = TestEnv::new();
    let line = format!("quote ship --ship-to-address 2 --bill-to-address 1 --bill-city Lyon {WAY}");
    let sent = body(&env, &line);
    assert_eq!(
        sent["addressInformation"]["shipping_address"],
        json!({"customer_id": 1, "region_id": 43, "country_id": "US", "street": ["350 Fifth Avenue"], "telephone": "+1 212 736 3100",
            "postcode": "10118", "city": "New York", "firstname": "Amina", "lastname": "Haddad", "email": "amina.haddad@example.com"})
    );
    assert_eq!(sent["addressInformation"]["billing_address"]["city"], "Lyon");
    env.done(&line);
    assert_eq!(env.requests(), ["GET 200", "POST 320"]);
    let both = body(&env, &format!("quote ship --ship-to-address 3 --bill-same-as-ship {WAY}"));
    assert_eq!(both["addressInformation"]["billing_address"]["postcode"], Value::Null);
    assert_eq!(both["addressInformation"]["billing_address"], both["addressInformation"]["shipping_address"]);
    env.run(&format!("quote ship --ship-to-address 9 {WAY}")).assert_failure(
        3,
        str![[r#"
error: no address 9 (the profile has 1, 2, 3 and 4)
  No changes were made.
  hint: list the addresses with `storefront customer show`
"#]],
    );
    assert_eq!(env.requests(), ["GET 200"]);
}

#[test]
fn ship_requires_a_payment_or_no_payment() {
    let env = TestEnv::new();
    let line = format!("quote ship {ADDRESS} --carrier flatrate --method flatrate");
    refused(
        &env,
        &line,
        str![[r#"
error: a payment is required
  No changes were made.
  hint: use --payment-method CODE, --payment JSON, or --no-payment
"#]],
    );
    assert_eq!(body(&env, &format!("{line} --no-payment")).get("paymentMethod"), None);
    env.file("pay.json", r#"{"method": "purchaseorder", "po_number": "7", "amount": 1.10}"#);
    let payment = &body(&env, &format!("{line} --payment @pay.json"))["paymentMethod"];
    assert_eq!(payment.to_string(), r#"{"method":"purchaseorder","po_number":"7","amount":1.10}"#);
    let payment = &body(&env, &format!("{line} --payment '{{\"method\": \"checkmo\"}}'"))["paymentMethod"];
    assert_eq!(*payment, json!({"method": "checkmo"}));
    for (given, stderr) in [
        (
            "[1]",
            str![[r#"
error: --payment must be a JSON object
  No changes were made.
"#]],
        ),
        (
            "checkmo",
            str![[r#"
error: --payment is not valid JSON: expected value at line 1 column 1
  No changes were made.
"#]],
        ),
        (
            "@nowhere.json",
            str![[r#"
error: file `nowhere.json` not found
  No changes were made.
"#]],
        ),
    ] {
        refused(&env, &format!("{line} --payment '{given}'"), stderr);
    }
    for (two, stderr) in [
        (
            "--payment '{}' --no-payment",
            str![[r#"
error: the argument '--payment <JSON|@FILE>' cannot be used with '--no-payment'

Usage: storefront quote ship --carrier <TEXT> --payment <JSON|@FILE>

For more information, try '--help'.
"#]],
        ),
        (
            "--payment-method a --payment '{}'",
            str![[r#"
error: the argument '--payment-method <CODE>' cannot be used with '--payment <JSON|@FILE>'

Usage: storefront quote ship --carrier <TEXT> --payment-method <CODE>

For more information, try '--help'.
"#]],
        ),
        (
            "--payment-method a --no-payment",
            str![[r#"
error: the argument '--payment-method <CODE>' cannot be used with '--no-payment'

Usage: storefront quote ship --carrier <TEXT> --payment-method <CODE>

For more information, try '--help'.
"#]],
        ),
    ] {
        refused(&env, &format!("quote ship --carrier flatrate {two}"), stderr);
    }
    refused(
        &env,
        "quote ship",
        str![[r#"
error: nothing to save
  No changes were made.
  hint: use --ship-… and --bill-… with --carrier and --method, or --input FILE
"#]],
    );
    refused(
        &env,
        "quote ship --no-payment",
        str![[r#"
error: nothing to save
  No changes were made.
  hint: use --ship-… and --bill-… with --carrier and --method, or --input FILE
"#]],
    );
    refused(
        &env,
        &format!("quote ship --bill-same-as-ship {WAY}"),
        str![[r#"
error: --bill-same-as-ship requires a shipping address
  No changes were made.
  hint: use --ship-…, --ship-to-address ID or an input with one
"#]],
    );
}

#[test]
fn ship_input_is_validated() {
    let env = TestEnv::new();
    for (input, stderr) in [
        (
            r#"{"addressInformation": {"shipping_address": {"region": {"region_id": 1}}}, "paymentMethod": {}}"#,
            str![[r#"
error: addressInformation.shipping_address.region: unknown field; did you mean `region_id`?
  No changes were made.
  hint: fix the input, or send unknown fields unchanged with --allow-unknown
"#]],
        ),
        (
            r#"{"shipping_addres": {}, "paymentMethod": {}}"#,
            str![[r#"
error: shipping_addres: unknown field; did you mean `shipping_address`?
  No changes were made.
  hint: fix the input, or send unknown fields unchanged with --allow-unknown
"#]],
        ),
        (
            r#"{"billingAddress": {"city": 1}, "paymentMethod": {}}"#,
            str![[r#"
error: billingAddress.city: expected a string, found the number 1
  No changes were made.
  hint: fix the input and run it again
"#]],
        ),
        (
            r#"{"paymentMethod": "checkmo"}"#,
            str![[r#"
error: paymentMethod: expected an object, found the string "checkmo"
  No changes were made.
  hint: fix the input and run it again
"#]],
        ),
        (
            r#"{"addressInformation": {"shipping_address": {"postcode": 2138}}, "paymentMethod": {}}"#,
            str![[r#"
error: addressInformation.shipping_address.postcode: expected a string or null, found the number 2138
  No changes were made.
  hint: fix the input and run it again
"#]],
        ),
        (
            "[[]]",
            str![[r#"
error: in.json: line 1: a record must be a JSON object
  No changes were made.
  hint: fix the record and try again; --skip-invalid sends the others
"#]],
        ),
    ] {
        env.file("in.json", input);
        refused(&env, "quote ship -i in.json", stderr);
    }
}

#[test]
fn a_refusal_shows_the_message_of_the_service() {
    let env = TestEnv::new();
    let line = format!("quote ship {ADDRESS} --carrier ups --method air --payment-method checkmo");
    env.run(&line).assert_failure(
        4,
        str![[r#"
quote ship: host 127.0.0.1:[PORT], store view default
error: the service answered 404 Not Found: Carrier with such method not found: ups, air
  No changes were made.
"#]],
    );
    assert_eq!(env.requests(), ["POST 404"]);
    env.run(&format!("{line} -q -o json")).assert_failure(4, str![[r#"{"error":{"kind":"refused","message":"the service answered 404 Not Found: Carrier with such method not found: ups, air","hint":null,"status":404,"applied":"no","service":{"message":"Carrier with such method not found: %1, %2","parameters":["ups","air"]}}}"#]]);
}
