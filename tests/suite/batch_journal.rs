//! The journal: what a run remembers, and what it refuses to go on with.

#[cfg(unix)]
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::batch::{attributes, created, lines, most_standing, numbers, states};
#[cfg(unix)]
use crate::support::mock_server::answer;
use crate::support::mock_server::{MockServer, Step};
use crate::support::test_env::{TestEnv, serve};

fn journal(env: &TestEnv) -> PathBuf {
    env.home.dir.path().join("a.csv.journal")
}

fn text(env: &TestEnv) -> String {
    std::fs::read_to_string(journal(env)).unwrap()
}

/// A journal as a crash would leave it: with these lines after its header.
fn left_behind(env: &TestEnv, records: usize, lines: &[&str]) {
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
fn a_run_is_written_down_record_by_record() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(40));
    assert_eq!(env.run("attribute create -i a.csv --jobs 4").code, 0);
    let text = text(&env);
    let header: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    assert_eq!((&header["operation"], &header["input"]), (&json!("attribute create"), &json!("a.csv")));
    assert_eq!(states(&text), [("done".to_owned(), 40)].into());
    assert!((2..=4).contains(&most_standing(&text)), "{}", most_standing(&text));
    assert!(!text.contains("sandbox-admin"));
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        assert_eq!(std::fs::metadata(journal(&env)).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn a_journal_that_is_there_needs_a_word_about_it() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(2));
    assert_eq!(env.run("attribute create -i a.csv --resume").code, 0, "--resume with no journal begins one");
    env.requests();
    let refused = env.run("attribute create -i a.csv -o json");
    let error = refused.error();
    assert_eq!((refused.code, &error["kind"]), (3, &json!("guard")));
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.contains("--resume") && hint.contains("--restart"), "{hint}");
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
fn what_may_have_been_applied_is_left_alone_until_it_is_asked_for() {
    let env = TestEnv::new();
    left_behind(
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
    assert_eq!((again.code, created(&env)), (7, vec![5]), "as long as any are left");
    let retried = env.run("attribute create -i a.csv --resume --retry-unknown");
    let mut found = created(&env);
    found.sort_unstable();
    assert_eq!((retried.code, found), (7, vec![2, 3, 5]), "record 4 failed for good: {retried:?}");
}

#[test]
fn a_passing_reason_is_tried_again_and_a_lasting_one_when_it_was_mended() {
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
    let mended = env.run("attribute create -i a.csv --resume");
    assert_eq!((mended.code, created(&env).len()), (0, 3), "{mended:?}");
}

#[test]
fn a_journal_that_does_not_fit_is_refused_each_with_its_own_message() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(4));
    assert_eq!(env.run("attribute create -i a.csv").code, 0);
    let (whole, input) = (text(&env), attributes(4));
    env.requests();
    let refused = |says: &str, line: &str| {
        let outcome = env.run(line);
        assert!(outcome.code == 3 && outcome.stderr.contains(says), "{says}: {outcome:?}");
        assert_eq!(env.requests(), Vec::<String>::new(), "{says}");
    };
    let resume = "attribute create -i a.csv --resume";
    env.file("a.csv", input.replace("Label 3", "Label 4"));
    refused("line 4 (record 3) was changed after it had been sent", resume);
    env.file("a.csv", input.lines().take(3).collect::<Vec<_>>().join("\n"));
    refused("has only 2 records, but the journal covers record 4", resume);
    env.file("b.csv", input.replace("code_", "other_"));
    refused(
        "belongs to a different input: `a.csv`, expected `b.csv`",
        "attribute create -i b.csv --journal a.csv.journal --resume",
    );
    env.file("a.csv", &input);
    env.file("items.csv", "sku\nx\n");
    refused(
        "belongs to a different operation: `attribute create`",
        "quote add-item -i items.csv --journal a.csv.journal --resume",
    );
    refused("belongs to a different store view", "attribute create -i a.csv --resume --store-view fr");
    let elsewhere = format!("{}/staging", env.url());
    let other =
        serve(env.home.storefront(&["attribute", "create", "-i", "a.csv", "--resume"]), &elsewhere).run();
    assert!(other.code == 3 && other.stderr.contains("belongs to a different service"), "{other:?}");
    std::fs::write(journal(&env), whole.replacen("\"record\":2", "\"rec\":", 1)).unwrap();
    refused("is corrupt at line ", resume);
    std::fs::write(journal(&env), "hello\n").unwrap();
    refused("is not a storefront journal", resume);
}

