//! `customer update`, interrupted at every step: nothing is lost, or a restore brings it back.

use std::process::Child;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use snapbox::str;

use crate::support::flaky_proxy::{FlakyProxy, Half};
use crate::support::raw_http::content;
use crate::support::snapshot::assert_snapshot;
use crate::support::storefront::{Outcome, ended};
use crate::support::test_env::{TestEnv, files_below, log, serve};

/// Changes one address and removes another: read, PUT, read.
const UPDATE: &str = "customer update --address 2 --city Troy --remove-address 3 --yes -o json";
const PUT: usize = 2;
const STEPS: [(usize, Half); 6] = [
    (1, Half::Request),
    (1, Half::Reply),
    (PUT, Half::Request),
    (PUT, Half::Reply),
    (3, Half::Request),
    (3, Half::Reply),
];

/// A proxy that pauses at one half of one exchange: it signals when it is reached, and continues when released.
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

/// Asserts that nothing is lost, or that `undo` restores it. Returns whether the profile was replaced.
fn nothing_is_lost(env: &TestEnv, gate: &FlakyProxy, before: &Value) -> bool {
    if let Some(log) = log(&env.home) {
        let found: String = log.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(found, "ok");
    }
    let is_replaced = || content(env.profile()) != content(before.clone());
    let run = |line: &str| serve(env.home.storefront(line), &gate.url()).run();
    let mut replaced = is_replaced();
    let mut again = if replaced { "undo LAST -y -o json" } else { UPDATE };
    let mut outcome = run(again);
    // A command that died after its write was in the log may have sent its request.
    if outcome.code == 3 {
        outcome = run(&format!("{again} --after-unknown"));
    }
    // The PUT of the killed process may have arrived only now.
    if !replaced && outcome.code != 0 && is_replaced() {
        (replaced, again) = (true, "undo LAST -y -o json");
        outcome = run(again);
    }
    // Nobody knows whether the request of a write without an outcome left.
    if !replaced && outcome.code == 3 && !env.updates().is_empty() {
        assert!(outcome.error()["hint"].as_str().unwrap().contains("--after-unknown"), "{outcome:?}");
        outcome = run(&format!("{again} --after-unknown"));
    }
    assert_eq!(outcome.code, 0, "the lock is free, and {again} works: {outcome:?}");
    if replaced {
        assert_eq!(content(env.profile()), content(before.clone()));
    }
    replaced
}

