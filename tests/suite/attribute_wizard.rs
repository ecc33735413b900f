//! `customer update`, stopped at every step, and beside other editors: nothing is lost, or a snapshot brings it back.

use std::process::Child;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::flaky_proxy::{FlakyProxy, Half};
use crate::support::raw_http::{CUSTOMER, PROFILE};
use crate::support::storefront::Outcome;
use crate::support::test_env::{TestEnv, serve, words};

/// Changes one address and removes another: read, read, PUT, read.
const UPDATE: &str = "customer update --address 2 --city Troy --remove-address 3 --yes -o json";
const PUT: usize = 3;
const STEPS: [(usize, Half); 8] = [
    (1, Half::Request),
    (1, Half::Reply),
    (2, Half::Request),
    (2, Half::Reply),
    (PUT, Half::Request),
    (PUT, Half::Reply),
    (4, Half::Request),
    (4, Half::Reply),
];

/// A gate that holds one half of one exchange: it says when that is reached, and lets go when told (or forgotten).
fn holding(env: &TestEnv, step: (usize, Half)) -> (FlakyProxy, Receiver<()>, Sender<()>) {
    let (reached, is_reached) = channel();
    let (release, released) = channel();
    let released: Mutex<Receiver<()>> = Mutex::new(released);
    let gate = FlakyProxy::before(env.sandbox.address(), move |number, half| {
        if (number, half) == step {
            reached.send(()).unwrap();
            let _ = released.lock().unwrap().recv_timeout(Duration::from_secs(20));
        }
    });
    (gate, is_reached, release)
}

/// The profile without ids and order of its addresses, and without the service's clock.
fn content(mut profile: Value) -> Value {
    profile.as_object_mut().unwrap().shift_remove("updated_at");
    let addresses = profile["addresses"].as_array_mut().unwrap();
    for address in addresses.iter_mut() {
        address.as_object_mut().unwrap().sort_keys();
        address.as_object_mut().unwrap().remove("id");
    }
    addresses.sort_by_key(ToString::to_string);
    profile
}

/// Nothing is lost, or `customer restore` brings it back. Whether the profile was replaced.
fn nothing_is_lost(env: &TestEnv, gate: &FlakyProxy, before: &Value) -> bool {
    for snapshot in env.snapshots() {
        let text = std::fs::read_to_string(&snapshot).unwrap();
        serde_json::from_str::<Value>(&text)
            .unwrap_or_else(|error| panic!("{error}: {}", snapshot.display()));
    }
    let is_replaced = || content(env.profile()) != content(before.clone());
    let run = |line| serve(env.home.storefront(&words(line)), &gate.url()).run();
    let mut replaced = is_replaced();
    let mut again = if replaced { "customer restore -o json" } else { UPDATE };
    let mut outcome = run(again);
    // The PUT of the killed process may have arrived only now.
    if !replaced && outcome.code != 0 && is_replaced() {
        (replaced, again) = (true, "customer restore -o json");
        outcome = run(again);
    }
    assert_eq!(outcome.code, 0, "the lock is free, and {again} works: {outcome:?}");
    if replaced {
        assert_eq!(content(env.profile()), content(before.clone()));
    }
    replaced
}

