//! Which cart is meant, where a customer has an active one in each of several stores; and what is looked at when shipping
//! information is saved on it.

use serde_json::{Value, json};

use crate::cart_reports::{JSON, impatient, json, on};
use crate::support::magento::{done, fails, run};
use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::storefront::Outcome;
use crate::support::test_env::{TestEnv, serve, words};

fn cart(id: u64, items: &[Value]) -> Value {
    json!({"id": id, "is_active": true, "store_id": id, "customer": {"id": 1}, "items": items,
        "items_count": items.len()})
}

fn mug(qty: u64) -> Value {
    json!({"item_id": 1, "sku": "mug", "qty": qty, "quote_id": "1"})
}

/// The active carts of customer 1: that of store 2 is empty, and stands before that of store 1.
fn two() -> Step {
    json(&json!({"items": [cart(2, &[]), cart(1, &[mug(2)])], "total_count": 2}))
}

fn against(script: Vec<Step>, line: &str) -> (Outcome, Vec<String>) {
    let server = MockServer::start(script);
    let outcome = on(&impatient(&server), &server, line);
    let requests = server.requests();
    (outcome, requests.iter().map(|request| request.lines().next().unwrap().to_owned()).collect())
}

const EVERY: [&str; 7] = [
    "quote show",
    "quote methods",
    "quote add-item --sku mug --qty 1",
    "quote set-item --item 1 --qty 5",
    "quote remove-item --item 1 -y",
    "quote clear -y",
    "quote ship --ship-city Ely --ship-country GB --carrier flatrate --method flatrate --no-payment",
];

#[test]
fn two_active_carts_are_not_one_of_them() {
    for line in EVERY {
        let (outcome, requests) = against(vec![two()], &format!("{line} --customer 1"));
        let error = outcome.error();
        assert_eq!(outcome.code, 2, "{line}: {outcome:?}");
        let message = "the customer has 2 active carts: 1 (store 1, 1 item), 2 (store 2, 0 items)";
        assert_eq!(error["message"], message, "{line}");
        let hint = "name one with --quote-id ID, or its store view with --store-view CODE";
        assert_eq!((requests.len(), &error["hint"]), (1, &json!(hint)), "{line}: {requests:?}");
    }
}

/// A cache may answer with what was read before from another path, which has an id, too.
#[test]
fn a_profile_in_place_of_the_cart_is_not_a_cart() {
    for line in EVERY.iter().skip(1) {
        let server = MockServer::start(vec![json(&json!({"id": 1, "email": "a@example.com"}))]);
        let home = impatient(&server);
        let own = home.storefront(&words(&format!("-p shop {line} --quote-id 1 -q -o json")));
        let own = serve(own, &server.url("")).without("STOREFRONT_STORE_VIEW").run();
        let requests = server.requests();
        assert_eq!((own.code, requests.len()), (5, 1), "{line}: {own:?} {requests:?}");
        assert_eq!(own.error()["message"], "the answer in place of the cart is none", "{line}");
    }
}

#[test]
fn every_command_takes_the_cart_that_is_named() {
    for line in EVERY {
        let (outcome, requests) = against(vec![two()], &format!("{line} --customer 1 --quote-id 9"));
        assert_eq!((outcome.code, requests.len()), (2, 1), "{line}: {outcome:?}");
        let message =
            "quote `9` is not an active cart of the customer: 1 (store 1, 1 item), 2 (store 2, 0 items)";
        assert_eq!(outcome.error()["message"], message, "{line}");
        // The token's own cart is the one that the service uses, whatever is named.
        let server = MockServer::start(vec![json(&cart(1, &[mug(2)]))]);
        let home = impatient(&server);
        let own = home.storefront(&words(&format!("-p shop {line} --quote-id 9 -q -o json")));
        let own = serve(own, &server.url("")).without("STOREFRONT_STORE_VIEW").run();
        assert_eq!((own.code, server.requests().len()), (2, 1), "{line}: {own:?}");
        let message = "quote `9` is not the customer's active cart, which is `1`";
        assert_eq!(own.error()["message"], message, "{line}");
    }
    let line = "quote set-item --customer 1 --quote-id 1 --item 1 --qty 5";
    let (outcome, requests) = against(vec![two(), json(&mug(5))], line);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(requests[1].starts_with("PUT /V1/carts/1/items/1 "), "{requests:?}");
    let line = "quote clear --customer 1 --quote-id 2 -y";
    let (outcome, _) = against(vec![two()], line);
    assert_eq!(outcome.done()["reason"], "unchanged");
}

