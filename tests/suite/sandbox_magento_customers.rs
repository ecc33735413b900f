//! Magento's `customers/me` and `customers/{id}` in the sandbox, row by row as it was measured.

use serde_json::{Value, json};

use crate::support::raw_http::{ADMIN, Answer, CUSTOMER, Sandbox, ids};

const ME: &str = "/rest/V1/customers/me";
const BY_ID: &str = "/rest/V1/customers/1";

/// Both ways to the same profile: the customer's own and the administrator's.
pub const WAYS: [(&str, &str); 2] = [(CUSTOMER, ME), (ADMIN, BY_ID)];

pub fn read(sandbox: &Sandbox) -> Value {
    let answer = sandbox.get(ADMIN, BY_ID);
    assert_eq!(answer.status, 200, "{answer:?}");
    answer.json()
}

pub fn put(sandbox: &Sandbox, way: (&str, &str), customer: &Value) -> Answer {
    sandbox.call(way.0, "PUT", way.1, &json!({"customer": customer}).to_string())
}

/// What `customers/me` demands of every PUT.
pub fn own(extra: Value) -> Value {
    let mut body = json!({"email": "amina.haddad@example.com", "firstname": "Amina", "lastname": "Haddad"});
    body.as_object_mut().unwrap().extend(extra.as_object().unwrap().clone());
    body
}

pub fn defaults(profile: &Value) -> (Option<&str>, Option<&str>) {
    (profile["default_billing"].as_str(), profile["default_shipping"].as_str())
}

pub fn without(profile: &Value, names: &[&str]) -> Value {
    let mut profile = profile.clone();
    for name in names {
        profile.as_object_mut().unwrap().remove(*name);
    }
    profile
}

#[test]
fn a_profile_is_answered_in_magentos_shape() {
    let sandbox = Sandbox::new();
    let profile = sandbox.get(CUSTOMER, ME).json();
    assert_eq!(profile, read(&sandbox));
    let names: Vec<&String> = profile.as_object().unwrap().keys().collect();
    assert_eq!(names[..4], ["id", "group_id", "default_billing", "default_shipping"]);
    assert_eq!(
        profile["extension_attributes"],
        json!({"is_subscribed": true}),
        "unlisted fields are not shown"
    );
    assert_eq!(
        profile["custom_attributes"],
        json!([{"attribute_code": "preferred_language", "value": "fr"}])
    );
    let addresses = profile["addresses"].as_array().unwrap();
    assert_eq!(addresses[0]["default_billing"], true);
    assert_eq!(addresses[1].get("default_billing"), None, "a flag is there where it is true");
    assert_eq!(addresses[1]["region"], json!({"region_code": "NY", "region": "New York", "region_id": 43}));
    assert_eq!(addresses[1].get("extension_attributes"), None);
    assert_eq!(addresses[2].get("postcode"), None, "nothing is null");
}

#[test]
fn sending_back_what_was_read_changes_nothing_but_the_time() {
    for way in WAYS {
        let sandbox = Sandbox::new();
        let before = sandbox.get(way.0, way.1).json();
        let answer = put(&sandbox, way, &before);
        assert_eq!(answer.status, 200, "{answer:?}");
        let after = read(&sandbox);
        assert_ne!(after["updated_at"], before["updated_at"]);
        assert_eq!(without(&after, &["updated_at"]), without(&before, &["updated_at"]));
    }
}

#[test]
fn null_keeps_and_an_empty_text_clears_an_optional_field() {
    for way in WAYS {
        let sandbox = Sandbox::new();
        let list = |value: Value| json!([{"id": 1, "company": value, "fax": value, "vat_id": value}, {"id": 2}, {"id": 3}, {"id": 4}]);
        let before = read(&sandbox);
        let sent = own(json!({"taxvat": null, "dob": null, "default_billing": "1", "default_shipping": "2",
            "addresses": list(Value::Null)}));
        assert_eq!(put(&sandbox, way, &sent).status, 200);
        assert_eq!(without(&read(&sandbox), &["updated_at"]), without(&before, &["updated_at"]));
        let sent = own(json!({"taxvat": "", "dob": "", "addresses": list(json!(""))}));
        assert_eq!(put(&sandbox, way, &sent).status, 200);
        let after = read(&sandbox);
        for name in ["taxvat", "dob"] {
            assert_eq!(after.get(name), None, "{name}");
        }
        for name in ["company", "fax", "vat_id"] {
            assert_eq!(after["addresses"][0].get(name), None, "{name}");
        }
    }
}

