//! The addresses that `customer update` adds, removes or replaces, and those it does not find.

use serde_json::{Value, json};
use snapbox::str;

use crate::support::raw_http::ids;
use crate::support::test_env::TestEnv;

#[test]
fn an_added_address_comes_last() {
    let env = TestEnv::new();
    let result =
        env.done("customer update --add-address --city Lyon --country FR --region-id 257 --no-input");
    assert_eq!(result["addresses"], json!({"kept": [1, 2, 3, 4], "changed": [], "added": 1, "removed": []}));
    assert_eq!(result["changes"][0]["path"], "addresses[new]");
    let profile = env.profile();
    assert_eq!(ids(&profile)[..4], [1, 2, 3, 4]);
    let added = &profile["addresses"][4];
    assert_eq!(
        (&added["city"], &added["region_id"], &added["region"]["region_id"]),
        (&json!("Lyon"), &json!(257), &json!(257))
    );
}

#[test]
fn removing_a_default_address_clears_the_default() {
    let env = TestEnv::new();
    let outcome = env.run("customer update --remove-address 1 3 --yes -q -o json");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(
        outcome.stderr,
        "{\"warning\":{\"message\":\"default_billing cleared: it pointed to removed address 1\"}}\n"
    );
    let result: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(result["addresses"], json!({"kept": [2, 4], "changed": [], "added": 0, "removed": [1, 3]}));
    let profile = env.profile();
    assert_eq!(
        (ids(&profile), &profile["default_billing"], &profile["default_shipping"]),
        (vec![2, 4], &Value::Null, &json!("2"))
    );
}

