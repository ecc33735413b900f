//! Paths, tokens and forms of requests in the sandbox's Magento interface.

use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

use crate::support::raw_http::{ADMIN, CUSTOMER, Sandbox};

const ME: &str = "/rest/V1/customers/me";

fn unauthorized(resource: &str) -> Value {
    json!({"message": "The consumer isn't authorized to access %resources.", "parameters": {"resources": resource}})
}

#[test]
fn paths_are_taken_with_and_without_rest_and_store_view() {
    let sandbox = Sandbox::new();
    for path in [
        ME,
        "/rest/default/V1/customers/me",
        "/rest/fr/V1/customers/me",
        "/V1/customers/me",
        "/de/V1/customers/me",
        "//rest//V1/customers/me/",
        "/rest/V1/customers/me/",
    ] {
        let answer = sandbox.get(CUSTOMER, path);
        assert_eq!((answer.status, &answer.json()["id"]), (200, &json!(1)), "{path}");
    }
    for path in ["/rest/nosuch/V1/customers/me", "/rest/customers/me", "/rest/v1/customers/me"] {
        sandbox.get(CUSTOMER, path).refuses(400, "Specified request cannot be processed.", Value::Null);
    }
    for path in
        ["/rest/V1/nothing/here", "/rest/V2/customers/me", "/rest/V1/tfa/provider/google/authenticate"]
    {
        sandbox.get(ADMIN, path).refuses(404, "Request does not match any route.", Value::Null);
    }
    sandbox.call(CUSTOMER, "PATCH", ME, "{}").refuses(
        405,
        "The PATCH HTTP method is not supported.",
        Value::Null,
    );
}

#[test]
fn every_refusal_of_a_token_is_401_and_names_the_permission() {
    let sandbox = Sandbox::new();
    let refused = |token: &str, method: &str, path: &str, resource: &str| {
        let answer = sandbox.call(token, method, path, "{}");
        assert_eq!((answer.status, answer.json()), (401, unauthorized(resource)), "{method} {path}");
    };
    for token in ["nobody", ""] {
        refused(token, "GET", ME, "self");
        refused(token, "POST", "/rest/V1/carts/mine", "self");
        refused(token, "GET", "/rest/V1/customers/1", "Magento_Customer::customer");
    }
    refused(CUSTOMER, "GET", "/rest/V1/customers/1", "Magento_Customer::customer");
    refused(CUSTOMER, "PUT", "/rest/V1/customers/1", "Magento_Customer::manage");
    refused(CUSTOMER, "GET", "/rest/V1/carts/1", "Magento_Cart::manage");
    refused(CUSTOMER, "POST", "/rest/V1/products/attributes", "Magento_Catalog::attributes_attributes");
    refused(CUSTOMER, "GET", "/rest/all/V1/customers/me", "self");
    assert_eq!(sandbox.get(ADMIN, "/rest/all/V1/customers/1").status, 200);
}

#[test]
fn forms_of_requests_are_refused_as_magento_does() {
    let sandbox = Sandbox::new();
    let authorization = format!("Authorization: Bearer {CUSTOMER}");
    let put = |headers: &[&str], body: &[u8]| {
        let headers = [&[authorization.as_str()], headers].concat();
        sandbox.request("PUT", ME, &headers, body)
    };
    let json_type = "Content-Type: application/json";
    for malformed in [&b"{"[..], b"\xef\xbb\xbf{}", b"{\"customer\":{}"] {
        put(&[json_type], malformed).refuses(400, "Decoding error.", Value::Null);
    }
    put(&[], b"{}").refuses(400, "Content-Type header is empty.", Value::Null);
    put(&["Content-Type: text/json"], b"{}").refuses(
        400,
        "Server cannot understand Content-Type HTTP header media type text/json",
        Value::Null,
    );
    let page = sandbox.request("GET", ME, &[&authorization, "Accept: text/html"], b"");
    assert_eq!((page.status, page.body.starts_with("<!DOCTYPE html>")), (500, true));
    assert_eq!(sandbox.request("GET", ME, &[&authorization, "Accept: text/html, */*"], b"").status, 200);
}

