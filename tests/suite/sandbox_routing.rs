//! The checks of every call of the sandbox: route, token, store view, content type, JSON.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::{Value, json};
use storefront_sandbox::Options;

use crate::support::raw_http::{ADMIN, ATTRIBUTE, Answer, CUSTOMER, ITEM, PROFILE, SHIPPING, Sandbox};

const OPERATIONS: &[(&str, &str, &str)] = &[
    ("GET", PROFILE, CUSTOMER),
    ("PUT", PROFILE, CUSTOMER),
    ("POST", ITEM, CUSTOMER),
    ("POST", SHIPPING, CUSTOMER),
    ("POST", ATTRIBUTE, ADMIN),
];

#[test]
fn every_operation_needs_a_token_of_its_kind() {
    let sandbox = Sandbox::new();
    let before = sandbox.show();
    for (method, path, token) in OPERATIONS {
        let resource = if *token == ADMIN { "Magento_Catalog::attributes_attributes" } else { "self" };
        let refusal = |status, headers: &[&str]| {
            let answer = sandbox.request(method, path, headers, b"{}");
            let message = "The consumer isn't authorized to access %resources.";
            answer.refuses(status, message, json!({"resources": resource}));
        };
        let json_type = "Content-Type: application/json";
        refusal(401, &[json_type]);
        let basic = format!("Basic {token}");
        for wrong in
            ["Bearer nobody", "Bearer", "Bearer ", "Basic c2FuZGJveA==", "sandbox-admin", &basic, token]
        {
            refusal(401, &[json_type, &format!("Authorization: {wrong}")]);
        }
        let other = if *token == ADMIN { CUSTOMER } else { ADMIN };
        refusal(403, &[json_type, &format!("Authorization: Bearer {other}")]);
        let lower = format!("authorization: bearer {token}");
        assert_ne!(sandbox.request(method, path, &[json_type, &lower], b"{}").status, 401);
    }
    assert_eq!(sandbox.show(), before);
}

#[test]
fn an_unknown_path_and_a_wrong_method_are_no_route() {
    let sandbox = Sandbox::new();
    for (method, path) in [
        ("GET", "/"),
        ("GET", "/V1/storeview/default/customer"),
        ("GET", "/V2/storeview/default/customer/profile"),
        ("POST", PROFILE),
        ("DELETE", PROFILE),
        ("GET", ITEM),
        ("PUT", SHIPPING),
        ("GET", ATTRIBUTE),
        ("PUT", "/V1/storeview/a/b/customer/profile"),
        ("GET", "/V1/storeview//customer/profile"),
    ] {
        let answer = sandbox.call(CUSTOMER, method, path, "{}");
        answer.refuses(404, "Request does not match any route.", Value::Null);
    }
}

#[test]
fn the_store_view_must_exist() {
    let sandbox = Sandbox::new();
    for code in ["default", "fr", "de", "%64e"] {
        let path = PROFILE.replace("default", code);
        assert_eq!(sandbox.get(CUSTOMER, &path).status, 200, "{code}");
    }
    for code in ["en", "DEFAULT", "all", "a%2Fb", "%20", "%FF", "..", "fr%00"] {
        for (method, path, token) in &OPERATIONS[..4] {
            let answer = sandbox.call(token, method, &path.replace("default", code), "{}");
            let message = "The store that was requested wasn't found. Verify the store and try again.";
            answer.refuses(404, message, Value::Null);
        }
    }
}

