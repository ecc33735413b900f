//! Several journals of one input: what one run has sent no other sends again.

use std::time::Duration;

use snapbox::str;

use crate::support::batch::attributes;
use crate::support::mock_server::{MockServer, Step, reply};
use crate::support::test_env::{TestEnv, serve};

const ITEMS: &str = "sku,qty,quote_id\nmug-blue,1,1\numbrella,2,2\nmug-blue,1,3\numbrella,2,4\n";

fn posts(env: &TestEnv) -> usize {
    env.requests().iter().filter(|heard| heard.starts_with("POST")).count()
}

#[test]
fn another_division_of_an_input_that_was_sent_is_refused_until_its_journals_are_moved_away() {
    for (first, others) in [
        (
            "",
            &[
                "--shard 0/2",
                "--shard 1/2 --resume --start",
                "--journal other",
                "--restart --yes --shard 0/2",
            ][..],
        ),
        ("--shard 0/2", &["", "--resume", "--shard 0/3", "--shard 1/3 --resume --start", "--restart --yes"]),
    ] {
        let env = TestEnv::new();
        env.file("a.csv", attributes(40));
        assert_eq!(env.run(&format!("attribute create -i a.csv {first}")).code, 0);
        env.requests();
        for flags in others {
            let error = env.fails(3, &format!("attribute create -i a.csv {flags}"));
            let message = error["message"].as_str().unwrap();
            assert!(message.ends_with("shows records of this input as sent"), "{flags}: {error}");
            assert_eq!(error["hint"], "finish that run first, or move its journal away", "{flags}");
        }
        assert_eq!(env.requests(), Vec::<String>::new());
    }
    let env = TestEnv::new();
    env.file("a.csv", attributes(40));
    assert_eq!(env.run("attribute create -i a.csv --shard 0/2").code, 0);
    assert_eq!(env.run("attribute create -i a.csv --shard 1/2").code, 0);
    assert_eq!(posts(&env), 40);
}

#[test]
fn a_shard_starts_only_from_the_copy_of_the_input_that_the_other_shards_started_from() {
    let env = TestEnv::new();
    let whole = attributes(40);
    env.file("a.csv", &whole);
    assert_eq!(env.run("attribute create -i a.csv --shard 0/2").code, 0);
    env.requests();
    // A row of this copy is in a shard that has it nowhere: both runs would end with 0.
    env.file("a.csv", whole.lines().take(40).map(|line| line.to_owned() + "\n").collect::<String>());
    for flags in ["", "--resume --start"] {
        env.run(&format!("attribute create -i a.csv --shard 1/2 {flags}")).assert_failure(
            3,
            str![[r#"
error: journal `[HOME]/a.csv.0-2.journal` belongs to another copy of this input
  hint: run all shards over the same file; correct records only once every shard has started
"#]],
        );
    }
    assert_eq!(posts(&env), 0);
    // One that has started is resumed with what was corrected.
    assert_eq!(env.run("attribute create -i a.csv --shard 0/2 --resume").code, 0);
    env.file("a.csv", &whole);
    assert_eq!(env.run("attribute create -i a.csv --shard 1/2").code, 0);
    let of_shard = |part: u8| {
        let path = env.home.dir.path().join(format!("a.csv.{part}-2.journal"));
        let journal = std::fs::read_to_string(path).unwrap();
        let header: serde_json::Value = serde_json::from_str(journal.lines().next().unwrap()).unwrap();
        (header["sha256"].as_str().unwrap().to_owned(), header["records"].as_u64().unwrap())
    };
    assert_eq!((of_shard(0), of_shard(0).1), (of_shard(1), 40));
}

#[test]
fn the_journals_of_all_shards_together_list_what_none_has_sent() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(40));
    assert_eq!(env.run("attribute create -i a.csv --shard 0/2").code, 0);
    assert_eq!(env.run("attribute create -i a.csv --shard 1/2").code, 0);
    let path = env.home.dir.path().join("a.csv.1-2.journal");
    let journal = std::fs::read_to_string(&path).unwrap();
    // The header, and that the first record is about to be sent.
    let rest: String = journal.lines().take(2).map(|line| line.to_owned() + "\n").collect();
    std::fs::write(&path, rest).unwrap();
    let of_first = journal_records(&env, "a.csv.0-2.journal");
    let not_sent = 40 - of_first - 1;
    let totals = format!("40 records: {of_first} done, {not_sent} not sent, 1 sending\n");
    let shown = env.run("history a.csv.0-2.journal a.csv.1-2.journal --state not-sent");
    assert_eq!((shown.code, &shown.stderr), (0, &totals), "{shown:?}");
    assert_eq!(shown.stdout.lines().count(), not_sent + 1, "a row each, and the titles: {shown:?}");
    // Without the input next to the journals nobody knows.
    std::fs::remove_file(env.home.dir.path().join("a.csv")).unwrap();
    assert_eq!(env.run("history a.csv.1-2.journal").stderr, "1 record: 1 sending\n");
}

/// How many records a journal names.
fn journal_records(env: &TestEnv, name: &str) -> usize {
    let journal = std::fs::read_to_string(env.home.dir.path().join(name)).unwrap();
    journal.lines().filter(|line| line.contains("\"state\":\"done\"")).count()
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
error: 1 record (2) of this input was sent already, by run 1 of [TIME]: journal `[HOME]/a.csv.journal`
  hint: `storefront history [HOME]/a.csv.journal` shows what became of it; `storefront resume 1` sends what is left of it
"#]],
    );
}

#[test]
fn another_name_of_the_same_file_is_the_same_input() {
    let env = TestEnv::new();
    env.file("a.csv", ITEMS);
    std::fs::hard_link(env.home.dir.path().join("a.csv"), env.home.dir.path().join("b.csv")).unwrap();
    env.run("quote add-item -i a.csv");
    assert_eq!(posts(&env), 4);
    env.run("quote add-item -i b.csv").assert_failure(
        3,
        str![[r#"
error: journal `[HOME]/a.csv.journal` shows records of this input as sent
  hint: finish that run first, or move its journal away
"#]],
    );
    // A copy is another input, of the same records.
    env.file("c.csv", ITEMS);
    assert_eq!((env.run("quote add-item -i c.csv").code, posts(&env)), (3, 0));
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
  hint: finish that run first, or move its journal away
"#]],
        );
    }
    let dry = "attribute create -i a.csv --shard 1/2 --timeout 0.2 --retry 0 --stop-on-error";
    let other = serve(env.home.storefront(dry), &slow.url("")).run();
    assert_eq!(other.code, 8, "{other:?}");
    first.kill().unwrap();
    first.wait().unwrap();
}

#[test]
fn only_a_journal_in_which_a_record_was_sent_keeps_another_division_from_running() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(4));
    assert_eq!(env.run("attribute create -i a.csv").code, 0);
    let path = env.home.dir.path().join("a.csv.journal");
    let whole = std::fs::read_to_string(&path).unwrap();
    let header = format!("{}\n", whole.lines().next().unwrap());
    env.reset_sandbox();
    env.file("a.csv.journal", &header);
    env.requests();
    assert_eq!(env.run("attribute create -i a.csv --shard 0/2").code, 0);
    assert_eq!(env.run("attribute create -i a.csv --shard 1/2").code, 0);
    assert_eq!(posts(&env), 4);
    // The header alone gives the whole input no right to what its shards have sent.
    for flags in ["--resume", "--restart --yes"] {
        let error = env.fails(3, &format!("attribute create -i a.csv {flags}"));
        assert_eq!(error["hint"], "finish that run first, or move its journal away", "{error}");
    }
    assert_eq!(posts(&env), 0);
}
