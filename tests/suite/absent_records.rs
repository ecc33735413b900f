//! A 404 says that a record is not there only in Magento's own words about it: that of a gateway, of another server or about
//! another record says nothing.

use serde_json::{Value, json};

use crate::cart_reports::{JSON, impatient, json, on};
use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::storefront::Outcome;

/// What a gateway says in JSON of a path that it does not forward.
fn gateway() -> Step {
    answer("404 Not Found", JSON, r#"{"message": "no Route matched with those values"}"#)
}

fn said(message: &str, parameters: &Value) -> Step {
    answer("404 Not Found", JSON, &json!({"message": message, "parameters": parameters}).to_string())
}

fn against(script: Vec<Step>, line: &str) -> (Outcome, Vec<String>) {
    let server = MockServer::start(script);
    let outcome = on(&impatient(&server), &server, line);
    let requests = server.requests();
    (outcome, requests.iter().map(|request| request.split(' ').next().unwrap().to_owned()).collect())
}

#[test]
fn a_gateways_404_is_no_missing_record_of_a_read() {
    let profile = || {
        json(&json!({"id": 1, "email": "a@b.example", "firstname": "A", "lastname": "B", "addresses": [
            {"id": 2, "customer_id": 1, "firstname": "A", "lastname": "B", "street": ["x"], "city": "Ely",
             "postcode": "1", "telephone": "1", "country_id": "GB"}]}))
    };
    for (script, line, code) in [
        (
            vec![profile(), gateway()],
            "customer update --customer 1 --address 2 --country US --region-code TX -y",
            5,
        ),
        (vec![gateway()], "customer show --customer 1", 3),
        (vec![gateway()], "quote show --customer 1", 5),
        (vec![gateway()], "attribute show color", 5),
        (vec![gateway()], "attribute option add color --option Red", 5),
        (vec![gateway()], "attribute create --code color --label Color --type text", 5),
    ] {
        let (outcome, requests) = against(script, line);
        let error = outcome.error();
        assert_eq!((outcome.code, &error["applied"]), (code, &json!("no")), "{line}: {outcome:?}");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("404 Not Found: no Route matched"), "{line}: {message}");
        assert!(requests.iter().all(|method| method == "GET"), "{line}: {requests:?}");
    }
}

#[test]
fn magentos_own_words_are_known_as_a_template_and_filled_in() {
    let attribute =
        "The attribute with a \"%1\" attributeCode doesn't exist. Verify the attribute and try again.";
    for step in [said(attribute, &json!(["color"])), said(&attribute.replace("%1", "color"), &Value::Null)] {
        let (outcome, _) = against(vec![step], "attribute show color");
        assert_eq!(
            (outcome.code, &outcome.error()["message"]),
            (2, &json!("the shop has no attribute `color`"))
        );
    }
    let nobody = "No such entity with %fieldName = %fieldValue";
    for (step, code) in [
        (said(nobody, &json!({"fieldName": "customerId", "fieldValue": 1})), 2),
        (said("No such entity with customerId = 1", &Value::Null), 2),
        (said(nobody, &json!({"fieldName": "customerId", "fieldValue": 10})), 3),
        (said(nobody, &json!({"fieldName": "websiteId", "fieldValue": 1})), 3),
    ] {
        let (outcome, _) = against(vec![step], "customer show --customer 1");
        assert_eq!(outcome.code, code, "{outcome:?}");
    }
}

fn item(id: u32) -> Value {
    json!({"item_id": id, "sku": format!("mug-{id}"), "qty": 2, "quote_id": "7"})
}

fn cart(items: &[Value]) -> Value {
    json!({"id": 7, "is_active": true, "customer": {"id": 1}, "items": items})
}

/// A 404 about another cart or item, or one that a read does not bear out, is no removal.
#[test]
fn an_item_is_gone_where_the_404_names_it_and_a_read_does_not_show_it() {
    let found = || json(&json!({"items": [cart(&[item(1), item(2)])], "total_count": 1}));
    let words = "The %1 Cart doesn't contain the %2 item.";
    let gone = |cart: u32, item: u32| said(words, &json!([cart, item]));
    let filled = said("The 7 Cart doesn't contain the 1 item.", &Value::Null);
    let (without, with) = (json(&cart(&[item(2)])), json(&cart(&[item(1), item(2)])));
    for (refusal, read, code, applied) in [
        (gone(7, 1), without.clone(), 0, "yes"),
        (filled, without.clone(), 0, "yes"),
        (gone(7, 1), with.clone(), 4, "no"),
        (gone(7, 1), gateway(), 4, "unknown"),
        (gone(9, 1), with.clone(), 4, "no"),
        (gone(7, 2), with.clone(), 4, "no"),
        (gone(9, 1), without.clone(), 9, "unknown"),
        (said(words, &Value::Null), without.clone(), 9, "unknown"),
        (gateway(), with.clone(), 4, "no"),
    ] {
        let line = "quote remove-item --customer 1 --item 1 -y";
        let (outcome, methods) = against(vec![found(), refusal, read], line);
        let printed = if outcome.code == 0 { outcome.stdout.parse().unwrap() } else { outcome.error() };
        assert_eq!((outcome.code, &printed["applied"]), (code, &json!(applied)), "{outcome:?}");
        assert_eq!(methods[..3], ["GET", "DELETE", "GET"], "{methods:?}");
    }
}

/// Of a record that is looked at later nothing is known where the answer is not the shop's own.
#[test]
fn a_gateways_404_is_no_attribute_that_is_gone() {
    let attribute = json!({"attribute_id": 93, "attribute_code": "color", "frontend_input": "text",
        "default_frontend_label": "Color"});
    let absent = said(
        "The attribute with a \"%1\" attributeCode doesn't exist. Verify the attribute and try again.",
        &json!(["color"]),
    );
    let server = MockServer::start(vec![absent, json(&attribute), gateway()]);
    let home = impatient(&server);
    std::fs::write(home.dir.path().join("a.csv"), "code,type,label\ncolor,text,Color\n").unwrap();
    assert_eq!(on(&home, &server, "attribute create -i a.csv -y").code, 0);
    let verified = on(&home, &server, "verify a.csv.journal");
    assert!(!verified.stdout.contains("attribute_code"), "{verified:?}");
    assert_eq!(verified.code, 5, "{verified:?}");
}
