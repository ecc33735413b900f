//! Custom attributes of customers and addresses: codes and options are those of the shop.

use serde_json::{Value, json};

use crate::support::magento;
use crate::support::mock_server::{MockServer, answer};
use crate::support::scripted::{ok, run};
use crate::support::storefront::Home;
use crate::support::test_env::TestEnv;

fn values(env: &TestEnv) -> Value {
    let shown = magento::done(env, "customer show --customer 1");
    let all = shown["custom_attributes"].as_array().unwrap().iter();
    all.map(|one| (one["attribute_code"].as_str().unwrap().to_owned(), one["value"].clone())).collect()
}

#[test]
fn without_an_address_they_are_the_customers_own_and_options_have_labels() {
    let env = TestEnv::new();
    let line = "customer update --customer 1 --custom-attribute loyalty_no=L-7 preferred_language=german";
    let result = magento::done(&env, line);
    assert_eq!(values(&env), json!({"preferred_language": "de", "loyalty_no": "L-7"}), "{result}");
    magento::done(&env, "customer update --customer 1 --address 1 --custom-attribute door_code=C1");
    assert_eq!(env.address(1)["custom_attributes"][0], json!({"attribute_code": "door_code", "value": "C1"}));
    magento::done(&env, "customer update --customer 1 --custom-attribute loyalty_no=");
    assert_eq!(values(&env), json!({"preferred_language": "de"}));
}

/// The shop would ignore it, and the update would end as written, but not visible.
#[test]
fn an_unknown_code_or_option_is_refused_with_what_there_is() {
    let env = TestEnv::new();
    let refused = |line: &str| {
        let error = magento::fails(&env, 2, &format!("customer update --customer 1 {line}"));
        format!("{}; {}", error["message"].as_str().unwrap(), error["hint"].as_str().unwrap())
    };
    assert_eq!(
        refused("--custom-attribute loyality_no=1"),
        "the shop has no custom attribute `loyality_no` for customers; did you mean `loyalty_no`?"
    );
    assert_eq!(
        refused("--custom-attribute preferred_language=Klingon"),
        "`Klingon` is not an option of the custom attribute `preferred_language`; its options are `English`, \
         `French`, `German`"
    );
    let other = refused("--address 1 --custom-attribute bell=2");
    assert!(other.ends_with("it has `door_code`, `firstname_kana`, `lastname_kana`"), "{other}");
    env.file("in.json", r#"{"custom_attributes": [{"attribute_code": "x", "value": "1"}]}"#);
    assert!(refused("-i in.json").starts_with("the shop has no custom attribute `x` for customers"));
    assert!(env.requests().iter().all(|request| request == "GET 200"), "nothing was sent");
}

#[test]
fn the_shop_is_asked_once_a_run_and_only_where_an_attribute_is_named_that_is_not_stored() {
    let env = TestEnv::new();
    env.file("plain.csv", "customer,gender\n1,1\n2,2\n");
    magento::done(&env, "customer update --customer 1 --gender 3");
    assert_eq!(env.requests(), ["GET 200", "PUT 200"]);
    magento::done(&env, "customer update --customer 1 --custom-attribute preferred_language=fr");
    assert_eq!(env.requests(), ["GET 200"], "it is stored so");
    let record = |customer: u32, number: &str| {
        let list = json!([{"attribute_code": "loyalty_no", "value": number}]);
        json!({"customer": customer, "custom_attributes": list}).to_string()
    };
    let records = format!("{}\n{}\n{}\n", record(1, "A"), record(2, "B"), record(3, "C"));
    env.file("in.ndjson", records);
    let batch = magento::run(&env, "customer update -i in.ndjson --jobs 1");
    assert_eq!(batch.code, 0, "{batch:?}");
    assert_eq!(env.requests().iter().filter(|request| *request == "GET 200").count(), 3 + 1, "{batch:?}");
}

#[test]
fn a_shop_that_does_not_show_its_attributes_is_gone_on_with() {
    let stored = |number: Option<&str>| {
        let list: Vec<Value> =
            number.iter().map(|number| json!({"attribute_code": "loyalty_no", "value": number})).collect();
        json!({"id": 1, "email": "a@example.com", "firstname": "A", "lastname": "B", "addresses": [],
            "custom_attributes": list})
    };
    for refusal in ["403 Forbidden", "404 Not Found"] {
        let script = vec![
            ok(&stored(None)),
            answer(refusal, "", r#"{"message": "Request does not match any route."}"#),
            ok(&stored(Some("7"))),
        ];
        let (home, server) = (Home::new(), MockServer::start(script));
        let line = "--api magento customer update --custom-attribute loyalty_no=7 --settle 0";
        let outcome = run(&home, &server.url(""), line);
        assert_eq!(outcome.code, 0, "{refusal}: {outcome:?}");
        let path = "/V1/attributeMetadata/customer/custom";
        assert!(server.requests()[1].contains(path), "{:?}", server.requests());
    }
}

/// Its interface has those of addresses only, and no list of them.
#[test]
fn the_marketplace_takes_any_code_of_an_address_and_none_of_the_customer() {
    let env = TestEnv::new();
    let refused = env.fails(2, "customer update --custom-attribute shoe_size=43");
    let message = refused["message"].as_str().unwrap();
    assert!(message.contains("did you mean `addresses[].custom_attributes`?"), "{refused}");
    env.done("customer update --address 2 --custom-attribute bell=2");
    assert_eq!(env.address(2)["custom_attributes"][0]["attribute_code"], "bell");
}
