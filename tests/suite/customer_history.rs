//! `customer history`: its output, without the service, and deletion.

use std::path::PathBuf;

use serde_json::Value;
use snapbox::str;

use crate::support::mock_server::{MockServer, answer};
use crate::support::snapshot::assert_snapshot;
use crate::support::storefront::Home;
use crate::support::test_env::{files_below, snapshots};

/// `customer history` with a time zone two hours east of UTC.
fn history(home: &Home, words: &[&str]) -> crate::support::storefront::Outcome {
    let words: Vec<&str> = ["--sandbox", "customer", "history"].iter().chain(words).copied().collect();
    home.storefront(&words).env("TZ", "XYZ-2").run()
}

#[test]
fn each_change_has_its_local_time_age_values_and_outcome() {
    let home = Home::new();
    home.ok("--sandbox customer update --address 2 --postcode 10119");
    home.ok("--sandbox customer update --remove-address 3 --yes");
    let listed = history(&home, &[]);
    let lines: Vec<&str> = listed.stdout.lines().collect();
    assert!(lines[0].starts_with("000002-") && lines[0].ends_with("Z  applied"), "{listed:?}");
    assert!(
        lines[1].starts_with("  customer 1, customer update, 20") && lines[1].ends_with(" ago")
            || lines[1].ends_with("just now"),
        "{listed:?}"
    );
    assert_eq!(lines[2], "  address 3, removed", "{listed:?}");
    assert!(
        lines[3..].iter().any(|line| line.starts_with("    City ") && line.ends_with("بيروت")),
        "{listed:?}"
    );
    assert!(listed.stdout.ends_with("\n  address 2\n    Postcode  10118  → 10119\n"), "{listed:?}");
    let utc: Value =
        serde_json::from_str(history(&home, &["-o", "json"]).stdout.lines().next().unwrap()).unwrap();
    let taken = utc["taken"].as_str().unwrap();
    let hour = |text: &str| text.split(['T', ' ']).nth(1).unwrap()[..2].parse::<u32>().unwrap();
    let local = lines[1].trim_start_matches("  customer 1, customer update, ");
    assert_eq!(hour(local), (hour(taken) + 2) % 24, "{local} {taken}");
}

#[test]
fn history_is_listed_while_the_service_is_unreachable() {
    let stored = r#"{"id": 7, "email": "a@example.com", "addresses": [{"id": 1, "city": "Rome"}]}"#;
    let changed = stored.replace("Rome", "Oslo");
    let ok = |body: &str| answer("200 OK", "", body);
    let service = MockServer::start(vec![ok(stored), ok(&changed)]);
    let home = Home::new();
    let run = |words: &str, token: &str| {
        let words: Vec<&str> = words.split(' ').collect();
        let run = home.storefront(&words).env("STOREFRONT_BASE_URL", &service.url("/rest"));
        run.env("STOREFRONT_STORE_VIEW", "default").env("STOREFRONT_TOKEN", token).run()
    };
    let updated = run("customer update --address 1 --city Oslo", "hunter2");
    assert_eq!(updated.code, 0, "{updated:?}");
    let asked = service.requests().len();
    let listed = run("customer history", "hunter2");
    assert_eq!((listed.code, service.requests().len()), (0, asked), "{listed:?}");
    assert!(listed.stdout.contains("address 1\n    City  Rome  → Oslo\n"), "{listed:?}");
    let kept = files_below(&home.state().join("customers"));
    let text = std::fs::read_to_string(&kept[0]).unwrap();
    assert!(
        kept.len() == 1 && text == "7" && !kept[0].to_string_lossy().contains("hunter2"),
        "{kept:?} {text}"
    );
    // Another token may be another customer's until a read shows whose it is.
    assert_eq!(run("customer show", "hunter3").code, 0);
}

