//! Whose snapshot a number or a name means: each customer has its own numbers.

use serde_json::Value;

use crate::support::storefront::Home;

/// A home in which customer 1, whose the token is, and customer 2 were changed once each.
fn both_changed(api: &str) -> Home {
    let home = Home::new();
    home.sandbox_ok(api, "customer update --customer 2 --address 5 --city Nara -y");
    home.sandbox_ok(api, "customer update --address 2 --city Albany -y");
    home
}

fn city(home: &Home, customer: u64, address: u64) -> String {
    let filter = format!(".addresses[]|select(.id=={address}).city");
    home.ok(&format!("--sandbox --api magento customer show --customer {customer} --jq '{filter}'"))
}

#[test]
fn a_number_that_several_customers_have_is_refused_with_a_command_for_each() {
    let home = both_changed("magento");
    for flags in ["", " -n", " -y"] {
        for name in ["1", "000001", "0000"] {
            let refused = home.fails(2, &format!("--sandbox --api magento customer restore {name}{flags}"));
            assert!(
                refused.contains(&format!("error: `{name}` names snapshots of customers 1 and 2\n")),
                "{refused}"
            );
            for customer in [1, 2] {
                let command = format!(
                    "`storefront --sandbox --api magento customer restore {name}{flags} --customer {customer}`"
                );
                assert!(
                    refused.contains(&command.replace(" -y", " --yes").replace(" -n", " --dry-run")),
                    "{refused}"
                );
            }
        }
    }
    assert_eq!((city(&home, 1, 2), city(&home, 2, 5)), ("Albany\n".to_owned(), "Nara\n".to_owned()));
    let restored = home.sandbox_ok("magento", "customer restore 000001 --customer 2 -y");
    assert!(restored.stderr.contains("of customer 2 ("), "{restored:?}");
    assert_eq!((&*city(&home, 1, 2), &*city(&home, 2, 5)), ("Albany\n", "千代田区\n"));
    // Without a name it is the last update of the token's own.
    let restored = home.sandbox_ok("magento", "customer restore -y");
    assert!(restored.stderr.contains("of customer 1 ("), "{restored:?}");
    assert_eq!(city(&home, 1, 2), "New York\n");
}

#[test]
fn a_snapshot_that_only_another_customer_has_is_named_with_that_customer() {
    let home = Home::new();
    home.sandbox_ok("magento", "customer update --customer 2 --address 5 --city Nara -y");
    let refused = home.fails(2, "--sandbox --api magento customer restore 000001");
    assert!(refused.contains("error: `000001` names a snapshot of customer 2"), "{refused}");
    assert!(refused.contains("customer restore 000001 --customer 2`"), "{refused}");
    let unknown = home.fails(2, "--sandbox --api magento customer restore 000007");
    assert!(unknown.contains("no snapshot named `000007`"), "{unknown}");
}

#[test]
fn a_whole_name_that_one_customer_has_is_enough() {
    let home = both_changed("magento");
    let own = home.ok("--sandbox --api magento customer history --customer 1 --jq .snapshot");
    let other = home.ok("--sandbox --api magento customer history --customer 2 --jq .snapshot");
    let file = home.ok("--sandbox --api magento customer history --customer 1 --jq .file");
    let restored = home.sandbox("magento", &format!("customer restore {} -n", own.trim()));
    assert_eq!(restored.code, if own == other { 2 } else { 0 }, "{restored:?}");
    home.sandbox_ok("magento", &format!("customer restore {} -n", file.trim()));
}

/// What is deleted cannot be brought back.
#[test]
fn a_deletion_is_as_careful_as_a_restore() {
    let home = both_changed("magento");
    let refused = home.fails(2, "--sandbox --api magento customer history --delete 1 --yes");
    assert!(refused.contains("error: `1` names snapshots of customers 1 and 2\n"), "{refused}");
    assert!(refused.contains("customer history --delete 1 --yes --customer 2`"), "{refused}");
    let left = home.ok("--sandbox --api magento customer history --jq .customer");
    assert_eq!(left.lines().count(), 2, "{left}");
    home.ok("--sandbox --api magento customer history --delete 1 --customer 2 --yes");
    let left: Value =
        serde_json::from_str(&home.ok("--sandbox --api magento customer history -o json")).unwrap();
    assert_eq!(left["customer"], "1");
}

#[test]
fn an_address_that_came_back_is_undone_already() {
    for api in ["marketplace", "magento"] {
        let home = Home::new();
        home.sandbox_ok(api, "customer update --address 1 --city Lyon -y");
        home.sandbox_ok(api, "customer update --remove-address 3 -y");
        home.sandbox_ok(api, "customer restore -y");
        let again = home.sandbox_ok(api, "customer restore -y");
        assert!(again.stdout.contains("already as it was before 000002-"), "{again:?}");
        assert!(again.stdout.contains("to undo the update before it, run `storefront"), "{again:?}");
    }
}

#[test]
fn more_street_lines_than_most_shops_accept_are_warned_about() {
    let home = Home::new();
    let told = "most shops accept 2 street lines only";
    for (flags, is_told) in [
        ("--address 2 --street a --street b --street c", true),
        ("--address 2 --street a --street b", false),
        ("--add-address --street a --street b --street c --city Bonn --country DE --no-input", true),
        ("--address 2 --city Bonn", false),
    ] {
        let warned = home.sandbox_ok("marketplace", &format!("customer update {flags} -n")).stderr;
        assert_eq!(warned.contains(told), is_told, "{flags}: {warned}");
    }
    let record = r#"{"addresses": [{"id": 2, "street": ["a", "b", "c"]}]}"#;
    std::fs::write(home.dir.path().join("many.ndjson"), format!("{record}\n")).unwrap();
    let checked = home.sandbox("marketplace", "customer update --input many.ndjson -n");
    assert!(checked.stderr.contains(told), "{checked:?}");
}
