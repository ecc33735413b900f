//! `customer update` with other editors at the same time: every edit is kept.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, mpsc};
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
    match number % 5 {
        0 => addresses[1]["city"] = format!("City {number}").into(),
        1 => addresses.push(json!({"city": "Nice", "country_id": "FR"})),
        2 => drop(addresses.pop()),
        3 => profile["x_unlisted"] = number.into(),
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

/// Other edits are merged with ours; the same field, edited by another client, is not overwritten.
#[test]
fn a_concurrent_edit_between_the_two_reads_is_kept() {
    const TIMES: usize = 100;
    const SIDE_BY_SIDE: usize = 4;
    let noticed = AtomicUsize::new(0);
    let side = |_| {
        let env = TestEnv::new();
        let (read, is_read) = mpsc::channel();
        let (edited, is_edited) = mpsc::channel();
        let is_edited = Mutex::new(is_edited);
        let armed = Arc::new(AtomicBool::new(false));
        let arm = armed.clone();
        let gate = FlakyProxy::before(env.sandbox.address(), move |_, half| {
            if half == Half::Reply && armed.swap(false, Ordering::SeqCst) {
                read.send(()).unwrap();
                is_edited.lock().unwrap().recv_timeout(Duration::from_secs(20)).unwrap();
            }
        });
        for number in 0..TIMES / SIDE_BY_SIDE {
            arm.store(true, Ordering::SeqCst);
            let line = format!("customer update --address 1 --city Ours-{number} -q -o json");
            let child = serve(env.home.storefront(&line), &gate.url()).spawn();
            is_read.recv_timeout(Duration::from_secs(20)).unwrap();
            let is_ours = number % 6 == 5;
            if is_ours {
                let mut profile = env.sandbox.profile(CUSTOMER);
                profile["addresses"][0]["city"] = format!("Theirs-{number}").into();
                env.sandbox.put_profile(CUSTOMER, &profile);
            } else {
                foreign_edit(&env, number % 6);
            }
            let mut expected = env.profile();
            edited.send(()).unwrap();
            let outcome = ended(child);
            if is_ours {
                let error = outcome.error();
                assert_eq!((outcome.code, &error["applied"]), (3, &json!("no")), "{number}: {outcome:?}");
                let message = error["message"].as_str().unwrap();
                assert!(message.starts_with("somebody changed what this command changes"), "{error}");
            } else {
                assert_eq!(outcome.code, 0, "{number}: {outcome:?}");
                expected["addresses"][0]["city"] = format!("Ours-{number}").into();
            }
            assert_eq!(content(env.profile()), content(expected), "{number}");
            noticed.fetch_add(1, Ordering::SeqCst);
        }
    };
    thread::scope(|scope| (0..SIDE_BY_SIDE).for_each(|number| drop(scope.spawn(move || side(number)))));
    assert_eq!(noticed.load(Ordering::SeqCst), TIMES);
}
