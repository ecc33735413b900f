//! What time alone mends is sent again by a resumed run, and what it does not mend has failed for good. Failures of one cause in
//! a row stop a run.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::support::batch::lines;
use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::storefront::{Home, Outcome};
use crate::support::test_env::serve;

const JSON: &str = "Content-Type: application/json\r\n";

fn home(records: usize) -> Home {
    let home = Home::new();
    let items = (1..=records).fold("sku,qty,quote_id\n".to_owned(), |mut csv, number| {
        writeln!(csv, "mug-blue,1,{number}").unwrap();
        csv
    });
    std::fs::write(home.dir.path().join("a.csv"), items).unwrap();
    home
}

fn run(home: &Home, script: Vec<Step>, more: &str) -> (Outcome, usize) {
    let server = MockServer::start(script);
    // The journal names the service, which is the same one for all runs of a test.
    let line = format!("quote add-item -i a.csv -o json --jobs 1 --journal j --retry 0 {more}");
    let outcome = serve(home.storefront(&line), &server.url("")).run();
    (outcome, server.requests().len())
}

fn text(home: &Home, name: &str) -> String {
    std::fs::read_to_string(home.dir.path().join(name)).unwrap()
}

/// The last word of the journal about each record: `done`, `temporary`, `permanent`, …
fn words(home: &Home) -> Vec<String> {
    let mut last = std::collections::BTreeMap::new();
    for line in text(home, "j").lines().filter_map(|line| serde_json::from_str::<Value>(line).ok()) {
        let Some(record) = line["line"].as_u64() else { continue };
        let word = match (&line["state"], &line["temporary"]) {
            (Value::String(state), Value::Bool(true)) if state == "failed" => "temporary",
            (Value::String(state), Value::Bool(false)) if state == "failed" => "permanent",
            (Value::String(state), _) => state,
            other => panic!("{other:?}"),
        };
        last.insert(record, word.to_owned());
    }
    last.into_values().collect()
}

