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
    let hour_ago = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(1);
    let fate = serde_json::json!({"fate": "unknown", "left": hour_ago.to_string()});
    std::fs::write(newest.with_extension("fate"), fate.to_string()).unwrap();
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
    assert_restored(&home, str![""]);
    assert_eq!(address(&home), "Reno 10118 ");
    let fate = std::fs::read_to_string(newest.with_extension("fate")).unwrap();
    assert!(fate.contains("applied"), "{fate}");
}

#[test]
fn an_old_unknown_update_that_the_profile_does_not_show_is_not_chosen_for_the_user() {
    let home = Home::new();
    ok(&home, "customer update --address 2 --postcode 10119");
    let lost = "customer update --address 2 --postcode 10120 --settle 0 --retry 0";
    assert_eq!(run(&home, &format!("{lost} --fault PUT:reset-before-commit")).code, 8);
    make_unknown(&home);
    run(&home, "customer restore --yes").assert_failure(3, str![[r#"
error: the outcome of 000002-[SNAPSHOT] is unknown, and the profile does not show it
  No changes were made.
  hint: name the update to undo, such as `storefront --sandbox customer restore 000002-[SNAPSHOT]`; `storefront --sandbox customer history` lists the snapshots
"#]]);
    assert_eq!(address(&home), "New York 10119 ");
    ok(&home, "customer restore 1 --yes");
    assert_eq!(address(&home), "New York 10118 ");
}

/// Version 0.1.0 wrote a file for each outcome, which holds the time.
#[test]
fn outcomes_of_the_last_version_are_understood() {
    let ages = [
        ("verified", 0, 0),
        ("applied", 0, 0),
        ("refused", 0, 0),
        ("unknown", 0, 3),
        ("mismatched", 0, 3),
        ("unknown", 1, 0),
    ];
    for (mark, hours, code) in ages {
        let home = Home::new();
        ok(&home, "customer update --address 2 --postcode 10119");
        ok(&home, "customer restore");
        let [update, restore] = &snapshots(&home)[..] else { panic!("two snapshots") };
        std::fs::remove_file(restore).unwrap();
        std::fs::remove_file(update.with_extension("fate")).unwrap();
        let at = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(hours);
        std::fs::write(update.with_extension(mark), at.to_string()).unwrap();
        let _ = std::fs::remove_file(update.with_file_name("last-read"));
        let is_applied = ["verified", "applied"].contains(&mark);
        let code = if is_applied { 3 } else { code };
        let outcome = run(&home, "customer update --address 2 --city Reno --region-id 39 --settle 0");
        assert_eq!(outcome.code, code, "{mark} {hours}: {outcome:?}");
    }
}
