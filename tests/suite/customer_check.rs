//! `customer check` over many customers; `tests/cmd/customer_check.txt` has what it prints of one.

use serde_json::{Value, json};

use crate::cart_reports::{JSON, impatient, json as reply, on};
use crate::support::magento::{fails, program, run};
use crate::support::mock_server::{MockServer, answer};
use crate::support::raw_http::ADMIN;
use crate::support::test_env::TestEnv;

fn shop(customers: u32) -> TestEnv {
    TestEnv::with_options(|options| options.customers = customers)
}

/// Stores the addresses of these customers once more.
fn double(env: &TestEnv, customers: &str) {
    env.sandbox.sql(&format!(
        "INSERT INTO addresses (customer_id, position, body) SELECT customer_id, position + 1, body FROM addresses \
         WHERE customer_id IN ({customers})"
    ));
}

fn addresses(env: &TestEnv, customer: u32) -> Vec<i64> {
    let profile = env.sandbox.get(ADMIN, &format!("/rest/V1/customers/{customer}")).json();
    profile["addresses"].as_array().unwrap().iter().map(|address| address["id"].as_i64().unwrap()).collect()
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn all_customers_are_read_in_pages_and_each_country_once() {
    let env = shop(650);
    let checked = run(&env, "customer check customer-");
    assert_eq!((checked.code, &*checked.stdout), (0, ""), "{checked:?}");
    assert_eq!(env.requests().len(), 3 + 1);
    let told = program(&env, "customer check customer-").run();
    assert_eq!(told.stderr, "644 customers checked, nothing found\n", "{told:?}");
    let all = program(&env, "customer check --all").run();
    assert!(all.stderr.contains("2 of 650 customers have findings"), "{all:?}");
}

#[test]
fn a_plan_of_all_customers_removes_what_is_stored_twice_and_nothing_else() {
    let env = shop(350);
    double(&env, "20, 340, 345");
    let before: Vec<_> = [7, 20, 340, 345, 350].map(|customer| addresses(&env, customer)).into();
    env.requests();
    let checked = run(&env, "customer check customer- --plan a.plan");
    let found = lines(&checked.stdout);
    assert_eq!(checked.code, 7, "{checked:?}");
    assert_eq!(found.iter().map(|line| line["customer"].clone()).collect::<Vec<_>>()[..3], [20, 340, 345]);
    assert_eq!((&found[3]["records"], &found[0]["removable"]), (&json!(3), &json!([before[1][1]])));
    let requests = env.requests();
    assert!(requests.iter().all(|request| request == "GET 200") && requests.len() == 3, "{requests:?}");
    assert_eq!(run(&env, "apply a.plan --only 1,3 --yes").code, 0);
    let after: Vec<_> = [7, 20, 340, 345, 350].map(|customer| addresses(&env, customer)).into();
    assert_eq!(after, [&before[0][..], &before[1][..1], &before[2][..], &before[3][..1], &before[4][..]]);
    assert_eq!(env.requests().iter().filter(|request| *request == "DELETE 200").count(), 2);
    assert_eq!(run(&env, "apply a.plan --yes").code, 0);
    assert_eq!(addresses(&env, 340), before[2][..1]);
    let again = run(&env, "customer check customer- --plan b.plan");
    assert_eq!((again.code, &lines(&again.stdout)[0]["plan"]), (0, &Value::Null), "{again:?}");
}

/// What is kept is named in the plan: an older program, which does not look at it, would refuse the hash of an edited line.
#[test]
fn a_plan_says_what_must_still_be_stored() {
    let env = shop(20);
    double(&env, "20");
    assert_eq!(run(&env, "customer check --customer 20 --plan a.plan").code, 7);
    let plan = std::fs::read_to_string(env.home.dir.path().join("a.plan")).unwrap();
    let record = &lines(&plan)[1];
    let [kept, removed] = addresses(&env, 20)[..] else { panic!("{plan}") };
    let paths: Vec<&Value> = record["require"].as_array().unwrap().iter().map(|it| &it["path"]).collect();
    let address = format!("addresses[id={kept}]");
    assert_eq!(paths, [&json!(address), &json!("default_billing"), &json!("default_shipping")]);
    assert_eq!(record["expect"][0]["path"], format!("addresses[id={removed}]"));
    assert_eq!((&record["customer"], &record["input"]), (&json!("20"), &json!({"customer": {}})));
    // The removed address is the only one that the customer has now.
    assert_eq!(env.sandbox.call(ADMIN, "DELETE", &format!("/rest/V1/addresses/{kept}"), "").status, 200);
    let refused = run(&env, "apply a.plan --yes");
    assert_eq!((refused.code, addresses(&env, 20)), (7, vec![removed]), "{refused:?}");
}

fn page(ids: std::ops::RangeInclusive<u32>, total: u32) -> Value {
    let customers: Vec<Value> =
        ids.map(|id| json!({"id": id, "email": "a@b.example", "addresses": []})).collect();
    json!({"items": customers, "total_count": total})
}

/// While the pages are read customers are deleted and added: the next page begins behind the last id, and its own count says
/// whether it is the last one.
#[test]
fn pages_that_shift_meanwhile_lose_nobody() {
    let server = MockServer::start(vec![
        reply(&page(1..=300, 650)),
        reply(&page(301..=600, 351)),
        reply(&page(601..=660, 60)),
    ]);
    let checked = on(&impatient(&server), &server, "customer check --all --plan a.plan");
    assert_eq!(checked.code, 0, "{checked:?}");
    let queries = server.requests();
    let asks_above = |query: &String, id: u32| query.contains(&format!("%5Bvalue%5D={id}&"));
    assert!(
        queries.len() == 3 && asks_above(&queries[1], 300) && asks_above(&queries[2], 600),
        "{queries:?}"
    );
    assert!(
        queries.iter().all(|query| query.contains("pageSize%5D=300") && query.contains("=ASC")),
        "{queries:?}"
    );
}

/// A shop that does not know the condition answers the same page again: not all were checked, and no plan says so.
#[test]
fn a_list_that_is_not_continued_is_an_error_without_a_plan() {
    let twin = json!({"id": 1, "city": "Paris"});
    let mut first = page(1..=300, 650);
    first["items"][0]["addresses"] = json!([twin, {"id": 2, "city": "Paris"}]);
    let server = MockServer::start(vec![answer("200 OK", JSON, &first.to_string()); 9]);
    let home = impatient(&server);
    let checked = on(&home, &server, "customer check --all --plan a.plan");
    assert_eq!(checked.code, 5, "{checked:?}");
    let message = "the shop's list of customers ends after 300 of 650";
    assert_eq!(checked.error()["message"], message);
    assert!(!home.dir.path().join("a.plan").exists());
    assert_eq!(server.requests().len(), 2);
}

/// A shop whose list is shorter than its count has customers who were not looked at.
#[test]
fn a_list_that_ends_before_its_count_is_a_failed_read() {
    for (list, ends) in [
        (json!({"items": null, "total_count": 6}), "after 0 of 6"),
        (page(1..=4, 6), "after 4 of 6"),
        (json!({"items": [], "total_count": 6}), "after 0 of 6"),
    ] {
        for line in ["customer check --all", "customer check ada", "customer find ada"] {
            let server = MockServer::start(vec![reply(&list); 2]);
            let checked = on(&impatient(&server), &server, line);
            assert_eq!((checked.code, &*checked.stdout), (5, ""), "{line}: {checked:?}");
            let message = format!("the shop's list of customers ends {ends}");
            assert_eq!(checked.error()["message"], message, "{line}");
        }
    }
}

/// Some versions answer with the size of the page in place of the number of matches.
#[test]
fn a_search_for_an_email_that_counts_more_than_it_lists_is_not_several_customers() {
    let server = MockServer::start(vec![reply(&page(1..=1, 2)); 2]);
    let shown = on(&impatient(&server), &server, "customer show --customer a@b.example");
    assert_eq!(shown.code, 5, "{shown:?}");
    assert_eq!(shown.error()["message"], "the shop's list of customers ends after 1 of 2");
    let server = MockServer::start(vec![reply(&page(1..=20, 99)); 2]);
    let shown = on(&impatient(&server), &server, "customer show --customer other@b.example");
    assert_eq!(shown.code, 5, "{shown:?}");
    let message = "the shop answered the search for the email `other@b.example` with 99 customers";
    assert_eq!(shown.error()["message"], message);
}

#[test]
fn customers_without_an_address_list_are_never_without_findings() {
    let server =
        MockServer::start(vec![reply(&json!({"items": [{"id": 1, "email": "a"}], "total_count": 1}))]);
    let checked = on(&impatient(&server), &server, "customer check --all");
    assert_eq!((checked.code, &*checked.stdout), (3, ""), "{checked:?}");
}

#[test]
fn a_shop_that_does_not_answer_is_no_finding() {
    let env = TestEnv::with_faults(&["503"]);
    let error = fails(&env, 5, "customer check --all --retry 0 --plan a.plan");
    assert_eq!(error["applied"], "no");
    assert!(!env.home.dir.path().join("a.plan").exists());
}

/// What an upgrade would block is known before it; without a version it is only told.
#[test]
fn customers_whom_a_version_locks_are_listed() {
    let env = shop(20);
    double(&env, "12");
    env.sandbox
        .sql("UPDATE addresses SET body = json_set(body, '$.city', 'St. Louis') WHERE customer_id = 9");
    env.sandbox
        .sql("UPDATE addresses SET body = json_set(body, '$.telephone', 'none') WHERE customer_id = 10");
    let customers = |outcome: &crate::support::storefront::Outcome| -> Vec<Value> {
        lines(&outcome.stdout).iter().map(|line| line["customer"].clone()).collect()
    };
    let checked = run(&env, "customer check customer-");
    assert_eq!((checked.code, customers(&checked)), (7, vec![json!(9), json!(10), json!(12)]), "{checked:?}");
    assert_eq!(lines(&checked.stdout)[0]["findings"][0]["versions"], json!(["2.4.8"]));
    for (version, locked) in [("2.4.7", vec![]), ("2.4.8-p1", vec![json!(9)]), ("2.4.9", vec![json!(10)])] {
        let checked = run(&env, &format!("customer check customer- --magento-version {version}"));
        assert_eq!(customers(&checked), locked, "{version}: {checked:?}");
        assert_eq!(checked.code, if locked.is_empty() { 0 } else { 7 }, "{version}: {checked:?}");
    }
    let told = run(&env, "customer check --customer 9");
    assert_eq!(told.code, 0, "{told:?}");
    let sheet = program(&env, "customer check customer- --magento-version 2.4.9 --csv").run();
    let rows: Vec<&str> = sheet.stdout.lines().collect();
    assert_eq!(rows[0], "customer,email,addresses,kind,field,versions,message", "{sheet:?}");
    assert!(rows.len() == 2 && rows[1].starts_with("10,customer-10@"), "{sheet:?}");
    assert!(sheet.stderr.contains("1 of 14 customers has findings: 1 locked"), "{sheet:?}");
    assert_eq!(run(&env, "customer check --all --magento-version 2.4.9 --plan a.plan").code, 2);
}

#[test]
fn many_customers_are_read_at_the_pace_of_a_batch_and_through_an_outage() {
    let customer = |id: u32| reply(&json!({"id": id, "email": format!("{id}@x.example"), "addresses": []}));
    let outage = answer("503 Service Unavailable", "", "{}");
    let server = MockServer::start(vec![customer(1), outage, customer(2), customer(3)]);
    let home = impatient(&server);
    home.write("list.csv", "customer\n1\n2\n3\n", 0o600);
    let line = format!("customer check -i {} --jobs 1", home.path("list.csv").display());
    let checked = on(&home, &server, &line);
    assert_eq!((checked.code, server.requests().len()), (0, 4), "{checked:?}");
    // The flags of the pace are those of every batch.
    let server = MockServer::start((1..=6).map(customer).collect());
    home.write("list.csv", "customer\n1\n2\n3\n4\n5\n6\n", 0o600);
    let begun = std::time::Instant::now();
    let line = format!("customer check -i {} --jobs 1 --rate 25/s", home.path("list.csv").display());
    let checked = on(&home, &server, &line);
    assert_eq!((checked.code, server.requests().len()), (0, 6), "{checked:?}");
    assert!(begun.elapsed() >= std::time::Duration::from_millis(150), "{:?}", begun.elapsed());
}

#[test]
fn a_check_that_was_stopped_names_the_command_for_the_rest() {
    let customer = |id: u32| reply(&json!({"id": id, "email": format!("{id}@x.example"), "addresses": []}));
    let refused = answer("401 Unauthorized", "", "{}");
    let server = MockServer::start(vec![customer(1), customer(2), refused, customer(3), customer(4)]);
    let home = impatient(&server);
    home.write("list.csv", "customer\n1\n2\n3\n4\n", 0o600);
    let list = home.path("list.csv").display().to_string();
    let line = format!("customer check -i {list} --jobs 1");
    let stopped = on(&home, &server, &line);
    assert_ne!(stopped.code, 0, "{stopped:?}");
    assert!(stopped.stderr.contains("check the rest with `storefront "), "{stopped:?}");
    assert!(stopped.stderr.contains("--after 2`"), "{stopped:?}");
    let rest = on(&home, &server, &format!("{line} --after 2"));
    assert_eq!((rest.code, server.requests().len()), (0, 5), "{rest:?}");
    // A plan is whole or there is none.
    let planned = on(&home, &server, &format!("customer check -i {list} --jobs 1 --plan a.plan"));
    assert!(planned.code != 0 && !planned.stderr.contains("check the rest"), "{planned:?}");
    let other = on(&home, &server, &format!("customer check -i {list} --after 9"));
    assert!(other.code == 2 && other.stderr.contains("the file has no customer `9`"), "{other:?}");
    assert_eq!(on(&home, &server, "customer check --after 9").code, 2);
    // Those of a search come by their ids.
    let env = shop(20);
    double(&env, "9");
    double(&env, "12");
    let checked = run(&env, "customer check --all --after 9");
    let found: Vec<Value> = lines(&checked.stdout).iter().map(|line| line["customer"].clone()).collect();
    assert_eq!(found, [json!(12)], "{checked:?}");
}
