//! A shop that stores values in its own notation: what it makes of a value is that value.

use serde_json::{Value, json};

use crate::support::mock_server::MockServer;
use crate::support::scripted::{methods, ok, run};
use crate::support::storefront::Home;

fn puts(server: &MockServer) -> usize {
    methods(server).iter().filter(|method| *method == "PUT").count()
}

/// A nightly export has them as people write them.
#[test]
fn a_date_without_its_midnight_and_a_number_without_its_zeros_are_unchanged() {
    let stored = |since: &str, limit: &str, floor: &str| {
        let attribute = |code: &str, value: &str| json!({"attribute_code": code, "value": value});
        json!({"id": 1, "email": "a@example.com", "firstname": "A", "lastname": "B",
            "custom_attributes": [attribute("since", since), attribute("limit", limit)],
            "addresses": [{"id": 1, "city": "Ulm", "custom_attributes": [attribute("floor", floor)]}]})
    };
    let shown = stored("2020-02-29 00:00:00", "1500.5000", "3.0000");
    for (sent, reply, count) in [
        (stored("2020-02-29", "1500.5", "3"), shown.clone(), 0),
        (stored("2020-02-29 ", "1500.50", "3.0"), shown.clone(), 0),
        (stored("2020-02-29", "1500.5", "4"), stored("2020-02-29 00:00:00", "1500.5000", "4.0000"), 1),
        (stored("2020-03-01", "1500.51", "3"), stored("2020-03-01 00:00:00", "1500.5100", "3.0000"), 1),
    ] {
        let (home, server) = (Home::new(), MockServer::start(vec![ok(&shown), ok(&reply)]));
        home.write("in.json", sent.to_string(), 0o600);
        let line = format!("--api magento customer update -i {}", home.path("in.json").display());
        let outcome = run(&home, &server.url(""), &format!("{line} --settle 0")).done();
        let reason = (count == 0).then_some("unchanged");
        assert_eq!((outcome["reason"].as_str(), puts(&server)), (reason, count), "{sent}: {outcome}");
        assert_eq!(outcome["verified"], if count == 0 { Value::Null } else { json!(true) }, "{outcome}");
    }
}
