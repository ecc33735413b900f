//! `customer update`: what is named changes, everything else stays.

use serde_json::{Value, json};
use snapbox::str;

use crate::support::test_env::TestEnv;

/// The stored profile without what the service itself keeps up.
fn settled(mut profile: Value) -> Value {
    profile.as_object_mut().unwrap().shift_remove("updated_at");
    profile
}

/// The addresses of a stored profile.
fn list(profile: &mut Value) -> &mut Vec<Value> {
    profile["addresses"].as_array_mut().unwrap()
}

fn ids(profile: &Value) -> Vec<i64> {
    crate::support::raw_http::ids(profile)
}

#[test]
fn every_flag_sets_its_member_and_nothing_else_changes() {
    let env = TestEnv::new();
    let mut expected = settled(env.profile());
    env.done(
        "customer update --firstname Ann --lastname Lee --email ann@example.com --gender 1 --group-id 4 --store-id 2 \
         --website-id 3 --disable-auto-group-change 1 --address 2 --address-firstname Bo --address-lastname Li \
         --street '1 Main St' 'Floor 2' --city Cambridge --postcode K1A0B1 --country CA --region Quebec \
         --region-code QC --region-id 76 --telephone '+1 617 495 1000' --custom-attribute door=7 gate=a=b",
    );
    for (name, value) in json!({
        "firstname": "Ann", "lastname": "Lee", "email": "ann@example.com", "gender": 1, "group_id": 4, "store_id": 2,
        "website_id": 3, "disable_auto_group_change": 1,
    })
    .as_object()
    .unwrap()
    {
        expected[name] = value.clone();
    }
    for (name, value) in json!({
        "firstname": "Bo", "lastname": "Li", "street": ["1 Main St", "Floor 2"], "city": "Cambridge",
        "postcode": "K1A0B1", "country_id": "CA", "region_id": 76, "telephone": "+1 617 495 1000",
        "region": {"region_code": "QC", "region": "Quebec", "region_id": 76},
        "custom_attributes": [{"attribute_code": "door", "value": "7"}, {"attribute_code": "gate", "value": "a=b"}],
    })
    .as_object()
    .unwrap()
    {
        list(&mut expected)[1][name] = value.clone();
    }
    assert_eq!(settled(env.profile()), expected);
}

#[test]
fn the_put_sends_every_stored_field_unchanged() {
    let env = TestEnv::new();
    let before = env.profile();
    let result = env.done("customer update --address 4 --city Potsdam --dry-run");
    let body = &result["request"]["body"]["customer"];
    let mut expected = before.clone();
    list(&mut expected)[3]["city"] = "Potsdam".into();
    assert_eq!(body.to_string(), expected.to_string());
    for exact in ["12345678901234567890", "40.748400", "-73.985700"] {
        assert!(body.to_string().contains(exact), "{exact}: {body}");
    }
    assert_eq!(env.requests(), ["GET 200"]);
}

#[test]
fn a_change_is_reported_as_documented() {
    let env = TestEnv::new();
    let outcome = env.run("customer update -o json -q --address 2 --postcode 10119");
    let mut result = outcome.done();
    let snapshot = result["snapshot"].take();
    let response = result["response"].take();
    assert_eq!(
        outcome.stdout.lines().next().unwrap().split("\"response\"").next().unwrap(),
        "{\"operation\":\"customer update\",\"applied\":\"yes\",\"verified\":true,\"status\":200,\
         \"changes\":[{\"path\":\"addresses[id=2].postcode\",\"before\":\"10118\",\"after\":\"10119\"}],\
         \"addresses\":{\"kept\":[1,3,4],\"changed\":[2],\"added\":0,\"removed\":[]},"
    );
    let members: Vec<&String> = result.as_object().unwrap().keys().collect();
    assert_eq!(
        members,
        ["operation", "applied", "verified", "status", "changes", "addresses", "response", "snapshot"]
    );
    assert_eq!(response, env.profile());
    assert_eq!(snapshot, env.snapshots()[0].display().to_string());
    assert_eq!(env.requests(), ["GET 200", "GET 200", "PUT 200", "GET 200"]);
}

