//! Reports about carts: what is said of a cart is about the customer's own, and an addition counts as seen only where nothing
//! else can explain what the cart shows.

use serde_json::{Value, json};

use crate::support::magento::{done, fails, program, run};
use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::storefront::{Home, Outcome};
use crate::support::test_env::{TestEnv, serve, words};

/// Time of the first reading, and of a change after it.
pub const READ: &str = "Content-Type: application/json\r\nDate: Sun, 22 Nov 2026 10:00:00 GMT\r\n";
const EARLIER: &str = "2026-11-22 09:59:59";
const LATER: &str = "2026-11-22 10:00:01";

pub fn json(body: &Value) -> Step {
    answer("200 OK", READ, &body.to_string())
}

fn mug(qty: u32) -> Value {
    json!({"item_id": 1, "sku": "mug", "qty": qty, "quote_id": "7"})
}

/// The answers of one reading of cart 7: the cart, and its items.
fn cart(updated: &str, items: &[Value]) -> [Step; 2] {
    let cart =
        json!({"id": 7, "is_active": true, "updated_at": updated, "items": items, "customer": {"id": 1}});
    [json(&cart), json(&Value::from(items))]
}

/// A service for an administrator's `quote add-item --customer 1`: the cart is found, read, the item's answer is lost, and
/// the cart is read as in `after`.
fn lost(before: [Step; 2], after: [Step; 2]) -> Vec<Step> {
    [vec![found()], before.into(), vec![Step::Close], after.into()].concat()
}

