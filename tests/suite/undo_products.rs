//! `verify` and `undo` of the values of a product.

use serde_json::{Value, json};

use crate::support::batch::lines;
use crate::support::database::Database;
use crate::support::magento::{done, fails, run};
use crate::support::storefront::Outcome;
use crate::support::test_env::{TestEnv, set_outcome};

const LINE: &str = "product set mug-blue color=Red weight=0.5";

fn difference(env: &TestEnv, before: &Database) -> String {
    before.difference(&Database::read(env.sandbox.data()))
}

fn state(verified: &Outcome) -> Value {
    lines(verified)[0]["state"].clone()
}

/// Runs a line that writes; its id.
#[track_caller]
fn written(env: &TestEnv, line: &str) -> String {
    let id = done(env, line)["write"].as_str().unwrap().to_owned();
    let verified = run(env, &format!("verify {id}"));
    assert_eq!((verified.code, state(&verified)), (0, json!("there")), "{line}: {verified:?}");
    id
}

/// Nothing of a write is taken back, and the shop is as it was.
#[track_caller]
fn stays(env: &TestEnv, id: &str, because: &str) {
    let before = Database::read(env.sandbox.data());
    let error = fails(env, 3, &format!("undo {id} -y"));
    assert!(error["message"].as_str().unwrap().contains(because), "{error}");
    assert_eq!(difference(env, &before), "");
}

/// A text of which each store view may have its own.
fn with_hint(env: &TestEnv) {
    env.file(
        "a.json",
        r#"{"attribute_code": "hint", "frontend_input": "text", "scope": "store",
            "default_frontend_label": "Hint", "attribute_set": ["Default"]}"#,
    );
    done(env, "attribute create -i a.json");
    done(env, "product set mug-blue hint=Hot");
}

#[test]
fn values_are_set_back_in_the_same_scope_and_made_again() {
    for line in [
        LINE,
        "product set umbrella color=Red",
        "product set umbrella --clear weight",
        // A value that the store view had of its own, and one that was that for all.
        "product set mug-blue name=Tasse --store-view fr",
        "product set mug-blue hint=Chaud --store-view fr",
    ] {
        let env = TestEnv::new();
        with_hint(&env);
        done(&env, "product set umbrella weight=2");
        let before = Database::read(env.sandbox.data());
        let id = written(&env, line);
        let after = Database::read(env.sandbox.data());
        done(&env, &format!("undo {id} -n"));
        assert_eq!(difference(&env, &after), "", "{line}");
        let undone = done(&env, &format!("undo {id} -y"));
        assert_eq!((&undone["applied"], difference(&env, &before)), (&json!("yes"), String::new()), "{line}");
        let verified = run(&env, &format!("verify {id}"));
        assert!(["changed", "gone"].contains(&state(&verified).as_str().unwrap()), "{line}: {verified:?}");
        done(&env, &format!("undo {} -y", undone["write"].as_str().unwrap()));
        assert_eq!(difference(&env, &after), "", "{line}");
    }
}

/// No call is known that takes a field away from a store view.
#[test]
fn a_field_that_was_that_for_all_is_set_to_it() {
    let env = TestEnv::new();
    let id = written(&env, "product set cap name=Casquette --store-view fr");
    let undone = run(&env, &format!("undo {id} -y"));
    assert_eq!(undone.code, 0, "{undone:?}");
    assert!(undone.stderr.contains("name stays a value of the store view"), "{undone:?}");
    assert_eq!(run(&env, "product show cap --store-view fr --jq .name").stdout, "Cap\n");
}

#[test]
fn a_value_that_was_changed_since_is_left() {
    let env = TestEnv::new();
    let id = written(&env, LINE);
    env.sandbox
        .sql("UPDATE product_values SET value = '52' WHERE sku = 'mug-blue' AND attribute_code = 'color'");
    let part = run(&env, &format!("undo {id} -y"));
    assert_eq!((part.code, part.error()["applied"].clone()), (7, json!("partial")), "{part:?}");
    assert!(part.error()["message"].as_str().unwrap().contains("color has changed since"), "{part:?}");
    let shown = done(&env, "product show mug-blue --jq .weight");
    assert_eq!(shown, Value::Null, "{shown}");
    stays(&env, &id, "color has changed since");
}

