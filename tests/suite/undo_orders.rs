//! `verify` and `undo` of the address of an order.

use serde_json::{Value, json};

use crate::support::batch::lines;
use crate::support::database::Database;
use crate::support::magento::{fails, run};
use crate::support::storefront::Outcome;
use crate::support::test_env::{TestEnv, set_outcome};

/// Order 2: the addresses 3 (billing) and 4 (shipping).
const CORRECTION: &str =
    "order update 000000002 --shipping --postcode 10119 --telephone '+1 212 555 0100' -y";

fn set(env: &TestEnv, address: u64, field: &str, value: &str) {
    env.sandbox.sql(&format!(
        "UPDATE order_addresses SET body = json_set(body, '$.{field}', '{value}') WHERE id = {address}"
    ));
}

/// A field of the billing and of the shipping address.
fn fields(env: &TestEnv, field: &str) -> [Value; 2] {
    let order = env.sandbox.show()["orders"][1].clone();
    [0, 1].map(|at| order["addresses"][at][field].clone())
}

fn comments(env: &TestEnv) -> Vec<String> {
    let order = env.sandbox.show()["orders"][1].clone();
    let comments = order["comments"].as_array().unwrap().iter();
    comments.map(|comment| comment["comment"].as_str().unwrap().to_owned()).collect()
}

/// Runs a line that must end well; that tax is not calculated again is said.
#[track_caller]
fn done(env: &TestEnv, line: &str) -> Value {
    let outcome = run(env, line);
    assert_eq!(outcome.code, 0, "{line}: {outcome:?}");
    lines(&outcome)[0].clone()
}

fn state(verified: &Outcome) -> Value {
    lines(verified)[0]["state"].clone()
}

/// Nothing of what a write changed is taken back, and the shop is as it was.
#[track_caller]
fn stays(env: &TestEnv, line: &str, because: &str) {
    let before = Database::read(env.sandbox.data());
    let error = fails(env, 3, line);
    assert!(error["message"].as_str().unwrap().contains(because), "{error}");
    assert_eq!(before.difference(&Database::read(env.sandbox.data())), "");
}

#[test]
fn an_address_is_set_back_with_a_comment_and_made_again() {
    let env = TestEnv::new();
    let (before, earlier) = (fields(&env, "postcode"), comments(&env).len());
    let line = "order update 000000002 --both --postcode 10119 -y";
    let written = done(&env, line);
    let id = written["write"].as_str().unwrap();
    let verified = run(&env, &format!("verify {id}"));
    assert_eq!((verified.code, state(&verified)), (0, json!("there")), "{verified:?}");

    let shown = done(&env, &format!("undo {id} -n"));
    assert_eq!((&shown["applied"], comments(&env).len()), (&json!("no"), earlier + 1), "{shown}");
    let undone = done(&env, &format!("undo {id} -y"));
    assert_eq!((&undone["applied"], fields(&env, "postcode")), (&json!("yes"), before), "{undone}");
    // One comment, after the last address.
    assert_eq!(
        comments(&env)[0],
        "shipping address corrected: postcode 10119 → 10118; billing address corrected: postcode 10119 → 75002"
    );
    assert_eq!(comments(&env).len(), earlier + 2);
    assert_eq!(
        env.sandbox.show()["orders"][1]["grid"]["shipping_address"],
        "350 Fifth Avenue,New York,New York,10118"
    );
    assert_eq!(state(&run(&env, &format!("verify {id}"))), "changed");
    assert_eq!(lines(&run(&env, "history"))[0]["undoes"], json!(id));

    let redone = done(&env, &format!("undo {} -y", undone["write"].as_str().unwrap()));
    assert_eq!(fields(&env, "postcode"), ["10119", "10119"].map(Value::from), "{redone}");
    let again = done(&env, &format!("undo {id} -y"));
    assert_eq!(done(&env, &format!("undo {id} -y"))["reason"], "unchanged", "{again}");
}

#[test]
fn what_was_emptied_and_a_region_that_the_shop_does_not_list_come_back() {
    let env = TestEnv::new();
    set(&env, 4, "company", "Haddad & Co");
    // Imported by another program: a text where the country has a list.
    env.sandbox.sql(
        "UPDATE order_addresses SET body = json_set(body, '$.region', 'N.Y.', '$.region_id', NULL) WHERE id = 4",
    );
    let line = "order update 000000002 --shipping --clear company --region-code NY -y";
    let id = done(&env, line)["write"].as_str().unwrap().to_owned();
    assert_eq!(fields(&env, "region")[1], "New York");
    done(&env, &format!("undo {id} -y"));
    let now = ["company", "region", "region_id"].map(|name| fields(&env, name)[1].clone());
    assert_eq!(now, [json!("Haddad & Co"), json!("N.Y."), Value::Null]);
}

/// Where it is, is one thing; the telephone number beside it is not.
#[test]
fn an_address_that_was_changed_since_is_left() {
    let env = TestEnv::new();
    let id = done(&env, CORRECTION)["write"].as_str().unwrap().to_owned();
    set(&env, 4, "city", "Albany");
    set(&env, 4, "telephone", "1");
    assert_eq!(run(&env, &format!("verify {id}")).code, 7);
    // The city was not written: the postcode is as it was left.
    let part = run(&env, &format!("undo {id} -y"));
    assert_eq!((part.code, part.error()["applied"].clone()), (7, json!("partial")), "{part:?}");
    assert!(part.error()["message"].as_str().unwrap().contains("telephone"), "{part:?}");
    assert_eq!(["postcode", "telephone"].map(|name| fields(&env, name)[1].clone()), ["10118", "1"]);

    let line = "order update 000000002 --shipping --postcode 12207 --city Albany2 -y";
    let moved = done(&env, line)["write"].as_str().unwrap().to_owned();
    set(&env, 4, "city", "Troy");
    stays(&env, &format!("undo {moved} -y"), "has changed since");
}

#[test]
fn nothing_is_undone_without_a_yes_an_outcome_and_an_order() {
    let env = TestEnv::new();
    let id = done(&env, CORRECTION)["write"].as_str().unwrap().to_owned();
    stays(&env, &format!("undo {id}"), "Undo write");
    let comment = done(&env, "order update 000000002 --comment Called -y")["write"].clone();
    stays(&env, &format!("undo {} -y", comment.as_str().unwrap()), "no call removes a comment");
    set_outcome(&env.home, 1, &json!({"outcome": "unknown", "sent_at": "2026-01-01T00:00:00Z"}));
    stays(&env, &format!("undo {id} -y"), "is unknown");
    let verified = run(&env, &format!("verify {id}"));
    assert_eq!((verified.code, state(&verified)), (0, json!("seen")), "{verified:?}");
    env.sandbox.sql("PRAGMA foreign_keys = OFF; DELETE FROM orders WHERE id = 2");
    let verified = run(&env, &format!("verify {id}"));
    assert_eq!((verified.code, state(&verified)), (7, json!("gone")), "{verified:?}");
    stays(&env, &format!("undo {id} -y"), "order 2 is gone");
}