fn ok() -> Step {
    answer("200 OK", JSON, r#"{"item_id": 7}"#)
}

fn page(status: &str) -> Step {
    let page = "<!DOCTYPE html><html><title>Request blocked</title></html>";
    answer(status, "Content-Type: text/html\r\n", page)
}

/// What stands in front of a service answers in place of it; and the code of a run in which it answers everything.
fn not_of_the_service() -> Vec<(Step, i32)> {
    vec![
        (page("403 Forbidden"), 5),
        (page("404 Not Found"), 4),
        (page("406 Not Acceptable"), 5),
        (answer("403 Forbidden", "Content-Type: text/plain\r\n", "Request blocked"), 5),
        (answer("403 Forbidden", "", ""), 5),
        (answer("302 Found", "Location: /blocked\r\n", ""), 4),
        (answer("404 Not Found", JSON, r#"{"message": "Request does not match any route."}"#), 4),
    ]
}

#[test]
fn a_page_that_answers_one_record_is_temporary_and_ends_by_hand() {
    for (blocked, _) in not_of_the_service() {
        // Before any other, between others, and as the last one.
        for (place, then) in [(0, vec![ok()]), (1, vec![ok()]), (3, vec![])] {
            let home = home(4);
            let script = [vec![ok(); place], vec![blocked.clone()], then].concat();
            let (outcome, _) = run(&home, script, "");
            assert_eq!(outcome.code, 5, "{place}: {outcome:?}");
            let mut expected = vec!["done"; 4];
            expected[place] = "temporary";
            assert_eq!(words(&home), expected, "{outcome:?}");
            let numbers: Vec<_> = lines(&outcome).iter().map(|line| line["record"].clone()).collect();
            assert_eq!(numbers, [json!(1), json!(2), json!(3), json!(4)], "in the order of the input");
        }
    }
}

#[test]
fn a_403_of_the_service_is_permanent() {
    let home = home(1);
    let refused = answer("403 Forbidden", JSON, r#"{"message": "Not allowed for this product."}"#);
    let (outcome, _) = run(&home, vec![refused], "");
    assert_eq!((outcome.code, words(&home)), (7, vec!["permanent".to_owned()]), "{outcome:?}");
}

#[test]
fn three_pages_in_a_row_stop_the_run_and_count_as_temporary() {
    for (blocked, code) in not_of_the_service() {
        let home = home(9);
        let (outcome, requests) = run(&home, vec![ok(), blocked.clone()], "");
        assert_eq!((outcome.code, requests), (code, 4), "{outcome:?}");
        assert_eq!(words(&home), ["done", "temporary", "temporary", "temporary"], "{outcome:?}");
        assert!(outcome.error()["hint"].as_str().unwrap().contains("`storefront resume 1`"), "{outcome:?}");
        assert_eq!(outcome.error()["records"]["not_sent"], 5, "{outcome:?}");
    }
}

#[test]
fn pages_under_200_stop_the_run_before_all_its_records_are_unknown() {
    let home = home(9);
    let (outcome, requests) = run(&home, vec![page("200 OK")], "");
    assert_eq!((outcome.code, requests), (8, 3), "{outcome:?}");
    assert_eq!(words(&home), ["unknown"; 3]);
}

/// Runs over one service, in which every request takes the next step.
fn runs(home: &Home, script: Vec<Step>, lines: &[&str]) -> Vec<Outcome> {
    let server = MockServer::start(script);
    let run = |line: &&str| {
        let line = format!("{line} -i a.csv -o json --jobs 1 --journal j --retry 0");
        serve(home.storefront(&line), &server.url("")).run()
    };
    lines.iter().map(run).collect()
}

#[test]
fn what_a_run_meets_is_said_again_by_the_next_one_until_it_is_marked() {
    let home = home(7);
    let script = [vec![page("403 Forbidden"); 6], vec![ok()]].concat();
    let lines = ["", "--resume", "--resume --mark-done=2,3,4"].map(|flags| format!("quote add-item {flags}"));
    let outcomes = runs(&home, script, &lines.each_ref().map(String::as_str));
    assert_eq!(outcomes.iter().map(|it| it.code).collect::<Vec<_>>(), [5, 5, 0], "{outcomes:?}");
    assert_eq!(words(&home), ["done"; 7], "{outcomes:?}");
}

#[test]
fn three_refusals_of_one_cause_in_a_row_stop_the_run() {
    let refused = |what: &str| {
        answer("403 Forbidden", JSON, &json!({"message": format!("Not allowed for {what}.")}).to_string())
    };
    let home = home(9);
    let (outcome, requests) = run(&home, vec![ok(), refused("you")], "");
    assert_eq!((outcome.code, requests), (6, 4), "{outcome:?}");
    assert_eq!(words(&home), ["done", "permanent", "permanent", "permanent"], "{outcome:?}");
    assert_eq!(outcome.error()["records"]["not_sent"], 5, "{outcome:?}");
    // Of other causes, or with something between them, they are about the records.
    for script in [
        ["a", "b", "c", "d"].map(refused).to_vec(),
        vec![refused("a"), refused("a"), ok(), refused("a"), refused("a"), ok()],
    ] {
        let home = self::home(4);
        let (outcome, requests) = run(&home, script, "");
        assert_eq!((outcome.code, requests), (7, 4), "{outcome:?}");
    }
}

fn update_home(records: usize) -> Home {
    let home = Home::new();
    let rows = (1..=records).fold("token,address_id,city\n".to_owned(), |mut csv, number| {
        writeln!(csv, "t{number},{number},Oslo").unwrap();
        csv
    });
    std::fs::write(home.dir.path().join("a.csv"), rows).unwrap();
    home
}

/// The profile of a customer who lives in Oslo already.
fn profile(id: u64) -> Step {
    let addresses = json!([{"id": id, "city": "Oslo", "street": ["1"], "postcode": "1"}]);
    answer("200 OK", JSON, &json!({"id": id, "email": "a@b.example", "addresses": addresses}).to_string())
}

const UPDATE: &str = "customer update --settle 0 --yes";

#[test]
fn a_read_that_the_service_fails_is_temporary_however_often() {
    let home = update_home(2);
    let broken = answer("500 Internal Server Error", JSON, r#"{"message": "Internal Error."}"#);
    let script = vec![broken.clone(), profile(2), broken];
    let outcomes = runs(&home, script, &[UPDATE, &format!("{UPDATE} --resume")]);
    assert_eq!((outcomes[0].code, outcomes[1].code), (5, 5), "{outcomes:?}");
    assert_eq!(words(&home), ["temporary", "done"]);
}

#[test]
fn a_profile_that_cannot_be_read_is_temporary() {
    for unreadable in [r#"{"id": 1, "email": "a@b.example"}"#, r#"{"id": 1, "addresses": 7}"#] {
        let home = update_home(2);
        let outcomes = runs(&home, vec![answer("200 OK", JSON, unreadable), profile(2)], &[UPDATE]);
        assert_eq!((outcomes[0].code, words(&home)), (5, vec!["temporary".into(), "done".into()]));
    }
}

#[test]
fn a_state_directory_that_takes_nothing_stops_the_run() {
    let home = update_home(9);
    let state = home.state();
    std::fs::create_dir_all(&state).unwrap();
    std::fs::write(state.join("locks"), "in the way").unwrap();
    let outcomes = runs(&home, vec![profile(1)], &[UPDATE]);
    assert_eq!(outcomes[0].code, 1, "{outcomes:?}");
    assert_eq!(words(&home), ["temporary"; 3], "{outcomes:?}");
    assert!(outcomes[0].error()["hint"].as_str().unwrap().contains("free some space"), "{outcomes:?}");
}

#[test]
fn a_refused_token_that_stands_in_the_record_is_permanent() {
    let home = home(0);
    let items = "sku,qty,quote_id,token\nmug-blue,1,1,one\nmug-blue,1,2,two\nmug-blue,1,3,three\n";
    std::fs::write(home.dir.path().join("a.csv"), items).unwrap();
    let refused = answer(
        "401 Unauthorized",
        JSON,
        r#"{"message": "The consumer isn't authorized to access %resources."}"#,
    );
    let (outcome, requests) = run(&home, vec![ok(), refused, ok()], "");
    assert_eq!((outcome.code, requests), (7, 3), "{outcome:?}");
    assert_eq!(words(&home), ["done", "permanent", "done"], "{outcome:?}");
}
