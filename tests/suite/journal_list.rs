//! `history` and `history latest`: the batches of this machine, with what their journals say now.

use serde_json::{Value, json};
use snapbox::str;

use crate::support::batch::{attributes, lines};
use crate::support::test_env::TestEnv;

/// The batches as they are listed.
fn listed(env: &TestEnv) -> Vec<Value> {
    let list = env.run("history -o json");
    assert_eq!(list.code, 0, "{list:?}");
    lines(&list)
}

/// Some fields of a batch.
fn fields(batch: &Value, names: &[&str]) -> Value {
    names.iter().map(|name| batch[*name].clone()).collect()
}

const COUNTS: [&str; 8] =
    ["outcome", "records", "done", "failed", "failed_temporarily", "unknown", "sending", "not_sent"];

#[test]
fn batches_are_listed_newest_first_with_what_their_journals_say() {
    let env = TestEnv::new();
    env.run("history").assert(
        0,
        str![""],
        str![[r#"
nothing was written to this shop from this machine
"#]],
    );
    env.run("history latest").assert_failure(
        2,
        str![[r#"
error: no write of this shop on this machine
  hint: `storefront history` lists the writes
"#]],
    );
    env.file("a.csv", attributes(2));
    assert_eq!(env.run("attribute create -i a.csv").code, 0);
    env.file("items.csv", "quote_id,sku,qty\n1,mug-blue,1\n1,nope,1\n");
    assert_eq!(env.run("quote add-item -i items.csv").code, 7);
    let batches = listed(&env);
    let names = ["operation", "input", "interface"];
    assert_eq!(
        batches.iter().map(|batch| fields(batch, &names)).collect::<Value>(),
        json!(
            [["quote add-item", "items.csv", "marketplace"], ["attribute create", "a.csv", "marketplace"],]
        )
    );
    assert_eq!(fields(&batches[0], &COUNTS), json!(["done", 2, 1, 1, 0, 0, 0, 0]));
    assert_eq!(fields(&batches[1], &COUNTS), json!(["done", 2, 2, 0, 0, 0, 0, 0]));
    let shown = env.run("history latest --csv");
    assert!(shown.stdout.contains("\n2,1,done,") && shown.stdout.contains("\n3,1,failed,"), "{shown:?}");
    assert!(shown.stderr.ends_with("items.csv.journal\n"), "{shown:?}");
    // Corrected and resumed it is one batch, and the newest.
    env.file("items.csv", "quote_id,sku,qty\n1,mug-blue,1\n1,mug-blue,2\n");
    assert_eq!(env.run("attribute create -i a.csv --resume").code, 0);
    assert_eq!(env.run("quote add-item -i items.csv --resume").code, 0);
    assert_eq!(fields(&listed(&env)[0], &COUNTS), json!(["done", 2, 2, 0, 0, 0, 0, 0]));
    assert_eq!(listed(&env).len(), 2);
}

#[test]
fn a_batch_that_was_killed_is_listed_as_it_stands() {
    let env = TestEnv::with_faults(&["POST:latency=60000"]);
    env.file("a.csv", attributes(3));
    let mut child = env.storefront("attribute create -i a.csv --jobs 1").spawn_silent();
    let journal = env.home.dir.path().join("a.csv.journal");
    while !std::fs::read_to_string(&journal).is_ok_and(|text| text.contains("sending")) {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    // The log has the write right after the journal.
    let running = json!(["running", 3, 0, 0, 0, 0, 1, 2]);
    while fields(&listed(&env)[0], &COUNTS) != running {
        assert!(fields(&listed(&env)[0], &COUNTS)[0] == "running");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(fields(&listed(&env)[0], &COUNTS), json!(["open", 3, 0, 0, 0, 0, 1, 2]));
}

#[test]
fn a_journal_that_is_gone_or_damaged_is_said() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(1));
    assert_eq!(env.run("attribute create -i a.csv").code, 0);
    let journal = env.home.dir.path().join("a.csv.journal");
    let text = std::fs::read_to_string(&journal).unwrap();
    std::fs::write(&journal, "no journal").unwrap();
    let unreadable = json!(["unreadable", 1, null, null, null, null, null, null]);
    assert_eq!(fields(&listed(&env)[0], &COUNTS), unreadable);
    std::fs::remove_file(&journal).unwrap();
    assert_eq!(listed(&env)[0]["outcome"], "gone");
    assert_eq!(listed(&env)[0]["input"], "a.csv");
    env.run("history latest").assert_failure(
        2,
        str![[r#"
journal [HOME]/a.csv.journal
error: the journal `[HOME]/a.csv.journal` was moved or deleted
  hint: name the file where it is now
"#]],
    );
    std::fs::write(&journal, text).unwrap();
    assert_eq!(listed(&env)[0]["outcome"], "done");
}