#[test]
fn input_with_or_without_its_wrapper_is_overridden_by_flags() {
    let env = TestEnv::new();
    let bare = r#"{"email": "in@example.com", "addresses": [{"id": 2, "city": "Albany", "postcode": "12207"},
        {"city": "Nice", "country_id": "FR"}]}"#;
    let line = [
        "customer",
        "update",
        "-i",
        "-",
        "--email",
        "flag@example.com",
        "--address",
        "2",
        "--city",
        "Troy",
        "-q",
    ];
    let outcome = env.storefront(&[&line[..], &["-o", "json"]].concat()).stdin(bare).run().done();
    assert_eq!(outcome["addresses"], json!({"kept": [1, 3, 4], "changed": [2], "added": 1, "removed": []}));
    let profile = env.profile();
    assert_eq!(profile["email"], "flag@example.com");
    assert_eq!(
        (&profile["addresses"][1]["city"], &profile["addresses"][1]["postcode"]),
        (&json!("Troy"), &json!("12207"))
    );
    assert_eq!(profile["addresses"][4]["city"], "Nice");
    env.file("wrapped.json", "\u{feff}{\"customer\": {\"gender\": 3}}");
    env.done("customer update -i wrapped.json");
    assert_eq!(env.profile()["gender"], 3);
}

