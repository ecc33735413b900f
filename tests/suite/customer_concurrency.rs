//! `customer update` with other editors at the same time: every edit is kept.

use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Duration;

use serde_json::json;

use crate::support::flaky_proxy::{FlakyProxy, Half};
use crate::support::raw_http::{CUSTOMER, PROFILE, content};
use crate::support::storefront::ended;
use crate::support::test_env::{TestEnv, serve};

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
    const EACH: usize = 12;
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
