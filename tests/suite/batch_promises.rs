//! What a batch promises while somebody edits its input, stops it, or cuts its journal.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use serde_json::json;

use crate::support::batch::states;
use crate::support::mock_server::{MockServer, Step, answer, reply};
use crate::support::scripted::{methods, ok, profile};
use crate::support::snapshot::assert_snapshot;
use crate::support::storefront::{Outcome, ended};
use crate::support::terminal::Terminal;
use crate::support::test_env::{TestEnv, serve, updates};
use snapbox::{IntoData as _, str};

/// Items whose text is longer than what is read at a time.
fn long_items(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("sku-{number:03}-{},1,quote-{number}", "x".repeat(600))).collect()
}

fn csv(rows: &[String]) -> String {
    format!("sku,qty,quote_id\n{}\n", rows.join("\n"))
}

/// How often each of the items arrived.
fn arrived(server: &MockServer, count: usize) -> Vec<usize> {
    let requests = server.requests();
    let times = |number| requests.iter().filter(|it| it.contains(&format!("sku-{number:03}-"))).count();
    (0..count).map(times).collect()
}

fn wait_for_request(server: &MockServer) {
    while server.requests().is_empty() {
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn signal(child: &Child, name: &str) {
    let kill = Command::new("kill").args([name, &child.id().to_string()]).status();
    assert!(kill.unwrap().success());
}

/// Where the files of a test are.
fn place(env: &TestEnv, name: &str) -> PathBuf {
    env.home.dir.path().join(name)
}

fn journal(env: &TestEnv, name: &str) -> String {
    std::fs::read_to_string(place(env, name)).unwrap_or_default()
}

#[test]
fn an_input_that_is_overwritten_during_the_run_is_sent_as_it_was_checked() {
    let (env, mut rows) = (TestEnv::new(), long_items(300));
    let slow = Step::Stall(Duration::from_millis(500), reply("200 OK", "", "{}"));
    let server = MockServer::start(vec![slow, answer("200 OK", "", "{}")]);
    env.file("items.csv", csv(&rows));
    let child = serve(env.home.storefront("quote add-item -i items.csv --jobs 1"), &server.url("")).spawn();
    wait_for_request(&server);
    rows.reverse();
    env.file("items.csv", csv(&rows));
    let outcome = ended(child);
    assert_eq!((outcome.code, arrived(&server, 300)), (0, vec![1; 300]));
}

#[test]
fn an_input_that_is_replaced_while_the_question_stands_is_sent_as_it_was_checked() {
    let (env, rows) = (TestEnv::new(), long_items(2));
    let server = MockServer::start(vec![answer("200 OK", "", "{}")]);
    env.file("items.csv", csv(&rows));
    let variables = [
        ("STOREFRONT_BASE_URL", &*server.url("")),
        ("STOREFRONT_TOKEN", "customer-token-1"),
        ("STOREFRONT_STORE_VIEW", "default"),
    ];
    let mut terminal = Terminal::run(&env.home, 80, &["quote", "add-item", "-i", "items.csv"], &variables);
    terminal.sees("2 records?");
    let other = env.file("other.csv", csv(&vec![long_items(3).remove(2); 2]));
    std::fs::rename(other, place(&env, "items.csv")).unwrap();
    terminal.confirms("y");
    assert_eq!(terminal.ends().0, 0);
    assert_eq!(arrived(&server, 3), [1, 1, 0]);
}

#[test]
fn after_a_signal_a_record_whose_read_waits_sends_no_write() {
    for name in ["-INT", "-HUP"] {
        let env = TestEnv::new();
        let wait = answer("429 Too Many Requests", "Retry-After: 3\r\n", "{}");
        let server = MockServer::start(vec![wait, ok(&profile(json!({})))]);
        env.file("a.csv", "address_id,city\n1,Berlin\n");
        let child = serve(env.home.storefront("customer update -i a.csv"), &server.url("")).spawn();
        wait_for_request(&server);
        std::thread::sleep(Duration::from_millis(300));
        signal(&child, name);
        let outcome = ended(child);
        assert_eq!((outcome.code, methods(&server)), (130, vec!["GET".to_owned()]), "{outcome:?}");
        assert!(states(&journal(&env, "a.csv.journal")).is_empty());
        assert!(updates(&env.home).is_empty());
        assert_snapshot(
            &outcome.stderr,
            str![[r#"
customer update: 1 record: 0 done, 1 not sent ([DURATION])
error: interrupted: 1 of 1 record not sent
  No changes were made.
  hint: resume with `storefront resume 1`
"#]]
            .into_data(),
        );
    }
}

/// Runs the program below a shell that was told to ignore this signal first, as `nohup` does.
fn ignoring(env: &TestEnv, line: &str, url: &str) -> Child {
    let program = serve(env.home.storefront(line), url).into_command();
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' HUP; exec \"$@\"", "sh"]).arg(program.get_program()).args(program.get_args());
    shell.env_clear().current_dir(program.get_current_dir().unwrap());
    shell.envs(program.get_envs().filter_map(|(name, value)| Some((name, value?))));
    shell.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[test]
fn a_hang_up_waits_for_what_is_in_flight_unless_it_is_ignored() {
    for is_ignored in [false, true] {
        let env = TestEnv::new();
        let slow = Step::Stall(Duration::from_millis(700), reply("200 OK", "", "{}"));
        let server = MockServer::start(vec![slow, answer("200 OK", "", "{}")]);
        env.file("items.csv", "sku,qty,quote_id\na,1,1\nb,1,1\n");
        let line = "quote add-item -i items.csv --jobs 1";
        let child = if is_ignored {
            ignoring(&env, line, &server.url(""))
        } else {
            serve(env.home.storefront(line), &server.url("")).spawn()
        };
        wait_for_request(&server);
        signal(&child, "-HUP");
        let outcome = ended(child);
        let (code, sent) = if is_ignored { (0, 2) } else { (130, 1) };
        assert_eq!((outcome.code, server.requests().len()), (code, sent), "{outcome:?}");
        let found = states(&journal(&env, "items.csv.journal"));
        assert_eq!(found, [("done".to_owned(), sent)].into());
    }
}

#[test]
fn a_run_that_is_stopped_when_all_is_done_says_so() {
    let env = TestEnv::new();
    let slow = Step::Stall(Duration::from_millis(500), reply("200 OK", "", "{}"));
    let server = MockServer::start(vec![slow]);
    env.file("items.csv", "sku,qty,quote_id\na,1,1\n");
    let child = serve(env.home.storefront("quote add-item -i items.csv"), &server.url("")).spawn();
    wait_for_request(&server);
    signal(&child, "-INT");
    let outcome = ended(child);
    assert_eq!(outcome.code, 130);
    let error = outcome.stderr.split_once("error: ").unwrap().1.to_owned();
    assert_snapshot(
        &error,
        str![[r#"
interrupted after the last record
  Some records were applied.
"#]]
        .into_data(),
    );
}

/// A plan of three items, as it is applied the first time, and the requests until then.
fn applied_plan(env: &TestEnv) -> Outcome {
    env.file("items.csv", "sku,qty,quote_id\nmug-blue,1,1\numbrella,1,1\ncap,1,1\n");
    assert_eq!(env.run("quote add-item -i items.csv --plan p").code, 0);
    env.run("apply p --jobs 1")
}

fn posts(env: &TestEnv) -> usize {
    env.requests().iter().filter(|request| request.starts_with("POST")).count()
}

#[test]
fn a_plan_whose_journal_lacks_a_line_is_not_applied_again() {
    let env = TestEnv::new();
    let outcome = applied_plan(&env);
    let sent = posts(&env);
    assert!(sent >= 2, "{outcome:?}");
    let whole = journal(&env, "p.journal");
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    for kept in 0..lines.len() {
        env.file("p.journal", lines[..kept].concat());
        let again = env.run("apply p");
        assert_ne!(again.code, 0, "{kept} lines: {again:?}");
        if kept == 1 {
            assert_eq!(again.code, 3, "{again:?}");
        }
    }
    assert_eq!(posts(&env), 0);
    env.file("p.journal", whole);
    assert_eq!(env.run("apply p").code, outcome.code);
}

#[cfg(target_os = "linux")]
fn no_utf_8(env: &TestEnv, name: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt as _;
    env.home.dir.path().join(std::ffi::OsStr::from_bytes(name))
}

#[cfg(target_os = "linux")]
fn run_with(env: &TestEnv, url: &str, before: &str, file: &std::path::Path, after: &str) -> Outcome {
    let mut command = serve(env.home.storefront(before), url).into_command();
    command.arg(file).args(after.split_whitespace());
    ended(command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap())
}

#[cfg(target_os = "linux")]
#[test]
fn a_plan_whose_name_is_not_utf_8_is_resumed() {
    let env = TestEnv::new();
    let plan = no_utf_8(&env, b"p\xff");
    let server =
        MockServer::start(vec![answer("429 Too Many Requests", "", "{}"), answer("200 OK", "", "{}")]);
    let add = "quote add-item --sku mug-blue --qty 1 --quote-id 1 --plan";
    let made = run_with(&env, &server.url(""), add, &plan, "");
    assert_eq!(made.code, 0, "{made:?}");
    let first = run_with(&env, &server.url(""), "apply --retry 0", &plan, "");
    assert_eq!((first.code, server.requests().len()), (5, 1), "{first:?}");
    let second = run_with(&env, &server.url(""), "apply --retry 0", &plan, "");
    assert_eq!((second.code, server.requests().len()), (0, 2), "{second:?}");
    // A copy is another file, and the same plan.
    let copy = no_utf_8(&env, b"p\xfe");
    std::fs::copy(&plan, &copy).unwrap();
    assert_eq!(run_with(&env, &server.url(""), "apply", &copy, "").code, 3);
    assert_eq!(server.requests().len(), 2);
}

#[cfg(target_os = "linux")]
#[test]
fn the_journals_of_an_input_whose_name_is_not_utf_8_are_seen() {
    for (first, second) in [("", "--shard 0/1"), ("--shard 0/1", ""), ("--shard 0/1", "--shard 0/2")] {
        let env = TestEnv::new();
        let server = MockServer::start(vec![answer("200 OK", "", "{}")]);
        let input = no_utf_8(&env, b"items-\xff.csv");
        std::fs::write(&input, "sku,qty,quote_id\na,1,1\n").unwrap();
        let add = "quote add-item -i";
        let whole = run_with(&env, &server.url(""), add, &input, first);
        assert_eq!((whole.code, server.requests().len()), (0, 1), "{whole:?}");
        let again = run_with(&env, &server.url(""), add, &input, second);
        assert_eq!((again.code, server.requests().len()), (3, 1), "{first}, {second}: {again:?}");
    }
}

#[test]
fn a_refused_run_leaves_no_journal() {
    let env = TestEnv::new();
    env.file("items.csv", "sku,qty,quote_id\nmug-blue,1,1\n");
    // A lock that cannot be taken: its name is that of a directory.
    std::fs::create_dir(place(&env, ".items.csv.journal.lock")).unwrap();
    let outcome = env.run("quote add-item -i items.csv");
    assert!([1, 3].contains(&outcome.code), "{outcome:?}");
    assert!(!place(&env, "items.csv.journal").exists());
    assert!(env.requests().is_empty());
}

#[test]
fn a_dry_run_that_resumes_shows_what_would_be_sent() {
    let env = TestEnv::new();
    env.file("items.csv", "sku,qty,quote_id\nmug-blue,1,1\nno-such,1,1\n");
    assert_eq!(env.run("quote add-item -i items.csv").code, 7);
    env.file("items.csv", "sku,qty,quote_id\nmug-blue,1,1\numbrella,1,1\n");
    let shown = env.run("quote add-item -i items.csv --resume -n -o json");
    assert_eq!(shown.code, 0, "{shown:?}");
    let numbers: Vec<bool> = shown.stdout.lines().map(|line| line.contains("\"record\":2,")).collect();
    assert_eq!(numbers, [false, true], "{shown:?}");
}

#[test]
fn a_line_is_not_both_sent_again_and_done() {
    let env = TestEnv::new();
    env.file("items.csv", "sku,qty,quote_id\nmug-blue,1,1\n");
    let outcome = env.run("quote add-item -i items.csv --resume --retry-unknown=2 --mark-done=2");
    outcome.assert_failure(
        2,
        str![[r#"
error: 2 is in --retry-unknown and in --mark-done
  hint: --mark-done is for what took effect, --retry-unknown for what did not
"#]],
    );
}

#[test]
fn keys_that_are_one_number_are_one_key() {
    let env = TestEnv::new();
    let slow = Step::Stall(Duration::from_millis(200), reply("200 OK", "", "{}"));
    let server = MockServer::start(vec![slow]);
    env.file("items.csv", "sku,qty,quote_id\na,1,1\nb,1,01\nc,1, 1\n");
    let outcome = serve(env.home.storefront("quote add-item -i items.csv"), &server.url("")).run();
    assert_eq!((outcome.code, server.most_at_once()), (0, 1), "{outcome:?}");
}

#[test]
fn a_state_directory_that_cannot_be_written_ends_a_batch_before_its_first_record() {
    let env = TestEnv::new();
    env.file("a.csv", "address_id,city\n1,Berlin\n2,Berlin\n");
    env.file("state", "in the way");
    let outcome = env.run("customer update -i a.csv");
    assert!(outcome.stderr.contains(storefront::system::environment::STATE_HOME), "{outcome:?}");
    assert_eq!((outcome.code, env.requests().len()), (1, 0), "{outcome:?}");
    assert!(!place(&env, "a.csv.journal").exists());
}

#[test]
fn a_printed_command_runs_as_it_stands() {
    let env = TestEnv::new();
    let server =
        MockServer::start(vec![answer("503 Service Unavailable", "", "{}"), answer("200 OK", "", "{}")]);
    env.file("Men's.csv", "sku,qty,quote_id\na,1,1\n");
    let run = ["quote", "add-item", "-i", "Men's.csv", "--retry", "0"];
    let outcome = serve(env.home.storefront(&run), &server.url("")).run();
    assert_ne!(outcome.code, 0);
    for (start, code, says) in [("effect (`", 0, "unknown"), ("resume with `", 8, "unknown: outcome unknown")]
    {
        let hint = outcome.stderr.split(start).nth(1).and_then(|rest| rest.split('`').next()).unwrap();
        let words = shell_words::split(hint).unwrap_or_else(|error| panic!("{error}: {hint}"));
        let words: Vec<&str> = words.iter().skip(1).map(String::as_str).collect();
        let ran = serve(env.home.storefront(&words), &server.url("")).run();
        assert!(ran.code == code && ran.stdout.contains(says), "{hint}: {ran:?}");
    }
}

#[test]
fn a_shard_without_a_journal_is_not_resumed_unless_it_is_started() {
    let env = TestEnv::new();
    env.file("items.csv", "sku,qty,quote_id\nmug-blue,1,1\n");
    let resume = "quote add-item -i items.csv --shard 0/1 --resume";
    env.run(resume).assert_failure(
        3,
        str![[r#"
error: shard 0/1 has no journal `[HOME]/items.csv.0-1.journal`
  hint: if it was never run, add --start; else put back the journal of its earlier run
"#]],
    );
    assert!(env.requests().is_empty());
    assert_eq!(env.run(&format!("{resume} --start")).code, 0);
    assert_eq!(env.run(resume).code, 0);
    assert_eq!(env.requests().len(), 1);
}

#[test]
fn a_batch_without_a_store_view_is_refused_before_its_first_record() {
    let env = TestEnv::new();
    env.file("items.csv", "sku,qty,quote_id\nmug-blue,1,1\nmug-blue,1,1\n");
    let program = env.storefront("quote add-item -i items.csv").env("STOREFRONT_STORE_VIEW", "");
    program.run().assert_failure(
        2,
        str![[r#"
error: no store view set
  hint: use --store-view CODE, or set STOREFRONT_STORE_VIEW=CODE; a Magento shop needs none: set STOREFRONT_API=magento
"#]],
    );
    assert!(!env.home.dir.path().join("items.csv.journal").exists());
}