#[test]
fn the_id_in_the_body_is_ignored_by_me_and_beats_the_path() {
    let sandbox = Sandbox::new();
    let second = sandbox.get(ADMIN, "/rest/V1/customers/2").json();
    let answer = put(&sandbox, WAYS[0], &own(json!({"id": 2, "firstname": "Own"})));
    assert_eq!((answer.status, &answer.json()["id"]), (200, &json!(1)));
    assert_eq!(sandbox.get(ADMIN, "/rest/V1/customers/2").json(), second);
    let mut theirs = second;
    theirs["firstname"] = json!("Hit");
    let answer = put(&sandbox, WAYS[1], &theirs);
    assert_eq!(
        (answer.status, &answer.json()["id"], &answer.json()["firstname"]),
        (200, &json!(2), &json!("Hit"))
    );
    assert_eq!(read(&sandbox)["firstname"], "Own");
    // Without the email it is taken from the customer in the path, and collides.
    put(&sandbox, WAYS[1], &json!({"id": 2, "firstname": "X"})).refuses(
        400,
        "A customer with the same email address already exists in an associated website.",
        Value::Null,
    );
    assert_eq!(put(&sandbox, (ADMIN, "/rest/V1/customers/99"), &own(json!({}))).status, 404);
}

#[test]
fn a_customers_own_put_needs_email_and_names() {
    let sandbox = Sandbox::new();
    let message = |answer: Answer| (answer.status, answer.json()["message"].as_str().unwrap().to_owned());
    let missing = (400, "The customer email is missing. Enter and try again.".to_owned());
    for body in ["{}", "", r#"{"customer":{}}"#, r#"{"customer":null}"#, r#"{"email":"a@b.c"}"#] {
        assert_eq!(message(sandbox.call(CUSTOMER, "PUT", ME, body)), missing, "{body}");
    }
    let names = own(json!({"firstname": "", "lastname": ""}));
    let required = "\"First Name\" is a required value.\n\"Last Name\" is a required value.";
    for way in WAYS {
        assert_eq!(message(put(&sandbox, way, &names)), (400, required.to_owned()));
    }
    let no_name = json!({"email": "amina.haddad@example.com", "lastname": "Haddad"});
    assert_eq!(message(put(&sandbox, WAYS[0], &no_name)).1, "\"First Name\" is a required value.");
    assert_eq!(put(&sandbox, WAYS[1], &no_name).status, 200);
    assert_eq!(put(&sandbox, WAYS[1], &json!({})).status, 200);
    assert_eq!(read(&sandbox)["firstname"], "Amina");
    let invalid = own(json!({"email": "not-an-email"}));
    assert_eq!(message(put(&sandbox, WAYS[0], &invalid)).1, "\"Email\" is not a valid email address.");
    let taken = own(json!({"email": "Sato.Kenji@example.jp "}));
    assert_eq!(put(&sandbox, WAYS[0], &taken).status, 400);
    assert_eq!(
        message(put(&sandbox, WAYS[0], &own(json!({"firstname": "{{x}}"})))).1,
        "First Name is not valid!"
    );
    assert_eq!(put(&sandbox, WAYS[0], &own(json!({"gender": 9}))).status, 400);
    sandbox.call(ADMIN, "PUT", BY_ID, "{}").refuses(
        400,
        "\"%fieldName\" is required. Enter and try again.",
        json!({"fieldName": "customer"}),
    );
    let crash = sandbox.call(CUSTOMER, "PUT", ME, r#"{"customer":"x"}"#);
    assert_eq!((crash.status, crash.header("content-type")), (500, Some("text/plain; charset=utf-8")));
    assert_eq!(read(&sandbox)["addresses"].as_array().unwrap().len(), 4);
}

#[test]
fn unknown_fields_and_camel_case_are_refused_as_in_2_4_7() {
    let sandbox = Sandbox::new();
    for way in WAYS {
        for (extra, named) in [
            (json!({"colour": "red"}), "Colour"),
            (json!({"firstName": "Camel"}), "FirstName"),
            (json!({"password": "x"}), "Password"),
            (json!({"addresses": [{"id": 2, "door_code": "x"}]}), "DoorCode"),
            (json!({"extension_attributes": {"foo": 1}}), "Foo"),
        ] {
            put(&sandbox, way, &own(extra)).refuses(
                400,
                "\"%fieldName\" is not supported. Correct the field name and try again.",
                json!({"fieldName": named}),
            );
        }
    }
    assert_eq!(ids(&read(&sandbox)), [1, 2, 3, 4]);
}

#[test]
fn custom_attributes_are_merged_and_unknown_codes_ignored() {
    let sandbox = Sandbox::new();
    let attributes = |list: Value| put(&sandbox, WAYS[1], &json!({"custom_attributes": list}));
    let stored = || read(&sandbox).get("custom_attributes").cloned();
    let french = json!([{"attribute_code": "preferred_language", "value": "fr"}]);
    for kept in [json!([]), json!([{"attribute_code": "nosuch", "value": "1"}])] {
        assert_eq!(attributes(kept).status, 200);
        assert_eq!(stored(), Some(french.clone()));
        assert_eq!(sandbox.profile(CUSTOMER)["custom_attributes"], french, "nor is it stored");
    }
    assert_eq!(attributes(json!([{"attribute_code": "loyalty_no", "value": 7}])).status, 200);
    assert_eq!(stored().unwrap()[1], json!({"attribute_code": "loyalty_no", "value": "7"}));
    for empty in [json!(""), Value::Null] {
        attributes(json!([{"attribute_code": "loyalty_no", "value": "L"}]));
        assert_eq!(attributes(json!([{"attribute_code": "loyalty_no", "value": empty}])).status, 200);
        assert_eq!(stored(), Some(french.clone()));
    }
    attributes(json!([{"attribute_code": "loyalty_no"}])).refuses(
        400,
        "Error occurred during \"custom_attributes\" processing. The \"loyalty_no\" attribute code doesn't have a value \
         set. Enter the value and try again.",
        Value::Null,
    );
}

#[test]
fn group_website_and_store_are_the_administrators() {
    let sandbox = Sandbox::new();
    assert_eq!(
        put(&sandbox, WAYS[0], &own(json!({"group_id": 2, "website_id": 99, "store_id": 99}))).status,
        200
    );
    let read_back = |name: &str| read(&sandbox)[name].clone();
    assert_eq!(
        (read_back("group_id"), read_back("website_id"), read_back("store_id")),
        (json!(1), json!(1), json!(1))
    );
    assert_eq!(put(&sandbox, WAYS[1], &json!({"group_id": "2"})).status, 200);
    assert_eq!(read_back("group_id"), 2);
    for name in ["website_id", "store_id"] {
        let answer = put(&sandbox, WAYS[1], &json!({name: 99}));
        assert_eq!(answer.status, 500);
        assert!(answer.json()["message"].as_str().unwrap().contains("Report ID: webapi-"), "{answer:?}");
    }
}

#[test]
fn an_administrators_token_on_me_has_no_customer() {
    let sandbox = Sandbox::new();
    let required = "\"%fieldName\" is required. Enter and try again.";
    let refused = json!({"fieldName": "customerId"});
    sandbox.get(ADMIN, ME).refuses(400, required, refused.clone());
    put(&sandbox, (ADMIN, ME), &own(json!({}))).refuses(400, required, refused);
}
