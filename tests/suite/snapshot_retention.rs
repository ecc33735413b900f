//! Which files with customers' data are kept, and for how long.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::support::raw_http::CUSTOMER;
use crate::support::storefront::Home;
use crate::support::test_env::{TestEnv, files_below, forget_removals, snapshots};

const UPDATE: &str = "--sandbox customer update --address 2 --yes --postcode";

/// Gives a snapshot a name that says it was taken long ago, with this outcome.
fn age(snapshot: &Path, outcome: &serde_json::Value) -> PathBuf {
    let name = snapshot.file_name().unwrap().to_str().unwrap();
    let old = snapshot.with_file_name(format!("{}-20200101T000000Z.json", &name[..6]));
    let mut text: serde_json::Value = serde_json::from_slice(&std::fs::read(snapshot).unwrap()).unwrap();
    text["taken"] = "2020-01-01T00:00:00Z".into();
    std::fs::write(&old, text.to_string()).unwrap();
    std::fs::remove_file(snapshot).unwrap();
    std::fs::remove_file(snapshot.with_extension("outcome")).unwrap();
    std::fs::write(old.with_extension("outcome"), outcome.to_string()).unwrap();
    old
}

/// Says that it was looked so many days ago for what is too old, at every service.
fn looked(home: &Home, days: i64) {
    let at = jiff::Timestamp::now() - jiff::SignedDuration::from_hours(24 * days);
    for file in files_below(&home.state().join("retention")) {
        let mut look: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        look["at"] = at.to_string().into();
        std::fs::write(file, look.to_string()).unwrap();
    }
}

fn old_outcome() -> serde_json::Value {
    json!({"outcome": "applied", "at": "2020-01-01T00:00:00Z", "verified": true})
}

/// It is looked once a day, by any command that writes.
#[test]
fn old_snapshots_of_every_customer_go_whatever_their_number() {
    let home = Home::new();
    let old: Vec<PathBuf> = ["1", "2"]
        .iter()
        .map(|customer| {
            let named = format!("--customer {customer} --gender 3");
            home.ok(&format!("--sandbox --api magento customer update {named} --yes"));
            age(&snapshots(&home).pop().unwrap(), &old_outcome())
        })
        .collect();
    let write = "--sandbox attribute create --code c{} --label C --type text";
    home.ok(&write.replace("{}", "1"));
    assert!(old.iter().all(|file| file.exists()), "it was looked a moment ago");
    looked(&home, 2);
    home.ok(&write.replace("{}", "2"));
    let left = files_below(&home.state().join("snapshots"));
    assert!(left.iter().all(|file| std::fs::read(file).unwrap().is_empty()), "{left:?}");
    assert_eq!(home.ok("--sandbox --api magento customer history -o json"), "");
    // No number is given twice.
    home.ok("--sandbox --api magento customer update --customer 2 --gender 1 --yes");
    assert!(snapshots(&home)[0].to_string_lossy().contains("000002-"), "{:?}", snapshots(&home));
}

#[test]
fn what_is_open_or_of_the_last_minutes_stays() {
    let home = Home::new();
    let long_ago = "2020-01-01T00:00:00Z";
    let now = jiff::Timestamp::now().to_string();
    for (postcode, outcome, stays) in [
        ("1", old_outcome(), false),
        ("2", json!({"outcome": "refused"}), false),
        ("3", json!({"outcome": "unknown", "sent_at": long_ago}), true),
        ("4", json!({"outcome": "mismatch", "sent_at": long_ago, "is_final": true}), true),
        ("5", json!({"outcome": "applied", "at": now, "verified": true}), true),
    ] {
        home.ok(&format!("{UPDATE} 1011{postcode} --after-unknown"));
        let old = age(&snapshots(&home).pop().unwrap(), &outcome);
        looked(&home, 2);
        home.ok(&format!("{UPDATE} 2011{postcode} --after-unknown"));
        assert_eq!((old.exists(), old.with_extension("outcome").exists()), (stays, stays), "{outcome}");
    }
    let listed = home.ok("--sandbox customer history --jq .snapshot");
    assert_eq!(listed.lines().count(), 8, "{listed}");
    // Those that stay are told.
    let told = home.run("--sandbox doctor -o json");
    let checks: serde_json::Value = serde_json::from_str(&told.stdout).unwrap();
    let history =
        checks["checks"].as_array().unwrap().iter().find(|check| check["check"] == "history").unwrap();
    assert_eq!(history["status"], "warning");
    let detail = history["detail"].as_str().unwrap();
    assert!(detail.contains("customer 1: 000007-") && detail.contains(", 000005-"), "{detail}");
}

