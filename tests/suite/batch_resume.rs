//! Resumption: what was done is not sent again, and what may have been applied only with `--retry-unknown`.

use serde_json::{Value, json};
use snapbox::str;

use crate::batch_journal::{journal, text};
use crate::support::batch::{attributes, created, lines, numbers, states};
use crate::support::magento;
use crate::support::test_env::{TestEnv, change_log};

/// Writes a journal by hand: the log knows nothing of what stood in it.
fn write(env: &TestEnv, text: impl AsRef<[u8]>) {
    std::fs::write(journal(env), text).unwrap();
    change_log(&env.home, "UPDATE run SET journal_length = 0");
}

/// A journal as a crash would leave it: with these lines after its header.
fn interrupted(env: &TestEnv, records: usize, lines: &[&str]) {
    env.file("a.csv", attributes(records));
    assert_eq!(env.run("attribute create -i a.csv").code, 0);
    let whole = text(env);
    let header = whole.lines().next().unwrap();
    let hash = |place: u64| {
        let line = whole.lines().find(|line| line.contains(&format!("\"line\":{place},"))).unwrap();
        serde_json::from_str::<Value>(line).unwrap()["hash"].as_str().unwrap().to_owned()
    };
    let mut left = format!("{header}\n");
    for line in lines {
        let (record, state) = line.split_once(' ').unwrap();
        // The first line has the titles.
        let place = 1 + record.parse::<u64>().unwrap();
        let mut line = json!({"line": place, "state": state, "hash": hash(place)});
        if state == "failed" {
            line["temporary"] = false.into();
        }
        left.extend([line.to_string(), "\n".to_owned()]);
    }
    write(env, left);
    env.reset_sandbox();
    env.requests();
}

#[test]
fn a_journal_with_nothing_left_to_do_is_begun_again_and_resumed_to_no_effect() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(2));
    assert_eq!(env.run("attribute create -i a.csv --resume").code, 0, "--resume with no journal begins one");
    env.requests();
    let resumed = env.run("attribute create -i a.csv --resume -o json");
    assert_eq!((resumed.code, numbers(&resumed), env.requests()), (0, vec![1, 2], Vec::new()));
    assert_eq!(
        (&lines(&resumed)[0]["applied"], &lines(&resumed)[0]["reason"]),
        (&json!("yes"), &json!("done earlier"))
    );
    let error = env.fails(3, "attribute create -i a.csv --restart");
    assert_eq!((error["hint"].as_str(), env.requests()), (Some("add --yes"), Vec::new()));
    let restarted = env.run("attribute create -i a.csv --restart --yes");
    assert_eq!((restarted.code, env.requests()), (7, vec!["POST 400".to_owned(); 2]), "{restarted:?}");
    let again = env.run("attribute create -i a.csv");
    assert_eq!((again.code, env.requests()), (7, vec!["POST 400".to_owned(); 2]), "{again:?}");
}

