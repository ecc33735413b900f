//! Injected faults (`--fault`) over raw HTTP.

use std::io::{ErrorKind, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::support::raw_http::{ADMIN, ATTRIBUTE, CUSTOMER, ITEM, PROFILE, Sandbox, ids, message};

const ADD: &str = r#"{"cartItem":{"sku":"mug-blue","qty":1,"quote_id":"1"}}"#;

/// Total quantity in the first quote: what was committed.
fn committed(sandbox: &Sandbox) -> u64 {
    let items = sandbox.show()["quotes"][0]["items"].clone();
    items.as_array().unwrap().iter().map(|item| item["qty"].as_u64().unwrap()).sum()
}

fn add(sandbox: &Sandbox) -> crate::support::raw_http::Answer {
    sandbox.call(CUSTOMER, "POST", ITEM, ADD)
}

fn add_bytes() -> Vec<u8> {
    let authorization = format!("Authorization: Bearer {CUSTOMER}");
    message("POST", ITEM, &[&authorization, "Content-Type: application/json"], ADD.as_bytes())
}

#[test]
fn a_reset_comes_before_or_after_the_commit() {
    for (fault, expected) in [("reset-before-commit", 0), ("reset-after-commit", 1)] {
        let sandbox = Sandbox::with_faults(&[fault]);
        let error = sandbox.bytes(&add_bytes()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::ConnectionReset, "{fault}");
        assert_eq!(committed(&sandbox), expected, "{fault}");
        assert_eq!(sandbox.get(CUSTOMER, PROFILE).status, 200, "reading commits nothing");
    }
}

#[test]
fn statuses_come_before_the_commit_or_after_it() {
    for (fault, status, retry_after, expected) in [
        ("429", 429, None, 0),
        ("429=7", 429, Some("7"), 0),
        ("500", 500, None, 0),
        ("502", 502, None, 0),
        ("503", 503, None, 0),
        ("503=3", 503, Some("3"), 0),
        ("500-after-commit", 500, None, 1),
        ("502-after-commit", 502, None, 1),
        ("503-after-commit=4", 503, Some("4"), 1),
    ] {
        let sandbox = Sandbox::with_faults(&[fault]);
        let answer = add(&sandbox);
        assert_eq!((answer.status, answer.header("retry-after")), (status, retry_after), "{fault}");
        assert_eq!(committed(&sandbox), expected, "{fault}");
        let reads = if fault.ends_with("commit") || expected == 1 { 200 } else { status };
        assert_eq!(sandbox.get(CUSTOMER, PROFILE).status, reads, "{fault}");
    }
}

#[test]
fn body_faults_keep_the_status_and_the_commit() {
    let sandbox = Sandbox::with_faults(&["html"]);
    let page = add(&sandbox);
    assert_eq!((page.status, page.header("content-type")), (200, Some("text/html; charset=utf-8")));
    assert!(page.body.starts_with("<!DOCTYPE html>"));
    assert_eq!(committed(&sandbox), 1);

    let sandbox = Sandbox::with_faults(&["empty"]);
    let empty = add(&sandbox);
    assert_eq!((empty.status, empty.body.as_str(), empty.header("content-length")), (200, "", Some("0")));
    assert_eq!(committed(&sandbox), 1);

    let sandbox = Sandbox::with_faults(&["truncated"]);
    let cut = add(&sandbox);
    let announced: usize = cut.header("content-length").unwrap().parse().unwrap();
    assert_eq!((cut.status, cut.body.len()), (200, announced / 2));
    assert_eq!(committed(&sandbox), 1);
    let large: Vec<Value> = (0..20_000).map(|number| json!({"street": [number.to_string()]})).collect();
    let large = sandbox.put_profile(CUSTOMER, &json!({"addresses": large}));
    assert!(large.body.len() < large.header("content-length").unwrap().parse().unwrap());
}

#[test]
fn the_profile_is_unreadable_or_in_another_envelope() {
    let sandbox = Sandbox::with_faults(&["no-get"]);
    sandbox.get(CUSTOMER, PROFILE).refuses(404, "Request does not match any route.", Value::Null);
    assert_eq!(sandbox.put_profile(CUSTOMER, &json!({})).status, 200);

    let plain = Sandbox::new().profile(CUSTOMER);
    for (fault, pointer) in
        [("envelope", "/items/0"), ("envelope=bare", ""), ("envelope=data", "/data/customer")]
    {
        let sandbox = Sandbox::with_faults(&[fault]);
        assert_eq!(sandbox.get(CUSTOMER, PROFILE).json().pointer(pointer), Some(&plain), "{fault}");
        assert_eq!(sandbox.get("nobody", PROFILE).status, 401);
    }
}

#[test]
fn errors_come_in_other_shapes() {
    let refusal = json!({"message": "The consumer isn't authorized to access %resources.",
                         "parameters": {"resources": "self"}});
    for (fault, expected) in [
        ("error-shape", json!({"messages": {"error": [{"code": 401, "message": refusal["message"]}]}})),
        ("error-shape=result", json!({"code": 401, "result": refusal["message"]})),
        (
            "error-shape=errors",
            json!({"message": "One or more input exceptions have occurred.", "errors": [refusal]}),
        ),
    ] {
        let sandbox = Sandbox::with_faults(&[fault]);
        assert_eq!(sandbox.get("nobody", PROFILE).json(), expected);
        assert_eq!(add(&sandbox).status, 200);
    }
}

#[test]
fn an_attribute_is_updated_silently() {
    let sandbox = Sandbox::with_faults(&["silent-update"]);
    let color = json!({"attribute": {"attribute_code": "color", "default_frontend_label": "Hue"}});
    let answer = sandbox.call(ADMIN, "POST", ATTRIBUTE, &color.to_string());
    assert_eq!((answer.status, &answer.json()["attribute_id"]), (200, &json!(93)));
    assert_eq!(sandbox.show()["attributes"][1]["default_frontend_label"], "Hue");
}

#[test]
fn an_address_is_dropped() {
    let sandbox = Sandbox::with_faults(&["drop-addressx1"]);
    let profile = sandbox.profile(CUSTOMER);
    assert_eq!(sandbox.put_profile(CUSTOMER, &profile).status, 200);
    assert_eq!(sandbox.address_ids(CUSTOMER), [1, 2, 3]);
    let rest = sandbox.profile(CUSTOMER);
    sandbox.put_profile(CUSTOMER, &rest);
    assert_eq!(sandbox.address_ids(CUSTOMER), [1, 2, 3], "once was all");
}

/// A write that is applied loses other parts of its owner: those that it does not change, the last ones first. The reply
/// shows what is then stored.
#[test]
fn other_addresses_are_lost_with_a_write_of_one() {
    let all = json!([{"id": 1, "city": "Lyon"}, {"id": 2}, {"id": 3}, {"id": 4}]);
    let named = |id: i64| format!("/rest/V1/customers/{id}");
    let cities = json!({"customer": {"addresses": Sandbox::new().get(ADMIN, &named(1)).json()["addresses"]}});
    let mut cities: Value = cities;
    cities["customer"]["addresses"][3]["city"] = "Potsdam".into();
    for (fault, kept) in [("lose=1", vec![1, 2, 4]), ("lose=2", vec![1, 4]), ("lose=9", vec![4])] {
        let sandbox = Sandbox::with_faults(&[fault]);
        let answer = sandbox.call(ADMIN, "PUT", &named(1), &cities.to_string());
        assert_eq!((answer.status, ids(&answer.json())), (200, kept.clone()), "{fault}");
        assert_eq!(sandbox.address_ids(CUSTOMER), kept);
    }
    let sandbox = Sandbox::with_faults(&["lose=2x1"]);
    assert_eq!(ids(&sandbox.put_profile(CUSTOMER, &json!({"addresses": all})).json()), [1, 2]);
    assert_eq!(
        ids(&sandbox.put_profile(CUSTOMER, &json!({"firstname": "A"})).json()),
        [1, 2],
        "once was all"
    );
    let sandbox = Sandbox::with_faults(&["lose=3"]);
    assert_eq!(sandbox.call(ADMIN, "DELETE", "/rest/V1/addresses/4", "").status, 200);
    let left = sandbox.get(ADMIN, &named(1)).json();
    assert_eq!(
        (&left["addresses"], left.get("default_shipping")),
        (&json!([]), None),
        "a default goes with it"
    );
    // A refused write loses nothing, nor does one of another customer.
    let sandbox = Sandbox::with_faults(&["lose=1"]);
    assert_eq!(sandbox.call(ADMIN, "DELETE", "/rest/V1/addresses/99", "").status, 404);
    assert_eq!(sandbox.put_profile("sandbox-customer-2", &json!({"firstname": "K"})).status, 200);
    assert_eq!(sandbox.address_ids(CUSTOMER), [1, 2, 3, 4]);
    assert_eq!(sandbox.address_ids("sandbox-customer-2"), [5]);
}

#[test]
fn other_items_and_options_are_lost_with_a_write_of_one() {
    let (items, options) = ("/rest/V1/carts/mine/items", "/rest/all/V1/products/attributes/size/options");
    let sandbox = Sandbox::with_faults(&["DELETE:lose=1", "PUT:lose=1"]);
    for sku in ["mug-blue", "umbrella", "Grüner Tee 100 g", "mug-blue"] {
        sandbox.call(CUSTOMER, "POST", items, &json!({"cartItem": {"sku": sku, "qty": 1}}).to_string());
    }
    let left = || -> Vec<i64> {
        let items = sandbox.get(CUSTOMER, items).json();
        items.as_array().unwrap().iter().map(|item| item["item_id"].as_i64().unwrap()).collect()
    };
    assert_eq!(left(), [1, 2, 3]);
    assert_eq!(
        sandbox.call(CUSTOMER, "PUT", &format!("{items}/3"), r#"{"cartItem": {"qty": 2}}"#).status,
        200
    );
    assert_eq!(left(), [1, 3]);
    assert_eq!(sandbox.call(CUSTOMER, "DELETE", &format!("{items}/1"), "").status, 200);
    assert_eq!(left(), Vec::<i64>::new());
    let sandbox = Sandbox::with_faults(&["POST:lose=1"]);
    for sku in ["umbrella", "mug-blue"] {
        sandbox.call(
            CUSTOMER,
            "POST",
            ITEM,
            &json!({"cartItem": {"sku": sku, "qty": 1, "quote_id": "1"}}).to_string(),
        );
    }
    assert_eq!(sandbox.show()["quotes"][0]["items"][0]["sku"], "mug-blue");

    let values = |sandbox: &Sandbox| -> Vec<String> {
        let options = sandbox.get(ADMIN, "/rest/all/V1/products/attributes/size").json()["options"].clone();
        let values = options.as_array().unwrap().iter().skip(1);
        values.map(|option| option["value"].as_str().unwrap().to_owned()).collect()
    };
    let attribute =
        json!({"attribute": {"attribute_id": 144, "frontend_input": "select", "default_value": "166"}});
    for (method, path, body, kept) in [
        ("POST", options.to_owned(), r#"{"option": {"label": "XXL"}}"#, vec!["171", "166", "167", "168"]),
        (
            "PUT",
            format!("{options}/170"),
            r#"{"option": {"label": "XXL", "sort_order": 9}}"#,
            vec!["166", "167", "170"],
        ),
        ("DELETE", format!("{options}/166"), "", vec!["167", "168"]),
        (
            "PUT",
            "/rest/all/V1/products/attributes/size".to_owned(),
            &attribute.to_string(),
            vec!["166", "167", "168"],
        ),
    ] {
        let sandbox = Sandbox::with_faults(&["lose=2"]);
        assert_eq!(sandbox.call(ADMIN, method, &path, body).status, 200, "{method} {path}");
        assert_eq!(values(&sandbox), kept, "{method} {path}");
    }
}

#[test]
fn a_request_that_arrived_is_handled_even_when_the_client_is_gone() {
    let sandbox = Sandbox::with_faults(&["POST:latency=1000"]);
    let mut stream = TcpStream::connect(sandbox.address()).unwrap();
    stream.write_all(&add_bytes()).unwrap();
    // Requests that came later were answered: this one is being handled.
    for _ in 0..3 {
        sandbox.profile(CUSTOMER);
    }
    assert_eq!(committed(&sandbox), 0, "it waits before the commit");
    drop(stream);
    let deadline = Instant::now() + Duration::from_secs(5);
    while committed(&sandbox) == 0 {
        assert!(Instant::now() < deadline, "never committed");
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn latency_after_the_commit_holds_the_answer_only() {
    let sandbox = Sandbox::with_faults(&["latency-after-commit=2000"]);
    let mut stream = TcpStream::connect(sandbox.address()).unwrap();
    stream.write_all(&add_bytes()).unwrap();
    while committed(&sandbox) == 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
    stream.set_nonblocking(true).unwrap();
    let early = stream.read(&mut [0]).map_err(|error| error.kind());
    assert_eq!(early, Err(ErrorKind::WouldBlock), "the answer waits, the write does not");
    let sandbox = Sandbox::with_faults(&["latency-after-commit=30"]);
    assert_eq!(add(&sandbox).status, 200);
}

#[test]
fn a_fault_applies_by_method_percentage_and_count() {
    let sandbox = Sandbox::with_faults(&["PUT:500x2"]);
    let status = || sandbox.put_profile(CUSTOMER, &json!({})).status;
    assert_eq!(add(&sandbox).status, 200);
    assert_eq!([status(), status(), status()], [500, 500, 200]);

    let sandbox = Sandbox::with_faults(&["429@30"]);
    let struck = (0..200).filter(|_| sandbox.get(CUSTOMER, PROFILE).status == 429).count();
    assert!((25..=95).contains(&struck), "{struck} of 200");
    let seeded = |fault: &str| -> Vec<u16> {
        let sandbox = Sandbox::with_faults(&[fault]);
        (0..40).map(|_| sandbox.get(CUSTOMER, PROFILE).status).collect()
    };
    let first = seeded("429@30:seed=7");
    assert!(first.contains(&429) && first.contains(&200), "{first:?}");
    assert_eq!(seeded("429@30:seed=7"), first, "the same seed strikes the same requests");
    assert_ne!(seeded("429@30:seed=8"), first);

    let sandbox = Sandbox::with_faults(&["GET:html", "PUT:truncated", "POST:500"]);
    assert!(sandbox.get(CUSTOMER, PROFILE).body.starts_with('<'));
    assert_eq!(add(&sandbox).status, 500);
}

#[test]
fn a_late_write_is_answered_504_at_once_and_applied_after_its_time() {
    let sandbox = Sandbox::with_faults(&["late=1500"]);
    let started = Instant::now();
    let answer = add(&sandbox);
    assert_eq!((answer.status, answer.header("content-type")), (504, Some("text/html; charset=utf-8")));
    assert_eq!(committed(&sandbox), 0, "not yet");
    while committed(&sandbox) == 0 {
        assert!(started.elapsed() < Duration::from_secs(20), "never applied");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(sandbox.get(CUSTOMER, PROFILE).status, 200, "reads are not late");
}

#[test]
fn a_late_write_is_applied_before_a_stop() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("sandbox.db");
    let sandbox = Sandbox::on(&data, &["late=600000"]);
    assert_eq!(add(&sandbox).status, 504);
    drop(sandbox);
    assert_eq!(committed(&Sandbox::on(&data, &[])), 1);
}

#[test]
fn stale_read_answers_the_given_number_of_stale_reads() {
    let sandbox = Sandbox::with_faults(&["stale-read=2"]);
    let city = || sandbox.profile(CUSTOMER)["addresses"][0]["city"].as_str().unwrap().to_owned();
    assert_eq!(city(), "Paris");
    let list = json!([{"id": 1, "city": "Lyon"}, {"id": 2}, {"id": 3}, {"id": 4}]);
    let answer = sandbox.put_profile(CUSTOMER, &json!({"addresses": list}));
    assert_eq!(answer.json()["addresses"][0]["city"], "Lyon", "the write itself answers what it stored");
    assert_eq!([city(), city(), city(), city()], ["Paris", "Paris", "Lyon", "Lyon"]);
    assert_eq!(sandbox.put_profile(CUSTOMER, &json!({"addresses": [{"id": 999}]})).status, 404);
    assert_eq!(city(), "Lyon");
    // A refused write changed nothing, so that there is no earlier state to answer.
    assert_eq!(sandbox.put_profile(CUSTOMER, &json!({"addresses": []})).status, 200);
    assert_eq!(sandbox.address_ids(CUSTOMER).len(), 4);
    assert_eq!(sandbox.put_profile(CUSTOMER, &json!({"firstname": "A"})).status, 200);
    let lengths: Vec<usize> = (0..3).map(|_| sandbox.address_ids(CUSTOMER).len()).collect();
    assert_eq!(lengths, [0, 0, 0], "the newest write decides");
}

#[test]
fn varnish_answers_its_own_page_whether_applied_or_not() {
    for (fault, expected) in [("varnish", 1), ("varnish=applied", 1), ("varnish=not-applied", 0)] {
        let sandbox = Sandbox::with_faults(&[fault]);
        let page = add(&sandbox);
        assert_eq!((page.status, page.header("retry-after")), (503, Some("5")), "{fault}");
        assert_eq!(page.header("via"), Some("1.1 varnish (Varnish/6.0)"));
        assert!(page.header("x-varnish").is_some() && page.body.contains("Guru Meditation"), "{page:?}");
        assert_eq!(committed(&sandbox), expected, "{fault}");
    }
}

#[test]
fn stopping_does_not_wait_for_a_delayed_request() {
    let sandbox = Sandbox::with_faults(&["latency-after-commit=60000"]);
    let mut stream = TcpStream::connect(sandbox.address()).unwrap();
    stream.write_all(&add_bytes()).unwrap();
    while committed(&sandbox) == 0 {
        std::thread::sleep(Duration::from_millis(5));
    }
    let started = Instant::now();
    drop(sandbox);
    assert!(started.elapsed() < Duration::from_secs(30));
}