#[test]
fn snapshots_are_deleted_by_prefix_or_all_and_only_with_yes() {
    let home = Home::new();
    for postcode in ["10119", "10120", "10121"] {
        home.ok(&format!("--sandbox customer update --address 2 --postcode {postcode}"));
    }
    let names = || -> Vec<String> {
        let text = history(&home, &["--jq", ".snapshot"]).stdout;
        text.lines().map(str::to_owned).collect()
    };
    assert_eq!(names().len(), 3);
    history(&home, &["--delete", "all"]).assert_failure(
        3,
        str![[r#"
error: cannot ask `Delete 3 snapshots? This cannot be undone`: not a terminal
  hint: add --yes
"#]],
    );
    history(&home, &["--delete", "00000", "--yes"]).assert_failure(
        2,
        str![[r#"
error: `00000` names 3 snapshots
  hint: use a longer prefix, or a snapshot number
"#]],
    );
    history(&home, &["--delete", "nothing", "--yes"]).assert_failure(
        2,
        str![[r#"
error: no snapshot named `nothing` of this customer on this machine
  hint: `storefront --sandbox customer history` lists the snapshots
"#]],
    );
    assert_eq!(names().len(), 3);
    history(&home, &["--delete", "000002", "--yes"])
        .assert_report(str!["deleted snapshot 000002-[SNAPSHOT]"]);
    let left = names();
    assert!(left.len() == 2 && left[0].starts_with("000003") && left[1].starts_with("000001"), "{left:?}");
    history(&home, &["--delete", "all", "--yes"]).assert_report(str!["deleted 2 snapshots"]);
    assert_eq!(names().len(), 0);
    assert_eq!(home.ok("--sandbox customer show --jq .addresses[1].postcode"), "10121\n");
}

#[test]
fn a_snapshot_with_an_unknown_outcome_is_not_deleted() {
    let home = Home::new();
    let update = "--sandbox customer update --address 2 --postcode 10119 --settle 0 --retry 0";
    home.fails(8, &format!("{update} --fault PUT:reset-before-commit"));
    history(&home, &["--delete", "all", "--yes"]).assert_failure(
        3,
        str![[r#"
error: the outcome of 000001-[SNAPSHOT] is unknown, and it may still take effect
  hint: run `storefront --sandbox customer history --check`, or wait 10 minutes after its request left
"#]],
    );
    assert_eq!(history(&home, &["--jq", ".outcome"]).stdout, "unknown\n");
}

/// An update whose reply was lost and that took no effect, and the files of its snapshot.
fn lost_update() -> (Home, PathBuf) {
    let home = Home::new();
    let update = "--sandbox customer update --address 2 --postcode 10119 --settle 0 --retry 0";
    home.fails(8, &format!("{update} --fault PUT:reset-before-commit"));
    let snapshot = snapshots(&home).remove(0);
    (home, snapshot)
}

const NEXT: &str = "--sandbox customer update --address 1 --city Lyon --settle 0";

/// The disk was full when it was written, or somebody emptied it.
#[test]
fn an_emptied_snapshot_is_listed_and_its_hint_works() {
    let (home, snapshot) = lost_update();
    std::fs::write(&snapshot, "").unwrap();
    assert_eq!(history(&home, &["--jq", ".outcome"]).stdout, "unreadable\n");
    assert!(history(&home, &[]).stdout.starts_with("000001-"));
    let refused = home.run(NEXT);
    let stderr = refused.stderr.replace(until(&refused.stderr), "[TIME]");
    assert_eq!((refused.code, refused.stdout.as_str()), (3, ""), "{refused:?}");
    assert_snapshot(
        &stderr,
        str![[r#"
error: the snapshot 000001-[SNAPSHOT] cannot be read: its update may still take effect and overwrite this one
  No changes were made.
  hint: wait until [TIME], or continue now with --after-unknown
"#]],
    );
    history(&home, &["--check"]).assert_failure(
        8,
        str![[r#"
error: `[HOME]/state/storefront/snapshots/marketplace%20sandbox%3A[DATABASE]/1/0000xx/000001-[SNAPSHOT].json` is not a snapshot
  hint: look at the profile with `storefront --sandbox customer show`
"#]],
    );
    home.ok(&format!("{NEXT} --after-unknown"));
    history(&home, &["--delete", "1", "--yes"]).assert_report(str!["deleted snapshot 000001-[SNAPSHOT]"]);
}

/// The update before it must not be undone in its place.
#[test]
fn a_restore_stops_at_a_snapshot_that_cannot_be_read() {
    let home = Home::new();
    home.ok("--sandbox customer update --address 2 --postcode 10119");
    home.ok(NEXT);
    std::fs::write(&snapshots(&home)[1], "").unwrap();
    let show = "--sandbox customer show --jq .addresses";
    let before = home.ok(show);
    // Within a minute nobody knows whether the service shows that update.
    let refused = home.run("--sandbox customer restore --yes --settle 0");
    assert!(refused.code == 3 && refused.stderr.contains("try again in a minute"), "{refused:?}");
    assert_eq!(home.ok(show), before);
    let earlier = r#"{"outcome":"applied","at":"2026-01-01T00:00:00Z","verified":true}"#;
    std::fs::write(snapshots(&home)[1].with_extension("outcome"), earlier).unwrap();
    home.run("--sandbox customer restore --yes --settle 0").assert_failure(2, str![[r#"
error: `[HOME]/state/storefront/snapshots/marketplace%20sandbox%3A[DATABASE]/1/0000xx/000002-[SNAPSHOT].json` is not a snapshot
  hint: name the update to undo; `storefront --sandbox customer history` lists the snapshots
"#]]);
    assert_eq!(home.ok(show), before);
    home.ok("--sandbox customer restore 1 --yes --settle 0");
    assert_ne!(home.ok(show), before);
}

/// The time of day in a hint: `wait until 14:05`.
fn until(hint: &str) -> &str {
    hint.split("until ").nth(1).map_or("", |rest| &rest[..5])
}

#[test]
fn a_change_that_was_set_back_is_marked() {
    let home = Home::new();
    home.ok("--sandbox customer update --address 2 --postcode 10119 --city Albany");
    home.ok("--sandbox customer update --address 1 --city Lyon");
    home.ok("--sandbox customer update --address 2 --postcode 10120");
    let marks = || -> Vec<serde_json::Value> {
        let listed = history(&home, &["-o", "json"]);
        let entry = |line: &str| serde_json::from_str::<Value>(line).unwrap();
        listed.stdout.lines().map(|line| entry(line)["set_back_by"].clone()).collect()
    };
    assert_eq!(marks(), vec![Value::Null; 3]);
    home.ok("--sandbox customer restore 2 --yes");
    let by = |marks: &[Value]| marks.iter().map(|mark| mark.as_str().map(|by| by[..6].to_owned())).collect();
    let found: Vec<Option<String>> = by(&marks());
    assert_eq!(found, [None, None, Some("000004".to_owned()), None]);
    assert!(history(&home, &[]).stdout.contains("Z  applied, set back by 000004-"));
    // Only all of it counts: the city of the first change stays, until it is set back, too.
    home.ok("--sandbox customer update --address 2 --postcode 10118");
    assert_eq!(by(&marks())[..], [None, None, None, Some("000004".to_owned()), None]);
    home.ok("--sandbox customer restore 1 --yes");
    let found: Vec<Option<String>> = by(&marks());
    assert_eq!(found[5], Some("000006".to_owned()));
    // Changed again, it is not what it was before.
    home.ok("--sandbox customer update --address 1 --city Nice");
    assert_eq!(by(&marks())[4], None);
}
