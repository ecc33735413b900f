//! A service that fails during a batch: each record is sent once, and an outage stops the batch.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::json;
use snapbox::str;

use crate::support::batch::{attributes, lines, states};
use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::snapshot::assert_snapshot;
use crate::support::storefront::Home;
use crate::support::test_env::{TestEnv, serve};

fn items(records: usize) -> String {
    (1..=records).fold("sku,qty,quote_id\n".to_owned(), |mut csv, number| {
        writeln!(csv, "mug-blue,1,{number}").unwrap();
        csv
    })
}

fn home_with(name: &str, content: &str) -> Home {
    let home = Home::new();
    std::fs::write(home.dir.path().join(name), content).unwrap();
    home
}

fn journal(home: &Home, name: &str) -> String {
    std::fs::read_to_string(home.dir.path().join(name)).unwrap()
}

#[test]
fn a_write_that_may_have_been_applied_is_sent_once() {
    for headers in ["", "Retry-After: 0\r\n"] {
        let server = MockServer::start(vec![answer("503 Service Unavailable", headers, "")]);
        let home = home_with("a.csv", &items(1));
        let outcome = serve(home.storefront("quote add-item -i a.csv -o json"), &server.url("")).run();
        assert_eq!((outcome.code, server.requests().len()), (8, 1), "{outcome:?}");
        assert_eq!(lines(&outcome)[0]["applied"], "unknown");
        assert_eq!(outcome.error()["applied"], "unknown");
        assert_eq!(states(&journal(&home, "a.csv.journal")), [("unknown".to_owned(), 1)].into());
        let again = serve(home.storefront("quote add-item -i a.csv -o json --resume"), &server.url("")).run();
        assert_eq!((again.code, server.requests().len()), (8, 1), "{again:?}");
        assert_snapshot(
            &again.stderr,
            str![[
                r#"{"error":{"kind":"unknown","message":"1 of 1 record unknown","hint":"check which unknown records took effect (`storefront history [HOME]/a.csv.journal --state unknown sending` lists them), then resume with `storefront resume 2`, with --mark-done=LINES for what did and --retry-unknown=LINES for what did not","status":null,"applied":"unknown","service":null,"records":{"done":0,"unchanged":0,"failed":0,"temporary":0,"not_sent":0,"unknown":1,"mismatch":0},"resume":false}}"#
            ]],
        );
    }
}

#[test]
fn a_refused_token_of_the_run_stops_it() {
    let refused = answer("401 Unauthorized", "", "");
    for (script, code, applied) in
        [(vec![refused.clone()], 6, "no"), (vec![answer("200 OK", "", "{}"), refused], 6, "yes")]
    {
        let server = MockServer::start(script);
        let home = home_with("a.csv", &items(30));
        let line = "quote add-item -i a.csv -o json --jobs 1";
        let outcome = serve(home.storefront(line), &server.url("")).run();
        assert_eq!(outcome.code, code, "{outcome:?}");
        assert!(server.requests().len() <= 2);
        assert_eq!(outcome.error()["applied"], applied);
        assert_eq!(lines(&outcome).len(), 30);
        let failed: Vec<_> = lines(&outcome).into_iter().filter(|line| !line["error"].is_null()).collect();
        assert_eq!((failed.len(), &failed[0]["status"]), (1, &json!(401)));
        assert!(journal(&home, "a.csv.journal").contains("\"temporary\":true"));
    }
}

#[cfg(unix)]
#[test]
fn a_token_command_is_run_once_more_for_a_refused_token() {
    let refused = answer("401 Unauthorized", "", "");
    for (script, code, requests) in
        [(vec![refused.clone(), answer("200 OK", "", "{}")], 0, 4), (vec![refused], 6, 2)]
    {
        let server = MockServer::start(script);
        let home = home_with("a.csv", &items(3));
        home.token_command(&server.url(""), &["sh", "-c", "echo x >> ran; printf token-; wc -l < ran"]);
        let outcome = home.run("quote add-item -i a.csv -p p --jobs 1");
        assert_eq!((outcome.code, server.requests().len()), (code, requests), "{outcome:?}");
        assert_eq!(journal(&home, "ran"), "x\nx\n");
    }
}

