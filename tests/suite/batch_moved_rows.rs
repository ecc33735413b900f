//! A sheet that was sorted, or has got rows, since it was run: records are known by what they hold.

use serde_json::{Value, json};

use crate::support::batch::lines;
use crate::support::storefront::Outcome;
use crate::support::test_env::{TestEnv, change_log};

const RESUME: &str = "quote add-item -i items.csv --resume --jobs 1 -o json";

/// What became of each record: the line by which it is named, and the reason, or the kind of the failure.
fn said(outcome: &Outcome) -> Vec<(Value, Value)> {
    let of = |line: &Value| {
        if line["reason"].is_null() { line["error"]["kind"].clone() } else { line["reason"].clone() }
    };
    lines(outcome).iter().map(|line| (line["line"].clone(), of(line))).collect()
}

fn sheet(env: &TestEnv, rows: &[&str]) {
    let rows = rows.iter().fold(String::new(), |text, row| text + "1," + row + "\n");
    env.file("items.csv", format!("quote_id,sku,qty\n{rows}"));
}

/// A batch of which the second row has failed.
fn run_once() -> TestEnv {
    let env = TestEnv::new();
    sheet(&env, &["mug-blue,1", "nope,1", "mug-blue,2"]);
    assert_eq!(env.run("quote add-item -i items.csv --jobs 1").code, 7);
    env.requests();
    env
}

#[test]
fn a_sheet_that_was_only_sorted_is_resumed_and_sends_nothing_twice() {
    let env = run_once();
    sheet(&env, &["mug-blue,2", "mug-blue,1", "nope,1"]);
    let resumed = env.run(RESUME);
    let done = json!("done earlier");
    assert_eq!(said(&resumed), [(4.into(), done.clone()), (2.into(), done), (3.into(), "refused".into())]);
    assert_eq!((resumed.code, env.requests()), (7, Vec::new()), "{resumed:?}");
    let people = env.run("quote add-item -i items.csv --resume");
    assert!(people.stdout.starts_with("line 3 (now 4): failed: "), "{people:?}");
    // The shop has it now; the record is named as it was when it was sent.
    let retried = env.run("quote add-item -i items.csv --resume --retry-failed=3");
    assert_eq!((retried.code, env.requests()), (7, vec!["POST 404".to_owned()]), "{retried:?}");
    assert_eq!(env.run("quote add-item -i items.csv --resume --mark-done=3").code, 0);
}

#[test]
fn a_sheet_that_has_got_rows_sends_these_and_counts_equal_ones() {
    let env = run_once();
    // A new one first, one that equals a row which is done, and the failed one corrected.
    sheet(&env, &["umbrella,1", "mug-blue,1", "mug-blue,1", "mug-blue,2", "mug-blue,9"]);
    let resumed = env.run(RESUME);
    assert_eq!((resumed.code, env.requests()), (0, vec!["POST 200".to_owned(); 3]), "{resumed:?}");
    let named: Vec<Value> = said(&resumed).into_iter().map(|(line, _)| line).collect();
    assert_eq!(json!(named), json!([7, 2, 8, 4, 6]), "{resumed:?}");
    // Once more nothing is left.
    let again = env.run(RESUME);
    assert_eq!((again.code, env.requests()), (0, Vec::new()), "{again:?}");
    assert!(said(&again).iter().all(|(_, reason)| reason == "done earlier"), "{again:?}");
}

#[test]
fn a_record_that_was_changed_or_removed_after_it_was_sent_is_refused() {
    let env = run_once();
    for (rows, says) in [
        (&["mug-blue,5", "nope,1", "mug-blue,2"][..], "line 2 changed after the record was sent"),
        (&["nope,1", "mug-blue,2", "mug-blue,5"], "line 2: removed or changed after it was sent"),
        (&["nope,1", "mug-blue,2"], "line 2: removed or changed after it was sent"),
    ] {
        sheet(&env, rows);
        let refused = env.run(RESUME);
        assert!(refused.code == 3 && refused.stderr.contains(says), "{refused:?}");
        assert_eq!(env.requests(), Vec::<String>::new());
    }
    // What was not applied may go.
    sheet(&env, &["mug-blue,1", "mug-blue,2"]);
    assert_eq!(env.run(RESUME).code, 0);
}

/// A line that was cut off does not say which row it was.
#[test]
fn rows_are_not_moved_where_the_journal_does_not_say_how_one_of_them_read() {
    let env = run_once();
    let journal = env.home.dir.path().join("items.csv.journal");
    let text = std::fs::read_to_string(&journal).unwrap();
    // The header, and that the first row is done.
    let kept: String = text.lines().take(3).map(|line| line.to_owned() + "\n").collect();
    std::fs::write(&journal, kept + "{\"line\":4,\"state\":\"sending\",\"ha").unwrap();
    // What came after it was not sent.
    change_log(&env.home, "UPDATE run SET journal_length = 0");
    let shown = env.run("quote add-item -i items.csv --resume -n");
    assert_eq!(shown.code, 0, "line 4 counts as sent: {shown:?}");
    sheet(&env, &["umbrella,1", "mug-blue,1", "nope,1", "mug-blue,2"]);
    let refused = env.run(RESUME);
    let says = "the journal does not say how one of them read";
    assert!(refused.code == 3 && refused.stderr.contains(says), "{refused:?}");
    assert_eq!(env.requests(), Vec::<String>::new());
}

/// Its request may still take effect, and overwrite what is sent now.
#[test]
fn a_record_of_unknown_outcome_holds_up_those_that_were_sorted_before_it() {
    let env = TestEnv::with_faults(&["PUT:502x1"]);
    let moves =
        |rows: [&str; 2]| env.file("moves.csv", format!("address_id,city\n{}\n{}\n", rows[0], rows[1]));
    moves(["2,Troy", "3,Rome"]);
    let first = env.run("customer update -i moves.csv --retry 0 --jobs 1");
    assert_eq!(first.code, 8, "{first:?}");
    env.requests();
    moves(["3,Rome", "2,Troy"]);
    let resumed = env.run("customer update -i moves.csv --retry 0 --jobs 1 --resume -o json");
    assert!(env.requests().iter().all(|request| request.starts_with("GET")), "{resumed:?}");
    assert_eq!(resumed.code, 8, "{resumed:?}");
    assert!(
        resumed.stdout.contains("not sent: the outcome of line 2, of the same customer, is unknown"),
        "{resumed:?}"
    );
}

/// A disk was full before the record had its hash, and nothing of it left.
#[test]
fn a_record_that_never_left_is_no_reason_to_refuse_moved_rows() {
    let env = TestEnv::new();
    sheet(&env, &["mug-blue,1", "mug-blue,2"]);
    let journal = env.home.dir.path().join("items.csv.journal");
    assert_eq!(env.run("quote add-item -i items.csv --jobs 1").code, 0);
    let whole = std::fs::read_to_string(&journal).unwrap();
    let first: String = whole.split_inclusive('\n').take(3).collect();
    std::fs::write(&journal, first + r#"{"line":3,"sta"#).unwrap();
    change_log(
        &env.home,
        "DELETE FROM write WHERE record = 3; UPDATE run SET journal_length = 1, is_whole = 1",
    );
    env.requests();
    env.file("items.csv", "quote_id,sku,qty\n\n1,mug-blue,1\n1,mug-blue,2\n");
    let resumed = env.run(RESUME);
    assert_eq!((resumed.code, env.requests()), (0, vec!["POST 200".to_owned()]), "{resumed:?}");
}