#[test]
fn the_store_view_picks_the_cart_of_its_store() {
    let views =
        json(&json!([{"id": 1, "code": "default"}, {"id": 2, "code": "fr"}, {"id": 3, "code": "de"}]));
    for (view, chosen) in [("fr", Some(2)), ("default", Some(1)), ("de", None)] {
        let script = vec![two(), views.clone(), json(&json!([])), json(&json!({}))];
        let (outcome, _) = against(script, &format!("quote show --customer 1 --store-view {view}"));
        match chosen {
            Some(id) => assert_eq!(outcome.done()["cart"]["id"], id, "{view}"),
            None => assert_eq!(outcome.code, 2, "{outcome:?}"),
        }
    }
    // One cart serves the store views of its website, and no list of them is asked for.
    let only = json(&json!({"items": [cart(2, &[])], "total_count": 1}));
    let (outcome, requests) = against(
        vec![only, json(&json!([])), json(&json!({}))],
        "quote show --customer 1 --store-view default",
    );
    assert_eq!((outcome.code, requests.len()), (0, 3), "{outcome:?}");
}

#[test]
fn a_list_of_carts_that_ends_early_is_a_failed_read() {
    for list in [json!({"items": [], "total_count": 1}), json!({"items": null, "total_count": 1})] {
        let (outcome, requests) = against(vec![json(&list)], "quote add-item --customer 1 --sku mug --qty 1");
        assert_eq!((outcome.code, requests.len()), (5, 1), "{outcome:?}");
        assert_eq!(outcome.error()["message"], "the shop's list of carts ends after 0 of 1");
    }
}

const SHIP: &str = "quote ship --ship-firstname Ann --ship-lastname Ray --ship-street 'Main St 1' --ship-city Austin \
     --ship-postcode 73301 --ship-country US --ship-region-id 57 --ship-telephone 5125550100 --bill-same-as-ship";

/// The shop saves the addresses and erases the method before it refuses an unknown one.
#[test]
fn a_method_that_the_shop_does_not_offer_is_refused_before_anything_is_sent() {
    let env = TestEnv::new();
    done(&env, "quote add-item --sku umbrella --qty 2");
    done(&env, &format!("{SHIP} --carrier flatrate --method flatrate --no-payment"));
    let before = done(&env, "quote show");
    for way in ["", "--customer 1", "--customer 1 --quote-id 1"] {
        for flags in ["--no-payment", "--payment-method checkmo", "--payment-method checkmo -n"] {
            let line = format!("{SHIP} --ship-city Dallas --carrier flatrate --method flat {flags} {way}");
            let error = fails(&env, 2, &line.replacen("--ship-city Austin ", "", 1));
            let message = error["message"].as_str().unwrap();
            let start =
                "the shop does not offer the shipping method `flatrate/flat` to this address; it offers ";
            assert!(message.starts_with(start) && message.contains("flatrate/flatrate"), "{error}");
            assert_eq!(error["applied"], "no");
        }
    }
    assert_eq!(done(&env, "quote show"), before);
}

