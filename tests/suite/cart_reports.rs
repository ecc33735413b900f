//! Reports about carts: what is said of a cart is about the customer's own, and an addition counts as seen only where nothing
//! else can explain what the cart shows.

use serde_json::{Value, json};

use crate::support::magento::{done, fails, program};
use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::storefront::{Home, Outcome};
use crate::support::test_env::{TestEnv, serve, words};

pub const JSON: &str = "Content-Type: application/json\r\n";

pub fn json(body: &Value) -> Step {
    answer("200 OK", JSON, &body.to_string())
}

fn mug(qty: u32) -> Value {
    json!({"item_id": 1, "sku": "mug", "qty": qty, "quote_id": "7"})
}

pub fn found() -> Step {
    found_with(&[])
}

/// The search for the cart of customer 1, who has these items in it.
fn found_with(items: &[Value]) -> Step {
    let cart = json!({"id": 7, "is_active": true, "customer": {"id": 1}, "items": items});
    json(&json!({"items": [cart], "total_count": 1}))
}

/// A home whose profile waits no time for a write to become visible.
pub fn impatient(server: &MockServer) -> Home {
    let url = server.url("");
    Home::with_config(&format!("[profiles.shop]\nbase-url = \"{url}\"\napi = \"magento\"\nsettle = 0\n"))
}

pub fn on(home: &Home, server: &MockServer, line: &str) -> Outcome {
    let program = home.storefront(&words(&format!("-p shop {line} -q -o json --retry 0")));
    serve(program, &server.url("")).without("STOREFRONT_STORE_VIEW").run()
}

#[test]
fn an_addition_without_an_answer_is_unknown_and_says_what_the_cart_had_and_has() {
    let lines = |qty: u32| [mug(qty), json!({"item_id": 2, "sku": "hat", "qty": 5})];
    for (after, says) in [
        (json(&json!(lines(4))), "; the cart had 2 × mug, now 4"),
        (json(&json!(lines(2))), "; the cart had 2 × mug, and still has 2"),
        (Step::Close, "; the cart had 2 × mug, and now it cannot be read"),
    ] {
        for verify in ["", " --verify"] {
            let server =
                MockServer::start(vec![found_with(&lines(2)), Step::Close, after.clone(), after.clone()]);
            let line = format!("quote add-item --customer 1 --sku mug --qty 2{verify}");
            let outcome = on(&impatient(&server), &server, &line);
            let error = outcome.error();
            assert_eq!((outcome.code, &error["applied"]), (8, &json!("unknown")), "{error}");
            assert!(error["message"].as_str().unwrap().ends_with(says), "{says}: {error}");
            let hint = "look at the cart before you try again: `storefront -p shop quote show --customer 1`";
            assert_eq!(error["hint"], hint);
            let requests = server.requests();
            let posts = requests.iter().filter(|request| request.starts_with("POST")).count();
            assert_eq!((requests.len(), posts), (3, 1), "{requests:?}");
        }
    }
}

/// What a cart shows of an addition.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Seen {
    All,
    Other,
    Nothing,
}

#[test]
fn an_addition_is_verified_by_the_line_that_the_service_named() {
    let other = |qty: u32| json!({"item_id": 2, "sku": "mug", "qty": qty});
    for (before, after, expected) in [
        (vec![mug(1)], vec![mug(3)], Seen::All),
        (vec![], vec![mug(2)], Seen::All),
        // What others do to other lines at the same time does not matter.
        (vec![mug(1), other(1)], vec![mug(3), other(4)], Seen::All),
        (vec![mug(1)], vec![mug(1)], Seen::Nothing),
        (vec![mug(1)], vec![mug(5)], Seen::Other),
        (vec![mug(1)], vec![], Seen::Other),
    ] {
        let answers = vec![found_with(&before), json(&mug(3)), json(&json!(after))];
        let server = MockServer::start(answers);
        let line = "quote add-item --customer 1 --sku mug --qty 2 --verify";
        let outcome = on(&impatient(&server), &server, line);
        assert_eq!(server.requests().len(), 3);
        if expected == Seen::Nothing {
            let error = outcome.error();
            assert_eq!((outcome.code, &error["applied"]), (9, &json!("yes")), "{error}");
            assert!(error["message"].as_str().unwrap().ends_with("had 1 × mug, and still has 1"), "{error}");
            continue;
        }
        assert_eq!(outcome.code, 0, "{outcome:?}");
        let result: Value = serde_json::from_str(&outcome.stdout).unwrap();
        let verified = expected == Seen::All;
        assert_eq!((&result["applied"], &result["verified"]), (&json!("yes"), &json!(verified)), "{after:?}");
        let warned = outcome.stderr.contains("the change is not verified: the cart had ");
        assert_eq!(warned, !verified, "{outcome:?}");
    }
}