pub fn found() -> Step {
    let cart = json!({"id": 7, "is_active": true, "customer": {"id": 1}});
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

const ADD: &str = "quote add-item --customer 1 --sku mug --qty 2 --verify";

/// Exit code and message of an addition without an answer.
fn verified(before: [Step; 2], after: [Step; 2]) -> (i32, String) {
    let server = MockServer::start(lost(before, after));
    let outcome = on(&impatient(&server), &server, ADD);
    let text = if outcome.code == 0 { outcome.stdout.clone() } else { outcome.stderr.clone() };
    (outcome.code, text)
}

#[test]
fn an_addition_without_an_answer_is_seen_in_the_cart() {
    let hat = json!({"item_id": 2, "sku": "hat", "qty": 1});
    let (code, text) =
        verified(cart(EARLIER, std::slice::from_ref(&hat)), cart(LATER, &[hat.clone(), mug(2)]));
    assert_eq!(code, 0, "{text}");
    assert!(text.contains(r#""applied": "yes""#) || text.contains(r#""applied":"yes""#), "{text}");
}

#[test]
fn a_cart_that_was_changed_before_it_was_read_proves_nothing() {
    // The first reading came from a replica that lagged behind: the mugs were there already.
    let (code, text) = verified(cart(EARLIER, &[]), cart(EARLIER, &[mug(2)]));
    assert_eq!(code, 8, "{text}");
    assert!(text.contains("the cart does not show exactly the added quantity"), "{text}");
}

#[test]
fn a_cart_without_a_time_proves_nothing() {
    let (code, text) = verified(cart("", &[]), cart("", &[mug(2)]));
    assert_eq!(code, 8, "{text}");
    assert!(text.contains("the service does not say when the cart was changed"), "{text}");
}

#[test]
fn any_other_change_of_the_cart_leaves_the_outcome_unknown() {
    let hat = |qty: u32| json!({"item_id": 2, "sku": "hat", "qty": qty});
    let (code, text) = verified(cart(EARLIER, &[hat(1)]), cart(LATER, &[hat(2), mug(2)]));
    assert_eq!(code, 8, "{text}");
}

#[test]
fn two_readings_that_differ_prove_nothing() {
    let [shown, _] = cart(EARLIER, &[]);
    let [_, items] = cart(EARLIER, &[mug(2)]);
    let (code, text) = verified([shown, items], cart(LATER, &[mug(2)]));
    assert_eq!(code, 8, "{text}");
    assert!(text.contains("two readings of the cart before that differed"), "{text}");
}

#[test]
fn an_earlier_addition_of_unknown_outcome_may_be_what_is_seen() {
    let first = vec![found(), Step::Close];
    let second = lost(cart(EARLIER, &[]), cart(LATER, &[mug(2)]));
    let server = MockServer::start([first, second].concat());
    let home = impatient(&server);
    let unverified = on(&home, &server, "quote add-item --customer 1 --sku hat --qty 2");
    assert_eq!((unverified.code, &unverified.error()["applied"]), (8, &json!("unknown")));
    let outcome = on(&home, &server, ADD);
    let error = outcome.error();
    assert_eq!((outcome.code, &error["applied"]), (8, &json!("unknown")), "{error}");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("another addition to this cart was sent less than 10 minutes ago"), "{message}");
}

/// Within one second, the time of the last change does not tell.
#[test]
fn a_reading_without_an_earlier_addition_is_out_of_date() {
    for (before, code) in [(vec![], 8), (vec![mug(1)], 8), (vec![mug(2)], 0)] {
        let total = if code == 0 { 4 } else { 2 };
        let second = lost(cart(EARLIER, &before), cart(LATER, &[mug(total)]));
        let server = MockServer::start([vec![found(), json(&mug(2))], second].concat());
        let home = impatient(&server);
        assert_eq!(on(&home, &server, "quote add-item --customer 1 --sku mug --qty 2").code, 0);
        let outcome = on(&home, &server, ADD);
        assert_eq!(outcome.code, code, "{before:?}: {outcome:?}");
        assert!(code == 0 || outcome.stderr.contains("may be out of date"), "{outcome:?}");
    }
}

#[test]
fn a_batch_does_not_see_its_own_lost_record_in_a_later_one() {
    let env = TestEnv::with_faults(&["POST:reset-before-commitx2"]);
    let profile =
        format!("[profiles.shop]\nbase-url = \"{}/rest\"\napi = \"magento\"\nsettle = 0\n", env.url());
    env.home.write("config.toml", profile, 0o600);
    env.file("items.csv", "quote_id,sku,qty\n1,mug-blue,2\n1,mug-blue,2\n1,mug-blue,2\n");
    let outcome = run(&env, "-p shop quote add-item -i items.csv --verify -y --retry 0");
    let lines: Vec<Value> = outcome.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let applied: Vec<&Value> = lines.iter().map(|line| &line["applied"]).collect();
    assert_eq!(applied, ["unknown", "unknown", "yes"], "{outcome:?}");
    let reason = lines[1]["error"]["message"].as_str().unwrap();
    assert!(reason.contains("another addition to this cart"), "{reason}");
    assert_eq!(lines[2]["verified"], true);
}

#[test]
fn a_finished_addition_leaves_no_open_note() {
    let env = TestEnv::with_faults(&["GET:500x1"]);
    fails(&env, 5, "quote add-item --sku mug-blue --qty 1 --verify --retry 0");
    done(&env, "quote add-item --sku mug-blue --qty 1");
    done(&env, "quote add-item --sku mug-blue --qty 1 --verify");
    fails(&env, 4, "quote add-item --sku nosuch --qty 1");
    let notes = crate::support::test_env::files_below(&env.home.state().join("carts"));
    assert!(notes.len() == 1 && notes[0].parent().unwrap().ends_with("applied"), "{notes:?}");
}

const SHIP: &str = "quote ship --customer 1 --carrier flatrate --method flatrate --payment-method checkmo";

#[test]
fn a_payment_that_the_service_does_not_confirm_is_unknown() {
    for unclear in ["false", "null", "", "0", "[]", r#""no""#] {
        let steps = vec![
            found(),
            json(&json!({"payment_methods": []})),
            answer("200 OK", READ, unclear),
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
        let steps = vec![found(), json(&json!({})), answer("200 OK", READ, confirmed), shown.clone()];
        let server = MockServer::start(steps);
        let outcome = on(&impatient(&server), &server, SHIP);
        assert_eq!(outcome.code, 0, "{confirmed}: {outcome:?}");
        let reads = if matches!(confirmed, "" | "false") { 4 } else { 3 };
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
fn a_new_cart_of_another_customer_is_refused() {
    for customer in [json!({"id": 2}), json!({"id": "2"}), json!({"email": null})] {
        let shown = json!({"id": 7, "is_active": true, "customer": customer});
        let steps = vec![json(&json!({"items": []})), json(&json!(7)), json(&shown), json(&mug(2))];
        let server = MockServer::start(steps);
        let outcome = on(&impatient(&server), &server, "quote add-item --customer 1 --sku mug --qty 2");
        let error = outcome.error();
        assert_eq!((outcome.code, &error["applied"]), (3, &json!("no")), "{error}");
        let message = error["message"].as_str().unwrap();
        assert!(message.ends_with("instead of customer 1"), "{message}");
        assert_eq!(server.requests().len(), 3, "the item was not sent");
    }
}

#[test]
fn the_own_cart_is_that_of_the_own_profile() {
    let shown = json!({"id": 7, "is_active": true, "customer": {"id": 2}});
    let profile = json!({"id": 1, "email": "a@example.com", "addresses": []});
    for line in ["quote show", "quote methods", "quote add-item --quote-id 7 --sku mug --qty 1"] {
        let server = MockServer::start(vec![json(&shown), json(&profile), json(&json!([]))]);
        let outcome = on(&impatient(&server), &server, line);
        assert_eq!(outcome.code, 3, "{line}: {outcome:?}");
        let expected = "the service answered with the cart of customer 2, and before with that of customer 1";
        assert_eq!(outcome.error()["message"], expected, "{line}");
    }
}

#[test]
fn the_cart_that_is_compared_is_the_one_the_item_goes_to() {
    let [other, items] = cart(EARLIER, &[]);
    let server =
        MockServer::start(vec![json(&json!(8)), other, json(&json!({"id": 1, "addresses": []})), items]);
    let outcome = on(&impatient(&server), &server, "quote add-item --sku mug --qty 2 --verify");
    let message = outcome.error()["message"].as_str().unwrap().to_owned();
    assert_eq!(outcome.code, 3, "{outcome:?}");
    assert!(message.ends_with("the service answered with cart 7, and before with cart 8"), "{message}");
    assert!(!server.requests().iter().any(|request| request.starts_with("POST /V1/carts/mine/items")));
}

#[test]
fn a_shown_cart_and_its_items_are_the_customers() {
    let of = |id: u64, customer: u64| json!({"id": id, "is_active": true, "customer": {"id": customer}});
    for (read, message) in [
        (of(7, 2), "the service answered with a cart of customer 2 instead of customer 1"),
        (of(8, 1), "the service answered with cart 8, and before with cart 7"),
    ] {
        let server = search(&of(7, 1), vec![json(&read), json(&json!([])), json(&json!({}))]);
        let outcome = on(&impatient(&server), &server, "quote show --customer 1");
        assert_eq!((outcome.code, &outcome.error()["message"]), (3, &json!(message)), "{outcome:?}");
    }
    let other = json!([{"item_id": 1, "sku": "mug", "qty": 1, "quote_id": "9"}]);
    let server = search(&of(7, 1), vec![json(&of(7, 1)), json(&other), json(&json!({}))]);
    let outcome = on(&impatient(&server), &server, "quote show --customer 1");
    let message = "the service answered with the items of cart 9 instead of 7";
    assert_eq!((outcome.code, &outcome.error()["message"]), (3, &json!(message)), "{outcome:?}");
}

#[test]
fn a_person_reads_what_was_seen() {
    let env = TestEnv::with_faults(&["POST:reset-after-commitx1"]);
    let line = "quote add-item --sku mug-blue --qty 2 --quote-id 1 --verify -q";
    let outcome = program(&env, line).run();
    let expected = "quote add-item: done: the cart shows exactly 2 × mug-blue more than before\n";
    assert_eq!((outcome.code, outcome.stdout.as_str()), (0, expected), "{outcome:?}");
}