#[test]
fn after_an_unknown_outcome_later_records_of_the_same_quote_are_not_sent() {
    let lost = Step::Close;
    let server = MockServer::start(vec![lost, answer("320 Saved", "", "{}")]);
    let home = home_with(
        "ship.csv",
        "shipping_address.city,shipping_carrier_code,shipping_method_code,paymentMethod.method\n\
         Oslo,flatrate,flatrate,checkmo\nBergen,flatrate,flatrate,checkmo\n",
    );
    for line in ["quote ship -i ship.csv -o json", "quote ship -i ship.csv -o json --resume"] {
        let outcome = serve(home.storefront(line), &server.url("")).run();
        let found = lines(&outcome);
        assert_eq!((outcome.code, server.requests().len()), (8, 1), "{outcome:?}");
        assert_eq!((&found[0]["applied"], &found[1]["applied"]), (&json!("unknown"), &json!("no")));
        assert_snapshot(
            found[1]["error"]["message"].as_str().unwrap(),
            str!["not sent: the outcome of line 2, of the same quote, is unknown"],
        );
        // Nothing but a person can tell: a resumed run would send neither.
        assert!(outcome.stderr.contains("1 of 2 records unknown, 1 waiting for these"), "{outcome:?}");
        assert!(outcome.stderr.contains("\"resume\":false"), "{outcome:?}");
    }
}

#[test]
fn a_token_is_one_key_however_it_was_supplied() {
    let slow =
        Step::Stall(Duration::from_millis(300), crate::support::mock_server::reply("320 Saved", "", "{}"));
    let server = MockServer::start(vec![slow]);
    let ship = r#""addressInformation":{"shipping_address":{"city":"Oslo"},"shipping_carrier_code":"f","shipping_method_code":"f"},"paymentMethod":{"method":"checkmo"}"#;
    let home = home_with("s.ndjson", &format!("{{{ship}}}\n{{{ship},\"token\":\"sandbox-customer-1\"}}\n"));
    let outcome = serve(home.storefront("quote ship -i s.ndjson"), &server.url("")).run();
    assert_eq!((outcome.code, server.requests().len()), (0, 2), "{outcome:?}");
    assert_eq!(server.most_at_once(), 1, "they never run at once");
}

#[cfg(unix)]
#[test]
fn a_token_printed_by_different_commands_is_one_key() {
    let slow =
        Step::Stall(Duration::from_millis(300), crate::support::mock_server::reply("320 Saved", "", "{}"));
    let ship = r#""addressInformation":{"shipping_address":{"city":"Oslo"},"shipping_carrier_code":"f","shipping_method_code":"f"},"paymentMethod":{"method":"checkmo"}"#;
    for (script, code, requests) in [(vec![slow], 0, 2), (vec![Step::Close], 8, 1)] {
        let server = MockServer::start(script);
        let home =
            home_with("s.ndjson", &format!("{{{ship},\"login\":\"a\"}}\n{{{ship},\"login\":\"A\"}}\n"));
        home.token_command(&server.url(""), &["sh", "-c", "echo token", "{record.login}"]);
        let outcome = home.run("quote ship -i s.ndjson -p p");
        assert_eq!((outcome.code, server.requests().len()), (code, requests), "{outcome:?}");
        assert!(server.most_at_once() <= 1, "they never run at once");
    }
}

#[test]
#[cfg_attr(windows, ignore = "it runs a POSIX shell script")]
fn a_batch_stops_when_its_stdout_is_closed() {
    let ok = Step::Stall(Duration::from_millis(20), crate::support::mock_server::reply("200 OK", "", "{}"));
    let server = MockServer::start(vec![ok]);
    let home = home_with("a.csv", &attributes(400));
    let outcome = serve(home.storefront("attribute create -i a.csv -o json --jobs 2"), &server.url(""))
        .shell("\"$@\" 2> errors | head -1; cat errors >&2");
    assert!(server.requests().len() < 300, "{}", server.requests().len());
    let error = outcome.error();
    assert_eq!((&error["kind"], &error["applied"]), (&json!("unavailable"), &json!("yes")), "{outcome:?}");
    assert!(error["hint"].as_str().unwrap().contains("`storefront resume 1`"));
}

