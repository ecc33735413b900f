//! Shops that limit the length of lists, and what 2.4.8 does otherwise.

use serde_json::{Value, json};
use storefront_sandbox::{Emulation, Version};

use crate::cart_reports::{JSON, impatient, on};
use crate::support::magento::{done, fails, program, run};
use crate::support::mock_server::{MockServer, answer};
use crate::support::raw_http::{ADMIN, CUSTOMER, ids};
use crate::support::test_env::TestEnv;

fn shop(version: Version, customers: u32) -> TestEnv {
    TestEnv::with_options(|options| {
        options.emulation = Emulation { version, has_limits: true };
        options.customers = customers;
    })
}

#[test]
fn customers_are_found_in_pages_until_the_limit_or_the_last_one() {
    let env = shop(Version::V247, 650);
    let found = |line: &str| {
        let printed = program(&env, &format!("customer find {line} --jq .id")).run();
        assert_eq!(printed.code, 0, "{printed:?}");
        let ids: Vec<u32> = printed.stdout.lines().map(|id| id.parse().unwrap()).collect();
        (ids, env.requests().len())
    };
    assert_eq!(found("customer- --limit 1000"), ((7..=650).collect(), 3));
    assert_eq!(found("customer- --limit 601"), ((7..=607).collect(), 3));
    assert_eq!(found("customer- --limit 300"), ((7..=306).collect(), 1));
    assert_eq!(found("customer- --limit 2"), ((7..=8).collect(), 1));
    let shown = program(&env, "customer find customer- --limit 400 -q").run();
    assert_eq!((shown.code, shown.stdout.lines().count()), (0, 401), "{shown:?}");
    let told = program(&env, "customer find customer- --limit 400").run();
    assert!(told.stderr.contains("400 of 644 shown"), "{told:?}");
}

#[test]
fn sets_and_groups_are_asked_for_within_the_limit() {
    let env = shop(Version::V247, 0);
    done(&env, "attribute assign size --set Default");
    let status = env.sandbox.get(ADMIN, "/rest/V1/customers/search?searchCriteria[pageSize]=301").status;
    assert_eq!(status, 400);
}

#[test]
fn a_quantity_over_stock_is_refused_in_the_words_of_the_version() {
    for (version, words) in
        [(Version::V247, "The requested qty is not available"), (Version::V248, "Not enough items for sale")]
    {
        let env = shop(version, 0);
        let item = |qty: u32| format!(r#"{{"cartItem": {{"sku": "umbrella", "qty": {qty}}}}}"#);
        let send = |method, path, qty| env.sandbox.call(CUSTOMER, method, path, &item(qty));
        let added = send("POST", "/rest/V1/carts/mine/items", 1).json();
        let path = format!("/rest/V1/carts/mine/items/{}", added["item_id"]);
        for refused in [send("POST", "/rest/V1/carts/mine/items", 25), send("PUT", &path, 26)] {
            assert_eq!((refused.status, refused.json()), (400, json!({"message": words})), "{version:?}");
        }
    }
}

/// 2.4.8 shows the default shipping address first, older shops all by their ids. Nothing of ours depends on it.
#[test]
fn addresses_are_shown_in_the_order_of_the_version() {
    for (version, order) in [(Version::V247, [1, 2, 3, 4]), (Version::V248, [4, 1, 2, 3])] {
        let env = shop(version, 0);
        let moved = done(&env, "customer update --customer 1 --address 4 --default-shipping -y");
        assert_eq!((&moved["applied"], &moved["verified"]), (&json!("yes"), &json!(true)), "{moved}");
        let stored = || env.sandbox.get(ADMIN, "/rest/V1/customers/1").json();
        assert_eq!(ids(&stored()), order);
        let found = env.sandbox.get(ADMIN, "/rest/V1/customers/search?searchCriteria[pageSize]=1").json();
        assert_eq!(ids(&found["items"][0]), order);
        let restored = run(&env, "customer restore --customer 1 -y");
        assert_eq!(restored.code, 0, "{restored:?}");
        assert_eq!(stored()["default_shipping"], "2");
        assert_eq!(run(&env, "customer update --customer 1 --remove-address 2 -y").code, 0);
        assert_eq!(ids(&stored()), [1, 3, 4]);
    }
}

/// Records of one run that need the same country wait for the first of them to read it.
#[test]
fn a_country_is_read_once_by_a_run() {
    let env = TestEnv::with_options(|options| options.customers = 20);
    let mut rows = "customer,address_id,country,region\n".to_owned();
    for customer in 10..18 {
        let profile = env.sandbox.get(ADMIN, &format!("/rest/V1/customers/{customer}")).json();
        rows += &format!("{customer},{},US,New York\n", profile["addresses"][0]["id"]);
    }
    env.file("moves.csv", rows);
    env.requests();
    let moved = run(&env, "customer update -i moves.csv -y --jobs 8");
    assert_eq!(moved.code, 0, "{moved:?}");
    let requests = env.requests();
    let reads = requests.iter().filter(|request| request.starts_with("GET")).count();
    assert_eq!((reads, requests.len()), (9, 17), "{requests:?}");
}

/// A shop that does not know the condition answers the same page again.
#[test]
fn a_page_that_comes_again_is_a_failed_search() {
    let page: Vec<Value> = (1..=300).map(|id| json!({"id": id, "email": "a@b.example"})).collect();
    let reply = json!({"items": page, "total_count": 650}).to_string();
    let server = MockServer::start(vec![answer("200 OK", JSON, &reply); 9]);
    let outcome = on(&impatient(&server), &server, "customer find a --limit 900");
    assert_eq!((outcome.code, outcome.stdout.as_str()), (5, ""), "{outcome:?}");
    assert_eq!(outcome.error()["message"], "the shop's list of customers ends after 300 of 650");
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn the_group_of_a_set_is_that_with_the_lowest_place() {
    let env = TestEnv::new();
    env.requests();
    let traced = program(&env, "attribute assign size --set Clothing -v").run();
    let query = "searchCriteria%5BsortOrders%5D%5B0%5D%5Bfield%5D=sort_order&searchCriteria%5BsortOrders%5D%5B0%5D%5Bdirection%5D=ASC";
    assert!(traced.stderr.contains(query), "{traced:?}");
}

#[test]
fn what_2_4_8_refuses_of_an_address_is_refused() {
    let env = shop(Version::V248, 0);
    for (field, said) in
        [("--city 'St. Louis'", "Invalid City"), ("--address-middlename A/B", "Middle Name is not valid")]
    {
        let error = fails(&env, 4, &format!("customer update --customer 1 --address 1 {field} -y"));
        assert!(error["message"].as_str().unwrap().contains(said), "{error}");
    }
    assert_eq!(done(&env, "customer update --customer 1 --address 1 --city Lyon -y")["applied"], "yes");
    assert_eq!(
        run(&TestEnv::new(), "customer update --customer 1 --address 1 --city 'St. Louis' -y").code,
        0
    );
}
