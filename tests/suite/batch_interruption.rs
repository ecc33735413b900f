//! A batch that is interrupted: records in flight are waited for once, and unknown after a second signal.

use std::io::{BufRead as _, BufReader};
use std::time::Duration;

use snapbox::{IntoData, str};

use crate::batch_journal::text;
use crate::support::batch::{attributes, states};
use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::snapshot::assert_snapshot;
use crate::support::test_env::{TestEnv, serve};

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
error: interrupted: 2 of 20 records unknown, 17 not sent
  Changes may have been made.
  hint: check which unknown records took effect (`storefront history [HOME]/a.csv.journal --state unknown sending` lists them), then resume with `storefront resume 1`, with --mark-done=LINES for what did and --retry-unknown=LINES for what did not; resume with `storefront resume 1`
"#]].into_data()
        } else {
            str![[r#"
attribute create: 20 records: 3 done, 17 not sent ([DURATION])
error: interrupted: 17 of 20 records not sent
  Some records were applied.
  hint: resume with `storefront resume 1`
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
fn a_second_ctrl_c_also_ends_a_batch_whose_records_wait_for_each_other() {
    let env = TestEnv::new();
    let reply = crate::support::mock_server::reply("200 OK", "", "{}");
    let slow = MockServer::start(vec![Step::Stall(Duration::from_secs(60), reply)]);
    env.file("items.csv", "sku,qty,quote_id\numbrella,1,1\numbrella,1,1\numbrella,1,1\n");
    let arguments = ["quote", "add-item", "-i", "items.csv", "-q"];
    let mut child = serve(env.home.storefront(&arguments), &slow.url("")).spawn();
    while slow.requests().is_empty() {
        std::thread::sleep(Duration::from_millis(2));
    }
    // Two signals that come close together may be taken for one.
    let kill = format!("kill -INT {}", child.id());
    let ended = (0..1000).find_map(|_| {
        assert!(std::process::Command::new("sh").args(["-c", &kill]).status().unwrap().success());
        std::thread::sleep(Duration::from_millis(10));
        child.try_wait().unwrap()
    });
    let _ = child.kill();
    assert_eq!(ended.and_then(|status| status.code()), Some(130));
    let journal = std::fs::read_to_string(env.home.dir.path().join("items.csv.journal")).unwrap();
    assert_eq!(states(&journal), [("unknown".to_owned(), 1)].into());
}

#[test]
fn ctrl_c_while_done_records_are_skipped_sends_nothing_more() {
    use std::io::Read as _;

    let env = TestEnv::new();
    let server = MockServer::start(vec![answer("200 OK", "", "{}")]);
    let run = |line: &str| serve(env.home.storefront(line), &server.url(""));
    env.file("a.csv", attributes(1400));
    assert_eq!(run("attribute create -i a.csv --jobs 64 -q").run().code, 0);
    env.file("a.csv", attributes(1401));
    let mut child = run("attribute create -i a.csv --resume -o json").spawn();
    // More lines than a pipe holds: the run waits in the middle of them until they are read.
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    stdout.read_line(&mut first).unwrap();
    assert!(first.contains("done earlier"), "{first}");
    let kill = format!("kill -INT {}", child.id());
    assert!(std::process::Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    stdout.read_to_string(&mut first).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    assert_eq!((first.lines().count(), server.requests().len()), (1401, 1400));
    // The last record may have been written down by then; its request has not left.
    let mut states = states(&text(&env));
    states.remove("failed");
    assert_eq!(states, [("done".to_owned(), 1400)].into());
}

/// The shop is asked for the numbers of all orders before anything is sent.
#[test]
fn ctrl_c_while_the_input_is_compared_with_the_shop_ends_it() {
    let env = TestEnv::new();
    let reply = crate::support::mock_server::reply("200 OK", "", r#"{"items":[],"total_count":0}"#);
    let slow = MockServer::start(vec![Step::Stall(Duration::from_secs(3), reply)]);
    env.file("a.csv", "order,address,city\n000000002,shipping,Troy\n");
    let started = std::time::Instant::now();
    let child =
        serve(env.home.storefront("order update -i a.csv --api magento -o json"), &slow.url("")).spawn();
    while slow.requests().is_empty() {
        std::thread::sleep(Duration::from_millis(2));
    }
    let kill = format!("kill -INT {}", child.id());
    assert!(std::process::Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert!(started.elapsed() < Duration::from_secs(2), "{output:?}");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.code() == Some(130) && said.contains("nothing was sent"), "{said}");
}

#[test]
fn ctrl_c_between_two_records_says_nothing_of_records_in_flight() {
    let env = TestEnv::new();
    let server = MockServer::start(vec![answer("200 OK", "", "{}")]);
    env.file("a.csv", attributes(20));
    let arguments = ["attribute", "create", "-i", "a.csv", "--rate", "1/m"];
    let child = serve(env.home.storefront(&arguments), &server.url("")).spawn();
    while !std::fs::read_to_string(env.home.dir.path().join("a.csv.journal"))
        .is_ok_and(|text| text.contains("done"))
    {
        std::thread::sleep(Duration::from_millis(2));
    }
    // The record has left what is in flight by then.
    std::thread::sleep(Duration::from_millis(300));
    let kill = format!("kill -INT {}", child.id());
    assert!(std::process::Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130));
    assert_snapshot(
        &String::from_utf8(output.stderr).unwrap(),
        str![[r#"
attribute create: host 127.0.0.1:[PORT]
attribute create: 20 records: 1 done, 19 not sent ([DURATION])
error: interrupted: 19 of 20 records not sent
  Some records were applied.
  hint: resume with `storefront resume 1`
"#]]
        .into_data(),
    );
}
