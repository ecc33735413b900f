//! `order update`: what becomes of the comment, of orders of guests and without goods, and of several orders with one number.

use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};

use crate::support::magento::{done, fails, program, run};
use crate::support::storefront::{Home, Outcome, ended};
use crate::support::terminal::{Look, Terminal};
use crate::support::test_env::{TestEnv, after_a_minute, set_outcome};

const CORRECTION: &str = "order update 000000002 --shipping --postcode 10119 -y";

/// Order 2, with what the panel's list has of it.
fn order(env: &TestEnv) -> Value {
    env.sandbox.show()["orders"][1].clone()
}

fn comments(env: &TestEnv) -> Vec<String> {
    let order = order(env);
    let comments = order["comments"].as_array().unwrap().iter();
    comments.map(|comment| comment["comment"].as_str().unwrap().to_owned()).collect()
}

/// Runs a line that gets a signal while its request with this number is answered.
fn signalled(signal: rustix::process::Signal, number: usize, line: &str) -> (TestEnv, Outcome) {
    let process: Arc<OnceLock<u32>> = Arc::default();
    let child = process.clone();
    let env = TestEnv::watched(
        |_| {},
        move |at, _| {
            if at == number {
                let id = rustix::process::Pid::from_raw(i32::try_from(*child.wait()).unwrap()).unwrap();
                let _ = rustix::process::kill_process(id, signal);
                std::thread::sleep(std::time::Duration::from_millis(150));
            }
        },
    );
    env.file("orders.csv", "order,address,postcode\n000000002,shipping,10119\n");
    let running = program(&env, &format!("{line} -q -o json")).spawn();
    process.set(running.id()).unwrap();
    let outcome = ended(running);
    (env, outcome)
}

/// The address is saved by then, and the panel's list would stay old.
#[test]
fn the_comment_is_added_also_after_a_signal() {
    let (env, outcome) = signalled(rustix::process::Signal::INT, 3, CORRECTION);
    assert_eq!(outcome.code, 130, "{outcome:?}");
    assert_eq!(comments(&env).len(), 2, "{outcome:?}");
    let order = order(&env);
    assert_eq!(order["addresses"][1]["postcode"], "10119");
    assert_eq!(order["grid"]["shipping_address"], "350 Fifth Avenue,New York,New York,10119");
}

/// The requests of a batch of one record: the numbers are looked up, the order is found, read, written and looked at, and the
/// comment is added.
#[test]
fn a_resume_adds_the_comment_that_is_missing_and_no_other() {
    const RESUME: &str = "order update -i orders.csv -y --resume";
    for (killed_at, before) in [(5, 1), (6, 2)] {
        let batch = "order update -i orders.csv -y";
        let (env, killed) = signalled(rustix::process::Signal::KILL, killed_at, batch);
        assert_eq!(comments(&env).len(), before, "{killed:?}");
        assert_eq!(order(&env)["addresses"][1]["postcode"], "10119");
        for _ in 0..2 {
            let resumed = run(&env, RESUME);
            assert_eq!(resumed.code, 0, "{resumed:?}");
        }
        assert_eq!(comments(&env)[0], "shipping address corrected: postcode 10118 → 10119");
        assert_eq!(comments(&env).len(), 2);
        // What the resume has seen of the killed run is in the log.
        let shown = done(&env, "history 1:2");
        let calls = shown["calls"].as_array().unwrap();
        assert!(!calls.is_empty() && calls.iter().all(|call| call["outcome"] == "applied"), "{shown}");
        assert_eq!(env.requests().iter().filter(|request| request.starts_with("PUT")).count(), 1);
    }
}

/// As after a run that was killed between the address and the comment.
#[test]
fn a_text_without_a_correction_is_not_dropped_without_a_word() {
    let env = TestEnv::new();
    assert_eq!(run(&env, &format!("{CORRECTION} --no-comment")).code, 0);
    let line = format!("{CORRECTION} --comment 'The customer called'");
    let outcome = run(&env, &line);
    assert_eq!((outcome.code, comments(&env).len()), (0, 1), "{outcome:?}");
    let said = "the comment was not added, for the address was there already; add it with \
         `storefront order update 000000002 --comment 'The customer called'`";
    assert!(outcome.stderr.contains(said), "{outcome:?}");
    done(&env, "order update 000000002 --comment 'The customer called' -y");
    done(&env, &line);
    assert_eq!(comments(&env).len(), 2);
}

