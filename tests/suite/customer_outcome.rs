//! What becomes of an update: what reads prove, and what holds the next one back.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::mock_server::{MockServer, Step};
use crate::support::scripted::{UPDATE, against, methods, ok, profile, run};
use crate::support::storefront::Home;
use crate::support::test_env::{set_outcome, updates};

fn old() -> Value {
    profile(json!({}))
}

fn new() -> Value {
    profile(json!({"email": "new@example.com"}))
}

fn taken() -> Step {
    ok(&json!({}))
}

/// Whatever the reads before showed, the last one decides, if another one confirms it a second later.
#[test]
fn two_reads_a_second_apart_prove_a_lost_request() {
    for (reads, code) in [(vec![new(), new()], 0), (vec![new(), old()], 8), (vec![old()], 8)] {
        let script = [vec![ok(&old()), Step::Close], reads.iter().map(ok).collect()].concat();
        let started = Instant::now();
        let (outcome, methods) = against(script, UPDATE);
        assert_eq!(outcome.code, code, "{reads:?}: {outcome:?}");
        assert_eq!(methods.len(), 2 + reads.len(), "{reads:?}: {methods:?}");
        assert!(reads.len() < 2 || started.elapsed() >= Duration::from_secs(1), "{reads:?}");
    }
}

/// A replica that has not seen the update yet shows what its undo would leave.
#[test]
fn the_profile_as_it_was_before_an_update_proves_no_undo_of_it() {
    let script = vec![ok(&old()), taken(), ok(&new()), ok(&new()), Step::Close, ok(&old())];
    let (home, server) = (Home::new(), MockServer::start(script));
    run(&home, &server.url(""), UPDATE).done();
    let restored = run(&home, &server.url(""), "undo LAST -y --settle 2");
    assert_eq!((restored.code, &restored.error()["applied"]), (8, &json!("unknown")), "{restored:?}");
}

/// It may still take effect, and would then overwrite what is sent meanwhile.
#[test]
fn a_written_update_that_is_not_visible_holds_the_next_one_back() {
    let other = "customer update --gender 2 --settle 0 --yes";
    let both = profile(json!({"email": "new@example.com", "gender": 2}));
    let only_ours = profile(json!({"gender": 2}));
    for (flag, read, written) in
        [("", old(), None), ("", new(), Some(both)), (" --after-unknown", old(), Some(only_ours))]
    {
        // Without a lock on the customer yet, the profile is read once more under it.
        let mut script = vec![ok(&old()), taken(), ok(&old()), ok(&read), ok(&read)];
        script.extend(written.iter().flat_map(|written| [taken(), ok(written)]));
        let (home, server) = (Home::new(), MockServer::start(script));
        let missing = run(&home, &server.url(""), UPDATE);
        assert_eq!((missing.code, &missing.error()["missing"]), (9, &json!(["email"])), "{missing:?}");
        let next = run(&home, &server.url(""), &format!("{other}{flag}"));
        let sent = methods(&server).iter().filter(|method| *method == "PUT").count();
        if written.is_some() {
            assert_eq!((next.code, sent), (0, 2), "{next:?}");
        } else {
            assert_eq!((next.code, sent), (3, 1), "{next:?}");
            let hint = next.error()["hint"].to_string();
            assert!(hint.contains("--after-unknown") && hint.contains("wait until"), "{hint}");
        }
    }
}

#[test]
fn a_record_that_is_not_visible_is_never_sent_again() {
    let (home, server) = (Home::new(), MockServer::start(vec![ok(&old()), taken(), ok(&old())]));
    home.write("in.ndjson", "{\"customer\": {\"email\": \"new@example.com\"}}\n", 0o600);
    let batch = |flag: &str| {
        let path = home.path("in.ndjson").display().to_string();
        run(&home, &server.url(""), &format!("customer update -i {path} --settle 0 {flag}"))
    };
    let first = batch("");
    assert!(first.stdout.contains("not visible afterwards: email"), "{first:?}");
    for _ in 0..2 {
        let resumed = batch("--resume");
        let sent = methods(&server).iter().filter(|method| *method == "PUT").count();
        assert_eq!(sent, 1, "{resumed:?}");
    }
}

/// A shop that gives every address a new id with each update.
#[test]
fn renumbered_addresses_are_no_missing_ones() {
    let list = |first: i64, cities: [&str; 2]| {
        let addresses: Vec<Value> = (first..)
            .zip(cities)
            .map(|(id, city)| json!({"id": id, "city": city, "street": [id % 10]}))
            .collect();
        ok(&profile(json!({"addresses": addresses})))
    };
    let script = vec![
        list(1, ["Paris", "Lyon"]),
        taken(),
        list(11, ["Rome", "Lyon"]),
        list(11, ["Rome", "Lyon"]),
        taken(),
        list(21, ["Rome", "Nice"]),
    ];
    let (home, server) = (Home::new(), MockServer::start(script));
    for (id, city, new_ids) in [(1, "Rome", [11, 12]), (12, "Nice", [21, 22])] {
        let line = format!("customer update --address {id} --city {city} --settle 0");
        let outcome = run(&home, &server.url(""), &line);
        assert_eq!(outcome.code, 0, "{outcome:?}");
        for new in new_ids {
            let warning = format!("the service gave address {} a new ID: {new}", new - 10);
            assert!(outcome.stderr.contains(&warning), "{outcome:?}");
        }
        assert!(!outcome.stderr.contains("--all"), "{outcome:?}");
    }
    assert_eq!(methods(&server), ["GET", "PUT", "GET", "GET", "PUT", "GET"]);
}

/// The service writes a new address in its own way: it is known by its ID then.
#[test]
fn an_address_that_the_service_rewrote_is_not_missed_afterwards() {
    let with = |lists: &[&Value]| ok(&profile(json!({"addresses": lists})));
    let (one, new) =
        (json!({"id": 1, "city": "Paris"}), json!({"id": 2, "city": "LYON", "postcode": "69001"}));
    let changed = json!({"id": 1, "city": "Rome"});
    let script = vec![with(&[&one]), taken(), with(&[&one, &new]), with(&[&one, &new]), taken()];
    let server = MockServer::start([script, vec![with(&[&changed, &new])]].concat());
    let home = Home::new();
    let add = "customer update --add-address --city Lyon --postcode 69001 --settle 0";
    let added = run(&home, &server.url(""), add);
    assert_eq!(added.code, 0, "{added:?}");
    assert!(added.stdout.contains("\"verified\":false"), "{added:?}");
    run(&home, &server.url(""), "customer update --address 1 --city Rome --settle 0").done();
}

/// How far from now the request left, in minutes, and what becomes of the next update. A clock that was set back does not
/// end the time in which it may still take effect.
#[test]
fn an_unknown_update_holds_the_next_one_back_for_ten_minutes() {
    for (minutes, code) in [(-11, 0), (-9, 3), (0, 3), (120, 3)] {
        let home = Home::new();
        let update = "--sandbox customer update --address 2 --postcode 10119 --settle 0 --retry 0";
        home.fails(8, &format!("{update} --fault PUT:reset-before-commit"));
        let left = jiff::Timestamp::now() + jiff::SignedDuration::from_mins(minutes);
        let outcome = json!({"outcome": "unknown", "sent_at": left.to_string()});
        set_outcome(&home, updates(&home)[0], &outcome);
        home.fails(code, "--sandbox customer update --address 1 --city Lyon --settle 0");
    }
}