/// Starts the update, waits for the step, ends the program by `end`, lets the exchange go on.
fn stopped_at(env: &TestEnv, step: (usize, Half), end: impl Fn(Child) -> Outcome) -> (FlakyProxy, Outcome) {
    let (gate, reached, release) = holding(env, step);
    let child = serve(env.home.storefront(UPDATE), &gate.url()).spawn();
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
fn killed_anywhere_between_read_and_put_nothing_is_lost() {
    // What it writes on the way to the PUT shows how far it is.
    for files in 0..10 {
        let env = TestEnv::new();
        let before = env.profile();
        let (passed, is_passed) = channel();
        let has_put = Arc::new(AtomicBool::new(false));
        let puts = has_put.clone();
        let gate = FlakyProxy::before(env.sandbox.address(), move |number, half| match (number, half) {
            (1, Half::Reply) => passed.send(()).unwrap(),
            (PUT, Half::Request) => puts.store(true, Ordering::SeqCst),
            _ => {}
        });
        let child = serve(env.home.storefront(UPDATE), &gate.url()).spawn();
        is_passed.recv_timeout(Duration::from_secs(20)).unwrap();
        while files_below(&env.home.state()).len() < files && !has_put.load(Ordering::SeqCst) {
            thread::yield_now();
        }
        kill(child);
        gate.wait_until_quiet();
        nothing_is_lost(&env, &gate, &before);
    }
}

#[cfg(unix)]
fn interrupt(child: &Child) {
    send_signal(child, "-INT");
}

/// Sends signals until the program ends: two that come close together may be taken for one.
#[cfg(unix)]
fn interrupted_until_it_ends(mut child: Child) -> Outcome {
    while child.try_wait().unwrap().is_none() {
        interrupt(&child);
        thread::sleep(Duration::from_millis(10));
    }
    ended(child)
}

#[cfg(unix)]
fn send_signal(child: &Child, signal: &str) {
    let kill = std::process::Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
}

#[test]
#[cfg(unix)]
fn interrupted_at_every_step_it_names_what_to_check() {
    for step in STEPS {
        let env = TestEnv::new();
        let before = env.profile();
        let (gate, outcome) = stopped_at(&env, step, |child| {
            // The first signal waits for a write that is in flight, the second does not.
            if step.0 >= PUT {
                return interrupted_until_it_ends(child);
            }
            interrupt(&child);
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
        let text =
            format!("{}\n  hint: {}", error["message"].as_str().unwrap(), error["hint"].as_str().unwrap());
        match applied {
            "no" => assert_snapshot(
                &text,
                str![[r#"
interrupted before anything was written
  hint: try again
"#]],
            ),
            "unknown" => assert_snapshot(
                &text,
                str![[r#"
interrupted while waiting for the response; the change may have been applied
  hint: check with `storefront customer show` before trying again; `storefront history` lists the writes
"#]],
            ),
            _ => assert_snapshot(
                &text,
                str![[r#"
interrupted before the change was verified
  hint: check with `storefront customer show` before trying again; `storefront history` lists the writes
"#]],
            ),
        }
        nothing_is_lost(&env, &gate, &before);
    }
}

#[test]
#[cfg(unix)]
fn one_signal_waits_for_the_request_in_flight_and_verifies_it() {
    use std::io::{BufRead as _, BufReader, Read as _};
    for (half, signal) in [(Half::Request, "-INT"), (Half::Reply, "-TERM")] {
        let env = TestEnv::new();
        let (gate, reached, release) = holding(&env, (PUT, half));
        let update = UPDATE.strip_suffix(" -o json").unwrap();
        let mut child = serve(env.home.storefront(update), &gate.url()).spawn();
        reached.recv_timeout(Duration::from_secs(20)).unwrap();
        send_signal(&child, signal);
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut said = String::new();
        while !said.contains("stopping: waiting for the request in flight") {
            assert!(stderr.read_line(&mut said).unwrap() > 0, "{said}");
        }
        drop(release);
        let outcome = ended(child);
        stderr.read_to_string(&mut said).unwrap();
        assert_eq!(outcome.code, 130, "{said}");
        assert!(said.contains("error: interrupted; the request in flight was waited for"), "{said}");
        assert!(said.contains("Changes were made.") && !said.contains("verify"), "{said}");
        assert_eq!(env.address(2)["city"], "Troy");
        assert!(outcome.stdout.contains("Troy"), "{outcome:?}");
    }
}

#[test]
#[cfg(unix)]
fn an_interrupted_item_names_no_customer_command() {
    use std::io::{BufRead as _, BufReader, Read as _};
    let line =
        "--sandbox quote add-item --fault latency=20000 --sku mug-blue --qty 1 --quote-id 1 -v -o json";
    let mut child = TestEnv::new().home.storefront(line).spawn();
    let mut stderr = BufReader::new(child.stderr.take().unwrap());
    let mut log = String::new();
    while !log.contains("POST ") {
        assert!(stderr.read_line(&mut log).unwrap() > 0, "{log}");
    }
    assert_eq!(interrupted_until_it_ends(child).code, 130);
    stderr.read_to_string(&mut log).unwrap();
    let error: serde_json::Value = serde_json::from_str(log.lines().last().unwrap()).unwrap();
    assert_eq!(error["error"]["applied"], "unknown", "{log}");
    assert_snapshot(
        error["error"]["hint"].as_str().unwrap(),
        str!["check whether it took effect before you try again"],
    );
}

#[test]
#[cfg(unix)]
fn waiting_for_the_lock_can_be_interrupted() {
    use std::io::{BufRead as _, BufReader, Read as _};
    let env = TestEnv::new();
    let (gate, reached, release) = holding(&env, (PUT, Half::Request));
    let first = serve(env.home.storefront(UPDATE), &gate.url()).spawn();
    reached.recv_timeout(Duration::from_secs(20)).unwrap();
    let mut second =
        serve(env.home.storefront("customer update --address 1 --city Lyon"), &gate.url()).spawn();
    let mut stderr = BufReader::new(second.stderr.take().unwrap());
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    assert_eq!(line, "waiting for another storefront process to finish with this customer\n");
    interrupt(&second);
    assert_eq!(second.wait().unwrap().code(), Some(130));
    line.clear();
    stderr.read_to_string(&mut line).unwrap();
    assert_snapshot(
        &line,
        str![[r#"
error: interrupted before anything was written
  No changes were made.
  hint: try again
"#]],
    );
    drop(release);
    assert_eq!(ended(first).code, 0);
    assert_eq!((&env.address(2)["city"], &env.address(1)["city"]), (&json!("Troy"), &json!("Paris")));
}