#[test]
fn what_the_shop_does_not_have_any_more_is_left() {
    for (since, because) in [
        ("DELETE FROM attribute_options WHERE id = 50", "its option 50 is gone"),
        (
            "DELETE FROM attribute_assignments WHERE attribute_id = 93",
            "color is no longer in the attribute set",
        ),
        ("DELETE FROM attributes WHERE code = 'color'", "no attribute `color`"),
        ("DELETE FROM products WHERE sku = 'mug-blue'", "product 1 in all is gone"),
    ] {
        let env = TestEnv::new();
        let id = written(&env, "product set mug-blue color=Red");
        env.sandbox.sql(&format!("PRAGMA foreign_keys = ON; {since}"));
        stays(&env, &id, because);
    }
}

#[test]
fn a_record_that_an_undo_leaves_is_not_said_to_be_undone() {
    let env = TestEnv::new();
    env.file("names.csv", "sku,name\nmug-blue,Blue\ncap,Hat\n");
    assert_eq!(run(&env, "product set -i names.csv -y").code, 0);
    done(&env, "product set cap name=Fez");
    assert_eq!(run(&env, "undo 1").code, 7);
    assert_eq!(run(&env, "apply undo-1.plan -y").code, 0);
    let undone_by = |id: &str| lines(&run(&env, &format!("history {id}")))[0]["undone_by"].clone();
    assert_eq!([undone_by("1:2"), undone_by("1:3")], [json!("3"), Value::Null]);
    // The whole batch is, in part.
    let listed = lines(&run(&env, "history"));
    assert_eq!([&listed[2]["undone_by"], &listed[2]["undone"]], [&json!("3"), &json!("partial")]);
}

/// The shop would let it begin today.
#[test]
fn no_sale_begins_and_nothing_is_guessed() {
    let env = TestEnv::new();
    with_hint(&env);
    let id = written(&env, "product set mug-blue hint=Chaud --store-view fr");
    env.sandbox.sql("INSERT INTO product_values VALUES ('mug-blue', 'special_price', 0, '9.000000')");
    stays(&env, &id, "has a special price");
    let hint = fails(&env, 3, &format!("undo {id} -y"))["hint"].clone();
    assert!(
        hint.as_str()
            .unwrap()
            .contains("storefront product set mug-blue --clear hint --store-view fr --allow-special-price"),
        "{hint}"
    );
    env.sandbox.sql("DELETE FROM product_values WHERE attribute_code = 'special_price'");
    let error = fails(&env, 3, &format!("undo {id}"));
    assert!(error["message"].as_str().unwrap().contains("Undo write"), "{error}");
    let cleared = done(&env, "product set mug-blue --clear hint --store-view fr")["write"].clone();
    stays(&env, cleared.as_str().unwrap(), "was not read before it was changed");
    // The attribute was created and put into a set by two calls.
    set_outcome(&env.home, 4, &json!({"outcome": "unknown", "sent_at": "2026-01-01T00:00:00Z"}));
    stays(&env, "3", "is unknown");
}

/// What was written to a product is listed with its labels, offline, scope by scope.
#[test]
fn the_history_of_a_product_has_each_scope() {
    let env = TestEnv::new();
    done(&env, LINE);
    done(&env, "product set mug-blue name=Tasse --store-view fr");
    env.requests();
    let listed = lines(&run(&env, "history"));
    let owners: Vec<&Value> = listed.iter().map(|row| &row["owner"]).collect();
    assert_eq!(owners, [&json!({"product": 1, "scope": "fr"}), &json!({"product": 1, "scope": "all"})]);
    let shown = done(&env, "history latest");
    let change = &shown["calls"][0]["changes"][0];
    assert_eq!(
        [&change["path"], &change["before"], &change["after"]],
        [&json!("values.name"), &json!("Tasse bleue"), &json!("Tasse")]
    );
    assert_eq!(env.requests(), Vec::<String>::new());
}
