//! `customer restore` without a name, where the outcome of a newer update is unknown.

use std::path::PathBuf;

use snapbox::{IntoData, str};

use crate::support::snapshot::assert_snapshot;
use crate::support::storefront::{Home, Outcome};
use crate::support::test_env::snapshots;

fn run(home: &Home, line: &str) -> Outcome {
    home.run(&["--sandbox"].into_iter().chain(line.split_whitespace()).collect::<Vec<_>>())
}

#[track_caller]
fn ok(home: &Home, line: &str) -> String {
    let outcome = run(home, line);
    assert_eq!(outcome.code, 0, "{line}: {outcome:?}");
    outcome.stdout
}

/// Sets the outcome of the newest snapshot to unknown, as of an hour ago.
fn make_unknown(home: &Home) -> PathBuf {
    let newest = snapshots(home).pop().unwrap();
    for mark in ["verified", "applied", "unknown"] {
        let _ = std::fs::remove_file(newest.with_extension(mark));
    }
    let hour_ago = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(1);
    std::fs::write(newest.with_extension("unknown"), hour_ago.to_string()).unwrap();
    newest
}

/// Restores without a name; asserts what is said of the choice.
#[track_caller]
fn assert_restored(home: &Home, said: impl IntoData) {
    let outcome = run(home, "customer restore --yes");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let lines = outcome.stderr.lines().filter(|line| !line.starts_with("customer restore: snapshot"));
    assert_snapshot(&lines.collect::<Vec<_>>().join("\n"), said);
}

fn address(home: &Home) -> String {
    ok(home, "customer show --jq .addresses[1]|.city,.postcode").replace('\n', " ")
}

#[test]
fn an_old_unknown_update_that_the_profile_shows_is_the_one_undone() {
    let home = Home::new();
    ok(&home, "customer update --address 2 --city Reno --region-id 39");
    ok(&home, "customer update --address 2 --postcode 89501");
    let newest = make_unknown(&home);
    assert_restored(
        &home,
        str![[r#"
000002-[SNAPSHOT] was applied: the profile shows all of it
"#]],
    );
    assert_eq!(address(&home), "Reno 10118 ");
    assert!(newest.with_extension("verified").exists());
}

#[test]
fn an_old_unknown_update_that_the_profile_does_not_show_is_skipped_and_named() {
    let home = Home::new();
    ok(&home, "customer update --address 2 --postcode 10119");
    let lost = "customer update --address 2 --postcode 10120 --settle 0 --retry 0";
    assert_eq!(run(&home, &format!("{lost} --fault PUT:reset-before-commit")).code, 8);
    make_unknown(&home);
    assert_restored(
        &home,
        str![[r#"
warning: skipped 000002-[SNAPSHOT]: its outcome is unknown, and the profile does not show it
"#]],
    );
    assert_eq!(address(&home), "New York 10118 ");
}

#[test]
fn an_old_unknown_update_that_cannot_be_told_is_not_chosen_for_the_user() {
    let home = Home::new();
    ok(&home, "customer update --address 2 --postcode 10119");
    ok(&home, "customer update --address 2 --postcode 10120 --telephone 1");
    ok(&home, "customer update --address 2 --telephone 2");
    ok(&home, "customer history --delete 3 --yes");
    make_unknown(&home);
    run(&home, "customer restore --yes").assert_failure(3, str![[r#"
error: cannot tell from the profile whether 000002-[SNAPSHOT], of unknown outcome, was applied
  No changes were made.
  hint: name the update to undo: `storefront --sandbox customer restore 000002-[SNAPSHOT]`, or `storefront --sandbox customer restore 000001-[SNAPSHOT]`
"#]]);
    assert_eq!(address(&home), "New York 10120 ");
    ok(&home, "customer restore 2 --yes");
    assert_eq!(address(&home), "New York 10119 ");
}

#[test]
fn without_an_applied_update_nothing_is_restored() {
    let home = Home::new();
    let lost = "customer update --address 2 --postcode 10120 --settle 0 --retry 0";
    assert_eq!(run(&home, &format!("{lost} --fault PUT:reset-before-commit")).code, 8);
    make_unknown(&home);
    run(&home, "customer restore --yes").assert_failure(
        2,
        str![[r#"
warning: skipped 000001-[SNAPSHOT]: its outcome is unknown, and the profile does not show it
error: no update of this customer from this machine was applied
  No changes were made.
  hint: `storefront --sandbox customer history` lists the snapshots
"#]],
    );
}