#[test]
fn json_is_written_as_php_writes_it() {
    let sandbox = Sandbox::new();
    let text = sandbox.get("sandbox-customer-2", ME).body;
    assert!(text.is_ascii() && text.contains(r#""lastname":"\u4f50\u85e4""#), "{text}");
    let methods = sandbox.get(CUSTOMER, "/rest/V1/carts/mine/payment-methods").body;
    assert!(methods.contains(r"Check \/ Money order"), "{methods}");
    let refused =
        sandbox.request("PUT", ME, &["Authorization: Bearer x", "Content-Type: text/json"], b"{}").body;
    assert!(!refused.contains("text/json"), "{refused}");
}

fn log_in(sandbox: &Sandbox, kind: &str, username: &str, password: &str) -> crate::support::raw_http::Answer {
    let body = json!({"username": username, "password": password}).to_string();
    sandbox.request(
        "POST",
        &format!("/rest/V1/integration/{kind}/token"),
        &["Content-Type: application/json"],
        body.as_bytes(),
    )
}

#[test]
fn tokens_are_issued_with_their_expiry() {
    let sandbox = Sandbox::new();
    for (kind, username, seconds, path) in
        [("customer", "amina.haddad@example.com", 3600, ME), ("admin", "admin", 3600, "/rest/V1/customers/1")]
    {
        let token = log_in(&sandbox, kind, username, "sandbox").json();
        let token = token.as_str().unwrap();
        assert_eq!(sandbox.get(token, path).json()["id"], 1);
        let payload: Value = serde_json::from_slice(&decoded(token.split('.').nth(1).unwrap())).unwrap();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        let left = payload["exp"].as_u64().unwrap().abs_diff(now);
        assert!(left <= seconds && left + 60 > seconds, "{payload}");
        let again = log_in(&sandbox, kind, username, "sandbox").json();
        assert_ne!(again, token);
        let mut tampered = token.to_owned();
        tampered.replace_range(token.len() - 1.., if token.ends_with('A') { "B" } else { "A" });
        assert_eq!(sandbox.get(&tampered, path).status, 401);
    }
}

/// RFC 4648, section 5.
fn decoded(text: &str) -> Vec<u8> {
    let letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let (mut bytes, mut bits, mut held) = (Vec::new(), 0_u32, 0);
    for letter in text.chars() {
        bits = bits << 6 | u32::try_from(letters.find(letter).unwrap()).unwrap();
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push(u8::try_from(bits >> held & 0xFF).unwrap());
        }
    }
    bytes
}

#[test]
fn a_token_that_has_expired_is_refused() {
    let sandbox = Sandbox::new();
    let token = log_in(&sandbox, "admin", "admin", "sandbox").json().as_str().unwrap().to_owned();
    let path = "/rest/V1/customers/1";
    assert_eq!(sandbox.get(&token, path).status, 200);
    let database = rusqlite::Connection::open(sandbox.data()).unwrap();
    database
        .execute("UPDATE tokens SET expires_at = unixepoch() - 1 WHERE expires_at IS NOT NULL", [])
        .unwrap();
    assert_eq!(sandbox.get(&token, path).json(), unauthorized("Magento_Customer::customer"));
    assert_eq!(sandbox.get(ADMIN, path).status, 200, "the tokens of the seed do not expire");
}

#[test]
fn bad_logins_are_refused() {
    let sandbox = Sandbox::new();
    let message = "The account sign-in was incorrect or your account is disabled temporarily. Please wait and try again later.";
    let login = |password: &str| log_in(&sandbox, "customer", "amina.haddad@example.com", password);
    for (kind, username) in
        [("customer", "nobody@example.com"), ("admin", "root"), ("admin", "amina.haddad@example.com")]
    {
        log_in(&sandbox, kind, username, "sandbox").refuses(401, message, Value::Null);
    }
    login("wrong").refuses(401, message, Value::Null);
    assert_eq!(login("sandbox").status, 200);
    let required = "\"%fieldName\" is required. Enter and try again.";
    log_in(&sandbox, "admin", "admin", "").refuses(400, required, json!({"fieldName": "password"}));
    let none = log_in(&sandbox, "admin", "", "");
    assert_eq!((none.status, none.json()["errors"].as_array().unwrap().len()), (400, 2));
    assert_eq!(sandbox.get("nobody", "/rest/V1/integration/customer/token").status, 404);
}

#[test]
fn countries_have_their_regions() {
    let us = Sandbox::new().get("nobody", "/rest/V1/directory/countries/US").json();
    assert_eq!(us["available_regions"].as_array().unwrap().len(), 65);
    assert_eq!(us["available_regions"][56], json!({"id": "57", "code": "TX", "name": "Texas"}));
}

#[test]
fn faults_strike_this_interface_too() {
    let sandbox = Sandbox::with_faults(&["stale-read=1"]);
    let put = json!({"customer": {"firstname": "Ann"}}).to_string();
    assert_eq!(sandbox.call(ADMIN, "PUT", "/rest/V1/customers/1", &put).status, 200);
    let firstname = || sandbox.get(ADMIN, "/rest/V1/customers/1").json()["firstname"].clone();
    assert_eq!([firstname(), firstname()], ["Amina", "Ann"]);
    let sandbox = Sandbox::with_faults(&["envelope=data"]);
    assert_eq!(sandbox.get(CUSTOMER, ME).json()["data"]["customer"]["id"], 1);
    assert_eq!(sandbox.get(CUSTOMER, "/rest/V1/carts/mine").json()["id"], 1, "only the profile has one");
    let sandbox = Sandbox::with_faults(&["drop-address"]);
    let read = sandbox.get(ADMIN, "/rest/V1/customers/1").json();
    let answer = sandbox.call(ADMIN, "PUT", "/rest/V1/customers/1", &json!({"customer": read}).to_string());
    assert_eq!(answer.json()["addresses"].as_array().unwrap().len(), 3);
    let sandbox = Sandbox::with_faults(&["PUT:varnish"]);
    assert_eq!(sandbox.call(ADMIN, "PUT", "/rest/V1/customers/1", &put).status, 503);
    assert_eq!(sandbox.get(ADMIN, "/rest/V1/customers/1").json()["firstname"], "Ann");
}
