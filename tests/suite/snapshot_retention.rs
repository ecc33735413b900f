//! Which data of customers is kept in the log, and for how long.

use serde_json::{Value, json};

use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::raw_http::CUSTOMER;
use crate::support::scripted::{methods, ok, profile, run};
use crate::support::storefront::Home;
use crate::support::test_env::{TestEnv, change_log, log_count, set_outcome, updates};

const UPDATE: &str = "--sandbox customer update --address 2 --yes --postcode";

/// A moment so many minutes ago.
fn ago(minutes: i64) -> jiff::Timestamp {
    jiff::Timestamp::now() - jiff::SignedDuration::from_mins(minutes)
}

const DAY: i64 = 24 * 60;

/// Lets an update be so many days old, with this outcome.
fn age(home: &Home, update: i64, days: i64, outcome: &Value) {
    set_outcome(home, update, outcome);
    let closed = outcome["at"].as_str().map(|at| at.parse::<jiff::Timestamp>().unwrap());
    let left = ago(days * DAY);
    let closed = closed.unwrap_or(left).as_microsecond();
    let left = left.as_microsecond();
    change_log(
        home,
        &format!(
            "UPDATE write SET left_at = {left}, closed_at = {closed} WHERE id = {update};
             UPDATE run SET began = {left} WHERE id = (SELECT run FROM write WHERE id = {update})"
        ),
    );
}

/// Says that it was looked so many days ago for what is too old.
fn looked(home: &Home, days: i64) {
    change_log(home, &format!("UPDATE log SET looked_at = {}", ago(days * DAY).as_microsecond()));
}

fn is_there(home: &Home, update: i64) -> bool {
    let documents = log_count(home, &format!("SELECT count(*) FROM document WHERE write = {update}"));
    assert_eq!(documents, log_count(home, &format!("SELECT count(*) FROM write WHERE id = {update}")));
    documents == 1
}

fn old_outcome() -> Value {
    json!({"outcome": "applied", "at": "2020-01-01T00:00:00Z", "verified": true})
}

/// It is looked once a day, by any command that writes.
#[test]
fn old_updates_of_every_customer_go_whatever_their_number() {
    let home = Home::new();
    for customer in ["1", "2"] {
        home.ok(&format!("--sandbox --api magento customer update --customer {customer} --gender 3 --yes"));
    }
    let old = updates(&home);
    for update in &old {
        age(&home, *update, 40, &old_outcome());
    }
    let write = "--sandbox attribute create --code c{} --label C --type text";
    home.ok(&write.replace("{}", "1"));
    assert!(old.iter().all(|update| is_there(&home, *update)), "it was looked a moment ago");
    looked(&home, 2);
    home.ok(&write.replace("{}", "2"));
    assert_eq!(updates(&home), [3, 4], "the two attributes");
    assert_eq!(home.ok("--sandbox --api magento history -o json"), "");
    assert_eq!(log_count(&home, "SELECT count(*) FROM run WHERE arguments LIKE '%gender%'"), 0);
    // No id is given twice.
    home.ok("--sandbox --api magento customer update --customer 2 --gender 1 --yes");
    assert_eq!(updates(&home), [3, 4, 5]);
}

#[test]
fn what_is_open_or_of_the_last_minutes_stays() {
    let home = Home::new();
    let long_ago = "2020-01-01T00:00:00Z";
    let (unknown, mismatch) = (
        json!({"outcome": "unknown", "sent_at": long_ago}),
        json!({"outcome": "mismatch", "sent_at": long_ago, "is_final": true}),
    );
    for (number, (days, outcome, stays)) in [
        (40, old_outcome(), false),
        (40, json!({"outcome": "refused"}), false),
        (89, unknown.clone(), true),
        (89, mismatch.clone(), true),
        (92, unknown, false),
        (92, mismatch, false),
        (40, json!({"outcome": "applied", "at": ago(0).to_string(), "verified": true}), true),
    ]
    .into_iter()
    .enumerate()
    {
        home.ok(&format!("{UPDATE} 1011{number} --after-unknown"));
        let old = updates(&home).pop().unwrap();
        age(&home, old, days, &outcome);
        looked(&home, 2);
        home.ok(&format!("{UPDATE} 2011{number} --after-unknown"));
        assert_eq!(is_there(&home, old), stays, "{days}: {outcome}");
    }
    // Those that stay are told.
    let told = home.run("--sandbox doctor -o json");
    let checks: Value = serde_json::from_str(&told.stdout).unwrap();
    let history =
        checks["checks"].as_array().unwrap().iter().find(|check| check["check"] == "history").unwrap();
    assert_eq!(history["status"], "warning");
    assert!(history["detail"].as_str().unwrap().ends_with("customer 1: 7, 5"), "{history}");
}

/// How long an update is kept is said by the profile that it was made with, whatever profile looks.
#[test]
fn an_update_is_kept_as_long_as_its_own_profile_says() {
    let env = TestEnv::new();
    let profile = |name: &str, days: u32| {
        let url = env.url();
        format!(
            "[profiles.{name}]\nbase-url = \"{url}\"\nstore-view = \"default\"\nretention-days = {days}\ntoken = \"{CUSTOMER}\"\n"
        )
    };
    env.home.write("config.toml", profile("long", 365) + &profile("short", 10), 0o600);
    let update = |name: &str, postcode: u32| {
        env.home.ok(&format!("-p {name} customer update --address 2 --yes --postcode {postcode}"));
    };
    update("long", 10119);
    update("short", 10120);
    for id in updates(&env.home) {
        age(&env.home, id, 100, &old_outcome());
    }
    looked(&env.home, 2);
    update("short", 10121);
    assert_eq!(updates(&env.home), [1, 3]);
}

