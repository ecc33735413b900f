//! Carts, shipping and payment of a Magento shop, and the outcome of two calls.

use serde_json::{Value, json};
use snapbox::str;

use crate::support::magento::{done, fails, program, run};
use crate::support::raw_http::{ADMIN, CUSTOMER};
use crate::support::test_env::TestEnv;

const SIXTH: &str = "sandbox-customer-6";

const SHIP: &str = "quote ship --ship-firstname Ann --ship-lastname Ray --ship-street 'Main St 1' --ship-city Austin \
     --ship-postcode 73301 --ship-country US --ship-region-id 57 --ship-telephone 5125550100 --carrier flatrate --method flatrate";

/// Quantity of all items in the cart with this number in the sandbox's data.
fn qty(env: &TestEnv, cart: usize) -> Value {
    let items = env.sandbox.show()["quotes"][cart]["items"].clone();
    items.as_array().unwrap().iter().map(|item| item["qty"].as_i64().unwrap()).sum::<i64>().into()
}

#[test]
fn an_item_goes_into_the_own_cart_once() {
    let env = TestEnv::new();
    let result = done(&env, "quote add-item --sku mug-blue --qty 2 --verify");
    assert_eq!((&result["applied"], &result["verified"]), (&json!("yes"), &json!(true)));
    assert_eq!(result["response"]["quote_id"], "1");
    let requests = env.requests();
    let writes: Vec<&String> = requests.iter().filter(|request| request.starts_with("POST")).collect();
    assert_eq!(writes, ["POST 200"], "{requests:?}");
    assert_eq!(qty(&env, 0), 2);
    let text = program(&env, "quote add-item --sku mug-blue --qty 1 -q").run();
    assert_eq!(text.stdout, "Added 1 × mug-blue to quote 1 (item 1, now 3 in the cart)\n", "{text:?}");
}

/// Items before any cart: 404. A cart is created first.
#[test]
fn a_cart_is_created_where_there_is_none() {
    let env = TestEnv::new();
    let line = "quote add-item --sku mug-blue --qty 1 -q -o json";
    let dry = program(&env, &format!("{line} -n")).env("STOREFRONT_TOKEN", SIXTH).run();
    assert!(dry.stdout.contains("/V1/carts/mine\"") && dry.code == 0, "{dry:?}");
    assert_eq!(env.requests(), ["GET 404"]);
    let result = program(&env, line).env("STOREFRONT_TOKEN", SIXTH).run().done();
    assert_eq!(result["response"]["quote_id"], "6");
}

