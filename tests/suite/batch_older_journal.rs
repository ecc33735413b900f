//! A journal that lacks something of what the log says was sent, and one of another log: nothing is done with it.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::batch::states;
use crate::support::magento::run;
use crate::support::test_env::{TestEnv, change_log};

const ITEMS: &str = "quote add-item -i a.csv --jobs 1";
const STATE: &str = if cfg!(windows) { "LOCALAPPDATA" } else { "XDG_STATE_HOME" };

fn path(env: &TestEnv, name: &str) -> PathBuf {
    env.home.dir.path().join(name)
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

/// A batch of three rows, of which the second one has failed; and its journal.
fn run_once() -> (TestEnv, PathBuf) {
    let env = TestEnv::new();
    env.file("a.csv", "quote_id,sku,qty\n1,mug-blue,1\n1,nope,1\n1,umbrella,2\n");
    assert_eq!(env.run(ITEMS).code, 7);
    env.requests();
    let journal = path(&env, "a.csv.journal");
    (env, journal)
}

/// The message of a command that is refused before it sends anything, and leaves the journal as it is.
#[track_caller]
fn refused(env: &TestEnv, journal: &Path, line: &str) -> String {
    let before = std::fs::read(journal).ok();
    let error = env.fails(3, line);
    assert_eq!(env.requests(), Vec::<String>::new(), "{line}: {error}");
    assert_eq!(std::fs::read(journal).ok(), before, "{line}");
    format!("{}: {}", error["message"], error["hint"])
}

#[test]
fn a_journal_that_was_cut_is_refused_whatever_is_asked_for() {
    let (env, journal) = run_once();
    let whole = read(&journal);
    let cut: String = whole.split_inclusive('\n').take(3).collect();
    std::fs::write(&journal, &cut).unwrap();
    for flags in
        ["--resume", "--resume --retry-unknown", "--resume --mark-done 4", "--restart --yes", "--resume -n"]
    {
        let why = refused(&env, &journal, &format!("{ITEMS} {flags}"));
        assert!(why.contains("than run 1 wrote") && why.contains("put back the newer one"), "{flags}: {why}");
    }
    refused(&env, &journal, "resume 1 --yes");
    std::fs::write(&journal, whole).unwrap();
    env.file("a.csv", "quote_id,sku,qty\n1,mug-blue,1\n1,umbrella,1\n1,umbrella,2\n");
    assert_eq!(env.run(&format!("{ITEMS} --resume")).code, 0);
}

#[test]
fn a_journal_of_before_the_last_run_is_refused() {
    let (env, journal) = run_once();
    let older = read(&journal);
    env.file("a.csv", "quote_id,sku,qty\n1,mug-blue,1\n1,umbrella,1\n1,umbrella,2\n");
    assert_eq!(env.run(&format!("{ITEMS} --resume")).code, 0);
    env.requests();
    std::fs::write(&journal, &older).unwrap();
    let why = refused(&env, &journal, &format!("{ITEMS} --resume"));
    assert!(why.contains("run 2") && why.contains("put back the newer one"), "{why}");
    // A batch that was begun in place of another one has all that counts.
    std::fs::remove_file(&journal).unwrap();
    change_log(&env.home, "UPDATE run SET began = began - 21 * 3600 * 1000000");
    let other_day = env.run(ITEMS);
    assert_eq!(other_day.code, 0, "{other_day:?}");
    assert_eq!(env.run(&format!("{ITEMS} --resume")).code, 0);
    env.requests();
    std::fs::write(&journal, &older).unwrap();
    refused(&env, &journal, &format!("{ITEMS} --resume"));
}

#[test]
fn an_update_of_every_night_does_not_run_over_a_journal_that_was_cut() {
    let env = TestEnv::new();
    env.file("a.csv", "customer,address_id,city\n1,1,Oslo\n2,5,Kyoto\n");
    assert_eq!(run(&env, "customer update -i a.csv --jobs 1").code, 0);
    let journal = path(&env, "a.csv.journal");
    let whole = read(&journal);
    std::fs::write(&journal, whole.split_inclusive('\n').take(2).collect::<String>()).unwrap();
    env.requests();
    let again = run(&env, "customer update -i a.csv --jobs 1");
    assert!(again.code == 3 && again.stderr.contains("put back the newer one"), "{again:?}");
    assert!(env.requests().is_empty(), "{again:?}");
}

#[test]
fn a_journal_of_another_log_is_continued_and_never_replaced() {
    let (env, journal) = run_once();
    let whole = read(&journal);
    let header: Value = serde_json::from_str(whole.lines().next().unwrap()).unwrap();
    assert_eq!(header["log"].as_str().map(str::len), Some(32), "{header}");
    let elsewhere = path(&env, "elsewhere");
    let line = format!("{ITEMS} --restart --yes");
    let refused = env.storefront(line.as_str()).env(STATE, elsewhere.to_str().unwrap()).run();
    assert!(refused.code == 3 && refused.stderr.contains("of another log"), "{refused:?}");
    assert_eq!((read(&journal), env.requests()), (whole, vec![]));
}

#[test]
fn a_plan_whose_journal_was_cut_is_refused() {
    let env = TestEnv::new();
    env.file("a.csv", "quote_id,sku,qty\n1,mug-blue,1\n1,umbrella,2\n");
    assert_eq!(env.run("quote add-item -i a.csv --plan a.plan").code, 0);
    assert_eq!(env.run("apply a.plan --yes").code, 0);
    let journal = path(&env, "a.plan.journal");
    let whole = read(&journal);
    assert_eq!(states(&whole)["done"], 2);
    env.requests();
    std::fs::write(&journal, whole.split_inclusive('\n').take(2).collect::<String>()).unwrap();
    for line in ["apply a.plan --yes", "apply a.plan -n"] {
        let why = refused(&env, &journal, line);
        assert!(why.contains("put back the newer one"), "{line}: {why}");
    }
}

/// Leaves the header of a journal, as of a run that was killed before it was in the log.
fn begun_only(env: &TestEnv, journal: &Path) {
    let header = read(journal).lines().next().unwrap().to_owned() + "\n";
    std::fs::write(journal, header).unwrap();
    change_log(&env.home, "PRAGMA foreign_keys = ON; DELETE FROM run; DELETE FROM applied_plan");
}

#[test]
fn a_journal_whose_first_run_is_not_in_the_log_is_refused_once_it_was_cut() {
    let env = TestEnv::new();
    env.file("a.csv", "quote_id,sku,qty\n1,mug-blue,1\n1,umbrella,2\n");
    assert_eq!(env.run("quote add-item -i a.csv --plan a.plan").code, 0);
    let journal = path(&env, "a.plan.journal");
    assert_eq!(env.run("apply a.plan --yes").code, 0);
    begun_only(&env, &journal);
    let applied = env.run("apply a.plan --yes");
    assert_eq!(applied.code, 0, "{applied:?}");
    std::fs::write(&journal, read(&journal).lines().next().unwrap().to_owned() + "\n").unwrap();
    change_log(&env.home, "UPDATE run SET began = began - 21 * 3600 * 1000000");
    env.requests();
    let why = refused(&env, &journal, "apply a.plan --yes");
    assert!(why.contains("put back the newer one"), "{why}");
}

#[test]
fn a_batch_whose_first_run_is_not_in_the_log_is_resumed_and_undone() {
    const UPDATE: &str = "customer update -i a.csv --jobs 1";
    let env = TestEnv::new();
    let journal = path(&env, "a.csv.journal");
    env.file("a.csv", "customer,address_id,city\n1,1,Oslo\n");
    assert_eq!(run(&env, UPDATE).code, 0);
    // A later run began in its place, and was killed before it was in the log.
    let header = read(&journal).lines().next().unwrap().to_owned() + "\n";
    let mut other: Value = serde_json::from_str(&header).unwrap();
    other["run"] = "0123456789abcdef0123456789abcdef".into();
    std::fs::write(&journal, format!("{other}\n")).unwrap();
    env.file("a.csv", "customer,address_id,city\n1,1,Bergen\n");
    for _ in 0..2 {
        let resumed = run(&env, &format!("{UPDATE} --resume"));
        assert_eq!(resumed.code, 0, "{resumed:?}");
    }
    let undone = run(&env, "undo a.csv.journal --plan u.plan");
    assert_eq!(undone.code, 0, "{undone:?}");
    let applied = run(&env, "apply u.plan --yes");
    assert_eq!(applied.code, 0, "{applied:?}");
    assert_eq!(env.address(1)["city"], "Oslo");
}

/// A state directory that was put back from a copy: the log does not have what the journal notes.
#[test]
fn a_journal_whose_runs_an_older_log_lacks_stays_unknown_to_it_after_a_resume() {
    let env = TestEnv::new();
    let journal = path(&env, "a.csv.journal");
    env.file("a.csv", "quote_id,sku,qty\n1,mug-blue,1\n1,umbrella,2\n");
    assert_eq!(env.run(ITEMS).code, 0);
    change_log(&env.home, "PRAGMA foreign_keys = ON; DELETE FROM run");
    let resumed = env.run(&format!("{ITEMS} --resume"));
    assert_eq!(resumed.code, 0, "{resumed:?}");
    env.requests();
    refused(&env, &journal, ITEMS);
}