/// The panel's list stays old until a comment comes.
#[test]
fn a_correction_that_is_there_without_its_comment_says_so() {
    let said = "the comment was not added, for the address was there already; add it with `";
    for number in [3, 4] {
        let (env, killed) = signalled(rustix::process::Signal::KILL, number, CORRECTION);
        assert_eq!(comments(&env).len(), 1, "{killed:?}");
        // A later correction of the other address has a comment of its own.
        done(&env, "order update 000000002 --billing --city Lyon -y");
        let again = run(&env, CORRECTION);
        assert_eq!((again.code, comments(&env).len()), (0, 2), "{again:?}");
        let comment = "order update 000000002 --comment 'shipping address corrected: postcode 10118 → 10119'";
        assert!(again.stderr.contains(&format!("{said}storefront {comment}`")), "{again:?}");
        done(&env, &format!("{comment} -y"));
        assert!(!run(&env, CORRECTION).stderr.contains(said));
        assert_eq!(comments(&env).len(), 3);
    }
    let env = TestEnv::new();
    assert_eq!(run(&env, &format!("{CORRECTION} --no-comment")).code, 0);
    assert!(!run(&env, CORRECTION).stderr.contains(said), "none was wanted");
}

#[test]
fn a_comment_follows_the_address_that_was_saved_where_the_other_one_was_not() {
    let env = TestEnv::new();
    // The shop refuses to save an address with such an email.
    env.sandbox.sql("UPDATE order_addresses SET body = json_set(body, '$.email', 'none') WHERE id = 3");
    let refused = run(&env, "order update 000000002 --both --telephone '+1 212 555 0100' -y");
    assert_eq!(refused.code, 7, "{refused:?}");
    let error = refused.error();
    assert_eq!(error["applied"], "partial");
    let calls = error["calls"].as_array().unwrap().iter();
    let calls: Vec<_> = calls.map(|call| (&call["call"], &call["applied"])).collect();
    assert_eq!(
        calls,
        [
            (&json!("shipping address"), &json!("yes")),
            (&json!("billing address"), &json!("no")),
            (&json!("comment"), &json!("yes"))
        ]
    );
    assert_eq!(
        comments(&env)[0],
        "shipping address corrected: telephone number +1 212 736 3100 → +1 212 555 0100"
    );
}

#[test]
fn a_guest_has_orders_and_no_stored_addresses() {
    let env = TestEnv::new();
    env.sandbox.sql("UPDATE orders SET customer_id = NULL WHERE id = 2");
    let listed = done(&env, "order list --customer amina.haddad@example.com --limit 1");
    assert_eq!(listed["order"], "000000003");
    let all = run(&env, "order list --customer amina.haddad@example.com");
    assert_eq!(all.stdout.lines().count(), 2, "{all:?}");
    let error = fails(&env, 2, "order update 000000002 --billing --from-address 1 -y");
    assert_eq!(error["message"], "order 000000002 is a guest's, who has no stored addresses");
    assert_eq!(run(&env, "order update 000000002 --billing --city Lyon -y").code, 0);
}

#[test]
fn a_virtual_order_has_only_a_billing_address() {
    let env = TestEnv::new();
    env.sandbox.sql("DELETE FROM order_addresses WHERE id = 4");
    env.sandbox.sql("UPDATE orders SET body = json_set(body, '$.is_virtual', 1) WHERE id = 2");
    let error = fails(&env, 2, CORRECTION);
    assert_eq!(error["message"], "order 000000002 is virtual: it has no shipping address");
    let both = run(&env, "order update 000000002 --both --city Lyon -y");
    assert_eq!(both.code, 0, "{both:?}");
    assert!(
        both.stderr.contains("order 000000002 is virtual: only its billing address is corrected"),
        "{both:?}"
    );
    assert_eq!(order(&env)["addresses"][0]["city"], "Lyon");
}

#[test]
fn several_orders_with_one_number_are_named_by_their_ids() {
    let env = TestEnv::new();
    env.sandbox.sql("UPDATE orders SET increment_id = '000000002' WHERE id = 3");
    let error = fails(&env, 2, CORRECTION);
    assert_eq!(error["message"], "2 orders have the number `000000002`: 3 (store 1), 2 (store 1)");
    env.file("orders.csv", "order,address,postcode\n000000002,shipping,10119\n");
    fails(&env, 2, "order update -i orders.csv -y");
    env.file("ids.csv", "order_id,address,postcode\n3,shipping,10117\n2,shipping,10119\n");
    let done = run(&env, "order update -i ids.csv -y");
    assert_eq!(done.code, 0, "{done:?}");
}

