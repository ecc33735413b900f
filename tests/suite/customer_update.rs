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

#[test]
fn every_flag_sets_its_member_and_nothing_else_changes() {
    let env = TestEnv::new();
    let mut expected = settled(env.profile());
    env.done(
        "customer update --firstname Ann --lastname Lee --email ann@example.com --gender 1 --group-id 4 --store-id 2 \
         --website-id 3 --disable-auto-group-change 1",
    );
    env.done(
        "customer update --address 2 --address-firstname Bo --address-lastname Li \
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
    let write = result["write"].take();
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
        ["operation", "applied", "verified", "status", "changes", "addresses", "response", "owner", "write"]
    );
    assert_eq!(response, env.profile());
    assert_eq!(write, "1");
    assert_eq!(env.requests(), ["GET 200", "PUT 200", "GET 200"]);
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
fn an_empty_input_and_an_unchanged_one_write_nothing() {
    let env = TestEnv::new();
    for empty in ["{}", r#"{"customer": {}}"#, r#"{"customer": {"addresses": []}}"#, "[{}]"] {
        env.file("empty.json", empty);
        let result = env.done("customer update -i empty.json");
        assert_eq!((&result["applied"], &result["reason"]), (&json!("no"), &json!("unchanged")), "{empty}");
        assert_eq!(env.requests(), ["GET 200"], "{empty}");
    }
    let result = env.done("customer update --address 2 --city 'New York' --email amina.haddad@example.com");
    assert_eq!(
        (&result["applied"], &result["reason"], &result["status"]),
        (&json!("no"), &json!("unchanged"), &Value::Null)
    );
    assert_eq!(
        (&result["changes"], &result["write"], &result["response"]),
        (&json!([]), &Value::Null, &Value::Null)
    );
    assert_eq!(env.requests(), ["GET 200"]);
    env.run("customer update --address 2 --city 'New York' -q").assert_success(str![[r#"
customer update: no changes
Addresses: unchanged 1, 2, 3 and 4
"#]]);
    assert!(env.updates().is_empty());
}