#[test]
fn a_body_must_be_json_with_its_content_type() {
    let sandbox = Sandbox::new();
    let authorization = format!("Authorization: Bearer {CUSTOMER}");
    let body = br#"{"customer":{"lastname":"Roy"}}"#;
    let put = |content_type: &str, body: &[u8]| {
        sandbox.request("PUT", PROFILE, &[&authorization, &format!("Content-Type: {content_type}")], body)
    };
    for taken in ["application/json", "Application/JSON; charset=UTF-8", "application/json;charset=\"utf-8\""]
    {
        assert_eq!(put(taken, body).status, 200, "{taken}");
    }
    put("text/plain", body).refuses(
        400,
        "Server cannot understand Content-Type HTTP header media type text/plain",
        Value::Null,
    );
    put("application/json; charset=latin1", body).refuses(
        400,
        "UTF-8 is the only supported charset.",
        Value::Null,
    );
    assert_eq!(sandbox.request("PUT", PROFILE, &[&authorization], body).status, 400);
    for malformed in [&b"{"[..], b"{\"customer\":{\"lastname\":\"\xff\"}}", b"{} x", b"{'a':1}", b"NaN"] {
        put("application/json", malformed).refuses(400, "Decoding error.", Value::Null);
    }
    let deep = format!("{}1{}", "[".repeat(100_000), "]".repeat(100_000));
    put("application/json", deep.as_bytes()).refuses(400, "Decoding error.", Value::Null);
    for nothing in [&b"[]"[..], b"{}", b""] {
        assert_eq!(put("application/json", nothing).json()["parameters"], json!({"fieldName": "customer"}));
    }
}

#[test]
fn only_loopback_hosts_and_allowed_ones_are_answered() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options {
        allow_hosts: vec!["shop.test".to_owned()],
        ..Options::new(directory.path().join("sandbox.db"))
    };
    let sandbox = Sandbox::with_options(options, None);
    let port = sandbox.address().port();
    let get = |host: &str| {
        let head = format!(
            "GET {PROFILE} HTTP/1.1\r\n{host}Authorization: Bearer {CUSTOMER}\r\nConnection: close\r\n\r\n"
        );
        Answer::parse(&sandbox.bytes(head.as_bytes()).unwrap())
    };
    for host in [
        format!("localhost:{port}"),
        format!("127.0.0.1:{port}"),
        "[::1]".to_owned(),
        "SHOP.test:1".to_owned(),
    ] {
        assert_eq!(get(&format!("Host: {host}\r\n")).status, 200, "{host}");
    }
    let message = "The host %host is not served here. Use a loopback address, or start the sandbox with --allow-host \
                   %host.";
    for host in ["rebound.example", "rebound.example:8080"] {
        get(&format!("Host: {host}\r\n")).refuses(421, message, json!({"host": "rebound.example"}));
    }
    for host in ["", "Host: \r\n", "Host: localhost\r\nHost: rebound.example\r\n", "Host: 10.0.0.1\r\n"] {
        assert!(matches!(get(host).status, 400 | 421), "{host}");
    }
}

#[test]
fn requests_that_stay_half_open_are_dropped() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options {
        read_timeout: Duration::from_millis(300),
        ..Options::new(directory.path().join("sandbox.db"))
    };
    let sandbox = Sandbox::with_options(options, None);
    let open = |head: String| {
        let mut stream = TcpStream::connect(sandbox.address()).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream.write_all(head.as_bytes()).unwrap();
        stream
    };
    let headers: Vec<TcpStream> =
        (0..200).map(|_| open(format!("GET {PROFILE} HTTP/1.1\r\nHost: localhost\r\nX-Slow: "))).collect();
    let bodies: Vec<TcpStream> = (0..50)
        .map(|_| {
            open(format!(
                "PUT {PROFILE} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {CUSTOMER}\r\n\
                          Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{{"
            ))
        })
        .collect();
    assert_eq!(sandbox.get(CUSTOMER, PROFILE).status, 200, "others are served meanwhile");
    for mut stream in headers {
        let mut rest = Vec::new();
        // Closed or reset, but not held.
        let _ =
            stream.read_to_end(&mut rest).map_err(|error| assert_ne!(error.kind(), ErrorKind::WouldBlock));
    }
    for mut stream in bodies {
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        assert_eq!(Answer::parse(&answer).status, 408);
    }
}

#[test]
fn a_body_is_bounded_generously() {
    let sandbox = Sandbox::new();
    let long = |length: usize| format!(r#"{{"customer":{{"x":"{}"}}}}"#, "x".repeat(length));
    let large = sandbox.call(CUSTOMER, "PUT", PROFILE, &long(16 * 1024 * 1024));
    assert_eq!(large.status, 200);
    let declared = format!("Authorization: Bearer {CUSTOMER}\r\nContent-Length: {}", 33 * 1024 * 1024);
    let too_large = sandbox.request("PUT", PROFILE, &[&declared], b"");
    assert_eq!(too_large.status, 413, "{too_large:?}");
}