#[test]
fn what_is_open_is_asked_for_and_the_correction_is_confirmed() {
    Look::each(|look| {
        let home = Home::new();
        let mut terminal = Terminal::looking(&home, look, 200, "--sandbox --api magento order update");
        terminal.asks("Customer (ID or email)").answers("1").picks("000000002").picks("shipping");
        terminal.picks("Postcode").asks("Postcode").replaces("10119").sees("10119  (was 10118)");
        terminal.picks("Done, review changes");
        terminal
            .sees("shipping and tax are not calculated again")
            .sees("10118")
            .sees("Send it?")
            .confirms("y");
        terminal.sees("Order 000000002: shipping address corrected: postcode 10118 → 10119");
        terminal.sees("Equivalent command:");
        terminal.sees("storefront --sandbox --api magento order update --id 2 --shipping --postcode 10119");
        assert_eq!(terminal.ends().0, 0);
        let shown = home.ok("--sandbox --api magento order show 000000002 --jq .status_histories[0].comment");
        assert_eq!(shown.trim(), "shipping address corrected: postcode 10118 → 10119");
    });
}

#[test]
fn a_no_sends_nothing_and_a_new_country_asks_for_its_region() {
    let home = Home::new();
    let words = ["--sandbox", "--api", "magento", "order", "update", "000000002", "--shipping"];
    let mut terminal = Terminal::run(&home, 200, &words, &[]);
    terminal.picks("Country").asks("Country").replaces("Germany").asks("Region, by name or code");
    terminal.replaces("BER").picks("City").asks("City").replaces("Berlin").picks("Done, review changes");
    terminal.sees("Send it?").confirms("n");
    let (code, screen) = terminal.ends();
    assert_eq!(code, 130, "{screen}");
    assert!(screen.contains("--shipping --country Germany --region BER --city Berlin"), "{screen}");
    let city = home.ok(
        "--sandbox --api magento order show 000000002 --jq .extension_attributes.shipping_assignments[0].shipping.address.city",
    );
    assert_eq!(city.trim(), "New York");
}

fn set_postcode(env: &TestEnv, postcode: &str) {
    env.sandbox.sql(&format!(
        "UPDATE order_addresses SET body = json_set(body, '$.postcode', '{postcode}') WHERE id = 4"
    ));
}

/// It may still take effect, and carries the whole address.
#[test]
fn an_open_correction_is_asked_about_for_ten_minutes() {
    const NEXT: &str = "order update 000000002 --shipping --city Albany --no-comment -y";
    let env = TestEnv::new();
    assert_eq!(run(&env, CORRECTION).code, 0);
    let sent_at = |minutes: i64| {
        let at = jiff::Timestamp::now() - jiff::SignedDuration::from_mins(minutes);
        set_outcome(&env.home, 1, &json!({"outcome": "unknown", "sent_at": at.to_string()}));
    };
    sent_at(9);
    set_postcode(&env, "10118");
    let before = order(&env);
    let error = fails(&env, 3, NEXT);
    assert!(
        error["message"].as_str().unwrap().contains("it is unknown whether write 1 was saved"),
        "{error}"
    );
    assert!(error["hint"].as_str().unwrap().contains("storefront verify 1"), "{error}");
    assert_eq!(order(&env), before);
    // Another address of another order is not meant.
    assert_eq!(run(&env, "order update 000000003 --billing --city Lyon --no-comment -y").code, 0);
    sent_at(11);
    assert_eq!(run(&env, NEXT).code, 0);

    let env = TestEnv::new();
    assert_eq!(run(&env, CORRECTION).code, 0);
    set_outcome(&env.home, 1, &json!({"outcome": "unknown", "sent_at": jiff::Timestamp::now().to_string()}));
    // It is shown: it was saved.
    assert_eq!(run(&env, NEXT).code, 0);
    assert_eq!(done(&env, "history 1")["outcome"], "applied");
}

/// The whole address is sent: that of an old read would undo our own correction.
#[test]
fn an_order_is_as_new_as_our_last_correction() {
    let env = TestEnv::new();
    assert_eq!(run(&env, CORRECTION).code, 0);
    set_postcode(&env, "10118");
    let before = order(&env);
    // Nothing is said to be unchanged by such a read, either.
    for change in ["--city Albany", "--postcode 10118"] {
        let line = format!("order update 000000002 --shipping {change} --no-comment -y --settle 0.2s");
        let error = fails(&env, 3, &line);
        assert!(
            error["message"].as_str().unwrap().contains("older order than the last change left"),
            "{error}"
        );
        assert_eq!(order(&env), before);
    }
    let error = fails(&env, 3, "undo 1 -y --settle 0.2s");
    assert!(error["message"].as_str().unwrap().contains("older order than the last change left"), "{error}");
    after_a_minute(&env.home);
    assert_eq!(run(&env, "order update 000000002 --shipping --city Albany --no-comment -y").code, 0);
}

