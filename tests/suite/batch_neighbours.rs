//! Several journals of one input: what one run has sent no other sends again.

use std::time::Duration;

use snapbox::str;

use crate::support::batch::{attributes, lines};
use crate::support::mock_server::{MockServer, Step, reply};
use crate::support::test_env::{TestEnv, serve};

const ITEMS: &str = "sku,qty,quote_id\nmug-blue,1,1\numbrella,2,2\nmug-blue,1,3\numbrella,2,4\n";

fn posts(env: &TestEnv) -> usize {
    env.requests().iter().filter(|heard| heard.starts_with("POST")).count()
}

#[test]
fn shards_and_the_whole_input_send_each_record_once_in_any_order() {
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
    again.assert_failure(
        3,
        str![[r#"
error: journal `[HOME]/a.csv.journal` already exists
  No changes were made.
  hint: use --resume to continue it, or --restart to discard it and process every record again
"#]],
    );
}

#[test]
fn records_unknown_in_another_journal_are_reported_as_unknown() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(3));
    assert_eq!(env.run("attribute create -i a.csv --shard 0/1").code, 0);
    env.requests();
    let path = env.home.dir.path().join("a.csv.0-1.journal");
    let text = std::fs::read_to_string(&path).unwrap();
    let kept: Vec<&str> = text.lines().filter(|line| !line.contains("\"done\"")).collect();
    std::fs::write(&path, kept.join("\n") + "\n").unwrap();
    env.run("attribute create -i a.csv").assert(7, str![[r#"
record 1 (line 2): unknown: sent by an earlier run (journal `a.csv.0-1.journal`), with unknown outcome
record 2 (line 3): unknown: sent by an earlier run (journal `a.csv.0-1.journal`), with unknown outcome
record 3 (line 4): unknown: sent by an earlier run (journal `a.csv.0-1.journal`), with unknown outcome
"#]], str![[r#"
attribute create: 3 records: 0 done, 3 unknown ([DURATION])
  3 × sent by an earlier run (journal `a.csv.0-1.journal`), with unknown outcome
error: of 3 records, 3 unknown
  Some records may have been applied.
  hint: check whether the unknown records took effect (`storefront journal show [HOME]/a.csv.journal` lists them); `storefront attribute create -i a.csv --resume --retry-unknown` sends them again
"#]]);
    assert_eq!(posts(&env), 0);
}

#[test]
fn restart_is_refused_while_another_journal_shows_records_as_sent() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(4));
    assert_eq!(env.run("attribute create -i a.csv --shard 0/2").code, 0);
    assert_eq!(env.run("attribute create -i a.csv").code, 0);
    env.requests();
    env.run("attribute create -i a.csv --restart").assert_failure(
        3,
        str![[r#"
error: journal `a.csv.0-2.journal` shows record 1 as done
  No changes were made.
  hint: use --resume, or remove `a.csv.0-2.journal` if its records are to be sent again
"#]],
    );
    assert_eq!(posts(&env), 0);
}

#[test]
fn an_unrelated_journal_is_ignored_with_a_warning() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(2));
    assert_eq!(env.run("attribute create -i a.csv --shard 0/1 --store-view fr").code, 0);
    env.reset_sandbox();
    env.requests();
    env.file("a.csv.1-2.journal", "notes of mine\n");
    env.run("attribute create -i a.csv").assert(0, str![], str![[r#"
warning: ignoring journal `[HOME]/a.csv.0-1.journal`: it belongs to a different store view: `fr`, expected `default`
warning: ignoring journal `[HOME]/a.csv.1-2.journal`: it is not a storefront journal
record 1: attribute create: host 127.0.0.1:[PORT]
attribute create: 2 records: 2 done ([DURATION])
"#]]);
    assert_eq!(posts(&env), 2);
}

#[test]
fn only_another_shard_of_the_same_count_may_run_concurrently() {
    let env = TestEnv::new();
    let slow = MockServer::start(vec![Step::Stall(Duration::from_secs(8), reply("200 OK", "", "{}"))]);
    env.file("a.csv", attributes(40));
    let mut first =
        serve(env.home.storefront("attribute create -i a.csv --shard 0/2"), &slow.url("")).spawn();
    while slow.requests().is_empty() {
        std::thread::sleep(Duration::from_millis(2));
    }
    for flags in ["", "--shard 0/3", "--shard 1/3", "--journal other"] {
        let line = format!("attribute create -i a.csv {flags}");
        serve(env.home.storefront(&line), &slow.url("")).run().assert_failure(
            3,
            str![[r#"
error: another run over this input is in progress: journal `[HOME]/a.csv.0-2.journal`
  No changes were made.
  hint: wait for it to finish; runs at the same time need --shard I/N with the same N
"#]],
        );
    }
    let dry = "attribute create -i a.csv --shard 1/2 --timeout 0.2 --retry 0 --stop-on-error";
    let other = serve(env.home.storefront(dry), &slow.url("")).run();
    assert_eq!(other.code, 7, "{other:?}");
    first.kill().unwrap();
    first.wait().unwrap();
}

#[test]
fn no_other_file_is_used_as_a_journal_or_overwritten() {
    let env = TestEnv::new();
    let input = attributes(3);
    env.file("a.csv", &input);
    env.file("notes.txt", "mine\n");
    env.file("empty", "");
    let directory = env.home.dir.path().to_owned();
    std::fs::hard_link(directory.join("a.csv"), directory.join("hard.csv")).unwrap();
    for (flags, stderr) in [
        (
            "--journal a.csv",
            str![[r#"
error: journal `a.csv` is the input
  No changes were made.
  hint: choose another file with --journal
"#]],
        ),
        (
            "--journal a.csv --restart",
            str![[r#"
error: journal `a.csv` is the input
  No changes were made.
  hint: choose another file with --journal
"#]],
        ),
        (
            "--journal hard.csv --restart",
            str![[r#"
error: journal `hard.csv` is the input
  No changes were made.
  hint: choose another file with --journal
"#]],
        ),
        (
            "--journal notes.txt --restart",
            str![[r#"
error: `notes.txt` is not a storefront journal
  No changes were made.
  hint: --restart replaces only a journal: choose another file with --journal
"#]],
        ),
        (
            "--journal notes.txt --resume",
            str![[r#"
error: journal `notes.txt` is not a storefront journal
  No changes were made.
  hint: select the right journal with --journal, or use --restart
"#]],
        ),
        (
            "--journal empty --resume",
            str![[r#"
error: journal `empty` is empty: what was sent before is unknown
  No changes were made.
  hint: restore it, or use --restart if no record was sent
"#]],
        ),
        (
            "--journal empty",
            str![[r#"
error: journal `empty` already exists
  No changes were made.
  hint: use --resume to continue it, or --restart to discard it and process every record again
"#]],
        ),
        (
            "--journal .",
            str![[r#"
error: cannot read journal `.`: Is a directory (os error [N])
  No changes were made.
  hint: choose another file with --journal
"#]],
        ),
        (
            "--failed a.csv",
            str![[r#"
error: --failed `a.csv` is the input
  No changes were made.
  hint: choose another file with --failed
"#]],
        ),
        (
            "--failed hard.csv",
            str![[r#"
error: --failed `hard.csv` is the input
  No changes were made.
  hint: choose another file with --failed
"#]],
        ),
        (
            "--failed notes.txt",
            str![[r#"
error: --failed `notes.txt` exists, and was not written by an earlier run of this journal
  No changes were made.
  hint: move it away, or choose another file with --failed
"#]],
        ),
        (
            "--failed a.csv.journal",
            str![[r#"
error: --failed `a.csv.journal` is the journal
  No changes were made.
  hint: choose another file with --failed
"#]],
        ),
    ] {
        env.run(&format!("attribute create -i a.csv {flags}")).assert_failure(3, stderr);
        assert_eq!(posts(&env), 0, "{flags}");
    }
    assert_eq!(std::fs::read_to_string(directory.join("a.csv")).unwrap(), input);
    assert_eq!(std::fs::read_to_string(directory.join("notes.txt")).unwrap(), "mine\n");
}