/// An address that a read of the last minute showed is not lost by a PUT that is made from an older read.
#[test]
fn the_last_read_outlives_every_look_for_what_is_too_old() {
    let lyon = |city: &str| {
        let addresses = json!([{"id": 1, "city": city}, {"id": 2}, {"id": 3, "city": "Lyon"}]);
        profile(json!({"addresses": addresses}))
    };
    let rome = "customer update --address 1 --city Rome --yes --settle 0";
    let older_than = |age: &str| format!("forget --older-than {age} --yes --profile shop");
    for look in [None, Some(older_than("30d")), Some(older_than("12h"))] {
        // Somebody else adds an address, a read shows it, and the next one comes from a replica that is behind.
        let script = vec![ok(&lyon("Paris")), ok(&profile(json!({})))];
        let server = MockServer::start(script);
        let home = Home::with_config(&format!(
            "[profiles.shop]\nbase-url = {:?}\nstore-view = \"default\"\n",
            server.url("")
        ));
        let shown = run(&home, &server.url(""), "customer update --address 1 --city Paris --yes");
        assert_eq!(shown.done()["reason"], "unchanged");
        if let Some(line) = &look {
            home.ok(line);
        } else {
            looked(&home, 2);
            let shop = MockServer::start(vec![dated(0)]);
            let written = run(&home, &shop.url(""), "attribute create --code c --label C --type text");
            assert_eq!(written.code, 0, "{written:?}");
        }
        let refused = run(&home, &server.url(""), rome);
        assert_eq!(refused.code, 3, "{look:?}: {refused:?}");
        assert!(refused.stderr.contains("address 3 is missing"), "{look:?}: {refused:?}");
        assert!(!methods(&server).contains(&"PUT".to_owned()), "{look:?}");
    }
}

/// Whatever the clock says, no more than a day has passed since the last command.
#[test]
fn a_clock_that_is_set_years_ahead_removes_nothing() {
    let home = Home::new();
    home.ok(&format!("{UPDATE} 10119"));
    age(&home, 1, 40, &old_outcome());
    // To the update it is as if the clock were ahead.
    looked(&home, 10_000);
    home.ok(&format!("{UPDATE} 10120"));
    assert!(is_there(&home, 1));
    home.ok(&format!("{UPDATE} 10121"));
    assert!(is_there(&home, 1), "it was looked a moment ago");
    looked(&home, 1);
    home.ok(&format!("{UPDATE} 10122"));
    assert!(!is_there(&home, 1));
}

/// A reply that was made so many hours from now, by the clock of the shop.
fn dated(hours: i64) -> Step {
    let date = jiff::Timestamp::now() + jiff::SignedDuration::from_hours(hours);
    let date = date.strftime("%a, %d %b %Y %H:%M:%S GMT");
    answer("200 OK", &format!("Date: {date}\r\n"), &profile(json!({})).to_string())
}

/// A wrong clock deletes nothing: the shop says what time it is.
#[test]
fn what_is_too_old_goes_only_where_the_shop_has_the_same_day() {
    let undated = ok(&profile(json!({})));
    let of_hours = [-48, 48, -20, 20].map(|hours| (dated(hours), hours.abs() > 24));
    for (step, stays) in [(undated, true)].into_iter().chain(of_hours) {
        let home = Home::new();
        home.ok(&format!("{UPDATE} 10119"));
        age(&home, 1, 40, &old_outcome());
        looked(&home, 2);
        let server = MockServer::start(vec![step]);
        let written = run(&home, &server.url(""), "attribute create --code c --label C --type text");
        assert_eq!(written.code, 0, "{written:?}");
        assert_eq!(is_there(&home, 1), stays, "{:?}", written.stderr);
    }
}

/// With `retention-days = 0` they go with the next command, as soon as nothing needs them.
#[test]
fn nothing_is_kept_with_zero_days_but_the_last_minutes() {
    let env = TestEnv::new();
    let config = format!(
        "[profiles.p]\nbase-url = \"{}\"\nstore-view = \"default\"\nretention-days = 0\ntoken = \"{CUSTOMER}\"\n",
        env.url()
    );
    env.home.write("config.toml", config, 0o600);
    let update = |postcode: u32| {
        env.home.ok(&format!("-p p customer update --address 2 --yes --postcode {postcode}"));
    };
    update(10119);
    update(10120);
    assert!(is_there(&env.home, 1), "reads of the next minute are compared with it");
    age(&env.home, 1, 1, &old_outcome());
    update(10121);
    assert_eq!(updates(&env.home), [2, 3]);
}

/// An update is deleted only after the one that made it too old went through.
#[test]
fn a_refused_restore_deletes_nothing() {
    let home = Home::new();
    home.ok(&format!("{UPDATE} 10119"));
    age(&home, 1, 40, &old_outcome());
    looked(&home, 2);
    let restore = "--sandbox undo 1 --yes --retry 0";
    assert_ne!(home.run(&format!("{restore} --fault PUT:400")).code, 0);
    assert!(is_there(&home, 1));
    home.ok(restore);
    assert!(!is_there(&home, 1));
}
