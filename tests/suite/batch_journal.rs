//! The journal: what a run records, and which journals it refuses.

use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use snapbox::{IntoData, str};

use crate::support::batch::{attributes, created, most_in_flight, states};
use crate::support::mock_server::{MockServer, Step};
use crate::support::test_env::{TestEnv, serve};

pub fn journal(env: &TestEnv) -> PathBuf {
    env.home.dir.path().join("a.csv.journal")
}

pub fn text(env: &TestEnv) -> String {
    std::fs::read_to_string(journal(env)).unwrap()
}

#[test]
fn a_run_is_journalled_record_by_record() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(40));
    assert_eq!(env.run("attribute create -i a.csv --jobs 4").code, 0);
    let text = text(&env);
    let header: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!((&header["operation"], &header["input"]), (&json!("attribute create"), &json!("a.csv")));
    assert_eq!(states(&text), [("done".to_owned(), 40)].into());
    assert!((2..=4).contains(&most_in_flight(&text)), "{}", most_in_flight(&text));
    assert!(!text.contains("sandbox-admin"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(journal(&env)).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_journal_that_does_not_match_is_refused_with_its_reason() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(4));
    assert_eq!(env.run("attribute create -i a.csv").code, 0);
    let (whole, input) = (text(&env), attributes(4));
    env.requests();
    let refused = |line: &str, stderr: snapbox::Data| {
        env.run(line).assert_failure(3, stderr);
        assert_eq!(env.requests(), Vec::<String>::new(), "{line}");
    };
    let resume = "attribute create -i a.csv --resume";
    env.file("a.csv", input.replace("Label 3", "Label 4"));
    refused(
        resume,
        str![[r#"
error: a.csv: line 4 (record 3) was changed after it had been sent
  No changes were made.
  hint: restore the line and append the change as a new record, or use --restart
"#]]
        .into_data(),
    );
    env.file("a.csv", input.lines().take(3).collect::<Vec<_>>().join("\n"));
    refused(
        resume,
        str![[r#"
error: `a.csv` has only 2 records, but the journal covers record 4
  No changes were made.
  hint: use the original input, or --restart
"#]]
        .into_data(),
    );
    env.file("b.csv", input.replace("code_", "other_"));
    refused(
        "attribute create -i b.csv --journal a.csv.journal --resume",
        str![[r#"
error: journal `a.csv.journal` belongs to a different input: `a.csv`, expected `b.csv`
  No changes were made.
  hint: select the right journal with --journal, or use --restart
"#]]
        .into_data(),
    );
    env.file("a.csv", &input);
    env.file("items.csv", "sku\nx\n");
    refused(
        "quote add-item -i items.csv --journal a.csv.journal --resume",
        str![[r#"
error: journal `a.csv.journal` belongs to a different operation: `attribute create`, expected `quote add-item`
  No changes were made.
  hint: select the right journal with --journal, or use --restart
"#]]
        .into_data(),
    );
    refused(
        "attribute create -i a.csv --resume --store-view fr",
        str![[r#"
error: journal `[HOME]/a.csv.journal` belongs to a different store view: `default`, expected `fr`
  No changes were made.
  hint: select the right journal with --journal, or use --restart
"#]]
        .into_data(),
    );
    let elsewhere = format!("{}/staging", env.url());
    serve(env.home.storefront(resume), &elsewhere).run().assert_failure(3, str![[r#"
error: journal `[HOME]/a.csv.journal` belongs to a different service: `http://localhost:[PORT]`, expected `http://localhost:[PORT]/staging`
  No changes were made.
  hint: select the right journal with --journal, or use --restart
"#]]);
    std::fs::write(journal(&env), whole.replacen("\"record\":2", "\"rec\":", 1)).unwrap();
    refused(
        resume,
        str![[r#"
error: journal `[HOME]/a.csv.journal` is corrupt at line 3: invalid entry
  No changes were made.
  hint: repair or delete that line if you know the record's outcome, or use --restart
"#]]
        .into_data(),
    );
    std::fs::write(journal(&env), "hello\n").unwrap();
    refused(
        resume,
        str![[r#"
error: journal `[HOME]/a.csv.journal` is not a storefront journal
  No changes were made.
  hint: select the right journal with --journal, or use --restart
"#]]
        .into_data(),
    );
}

#[test]
#[cfg_attr(windows, ignore = "there is no /dev/full, and no limit for the size of files")]
fn a_full_disk_stops_the_run_before_unjournalled_records_are_sent() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(400));
    env.run("attribute create -i a.csv --journal /dev/full").assert_failure(
        3,
        str![[r#"
error: journal `/dev/full` is not a regular file
  No changes were made.
  hint: choose another file with --journal
"#]],
    );
    assert_eq!(env.requests(), Vec::<String>::new());
    // The disk is full after some records: a limit of 16 blocks of 512 bytes.
    let filled = env
        .storefront(&["attribute", "create", "-i", "a.csv", "-o", "json"])
        .shell("trap '' XFSZ; ulimit -f 16; exec \"$@\" > /dev/null");
    assert!(
        filled.code == 1 && filled.error()["message"].as_str().unwrap().contains("cannot write journal"),
        "{filled:?}"
    );
    let sent = env.requests().len();
    assert!(sent > 10 && sent < 399, "{sent}");
    let resumed = env.run("attribute create -i a.csv --resume --retry-unknown --jobs 4");
    let mut found = created(&env);
    found.sort_unstable();
    assert_eq!(found, (1..=400).collect::<Vec<_>>(), "{resumed:?}");
}

#[test]
fn two_runs_cannot_write_one_journal() {
    let env = TestEnv::new();
    let slow = MockServer::start(vec![Step::Stall(Duration::from_secs(5), Vec::new())]);
    env.file("a.csv", attributes(2));
    let mut first =
        serve(env.home.storefront(&["attribute", "create", "-i", "a.csv"]), &slow.url("")).spawn();
    while slow.requests().is_empty() {
        std::thread::sleep(Duration::from_millis(2));
    }
    for flag in ["--resume", "--restart", ""] {
        env.run(&format!("attribute create -i a.csv {flag}")).assert_failure(
            3,
            str![[r#"
error: journal `[HOME]/a.csv.journal` is in use by another process
  No changes were made.
  hint: wait for it to finish, or give each process its own --shard or --journal
"#]],
        );
    }
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(env.requests(), Vec::<String>::new());
}

#[test]
#[cfg(unix)]
fn a_journal_that_is_no_regular_file_is_refused() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(3));
    // A pipe takes what is written, and cannot be read again.
    let pipe = env.home.dir.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    env.run("attribute create -i a.csv --journal pipe").assert_failure(
        3,
        str![[r#"
error: journal `pipe` is not a regular file
  No changes were made.
  hint: choose another file with --journal
"#]],
    );
    assert_eq!(env.requests(), Vec::<String>::new());
}

#[test]
fn an_unsupported_version_is_refused() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(2));
    assert_eq!(env.run("attribute create -i a.csv").code, 0);
    let whole = text(&env);
    env.requests();
    for (version, resume, shard) in [
        (
            "1",
            str![[r#"
error: journal `[HOME]/a.csv.journal` has format version 1, this program reads version 2
  No changes were made.
  hint: select the right journal with --journal, or use --restart
"#]],
            str![[r#"
error: journal `[HOME]/a.csv.journal` has format version 1, this program reads version 2
  No changes were made.
  hint: it may show records of this input as done: finish it with the version that wrote it, or move it away
"#]],
        ),
        (
            "99",
            str![[r#"
error: journal `[HOME]/a.csv.journal` has format version 99, this program reads version 2
  No changes were made.
  hint: select the right journal with --journal, or use --restart
"#]],
            str![[r#"
error: journal `[HOME]/a.csv.journal` has format version 99, this program reads version 2
  No changes were made.
  hint: it may show records of this input as done: finish it with the version that wrote it, or move it away
"#]],
        ),
    ] {
        std::fs::write(journal(&env), whole.replacen("\"version\":2", &format!("\"version\":{version}"), 1))
            .unwrap();
        env.run("attribute create -i a.csv --resume").assert_failure(3, resume);
        env.run("attribute create -i a.csv --shard 0/2").assert_failure(3, shard);
    }
    assert_eq!(env.requests(), Vec::<String>::new());
}
