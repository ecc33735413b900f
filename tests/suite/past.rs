//! `history`, `verify` and `undo` of what one command wrote.

use serde_json::{Value, json};

use crate::support::batch::lines;
use crate::support::magento::{done, fails, program, run};
use crate::support::raw_http::ORDER;
use crate::support::storefront::Outcome;
use crate::support::test_env::{TestEnv, change_log, set_outcome};

const ADD: &str = "quote add-item --customer 1 --sku mug-blue --qty 2";

/// The items of the first cart: SKU and quantity.
fn items(env: &TestEnv) -> Vec<(String, i64)> {
    let shown = env.sandbox.show();
    let items = shown["quotes"][0]["items"].as_array().cloned().unwrap_or_default();
    let item = |item: &Value| (item["sku"].as_str().unwrap().to_owned(), item["qty"].as_i64().unwrap());
    items.iter().map(item).collect()
}

fn has(items: &[(&str, i64)]) -> Vec<(String, i64)> {
    items.iter().map(|(sku, qty)| ((*sku).to_owned(), *qty)).collect()
}

fn state(verified: &Outcome) -> Value {
    lines(verified)[0]["state"].clone()
}

/// Each kind of write to a cart, undone where it is still so.
#[test]
fn what_was_written_to_a_cart_is_taken_back() {
    for (before, line, after, [allow, allow_again]) in [
        (&[][..], ADD, &[][..], ["--allow-delete 1", ""]),
        (&[ADD], ADD, &[("mug-blue", 2)], ["", ""]),
        (&[ADD], "quote set-item --customer 1 --sku mug-blue --qty 5", &[("mug-blue", 2)], ["", ""]),
        (
            &[ADD],
            "quote remove-item --customer 1 --sku mug-blue -y",
            &[("mug-blue", 2)],
            ["", "--allow-delete 1"],
        ),
        (
            &[ADD, "quote add-item --customer 1 --sku umbrella --qty 1"],
            "quote clear --customer 1 -y",
            &[("mug-blue", 2), ("umbrella", 1)],
            ["", "--allow-delete 2"],
        ),
    ] {
        let env = TestEnv::new();
        for line in before {
            done(&env, line);
        }
        let written = done(&env, line);
        let id = written["write"].as_str().unwrap();
        assert_eq!(run(&env, &format!("verify {id}")).code, 0, "{line}");
        let undone = done(&env, &format!("undo {id} -y {allow}"));
        assert_eq!((&undone["applied"], items(&env)), (&json!("yes"), has(after)), "{line}: {undone}");
        // An undo is undone by its own id.
        let undo = undone["write"].as_str().unwrap();
        let there = items(&env);
        let redone = run(&env, &format!("undo {undo} -y {allow_again}"));
        assert_eq!(redone.code, 0, "{line}: {redone:?}");
        assert_ne!(items(&env), there, "{line}");
    }
}

/// A value that was changed since stays, whoever changed it, and the shop is untouched.
#[test]
fn what_was_changed_since_is_left() {
    for (line, since, allow) in [
        (ADD, ADD, "--allow-delete 1"),
        (
            "quote set-item --customer 1 --sku mug-blue --qty 5",
            "quote set-item --customer 1 --sku mug-blue --qty 6",
            "",
        ),
        ("quote remove-item --customer 1 --sku mug-blue -y", ADD, ""),
        ("quote clear --customer 1 -y", ADD, ""),
    ] {
        let env = TestEnv::new();
        if line != ADD {
            done(&env, ADD);
        }
        let id = done(&env, line)["write"].as_str().unwrap().to_owned();
        done(&env, since);
        let before = env.sandbox.show();
        let verified = run(&env, &format!("verify {id}"));
        // The item that was removed is still gone: another one has its SKU.
        let is_removal = line.ends_with("-y");
        let expected = if is_removal { (0, json!("there")) } else { (7, json!("changed")) };
        assert_eq!((verified.code, state(&verified)), expected, "{line}: {verified:?}");
        let error = fails(&env, 3, &format!("undo {id} -y {allow}"));
        assert!(error["message"].as_str().unwrap().contains("can be undone"), "{error}");
        assert_eq!(env.sandbox.show(), before, "{line}");
    }
}

/// Another cart of the customer is not the one that was written to.
#[test]
fn nothing_is_undone_in_another_cart() {
    let env = TestEnv::new();
    done(&env, ADD);
    done(&env, "quote set-item --customer 1 --sku mug-blue --qty 5");
    env.sandbox.sql(ORDER);
    done(&env, ADD);
    let before = env.sandbox.show();
    let verified = run(&env, "verify 2");
    assert_eq!((verified.code, state(&verified)), (7, json!("gone")), "{verified:?}");
    let error = fails(&env, 3, "undo 2 -y");
    assert!(error["message"].as_str().unwrap().contains("cart 1 is not active any more"), "{error}");
    assert_eq!(env.sandbox.show(), before);
}

