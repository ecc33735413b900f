//! Ctrl-C while a command looks what became of a write that was refused: some shops have saved it all the same, so that
//! nobody may be told that nothing was written.

use std::time::Duration;

use serde_json::{Value, json};

use crate::cart_reports::{JSON, found, impatient, json as shown};
use crate::support::batch::states;
use crate::support::mock_server::{MockServer, Step, answer, reply};
use crate::support::storefront::{Home, Outcome, Storefront, ended};
use crate::support::test_env::{serve, words};

/// How long a look waits for its answer, which a signal comes before.
const LOOK: Duration = Duration::from_millis(700);

fn program(home: &Home, server: &MockServer, line: &str) -> Storefront {
    let line = format!("-p shop {line} -q -o json --retry 0");
    serve(home.storefront(&words(&line)), &server.url("")).without("STOREFRONT_STORE_VIEW")
}

/// Runs a line that is interrupted while it waits for the answer to its last request, which is a look.
fn interrupted(script: Vec<Step>, line: &str, file: Option<&str>) -> (Home, MockServer, Outcome) {
    let requests = script.len();
    let server = MockServer::start(script);
    let home = impatient(&server);
    if let Some(content) = file {
        std::fs::write(home.dir.path().join("in.csv"), content).unwrap();
    }
    let child = program(&home, &server, line).spawn();
    while server.requests().len() < requests {
        std::thread::sleep(Duration::from_millis(2));
    }
    let kill = format!("kill -INT {}", child.id());
    assert!(std::process::Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    (home, server, ended(child))
}

fn refused() -> Step {
    answer("400 Bad Request", JSON, r#"{"message": "mail failed"}"#)
}

fn item(qty: u32) -> Value {
    json!({"item_id": 1, "sku": "mug", "qty": qty, "quote_id": "7"})
}

fn cart(items: &[Value]) -> Value {
    json!({"id": 7, "is_active": true, "customer": {"id": 1}, "items": items})
}

fn search(items: &[Value]) -> Step {
    shown(&json!({"items": [cart(items)], "total_count": 1}))
}

/// A look that waits, and then shows this.
fn look(body: &Value) -> Step {
    Step::Stall(LOOK, reply("200 OK", JSON, &body.to_string()))
}

fn color(labels: &[&str]) -> Value {
    let options =
        labels.iter().enumerate().map(|(id, label)| json!({"value": id.to_string(), "label": label}));
    let options: Vec<Value> = [json!({"value": "", "label": " "})].into_iter().chain(options).collect();
    json!({"attribute_id": 93, "attribute_code": "color", "frontend_input": "select", "options": options,
        "default_value": ""})
}

#[test]
fn a_refusal_that_is_looked_at_is_not_said_to_have_written_nothing() {
    for (line, before, saved, not_saved) in [
        (
            "quote set-item --customer 1 --item 1 --qty 5",
            search(&[item(2)]),
            cart(&[item(5)]),
            cart(&[item(2)]),
        ),
        ("quote remove-item --customer 1 --item 1 -y", search(&[item(2)]), cart(&[]), cart(&[item(2)])),
        (
            "quote add-item --customer 1 --sku mug --qty 3 --verify",
            search(&[item(2)]),
            json!([item(5)]),
            json!([item(2)]),
        ),
        (
            "attribute option add color --option Teal",
            shown(&color(&["Black"])),
            color(&["Black", "Teal"]),
            color(&["Black"]),
        ),
    ] {
        for (after, applied) in [(&saved, "unknown"), (&not_saved, "no")] {
            let (_, server, outcome) = interrupted(vec![before.clone(), refused(), look(after)], line, None);
            let error = outcome.error();
            assert_eq!((outcome.code, &error["applied"]), (130, &json!(applied)), "{line}: {error}");
            let message = error["message"].as_str().unwrap();
            assert!(message.contains("mail failed"), "{line}: {error}");
            let writes = server.requests().iter().filter(|request| !request.starts_with("GET")).count();
            assert_eq!(writes, 1, "{line}: {error}");
        }
    }
}

/// Were the record said to have failed for a while, the resumed run would add the item once more.
#[test]
fn a_record_that_is_interrupted_during_its_look_is_not_sent_again() {
    let script = vec![search(&[item(2)]), refused(), look(&json!([item(5)]))];
    let line = "quote add-item -i in.csv --verify -y";
    let (home, server, first) = interrupted(script, line, Some("customer,sku,qty\n1,mug,3\n"));
    assert_eq!(first.code, 130, "{first:?}");
    let journal = std::fs::read_to_string(home.dir.path().join("in.csv.journal")).unwrap();
    assert_eq!(states(&journal), [("mismatch".to_owned(), 1)].into(), "{journal}");
    let sent = server.requests().len();
    let again = program(&home, &server, &format!("{line} --resume")).run();
    assert_eq!((again.code, server.requests().len()), (9, sent), "{again:?}");
}

/// What was certainly refused, and not looked at, was not written.
#[test]
fn a_signal_between_attempts_of_which_nothing_was_taken_says_that_nothing_was_written() {
    let throttled =
        answer("429 Too Many Requests", &format!("{JSON}Retry-After: 30\r\n"), r#"{"message": "later"}"#);
    let server = MockServer::start(vec![found(), throttled]);
    let home = impatient(&server);
    let line = "-p shop quote add-item --customer 1 --sku mug --qty 3 -q -o json --retry 1";
    let child =
        serve(home.storefront(&words(line)), &server.url("")).without("STOREFRONT_STORE_VIEW").spawn();
    while server.requests().len() < 2 {
        std::thread::sleep(Duration::from_millis(2));
    }
    std::thread::sleep(Duration::from_millis(200));
    let kill = format!("kill -INT {}", child.id());
    assert!(std::process::Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    let outcome = ended(child);
    let error = outcome.error();
    assert_eq!((outcome.code, &error["applied"]), (130, &json!("no")), "{error}");
    assert_eq!(server.requests().len(), 2);
}
