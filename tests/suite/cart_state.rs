//! Carts that are set to a state: what the reply and later reads of the cart say of a change.

use serde_json::{Value, json};

use crate::cart_reports::{JSON, impatient, json, on};
use crate::support::batch::lines;
use crate::support::magento::{done, fails, run};
use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::raw_http::ORDER;
#[cfg(unix)]
use crate::support::terminal::Terminal;
use crate::support::test_env::{TestEnv, log};

fn item(id: u32, qty: u32) -> Value {
    json!({"item_id": id, "sku": format!("mug-{id}"), "qty": qty, "quote_id": "7"})
}

/// The cart 7 of customer 1 as a search has it.
fn found(items: &[Value]) -> Step {
    json(&json!({"items": [cart(items)], "total_count": 1}))
}

fn cart(items: &[Value]) -> Value {
    json!({"id": 7, "is_active": true, "customer": {"id": 1}, "items": items})
}

/// Sets item 1, of which there are 2, to 5: the exit code, the object that was printed, and the methods of the requests.
fn set(answers: Vec<Step>) -> (i32, Value, Vec<String>) {
    run_on(answers, "quote set-item --customer 1 --item 1 --qty 5")
}

fn run_on(answers: Vec<Step>, line: &str) -> (i32, Value, Vec<String>) {
    let server = MockServer::start([vec![found(&[item(1, 2), item(2, 9)])], answers].concat());
    let outcome = on(&impatient(&server), &server, line);
    let printed =
        if outcome.code == 0 { serde_json::from_str(&outcome.stdout).unwrap() } else { outcome.error() };
    let methods = server.requests();
    let methods = methods.iter().map(|request| request.split(' ').next().unwrap().to_owned()).collect();
    (outcome.code, printed, methods)
}

#[test]
fn the_reply_verifies_a_quantity_and_else_a_read_of_the_cart() {
    let shown = |items: &[Value]| json(&cart(items));
    for (answers, code, verified) in [
        (vec![json(&item(1, 5))], 0, json!(true)),
        (vec![json(&json!({"item_id": "1", "qty": "5"}))], 0, json!(true)),
        (vec![json(&json!({})), shown(&[item(1, 5)])], 0, json!(true)),
        // What the answer shows is not the last word.
        (vec![json(&item(1, 2)), shown(&[item(1, 5)])], 0, json!(true)),
        (vec![json(&item(1, 3)), shown(&[item(1, 3)])], 0, json!(false)),
        (vec![json(&item(1, 3)), shown(&[item(2, 9)])], 0, json!(false)),
        (vec![json(&json!({})), Step::Close], 0, json!(false)),
        (vec![json(&json!({})), shown(&[item(1, 2)])], 9, json!(null)),
    ] {
        let (ended, printed, methods) = set(answers);
        assert_eq!((ended, &printed["verified"]), (code, &verified), "{printed}");
        assert_eq!(methods.iter().filter(|method| *method == "PUT").count(), 1, "{methods:?}");
        assert_eq!(printed["applied"], "yes", "{printed}");
    }
}

#[test]
fn a_lost_answer_is_applied_only_where_the_cart_shows_it_and_nothing_is_sent_again() {
    let shown = |items: &[Value]| json(&cart(items));
    let mut ordered = cart(&[item(1, 5)]);
    ordered["is_active"] = json!(false);
    let mut other = cart(&[item(1, 5)]);
    other["id"] = json!(8);
    for (after, code) in [
        (shown(&[item(1, 5)]), 0),
        (shown(&[item(1, 2)]), 8),
        (shown(&[item(1, 3)]), 8),
        (shown(&[item(2, 5)]), 8),
        (Step::Close, 8),
        (json(&json!([item(1, 5)])), 8),
        (json(&ordered), 8),
        (json(&other), 8),
    ] {
        let (ended, printed, methods) = set(vec![Step::Close, after]);
        assert_eq!(
            (ended, &printed["applied"]),
            (code, &json!(if code == 0 { "yes" } else { "unknown" })),
            "{printed}"
        );
        // Two looks prove it.
        assert_eq!(methods[..3], ["GET", "PUT", "GET"]);
        assert_eq!(methods.len(), if code == 0 { 4 } else { 3 }, "{methods:?}");
        if code == 8 {
            assert_eq!(
                printed["hint"],
                "look at the cart with `storefront -p shop quote show --customer 1`; if it is as before, run the command again"
            );
        }
    }
}

