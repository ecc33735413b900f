//! `quote ship` and `quote add-item`: what is sent, to the letter.

use serde_json::{Value, json};

use crate::support::test_env::TestEnv;

/// The body a command line would send, and proof that a dry run sends nothing.
#[track_caller]
fn body(env: &TestEnv, line: &str) -> Value {
    let result = env.done(&format!("{line} --dry-run"));
    assert_eq!(
        (&result["applied"], &result["response"], &result["status"]),
        (&json!("no"), &Value::Null, &Value::Null)
    );
    assert!(env.requests().iter().all(|heard| heard.starts_with("GET")), "{line}");
    result["request"]["body"].clone()
}

#[track_caller]
fn refused(env: &TestEnv, line: &str, says: &str) {
    let error = env.fails(2, line);
    assert!(error["message"].as_str().unwrap().contains(says), "{line}: {error}");
    assert!(env.requests().iter().all(|heard| heard == "GET 200"), "{line}");
}

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
    assert_eq!(env.fails(3, &format!("quote ship --ship-to-address 9 {WAY}"))["kind"], "guard");
    assert_eq!(env.requests(), ["GET 200"]);
}

#[test]
fn ship_wants_a_payment_or_a_word_that_there_is_none() {
    let env = TestEnv::new();
    let line = format!("quote ship {ADDRESS} --carrier flatrate --method flatrate");
    refused(&env, &line, "a payment is required");
    assert_eq!(body(&env, &format!("{line} --no-payment")).get("paymentMethod"), None);
    env.file("pay.json", r#"{"method": "purchaseorder", "po_number": "7", "amount": 1.10}"#);
    let payment = &body(&env, &format!("{line} --payment @pay.json"))["paymentMethod"];
    assert_eq!(payment.to_string(), r#"{"method":"purchaseorder","po_number":"7","amount":1.10}"#);
    let payment = &body(&env, &format!("{line} --payment '{{\"method\": \"checkmo\"}}'"))["paymentMethod"];
    assert_eq!(*payment, json!({"method": "checkmo"}));
    for (given, says) in [
        ("[1]", "must be a JSON object"),
        ("checkmo", "--payment is not valid JSON"),
        ("@nowhere.json", "file `nowhere.json` not found"),
    ] {
        refused(&env, &format!("{line} --payment '{given}'"), says);
    }
    for two in [
        "--payment '{}' --no-payment",
        "--payment-method a --payment '{}'",
        "--payment-method a --no-payment",
    ] {
        assert_eq!(env.run(&format!("{line} {two}")).code, 2, "{two}");
    }
    refused(&env, "quote ship", "nothing to save");
    refused(&env, "quote ship --no-payment", "nothing to save");
    refused(&env, &format!("quote ship --bill-same-as-ship {WAY}"), "requires a shipping address");
}

#[test]
fn ship_input_is_held_to_the_interface() {
    let env = TestEnv::new();
    for (input, says) in [
        (
            r#"{"addressInformation": {"shipping_address": {"region": {"region_id": 1}}}, "paymentMethod": {}}"#,
            "addressInformation.shipping_address.region: unknown field",
        ),
        (r#"{"shipping_addres": {}, "paymentMethod": {}}"#, "shipping_addres: unknown field; did you mean `"),
        (r#"{"billingAddress": {"city": 1}, "paymentMethod": {}}"#, "billingAddress.city: expected a string"),
        (r#"{"paymentMethod": "checkmo"}"#, "paymentMethod: expected an object"),
        (
            r#"{"addressInformation": {"shipping_address": {"postcode": 2138}}, "paymentMethod": {}}"#,
            "postcode: expected a string or null",
        ),
        ("[[]]", ""),
    ] {
        env.file("in.json", input);
        refused(&env, "quote ship -i in.json", says);
    }
}

#[test]
fn the_service_says_no_with_its_own_words() {
    let env = TestEnv::new();
    let error =
        env.fails(4, &format!("quote ship {ADDRESS} --carrier ups --method air --payment-method checkmo"));
    assert_eq!((&error["status"], &error["applied"]), (&json!(404), &json!("no")));
    assert!(
        error["message"].as_str().unwrap().contains("Carrier with such method not found: ups, air"),
        "{error}"
    );
    assert_eq!(error["service"]["parameters"], json!(["ups", "air"]));
    assert_eq!(env.requests(), ["POST 404"]);
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
    let outcome = env.storefront(&["quote", "add-item", "-i", "-", "-q", "-o", "json"]).stdin(sample).run();
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.stderr.lines().all(|line| line.starts_with("warning: cartItem")), "{outcome:?}");
    assert!(
        outcome.stderr.contains("configurable_item_options[0].note: ignored (documentation only)"),
        "{outcome:?}"
    );
    assert_eq!(outcome.stderr.lines().count(), 10, "{outcome:?}");
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
fn add_item_input_is_held_to_the_interface() {
    let env = TestEnv::new();
    for (input, says) in [
        (
            r#"{"cartItem": {"sku": "a", "qty": "2"}}"#,
            "cartItem.qty: expected a number, found the string \"2\"",
        ),
        (r#"{"cartItem": {"quote_id": 1}}"#, "cartItem.quote_id: expected a string, found the number 1"),
        (r#"{"cartItem": {"quoteId": "1"}}"#, "cartItem.quoteId: unknown field; did you mean `quote_id`?"),
        (
            r#"{"product_option": {"extension_attributes": {"configurable_item_options": [{"option_id": 93}]}}}"#,
            "configurable_item_options[0].option_id: expected a string",
        ),
        (r#"{"note": "x"}"#, "cartItem.note: unknown field"),
        (r#"{"sku": "a", "sku ": "b"}"#, "cartItem.sku: duplicate field"),
        ("7", "must be a JSON object"),
    ] {
        env.file("in.json", input);
        refused(&env, "quote add-item -i in.json", says);
    }
    refused(&env, "quote add-item", "no item given");
    for line in ["--qty two", "--option 93", "--option =1", "--option 93=blue"] {
        assert_eq!(env.run(&format!("quote add-item {line}")).code, 2, "{line}");
    }
}