#[test]
fn an_addition_costs_no_more_requests_than_needed() {
    let env = TestEnv::new();
    for (line, requests) in [
        ("--sku mug-blue", vec!["POST 200", "POST 200"]),
        ("--sku mug-blue --quote-id 1", vec!["GET 200", "POST 200"]),
        ("--sku mug-blue --verify", vec!["GET 200", "POST 200", "GET 200"]),
        ("--sku mug-blue --customer 1", vec!["GET 200", "POST 200"]),
        ("--sku mug-blue --customer 1 --verify", vec!["GET 200", "POST 200", "GET 200"]),
        ("--sku mug-blue --customer 6", vec!["GET 200", "POST 200", "POST 200"]),
        ("--sku mug-blue --customer amina.haddad@example.com", vec!["GET 200", "GET 200", "POST 200"]),
    ] {
        done(&env, &format!("quote add-item {line} --qty 1"));
        assert_eq!(env.requests(), requests, "{line}");
    }
    done(&env, "quote show");
    assert_eq!(env.requests(), ["GET 200"; 3]);
    let line = "quote add-item --sku mug-blue --qty 2 --verify -q -o json";
    let env = TestEnv::new();
    let first = program(&env, line).env("STOREFRONT_TOKEN", "sandbox-customer-6").run().done();
    assert_eq!(first["verified"], true, "a new cart");
    assert_eq!(env.requests(), ["GET 404", "POST 200", "POST 200", "GET 200"]);
}

const SHIP: &str = "quote ship --customer 1 --carrier flatrate --method flatrate --payment-method checkmo";

#[test]
fn a_payment_that_the_service_does_not_confirm_is_unknown() {
    for unclear in ["false", "null", "", "0", "[]", r#""no""#] {
        let steps = vec![
            found(),
            json(&json!({"payment_methods": []})),
            answer("200 OK", JSON, unclear),
            json(&json!([])),
        ];
        let server = MockServer::start(steps);
        let outcome = on(&impatient(&server), &server, SHIP);
        let error = outcome.error();
        let calls = [&error["calls"][0]["applied"], &error["calls"][1]["applied"]];
        assert_eq!((outcome.code, &error["applied"]), (8, &json!("unknown")), "{unclear}: {error}");
        assert_eq!(calls, ["yes", "unknown"], "{unclear}: {error}");
    }
}

#[test]
fn a_payment_that_the_service_confirms_or_shows_is_applied() {
    let shown = json(&json!({"method": "checkmo", "additional_data": []}));
    for confirmed in [r#""1""#, "1", "true", "", "false"] {
        let steps = vec![found(), json(&json!({})), answer("200 OK", JSON, confirmed), shown.clone()];
        let server = MockServer::start(steps);
        let outcome = on(&impatient(&server), &server, SHIP);
        assert_eq!(outcome.code, 0, "{confirmed}: {outcome:?}");
        let reads = if matches!(confirmed, "" | "false") { 6 } else { 4 };
        assert_eq!(server.requests().len(), reads, "{confirmed}");
    }
}

/// A search that finds `cart`, and the answers that follow.
fn search(cart: &Value, rest: Vec<Step>) -> MockServer {
    MockServer::start([vec![json(&json!({"items": [cart]}))], rest].concat())
}

#[test]
fn a_cart_is_recognized_whatever_the_types_of_its_fields() {
    for (active, id) in [(json!(1), json!(1)), (json!("1"), json!("1")), (json!(true), json!("1"))] {
        let cart = json!({"id": "7", "is_active": active, "customer": {"id": id}});
        let server = search(&cart, vec![json(&mug(2))]);
        let outcome = on(&impatient(&server), &server, "quote add-item --customer 1 --sku mug --qty 2");
        assert_eq!(outcome.code, 0, "{cart}: {outcome:?}");
        let requests = server.requests();
        assert!(requests.len() == 2 && requests[1].starts_with("POST /V1/carts/7/items "), "{requests:?}");
    }
}

#[test]
fn a_cart_of_another_customer_is_not_used() {
    for (active, customer) in [(true, json!({"id": 2})), (true, json!({})), (false, json!({"id": 1}))] {
        let cart = json!({"id": 7, "is_active": active, "customer": customer});
        let server = search(&cart, vec![json(&json!(8)), json(&mug(2))]);
        let outcome = on(&impatient(&server), &server, "quote add-item --customer 1 --sku mug --qty 2");
        assert_eq!(outcome.code, 0, "{outcome:?}");
        assert!(server.requests()[2].starts_with("POST /V1/carts/8/items "), "{:?}", server.requests());
    }
}

#[test]
fn a_quote_that_is_not_the_customers_is_refused_by_every_command() {
    for command in ["show", "methods", "add-item --sku mug-blue --qty 1"] {
        for customer in ["", " --customer 1"] {
            let error = fails(&TestEnv::new(), 2, &format!("quote {command} --quote-id 99999{customer}"));
            assert_eq!(error["message"], "quote `99999` is not the customer's active cart, which is `1`");
        }
    }
}

const ADDRESS: &str = "--ship-firstname Ann --ship-lastname Ray --ship-street 'Main St 1' --ship-city Austin --ship-postcode 73301 \
     --ship-country US --ship-region-id 57 --ship-telephone 5125550100 --bill-same-as-ship";

