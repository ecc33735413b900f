//! `customer update` with other editors at the same time: every edit is kept.

use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Duration;

use serde_json::json;
use snapbox::str;

use crate::support::flaky_proxy::{FlakyProxy, Half};
use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::raw_http::{CUSTOMER, PROFILE, content};
use crate::support::scripted::{UPDATE, against, fails_with, methods, ok, profile, run};
use crate::support::snapshot::assert_snapshot;
use crate::support::storefront::{Home, ended};
use crate::support::test_env::{TestEnv, files_below, serve, updates};

/// An edit by another client, each time of another kind.
fn foreign_edit(env: &TestEnv, number: usize) {
    let mut profile = env.sandbox.profile(CUSTOMER);
    let addresses = profile["addresses"].as_array_mut().unwrap();
    match number {
        0 => addresses[1]["city"] = format!("City {number}").into(),
        1 => addresses.push(json!({"city": "Nice", "country_id": "FR"})),
        2 => drop(addresses.pop()),
        3 => profile["x_unlisted"] = number.into(),
        4 => addresses[0]["city"] = "Theirs".into(),
        _ => profile["email"] = format!("foreign-{number}@example.com").into(),
    }
    let answer = env.sandbox.put_profile(CUSTOMER, &profile);
    assert_eq!(answer.status, 200, "{answer:?} {PROFILE}");
}

#[test]
fn eight_concurrent_updates_all_succeed_and_lose_nothing() {
    const EACH: usize = 6;
    let env = TestEnv::new();
    thread::scope(|scope| {
        for editor in 0..8 {
            let env = &env;
            scope.spawn(move || {
                for number in 0..EACH {
                    let address = 1 + editor % 4;
                    let line = format!(
                        "customer update --address {address} --custom-attribute of_{editor}_{number}=x"
                    );
                    let outcome = env.run(&line);
                    assert_eq!(outcome.code, 0, "{line}: {outcome:?}");
                }
            });
        }
    });
    let codes: Vec<String> = (1..=4)
        .flat_map(|id| env.address(id)["custom_attributes"].as_array().cloned().unwrap_or_default())
        .filter_map(|attribute| Some(attribute["attribute_code"].as_str()?.to_owned()))
        .filter(|code| code.starts_with("of_"))
        .collect();
    assert_eq!(codes.len(), 8 * EACH, "{codes:?}");
}

/// Only the time from the read to the PUT is out of reach.
#[test]
fn an_edit_of_another_client_before_the_read_is_kept() {
    for number in 0..6 {
        let env = TestEnv::new();
        let (asked, is_asked) = mpsc::channel();
        let (edited, is_edited) = mpsc::channel::<()>();
        let is_edited = Mutex::new(is_edited);
        let gate = FlakyProxy::before(env.sandbox.address(), move |exchange, half| {
            if (exchange, half) == (1, Half::Request) {
                asked.send(()).unwrap();
                is_edited.lock().unwrap().recv_timeout(Duration::from_secs(20)).unwrap();
            }
        });
        let child =
            serve(env.home.storefront("customer update --address 1 --city Ours -q -o json"), &gate.url())
                .spawn();
        is_asked.recv_timeout(Duration::from_secs(20)).unwrap();
        foreign_edit(&env, number);
        let mut expected = env.profile();
        let before = expected["addresses"][0]["city"].clone();
        expected["addresses"][0]["city"] = "Ours".into();
        edited.send(()).unwrap();
        let outcome = ended(child);
        assert_eq!(outcome.done()["changes"][0]["before"], before, "{number}: {outcome:?}");
        assert_eq!(content(env.profile()), content(expected), "{number}");
    }
}

#[test]
fn a_retried_replacement_reads_the_profile_again_first() {
    let before = profile(json!({}));
    let newer = profile(
        json!({"email": "theirs@example.com", "addresses": [{"id": 1, "city": "Paris"}, {"id": 2}, {"id": 3}]}),
    );
    for busy in
        [answer("429 Too Many Requests", "Retry-After: 0\r\n", ""), answer("429 Too Many Requests", "", "")]
    {
        let mut written = newer.clone();
        written["email"] = "new@example.com".into();
        let script = vec![ok(&before), busy.clone(), ok(&newer), ok(&json!({})), ok(&written)];
        let (home, server) = (Home::new(), MockServer::start(script));
        let done = run(&home, &server.url(""), UPDATE).done();
        assert_eq!(methods(&server), ["GET", "PUT", "GET", "PUT", "GET"]);
        let merged = server.requests().remove(3);
        assert!(merged.contains(r#"{"id":3}"#), "the newer address is sent along: {merged}");
        assert_eq!(done["changes"][0]["before"], "theirs@example.com", "what was there when it was sent");
        assert_eq!(updates(&home).len(), 2, "one for each request");
    }
}

#[test]
fn a_concurrent_edit_after_a_lost_reply_is_not_mistaken_for_the_update() {
    let before = profile(json!({}));
    let foreign = profile(json!({"addresses": [{"id": 1, "city": "Rome"}, {"id": 2}]}));
    let (outcome, methods) = against(vec![ok(&before), Step::Close, ok(&foreign)], UPDATE);
    fails_with(
        &outcome,
        8,
        str![[r#"
the connection to 127.0.0.1:[PORT] was lost before a response arrived: connection closed before message completed; reading back does not show that it was applied
  hint: do not send it again: it may be saved already, or within 10 minutes; check with `storefront customer show` and `storefront verify 1`; undo it with `storefront undo 1 --after-unknown`
"#]],
    );
    assert_eq!((outcome.error()["applied"].as_str(), methods.len()), (Some("unknown"), 3));
}

#[test]
fn a_concurrent_change_of_another_field_is_a_warning() {
    let before = profile(json!({"updated_at": "1"}));
    let sent = json!({"email": "new@example.com", "updated_at": "2"});
    let mut after = profile(sent.clone());
    after["addresses"][0]["city"] = "Rome".into();
    let (outcome, _) = against(vec![ok(&before), ok(&json!({})), ok(&after)], UPDATE);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_snapshot(
        &outcome.stderr,
        str![[
            r#"{"warning":{"message":"addresses[id=1].city was also changed, from Paris to Rome (by the service or another editor)"}}"#
        ]],
    );
    let mut after = profile(sent);
    after["addresses"][0]["completed_by_the_service"] = 1.into();
    let (outcome, _) = against(vec![ok(&before), ok(&json!({})), ok(&after)], UPDATE);
    outcome.done();
}

#[test]
fn two_profiles_of_one_service_share_a_lock() {
    let env = TestEnv::new();
    let table =
        |name: &str| format!("[profiles.{name}]\nbase-url = {:?}\nstore-view = \"default\"\n", env.url());
    let home = Home::with_config(&(table("one") + &table("two")));
    for (profile, email) in [("one", "one@example.com"), ("two", "two@example.com")] {
        let line = ["-p", profile, "customer", "update", "--email", email];
        let outcome = home.storefront(&line).env("STOREFRONT_TOKEN", "sandbox-customer-1").run();
        assert_eq!(outcome.code, 0, "{outcome:?}");
    }
    assert_eq!(files_below(&home.state().join("locks")).len(), 2);
    assert_eq!(updates(&home).len(), 2);
}