#[test]
fn a_change_that_is_refused_and_shown_is_a_mismatch() {
    let refused = || answer("400 Bad Request", JSON, r#"{"message": "mail failed"}"#);
    let (ended, printed, _) = set(vec![refused(), json(&cart(&[item(1, 5)]))]);
    assert_eq!((ended, &printed["applied"]), (9, &json!("unknown")), "{printed}");
    let (ended, printed, _) = set(vec![refused(), json(&cart(&[item(1, 2)]))]);
    assert_eq!((ended, &printed["applied"]), (4, &json!("no")), "{printed}");
}

#[test]
fn a_sku_that_is_in_the_cart_twice_names_the_items() {
    let env = TestEnv::new();
    done(&env, "quote add-item --sku mug-blue --qty 2");
    env.sandbox
        .sql("INSERT INTO quote_items (quote_id, sku, options, qty) VALUES (1, 'mug-blue', '[ ]', '3')");
    let error = fails(&env, 2, "quote set-item --sku mug-blue --qty 1");
    assert_eq!(error["message"], "the SKU `mug-blue` is in the cart several times: items 1 and 2");
    assert_eq!(error["hint"], "name one of them with --item ID, or `item_id`");
    done(&env, "quote set-item --sku mug-blue --item 2 --qty 1");
    assert_eq!(env.sandbox.show()["quotes"][0]["items"][1]["qty"], 1);
}

/// Removes item 1: the exit code, the object that was printed, and the methods of the requests.
fn remove(answers: Vec<Step>) -> (i32, Value, Vec<String>) {
    run_on(answers, "quote remove-item --customer 1 --item 1 --yes")
}

#[test]
fn a_removal_is_verified_by_the_cart_or_by_the_word_that_the_item_is_gone() {
    let shown = |items: &[Value]| json(&cart(items));
    let gone = || {
        let said = r#"{"message": "The %1 Cart doesn't contain the %2 item.", "parameters": [7, 1]}"#;
        answer("404 Not Found", JSON, said)
    };
    let mut ordered = cart(&[]);
    ordered["is_active"] = json!(false);
    for (answers, code, applied) in [
        (vec![json(&json!(true)), shown(&[item(2, 9)])], 0, "yes"),
        (vec![json(&json!(true)), shown(&[item(1, 2)])], 9, "yes"),
        (vec![gone(), shown(&[item(2, 9)])], 0, "yes"),
        // The word alone proves nothing.
        (vec![gone(), shown(&[item(1, 2)])], 4, "no"),
        (vec![Step::Close, shown(&[item(2, 9)])], 0, "yes"),
        (vec![Step::Close, shown(&[item(1, 2)])], 8, "unknown"),
        (vec![Step::Close, json(&ordered)], 8, "unknown"),
        (vec![Step::Close, json(&json!([]))], 8, "unknown"),
        (vec![answer("404 Not Found", JSON, r#"{"message": "no"}"#), shown(&[item(1, 2)])], 4, "no"),
    ] {
        let (ended, printed, methods) = remove(answers);
        assert_eq!((ended, &printed["applied"]), (code, &json!(applied)), "{printed}");
        assert_eq!(methods.iter().filter(|method| *method == "DELETE").count(), 1, "{methods:?}");
    }
}

#[test]
fn a_cart_is_cleared_item_by_item_and_says_what_is_left() {
    let shown = |items: &[Value]| json(&cart(items));
    let yes = || json(&json!(true));
    let gone = || answer("404 Not Found", JSON, r#"{"message": "The 7 Cart doesn't contain the 2 item."}"#);
    let refused = || answer("400 Bad Request", JSON, r#"{"message": "no"}"#);
    for (answers, code, applied, deleted) in [
        (vec![yes(), yes(), shown(&[])], 0, "yes", 2),
        (vec![yes(), gone(), shown(&[item(3, 1)])], 0, "yes", 2),
        (vec![yes(), yes(), shown(&[item(2, 9)])], 9, "yes", 2),
        (vec![yes(), refused(), shown(&[item(2, 9)])], 7, "partial", 2),
        (vec![yes(), refused(), shown(&[])], 9, "unknown", 2),
        (vec![refused(), shown(&[item(1, 2), item(2, 9)])], 4, "no", 1),
        (vec![refused(), Step::Close], 4, "unknown", 1),
        (vec![Step::Close, shown(&[item(2, 9)]), shown(&[item(2, 9)]), yes(), shown(&[])], 0, "yes", 2),
        (vec![Step::Close, shown(&[item(1, 2), item(2, 9)])], 8, "unknown", 1),
    ] {
        let (ended, printed, methods) = run_on(answers, "quote clear --customer 1 -y");
        assert_eq!((ended, &printed["applied"]), (code, &json!(applied)), "{printed}");
        assert_eq!(methods.iter().filter(|method| *method == "DELETE").count(), deleted, "{methods:?}");
    }
}

/// A journal of which the line with the outcome of the first record is lost, as after a crash.
fn lose_the_outcome(env: &TestEnv) {
    let journal = std::fs::read_to_string(env.home.dir.path().join("items.csv.journal")).unwrap();
    env.file("items.csv.journal", journal.split_inclusive('\n').take(2).collect::<String>());
}

/// The journal names the cart, so that an item that is not in it proves its removal.
#[test]
fn a_resumed_run_finds_the_removal_in_the_cart_that_it_was_sent_to() {
    for quote in ["", "1"] {
        let env = TestEnv::new();
        env.sandbox
            .sql("INSERT INTO quote_items (quote_id, sku, options, qty) VALUES (1, 'mug-blue', '[]', '2')");
        env.file("items.csv", format!("customer,sku,quote_id\n1,mug-blue,{quote}\n"));
        let first = run(&env, "quote remove-item -i items.csv -y");
        assert_eq!(lines(&first)[0]["applied"], "yes", "{first:?}");
        lose_the_outcome(&env);
        let again = run(&env, "quote remove-item -i items.csv -y --resume");
        assert_eq!(lines(&again)[0]["applied"], "yes", "{again:?}");
    }
}

/// The customer orders, and the next cart has the same products in the quantities that were set.
#[test]
fn what_was_written_to_a_cart_is_not_looked_for_in_the_next_one() {
    for (command, next) in
        [("quote set-item", "--sku mug-blue --qty 5"), ("quote remove-item", "--sku umbrella --qty 1")]
    {
        let env = TestEnv::new();
        done(&env, "quote add-item --sku mug-blue --qty 2");
        let qty = if command == "quote set-item" { "5" } else { "" };
        let (title, cell) = if qty.is_empty() { ("", String::new()) } else { (",qty", format!(",{qty}")) };
        env.file("items.csv", format!("customer,sku{title}\n1,mug-blue{cell}\n"));
        assert_eq!(run(&env, &format!("{command} -i items.csv -y")).code, 0);
        env.sandbox.sql(ORDER);
        done(&env, &format!("quote add-item {next}"));
        let cart = || env.sandbox.show()["quotes"].as_array().unwrap().last().cloned();
        let before = cart();
        let verified = run(&env, "verify items.csv.journal");
        assert_eq!((verified.code, &lines(&verified)[0]["state"]), (7, &json!("gone")), "{verified:?}");
        let undone = run(&env, "undo items.csv.journal --plan back.plan");
        let left = "cart 1 is not active any more, and nothing is undone in another cart";
        assert_eq!((undone.code, &lines(&undone)[0]["left"]), (3, &json!([left])), "{undone:?}");
        lose_the_outcome(&env);
        let again = run(&env, &format!("{command} -i items.csv -y --resume"));
        assert_eq!((again.code, &lines(&again)[0]["applied"]), (8, &json!("unknown")), "{again:?}");
        assert_eq!(cart(), before);
    }
}

/// A record whose outcome is unknown holds up later ones of its cart, and a resumed run looks at the cart.
#[test]
fn the_log_has_the_quantity_before_and_a_resumed_run_looks_at_the_cart() {
    for (fault, after) in [("PUT:reset-after-commitx1", "yes"), ("PUT:reset-before-commitx1", "unknown")] {
        let env = TestEnv::with_faults(&[fault]);
        done(&env, "quote add-item --sku mug-blue --qty 2");
        env.file("items.csv", "customer,sku,qty\n1,mug-blue,5\n1,mug-blue,6\n");
        let first = run(&env, "quote set-item -i items.csv -y --settle 0");
        let applied: Vec<Value> = lines(&first).iter().map(|line| line["applied"].clone()).collect();
        let expected = if after == "yes" { ["yes", "yes"] } else { ["unknown", "no"] };
        assert_eq!(applied, expected, "{first:?}");
        let find = "SELECT effect FROM write WHERE record = 2";
        let effect: String = log(&env.home).unwrap().query_row(find, [], |row| row.get(0)).unwrap();
        let mut change = json!({"path": "items[id=1].qty", "before": {"read": 2}, "sent": {"value": 5}});
        if after == "yes" {
            change["seen"] = json!({"value": 5});
        }
        let written = json!({"owner": {"kind": "cart", "id": "1"}, "changes": [change]});
        assert_eq!(serde_json::from_str::<Value>(&effect).unwrap(), written);
        let again = run(&env, "quote set-item -i items.csv -y --resume");
        let applied: Vec<Value> = lines(&again).iter().map(|line| line["applied"].clone()).collect();
        assert_eq!(applied, expected, "{again:?}");
        assert_eq!(env.sandbox.show()["quotes"][0]["items"][0]["qty"], if after == "yes" { 6 } else { 2 });
    }
}

/// As `clear` does: a person is asked, and where there is none it takes a yes.
#[cfg(unix)]
#[test]
fn removing_an_item_takes_a_yes() {
    let home = crate::support::storefront::Home::new();
    home.ok("--sandbox --api magento quote add-item --customer 1 --sku mug-blue --qty 1");
    let line = "--sandbox --api magento quote remove-item --customer 1 --sku mug-blue";
    home.run(line).assert_failure(
        3,
        snapbox::str![[r#"
error: cannot ask `Remove item 1 (mug-blue) from cart 1?`: not a terminal
  hint: add --yes
"#]],
    );
    std::fs::write(home.dir.path().join("items.csv"), "customer,sku\n1,mug-blue\n").unwrap();
    assert_eq!(home.run("--sandbox --api magento quote remove-item -i items.csv").code, 3);
    for (answer, left) in [("n", 1), ("y", 0)] {
        let words: Vec<&str> = line.split(' ').collect();
        let mut terminal = Terminal::run(&home, 100, &words, &[]);
        terminal.sees("Remove item 1 (mug-blue) from cart 1? (y/n)").confirms(answer);
        let (code, screen) = terminal.ends();
        assert_eq!(code, if answer == "y" { 0 } else { 130 }, "{screen}");
        let shown = home.ok("--sandbox --api magento quote show --customer 1 --jq .items|length");
        assert_eq!(shown.trim(), left.to_string(), "{screen}");
    }
}

/// A replica that lags behind shows the quantity that our own call has just replaced: that is no reason to say "unchanged".
#[test]
fn a_cart_that_does_not_show_our_own_change_is_not_a_basis() {
    let (old, new) = (found(&[item(1, 2)]), found(&[item(1, 5)]));
    let (to_five, back) = (json(&item(1, 5)), json(&item(1, 2)));
    let script = vec![old.clone(), to_five, old.clone(), old, new.clone(), back, new];
    let server = MockServer::start(script);
    let home = impatient(&server);
    let set = |qty: u32, settle: u32| {
        let line = format!("quote set-item --customer 1 --item 1 --qty {qty} --settle {settle}");
        on(&home, &server, &line)
    };
    assert_eq!(set(5, 0).code, 0);
    let behind = set(2, 0);
    let error = behind.error();
    assert_eq!((behind.code, &error["applied"]), (3, &json!("no")), "{behind:?}");
    let message = error["message"].as_str().unwrap();
    assert!(message.starts_with("the service shows an older cart than the last change left: "), "{error}");
    // A later read shows it.
    let shown = set(2, 5);
    assert_eq!((shown.code, &shown.done()["applied"]), (0, &json!("yes")), "{shown:?}");
    // The other way round, too.
    let again = set(5, 0);
    assert_eq!(again.code, 3, "{again:?}");
}
