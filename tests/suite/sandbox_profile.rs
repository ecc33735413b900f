//! Profiles in the sandbox as a whole, in both interfaces; the rules of their fields are in `tests/sandbox`.

use serde_json::{Value, json};

use crate::support::raw_http::{ADMIN, CUSTOMER, PROFILE, Sandbox};

const ME: &str = "/rest/V1/customers/me";
const BY_ID: &str = "/rest/V1/customers/1";

#[test]
fn a_profile_is_answered_whole_and_in_order() {
    let sandbox = Sandbox::new();
    let answer = sandbox.get(CUSTOMER, PROFILE);
    assert_eq!(answer.header("content-type"), Some("application/json; charset=utf-8"));
    let own = sandbox.get(CUSTOMER, ME).json();
    assert_eq!(own, sandbox.get(ADMIN, BY_ID).json());
    let names: Vec<&String> = own.as_object().unwrap().keys().collect();
    assert_eq!(names[..4], ["id", "group_id", "default_billing", "default_shipping"]);
    let crash = sandbox.call(CUSTOMER, "PUT", ME, r#"{"customer":"x"}"#);
    assert_eq!(crash.header("content-type"), Some("text/plain; charset=utf-8"));
}

#[test]
fn unlisted_fields_and_numbers_are_returned_unchanged() {
    let sandbox = Sandbox::new();
    let sent = r#"{"customer":{"gender":2,"x":{"a":1.50,"b":12345678901234567890,"d":-0.0,"e":"\u00fc"},
        "addresses":[{"id":1,"geo":[48.8500,2.0],"z":null},{"id":2},{"id":3},{"id":4}]}}"#;
    assert_eq!(sandbox.call(CUSTOMER, "PUT", PROFILE, sent).status, 200);
    let text = sandbox.get(CUSTOMER, PROFILE).body;
    for part in [
        r#""x":{"a":1.50,"b":12345678901234567890,"d":-0.0,"e":"ü"}"#,
        r#""geo":[48.8500,2.0],"z":null"#,
        r#""gender":2,"#,
        r#""loyalty_points":12345678901234567890"#,
        r#""latitude":40.748400"#,
    ] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

/// Stores the profile as it was read; it before and after, without its time.
fn sent_back(sandbox: &Sandbox, token: &str, path: &str, inside: &str) -> [Value; 2] {
    let read = || sandbox.get(token, path).json().pointer(inside).unwrap().clone();
    let before = read();
    let answer = sandbox.call(token, "PUT", path, &json!({"customer": before}).to_string());
    assert_eq!(answer.status, 200, "{answer:?}");
    let after = read();
    // The marketplace stores the time that it is sent.
    assert_eq!(after["updated_at"] == before["updated_at"], path == PROFILE);
    [before, after].map(|mut profile| {
        profile["updated_at"].take();
        profile
    })
}

#[test]
fn sending_back_what_was_read_changes_nothing_but_the_time() {
    let sandbox = Sandbox::new();
    for customer in 1..=6 {
        let [before, after] =
            sent_back(&sandbox, &format!("sandbox-customer-{customer}"), PROFILE, "/customer");
        assert_eq!(after, before);
    }
    for (token, path) in [(CUSTOMER, ME), (ADMIN, BY_ID)] {
        let [before, after] = sent_back(&Sandbox::new(), token, path, "");
        assert_eq!(after, before);
    }
}

#[test]
fn ten_thousand_addresses_are_replaced_at_once() {
    let sandbox = Sandbox::new();
    let list: Vec<Value> =
        (0..10_000).map(|number| json!({"street": [format!("{number} Main St")]})).collect();
    assert_eq!(sandbox.put_profile(CUSTOMER, &json!({"addresses": list})).status, 200);
    let stored = sandbox.profile(CUSTOMER);
    assert_eq!(stored["addresses"].as_array().unwrap().len(), 10_000);
    assert_eq!(stored["addresses"][9_999]["street"][0], "9999 Main St");
}
