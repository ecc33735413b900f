//! Carts that are read from a replica that lags behind: what our own calls of the last minute left is a basis.

use serde_json::{Value, json};

use crate::cart_reports::{impatient, json, on};
use crate::support::magento::{done, fails, program, run};
use crate::support::mock_server::MockServer;
use crate::support::test_env::TestEnv;

const OLDER: &str = "the service shows an older cart than the last change left: ";
const SHIP: &str = "quote ship --customer 1 --ship-to-address 2 --bill-same-as-ship --carrier flatrate --method flatrate --no-payment";

fn quantities(env: &TestEnv) -> String {
    done(env, "quote show --customer 1 --jq '[.items[] | [.item_id, .qty]]'").to_string()
}

fn posts(env: &TestEnv) -> usize {
    env.requests().iter().filter(|request| request.starts_with("POST")).count()
}

/// From such a read the second addition would be taken for a new line, which its undo would remove with what the first one added.
#[test]
fn an_item_is_not_added_to_a_cart_that_lacks_what_we_added() {
    let env = TestEnv::with_faults(&["POST:stale-read=1x1"]);
    let line = "quote add-item --customer 1 --sku mug-blue --qty 2 --settle 0";
    done(&env, line);
    env.requests();
    let refused = fails(&env, 3, line);
    let message = refused["message"].as_str().unwrap();
    assert!(message.starts_with(OLDER) && message.ends_with(" is missing"), "{refused}");
    assert_eq!((&refused["applied"], posts(&env)), (&json!("no"), 0), "{refused}");
    assert_eq!(done(&env, line)["applied"], "yes");
    assert_eq!(quantities(&env), "[[1,4]]");
}

#[test]
fn a_later_read_that_shows_it_is_built_from() {
    let env = TestEnv::with_faults(&["POST:stale-read=1x1"]);
    let line = "quote add-item --customer 1 --sku mug-blue --qty 2 --settle 5";
    done(&env, line);
    let write = done(&env, line)["write"].as_str().unwrap().to_owned();
    let undone = done(&env, &format!("undo {write} --yes"));
    assert_eq!(quantities(&env), "[[1,2]]", "{undone}");
}

#[test]
fn nothing_is_undone_by_a_cart_that_lacks_what_we_added() {
    let env = TestEnv::with_faults(&["POST:stale-read=1x1"]);
    done(&env, "quote add-item --customer 1 --sku mug-blue --qty 2 --settle 0");
    let refused = fails(&env, 3, "undo 1 --yes --allow-delete 1 --settle 0");
    assert!(refused["message"].as_str().unwrap().starts_with(OLDER), "{refused}");
    assert_eq!(done(&env, "undo 1 --yes --allow-delete 1")["applied"], "yes");
    assert_eq!(quantities(&env), "[]");
}

/// In a batch it is a matter of time.
#[test]
fn a_record_of_a_batch_waits_for_the_cart() {
    let env = TestEnv::with_faults(&["POST:stale-read=1x1"]);
    env.file("items.csv", "customer,sku,qty\n1,mug-blue,2\n1,mug-blue,3\n");
    let outcome = run(&env, "quote add-item -i items.csv --settle 0");
    assert_ne!(outcome.code, 0, "{outcome:?}");
    let journal = std::fs::read_to_string(env.home.dir.path().join("items.csv.journal")).unwrap();
    assert!(journal.contains(OLDER), "{journal}");
    assert_eq!(program(&env, "resume items.csv.journal").run().code, 0);
    assert_eq!(quantities(&env), "[[1,5]]");
}

#[test]
fn shipping_is_not_saved_on_a_cart_that_lacks_our_own_change() {
    // The profile is read before the cart.
    let env = TestEnv::with_faults(&["PUT:stale-read=2x1"]);
    done(&env, "quote add-item --customer 1 --sku mug-blue --qty 2");
    done(&env, "quote set-item --customer 1 --sku mug-blue --qty 5");
    env.requests();
    let refused = fails(&env, 3, &format!("{SHIP} --settle 0"));
    let message = refused["message"].as_str().unwrap();
    assert_eq!(message, format!("{OLDER}items[id=1].qty has its old value"), "{refused}");
    assert_eq!((&refused["applied"], posts(&env)), (&json!("no"), 0), "{refused}");
    assert_eq!(done(&env, &format!("{SHIP} --settle 0"))["applied"], "yes");
}

/// Its undo would set the cart back to an address from before the last change.
#[test]
fn shipping_is_not_saved_on_a_cart_that_lacks_what_we_saved() {
    let cart = |city: &str, method: &str| {
        let address = json!({"firstname": "Ann", "city": city, "country_id": "GB"});
        let shipping = json!({"address": address, "method": method});
        json!({"id": 7, "is_active": true, "customer": {"id": 1}, "items": [], "billing_address": address,
            "extension_attributes": {"shipping_assignments": [{"shipping": shipping}]}})
    };
    let found = |cart: &Value| json(&json!({"items": [cart], "total_count": 1}));
    let (old, new) = (cart("Ely", "flatrate_flatrate"), cart("Bath", "flatrate_flatrate"));
    let saved = || json(&json!({}));
    let first = [found(&old), saved(), json(&new)];
    let second = [found(&old)];
    let third = [found(&old), found(&new), saved(), json(&old)];
    let server = MockServer::start([&first[..], &second, &third].concat());
    let home = impatient(&server);
    let ship = |city: &str, settle: u32| {
        let line = format!(
            "quote ship --customer 1 --ship-firstname Ann --ship-city {city} --ship-country GB --bill-same-as-ship \
             --carrier flatrate --method flatrate --no-payment --settle {settle}"
        );
        on(&home, &server, &line)
    };
    assert_eq!(ship("Bath", 0).code, 0);
    let refused = ship("Ely", 0);
    let error = refused.error();
    assert_eq!((refused.code, &error["applied"]), (3, &json!("no")), "{refused:?}");
    let old = "shipping address city has its old value, billing address city has its old value";
    assert_eq!(error["message"], format!("{OLDER}{old}"), "{error}");
    let done = ship("Ely", 5);
    assert_eq!(done.code, 0, "{done:?} {:?}", server.requests());
}