#[test]
fn an_offer_that_cannot_be_read_is_a_warning() {
    let line = format!("{SHIP} --customer 1 --carrier flatrate --method flatrate --no-payment");
    let found = || json(&json!({"items": [cart(1, &[mug(2)])], "total_count": 1}));
    for unreadable in [
        answer("404 Not Found", JSON, r#"{"message": "Request does not match any route."}"#),
        answer("400 Bad Request", JSON, r#"{"message": "no"}"#),
        json(&json!({})),
        Step::Close,
    ] {
        let script = vec![found(), unreadable, json(&json!({})), json(&cart(1, &[mug(2)]))];
        let (outcome, requests) = against(script, &line);
        assert_eq!(outcome.code, 0, "{outcome:?} {requests:?}");
        let warning = "whether the shop has the shipping method `flatrate/flatrate` is not checked: ";
        assert!(outcome.stderr.contains(warning), "{outcome:?}");
        assert!(requests[2].starts_with("POST /V1/carts/1/shipping-information "), "{requests:?}");
    }
}

/// Some versions double the quantities of what is composed when they save a cart.
#[test]
fn quantities_that_a_shop_changes_while_it_saves_are_told() {
    let line = format!("{SHIP} --customer 1 --carrier flatrate --method flatrate --no-payment");
    let found = || json(&json!({"items": [cart(1, &[mug(2)])], "total_count": 1}));
    let offered = || json(&json!([{"carrier_code": "flatrate", "method_code": "flatrate"}]));
    let script = |after: &[Value]| vec![found(), offered(), json(&json!({})), json(&cart(1, after))];
    let (outcome, requests) = against(script(&[mug(4)]), &line);
    assert_eq!((outcome.code, requests.len()), (0, 4), "{outcome:?} {requests:?}");
    let told = "the quantities in cart 1 are not what they were before it was saved: mug 2 → 4";
    assert!(outcome.stderr.contains(told), "{outcome:?}");
    let (outcome, _) = against(script(&[mug(2)]), &line);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{outcome:?}");
}

/// A batch and its plan name the cart in a column.
#[test]
fn a_record_of_ship_names_the_cart() {
    let env = TestEnv::new();
    done(&env, "quote add-item --sku umbrella --qty 2");
    let line = format!("{SHIP} --carrier flatrate --method flatrate --no-payment");
    assert_eq!(done(&env, &format!("{line} --quote-id 1"))["applied"], "yes");
    let file = "customer,quote_id,shipping_address.city,shipping_address.country_id,shipping_carrier_code,\
        shipping_method_code,payment_method\n1,9,Ely,GB,flatrate,flatrate,checkmo\n1,1,Ely,GB,flatrate,flatrate,checkmo\n";
    env.file("ship.csv", file);
    let shipped = run(&env, "quote ship -i ship.csv -y --jobs 1");
    let lines = crate::support::batch::lines(&shipped);
    let message = "quote `9` is not the customer's active cart, which is `1`";
    assert_eq!(
        (&lines[0]["error"]["message"], &lines[1]["applied"]),
        (&json!(message), &json!("yes")),
        "{shipped:?}"
    );
}

/// A method that is not available is listed as such, and a cart that nothing is shipped of has none.
#[test]
fn methods_that_are_not_available_are_marked_and_a_virtual_cart_has_none() {
    let shown = |is_virtual: bool| {
        let mut cart = cart(1, &[mug(2)]);
        cart["is_virtual"] = is_virtual.into();
        json(&json!({"items": [cart], "total_count": 1}))
    };
    let methods = json!([{"carrier_code": "ups", "method_code": "03", "method_title": "Ground", "amount": 0,
        "available": false, "error_message": "not to this country"}]);
    let payment = || json(&json!([{"code": "checkmo", "title": "Check"}]));
    for (script, told) in [
        (vec![shown(false), json(&methods), payment()], "Ground (not available: not to this country)"),
        (vec![shown(true), payment()], "No shipping methods (all items of the cart are virtual)"),
    ] {
        let requests = script.len();
        let server = MockServer::start(script);
        let home = impatient(&server);
        let line = words("-p shop quote methods --customer 1 -q");
        let listed = serve(home.storefront(&line), &server.url("")).without("STOREFRONT_STORE_VIEW").run();
        assert!(listed.code == 0 && listed.stdout.contains(told), "{listed:?}");
        assert_eq!(server.requests().len(), requests, "{listed:?}");
    }
}

/// Some shops fail at the search for one customer, whom other calls show.
#[test]
fn where_the_search_for_an_email_fails_the_id_is_asked_for() {
    let failed = || answer("500 Internal Server Error", JSON, r#"{"message": "same ID already exists"}"#);
    let (outcome, _) = against(vec![failed()], "customer show --customer a@example.com");
    let error = outcome.error();
    let hint = "name the customer by ID, which needs no search: --customer ID";
    assert_eq!((outcome.code, &error["hint"]), (5, &json!(hint)), "{error}");
}

/// The beginning of a number is another number: the id of somebody else's cart.
#[test]
fn a_number_that_was_cut_short_names_no_cart() {
    let cut = Step::AnswerAndClose(b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n1".to_vec());
    let none = json(&json!({"items": [], "total_count": 0}));
    let script = vec![none, cut, json(&mug(1))];
    let (outcome, requests) = against(script, "quote add-item --customer 2 --sku mug --qty 1");
    assert_eq!((outcome.code, requests.len()), (5, 2), "{requests:?} {outcome:?}");
}
