//! What a PUT carries of a profile that was read, besides what was asked for.

use serde_json::{Value, json};

use crate::support::mock_server::{MockServer, answer};
use crate::support::scripted::{methods, ok, run};
use crate::support::storefront::{Home, Outcome};

const CITY: &str = "customer update --address 2 --city Troy --settle 0";

fn stored(subscribed: bool) -> Value {
    json!({"id": 1, "email": "old@example.com", "firstname": "A", "lastname": "B",
        "extension_attributes": {"is_subscribed": subscribed, "points": 7},
        "custom_attributes": [{"attribute_code": "broken"}, {"attribute_code": "loyalty_no", "value": "L1"}],
        "addresses": [
            {"id": 1, "customer_id": 1, "city": "Ulm", "region": "Bavaria", "region_id": 0, "country_id": "DE",
                "extension_attributes": {"door": "left"}},
            {"id": 2, "customer_id": 1, "city": "Paris", "country_id": "FR"}]})
}

fn with_city(mut profile: Value) -> Value {
    profile["addresses"][1]["city"] = json!("Troy");
    profile
}

/// The customer in the last PUT.
fn sent(server: &MockServer) -> Value {
    let requests = server.requests();
    let put = requests.iter().rfind(|request| request.starts_with("PUT ")).unwrap();
    let body: Value = serde_json::from_str(put.split_once("\r\n\r\n").unwrap().1).unwrap();
    body["customer"].clone()
}

fn magento(home: &Home, server: &MockServer, line: &str) -> Outcome {
    run(home, &server.url(""), &format!("--api magento {line}"))
}

