//! Which files with customers' data are kept, and for how long.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::support::mock_server::MockServer;
use crate::support::raw_http::CUSTOMER;
use crate::support::scripted::{methods, ok, profile, run};
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

/// Lets a minute go by since the last read of each customer.
fn age_reads(home: &Home) {
    let reads = files_below(&home.state().join("snapshots"));
    for file in reads.into_iter().filter(|file| file.ends_with("last-read")) {
        let mut read: serde_json::Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
        read["at"] = (jiff::Timestamp::now() - jiff::SignedDuration::from_secs(61)).to_string().into();
        std::fs::write(file, read.to_string()).unwrap();
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
    age_reads(&home);
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

/// An address that a read of the last minute showed is not lost by a PUT that is made from an older read.
#[test]
fn the_last_read_outlives_every_look_for_what_is_too_old() {
    let lyon = |city: &str| {
        let addresses = json!([{"id": 1, "city": city}, {"id": 2}, {"id": 3, "city": "Lyon"}]);
        profile(json!({"addresses": addresses}))
    };
    let rome = "customer update --address 1 --city Rome --yes --settle 0";
    let older_than = |age: &str| format!("customer history --older-than {age} --yes --profile shop");
    for look in [None, Some(older_than("30d")), Some(older_than("0d"))] {
        // Somebody else adds an address, a read shows it, and the next one comes from a replica that is behind.
        let script = vec![ok(&lyon("Paris")), ok(&profile(json!({})))];
        let server = MockServer::start(script);
        let home = Home::with_config(&format!(
            "[profiles.shop]\nbase-url = {:?}\nstore-view = \"default\"\n",
            server.url("")
        ));
        let shown = run(&home, &server.url(""), "customer update --address 1 --city Paris --yes");
        assert_eq!(shown.done()["reason"], "unchanged");
        if let Some(line) = &look {
            home.ok(line);
        } else {
            looked(&home, 2);
            let written = run(&home, &server.url(""), "attribute create --code c --label C --type text");
            assert_eq!(written.code, 0, "{written:?}");
        }
        let refused = run(&home, &server.url(""), rome);
        assert_eq!(refused.code, 3, "{look:?}: {refused:?}");
        assert!(refused.stderr.contains("address 3 is missing"), "{look:?}: {refused:?}");
        assert!(!methods(&server).contains(&"PUT".to_owned()), "{look:?}");
    }
}

/// What became of an update of the last minutes may have been found out later than it was sent.
#[test]
fn writes_of_the_last_ten_minutes_stay_whatever_the_flags() {
    let home = Home::new();
    let ago = |minutes: i64| (jiff::Timestamp::now() - jiff::SignedDuration::from_mins(minutes)).to_string();
    for (postcode, outcome, stays) in [
        (10001, json!({"outcome": "applied", "at": ago(9), "verified": true}), true),
        (10002, json!({"outcome": "partial", "at": ago(9)}), true),
        (10003, json!({"outcome": "applied", "at": ago(11), "verified": true}), false),
        (10004, json!({"outcome": "partial", "at": ago(11)}), false),
    ] {
        home.ok(&format!("{UPDATE} {postcode}"));
        let old = age(&snapshots(&home).pop().unwrap(), &outcome);
        home.ok("--sandbox customer history --older-than 0d --yes");
        assert_eq!((old.exists(), old.with_extension("outcome").exists()), (stays, stays), "{outcome}");
    }
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