/// The service would silently use the own cart.
#[test]
fn a_quote_that_is_not_the_own_cart_is_refused() {
    let env = TestEnv::new();
    program(&env, "quote add-item --sku mug-blue --qty 1 --quote-id 2").run().assert_failure(
        2,
        str![[r#"
error: quote `2` is not the customer's active cart, which is `1`
  hint: leave out the quote id, or give the id of an active cart
"#]],
    );
    assert_eq!(env.requests(), ["GET 200"]);
    done(&env, "quote add-item --sku mug-blue --qty 1 --quote-id 1");
    assert_eq!(qty(&env, 0), 1);
}

/// Quantities of 0 and -1 add one.
#[test]
fn a_quantity_must_be_above_zero() {
    let env = TestEnv::new();
    for qty in ["0", "-1"] {
        fails(&env, 2, &format!("quote add-item --sku mug-blue --qty {qty}"));
    }
    fails(&env, 2, "quote add-item --sku mug-blue");
    assert_eq!(env.requests(), [""; 0]);
}

#[test]
fn a_lost_cart_is_asked_for_again_and_leaves_the_item_unsent() {
    let env = TestEnv::with_faults(&["POST:reset-after-commitx1"]);
    done(&env, "quote add-item --sku mug-blue --qty 2");
    assert_eq!(qty(&env, 0), 2);
    let env = TestEnv::with_faults(&["POST:reset-after-commit"]);
    let error = fails(&env, 5, "quote add-item --sku mug-blue --qty 2 --retry 0");
    assert_eq!(error["applied"], "no", "{error}");
    assert_eq!(qty(&env, 0), 0);
}

#[test]
fn a_lost_answer_stays_unknown_and_is_not_repeated() {
    for verify in ["", " --verify"] {
        let env = TestEnv::with_faults(&["POST:reset-after-commitx1"]);
        let line = format!("quote add-item --sku mug-blue --qty 2 --quote-id 1{verify}");
        let error = fails(&env, 8, &line);
        assert_eq!(error["applied"], "unknown");
        assert!(error["message"].as_str().unwrap().ends_with("the cart had 0 × mug-blue, now 2"), "{error}");
        assert_eq!(qty(&env, 0), 2);
    }
}

#[test]
fn an_administrator_adds_to_the_cart_of_a_customer() {
    let env = TestEnv::new();
    let result = done(&env, "quote add-item --customer 2 --sku mug-blue --qty 3 --verify");
    assert_eq!((&result["verified"], &result["response"]["quote_id"]), (&json!(true), &json!("2")));
    assert_eq!(qty(&env, 1), 3);
    let result = done(&env, "quote add-item --customer 6 --sku mug-blue --qty 1");
    assert_eq!(result["response"]["quote_id"], "6", "made where there is none");
    let unknown = fails(&env, 2, "quote add-item --customer 99 --sku mug-blue --qty 1");
    assert_eq!(unknown["message"], "no customer has the ID 99");
    let shown = done(&env, "quote show --customer 2");
    assert_eq!((&shown["cart"]["id"], &shown["items"][0]["qty"]), (&json!(2), &json!(3)));
    env.run("quote show --customer 2").assert_failure(2, str![[r#"
error: the marketplace interface has no call that reads or writes a named customer: the token decides whose profile it is
  hint: use the token of that customer, or --api magento if the service is a Magento shop
"#]]);
}

/// An administrator's token has no customer, which the message of the service does not say.
#[test]
fn an_administrators_token_requires_a_customer() {
    let env = TestEnv::new();
    let add = program(&env, "quote add-item --sku mug-blue --qty 1").env("STOREFRONT_TOKEN", ADMIN);
    add.run().assert_failure(4, str![[r#"
quote add-item: host 127.0.0.1:[PORT]
error: the cart could not be created: the service answered 400 Bad Request: "customerId" is required. Enter and try again; an empty cart may have been made
  hint: the token is an administrator's, which has no customer of its own: name one with --customer ID|EMAIL
"#]]);
    let show = program(&env, "quote show --customer 2").env("STOREFRONT_ADMIN_TOKEN", CUSTOMER);
    show.run().assert_failure(6, str![[r#"
error: the service answered 401 Unauthorized: The consumer isn't authorized to access Magento_Cart::manage
  hint: the token has expired or lacks the permission `Magento_Cart::manage`: renew the token where it comes from, or grant the permission; an integration's token must be allowed as a standalone Bearer token (the token is from the environment variable STOREFRONT_ADMIN_TOKEN)
"#]]);
}

/// Shipping information has no payment; a region is a text there.
#[test]
fn shipping_and_payment_are_two_calls() {
    let env = TestEnv::new();
    done(&env, "quote add-item --sku mug-blue --qty 1");
    env.requests();
    let result = done(&env, &format!("{SHIP} --payment-method checkmo"));
    let calls: Vec<[&Value; 3]> = result["calls"]
        .as_array()
        .unwrap()
        .iter()
        .map(|call| [&call["call"], &call["applied"], &call["status"]])
        .collect();
    let expected = [["shipping-information", "yes"], ["selected-payment-method", "yes"]];
    for (call, expected) in calls.iter().zip(expected) {
        assert_eq!([call[0], call[1], call[2]], [&json!(expected[0]), &json!(expected[1]), &json!(200)]);
    }
    assert_eq!((calls.len(), &result["applied"]), (2, &json!("yes")));
    // The cart, the methods to the address, both calls, and the cart again.
    assert_eq!(env.requests(), ["GET 200", "POST 200", "POST 200", "PUT 200", "GET 200"]);
    let selected = env.sandbox.get(CUSTOMER, "/rest/V1/carts/mine/selected-payment-method").json();
    assert_eq!(selected["method"], "checkmo");
    env.requests();
    let result = done(&env, &format!("{SHIP} --no-payment"));
    assert_eq!(result["calls"].as_array().unwrap().len(), 1);
    assert_eq!(env.requests(), ["GET 200", "POST 200", "POST 200", "GET 200"]);
    let dry = done(&env, &format!("{SHIP} --payment-method checkmo -n"));
    assert_eq!(dry["calls"][1]["request"]["body"], json!({"method": {"method": "checkmo"}}));
    assert_eq!(env.requests(), ["GET 200", "POST 200"]);
}

#[test]
fn the_stored_address_ships_with_its_region_as_a_text() {
    let env = TestEnv::new();
    done(&env, "quote add-item --sku mug-blue --qty 1");
    let line = "quote ship --ship-to-address 2 --bill-same-as-ship --carrier flatrate --method flatrate --no-payment";
    let result = done(&env, line);
    assert_eq!(result["applied"], "yes");
    let cart = done(&env, "quote show");
    let address = &cart["cart"]["extension_attributes"]["shipping_assignments"][0]["shipping"]["address"];
    assert_eq!((&address["region"], &address["region_id"]), (&json!("New York"), &json!(43)), "{address}");
}

#[test]
fn the_outcome_of_each_call_is_reported() {
    let env = TestEnv::new();
    let empty = fails(&env, 4, &format!("{SHIP} --payment-method checkmo"));
    assert_eq!(
        (&empty["applied"], &empty["calls"][1]["applied"]),
        (&json!("no"), &json!("no")),
        "an empty cart"
    );
    done(&env, "quote add-item --sku mug-blue --qty 1");
    let partial = fails(&env, 7, &format!("{SHIP} --payment-method nosuch"));
    assert_eq!(
        [
            &partial["kind"],
            &partial["applied"],
            &partial["calls"][0]["applied"],
            &partial["calls"][1]["applied"]
        ],
        ["partial", "partial", "yes", "no"]
    );
    let env = TestEnv::with_faults(&["PUT:reset-after-commit"]);
    done(&env, "quote add-item --sku mug-blue --qty 1");
    let shown = run(&env, &format!("{SHIP} --payment-method checkmo --retry 0"));
    assert_eq!(shown.code, 0, "{shown:?}");
    let shown: Value = serde_json::from_str(&shown.stdout).unwrap();
    assert_eq!(
        [&shown["applied"], &shown["calls"][0]["applied"], &shown["calls"][1]["applied"]],
        ["yes"; 3],
        "the cart shows the payment"
    );
    let env = TestEnv::with_faults(&["PUT:reset-after-commitx1"]);
    done(&env, "quote add-item --sku mug-blue --qty 1");
    done(&env, &format!("{SHIP} --payment-method checkmo"));
}

#[test]
fn a_batch_resumes_with_both_calls() {
    let env = TestEnv::with_faults(&["PUT:429=0x1"]);
    done(&env, "quote add-item --sku mug-blue --qty 1");
    let address = json!({"firstname": "Ann", "lastname": "Ray", "street": ["Main St 1"], "city": "Austin", "postcode": "73301",
        "country_id": "US", "region_id": 57, "telephone": "5125550100"});
    let record = json!({"addressInformation": {"shipping_address": address, "shipping_carrier_code": "flatrate",
        "shipping_method_code": "flatrate"}, "paymentMethod": {"method": "checkmo"}});
    env.file("ship.ndjson", format!("{record}\n"));
    env.requests();
    let first = run(&env, "quote ship -i ship.ndjson -y --retry 0");
    assert_eq!(first.code, 5, "{first:?}");
    assert!(first.stdout.contains(r#""applied":"partial""#), "{first:?}");
    assert_eq!(env.requests(), ["GET 200", "POST 200", "POST 200", "PUT 429", "GET 200"]);
    let second = run(&env, "quote ship -i ship.ndjson -y --resume");
    assert_eq!(second.code, 0, "{second:?}");
    assert_eq!(env.requests(), ["GET 200", "POST 200", "POST 200", "PUT 200", "GET 200"]);
}

#[test]
fn a_quote_and_its_methods_are_shown() {
    let env = TestEnv::new();
    done(&env, "quote add-item --sku mug-blue --qty 2");
    let shown = done(&env, "quote show");
    assert_eq!((&shown["cart"]["id"], &shown["items"][0]["sku"]), (&json!(1), &json!("mug-blue")));
    assert!(shown["totals"]["grand_total"].is_number(), "{shown}");
    program(&env, "quote show").run().assert_success(str![[r#"
Cart 1

ITEM  SKU       NAME      QTY  PRICE
1     mug-blue  Blue Mug  2    12.50

subtotal             25
shipping amount      0
tax amount           0
grand total          25
quote currency code  USD
"#]]);
    done(&env, "api DELETE /V1/carts/mine/items/1 --yes");
    program(&env, "quote show").run().assert_success(str![[r#"
Cart 1

No items

subtotal             0
shipping amount      0
tax amount           0
grand total          0
quote currency code  USD
"#]]);
    done(&env, "quote add-item --sku mug-blue --qty 2");
    done(&env, &format!("{SHIP} --bill-same-as-ship --payment-method checkmo"));
    let methods = done(&env, "quote methods");
    assert_eq!(
        [&methods["shipping"][0]["carrier_code"], &methods["payment"][0]["code"]],
        ["flatrate", "checkmo"]
    );
    let none = program(&env, "quote show -o json -q").env("STOREFRONT_TOKEN", SIXTH).run();
    assert_eq!(none.code, 4, "{none:?}");
}

/// A cart shows the sku of the chosen simple product, and its options only in the list of items.
#[test]
fn a_configurable_product_is_verified_by_its_options() {
    for way in ["", " --customer 1"] {
        let env = TestEnv::new();
        let line =
            format!("quote add-item{way} --sku shirt --qty 1 --option 93=49 --option 144=167 --verify");
        for _ in 0..2 {
            let result = done(&env, &line);
            assert_eq!((&result["applied"], &result["verified"]), (&json!("yes"), &json!(true)), "{result}");
        }
        let shown = done(&env, &format!("quote show{way}"));
        assert_eq!(shown["items"][0]["sku"], "shirt-49-167");
        assert_eq!(shown["cart"]["items"][0].get("product_option"), None);
        assert_eq!(shown["items"][0]["qty"], 2);
    }
}

/// A cart has no shipping address before shipping information is saved, and Magento then lists no methods to it.
#[test]
fn the_shipping_methods_of_a_new_cart_are_those_to_an_address_of_the_customer() {
    for way in ["", " --customer 1"] {
        let env = TestEnv::new();
        done(&env, &format!("quote add-item{way} --sku mug-blue --qty 2"));
        let outcome = run(&env, &format!("quote methods{way}"));
        assert_eq!(outcome.code, 0, "{outcome:?}");
        assert!(outcome.stdout.contains("flatrate") && outcome.stdout.contains("checkmo"), "{outcome:?}");
        let warning = "the cart has no shipping address yet: the shipping methods are those to address 2 of the customer";
        assert!(outcome.stderr.contains(warning), "{outcome:?}");
        assert_eq!(
            done(&env, &format!("quote show{way}"))["totals"]["shipping_amount"],
            0,
            "nothing is saved"
        );
        let ship = "--ship-to-address 2 --bill-same-as-ship --carrier flatrate --method flatrate --payment-method checkmo";
        done(&env, &format!("quote ship{way} {ship}"));
        let saved = run(&env, &format!("quote methods{way}"));
        assert!(saved.stdout.contains("flatrate") && !saved.stderr.contains("address 2"), "{saved:?}");
    }
    let env = TestEnv::new();
    env.sandbox.call(ADMIN, "PUT", "/rest/V1/customers/1", r#"{"customer": {"addresses": []}}"#);
    done(&env, "quote add-item --sku mug-blue --qty 2");
    let outcome = run(&env, "quote methods");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.stdout.contains("checkmo") && !outcome.stdout.contains("flatrate"), "{outcome:?}");
    assert!(outcome.stderr.contains("neither the cart nor the customer has an address"), "{outcome:?}");
}

/// The methods to an address are asked for by a POST, which saves nothing.
#[test]
fn a_question_that_gets_no_answer_is_a_read_that_failed() {
    for fault in ["POST:reset-after-commit", "POST:502", "POST:html"] {
        let env = TestEnv::with_faults(&[fault]);
        env.sandbox.sql(
            "INSERT INTO quote_items (id, quote_id, sku, options, qty) VALUES (1, 1, 'mug-blue', '[]', '2')",
        );
        let outcome = run(&env, "quote methods --retry 0");
        assert_eq!(outcome.code, 5, "{fault}: {outcome:?}");
        assert!(!outcome.stderr.contains("took effect"), "{fault}: {outcome:?}");
    }
}

#[test]
fn the_marketplace_shows_a_quote_where_a_setting_names_its_path() {
    let env = TestEnv::new();
    for (line, stderr) in [
        (
            "quote show",
            str![[r#"
error: the interface `marketplace` does not support reading quotes
  hint: set `read.quote-path` in the profile to the path that shows it
"#]],
        ),
        (
            "quote add-item --sku mug-blue --qty 1 --quote-id 1 --verify",
            str![[r#"
error: the interface `marketplace` does not support reading quotes
  hint: set `read.quote-path` in the profile to the path that shows it
"#]],
        ),
        (
            "quote methods",
            str![[r#"
error: the interface `marketplace` has no calls that read a cart
  hint: use --api magento where the service is a Magento shop
"#]],
        ),
    ] {
        env.run(line).assert_failure(2, stderr);
    }
    let profile = format!(
        "[profiles.shop]\nbase-url = \"{}\"\n[profiles.shop.read]\nquote-path = \"/rest/V1/carts/mine\"\n",
        env.url()
    );
    env.home.write("config.toml", profile, 0o600);
    let result = env.done("quote add-item --sku mug-blue --qty 2 --quote-id 1 --verify -p shop");
    assert_eq!((&result["applied"], &result["verified"]), (&json!("yes"), &json!(true)));
    assert_eq!(env.done("quote show -p shop")["items"][0]["qty"], 2);
}

#[test]
fn a_field_that_no_call_has_a_place_for_is_refused_and_not_dropped() {
    let env = TestEnv::new();
    let address = json!({"firstname": "Ann", "lastname": "Ray", "street": ["Main St 1"], "city": "Austin",
        "postcode": "73301", "country_id": "US", "region_id": 57, "telephone": "5125550100"});
    let information = json!({"shipping_address": address, "shipping_carrier_code": "flatrate",
        "shipping_method_code": "flatrate"});
    let method = json!({"method": "checkmo"});
    for (name, input) in [
        (
            "gift_message",
            json!({"addressInformation": information, "paymentMethod": method, "gift_message": {"message": "Hi"}}),
        ),
        ("comment", json!({"addressInformation": information, "paymentMethod": method, "comment": null})),
        ("email", json!({"paymentMethod": method, "email": "ann@example.com"})),
        ("billingAddress", json!({"billingAddress": address, "paymentMethod": method})),
    ] {
        env.file("ship.json", input.to_string());
        env.file("ship.ndjson", format!("{input}\n"));
        for line in ["-i ship.json", "-i ship.json -n", "-i ship.ndjson --yes", "-i ship.json --no-payment"] {
            let error = fails(&env, 2, &format!("quote ship --allow-unknown {line}"));
            let said = error["message"].as_str().unwrap();
            assert!(said.contains(&format!("`{name}`")) && error["hint"].is_string(), "{error}");
            assert_eq!(env.requests(), Vec::<String>::new(), "{line}");
        }
    }
    // Inside, unknown fields are sent.
    let inside = json!({"addressInformation": {"shipping_address": address, "shipping_carrier_code": "flatrate",
        "shipping_method_code": "flatrate", "extension_attributes": {"x": 1}}});
    env.file("inside.json", inside.to_string());
    let shown = run(&env, "quote ship --allow-unknown -i inside.json --no-payment -n");
    assert!(shown.stdout.contains("extension_attributes"), "{shown:?}");
}
