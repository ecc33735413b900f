//! Journals of one input next to each other: what one run has sent no other sends again.

use std::time::Duration;

use serde_json::json;

use crate::support::batch::{attributes, lines};
use crate::support::mock_server::{MockServer, Step, reply};
use crate::support::test_env::{TestEnv, serve, words};

const ITEMS: &str = "sku,qty,quote_id\nmug-blue,1,1\numbrella,2,2\nmug-blue,1,3\numbrella,2,4\n";

fn posts(env: &TestEnv) -> usize {
    env.requests().iter().filter(|heard| heard.starts_with("POST")).count()
}

#[test]
fn shards_and_the_whole_send_each_record_once_in_any_order() {
    for runs in [
        ["", "--shard 0/2", "--shard 1/2"],
        ["--shard 0/2", "--shard 1/2", ""],
        ["--shard 0/2", "--shard 1/3", ""],
        ["--shard 0/2 --resume", "--resume", "--shard 2/3 --resume"],
    ] {
        let env = TestEnv::new();
        env.file("a.csv", attributes(40));
        let mut sent = 0;
        for flags in runs {
            let outcome = env.run(&format!("attribute create -i a.csv -o json {flags}"));
            assert_eq!(outcome.code, 0, "{runs:?} {flags}: {outcome:?}");
            sent += posts(&env);
        }
        let whole = env.run("attribute create -i a.csv -o json --resume");
        assert_eq!(whole.code, 0, "{runs:?}: {whole:?}");
        assert_eq!(sent + posts(&env), 40, "{runs:?}");
        assert_eq!(lines(&whole).len(), 40);
    }
}

#[cfg(unix)]
#[test]
fn a_link_to_the_input_is_the_input() {
    let env = TestEnv::new();
    env.file("a.csv", ITEMS);
    let outcome = env.run("quote add-item -i a.csv");
    let sent = posts(&env);
    std::os::unix::fs::symlink("a.csv", env.home.dir.path().join("link.csv")).unwrap();
    let again = env.run("quote add-item -i link.csv");
    assert_eq!((outcome.code, sent, again.code, posts(&env)), (outcome.code, 4, 3, 0), "{again:?}");
    assert!(again.stderr.contains("a.csv.journal` already exists"), "{again:?}");
}

#[test]
fn what_another_journal_leaves_unknown_is_reported_so() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(3));
    assert_eq!(env.run("attribute create -i a.csv --shard 0/1").code, 0);
    env.requests();
    let path = env.home.dir.path().join("a.csv.0-1.journal");
    let text = std::fs::read_to_string(&path).unwrap();
    let kept: Vec<&str> = text.lines().filter(|line| !line.contains("\"done\"")).collect();
    std::fs::write(&path, kept.join("\n") + "\n").unwrap();
    let outcome = env.run("attribute create -i a.csv -o json");
    assert_eq!((outcome.code, posts(&env)), (7, 0), "{outcome:?}");
    assert!(lines(&outcome).iter().all(|line| line["applied"] == "unknown"));
    assert!(outcome.stdout.contains("a.csv.0-1.journal"), "{outcome:?}");
}

#[test]
fn restart_is_refused_while_another_journal_shows_records_as_sent() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(4));
    assert_eq!(env.run("attribute create -i a.csv --shard 0/2").code, 0);
    assert_eq!(env.run("attribute create -i a.csv").code, 0);
    env.requests();
    let refused = env.run("attribute create -i a.csv --restart -o json");
    assert_eq!((refused.code, posts(&env)), (3, 0), "{refused:?}");
    assert!(
        refused.error()["message"].as_str().unwrap().contains("`a.csv.0-2.journal` shows record"),
        "{refused:?}"
    );
}

#[test]
fn a_journal_of_something_else_is_ignored_and_that_is_said() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(2));
    assert_eq!(env.run("attribute create -i a.csv --shard 0/1 --store-view fr").code, 0);
    env.reset_sandbox();
    env.requests();
    env.file("a.csv.1-2.journal", "notes of mine\n");
    let outcome = env.run("attribute create -i a.csv");
    assert_eq!((outcome.code, posts(&env)), (0, 2), "{outcome:?}");
    assert!(
        outcome.stderr.contains("a.csv.0-1.journal`: it belongs to a different store view"),
        "{outcome:?}"
    );
    assert!(outcome.stderr.contains("a.csv.1-2.journal`: it is not a storefront journal"), "{outcome:?}");
}

#[test]
fn while_one_runs_only_another_shard_of_the_same_number_may_run() {
    let env = TestEnv::new();
    let slow = MockServer::start(vec![Step::Stall(Duration::from_secs(8), reply("200 OK", "", "{}"))]);
    env.file("a.csv", attributes(40));
    let mut first =
        serve(env.home.storefront(&words("attribute create -i a.csv --shard 0/2")), &slow.url("")).spawn();
    while slow.requests().is_empty() {
        std::thread::sleep(Duration::from_millis(2));
    }
    for flags in ["", "--shard 0/3", "--shard 1/3", "--journal other"] {
        let other =
            serve(env.home.storefront(&words(&format!("attribute create -i a.csv {flags}"))), &slow.url(""))
                .run();
        assert!(
            other.code == 3 && other.stderr.contains("another run over this input is in progress"),
            "{flags}: {other:?}"
        );
    }
    let dry = words("attribute create -i a.csv --shard 1/2 --timeout 0.2 --retry 0 --stop-on-error");
    let other = serve(env.home.storefront(&dry), &slow.url("")).run();
    assert_eq!(other.code, 7, "{other:?}");
    first.kill().unwrap();
    first.wait().unwrap();
}

#[test]
fn no_other_file_is_taken_for_a_journal_or_overwritten() {
    let env = TestEnv::new();
    let input = attributes(3);
    env.file("a.csv", &input);
    env.file("notes.txt", "mine\n");
    env.file("empty", "");
    let directory = env.home.dir.path().to_owned();
    std::fs::hard_link(directory.join("a.csv"), directory.join("hard.csv")).unwrap();
    for flags in [
        "--journal a.csv",
        "--journal a.csv --restart",
        "--journal hard.csv --restart",
        "--journal notes.txt --restart",
        "--journal notes.txt --resume",
        "--journal empty --resume",
        "--journal empty",
        "--journal .",
        "--failed a.csv",
        "--failed hard.csv",
        "--failed notes.txt",
        "--failed a.csv.journal",
    ] {
        let outcome = env.run(&format!("attribute create -i a.csv -o json {flags}"));
        assert_eq!((outcome.code, posts(&env)), (3, 0), "{flags}: {outcome:?}");
        assert_eq!(outcome.error()["kind"], json!("guard"));
    }
    assert_eq!(std::fs::read_to_string(directory.join("a.csv")).unwrap(), input);
    assert_eq!(std::fs::read_to_string(directory.join("notes.txt")).unwrap(), "mine\n");
}