/// The cart keeps what a request leaves out: an invoice could carry the VAT id of another address.
#[test]
fn fields_that_an_address_does_not_have_are_cleared() {
    let env = TestEnv::new();
    env.file("prefix.json", r#"{"shipping_address": {"prefix": "Ms", "company": null}}"#);
    let line =
        format!("quote ship -i prefix.json {ADDRESS} --carrier flatrate --method flatrate --no-payment -n");
    let dry = done(&env, &line);
    let body = &dry["calls"][0]["request"]["body"]["addressInformation"];
    for side in ["shipping_address", "billing_address"] {
        for (name, value) in [
            ("company", ""),
            ("vat_id", ""),
            ("fax", ""),
            ("middlename", ""),
            ("suffix", ""),
            ("prefix", "Ms"),
        ] {
            assert_eq!(body[side][name], value, "{side} {name}: {body}");
        }
    }
}

/// The shop saves the addresses, and erases the shipping method, before it looks for the new one.
#[test]
fn a_method_that_the_shop_does_not_have_leaves_a_partial_report() {
    let refused = |message: &str| {
        let body = json!({"message": message, "parameters": ["ups", "GND"]});
        answer("404 Not Found", JSON, &body.to_string())
    };
    let server = MockServer::start(vec![found(), refused("Carrier with such method not found: %1, %2")]);
    let line = "quote ship --customer 1 --carrier ups --method GND --payment-method checkmo";
    let outcome = on(&impatient(&server), &server, line);
    let error = outcome.error();
    assert_eq!((outcome.code, &error["kind"], &error["applied"]), (7, &json!("partial"), &json!("partial")));
    assert_eq!([&error["calls"][0]["applied"], &error["calls"][1]["applied"]], ["partial", "no"], "{error}");
    let message = error["message"].as_str().unwrap();
    assert!(
        message.starts_with("the addresses were saved, and the shipping method of the cart was erased: ")
    );
    let requests = server.requests();
    assert!(requests.len() == 3 && requests[2].starts_with("GET "), "the payment is not sent: {requests:?}");
    let server = MockServer::start(vec![found(), refused("No such entity with cartId = 7")]);
    let outcome = on(&impatient(&server), &server, line);
    assert_eq!((outcome.code, &outcome.error()["applied"]), (4, &json!("no")), "{outcome:?}");
}

#[test]
fn without_a_cart_the_hint_adds_an_item() {
    let env = TestEnv::new();
    let line = format!("quote ship {ADDRESS} --carrier flatrate --method flatrate --no-payment -o json -q");
    let outcome = program(&env, &line).env("STOREFRONT_TOKEN", "sandbox-customer-6").run();
    let hint = outcome.error()["hint"].as_str().unwrap_or_default().to_owned();
    assert_eq!(outcome.code, 4, "{outcome:?}");
    assert!(hint.contains("`storefront quote add-item --sku SKU --qty N`"), "{hint}");
}

/// The payment is throttled: whoever waits for it no longer reads that nothing was written.
#[test]
#[cfg(unix)]
fn interrupted_between_two_calls_the_report_is_partial() {
    use std::io::{BufRead as _, BufReader, Read as _};
    let home = Home::new();
    home.ok("--sandbox --api magento quote add-item --sku mug-blue --qty 1");
    let line = "--sandbox --api magento quote ship --ship-to-address 2 --bill-same-as-ship --carrier flatrate \
         --method flatrate --payment-method checkmo --fault PUT:429=30 -v -o json";
    let mut child = home.storefront(line).spawn();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut log = String::new();
    while !log.contains("< 429") {
        assert!(stderr.read_line(&mut log).unwrap() > 0, "{log}");
    }
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(130));
    stderr.read_to_string(&mut log).unwrap();
    let error: Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
    let error = &error["error"];
    assert_eq!([&error["kind"], &error["applied"]], ["interrupted", "partial"], "{log}");
    assert_eq!([&error["calls"][0]["applied"], &error["calls"][1]["applied"]], ["yes", "no"], "{log}");
}

#[test]
fn what_stands_beside_the_wrapper_is_refused() {
    let env = TestEnv::new();
    for (operation, wrapper) in
        [("customer update", "customer"), ("quote add-item", "cartItem"), ("attribute create", "attribute")]
    {
        let inside = json!({"firstname": "A", "sku": "mug-blue", "qty": 1, "attribute_code": "a"});
        let mut body = json!({"tag": 1});
        body[wrapper] = inside;
        env.file("body.json", body.to_string());
        let error = fails(&env, 2, &format!("{operation} -i body.json --allow-unknown"));
        let message = format!("`tag` stands beside `{wrapper}`, where no field is documented");
        assert_eq!(error["message"], message.as_str());
        assert!(error["hint"].as_str().unwrap().contains("`storefront api`"), "{error}");
    }
    assert_eq!(env.requests(), [""; 0]);
}