#[test]
fn unknown_fields_and_wrong_types_are_refused_before_anything_is_sent() {
    let env = TestEnv::new();
    for (input, stderr) in [
        (
            r#"{"customer": {"addresses": [{"id": 1}, {"id": 2, "postcod": "1"}]}}"#,
            str![[r#"
error: customer.addresses[1].postcod: unknown field; did you mean `postcode`?
  No changes were made.
  hint: fix the input, or send unknown fields unchanged with --allow-unknown
"#]],
        ),
        (
            r#"{"emial": "a"}"#,
            str![[r#"
error: customer.emial: unknown field; did you mean `email`?
  No changes were made.
  hint: fix the input, or send unknown fields unchanged with --allow-unknown
"#]],
        ),
        (
            r#"{"customer": {"email": 1}}"#,
            str![[r#"
error: customer.email: expected a string, found the number 1
  No changes were made.
  hint: fix the input and run it again
"#]],
        ),
        (
            r#"{"customer": {"gender": "1"}}"#,
            str![[r#"
error: customer.gender: expected an integer, found the string "1"
  No changes were made.
  hint: fix the input and run it again
"#]],
        ),
        (
            r#"{"addresses": {"id": 1}}"#,
            str![[r#"
error: customer.addresses: expected an array of objects, found an object
  No changes were made.
  hint: fix the input and run it again
"#]],
        ),
        (
            r#"{"addresses": [{"id": 1, "street": "1 Main St"}]}"#,
            str![[r#"
error: customer.addresses[0].street: expected an array of strings, found the string "1 Main St"
  No changes were made.
  hint: fix the input and run it again
"#]],
        ),
        (
            r#"{"addresses": [{"id": 1, "street": [null]}]}"#,
            str![[r#"
error: customer.addresses[0].street[0]: expected a string, found null
  No changes were made.
  hint: fix the input and run it again
"#]],
        ),
        (
            r#"{"addresses": [{"id": 1, "region": "Berlin"}]}"#,
            str![[r#"
error: customer.addresses[0].region: expected an object, found the string "Berlin"
  No changes were made.
  hint: fix the input and run it again
"#]],
        ),
        (
            r#"{"addresses": [{"id": 1, "custom_attributes": [{"code": "a"}]}]}"#,
            str![[r#"
error: customer.addresses[0].custom_attributes[0].code: unknown field
  No changes were made.
  hint: fix the input, or send unknown fields unchanged with --allow-unknown
"#]],
        ),
        (
            r#"{"addresses": null}"#,
            str![[r#"
error: customer.addresses: expected an array of objects, found null
  No changes were made.
  hint: fix the input and run it again
"#]],
        ),
        (
            r#"{"customer": []}"#,
            str![[r#"
error: customer: expected an object, found an array
  No changes were made.
  hint: fix the input and run it again
"#]],
        ),
        (
            "[",
            str![[r#"
error: `in.json` is not a JSON array: line 1: unexpected end of input in array
  No changes were made.
"#]],
        ),
        (
            " ",
            str![[r#"
error: `in.json` is empty
  No changes were made.
"#]],
        ),
    ] {
        env.file("in.json", input);
        env.run("customer update -i in.json").assert_failure(2, stderr);
        let error = env.fails(2, "customer update -i in.json");
        assert_eq!(
            (&error["kind"], &error["applied"], &error["status"]),
            (&json!("usage"), &json!("no"), &Value::Null)
        );
    }
    // The stored profile may have such a field or value itself, so it is read; nothing is written.
    assert!(env.requests().iter().all(|heard| heard == "GET 200"));
}

#[test]
fn allow_unknown_sends_unknown_fields_unchanged() {
    let env = TestEnv::new();
    env.file("in.json", r#"{"x_price": 1.10, "addresses": [{"id": 2, "x_seen": 1.5e+3, "company": null}]}"#);
    env.done("customer update -i in.json --allow-unknown");
    let profile = env.profile();
    assert_eq!(profile["x_price"].to_string(), "1.10");
    assert_eq!(
        (profile["addresses"][1]["x_seen"].to_string(), &profile["addresses"][1]["company"]),
        ("1.5e+3".into(), &Value::Null)
    );
}

#[test]
fn spaces_around_names_are_trimmed_with_a_warning() {
    let env = TestEnv::new();
    env.file("in.json", r#"{"customer ": {" email": "trim@example.com"}}"#);
    let outcome = env.run("customer update -q -i in.json");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(
        outcome.stderr,
        "warning: customer: trimmed spaces around the field name\nwarning: customer.email: trimmed spaces around the field name\n"
    );
    assert_eq!(env.profile()["email"], "trim@example.com");
}

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
fn custom_attributes_merge_by_their_code() {
    let env = TestEnv::new();
    env.done("customer update --address 1 --custom-attribute floor=3");
    env.done("customer update --address 1 --custom-attribute door_code=C1 --custom-attribute bell=");
    assert_eq!(
        env.address(1)["custom_attributes"],
        json!([{"attribute_code": "door_code", "value": "C1"}, {"attribute_code": "floor", "value": "3"},
            {"attribute_code": "bell", "value": ""}])
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
error: invalid value 'two' for '--address <ID>': expected an integer

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
fn an_empty_update_sends_nothing_and_an_unchanged_one_writes_nothing() {
    let env = TestEnv::new();
    env.file("empty.json", r#"{"customer": {"addresses": []}}"#);
    env.run("customer update -i empty.json").assert_failure(
        2,
        str![[r#"
error: nothing to change
  No changes were made.
  hint: name what to change, such as `--address ID --city CITY`; `storefront customer show` lists the IDs
"#]],
    );
    assert_eq!(env.requests(), [""; 0]);
    let result = env.done("customer update --address 2 --city 'New York' --email amina.haddad@example.com");
    assert_eq!(
        (&result["applied"], &result["reason"], &result["status"]),
        (&json!("no"), &json!("unchanged"), &Value::Null)
    );
    assert_eq!(
        (&result["changes"], &result["snapshot"], &result["response"]),
        (&json!([]), &Value::Null, &Value::Null)
    );
    assert_eq!(env.requests(), ["GET 200"]);
    env.run("customer update --address 2 --city 'New York' -q").assert_success(str![[r#"
customer update: no changes
Addresses: unchanged 1, 2, 3 and 4
"#]]);
    assert!(env.snapshots().is_empty());
}
