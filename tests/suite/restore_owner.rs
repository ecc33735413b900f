//! Whose update an id means.

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
fn an_id_leads_to_its_customer_whom_a_flag_must_not_contradict() {
    let home = both_changed("magento");
    let refused = home.fails(2, "--sandbox --api magento undo 1 --customer 1 -y");
    assert!(refused.contains("error: write 1 is none to customer 1\n"), "{refused}");
    assert_eq!((city(&home, 1, 2), city(&home, 2, 5)), ("Albany\n".to_owned(), "Nara\n".to_owned()));
    let restored = home.sandbox_ok("magento", "undo 1 -y");
    assert!(restored.stderr.contains("of customer 2 ("), "{restored:?}");
    assert_eq!((&*city(&home, 1, 2), &*city(&home, 2, 5)), ("Albany\n", "千代田区\n"));
    let restored = home.sandbox_ok("magento", "undo LAST -y");
    assert!(restored.stderr.contains("of customer 1 ("), "{restored:?}");
    assert_eq!(city(&home, 1, 2), "New York\n");
    for name in ["7", "000001-20200101T000000Z"] {
        let unknown = home.fails(2, &format!("--sandbox --api magento undo {name} -y"));
        assert!(unknown.contains(&format!("`{name}`")), "{unknown}");
    }
}

/// A batch is one run: its records are named by their numbers.
#[test]
fn a_record_of_a_batch_is_restored_by_its_number() {
    let home = Home::new();
    std::fs::write(
        home.dir.path().join("a.csv"),
        "customer,address_id,city\n1,2,Albany\n2,5,Nara\n1,1,Lyon\n",
    )
    .unwrap();
    home.sandbox_ok("magento", "customer update -i a.csv -y");
    let listed = home.ok("--sandbox --api magento history --customer 1 --jq .write");
    assert_eq!(listed, "1\n");
    home.sandbox_ok("magento", "undo 1:2 --customer 1 -y");
    assert_eq!((&*city(&home, 1, 2), &*city(&home, 1, 1)), ("New York\n", "Lyon\n"));
    home.sandbox_ok("magento", "undo 1:3 --customer 2 -y");
    assert_eq!(city(&home, 2, 5), "千代田区\n");
}

#[test]
fn an_address_that_came_back_is_undone_already() {
    for api in ["marketplace", "magento"] {
        let home = Home::new();
        home.sandbox_ok(api, "customer update --address 1 --city Lyon -y");
        home.sandbox_ok(api, "customer update --remove-address 3 -y");
        home.sandbox_ok(api, "undo LAST -y");
        let again = home.sandbox_ok(api, "undo LAST -y");
        assert!(again.stdout.contains("the profile is as it was before update 2 "), "{again:?}");
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