#[test]
fn a_last_line_that_was_cut_off_is_noticed_and_left_out() {
    let env = TestEnv::new();
    left_behind(&env, 3, &["1 sending", "1 done", "2 sending", "2 done"]);
    let mut cut = text(&env);
    cut.truncate(cut.len() - 9);
    std::fs::write(journal(&env), cut).unwrap();
    let resumed = env.run("attribute create -i a.csv --resume");
    assert!(resumed.code == 7 && resumed.stderr.contains("ignoring an incomplete last line"), "{resumed:?}");
    assert_eq!(created(&env), [3], "record 2 may have been applied");
    let again = env.run("attribute create -i a.csv --resume");
    assert!(again.code == 7 && !again.stderr.contains("incomplete"), "{again:?}");
}

#[test]
#[cfg_attr(windows, ignore = "there is no /dev/full, and no limit for the size of files")]
fn a_full_disk_ends_the_run_and_nothing_is_sent_unwritten() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(400));
    let full = env.run("attribute create -i a.csv --journal /dev/full -o json");
    let message = full.error()["message"].as_str().unwrap().to_owned();
    assert!(full.code == 3 && message.contains("`/dev/full` is not a regular file"), "{full:?}");
    assert_eq!(env.requests(), Vec::<String>::new());
    // The disk fills up on the way: a limit of 16 blocks of 512 bytes.
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
    for word in ["--resume", "--restart", ""] {
        let second = env.run(&format!("attribute create -i a.csv {word}"));
        assert!(second.code == 3 && second.stderr.contains("is in use by another process"), "{second:?}");
    }
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(env.requests(), Vec::<String>::new());
}

#[cfg(unix)]
#[test]
fn ctrl_c_waits_for_what_is_under_way_and_a_second_one_does_not() {
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
        assert!(stopping.contains("2 records in flight"), "{stopping}");
        if second {
            interrupt(&child);
        }
        let rest: Vec<String> = stderr.collect();
        assert_eq!(child.wait().unwrap().code(), Some(130), "{rest:?}");
        assert!(
            rest.iter().any(|line| line.contains("storefront attribute create -i a.csv --jobs 2 --resume")),
            "{rest:?}"
        );
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
fn where_nothing_can_be_synced_nothing_is_sent() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(3));
    // A pipe takes what is written, and cannot be read again.
    let pipe = env.home.dir.path().join("pipe");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let outcome = env.run("attribute create -i a.csv --journal pipe -o json");
    let message = outcome.error()["message"].as_str().unwrap().to_owned();
    assert!(outcome.code == 3 && message.contains("`pipe` is not a regular file"), "{outcome:?}");
    assert_eq!(env.requests(), Vec::<String>::new());
}

#[test]
fn a_version_that_is_not_known_is_refused() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(2));
    assert_eq!(env.run("attribute create -i a.csv").code, 0);
    let whole = text(&env);
    env.requests();
    for version in ["1", "99"] {
        std::fs::write(journal(&env), whole.replacen("\"version\":2", &format!("\"version\":{version}"), 1))
            .unwrap();
        let outcome = env.run("attribute create -i a.csv --resume");
        assert!(outcome.code == 3 && outcome.stderr.contains("has format version"), "{outcome:?}");
        let neighbour = env.run("attribute create -i a.csv --shard 0/2");
        assert!(neighbour.code == 3 && neighbour.stderr.contains("has format version"), "{neighbour:?}");
    }
    assert_eq!(env.requests(), Vec::<String>::new());
}

#[test]
fn a_damaged_last_newline_hides_no_record_that_was_sent() {
    let env = TestEnv::new();
    left_behind(&env, 3, &["1 sending", "1 done", "2 sending"]);
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