/// Whatever the clock says, no more than a day has passed since the last command.
#[test]
fn a_clock_that_is_set_years_ahead_removes_nothing() {
    let home = Home::new();
    home.ok(&format!("{UPDATE} 10119"));
    let old = age(&snapshots(&home)[0], &old_outcome());
    // To the snapshot it is as if the clock were ahead.
    looked(&home, 10_000);
    home.ok(&format!("{UPDATE} 10120"));
    assert!(old.exists());
    home.ok(&format!("{UPDATE} 10121"));
    assert!(old.exists(), "it was looked a moment ago");
    looked(&home, 1);
    home.ok(&format!("{UPDATE} 10122"));
    assert!(!old.exists());
}

/// With `retention-days = 0` they go with the next command, as soon as nothing needs them.
#[test]
fn nothing_is_kept_with_zero_days_but_the_last_minutes() {
    let env = TestEnv::new();
    let config = format!(
        "[profiles.p]\nbase-url = \"{}\"\nstore-view = \"default\"\nretention-days = 0\ntoken = \"{CUSTOMER}\"\n",
        env.url()
    );
    env.home.write("config.toml", config, 0o600);
    let update = |postcode: u32| {
        env.home.ok(&format!("-p p customer update --address 2 --yes --postcode {postcode}"));
    };
    update(10119);
    let first = snapshots(&env.home).remove(0);
    update(10120);
    assert!(first.exists(), "reads of the next minute are compared with it");
    let old = age(&first, &old_outcome());
    update(10121);
    assert!(!old.exists() && snapshots(&env.home).len() == 2);
}

/// What a killed command left has whole profiles.
#[test]
fn a_half_written_file_goes_with_the_next_update_and_with_a_deletion() {
    let home = Home::new();
    home.ok(&format!("{UPDATE} 10119"));
    let leftover = snapshots(&home)[0].with_file_name(".tmpAbC123");
    let private = |file: &Path| std::fs::read_to_string(file).unwrap_or_default().contains("street");
    for command in
        [format!("{UPDATE} 10120"), "--sandbox customer history --customer 1 --delete 1 --yes".to_owned()]
    {
        std::fs::write(&leftover, "{\"street\": [\"half a prof").unwrap();
        home.ok(&command);
        assert!(!leftover.exists(), "{command}");
    }
    // What the last read showed is there without a snapshot, too.
    let leftover = leftover.ancestors().nth(2).unwrap().join(".tmpAbC123");
    for _ in 0..2 {
        forget_removals(&home);
        home.ok("--sandbox customer update --address 2 --yes --postcode 10120");
        std::fs::write(&leftover, "{\"street\": [\"half a prof").unwrap();
        home.ok("--sandbox customer history --delete all --yes");
        let left = files_below(&home.state().join("snapshots"));
        assert!(!left.iter().any(|file| private(file)), "{left:?}");
    }
}

/// A snapshot is deleted only after the update that made it too old went through.
#[test]
fn a_refused_restore_deletes_no_snapshot() {
    let home = Home::new();
    home.ok(&format!("{UPDATE} 10119"));
    let old = age(&snapshots(&home)[0], &old_outcome());
    looked(&home, 2);
    let restore = "--sandbox customer restore 1 --yes --retry 0";
    assert_ne!(home.run(&format!("{restore} --fault PUT:400")).code, 0);
    assert!(old.exists());
    home.ok(restore);
    assert!(!old.exists());
}

#[test]
fn a_number_is_a_snapshot_also_beside_a_file_of_that_name() {
    let home = Home::new();
    home.ok(&format!("{UPDATE} 10119"));
    std::fs::write(home.dir.path().join("1"), "{}").unwrap();
    home.ok("--sandbox customer restore 1 --yes");
    assert_eq!(home.ok("--sandbox customer show --jq .addresses[1].postcode"), "10118\n");
    let file = home.dir.path().join("copy");
    std::fs::copy(&snapshots(&home)[0], &file).unwrap();
    let again = home.run("--sandbox customer restore copy --yes");
    assert_eq!(again.code, 0, "{again:?}");
}