#[test]
fn what_an_undo_deletes_needs_its_number_and_every_undo_a_yes() {
    let env = TestEnv::new();
    done(&env, ADD);
    let before = env.sandbox.show();
    for line in ["undo 1 -y", "undo 1 -y --allow-delete 2", "undo 1 --allow-delete 1"] {
        let error = fails(&env, 3, line);
        assert_eq!(error["applied"], "no", "{line}: {error}");
    }
    for line in ["undo", "undo latest", "undo --cart 1 -y"] {
        fails(&env, 2, line);
    }
    assert_eq!(env.sandbox.show(), before);
    done(&env, "undo 1 -y --allow-delete 1");
    assert_eq!(items(&env), has(&[]));
}

/// An unknown outcome is not undone; `verify` notes it where it is shown.
#[test]
fn an_unknown_outcome_is_looked_for_before_it_is_undone() {
    let env = TestEnv::new();
    done(&env, ADD);
    done(&env, "quote set-item --customer 1 --sku mug-blue --qty 5");
    set_outcome(&env.home, 2, &json!({"outcome": "unknown", "sent_at": "2026-01-01T00:00:00Z"}));
    let error = fails(&env, 3, "undo 2 -y");
    assert!(error["hint"].as_str().unwrap().contains("verify 2"), "{error}");
    let verified = run(&env, "verify 2");
    assert_eq!((verified.code, state(&verified)), (0, json!("seen")), "{verified:?}");
    done(&env, "undo 2 -y");
    assert_eq!(items(&env), has(&[("mug-blue", 2)]));
}

#[test]
fn what_was_refused_or_is_not_shown_is_not_said_to_be_incomparable() {
    let refused = "quote add-item --customer 1 --sku nobody-has-it --qty 1";
    for (faults, line, says) in [
        (&[][..], refused, "nothing of write 1 was applied"),
        (&["POST:reset-before-commit"], ADD, "the shop does not show write 1"),
    ] {
        let env = TestEnv::with_faults(faults);
        assert_ne!(run(&env, &format!("{line} --retry 0 --settle 0")).code, 0);
        let verified = run(&env, "verify 1");
        assert_eq!((verified.code, verified.error()["message"].as_str()), (8, Some(says)), "{verified:?}");
    }
}

#[test]
fn a_profile_a_default_option_and_what_has_no_inverse() {
    let env = TestEnv::new();
    let city = env.address(2)["city"].clone();
    let id = done(&env, "customer update --customer 1 --address 2 --city Troy -y")["write"].clone();
    let id = id.as_str().unwrap();
    assert_eq!(state(&run(&env, &format!("verify {id}"))), "there");
    done(&env, &format!("undo {id} -y"));
    assert_eq!(env.address(2)["city"], city);
    let history = lines(&run(&env, "history"));
    assert_eq!((&history[0]["undoes"], &history[1]["undone_by"]), (&json!(id), &history[0]["write"]));

    done(
        &env,
        "attribute create --code fit --label Fit --type select --option Slim --option Wide --default-option Slim",
    );
    let set = done(&env, "attribute option default fit Wide")["write"].clone();
    let set = set.as_str().unwrap();
    assert_eq!(run(&env, &format!("verify {set}")).code, 0);
    done(&env, &format!("undo {set} -y"));
    let shown = done(&env, "attribute show fit");
    let slim = shown["options"].as_array().unwrap().iter().find(|option| option["label"] == "Slim").unwrap();
    assert_eq!(shown["default_value"], slim["value"]);

    let before = env.sandbox.show();
    let added = done(&env, "attribute option add fit --option Tall")["write"].clone();
    let with_tall = env.sandbox.show();
    assert_ne!(before, with_tall);
    fails(&env, 3, &format!("undo {} -y", added.as_str().unwrap()));
    assert_eq!(env.sandbox.show(), with_tall);
}

#[test]
fn history_lists_the_writes_of_every_operation_and_needs_no_shop() {
    let env = TestEnv::new();
    done(&env, ADD);
    done(&env, "customer update --customer 1 --address 2 --city Troy -y");
    env.file("items.csv", "customer,sku,qty\n1,mug-blue,2\n");
    assert_eq!(run(&env, "quote add-item -i items.csv -y").code, 0);
    env.requests();
    let listed = lines(&run(&env, "history"));
    let rows: Vec<_> = listed
        .iter()
        .map(|row| (row["write"].clone(), row["operation"].clone(), row["outcome"].clone()))
        .collect();
    let row = |id: &str, operation: &str, outcome: &str| (json!(id), json!(operation), json!(outcome));
    assert_eq!(
        rows,
        [
            row("3", "quote add-item", "done"),
            row("2", "customer update", "applied"),
            row("1", "quote add-item", "applied"),
        ]
    );
    assert_eq!(listed[2]["owner"], json!({"cart": 1}));
    let of_cart = lines(&run(&env, "history --cart 1"));
    assert_eq!(of_cart.len(), 2, "{of_cart:?}");
    let shown = done(&env, "history 2");
    assert_eq!(shown["calls"][0]["changes"][0]["after"], "Troy", "{shown}");
    assert_eq!(lines(&run(&env, "history 3"))[0]["state"], "done");
    assert_eq!(lines(&run(&env, "history items.csv.journal"))[0]["state"], "done");
    assert_eq!(env.requests(), Vec::<String>::new());
    fails(&env, 2, "history 99");
}