/// What a colleague does to the addresses of order 2 just after the shipping address has got this city.
fn colleague(env: &TestEnv, city: &str, does: &str) {
    env.sandbox.sql(&format!(
        "CREATE TRIGGER colleague AFTER UPDATE ON order_addresses
         WHEN NEW.id = 4 AND NEW.body ->> '$.city' = '{city}' BEGIN {does}; END"
    ));
}

/// Each call carries a whole address, as it was read before the first of them.
#[test]
fn the_second_address_is_not_saved_where_a_colleague_has_changed_it_meanwhile() {
    let env = TestEnv::new();
    let does = "UPDATE order_addresses SET body = json_set(body, '$.company', 'Theirs') WHERE id = 3";
    colleague(&env, "Lyon", does);
    let line = "order update 000000002 --both --city Lyon -y";
    let part = run(&env, line);
    assert_eq!((part.code, part.error()["applied"].clone()), (7, json!("partial")), "{part:?}");
    let cities = |env: &TestEnv| [0, 1].map(|at| order(env)["addresses"][at]["city"].clone());
    assert_eq!(cities(&env), ["Paris", "Lyon"]);
    assert_eq!(order(&env)["addresses"][0]["company"], "Theirs");
    assert_eq!(run(&env, line).code, 0);
    assert_eq!(cities(&env), ["Lyon", "Lyon"]);
    assert_eq!(order(&env)["addresses"][0]["company"], "Theirs");
}

#[test]
fn the_comment_says_what_was_sent_and_not_what_a_colleague_has_made_of_it() {
    let env = TestEnv::new();
    colleague(
        &env,
        "Lyon",
        "UPDATE order_addresses SET body = json_set(body, '$.city', 'Troy') WHERE id = 4",
    );
    assert_eq!(run(&env, "order update 000000002 --shipping --city Lyon -y --settle 0.2").code, 0);
    assert_eq!(comments(&env)[0], "shipping address corrected: city New York → Lyon");
}

#[test]
fn of_two_addresses_the_first_of_which_is_not_shown_the_other_is_not_applied() {
    let env = TestEnv::new();
    colleague(
        &env,
        "Lyon",
        "UPDATE order_addresses SET body = json_set(body, '$.city', 'New York') WHERE id = 4",
    );
    let other = run(&env, "order update 000000002 --both --city Lyon -y --settle 0.2");
    assert_eq!((other.code, other.error()["applied"].clone()), (9, json!("partial")), "{other:?}");
    assert_eq!(order(&env)["addresses"][0]["city"], "Paris");
}

#[test]
fn what_a_colleague_corrected_meanwhile_is_shown_with_the_question() {
    let home = Home::new();
    let update = "--sandbox --api magento order update 000000002 --shipping";
    let mut terminal = Terminal::looking(&home, Look::Color, 200, update);
    terminal.picks("Postcode").asks("Postcode").replaces("10119").sees("10119  (was 10118)");
    home.ok(&format!("{update} --city Hoboken --telephone 5550100 --yes"));
    terminal.picks("Done, review changes").sees("Changed by others meanwhile:");
    terminal.sees("→ Hoboken").sees("→ 5550100").sees("Send it?").confirms("y");
    assert_eq!(terminal.ends().0, 0);
}

#[test]
fn the_comment_waits_as_long_as_the_shop_asked_for_when_it_refused_the_other_address() {
    let env = TestEnv::with_faults(&["PUT:429=2@50x1:seed=97"]);
    let begun = std::time::Instant::now();
    let half = run(&env, "order update 000000002 --both --telephone '+1 212 555 0100' -y --retry 0");
    assert_eq!((half.code, comments(&env).len()), (7, 2), "{half:?}");
    assert!(begun.elapsed() >= std::time::Duration::from_secs(2), "{:?}", begun.elapsed());
}

#[test]
fn a_part_stays_a_part_when_the_batch_is_resumed() {
    let env = TestEnv::new();
    let taken_back = "UPDATE order_addresses SET body = json_set(body, '$.city', 'New York') WHERE id = 4";
    colleague(&env, "Lyon", taken_back);
    env.file("orders.csv", "order,address,city\n000000002,both,Lyon\n");
    for flag in ["--settle 0.2", "--resume"] {
        let outcome = run(&env, &format!("order update -i orders.csv -y {flag}"));
        let line: Value = serde_json::from_str(outcome.stdout.lines().next().unwrap_or("null")).unwrap();
        assert_eq!((outcome.code, &line["applied"]), (9, &json!("partial")), "{outcome:?}");
        let hint = line["error"]["hint"].as_str().unwrap();
        assert!(!hint.contains("customer"), "{hint}");
    }
}
