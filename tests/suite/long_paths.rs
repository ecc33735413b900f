//! Paths of more than 260 characters, which Windows takes only in a form of their own.

use std::fs;

use crate::support::test_env::TestEnv;

#[test]
fn inputs_journals_and_snapshots_are_kept_below_a_long_path() {
    let env = TestEnv::new();
    let mut directory = env.home.dir.path().to_owned();
    for _ in 0..6 {
        directory.push("d".repeat(60));
    }
    let input = directory.join("items.csv");
    fs::create_dir_all(&directory).unwrap();
    fs::write(&input, "quote_id,sku,qty\n1,umbrella,1\n1,nothing,1\n").unwrap();
    let state = if cfg!(windows) { "LOCALAPPDATA" } else { "XDG_STATE_HOME" };
    let state_directory = directory.join("state");
    let run = |words: &[&str]| env.storefront(words).env(state, state_directory.to_str().unwrap()).run();
    let batch = ["quote", "add-item", "--input", input.to_str().unwrap(), "-y"];
    let outcome = run(&batch);
    assert_eq!(outcome.code, 7, "{outcome:?}");
    assert!(directory.join("items.csv.journal").exists());
    let outcome = run(&["customer", "update", "--address", "2", "--city", "Troy", "-y"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let outcome = run(&["undo", "2", "-y"]);
    assert_eq!(outcome.code, 0, "{outcome:?}");
}