/// Of a batch `undo` only plans: beside the command, under a name that the ID gives, also where nothing may be written.
#[test]
fn a_batch_is_undone_by_its_id_with_a_plan() {
    let env = TestEnv::new();
    let city = env.address(2)["city"].clone();
    env.file("moves.csv", "customer,address_id,city\n1,2,Troy\n");
    assert_eq!(run(&env, "customer update -i moves.csv -y").code, 0);
    assert_eq!(lines(&run(&env, "verify 1"))[0]["state"], "there");
    env.requests();
    let refused = program(&env, "undo 1:2 -y").env("STOREFRONT_WRITES", "no").run();
    assert_eq!((refused.code, env.requests()), (3, vec![]), "{refused:?}");
    let planned = program(&env, "undo 1").env("STOREFRONT_WRITES", "no").run();
    assert_eq!((planned.code, env.requests()), (0, vec!["GET 200".to_owned()]), "{planned:?}");
    assert_eq!(run(&env, "apply undo-1.plan -y").code, 0);
    assert_eq!(env.address(2)["city"], city);
    let listed = lines(&run(&env, "history"));
    assert_eq!(
        [&listed[0]["undoes"], &listed[1]["undone_by"], &listed[1]["undone"]],
        [&json!("1"), &json!("2"), &json!("yes")]
    );
    // What was undone is not `latest`, and neither is an undo.
    fails(&env, 2, "verify latest");
    fails(&env, 2, "history --state done");
}

/// Of writes to several things those to one are chosen by its kind and ID.
#[test]
fn the_writes_to_one_thing_are_chosen() {
    let env = TestEnv::new();
    done(&env, ADD);
    run(&env, "order update 000000002 --shipping --telephone 5550100 -y");
    done(&env, "product set mug-blue weight=0.5");
    done(&env, "product set umbrella weight=0.5");
    for (owner, id) in [("--cart 1", "1"), ("--order 2", "2"), ("--product 1", "3"), ("--product 2", "4")] {
        let listed: Vec<Value> = lines(&run(&env, &format!("history {owner}")));
        let ids: Vec<&Value> = listed.iter().map(|row| &row["write"]).collect();
        assert_eq!(ids, [&json!(id)], "{owner}");
        let verified = run(&env, &format!("verify {owner}"));
        assert_eq!((verified.code, lines(&verified)[0]["write"].clone()), (0, json!(id)), "{owner}");
    }
    let error = fails(&env, 2, "undo 3 -y --order 2");
    assert!(error["message"].as_str().unwrap().contains("is none to order 2"), "{error}");
    let error = fails(&env, 2, "history --order 000000002");
    assert!(error["message"].as_str().unwrap().contains("`000000002` is the number of an order"), "{error}");
    fails(&env, 2, "verify --order 2 --product 1");
}

#[test]
fn a_history_that_cannot_be_read_to_its_end_prints_nothing() {
    let env = TestEnv::new();
    for code in ["one", "two"] {
        assert_eq!(env.run(&format!("attribute create --code {code} --label {code} --type text")).code, 0);
    }
    change_log(&env.home, "UPDATE write SET owner_kind = CAST(x'ff' AS TEXT) WHERE id = 1");
    let listed = env.run("history -o json");
    assert_eq!((listed.code, listed.stdout.as_str()), (3, ""), "{listed:?}");
}

/// The shop was busy, and the call was made again.
#[test]
fn a_call_that_was_not_sent_and_was_made_again_counts_once() {
    let env = TestEnv::with_faults(&["PUT:429=0x1"]);
    assert_eq!(env.run("customer update --address 2 --city Oslo").code, 0);
    let [of_run] = &lines(&env.run("history -o json"))[..] else { panic!() };
    assert_eq!(
        (&of_run["outcome"], of_run["changes"].as_array().unwrap().len()),
        (&json!("applied"), 1),
        "{of_run}"
    );
}

/// An address that came back and was edited is that address: it does not come back a second time.
#[test]
fn an_address_that_came_back_and_was_edited_does_not_come_back_again() {
    let env = TestEnv::new();
    let addresses = |env: &TestEnv| env.profile()["addresses"].as_array().unwrap().len();
    let count = addresses(&env);
    assert_eq!(run(&env, "customer update --customer 1 --remove-address 2 -y").code, 0);
    assert_eq!(run(&env, "undo 1 -y").code, 0);
    assert_eq!(addresses(&env), count);
    let new = env.profile()["addresses"].as_array().unwrap().last().unwrap()["id"].as_i64().unwrap();
    let edited = format!("UPDATE addresses SET body = json_set(body, '$.city', 'Lyon') WHERE id = {new}");
    env.sandbox.sql(&edited);
    run(&env, "undo 1 -y");
    assert_eq!(addresses(&env), count);
}
