//! `customer update`: what is named changes, everything else stays.

use serde_json::{Value, json};

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
fn the_put_carries_every_stored_member_in_its_exact_text() {
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
fn input_comes_with_or_without_its_wrapper_and_flags_win() {
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
fn what_the_service_would_ignore_is_refused_before_anything_is_sent() {
    let env = TestEnv::new();
    for (input, says) in [
        (
            r#"{"customer": {"addresses": [{"id": 1}, {"id": 2, "postcod": "1"}]}}"#,
            "customer.addresses[1].postcod: unknown field; did you mean `postcode`?",
        ),
        (r#"{"emial": "a"}"#, "customer.emial: unknown field; did you mean `email`?"),
        (r#"{"customer": {"email": 1}}"#, "customer.email: expected a string, found the number 1"),
        (r#"{"customer": {"gender": "1"}}"#, "customer.gender: expected an integer, found the string \"1\""),
        (r#"{"addresses": {"id": 1}}"#, "customer.addresses: expected "),
        (r#"{"addresses": [{"id": 1, "street": "1 Main St"}]}"#, "customer.addresses[0].street: expected "),
        (
            r#"{"addresses": [{"id": 1, "street": [null]}]}"#,
            "customer.addresses[0].street[0]: expected a string",
        ),
        (
            r#"{"addresses": [{"id": 1, "region": "Berlin"}]}"#,
            "customer.addresses[0].region: expected an object",
        ),
        (
            r#"{"addresses": [{"id": 1, "custom_attributes": [{"code": "a"}]}]}"#,
            "custom_attributes[0].code: unknown",
        ),
        (r#"{"addresses": null}"#, "customer.addresses: expected "),
        (r#"{"customer": []}"#, "customer: expected an object"),
        ("[", "not a JSON array"),
        (" ", "is empty"),
    ] {
        env.file("in.json", input);
        let error = env.fails(2, "customer update -i in.json");
        assert!(error["message"].as_str().unwrap().contains(says), "{input}: {error}");
        assert_eq!(
            (&error["kind"], &error["applied"], &error["status"]),
            (&json!("usage"), &json!("no"), &Value::Null)
        );
    }
    // The stored profile may have such a field or value itself, so it is read; nothing is written.
    assert!(env.requests().iter().all(|heard| heard == "GET 200"));
}

#[test]
fn unknown_members_go_out_as_they_are_when_allowed() {
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
fn a_removal_is_by_name_and_takes_its_default_along() {
    let env = TestEnv::new();
    let outcome = env.run("customer update --remove-address 1 3 --yes -q -o json");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(outcome.stderr, "warning: default_billing cleared: it pointed to removed address 1\n");
    let result: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!(result["addresses"], json!({"kept": [2, 4], "changed": [], "added": 0, "removed": [1, 3]}));
    let profile = env.profile();
    assert_eq!(
        (ids(&profile), &profile["default_billing"], &profile["default_shipping"]),
        (vec![2, 4], &Value::Null, &json!("2"))
    );
}

#[test]
fn replacing_the_list_deletes_only_the_number_that_was_allowed() {
    let env = TestEnv::new();
    env.file("list.json", r#"{"addresses": [{"id": 2, "city": "Troy"}, {"city": "Nice"}]}"#);
    for (flags, says) in [
        ("", "this would delete 3 addresses: 1, 3 and 4"),
        ("--yes", "this would delete 3 addresses"),
        ("--allow-delete 2", "but --allow-delete is 2"),
        ("--allow-delete 4 -y", "but --allow-delete is 4"),
        ("--dry-run", "this would delete 3 addresses"),
    ] {
        let error = env.fails(3, &format!("customer update -i list.json --replace-addresses {flags}"));
        assert!(error["message"].as_str().unwrap().contains(says), "{flags}: {error}");
        assert_eq!(error["hint"], "to proceed, add --allow-delete 3");
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
    let error = env.fails(2, "customer update --replace-addresses --email a@example.com");
    assert!(
        error["message"].as_str().unwrap().contains("--replace-addresses requires an address list"),
        "{error}"
    );
}

#[test]
fn ids_that_are_not_there_and_ids_named_twice_are_refused() {
    let env = TestEnv::new();
    for (code, line, says) in [
        (3, "--address 99 --city X", "no address 99 (the profile has 1, 2, 3 and 4)"),
        (3, "--remove-address 5", "no address 5 (the profile has 1, 2, 3 and 4)"),
        (2, "--remove-address 2 --address 2 --city X", "duplicate address ID 2"),
        (2, "--city X", "address fields given without an address"),
        (2, "--address 2", "no address field given"),
        (2, "--add-address", "no address field given"),
        (2, "", "nothing to change"),
        (2, "--yes", "nothing to change"),
    ] {
        let error = env.fails(code, &format!("customer update {line}"));
        assert!(error["message"].as_str().unwrap().contains(says), "{line}: {error}");
    }
    for line in [
        "--address 2 --add-address --city X",
        "--address 2 --no-region --region X",
        "--remove-address 1 --replace-addresses",
        "--address two --city X",
        "--gender male",
    ] {
        assert_eq!(env.run(&format!("customer update {line}")).code, 2, "{line}");
    }
    assert!(env.requests().iter().all(|heard| heard == "GET 200"), "nothing was written");
}

#[test]
fn nothing_asked_sends_nothing_and_nothing_changed_writes_nothing() {
    let env = TestEnv::new();
    env.file("empty.json", r#"{"customer": {"addresses": []}}"#);
    env.fails(2, "customer update -i empty.json");
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
    let said = env.run("customer update --address 2 --city 'New York' -q");
    assert!(said.stdout.starts_with("customer update: no changes\n"), "{said:?}");
    assert!(env.snapshots().is_empty());
}
