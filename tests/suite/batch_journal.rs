//! The journal: what a run records, and which journals it refuses.

use std::path::{Path, PathBuf};
use std::process::Child;
use std::time::Duration;

use serde_json::{Value, json};
use snapbox::str;

use crate::support::batch::{attributes, created, lines, most_in_flight, states};
use crate::support::magento::{program, run};
use crate::support::mock_server::{MockServer, Step};
use crate::support::storefront::{Home, Storefront};
use crate::support::test_env::{TestEnv, files_below, serve};

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
#[cfg_attr(windows, ignore = "there is no /dev/full, and no limit for the size of files")]
fn a_full_disk_stops_the_run_before_unjournalled_records_are_sent() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(1_200));
    env.run("attribute create -i a.csv --journal /dev/full").assert_failure(
        3,
        str![[r#"
error: journal `/dev/full` is not a regular file
  hint: choose another file with --journal
"#]],
    );
    assert_eq!(env.requests(), Vec::<String>::new());
    // The disk is full after some records: a limit of 800 blocks of 512 bytes, which the log of this machine reaches first.
    let filled = env
        .storefront(&["attribute", "create", "-i", "a.csv", "-o", "json"])
        .shell("trap '' XFSZ; ulimit -f 800; exec \"$@\" > /dev/null");
    let message = filled.error()["message"].as_str().unwrap().to_owned();
    assert!(filled.code == 1 && message.contains("the log of this machine cannot be written"), "{filled:?}");
    let sent = env.requests().len();
    assert!((1..1_199).contains(&sent), "{sent}");
    let resumed = env.run("attribute create -i a.csv --resume --retry-unknown --jobs 4");
    let mut found = created(&env);
    found.sort_unstable();
    assert_eq!(found, (1..=1_200).collect::<Vec<_>>(), "{resumed:?}");
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
  hint: wait for it to finish
"#]],
        );
    }
    first.kill().unwrap();
    first.wait().unwrap();
    assert_eq!(env.requests(), Vec::<String>::new());
}

#[test]
fn a_running_journal_is_shown_and_needs_only_to_be_readable() {
    let home = Home::new();
    let slow = MockServer::start(vec![Step::Stall(Duration::from_secs(5), Vec::new())]);
    std::fs::write(home.dir.path().join("a.csv"), attributes(2)).unwrap();
    let mut first = until_called(home.storefront("attribute create -i a.csv"), &slow);
    let journal = home.dir.path().join("a.csv.journal");
    let mut permissions = std::fs::metadata(&journal).unwrap().permissions();
    permissions.set_readonly(true);
    std::fs::set_permissions(&journal, permissions).unwrap();
    let shown = home.run("history a.csv.journal --csv");
    assert_eq!((shown.code, shown.stdout.contains("\n2,")), (0, true), "{shown:?}");
    let locked = locked_files(home.dir.path());
    assert!(locked.len() == 1 && locked[0].ends_with(".a.csv.journal.lock"), "{locked:?}");
    first.kill().unwrap();
    first.wait().unwrap();
}

#[test]
fn an_update_locks_no_file_that_others_read() {
    let home = Home::new();
    let slow = MockServer::start(vec![Step::Stall(Duration::from_secs(5), Vec::new())]);
    let mut first = until_called(home.storefront("customer update --address 2 --postcode 10119 -y"), &slow);
    let locked = locked_files(home.dir.path());
    let is_lock = |path: &PathBuf| path.extension().is_some_and(|extension| extension == "lock");
    assert!(!locked.is_empty() && locked.iter().all(is_lock), "{locked:?}");
    first.kill().unwrap();
    first.wait().unwrap();
}

/// Starts a command that the service leaves without an answer.
fn until_called(program: Storefront, slow: &MockServer) -> Child {
    let child = serve(program, &slow.url("")).spawn();
    while slow.requests().is_empty() {
        std::thread::sleep(Duration::from_millis(2));
    }
    child
}

/// The files below a directory on which somebody has a lock, without the log, in which SQLite locks single bytes. Windows lets nobody read such a file (error 33), while Wine
/// does; but on each system one that is locked cannot be locked again.
fn locked_files(directory: &Path) -> Vec<PathBuf> {
    let mut files = files_below(directory);
    files.retain(|path| {
        let is_log = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("log.db"));
        // On Windows nobody can open the copy of an input while the run has it.
        let file = std::fs::File::open(path);
        !is_log && file.is_ok_and(|file| matches!(file.try_lock(), Err(std::fs::TryLockError::WouldBlock)))
    });
    files
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
  hint: choose another file with --journal
"#]],
    );
    assert_eq!(env.requests(), Vec::<String>::new());
}

/// A power cut may leave the beginning of a line, without the hash by which the record is known elsewhere.
#[test]
fn a_record_whose_line_was_cut_before_its_hash_is_shown_where_it_stands() {
    let env = TestEnv::new();
    env.file("a.csv", "customer,firstname\n1,Ada\n2,Bob\n");
    assert_eq!(run(&env, "customer update -i a.csv").code, 0);
    let path = env.home.dir.path().join("a.csv.journal");
    let text = std::fs::read_to_string(&path).unwrap();
    let kept = text.lines().filter(|line| !line.starts_with("{\"line\":3"));
    let kept: Vec<&str> = kept.chain(["{\"line\":3,\"state\":\"sen"]).collect();
    std::fs::write(&path, kept.join("\n")).unwrap();
    let shown = program(&env, "history a.csv.journal").run();
    assert!(!shown.stderr.contains("changed in the input since"), "{shown:?}");
    let rows = lines(&run(&env, "history a.csv.journal"));
    assert_eq!((&rows[1]["line"], &rows[1]["key"]), (&json!(3), &json!("2")), "{rows:?}");
}

/// The format that was named is in the journal: what comes after the batch reads the input as the run did.
#[test]
fn an_input_whose_format_was_named_is_read_again_as_it_was() {
    let env = TestEnv::new();
    env.file("names", "customer,firstname\n1,Ada\n");
    assert_eq!(run(&env, "customer update -i names --input-format csv").code, 0);
    let rows = lines(&run(&env, "history names.journal"));
    assert_eq!((&rows[0]["line"], &rows[0]["key"]), (&json!(2), &json!("1")), "{rows:?}");
    let verified = run(&env, "verify names.journal");
    assert_eq!(verified.code, 0, "{verified:?}");
}