/// A shop may show them wrongly: sent back, a subscription that was never there is made.
#[test]
fn extension_attributes_and_attributes_without_value_are_sent_only_where_they_change() {
    let reply = with_city(stored(true));
    let (home, server) = (Home::new(), MockServer::start(vec![ok(&stored(true)), ok(&reply)]));
    let outcome = magento(&home, &server, CITY);
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{outcome:?}");
    let put = sent(&server);
    assert_eq!(put.get("extension_attributes"), None, "{put}");
    assert_eq!(put["custom_attributes"], json!([{"attribute_code": "loyalty_no", "value": "L1"}]));
    assert_eq!(put["addresses"][0]["extension_attributes"], json!({"door": "left"}));

    // The second answer is about the shop's custom attributes.
    let none = answer("404 Not Found", "", r#"{"message": "Request does not match any route."}"#);
    let script = vec![ok(&stored(true)), none, ok(&stored(false))];
    let (home, server) = (Home::new(), MockServer::start(script));
    let draft = json!({"extension_attributes": {"is_subscribed": false},
        "custom_attributes": [{"attribute_code": "broken", "value": "1"}]});
    home.write("in.json", draft.to_string(), 0o600);
    let path = home.path("in.json").display().to_string();
    magento(&home, &server, &format!("customer update -i {path} --settle 0"));
    let put = sent(&server);
    assert_eq!(put["extension_attributes"], json!({"is_subscribed": false}), "only the one that changes");
    assert_eq!(put["custom_attributes"][0], json!({"attribute_code": "broken", "value": "1"}));
}

#[test]
fn one_that_was_not_sent_and_is_another_one_afterwards_is_told() {
    let reply = with_city(stored(false));
    let (home, server) = (Home::new(), MockServer::start(vec![ok(&stored(true)), ok(&reply)]));
    let outcome = magento(&home, &server, CITY);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let told = "extension_attributes.is_subscribed was also changed, from yes to no";
    assert!(outcome.stderr.contains(told), "{outcome:?}");
}

#[test]
fn a_region_that_was_read_as_a_text_stays_what_it_was() {
    let reply = with_city(stored(true));
    let (home, server) = (Home::new(), MockServer::start(vec![ok(&stored(true)), ok(&reply)]));
    magento(&home, &server, CITY);
    assert_eq!(sent(&server)["addresses"][0]["region"], "Bavaria");
}

#[test]
fn a_restore_of_all_sets_no_extension_attribute_back_that_its_update_did_not_change() {
    let home = Home::new();
    let subscribed = || {
        let shown = home.sandbox_ok("magento", "customer show --customer 1 -o json").stdout;
        serde_json::from_str::<Value>(&shown).unwrap()["extension_attributes"]["is_subscribed"].clone()
    };
    let set = |to: bool| {
        home.write("in.json", json!({"extension_attributes": {"is_subscribed": to}}).to_string(), 0o600);
        let path = home.path("in.json").display().to_string();
        home.sandbox_ok("magento", &format!("customer update --customer 1 --yes -i {path}"));
    };
    let before = subscribed() == true;
    home.sandbox_ok("magento", "customer update --customer 1 --address 2 --city Troy --yes");
    set(!before);
    // That it is left is said.
    assert_eq!(home.sandbox("magento", "undo 1 --customer 1 --whole-profile --yes").code, 7);
    assert_eq!(subscribed(), !before);
    home.sandbox_ok("magento", "undo 2 --customer 1 --yes");
    assert_eq!(subscribed(), before);
}

/// As measured: what is left out is kept, what is sent takes effect, and an attribute without a value is refused.
#[test]
fn the_sandbox_keeps_extension_attributes_that_are_left_out() {
    let sandbox = crate::support::raw_http::Sandbox::new();
    let path = "/rest/V1/customers/1";
    let put = |fields: Value| {
        let mut customer = json!({"id": 1, "firstname": "A", "lastname": "B", "email": "a@example.com"});
        customer.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        sandbox.call("sandbox-admin", "PUT", path, &json!({"customer": customer}).to_string())
    };
    let subscribed =
        || sandbox.get("sandbox-admin", path).json()["extension_attributes"]["is_subscribed"].clone();
    for (sent, after) in [
        (json!({"extension_attributes": {"is_subscribed": true}}), true),
        (json!({}), true),
        (json!({"extension_attributes": {}}), true),
        (json!({"extension_attributes": {"is_subscribed": false}}), false),
        (json!({}), false),
    ] {
        assert_eq!(put(sent.clone()).status, 200, "{sent}");
        assert_eq!(subscribed(), after, "{sent}");
    }
    assert_eq!(put(json!({"custom_attributes": [{"attribute_code": "loyalty_no"}]})).status, 400);
}

/// Somebody reads through a proxy or a log view that masks: sent back, the masks replace the values.
#[test]
fn a_profile_that_looks_masked_is_not_written_back() {
    let masked = |texts: [&str; 2]| {
        let profile = json!({"id": 1, "email": texts[0], "firstname": "A", "lastname": "B",
            "addresses": [{"id": 1, "telephone": texts[1]}, {"id": 2, "city": "Paris"}]});
        (profile.clone(), with_city(profile))
    };
    let puts = |server: &MockServer| methods(server).iter().filter(|method| *method == "PUT").count();
    for api in ["marketplace", "magento"] {
        for (texts, flag, code) in [
            (["a**@example.com", "***"], "", 3),
            (["a**@example.com", "***"], " -n", 3),
            (["a@example.com", "***"], "", 0),
            (["a**@example.com", "**"], "", 0),
            (["a**@example.com", "***"], " --allow-masked", 0),
        ] {
            let (read, written) = masked(texts);
            let script = match api {
                "magento" => vec![ok(&read), ok(&written)],
                _ => vec![ok(&read), ok(&json!({})), ok(&written)],
            };
            let (home, server) = (Home::new(), MockServer::start(script));
            let outcome = run(&home, &server.url(""), &format!("--api {api} {CITY}{flag}"));
            assert_eq!(
                (outcome.code, puts(&server)),
                (code, usize::from(code == 0)),
                "{api} {texts:?}: {outcome:?}"
            );
            assert!(code == 0 || outcome.stderr.contains("--allow-masked"), "{outcome:?}");
        }
    }
}
