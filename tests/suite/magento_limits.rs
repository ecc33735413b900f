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
        let restored = run(&env, "undo LAST --customer 1 -y");
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

/// What a shop says of an update by this line, whose address 2 is stored like this.
fn refused_by(said: &str, stored: &Value, line: &str) -> Value {
    let address = |id: i64| {
        json!({"id": id, "firstname": "A", "lastname": "B", "street": ["Road 1"], "city": "Paris", "telephone": "1",
            "country_id": "FR", "postcode": "75001"})
    };
    let mut other = address(2);
    other.as_object_mut().unwrap().extend(stored.as_object().unwrap().clone());
    let profile = json!({"id": 1, "email": "a@example.com", "firstname": "A", "lastname": "B",
        "addresses": [other, address(4)]});
    let refused = answer("400 Bad Request", JSON, &json!({"message": said}).to_string());
    let read = answer("200 OK", JSON, &profile.to_string());
    let server = MockServer::start(vec![read.clone(), refused, read]);
    let outcome = on(&impatient(&server), &server, &format!("customer update --customer 1 {line} -y"));
    assert_eq!(outcome.code, 4, "{outcome:?}");
    let error = outcome.stderr.lines().last().unwrap();
    serde_json::from_str::<Value>(error).unwrap()["error"].take()
}

/// A hint that blames a good address leads to its loss.
#[test]
fn a_refusal_is_explained_by_what_the_command_changed_and_never_with_a_deletion() {
    let phone = "Invalid Phone Number. Please use 0-9, +, -, (, ), ., / and space.";
    let city = "Invalid City. Please use letters, numbers, spaces,\n                and the following characters: \
                - _ ' \u{2019} . , & ( ) /";
    let name = "First Name is not valid!";
    let telephone = json!({"telephone": "050/11.22.33"});
    let (town, office) = (json!({"city": "St. Louis"}), json!({"firstname": "Ann (office)"}));
    for (said, stored, line, hint) in [
        (phone, &telephone, "--address 4 --telephone n/a", Some("the new telephone of address 4 is `n/a`")),
        (city, &town, "--address 4 --city X!", Some("the new city of address 4 is `X!`")),
        (
            name,
            &office,
            "--firstname 'Amina (VIP)'",
            Some("the new firstname of the account is `Amina (VIP)`"),
        ),
        // Neither the command nor the sentence tells what it is about.
        (phone, &telephone, "--address 4 --city Lyon", None),
        (city, &town, "--address 4 --telephone 2", None),
        (name, &office, "--address 4 --city Lyon", None),
        ("The city has no phone", &json!({"telephone": ""}), "--address 4 --city Lyon", None),
    ] {
        let error = refused_by(said, stored, line);
        let told = error["hint"].as_str().unwrap_or_default();
        assert!(!told.contains("remove") && !told.contains("address 2"), "{line}: {error}");
        match hint {
            Some(hint) => assert!(told.starts_with(hint), "{line}: {error}"),
            None => assert_eq!(told, "", "{line}: {error}"),
        }
    }
}

#[test]
fn a_stored_address_that_the_sentence_refuses_is_named_with_the_way_to_correct_it() {
    let said = "Invalid Phone Number. Please use 0-9, +, -, (, ) and space.";
    let error = refused_by(said, &json!({"telephone": "050/11.22.33"}), "--address 4 --city Lyon");
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.contains("address 2 has the telephone `050/11.22.33`"), "{error}");
    assert!(hint.contains("customer show --customer 1`") && hint.contains("admin panel"), "{error}");
    assert!(!hint.contains("remove"), "{error}");
}
