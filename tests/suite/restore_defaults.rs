//! What `undo` does to the default addresses.

use serde_json::Value;
use snapbox::str;

use crate::support::snapshot::assert_snapshot;
use crate::support::storefront::Home;

const INTERFACES: [&str; 2] = ["marketplace", "magento"];

/// The ids of the addresses that are the default for billing by their flag, and the one that the profile names.
fn billing(home: &Home, api: &str) -> (Vec<i64>, Option<i64>) {
    let shown = home.sandbox_ok(api, "customer show -o json").stdout;
    let profile: Value = serde_json::from_str(&shown).unwrap();
    let flagged = profile["addresses"].as_array().unwrap().iter();
    let flagged = flagged.filter(|one| one["default_billing"] == true).filter_map(|one| one["id"].as_i64());
    let own = profile.get("default_billing").and_then(|id| id.as_str()?.parse().ok());
    (flagged.collect(), own)
}

#[test]
fn a_removed_default_comes_back_with_its_default_where_no_other_address_got_it() {
    for api in INTERFACES {
        let home = Home::new();
        home.sandbox_ok(api, "customer update --remove-address 1 --yes");
        assert_eq!(billing(&home, api), (vec![], None), "{api}");
        // The marketplace has no ID for the top of the profile yet.
        assert_eq!(home.sandbox(api, "undo LAST --yes").code, if api == "magento" { 0 } else { 7 }, "{api}");
        let (flagged, own) = billing(&home, api);
        assert!(flagged.len() == 1 && flagged[0] > 4, "{api}: {flagged:?}");
        assert_eq!(own, (api == "magento").then_some(flagged[0]), "{api}");
    }
}

#[test]
fn a_default_that_was_given_to_another_address_since_stays_there() {
    for api in INTERFACES {
        let home = Home::new();
        home.sandbox_ok(api, "customer update --remove-address 1 --yes");
        home.sandbox_ok(api, "customer update --address 3 --default-billing");
        let before = billing(&home, api);
        let restored = home.sandbox(api, "undo 1 --yes");
        assert_eq!(restored.code, 7, "{api}: {restored:?}");
        let warnings = restored.stderr.lines().filter(|line| line.starts_with("warning"));
        let warnings = warnings.collect::<Vec<_>>().join("\n");
        assert_snapshot(
            &warnings,
            str![[r#"
warning: address 1 will be recreated with a new ID
warning: default_billing is not as it was written; left as is
"#]],
        );
        assert_eq!(billing(&home, api), before, "{api}");
        assert_eq!(before.0, [3], "{api}");
    }
}

#[test]
fn a_default_that_the_update_moved_goes_back_unless_it_was_moved_again() {
    for api in INTERFACES {
        let home = Home::new();
        home.sandbox_ok(api, "customer update --remove-address 1 --address 3 --default-billing --yes");
        assert_eq!(home.sandbox(api, "undo LAST --yes").code, if api == "magento" { 0 } else { 7 }, "{api}");
        let (flagged, _) = billing(&home, api);
        assert!(flagged.len() == 1 && flagged[0] > 4, "{api}: {flagged:?}");
        let home = Home::new();
        for id in [3, 4] {
            home.sandbox_ok(api, &format!("customer update --address {id} --default-billing"));
        }
        let restored = home.sandbox(api, "undo 1 --yes -o json");
        assert_eq!(restored.code, 3, "{api}: {restored:?}");
        assert!(
            restored.stderr.contains("default_billing is not as it was written; left as is"),
            "{api}: {restored:?}"
        );
        assert_eq!(billing(&home, api).0, [4], "{api}");
        home.sandbox_ok(api, "undo 2 --yes");
        assert_eq!(billing(&home, api).0, [3], "{api}");
    }
}
