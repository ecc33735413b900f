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
  hint: use --resume to continue it, or --restart to discard it and process every record again
"#]],
    );
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
fn joined_journals_say_which_shards_are_missing() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(8));
    let mut joined = Vec::new();
    for shard in [0, 2, 3] {
        env.run(&format!("attribute create -i a.csv --shard {shard}/4"));
        let part = env.home.dir.path().join(format!("a.csv.{shard}-4.journal"));
        joined.extend(std::fs::read(&part).unwrap());
        std::fs::remove_file(part).unwrap();
    }
    env.file("a.csv.journal", joined);
    let error = env.fails(3, "attribute create -i a.csv --resume");
    let expected = "a.csv.journal` covers only shards 0/4, 2/4, 3/4; missing: shard 1/4";
    assert!(error["message"].as_str().unwrap().ends_with(expected), "{error}");
}
