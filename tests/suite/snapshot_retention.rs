//! Which files with customers' data are kept, and for how long.

use std::path::{Path, PathBuf};

use serde_json::json;

use crate::support::storefront::Home;
use crate::support::test_env::{files_below, snapshots};

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

#[test]
fn old_snapshots_go_with_the_next_update_whatever_their_number() {
    let home = Home::new();
    let long_ago = "2020-01-01T00:00:00Z";
    let now = jiff::Timestamp::now().to_string();
    for (postcode, outcome, stays) in [
        ("1", json!({"outcome": "applied", "at": long_ago, "verified": true}), false),
        ("2", json!({"outcome": "refused"}), false),
        ("3", json!({"outcome": "unknown", "sent_at": long_ago}), true),
        ("4", json!({"outcome": "mismatch", "sent_at": long_ago, "is_final": true}), true),
        ("5", json!({"outcome": "applied", "at": now, "verified": true}), true),
    ] {
        home.ok(&format!("{UPDATE} 1011{postcode} --after-unknown"));
        let old = age(&snapshots(&home).pop().unwrap(), &outcome);
        home.ok(&format!("{UPDATE} 2011{postcode} --after-unknown"));
        assert_eq!((old.exists(), old.with_extension("outcome").exists()), (stays, stays), "{outcome}");
    }
    let listed = home.ok("--sandbox customer history --jq .snapshot");
    assert_eq!(listed.lines().count(), 8, "{listed}");
}

/// What a killed command left has whole profiles.
#[test]
fn a_half_written_file_goes_with_the_next_update_and_with_a_deletion() {
    let home = Home::new();
    home.ok(&format!("{UPDATE} 10119"));
    let leftover = snapshots(&home)[0].with_file_name(".tmpAbC123");
    let private = |file: &Path| std::fs::read_to_string(file).unwrap_or_default().contains("street");
    for command in [format!("{UPDATE} 10120"), "--sandbox customer history --delete 1 --yes".to_owned()] {
        std::fs::write(&leftover, "{\"street\": [\"half a prof").unwrap();
        home.ok(&command);
        assert!(!leftover.exists(), "{command}");
    }
    for _ in 0..2 {
        // What the last read showed is there without a snapshot, too.
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
    let old = age(
        &snapshots(&home)[0],
        &json!({"outcome": "applied", "at": "2020-01-01T00:00:00Z", "verified": true}),
    );
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
