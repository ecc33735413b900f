//! The journal: what a run records, and which journals it refuses to resume.

#[cfg(unix)]
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};
use snapbox::{IntoData, str};

use crate::support::batch::{attributes, created, lines, most_in_flight, numbers, states};
#[cfg(unix)]
use crate::support::mock_server::answer;
use crate::support::mock_server::{MockServer, Step};
use crate::support::snapshot::assert_snapshot;
use crate::support::test_env::{TestEnv, serve};

fn journal(env: &TestEnv) -> PathBuf {
    env.home.dir.path().join("a.csv.journal")
}

fn text(env: &TestEnv) -> String {
    std::fs::read_to_string(journal(env)).unwrap()
}

/// A journal as a crash would leave it: with these lines after its header.
fn interrupted(env: &TestEnv, records: usize, lines: &[&str]) {
    env.file("a.csv", attributes(records));
    assert_eq!(env.run("attribute create -i a.csv").code, 0);
    let whole = text(env);
    let header = whole.lines().next().unwrap();
    let hash = |record: &str| {
        let line = whole.lines().find(|line| line.contains(&format!("\"record\":{record},"))).unwrap();
        serde_json::from_str::<Value>(line).unwrap()["hash"].as_str().unwrap().to_owned()
    };
    let mut left = format!("{header}\n");
    for line in lines {
        let (record, state) = line.split_once(' ').unwrap();
        let record: u64 = record.parse().unwrap();
        let mut line = json!({"record": record, "state": state, "hash": hash(&record.to_string())});
        if state == "failed" {
            line["temporary"] = false.into();
        }
        left.extend([line.to_string(), "\n".to_owned()]);
    }
    std::fs::write(journal(env), left).unwrap();
    env.reset_sandbox();
    env.requests();
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
fn an_existing_journal_requires_resume_or_restart() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(2));
    assert_eq!(env.run("attribute create -i a.csv --resume").code, 0, "--resume with no journal begins one");
    env.requests();
    env.run("attribute create -i a.csv").assert_failure(
        3,
        str![[r#"
error: journal `[HOME]/a.csv.journal` already exists
  No changes were made.
  hint: use --resume to continue it, or --restart to discard it and process every record again
"#]],
    );
    assert_eq!(env.requests(), Vec::<String>::new());
    let resumed = env.run("attribute create -i a.csv --resume -o json");
    assert_eq!((resumed.code, numbers(&resumed), env.requests()), (0, vec![1, 2], Vec::new()));
    assert_eq!(
        (&lines(&resumed)[0]["applied"], &lines(&resumed)[0]["reason"]),
        (&json!("yes"), &json!("done earlier"))
    );
    let restarted = env.run("attribute create -i a.csv --restart");
    assert_eq!((restarted.code, env.requests()), (7, vec!["POST 400".to_owned(); 2]), "{restarted:?}");
}

#[test]
fn unknown_records_are_not_sent_again_without_retry_unknown() {
    let env = TestEnv::new();
    interrupted(
        &env,
        5,
        &["1 sending", "1 done", "2 sending", "3 sending", "3 unknown", "4 sending", "4 failed"],
    );
    let resumed = env.run("attribute create -i a.csv --resume -o json");
    let found = lines(&resumed);
    let applied: Vec<&str> = found.iter().map(|line| line["applied"].as_str().unwrap()).collect();
    assert_eq!((resumed.code, applied), (7, vec!["yes", "unknown", "unknown", "no", "yes"]), "{resumed:?}");
    assert_eq!(found[1]["error"]["kind"], "unknown");
    assert_eq!(created(&env), [5]);
    let again = env.run("attribute create -i a.csv --resume");
    again.assert(7, str![[r#"
record 2 (line 3): unknown: sent by an earlier run, with unknown outcome
record 3 (line 4): unknown: sent by an earlier run, with unknown outcome
record 4 (line 5): failed: failed in an earlier run: no reason recorded
"#]], str![[r#"
attribute create: 5 records: 0 done, 2 done earlier, 1 failed, 2 unknown ([DURATION])
  2 × sent by an earlier run, with unknown outcome
  1 × failed in an earlier run: no reason recorded
error: of 5 records, 1 failed, 2 unknown
  Some records may have been applied.
  hint: fix the failed records in the input, then run `storefront attribute create -i a.csv --resume`; check whether the unknown records took effect (`storefront journal show [HOME]/a.csv.journal` lists them); `storefront attribute create -i a.csv --resume --retry-unknown` sends them again
"#]]);
    assert_eq!(created(&env), [5], "as long as any are left");
    let retried = env.run("attribute create -i a.csv --resume --retry-unknown");
    let mut found = created(&env);
    found.sort_unstable();
    assert_eq!((retried.code, found), (7, vec![2, 3, 5]), "record 4 failed for good: {retried:?}");
}

#[test]
fn a_temporary_failure_is_retried_and_a_permanent_one_after_a_fix() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(3).replace("code_2,", "Bad,"));
    let refused = env
        .storefront(&["attribute", "create", "-i", "a.csv", "--jobs", "1"])
        .env("STOREFRONT_ADMIN_TOKEN", "expired")
        .run();
    assert_eq!((refused.code, states(&text(&env))), (6, [("failed".to_owned(), 1)].into()), "{refused:?}");
    let resumed = env.run("attribute create -i a.csv --resume");
    assert_eq!((resumed.code, created(&env).len()), (7, 2), "{resumed:?}");
    env.requests();
    assert_eq!(env.run("attribute create -i a.csv --resume").code, 7);
    assert_eq!(env.requests(), Vec::<String>::new(), "it would only be refused again");
    env.file("a.csv", attributes(3));
    let fixed = env.run("attribute create -i a.csv --resume");
    assert_eq!((fixed.code, created(&env).len()), (0, 3), "{fixed:?}");
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
fn an_incomplete_last_line_is_ignored_with_a_warning() {
    let env = TestEnv::new();
    interrupted(&env, 3, &["1 sending", "1 done", "2 sending", "2 done"]);
    let mut cut = text(&env);
    cut.truncate(cut.len() - 9);
    std::fs::write(journal(&env), cut).unwrap();
    let resumed = env.run("attribute create -i a.csv --resume");
    resumed.assert(7, str!["record 2 (line 3): unknown: sent by an earlier run, with unknown outcome"], str![[r#"
warning: journal `[HOME]/a.csv.journal`: ignoring an incomplete last line
record 3: attribute create: host 127.0.0.1:[PORT]
attribute create: 3 records: 1 done, 1 done earlier, 1 unknown ([DURATION])
  1 × sent by an earlier run, with unknown outcome
error: of 3 records, 1 unknown
  Some records may have been applied.
  hint: check whether the unknown records took effect (`storefront journal show [HOME]/a.csv.journal` lists them); `storefront attribute create -i a.csv --resume --retry-unknown` sends them again
"#]]);
    assert_eq!(created(&env), [3], "record 2 may have been applied");
    env.run("attribute create -i a.csv --resume").assert(7, str!["record 2 (line 3): unknown: sent by an earlier run, with unknown outcome"], str![[r#"
attribute create: 3 records: 0 done, 2 done earlier, 1 unknown ([DURATION])
  1 × sent by an earlier run, with unknown outcome
error: of 3 records, 1 unknown
  Some records may have been applied.
  hint: check whether the unknown records took effect (`storefront journal show [HOME]/a.csv.journal` lists them); `storefront attribute create -i a.csv --resume --retry-unknown` sends them again
"#]]);
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

#[cfg(unix)]
#[test]
fn ctrl_c_waits_for_records_in_flight_and_a_second_one_does_not() {
    for (second, code_line) in [(false, "done"), (true, "unknown")] {
        let env = TestEnv::new();
        let reply = crate::support::mock_server::reply("200 OK", "", "{}");
        let slow = MockServer::start(vec![
            answer("200 OK", "", "{}"),
            Step::Stall(Duration::from_millis(600), reply),
        ]);
        env.file("a.csv", attributes(20));
        let arguments = ["attribute", "create", "-i", "a.csv", "--jobs", "2"];
        let mut child = serve(env.home.storefront(&arguments), &slow.url("")).spawn();
        while slow.requests().len() < 3 {
            std::thread::sleep(Duration::from_millis(2));
        }
        let interrupt = |child: &std::process::Child| {
            let status =
                std::process::Command::new("sh").args(["-c", &format!("kill -INT {}", child.id())]).status();
            assert!(status.unwrap().success());
        };
        interrupt(&child);
        let mut stderr = BufReader::new(child.stderr.take().unwrap()).lines().map(Result::unwrap);
        let stopping = stderr.find(|line| line.contains("stopping")).unwrap();
        assert_snapshot(
            &stopping,
            str!["stopping: waiting for 2 records in flight; press Ctrl-C again to stop at once"],
        );
        if second {
            interrupt(&child);
        }
        let rest: Vec<String> = stderr.collect();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{rest:?}");
        let expected = if second {
            str![[r#"
attribute create: 20 records: 1 done, 2 unknown, 17 not sent ([DURATION])
  2 × interrupted while the request was in flight: it may have been applied
error: interrupted: 1 done, 2 unknown, 17 not sent
  Some records may have been applied.
  hint: go on with: `storefront attribute create -i a.csv --jobs 2 --resume`; check whether the unknown records took effect (`storefront journal show [HOME]/a.csv.journal` lists them); `storefront attribute create -i a.csv --jobs 2 --resume --retry-unknown` sends them again
"#]].into_data()
        } else {
            str![[r#"
attribute create: 20 records: 3 done, 17 not sent ([DURATION])
error: interrupted: 3 done, 17 not sent
  Some records were applied.
  hint: go on with: `storefront attribute create -i a.csv --jobs 2 --resume`
"#]]
            .into_data()
        };
        assert_snapshot(&rest.join("\n"), expected);
        assert_eq!(slow.requests().len(), 3, "no more were taken");
        let states = states(&text(&env));
        let expected = if second {
            [("done".to_owned(), 1), (code_line.to_owned(), 2)].into()
        } else {
            [(code_line.to_owned(), 3)].into()
        };
        assert_eq!(states, expected);
    }
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

#[test]
fn a_damaged_last_newline_hides_no_record_that_was_sent() {
    let env = TestEnv::new();
    interrupted(&env, 3, &["1 sending", "1 done", "2 sending"]);
    let whole = text(&env);
    let cut = &whole[..whole.len() - 1];
    for damaged in [cut.to_owned(), format!("{cut}J"), format!("{cut}\r"), cut[..cut.len() - 9].to_owned()] {
        std::fs::write(journal(&env), &damaged).unwrap();
        let outcome = env.run("attribute create -i a.csv --resume -o json");
        assert_eq!((outcome.code, &lines(&outcome)[1]["applied"]), (7, &json!("unknown")), "{damaged}");
        assert!(!created(&env).contains(&2), "{damaged}");
    }
    env.requests();
    for unreadable in [whole.replace('\n', "\r"), String::new(), whole.replacen("record", "rec0rd", 3)] {
        std::fs::write(journal(&env), &unreadable).unwrap();
        let outcome = env.run("attribute create -i a.csv --resume");
        assert_eq!((outcome.code, env.requests()), (3, Vec::new()), "{unreadable}: {outcome:?}");
    }
}
