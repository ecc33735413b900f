//! Answers that are not what was asked for: of another customer, a page instead of data, a missing route.

use serde_json::Value;

use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::scripted::failing;
use crate::support::storefront::Home;
use crate::support::test_env::serve;

const JSON: &str = "Content-Type: application/json\r\n";
const PAGE: &str = "<!DOCTYPE html><html><title>Sign in</title></html>";

fn json(body: &str) -> Step {
    answer("200 OK", JSON, body)
}

fn page() -> Step {
    answer("200 OK", "Content-Type: text/html\r\n", PAGE)
}

#[test]
fn another_customer_in_a_later_read_stops_the_update() {
    let one = json(r#"{"id": 1, "firstname": "A", "addresses": [{"id": 11}, {"id": 12}]}"#);
    let busy = answer("429 Too Many Requests", "Retry-After: 0\r\n", "");
    let other = json(r#"{"id": 2, "firstname": "B", "addresses": []}"#);
    let (code, error, methods) =
        failing(vec![one, busy, other], "customer update --gender 2 --yes --retry 1");
    assert_eq!((code, &error["applied"]), (3, &Value::from("no")), "{error}");
    assert_eq!(
        error["message"],
        "the service answered with the profile of customer 2, and before with that of customer 1"
    );
    assert_eq!(methods, ["GET", "PUT", "GET"]);
}

/// A cache that ignores the token answers with the profile of another customer.
#[test]
fn another_customer_than_the_tokens_stops_the_update() {
    let seven = |city: &str| json(&format!(r#"{{"id": 7, "addresses": [{{"id": 1, "city": "{city}"}}]}}"#));
    let eight = |city: &str| json(&format!(r#"{{"id": 8, "addresses": [{{"id": 2, "city": "{city}"}}]}}"#));
    let first = vec![seven("Rome"), json("{}"), seven("Oslo")];
    let then = vec![eight("Paris"), eight("Paris"), eight("Paris"), json("{}"), eight("Lyon")];
    let (home, server) = (Home::new(), MockServer::start([first, then].concat()));
    let run = |line: &str| serve(home.storefront(&format!("{line} -q -o json")), &server.url("")).run();
    run("customer update --address 1 --city Oslo").done();
    let refused = run("customer update --address 2 --city Lyon");
    assert_eq!((refused.code, &refused.error()["applied"]), (3, &Value::from("no")), "{refused:?}");
    assert_eq!(
        refused.error()["message"],
        "the service answered with the profile of customer 8, and this token was customer 7's before"
    );
    assert!(refused.error()["hint"].as_str().unwrap().contains("`storefront forget --token`"));
    assert_eq!(run("customer show").code, 3, "nor is it shown as the token's own");
    // Where the token was given to another customer, the hint helps.
    assert_eq!(run("forget --token").code, 0);
    run("customer update --address 2 --city Lyon").done();
}

#[test]
fn a_page_is_no_list_of_regions() {
    let profile = r#"{"id": 1, "addresses": [{"id": 11, "country_id": "US", "region_id": 43,
        "region": {"region_id": 43, "region": "New York", "region_code": "NY"}}]}"#;
    let line = "customer update --api magento --customer 1 --address 11 --region-code CA --yes";
    let (code, error, methods) = failing(vec![json(profile), page()], line);
    assert_eq!((code, &error["applied"], methods.len()), (5, &Value::from("no"), 2), "{error}");
    for countries in [json("{}"), json("[]"), json(r#"{"id": "FR", "available_regions": []}"#)] {
        let (code, error, methods) = failing(vec![json(profile), countries], line);
        assert_eq!((code, &error["applied"]), (5, &Value::from("no")), "{error}");
        assert_eq!(error["message"], "the regions of `US` could not be read: unexpected response");
        assert!(!methods.contains(&"PUT".to_owned()), "{methods:?}");
    }
}

#[test]
fn a_page_is_no_attribute_and_no_list_of_carts() {
    let create = "attribute create --api magento --code fabric --label Fabric --type text";
    let (code, error, methods) = failing(vec![page()], create);
    assert_eq!((code, &error["applied"], methods.len()), (5, &Value::from("no"), 1), "{error}");
    let ship = "quote ship --api magento --customer 1 --carrier flatrate --method flatrate --no-payment";
    let (code, error, _) = failing(vec![page()], ship);
    assert_eq!((code, &error["applied"]), (5, &Value::from("no")), "{error}");
    assert_eq!(error["message"], "the service answered 200 OK with an HTML page");
}

#[test]
fn a_missing_route_is_no_missing_customer() {
    let route = answer("404 Not Found", JSON, r#"{"message": "Request does not match any route."}"#);
    let (_, error, _) = failing(vec![route], "customer show --api magento --customer 1");
    assert!(!error["message"].as_str().unwrap().contains("no customer has the ID"), "{error}");
    let nobody = r#"{"message": "No such entity with %fieldName = %fieldValue", "parameters": {"fieldName": "customerId", "fieldValue": 1}}"#;
    let (code, error, _) =
        failing(vec![answer("404 Not Found", JSON, nobody)], "customer show --api magento --customer 1");
    assert_eq!((code, &error["message"]), (2, &Value::from("no customer has the ID 1")), "{error}");
}

/// PHP prints its notices before the reply.
const NOTICES: [&str; 3] = [
    "<br />\n<b>Deprecated</b>: x in <b>/var/www/a.php</b> on line <b>12</b><br />\n",
    "\nDeprecated: x in /var/www/a.php on line 12\n",
    "<!-- slow --><title>Jane Roe</title>",
];

#[track_caller]
fn holds_nothing_of_the_customer(what: &str, text: &str) {
    for private in ["jane@example.com", "1984-07-19", "Secret Street", "Jane Roe"] {
        assert!(!text.contains(private), "{what}: {text}");
    }
}

#[test]
fn a_body_that_is_no_error_is_never_quoted() {
    let profile = r#"{"id": 1, "email": "jane@example.com", "dob": "1984-07-19",
        "addresses": [{"id": 1, "street": ["1 Secret Street"], "city": "Rome"}]}"#;
    let html = "Content-Type: text/html\r\n";
    for notice in NOTICES {
        for kind in [html, JSON] {
            for status in ["200 OK", "202 Accepted", "303 See Other"] {
                let broken = answer(status, kind, &format!("{notice}{profile}"));
                for steps in [vec![broken.clone()], vec![json(profile), broken.clone()]] {
                    for mode in ["", "-o json"] {
                        let (home, server) = (Home::new(), MockServer::start(steps.clone()));
                        let line = "customer update --address 1 --city Oslo --yes -q --retry 0 --settle 0";
                        let outcome =
                            serve(home.storefront(&format!("{line} {mode}")), &server.url("")).run();
                        holds_nothing_of_the_customer(&format!("{status} {mode}"), &outcome.stderr);
                    }
                }
            }
        }
    }
}

/// What failed while it was printed, or at a gateway, has the customer in it.
#[test]
fn a_customer_in_the_body_of_a_failure_is_never_quoted() {
    let profile = r#"{"id": 1, "email": "jane@example.com", "dob": "1984-07-19",
        "addresses": [{"id": 1, "street": ["1 Secret Street"], "city": "Rome"}]}"#;
    let cut = &profile[..profile.len() - 2];
    for body in
        [profile.to_owned(), format!("{}{profile}", NOTICES[0]), format!("{}{cut}", NOTICES[1]), cut.into()]
    {
        for status in ["500 Internal Server Error", "502 Bad Gateway", "400 Bad Request", "403 Forbidden"] {
            let broken = answer(status, JSON, &body);
            for steps in [vec![broken.clone()], vec![json(profile), broken.clone()]] {
                for mode in ["", "-o json"] {
                    let (home, server) = (Home::new(), MockServer::start(steps.clone()));
                    let line = "customer update --address 1 --city Oslo --yes -q --retry 0 --settle 0";
                    let outcome = serve(home.storefront(&format!("{line} {mode}")), &server.url("")).run();
                    assert!(outcome.stderr.contains(&status[4..]), "{outcome:?}");
                    holds_nothing_of_the_customer(&format!("{status} {mode}"), &outcome.stderr);
                }
            }
        }
    }
}

#[test]
fn a_body_that_is_no_error_is_in_no_journal() {
    let server =
        MockServer::start(vec![answer("200 OK", JSON, "<br />Notice: x\n{\"email\": \"jane@example.com\"}")]);
    let home = Home::new();
    std::fs::write(home.dir.path().join("in.csv"), "sku,qty,quote_id\na,1,1\n").unwrap();
    let outcome = serve(home.storefront("quote add-item -i in.csv --yes --retry 0"), &server.url("")).run();
    assert_eq!(outcome.code, 8, "{outcome:?}");
    let journal = std::fs::read_to_string(home.dir.path().join("in.csv.journal")).unwrap();
    assert!(journal.contains("200 OK"), "{journal}");
    holds_nothing_of_the_customer("the journal", &journal);
    holds_nothing_of_the_customer("the output", &outcome.stderr);
}

#[test]
fn an_attribute_set_without_groups_is_named() {
    let attribute = json(r#"{"attribute_id": 7, "attribute_code": "fabric"}"#);
    let sets =
        json(r#"{"items": [{"attribute_set_id": 4, "attribute_set_name": "Bare"}], "total_count": 1}"#);
    let groups = json(r#"{"items": [], "total_count": 0}"#);
    for steps in [vec![sets.clone(), groups.clone()], vec![attribute, sets, groups]] {
        let (code, error, _) = failing(steps, "attribute assign fabric --set Bare --api magento");
        if code == 2 {
            assert_eq!(error["message"], "the attribute set `Bare` has no group");
            return;
        }
    }
    panic!("no order of the calls led to the groups");
}