#[test]
fn replacing_the_list_requires_the_exact_number_of_deletions() {
    let env = TestEnv::new();
    env.file("list.json", r#"{"addresses": [{"id": 2, "city": "Troy"}, {"city": "Nice"}]}"#);
    for (flags, stderr) in [
        (
            "",
            str![[r#"
error: this would delete 3 addresses: 1, 3 and 4
  No changes were made.
  hint: to proceed, add --allow-delete 3
"#]],
        ),
        (
            "--yes",
            str![[r#"
error: this would delete 3 addresses: 1, 3 and 4
  No changes were made.
  hint: to proceed, add --allow-delete 3
"#]],
        ),
        (
            "--allow-delete 2",
            str![[r#"
error: this would delete 3 addresses: 1, 3 and 4, but --allow-delete is 2
  No changes were made.
  hint: to proceed, add --allow-delete 3
"#]],
        ),
        (
            "--allow-delete 4 -y",
            str![[r#"
error: this would delete 3 addresses: 1, 3 and 4, but --allow-delete is 4
  No changes were made.
  hint: to proceed, add --allow-delete 3
"#]],
        ),
        (
            "--dry-run",
            str![[r#"
error: this would delete 3 addresses: 1, 3 and 4
  hint: to proceed, add --allow-delete 3
"#]],
        ),
    ] {
        env.run(&format!("customer update -i list.json --replace-addresses {flags}"))
            .assert_failure(3, stderr);
    }
    assert!(env.requests().iter().all(|heard| heard == "GET 200"));
    assert!(env.snapshots().is_empty());
    let outcome = env.run("customer update -i list.json --replace-addresses --allow-delete 3 -q -o json");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let result: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let changed = result["changes"].as_array().unwrap().iter().map(|change| change["path"].as_str().unwrap());
    assert_eq!(
        changed.collect::<Vec<_>>(),
        ["addresses[id=2].city", "addresses[new]", "addresses[id=1]", "addresses[id=3]", "addresses[id=4]"]
    );
    let profile = env.profile();
    assert_eq!(
        (profile["addresses"].as_array().unwrap().len(), &profile["addresses"][1]["city"]),
        (2, &json!("Nice"))
    );
    assert_eq!(profile["default_billing"], Value::Null);
    env.run("customer update --replace-addresses --email a@example.com").assert_failure(
        2,
        str![[r#"
error: --replace-addresses requires an address list
  No changes were made.
  hint: pass it with --input
"#]],
    );
}

#[test]
fn unknown_and_duplicate_ids_are_refused() {
    let env = TestEnv::new();
    for (code, line, stderr) in [
        (
            3,
            "--address 99 --city X",
            str![[r#"
error: no address 99 (the profile has 1, 2, 3 and 4)
  No changes were made.
  hint: list the addresses with `storefront customer show`, or add one with --add-address
"#]],
        ),
        (
            3,
            "--remove-address 5",
            str![[r#"
error: no address 5 (the profile has 1, 2, 3 and 4)
  No changes were made.
  hint: list the addresses with `storefront customer show`, or add one with --add-address
"#]],
        ),
        (
            2,
            "--remove-address 2 --address 2 --city X",
            str![[r#"
error: duplicate address ID 2
  No changes were made.
  hint: list the address once, and do not name it in --remove-address as well
"#]],
        ),
        (
            2,
            "--city X",
            str![[r#"
error: address fields given without an address
  No changes were made.
  hint: use --address ID or --add-address; `storefront customer show` lists the IDs
"#]],
        ),
        (
            2,
            "--address 2",
            str![[r#"
error: no address field given
  No changes were made.
  hint: set at least one, e.g. --street or --city
"#]],
        ),
        (
            2,
            "--add-address",
            str![[r#"
error: no address field given
  No changes were made.
  hint: set at least one, e.g. --street or --city
"#]],
        ),
        (
            2,
            "",
            str![[r#"
error: nothing to change
  No changes were made.
  hint: name what to change, such as `--address ID --city CITY`; `storefront customer show` lists the IDs
"#]],
        ),
        (
            2,
            "--yes",
            str![[r#"
error: nothing to change
  No changes were made.
  hint: name what to change, such as `--address ID --city CITY`; `storefront customer show` lists the IDs
"#]],
        ),
        (
            2,
            "--address 2 --add-address --city X",
            str![[r#"
error: the argument '--address <ID>' cannot be used with '--add-address'

Usage: storefront customer update --address <ID> --city <TEXT>

For more information, try '--help'.
"#]],
        ),
        (
            2,
            "--address 2 --no-region --region X",
            str![[r#"
error: the argument '--no-region' cannot be used with '--region <TEXT>'

Usage: storefront customer update --address <ID> --no-region

For more information, try '--help'.
"#]],
        ),
        (
            2,
            "--remove-address 1 --replace-addresses",
            str![[r#"
error: the argument '--remove-address <ID>...' cannot be used with '--replace-addresses'

Usage: storefront customer update --remove-address <ID>...

For more information, try '--help'.
"#]],
        ),
        (
            2,
            "--address two --city X",
            str![[r#"
error: invalid value 'two' for '--address <ID>': invalid digit found in string

For more information, try '--help'.
"#]],
        ),
        (
            2,
            "--gender male",
            str![[r#"
error: invalid value 'male' for '--gender <N>': expected an integer

For more information, try '--help'.
"#]],
        ),
    ] {
        env.run(&format!("customer update {line}")).assert_failure(code, stderr);
    }
    assert!(env.requests().iter().all(|heard| heard == "GET 200"), "nothing was written");
}

#[test]
fn a_name_that_was_meant_for_the_new_address_is_a_warning() {
    let add =
        "customer update --add-address --city Lyon --country FR --region-id 257 --firstname Ann -q --dry-run";
    let warning = "this changes the customer's own firstname, and the new address has none: its flag is --address-firstname";
    for (line, is_warned) in [(add.to_owned(), true), (format!("{add} --address-firstname Bo"), false)] {
        let outcome = TestEnv::new().run(&line);
        assert_eq!((outcome.code, outcome.stderr.contains(warning)), (0, is_warned), "{outcome:?}");
    }
}
