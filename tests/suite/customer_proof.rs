//! What no read can tell from what was there before is never taken as a proof that an update was applied.

use serde_json::{Value, json};

use crate::support::magento;
use crate::support::mock_server::{MockServer, Step};
use crate::support::scripted::{methods, ok, profile, run};
use crate::support::storefront::{Home, Outcome};
use crate::support::test_env::TestEnv;

fn stored() -> Value {
    profile(
        json!({"updated_at": "2026-01-01", "addresses": [{"id": 1, "city": "Paris", "fax": ""}, {"id": 2}]}),
    )
}

/// Drafts that a read shows before they are sent.
fn invisible() -> [Value; 3] {
    [
        json!({"addresses": [{"id": 1, "city": "Paris "}]}),
        json!({"updated_at": "2026-01-02"}),
        json!({"updated_at": "2026-01-02", "addresses": [{"id": 1, "city": " Paris"}]}),
    ]
}

/// A home with such a draft, and a server that loses the reply to its PUT and shows the same profile for ever.
fn lost(draft: &Value, name: &str, content: &str) -> (Home, MockServer, Outcome) {
    let (home, server) = (Home::new(), MockServer::start(vec![ok(&stored()), Step::Close, ok(&stored())]));
    home.write(name, content, 0o600);
    let path = home.path(name).display().to_string();
    let outcome = run(&home, &server.url(""), &format!("customer update -i {path} --settle 2 --retry 0"));
    assert_ne!(outcome.code, 0, "{draft}: {outcome:?}");
    (home, server, outcome)
}

fn puts(server: &MockServer) -> usize {
    methods(server).iter().filter(|method| *method == "PUT").count()
}

#[test]
fn an_update_that_no_read_can_show_stays_unknown() {
    for draft in invisible() {
        let (home, server, outcome) = lost(&draft, "in.json", &draft.to_string());
        assert_eq!(
            (outcome.code, &outcome.error()["applied"]),
            (8, &json!("unknown")),
            "{draft}: {outcome:?}"
        );
        let message = outcome.error()["message"].to_string();
        assert!(message.contains("nothing that a read could show"), "{message}");
        let checked = run(&home, &server.url(""), "verify latest");
        assert_eq!(checked.code, 8, "{draft}: {checked:?}");
        let next = run(&home, &server.url(""), "customer update --gender 2 --settle 0");
        assert_eq!((next.code, puts(&server)), (3, 1), "{draft}: {next:?}");
        let restored = run(&home, &server.url(""), "undo LAST --settle 0 --yes");
        assert_eq!((restored.code, puts(&server)), (3, 1), "{draft}: {restored:?}");
    }
}

#[test]
fn a_record_that_no_read_can_show_is_never_found_applied() {
    for draft in invisible() {
        let (home, server, _) = lost(&draft, "in.ndjson", &format!("{draft}\n"));
        let path = home.path("in.ndjson").display().to_string();
        let resumed = run(&home, &server.url(""), &format!("customer update -i {path} --resume --settle 2"));
        assert_eq!((resumed.code, puts(&server)), (8, 1), "{draft}: {resumed:?}");
    }
}

/// With a change beside it that a read shows, the whole request is proven.
#[test]
fn one_change_that_a_read_shows_proves_the_others() {
    let (mut new, draft) = (stored(), json!({"gender": 2, "addresses": [{"id": 1, "city": "Paris "}]}));
    new["gender"] = json!(2);
    let (home, server) = (Home::new(), MockServer::start(vec![ok(&stored()), Step::Close, ok(&new)]));
    home.write("in.json", draft.to_string(), 0o600);
    let path = home.path("in.json").display().to_string();
    let outcome = run(&home, &server.url(""), &format!("customer update -i {path} --settle 2"));
    assert_eq!(outcome.code, 0, "{outcome:?}");
}

#[test]
fn what_is_stored_in_another_notation_is_unchanged() {
    let stored = profile(json!({"gender": "1", "taxvat": null, "addresses":
        [{"id": 1, "postcode": 10118, "fax": "", "region_id": 0, "default_billing": 1}, {"id": 2}]}));
    for draft in [
        json!({"gender": 1}),
        json!({"taxvat": ""}),
        json!({"addresses": [{"id": 1, "postcode": "10118"}]}),
        json!({"addresses": [{"id": 1, "fax": null}, {"id": 2, "company": ""}]}),
        json!({"addresses": [{"id": 1, "default_billing": true}]}),
    ] {
        let (home, server) = (Home::new(), MockServer::start(vec![ok(&stored)]));
        home.write("in.json", draft.to_string(), 0o600);
        let path = home.path("in.json").display().to_string();
        let outcome = run(&home, &server.url(""), &format!("customer update -i {path} --settle 0"));
        assert_eq!((outcome.code, puts(&server)), (0, 0), "{draft}: {outcome:?}");
        assert_eq!(outcome.done()["reason"], "unchanged", "{draft}");
    }
}

/// Names and codes that the draft left open are the shop's to fill in.
#[test]
fn a_region_that_was_sent_by_its_id_is_recognized_with_its_texts() {
    const NEW: &str = "--add-address --address-firstname A --address-lastname B --street s --city Berlin --postcode 10115 \
         --country DE --telephone +49301234567 --region-id 82";
    const MOVED: &str = "--address 2 --city 'Los Angeles' --postcode 90001 --region-id 12";
    for what in [NEW, MOVED] {
        let env = TestEnv::with_faults(&["PUT:reset-after-commitx1"]);
        let outcome =
            magento::run(&env, &format!("customer update --customer 1 {what} -y --retry 0 --settle 2"));
        assert_eq!(outcome.code, 0, "{outcome:?}");
        let verified = magento::run(&env, "verify latest");
        assert_eq!(verified.code, 0, "{verified:?}");
    }
}
