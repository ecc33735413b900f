//! `customer update`, stopped at every step, and beside other editors: nothing is lost, or a snapshot brings it back.

use std::process::Child;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, mpsc};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::gate::{Gate, Half};
use crate::support::raw_http::{CUSTOMER, PROFILE};
use crate::support::shop::{Shop, serve, words};
use crate::support::storefront::Outcome;

/// Changes one address and removes another: read, read, PUT, read.
const UPDATE: &str = "customer update --address 2 --city Troy --remove-address 3 -o json";
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
fn holding(shop: &Shop, step: (usize, Half)) -> (Gate, Receiver<()>, Sender<()>) {
    let (reached, is_reached) = channel();
    let (release, released) = channel();
    let released: Mutex<Receiver<()>> = Mutex::new(released);
    let gate = Gate::before(shop.sandbox.address(), move |number, half| {
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
fn nothing_is_lost(shop: &Shop, gate: &Gate, before: &Value) -> bool {
    for snapshot in shop.snapshots() {
        let text = std::fs::read_to_string(&snapshot).unwrap();
        serde_json::from_str::<Value>(&text)
            .unwrap_or_else(|error| panic!("{error}: {}", snapshot.display()));
    }
    let replaced = content(shop.profile()) != content(before.clone());
    let again = if replaced { "customer restore -o json" } else { UPDATE };
    let outcome = serve(shop.home.storefront(&words(again)), &gate.url()).run();
    assert_eq!(outcome.code, 0, "the lock is free, and {again} works: {outcome:?}");
    if replaced {
        assert_eq!(content(shop.profile()), content(before.clone()));
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
fn stopped_at(shop: &Shop, step: (usize, Half), end: impl Fn(Child) -> Outcome) -> (Gate, Outcome) {
    let (gate, reached, release) = holding(shop, step);
    let child = serve(shop.home.storefront(&words(UPDATE)), &gate.url()).spawn();
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
        let shop = Shop::new();
        let before = shop.profile();
        let (gate, outcome) = stopped_at(&shop, step, kill);
        assert_eq!(outcome.stdout, "", "{step:?}");
        let replaced = nothing_is_lost(&shop, &gate, &before);
        assert_eq!(replaced, step >= (PUT, Half::Request), "{step:?}");
    }
}

#[test]
fn killed_anywhere_between_second_read_and_put_nothing_is_lost() {
    for moment in 0..16 {
        let shop = Shop::new();
        let before = shop.profile();
        let (passed, is_passed) = channel();
        let gate = Gate::before(shop.sandbox.address(), move |number, half| {
            if (number, half) == (2, Half::Reply) {
                passed.send(()).unwrap();
            }
        });
        let child = serve(shop.home.storefront(&words(UPDATE)), &gate.url()).spawn();
        is_passed.recv_timeout(Duration::from_secs(20)).unwrap();
        thread::sleep(Duration::from_micros(moment * 400));
        kill(child);
        thread::sleep(Duration::from_millis(5));
        gate.wait_until_quiet();
        nothing_is_lost(&shop, &gate, &before);
    }
}

#[cfg(unix)]
fn interrupt(child: &Child) {
    let kill = std::process::Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
}

#[test]
#[cfg(unix)]
fn interrupted_at_every_step_it_says_what_to_check() {
    let interrupt = |child: Child| {
        interrupt(&child);
        ended(child)
    };
    for step in STEPS {
        let shop = Shop::new();
        let before = shop.profile();
        let (gate, outcome) = stopped_at(&shop, step, interrupt);
        let error = outcome.error();
        assert_eq!((outcome.code, &error["kind"]), (130, &json!("interrupted")), "{step:?}: {outcome:?}");
        let applied = match step.0 {
            PUT => "unknown",
            number if number < PUT => "no",
            _ => "yes",
        };
        assert_eq!(error["applied"], applied, "{step:?}: {outcome:?}");
        let hint = error["hint"].as_str().unwrap();
        let check = if applied == "no" { "run the command again" } else { "`storefront customer show`" };
        assert!(hint.contains(check), "{step:?}: {hint}");
        assert_eq!(shop.snapshots().len(), usize::from(applied != "no"), "{step:?}");
        nothing_is_lost(&shop, &gate, &before);
    }
}

#[test]
#[cfg(unix)]
fn an_item_whose_request_has_left_is_to_be_looked_for_where_items_are() {
    use std::io::{BufRead as _, BufReader, Read as _};
    let line =
        "--sandbox --fault latency=20000 quote add-item --sku mug-blue --qty 1 --quote-id 1 -v -o json";
    let mut child = Shop::new().home.storefront(&words(line)).spawn();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut told = String::new();
    while !told.contains("POST ") {
        assert!(stderr.read_line(&mut told).unwrap() > 0, "{told}");
    }
    interrupt(&child);
    assert_eq!(child.wait().unwrap().code(), Some(130));
    stderr.read_to_string(&mut told).unwrap();
    let error: serde_json::Value = serde_json::from_str(told.lines().last().unwrap()).unwrap();
    assert_eq!(error["error"]["applied"], "unknown", "{told}");
    let hint = error["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("look whether it took effect") && !hint.contains("customer"), "{hint}");
}

#[test]
#[cfg(unix)]
fn whoever_waits_for_the_lock_can_leave() {
    use std::io::{BufRead as _, BufReader, Read as _};
    let shop = Shop::new();
    let (gate, reached, release) = holding(&shop, (PUT, Half::Request));
    let first = serve(shop.home.storefront(&words(UPDATE)), &gate.url()).spawn();
    reached.recv_timeout(Duration::from_secs(20)).unwrap();
    let mut second =
        serve(shop.home.storefront(&words("customer update --address 1 --city Lyon -o json")), &gate.url())
            .spawn();
    let mut stderr = BufReader::new(second.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    assert_eq!(line, "another storefront command is writing to this customer; waiting for it\n");
    interrupt(&second);
    assert_eq!(second.wait().unwrap().code(), Some(130));
    line.clear();
    stderr.read_to_string(&mut line).unwrap();
    assert!(line.contains("interrupted before anything was written"), "{line}");
    drop(release);
    assert_eq!(ended(first).code, 0);
    assert_eq!((&shop.address(2)["city"], &shop.address(1)["city"]), (&json!("Troy"), &json!("Paris")));
}

/// Repeats one edit as its refusals say, until it goes through; how often it was refused.
fn insist(shop: &Shop, line: &str) -> usize {
    for refused in 0.. {
        let outcome = shop.run(line);
        if outcome.code == 0 {
            return refused;
        }
        let error = outcome.error();
        assert_eq!((outcome.code, &error["kind"]), (3, &json!("guard")), "{line}: {outcome:?}");
        assert_eq!(error["hint"], "run the command again: it will start from the profile as it is now");
    }
    unreachable!()
}

#[test]
fn two_of_our_own_editors_lose_no_edit_of_either() {
    const EACH: usize = 100;
    let shop = Shop::new();
    let edit = |who: &str, number: usize| {
        insist(&shop, &format!("customer update --address 1 --custom-attribute {who}_{number}=x -q -o json"))
    };
    let refused: usize = thread::scope(|scope| {
        let editors = ["one", "other"]
            .map(|who| scope.spawn(move || (0..EACH).map(|number| edit(who, number)).sum::<usize>()));
        editors.into_iter().map(|editor| editor.join().unwrap()).sum()
    });
    let address = shop.address(1);
    let stored: Vec<&str> = address["custom_attributes"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|each| each["attribute_code"].as_str())
        .collect();
    for who in ["one", "other"] {
        let lost: Vec<String> = (0..EACH)
            .map(|number| format!("{who}_{number}"))
            .filter(|code| !stored.contains(&code.as_str()))
            .collect();
        assert!(lost.is_empty(), "lost of {who}: {lost:?}");
    }
    assert_eq!(stored.len(), 2 * EACH + 1, "and the one that was there");
    assert!(refused > 0, "the two never met: this shows nothing");
}

/// An edit by somebody else, each time of another kind.
fn foreign_edit(shop: &Shop, number: usize) {
    let mut profile = shop.sandbox.profile(CUSTOMER);
    let addresses = profile["addresses"].as_array_mut().unwrap();
    match number % 5 {
        0 => addresses[1]["city"] = format!("City {number}").into(),
        1 => addresses.push(json!({"city": "Nice", "country_id": "FR"})),
        2 => drop(addresses.pop()),
        3 => profile["x_unlisted"] = number.into(),
        _ => profile["email"] = format!("foreign-{number}@example.com").into(),
    }
    let answer = shop.sandbox.put_profile(CUSTOMER, &profile);
    assert_eq!(answer.status, 200, "{answer:?} {PROFILE}");
}

#[test]
fn a_foreign_editor_between_the_two_reads_is_always_noticed() {
    const TIMES: usize = 200;
    const SIDE_BY_SIDE: usize = 4;
    let noticed = AtomicUsize::new(0);
    let side = |_| {
        let shop = Shop::new();
        let (read, is_read) = mpsc::channel();
        let (edited, is_edited) = mpsc::channel();
        let is_edited = Mutex::new(is_edited);
        let gate = Gate::before(shop.sandbox.address(), move |number, half| {
            if number % 2 == 1 && half == Half::Reply {
                read.send(()).unwrap();
                is_edited.lock().unwrap().recv_timeout(Duration::from_secs(20)).unwrap();
            }
        });
        for number in 0..TIMES / SIDE_BY_SIDE {
            let child = serve(
                shop.home.storefront(&words("customer update --address 1 --city Ours -q -o json")),
                &gate.url(),
            )
            .spawn();
            is_read.recv_timeout(Duration::from_secs(20)).unwrap();
            foreign_edit(&shop, number);
            let theirs = shop.profile();
            edited.send(()).unwrap();
            let outcome = ended(child);
            let error = outcome.error();
            assert_eq!((outcome.code, &error["applied"]), (3, &json!("no")), "{number}: {outcome:?}");
            assert!(
                error["message"]
                    .as_str()
                    .unwrap()
                    .starts_with("somebody changed the profile since it was read: "),
                "{error}"
            );
            assert_eq!(shop.profile(), theirs);
            noticed.fetch_add(1, Ordering::SeqCst);
        }
        assert!(shop.snapshots().is_empty());
    };
    thread::scope(|scope| (0..SIDE_BY_SIDE).for_each(|number| drop(scope.spawn(move || side(number)))));
    assert_eq!(noticed.load(Ordering::SeqCst), TIMES);
}

#[test]
fn an_address_the_service_drops_comes_back_by_the_command_that_is_told() {
    let shop = Shop::with_faults(&["drop-addressx1"]);
    let before = shop.profile();
    let error = shop.fails(9, "customer update --address 2 --city Troy");
    assert_eq!((&error["kind"], &error["applied"]), (&json!("mismatch"), &json!("yes")));
    assert!(error["message"].as_str().unwrap().contains("address 4 is missing afterwards"), "{error}");
    assert_ne!(content(shop.profile()), content(before.clone()));
    let command = error["hint"]
        .as_str()
        .unwrap()
        .split('`')
        .nth(1)
        .unwrap()
        .strip_prefix("storefront ")
        .unwrap()
        .to_owned();
    let outcome = shop.run(&format!("{command} -q -o json"));
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.stderr.contains("address 4 comes back under a new id"), "{outcome:?}");
    assert_eq!(content(shop.profile()), content(before));
}