#[test]
fn a_dry_run_lists_every_record_and_a_failed_one_is_sent_again_as_it_is() {
    let env = TestEnv::new();
    let left = ["1 sending", "1 done", "2 sending", "3 sending", "3 unknown", "4 sending", "4 failed"];
    interrupted(&env, 5, &left);
    let applied = |line: &str| -> Vec<(Value, Value)> {
        let outcome = env.run(&format!("attribute create -i a.csv --resume -o json {line}"));
        lines(&outcome).iter().map(|line| (line["applied"].clone(), line["error"]["kind"].clone())).collect()
    };
    let (unknown, done) = ((json!("unknown"), json!("unknown")), (json!("yes"), Value::Null));
    let (failed, shown) = ((json!("no"), json!("refused")), (json!("no"), Value::Null));
    let listed = applied("-n");
    assert_eq!(listed, [done.clone(), unknown.clone(), unknown.clone(), failed, shown.clone()]);
    let retried = applied("-n --retry-unknown=3 --retry-failed");
    assert_eq!(retried, [done.clone(), shown.clone(), unknown.clone(), shown.clone(), shown]);
    let people = env.run("attribute create -i a.csv --resume -n");
    assert!(
        people.stderr.contains("1 record, 1 already done, 1 failed, 1 sending, 1 unknown, nothing sent"),
        "{people:?}"
    );
    assert!(env.requests().iter().all(|request| request.starts_with("GET")), "nothing is sent");
    for (flags, says) in [
        ("--retry-failed=3", "line 3: the record is not open"),
        ("--retry-failed=5 --mark-done 4-6", "5 is in --retry-failed and in --mark-done"),
    ] {
        let refused = env.run(&format!("attribute create -i a.csv --resume {flags}"));
        assert!(refused.code == 2 && refused.stderr.contains(says), "{refused:?}");
    }
    assert_eq!(created(&env), Vec::<usize>::new());
    let sent = applied("--retry-failed=5");
    assert_eq!(sent, [done.clone(), unknown.clone(), unknown, done.clone(), done]);
    let mut found = created(&env);
    found.sort_unstable();
    assert_eq!(found, [4, 5]);
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
line 3: unknown: outcome unknown (sent by an earlier run)
line 4: unknown: outcome unknown (sent by an earlier run)
line 5: failed: no reason recorded (in an earlier run)
"#]], str![[r#"
attribute create: 5 records: 0 done, 2 already done, 1 failed, 2 unknown ([DURATION])
error: 1 of 5 records failed, 2 unknown
  Changes may have been made.
  hint: check which unknown records took effect (`storefront history [HOME]/a.csv.journal --state unknown sending` lists them), then resume with `storefront resume 3`, with --mark-done=LINES for what did and --retry-unknown=LINES for what did not; fix line 5 in the input, then resume with `storefront resume 3`; to give it up, run `storefront resume 3 --mark-done=5`
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
fn an_incomplete_last_line_is_ignored_with_a_warning() {
    let env = TestEnv::new();
    interrupted(&env, 3, &["1 sending", "1 done", "2 sending", "2 done"]);
    let mut cut = text(&env);
    cut.truncate(cut.len() - 9);
    write(&env, cut);
    let resumed = env.run("attribute create -i a.csv --resume");
    resumed.assert(8, str!["line 3: unknown: outcome unknown (sent by an earlier run)"], str![[r#"
warning: journal `[HOME]/a.csv.journal`: line 5 is incomplete
attribute create: host 127.0.0.1:[PORT]
attribute create: 3 records: 1 done, 1 already done, 1 unknown ([DURATION])
error: 1 of 3 records unknown
  Changes may have been made.
  hint: check which unknown records took effect (`storefront history [HOME]/a.csv.journal --state unknown sending` lists them), then resume with `storefront resume 2`, with --mark-done=LINES for what did and --retry-unknown=LINES for what did not
"#]]);
    assert_eq!(created(&env), [3], "record 2 may have been applied");
    env.run("attribute create -i a.csv --resume").assert(8, str!["line 3: unknown: outcome unknown (sent by an earlier run)"], str![[r#"
warning: journal `[HOME]/a.csv.journal`: line 5 is incomplete
attribute create: 3 records: 0 done, 2 already done, 1 unknown ([DURATION])
error: 1 of 3 records unknown
  Changes may have been made.
  hint: check which unknown records took effect (`storefront history [HOME]/a.csv.journal --state unknown sending` lists them), then resume with `storefront resume 3`, with --mark-done=LINES for what did and --retry-unknown=LINES for what did not
"#]]);
}

#[test]
fn a_damaged_last_newline_hides_no_record_that_was_sent() {
    let env = TestEnv::new();
    interrupted(&env, 3, &["1 sending", "1 done", "2 sending"]);
    let whole = text(&env);
    let cut = &whole[..whole.len() - 1];
    for damaged in [cut.to_owned(), format!("{cut}J"), format!("{cut}\r"), cut[..cut.len() - 9].to_owned()] {
        write(&env, &damaged);
        let outcome = env.run("attribute create -i a.csv --resume -o json");
        assert!(matches!(outcome.code, 7 | 8), "{outcome:?}");
        assert_eq!(lines(&outcome)[1]["applied"], "unknown", "{damaged}");
        assert!(!created(&env).contains(&2), "{damaged}");
    }
    env.requests();
    for unreadable in [whole.replace('\n', "\r"), String::new(), whole.replacen("\"line\"", "\"l1ne\"", 3)] {
        std::fs::write(journal(&env), &unreadable).unwrap();
        let outcome = env.run("attribute create -i a.csv --resume");
        assert_eq!((outcome.code, env.requests()), (3, Vec::new()), "{unreadable}: {outcome:?}");
    }
}

#[test]
fn a_whole_last_line_without_its_newline_counts() {
    let env = TestEnv::new();
    interrupted(&env, 3, &["1 sending", "1 done", "2 sending", "2 done"]);
    let whole = text(&env);
    write(&env, whole.trim_end());
    let resumed = env.run("attribute create -i a.csv --resume -o json");
    let reasons: Vec<Value> = lines(&resumed).iter().map(|line| line["reason"].clone()).collect();
    assert_eq!((resumed.code, &reasons[..2]), (0, &[json!("done earlier"), json!("done earlier")][..]));
    assert_eq!(created(&env), [3]);
    assert_eq!(states(&text(&env)), [("done".to_owned(), 3)].into());
}

#[cfg(unix)]
#[test]
fn the_journal_of_another_machine_is_continued_by_the_command_of_the_hint() {
    let home = crate::support::storefront::Home::new();
    let moves = home.dir.path().join("moves.csv");
    std::fs::write(moves, "customer,address_id,city\n1,2,Albany\n").unwrap();
    home.ok("--sandbox --api magento customer update -i moves.csv");
    let state = home.dir.path().join("elsewhere").display().to_string();
    let elsewhere = |line: &str| home.storefront(line).env("XDG_STATE_HOME", &state).run();
    let refused = elsewhere("--sandbox --api magento resume moves.csv.journal");
    let command = "customer update --input moves.csv --resume";
    let hint = format!(
        "continue the journal of another machine with `storefront --sandbox --api magento {command}`"
    );
    assert!(refused.code == 2 && refused.stderr.contains(&hint), "{refused:?}");
    let done = elsewhere(&format!("--sandbox --api magento {command}"));
    assert!(done.code == 0 && done.stderr.contains("1 already done"), "{done:?}");
}

/// The line is right, and waits for the shop.
#[test]
fn a_record_that_a_stored_address_keeps_from_being_saved_is_sent_again_as_it_is() {
    let env = TestEnv::new();
    env.file("a.csv", "customer,address_id,city\n1,1,Oslo\n4,10,Bonn\n");
    let update = magento::run(&env, "customer update -i a.csv --jobs 1");
    let hint = update.error()["hint"].as_str().unwrap().to_owned();
    assert_eq!(update.code, 7, "{update:?}");
    assert!(hint.contains("`storefront resume 1 --retry-failed=3`") && !hint.contains("fix line"), "{hint}");
    let shown = magento::run(&env, "customer update -i a.csv --jobs 1 -n --resume");
    assert!(shown.stdout.contains("--retry-failed=3") && !shown.stdout.contains("fix line"), "{shown:?}");
    let corrected = "json_set(body, '$.street', json_array('1', '2'))";
    env.sandbox.sql(&format!("UPDATE addresses SET body = {corrected} WHERE id = 11"));
    let sent = magento::run(&env, "resume 1 --retry-failed=3");
    assert_eq!(sent.code, 0, "{sent:?}");
}

/// The line is right, and waits for goods.
#[test]
fn a_record_that_the_stock_keeps_from_being_added_is_sent_again_as_it_is() {
    let env = TestEnv::new();
    env.file("a.csv", "customer,sku,qty\n1,umbrella,26\n");
    let added = magento::run(&env, "quote add-item -i a.csv");
    let hint = added.error()["hint"].as_str().unwrap().to_owned();
    assert_eq!(added.code, 7, "{added:?}");
    assert!(hint.contains("`storefront resume 1 --retry-failed=2`") && !hint.contains("fix line"), "{hint}");
    env.sandbox.sql("UPDATE products SET stock = 30");
    let sent = magento::run(&env, "resume 1 --retry-failed=2");
    assert_eq!(sent.code, 0, "{sent:?}");
}

#[test]
fn a_line_to_be_corrected_is_named_by_where_it_is_now() {
    let env = TestEnv::new();
    env.file("a.csv", "customer,address_id,city\n1,999,Oslo\n2,5,Kyoto\n");
    assert_eq!(magento::run(&env, "customer update -i a.csv --jobs 1").code, 7);
    env.file("a.csv", "customer,address_id,city\n2,5,Kyoto\n1,999,Oslo\n");
    let resumed = magento::run(&env, "resume 1");
    let hint = resumed.error()["hint"].as_str().unwrap().to_owned();
    assert!(hint.starts_with("fix line 2 (now 3) in the input, then resume with "), "{hint}");
    assert!(hint.contains("--mark-done=2`"), "{hint}");
}

/// As the hint says it: the record is put back as it was sent, and the change is a new row.
#[test]
fn a_row_that_was_added_corrects_one_that_was_sent() {
    const UPDATE: &str = "customer update -i a.csv --jobs 1 --settle 0";
    let env = TestEnv::with_faults(&["PUT:502x1"]);
    env.file("a.csv", "customer,address_id,city\n1,1,Bonn\n");
    assert_eq!(magento::run(&env, UPDATE).code, 8);
    env.requests();
    let retried = format!("{UPDATE} --resume --retry-unknown=2 --after-unknown");
    let before = "customer,address_id,city\n1,1,Kiel\n1,1,Bonn\n";
    for (rows, code) in [(before, 2), ("customer,address_id,city\n1,1,Bonn\n1,1,Kiel\n", 0)] {
        env.file("a.csv", rows);
        let resumed = magento::run(&env, &retried);
        assert_eq!(resumed.code, code, "{rows}: {resumed:?}");
    }
    assert_eq!(env.address(1)["city"], "Kiel");
}

/// A line that was corrected is as new as the one below it: nothing says which of two values is meant.
#[test]
fn a_corrected_row_and_a_new_one_contradict_each_other() {
    const UPDATE: &str = "customer update -i a.csv --jobs 1";
    let env = TestEnv::new();
    let taken = env.sandbox.show()["customers"][1]["email"].as_str().unwrap().to_owned();
    env.file("a.csv", format!("customer,email\n1,{taken}\n"));
    assert_eq!(magento::run(&env, UPDATE).code, 7);
    env.requests();
    env.file("a.csv", "customer,email\n1,one@example.com\n1,two@example.com\n");
    let resumed = magento::run(&env, &format!("{UPDATE} --resume"));
    assert_eq!((resumed.code, env.requests()), (2, Vec::new()), "{resumed:?}");
}