#[test]
#[cfg_attr(windows, ignore = "it runs a POSIX shell script")]
fn a_batch_that_fails_midway_reports_what_was_applied() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(1_200));
    let filled = env
        .storefront(&["attribute", "create", "-i", "a.csv", "-o", "json", "--jobs", "1"])
        .shell("trap '' XFSZ; ulimit -f 320; exec \"$@\" > /dev/null");
    let error = filled.error();
    // The log is the larger file: it is full first.
    let message = error["message"].as_str().unwrap();
    assert!(filled.code == 1 && message.contains("the log of this machine cannot be written"), "{filled:?}");
    assert_ne!(error["applied"], "no");
    assert!(error["hint"].as_str().unwrap().contains("`storefront resume 1`"), "{error}");
    env.file("b.csv", attributes(400).replace("code_", "other_"));
    let full = env.storefront("attribute create -i b.csv -o json --jobs 1").shell("exec \"$@\" > /dev/full");
    assert_eq!(full.code, 1, "{full:?}");
    assert_ne!(full.error()["applied"], "no");
}

#[test]
fn an_update_with_unknown_outcome_is_verified_on_resume() {
    let env = TestEnv::new();
    env.file("c.csv", "gender\n1\n");
    // The journal of a run that died after its PUT had been applied.
    assert_eq!(env.run("customer update -i c.csv").code, 0);
    let path = env.home.dir.path().join("c.csv.journal");
    let text = std::fs::read_to_string(&path).unwrap();
    let kept: Vec<&str> = text.lines().filter(|line| !line.contains("\"done\"")).collect();
    assert!(kept[1].contains("\"sending\""), "{kept:?}");
    std::fs::write(&path, kept.join("\n") + "\n").unwrap();
    env.requests();
    let resumed = env.run("customer update -i c.csv --resume -o json");
    assert_eq!((resumed.code, &lines(&resumed)[0]["reason"]), (0, &json!("done earlier")), "{resumed:?}");
    assert!(env.requests().iter().all(|heard| heard.starts_with("GET")));
    assert_eq!(states(&std::fs::read_to_string(&path).unwrap()), [("done".to_owned(), 1)].into());
}

#[test]
#[cfg_attr(windows, ignore = "it runs a POSIX shell script")]
fn the_loop_for_scripts_ends_in_every_case() {
    let page = include_str!("../../docs/scripts.md");
    let start = page.find("```sh\ninput=").unwrap() + "```sh\n".len();
    let example = page[start..].split("```").next().unwrap();
    let script = format!(
        "set -eu; if (set -o pipefail) 2>&-; then set -o pipefail; fi; program=$1; storefront() {{ \"$program\" \"$@\"; }}; sleep() {{ echo pause $1; }}; date() {{ echo day; }}\n{example}"
    );
    let busy = || answer("429 Too Many Requests", "Retry-After: 0\r\n", "");
    let all = ["pause 0", "pause 10", "pause 60", "pause 300", "pause 1800"];
    // A run tries four times by itself.
    let busy_twice = [vec![busy(); 8], vec![answer("200 OK", "", "{}")]].concat();
    let (ok, missing) = (answer("200 OK", "", "{}"), answer("404 Not Found", "", "{}"));
    let unavailable = answer("503 Service Unavailable", "", "");
    let beside = |other: &Step| [vec![other.clone()], vec![busy(); 4], vec![ok.clone()]].concat();
    for (answers, records, code, pauses) in [
        (vec![ok.clone()], 1, 0, &all[..1]),
        (vec![busy()], 1, 5, &all),
        (busy_twice, 1, 0, &all[..3]),
        (vec![missing.clone()], 1, 7, &all[..1]),
        (vec![unavailable.clone(), ok.clone()], 1, 8, &all[..1]),
        (vec![answer("401 Unauthorized", "", "")], 1, 6, &all[..1]),
        // One record is for a person, and the other one for the next turn.
        (beside(&missing), 2, 7, &all[..2]),
        (beside(&unavailable), 2, 8, &all[..2]),
    ] {
        let server = MockServer::start(answers);
        let home = home_with("items-day.csv", &items(records));
        let outcome = serve(home.storefront(""), &server.url("")).shell(&script);
        let paused: Vec<&str> = outcome.stdout.lines().filter(|line| line.starts_with("pause")).collect();
        assert_eq!((outcome.code, &paused[..]), (code, pauses), "{outcome:?}");
    }
}
