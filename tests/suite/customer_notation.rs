//! A shop that stores values in its own notation: what it makes of a value is that value.

use serde_json::{Value, json};

use crate::support::mock_server::{MockServer, Step};
use crate::support::scripted::{methods, ok, profile, run};
use crate::support::storefront::Home;

const EMAIL: &str = "customer update --email new@example.com --settle 0";

fn taken() -> Step {
    ok(&json!({}))
}

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

fn in_city(city: &str) -> Value {
    profile(json!({"addresses": [{"id": 1, "city": city}, {"id": 2}]}))
}

#[test]
fn a_value_that_was_set_back_is_not_an_old_one() {
    let mut written = in_city("PARIS");
    written["email"] = "new@example.com".into();
    let script = [
        [ok(&in_city("PARIS")), taken(), ok(&in_city("ROME"))],
        [ok(&in_city("ROME")), taken(), ok(&in_city("PARIS"))],
        [ok(&in_city("PARIS")), taken(), ok(&written)],
    ];
    let (home, server) = (Home::new(), MockServer::start(script.concat()));
    for line in ["--city Rome", "--city Paris"] {
        let line = format!("customer update --address 1 {line} --settle 0");
        assert_eq!(run(&home, &server.url(""), &line).code, 0);
    }
    run(&home, &server.url(""), EMAIL).done();
}

/// What the reads showed of both updates is compared, not what was sent.
#[test]
fn an_old_read_of_a_value_in_other_notation_is_recognized() {
    let script = vec![
        ok(&in_city("PARIS")),
        taken(),
        ok(&in_city("ROME")),
        ok(&in_city("ROME")),
        taken(),
        ok(&in_city("NICE")),
    ];
    for old in ["PARIS", "ROME"] {
        let then = vec![ok(&in_city(old))];
        let (home, server) = (Home::new(), MockServer::start([script.clone(), then].concat()));
        for line in ["--city Rome", "--city Nice"] {
            let line = format!("customer update --address 1 {line} --settle 0");
            assert_eq!(run(&home, &server.url(""), &line).code, 0);
        }
        let outcome = run(&home, &server.url(""), EMAIL);
        assert_eq!((outcome.code, puts(&server)), (3, 2), "{outcome:?}");
        assert!(outcome.stderr.contains("address 1 city has its old value"), "{outcome:?}");
    }
}

/// All three fields were asked for, and all three are written in capitals.
#[test]
fn an_address_that_was_corrected_and_is_written_in_capitals_is_not_another_one() {
    let address = |street: &str, city: &str, postcode: &str| {
        let address = json!({"id": 1, "street": [street], "city": city, "postcode": postcode});
        profile(json!({"addresses": [address, {"id": 2}]}))
    };
    let (before, after) = (address("Road", "Hull", "a1"), address("WAY", "LEEDS", "B2"));
    let (home, server) = (Home::new(), MockServer::start(vec![ok(&before), taken(), ok(&after)]));
    let line = "customer update --address 1 --street Way --city Leeds --postcode b2 --settle 0";
    let outcome = run(&home, &server.url(""), line);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.stderr.contains("sent Leeds, the service has LEEDS"), "{outcome:?}");
}

/// The update is there: nothing of it is still to come.
#[test]
fn an_update_that_is_visible_and_lost_an_address_holds_nothing_back() {
    let lost = profile(json!({"addresses": [{"id": 1, "city": "Rome"}]}));
    let mut written = lost.clone();
    written["email"] = "new@example.com".into();
    let script = vec![ok(&in_city("Paris")), taken(), ok(&lost), ok(&lost), ok(&lost), taken(), ok(&written)];
    let (home, server) = (Home::new(), MockServer::start(script));
    let first = run(&home, &server.url(""), "customer update --address 1 --city Rome --settle 0");
    assert_eq!(first.code, 9, "{first:?}");
    run(&home, &server.url(""), EMAIL).done();
}

/// The interface does not answer with the profile: only a notation of what was sent is the shop's own.
#[test]
fn what_a_colleague_wrote_before_the_look_is_not_the_shops_notation() {
    for (shown, is_undone) in [("Lyon", false), ("ROMÉ", true)] {
        let script = [in_city("Paris"), json!({}), in_city(shown), in_city(shown)].map(|body| ok(&body));
        let then = [ok(&in_city(shown)), taken(), ok(&in_city("Paris"))];
        let (home, server) =
            (Home::new(), MockServer::start(script.into_iter().chain(then).collect::<Vec<_>>()));
        let line = "customer update --address 1 --city Rome --settle 0";
        assert_eq!(run(&home, &server.url(""), line).code, 0);
        let undone = run(&home, &server.url(""), "undo 1 -y --settle 0");
        assert_eq!(puts(&server), 1 + usize::from(is_undone), "{shown}: {undone:?}");
        assert_eq!(undone.stderr.contains("is not as it was written"), !is_undone, "{undone:?}");
    }
}

/// The report of the update has said that it is not visible.
#[test]
fn what_was_accepted_and_is_not_visible_is_not_there() {
    let script = [ok(&in_city("Paris")), taken(), ok(&in_city("Paris")), ok(&in_city("Paris"))];
    let (home, server) = (Home::new(), MockServer::start(script.into()));
    let line = "customer update --address 1 --city Rome --settle 0";
    assert_eq!(run(&home, &server.url(""), line).code, 9);
    let verified = run(&home, &server.url(""), "verify 1");
    assert_eq!(verified.code, 7, "{verified:?}");
    assert!(verified.stdout.contains(r#""state":"changed""#), "{verified:?}");
    assert!(verified.stdout.contains(r#""written":"Rome","now":"Paris""#), "{verified:?}");
    let history = run(&home, &server.url(""), "history 1");
    assert!(history.stdout.contains(r#""before":"Paris","after":"Rome""#), "{history:?}");
}