fn ended(child: Child) -> Outcome {
    let output = child.wait_with_output().unwrap();
    Outcome {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Starts the update, waits for the step, ends the program by `end`, lets the exchange go on.
fn stopped_at(env: &TestEnv, step: (usize, Half), end: impl Fn(Child) -> Outcome) -> (FlakyProxy, Outcome) {
    let (gate, reached, release) = holding(env, step);
    let child = serve(env.home.storefront(&words(UPDATE)), &gate.url()).spawn();
    reached.recv_timeout(Duration::from_secs(20)).unwrap();
    let outcome = end(child);
    drop(release);
    gate.wait_until_quiet();
    (gate, outcome)
}

fn kill(mut child: Child) -> Outcome {
    child.kill().unwrap();
    ended(child)
}

#[test]
fn killed_at_every_step_nothing_is_lost() {
    for step in STEPS {
        let env = TestEnv::new();
        let before = env.profile();
        let (gate, outcome) = stopped_at(&env, step, kill);
        assert_eq!(outcome.stdout, "", "{step:?}");
        let replaced = nothing_is_lost(&env, &gate, &before);
        assert_eq!(replaced, step >= (PUT, Half::Request), "{step:?}");
    }
}

#[test]
fn killed_anywhere_between_second_read_and_put_nothing_is_lost() {
    for moment in 0..16 {
        let env = TestEnv::new();
        let before = env.profile();
        let (passed, is_passed) = channel();
        let gate = FlakyProxy::before(env.sandbox.address(), move |number, half| {
            if (number, half) == (2, Half::Reply) {
                passed.send(()).unwrap();
            }
        });
        let child = serve(env.home.storefront(&words(UPDATE)), &gate.url()).spawn();
        is_passed.recv_timeout(Duration::from_secs(20)).unwrap();
        thread::sleep(Duration::from_micros(moment * 400));
        kill(child);
        thread::sleep(Duration::from_millis(5));
        gate.wait_until_quiet();
        nothing_is_lost(&env, &gate, &before);
    }
}

#[cfg(unix)]
fn interrupt(child: &Child) {
    send_signal(child, "-INT");
}

#[cfg(unix)]
fn send_signal(child: &Child, signal: &str) {
    let kill = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
}

#[test]
#[cfg(unix)]
fn interrupted_at_every_step_it_says_what_to_check() {
    for step in STEPS {
        let env = TestEnv::new();
        let before = env.profile();
        let (gate, outcome) = stopped_at(&env, step, |child| {
            interrupt(&child);
            // The first signal waits for a write that is in flight, the second does not.
            if step.0 >= PUT {
                thread::sleep(Duration::from_millis(200));
                interrupt(&child);
            }
            ended(child)
        });
        let error = outcome.error();
        assert_eq!((outcome.code, &error["kind"]), (130, &json!("interrupted")), "{step:?}: {outcome:?}");
        let applied = match step.0 {
            PUT => "unknown",
            number if number < PUT => "no",
            _ => "yes",
        };
        assert_eq!(error["applied"], applied, "{step:?}: {outcome:?}");
        let hint = error["hint"].as_str().unwrap();
        let check = if applied == "no" { "try again" } else { "`storefront customer show`" };
        assert!(hint.contains(check), "{step:?}: {hint}");
        nothing_is_lost(&env, &gate, &before);
    }
}

#[test]
#[cfg(unix)]
fn one_signal_waits_for_the_request_in_flight_and_verifies_it() {
    for (half, signal) in [(Half::Request, "-INT"), (Half::Reply, "-TERM")] {
        let env = TestEnv::new();
        let (gate, reached, release) = holding(&env, (PUT, half));
        let child = serve(env.home.storefront(&words(UPDATE)), &gate.url()).spawn();
        reached.recv_timeout(Duration::from_secs(20)).unwrap();
        send_signal(&child, signal);
        thread::sleep(Duration::from_millis(200));
        drop(release);
        let outcome = ended(child);
        let error = outcome.error();
        assert_eq!(
            (outcome.code, &error["kind"], &error["applied"]),
            (130, &json!("interrupted"), &json!("yes"))
        );
        assert_eq!(env.address(2)["city"], "Troy");
        assert!(outcome.stdout.contains("\"verified\":true"), "{outcome:?}");
    }
}

#[test]
#[cfg(unix)]
fn an_item_whose_request_has_left_is_to_be_looked_for_where_items_are() {
    use std::io::{BufRead as _, BufReader, Read as _};
    let line =
        "--sandbox quote add-item --fault latency=20000 --sku mug-blue --qty 1 --quote-id 1 -v -o json";
    let mut child = TestEnv::new().home.storefront(&words(line)).spawn();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut told = String::new();
    while !told.contains("POST ") {
        assert!(stderr.read_line(&mut told).unwrap() > 0, "{told}");
    }
    interrupt(&child);
    thread::sleep(Duration::from_millis(200));
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    stderr.read_to_string(&mut told).unwrap();
    let error: serde_json::Value = serde_json::from_str(told.lines().last().unwrap()).unwrap();
    assert_eq!(error["error"]["applied"], "unknown", "{told}");
    let hint = error["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("check whether it took effect") && !hint.contains("customer"), "{hint}");
}

#[test]
#[cfg(unix)]
fn whoever_waits_for_the_lock_can_leave() {
    use std::io::{BufRead as _, BufReader, Read as _};
    let env = TestEnv::new();
    let (gate, reached, release) = holding(&env, (PUT, Half::Request));
    let first = serve(env.home.storefront(&words(UPDATE)), &gate.url()).spawn();
    reached.recv_timeout(Duration::from_secs(20)).unwrap();
    let mut second =
        serve(env.home.storefront(&words("customer update --address 1 --city Lyon")), &gate.url()).spawn();
    let mut stderr = BufReader::new(second.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    assert_eq!(line, "waiting for another storefront process to finish with this customer\n");
    interrupt(&second);
    assert_eq!(second.wait().unwrap().code(), Some(130));
    line.clear();
    stderr.read_to_string(&mut line).unwrap();
    assert!(line.contains("interrupted before anything was written"), "{line}");
    drop(release);
    assert_eq!(ended(first).code, 0);
    assert_eq!((&env.address(2)["city"], &env.address(1)["city"]), (&json!("Troy"), &json!("Paris")));
}

#[test]
fn eight_of_our_own_editors_all_succeed_and_lose_nothing() {
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

/// An edit by somebody else, each time of another kind.
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

/// Edits elsewhere are merged with ours; the same field, edited by somebody else, is not overwritten.
#[test]
fn a_foreign_editor_between_the_two_reads_loses_nothing() {
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
            let child = serve(env.home.storefront(&words(&line)), &gate.url()).spawn();
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

#[test]
fn an_address_the_service_drops_comes_back_by_the_command_that_is_told() {
    let env = TestEnv::with_faults(&["drop-addressx1"]);
    let before = env.profile();
    let error = env.fails(9, "customer update --address 2 --city Troy --settle 0.3");
    assert_eq!((&error["kind"], &error["applied"]), (&json!("mismatch"), &json!("yes")));
    assert!(error["message"].as_str().unwrap().contains("address 4 is missing"), "{error}");
    assert_ne!(content(env.profile()), content(before.clone()));
    let command = error["hint"]
        .as_str()
        .unwrap()
        .split('`')
        .nth(3)
        .unwrap()
        .strip_prefix("storefront ")
        .unwrap()
        .to_owned();
    let outcome = env.run(&format!("{command} --all -q -o json"));
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.stderr.contains("address 4 will be recreated with a new ID"), "{outcome:?}");
    assert_eq!(content(env.profile()), content(before));
}
