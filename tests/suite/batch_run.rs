//! A run over many records: its results, its exit codes, its pace.

use serde_json::json;
use snapbox::str;

use crate::support::batch::{attributes, created, lines, numbers};
use crate::support::snapshot::assert_snapshot;
use crate::support::test_env::TestEnv;

#[test]
fn results_are_in_input_order_and_failures_have_their_line() {
    let env = TestEnv::with_faults(&["latency=5@50"]);
    let csv =
        attributes(60).replace("code_7,", "Bad Code,").replace("code_31,Label 31,", "code_30,Label 30,");
    env.file("a.csv", csv);
    let outcome = env.run("attribute create -i a.csv -o json --jobs 16");
    assert_eq!(outcome.code, 7, "{outcome:?}");
    assert_eq!(numbers(&outcome), (1..=60).collect::<Vec<u64>>());
    let seventh = &lines(&outcome)[6];
    assert_eq!((&seventh["applied"], &seventh["status"]), (&json!("no"), &json!(400)));
    assert_eq!((&seventh["error"]["kind"], &seventh["error"]["applied"]), (&json!("refused"), &json!("no")));
    assert_eq!(outcome.error()["kind"], "partial");
    assert_snapshot(
        &outcome.stderr,
        str![[r#"
{"warning":{"message":"line 8: column attribute_code: `Bad Code` may be rejected: Magento expects a letter followed by up to 59 of a-z, 0-9, _"}}
{"warning":{"message":"line 32: duplicate attribute code `code_30`"}}
{"error":{"kind":"partial","message":"2 of 60 records failed","hint":"fix lines 8, 32 in the input, then resume with `storefront resume 1`; to give them up, run `storefront resume 1 --mark-done=8,32`","status":null,"applied":"yes","service":null,"records":{"done":58,"unchanged":0,"failed":2,"temporary":0,"not_sent":0,"unknown":0,"mismatch":0},"resume":false}}
"#]],
    );
}

#[test]
fn stop_on_error_stops_at_the_first_failure() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(50).replace("code_3,", "Bad,"));
    let outcome = env.run("attribute create -i a.csv --stop-on-error --jobs 1 -o json");
    assert_eq!((outcome.code, created(&env)), (7, vec![1, 2]), "{outcome:?}");
    assert_eq!(numbers(&outcome), (1..=50).collect::<Vec<u64>>());
    assert_eq!(lines(&outcome)[49]["reason"], "not sent");
    let resumed = env.run("attribute create -i a.csv --stop-on-error --resume");
    assert_eq!(
        (resumed.code, created(&env).len()),
        (7, 49),
        "what failed earlier stops nothing now: {resumed:?}"
    );
}

#[test]
fn a_dry_run_shows_the_first_few_in_full_and_counts_the_rest() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(20));
    env.run("attribute create -i a.csv -n").assert(
        0,
        str![[r#"
line 2: attribute create: dry run
POST http://127.0.0.1:[PORT]/V1/admin/product/attribute/
{
  "attribute": {
    "attribute_code": "code_1",
    "default_frontend_label": "Label 1",
    "frontend_input": "text",
    "entity_type_id": "4"
  }
}
line 3: attribute create: dry run
POST http://127.0.0.1:[PORT]/V1/admin/product/attribute/
{
  "attribute": {
    "attribute_code": "code_2",
    "default_frontend_label": "Label 2",
    "frontend_input": "text",
    "entity_type_id": "4"
  }
}
line 4: attribute create: dry run
POST http://127.0.0.1:[PORT]/V1/admin/product/attribute/
{
  "attribute": {
    "attribute_code": "code_3",
    "default_frontend_label": "Label 3",
    "frontend_input": "text",
    "entity_type_id": "4"
  }
}
and 17 more records
"#]],
        str!["dry run: 20 records, nothing sent"],
    );
    assert!(!env.home.dir.path().join("a.csv.journal").exists());
    assert_eq!(env.requests(), Vec::<String>::new());
}

#[test]
fn throttling_slows_the_batch_down_and_every_record_is_sent() {
    let env = TestEnv::with_faults(&["429=0@40"]);
    env.file("a.csv", attributes(60));
    let outcome = env.run("attribute create -i a.csv --retry 30");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(env.requests().iter().filter(|heard| *heard == "POST 429").count() > 5);
    let mut found = created(&env);
    found.sort_unstable();
    assert_eq!(found, (1..=60).collect::<Vec<usize>>());
}

#[test]
fn many_records_that_failed_for_one_cause_are_printed_once() {
    let env = TestEnv::new();
    let mut items = "sku,qty,quote_id\n".to_owned();
    for number in 1..=40 {
        let sku = if number % 10 == 0 { "mug-blue" } else { "nope" };
        items += &format!("{sku},1,1\n");
    }
    env.file("a.csv", items);
    let outcome = env.run("quote add-item -i a.csv -q --jobs 1");
    let rows: Vec<&str> = outcome.stdout.lines().collect();
    assert_eq!((outcome.code, rows.len()), (7, 21), "{outcome:?}");
    assert!(rows[..20].iter().all(|row| row.starts_with("line ")), "{outcome:?}");
    assert!(rows[20].starts_with("lines 24-30, 32-40: failed: the service answered 404"), "{outcome:?}");
    // For programs every record has its line.
    let json = env.run("quote add-item -i a.csv -o json --resume");
    assert_eq!(json.stdout.lines().count(), 40, "{json:?}");
}
