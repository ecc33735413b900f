//! What goes wrong at a Magento shop: each message as a whole, nothing written, and the next command to type.

use serde_json::{Value, json};

use crate::support::magento::{done, fails, program, run};
use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::raw_http::{CUSTOMER, TWIN};
use crate::support::storefront::{Home, Outcome};
use crate::support::test_env::TestEnv;

/// Message, `applied` and hint of an error.
#[track_caller]
fn says(error: &Value, message: &str, hint: &str) {
    assert_eq!(
        (&error["message"], &error["applied"], &error["hint"]),
        (&json!(message), &json!("no"), &json!(hint)),
        "{error}"
    );
}

/// A command at a server that answers what its script says, with an administrator's token.
fn at(server: &MockServer, line: &str) -> Outcome {
    let home = Home::new();
    let words: Vec<&str> = line.split(' ').chain(["-q", "-o", "json"]).collect();
    home.storefront(&words)
        .env("STOREFRONT_BASE_URL", &server.url("/rest"))
        .env("STOREFRONT_API", "magento")
        .env("STOREFRONT_ADMIN_TOKEN", "an-administrators-token")
        .run()
}

fn json_answer(status: &str, body: &Value) -> Step {
    answer(status, "Content-Type: application/json; charset=utf-8\r\n", &body.to_string())
}

fn writes(requests: &[String]) -> Vec<&String> {
    requests.iter().filter(|request| !request.starts_with("GET")).collect()
}

const UPDATE: &str = "customer update --address 2 --city Utica -y";
const FIND: &str = "search with `storefront customer find TEXT`";

#[test]
fn a_customer_that_the_shop_does_not_have() {
    let env = TestEnv::new();
    let neither = |name: &str| format!("`{name}` is neither a customer ID nor an email");
    for (name, message) in [
        ("nobody@example.com", "no customer has the email `nobody@example.com`".to_owned()),
        // The shop's database ignores accents; the client does not.
        ("àmina.haddad@example.com", "no customer has the email `àmina.haddad@example.com`".to_owned()),
        ("9999", "no customer has the ID 9999".to_owned()),
        ("0", "no customer has the ID 0".to_owned()),
        ("me", neither("me")),
        ("1.0", neither("1.0")),
        ("99999999999999999999", neither("99999999999999999999")),
    ] {
        for line in [UPDATE, "quote add-item --sku mug-blue --qty 1"] {
            says(&fails(&env, 2, &format!("{line} --customer {name}")), &message, FIND);
        }
    }
    let error = fails(&env, 2, &format!("{UPDATE} --customer ''"));
    assert_eq!(error["message"], "a value is required for '--customer <ID|EMAIL>' but none was supplied");
    for line in [
        "quote show",
        "quote methods",
        "quote clear -y",
        "quote set-item --item 1 --qty 1",
        "quote ship --ship-city X --no-payment",
    ] {
        says(
            &fails(&env, 4, &format!("{line} --customer 9999")),
            "the customer has no active cart",
            "check the customer with `storefront customer show --customer 9999`, or add an item first: `storefront quote add-item --customer 9999 --sku SKU --qty N`",
        );
    }
    let requests = env.requests();
    assert!(
        writes(&requests).iter().all(|request| *request == "POST 404"),
        "only a cart of nobody was asked for: {requests:?}"
    );
}

#[test]
fn one_email_on_two_websites() {
    let env = TestEnv::new();
    env.sandbox.sql(TWIN);
    let id = 7;
    env.requests();
    let message =
        format!("2 customers have the email `amina.haddad@example.com`: 1 (website 1), {id} (website 2)");
    for line in [UPDATE, "quote add-item --sku mug-blue --qty 1"] {
        let error = fails(&env, 2, &format!("{line} --customer amina.haddad@example.com"));
        says(&error, &message, "name the customer by ID: --customer ID");
    }
    assert_eq!(env.requests(), ["GET 200", "GET 200"]);
    done(&env, &format!("{UPDATE} --customer 1"));
}

/// A Magento shop answers 401 to everything that a token may not do, and names the permission.
#[test]
fn an_administrators_token_without_a_permission() {
    let profile = json!({"id": 7, "email": "a@example.com", "firstname": "A", "lastname": "B",
        "addresses": [{"id": 2, "customer_id": 7, "city": "Rome", "street": ["x"], "firstname": "A", "lastname": "B",
            "telephone": "5550100", "postcode": "1", "country_id": "IT"}]});
    let refused = json!({"message": "The consumer isn't authorized to access %resources.",
        "parameters": {"resources": "Magento_Customer::manage"}});
    for status in ["401 Unauthorized", "403 Forbidden"] {
        let read = json_answer("200 OK", &profile);
        let server = MockServer::start(vec![read, json_answer(status, &refused)]);
        let outcome = at(&server, &format!("{UPDATE} --customer 7"));
        assert_eq!((outcome.code, outcome.stdout.as_str()), (6, ""), "{outcome:?}");
        says(
            &outcome.error(),
            &format!(
                "the service answered {status}: The consumer isn't authorized to access Magento_Customer::manage"
            ),
            "the token has expired or lacks the permission `Magento_Customer::manage`: renew the token where it comes from, or grant the permission; an integration's token must be allowed as a standalone Bearer token (the token is from the environment variable STOREFRONT_ADMIN_TOKEN)",
        );
        assert_eq!(server.requests().len(), 2);
    }
}

#[test]
fn a_customers_token_where_an_administrators_is_needed() {
    let env = TestEnv::new();
    let outcome = program(&env, &format!("{UPDATE} --customer 1 -q -o json"))
        .without("STOREFRONT_ADMIN_TOKEN")
        .env("STOREFRONT_TOKEN", CUSTOMER)
        .run();
    assert_eq!(outcome.code, 6, "{outcome:?}");
    let error = outcome.error();
    let hint = error["hint"].as_str().unwrap();
    assert!(
        hint.starts_with("no administrator's token is set, so the customer token was used: set STOREFRONT_ADMIN_TOKEN, or run `storefront auth login --admin`"),
        "{error}"
    );
    assert_eq!(env.requests(), ["GET 401"]);
}

#[test]
fn an_administrators_token_and_no_customer() {
    let env = TestEnv::new();
    for line in [UPDATE, "customer show", "quote show", "quote add-item --sku mug-blue --qty 1"] {
        let outcome = program(&env, &format!("{line} -q -o json")).without("STOREFRONT_TOKEN").run();
        assert_eq!(outcome.code, 6, "{outcome:?}");
        says(
            &outcome.error(),
            "no customer's token configured",
            "name the customer with --customer ID|EMAIL; for the token's own customer: set STOREFRONT_TOKEN",
        );
    }
    assert_eq!(env.requests(), [""; 0]);
}

#[test]
fn an_expired_token_stops_a_batch_at_the_first_401() {
    let env = TestEnv::new();
    env.file("c.csv", "customer,lastname\n1,Ada\n2,Bob\n3,Eve\n");
    let expired = |line: &str| program(&env, line).env("STOREFRONT_ADMIN_TOKEN", "expired").run();
    let outcome = expired("customer update -i c.csv --jobs 1 -y -q -o json");
    assert_eq!((outcome.code, env.requests().len()), (6, 1), "{outcome:?}");
    assert_eq!(outcome.stdout.matches(r#""reason":"not sent""#).count(), 2, "{outcome:?}");
    let good = run(&env, "customer update -i c.csv --jobs 1 -y --resume");
    assert_eq!(good.code, 0, "{good:?}");
    let ship = r#"{"customer":1,"addressInformation":{"shipping_carrier_code":"flatrate"},"paymentMethod":{"method":"checkmo"}}"#;
    env.file("s.ndjson", format!("{ship}\n{ship}\n"));
    env.requests();
    let outcome = expired("quote ship -i s.ndjson --jobs 1 -y -q -o json");
    assert_eq!((outcome.code, env.requests().len()), (6, 1), "{outcome:?}");
}

/// The token is refused between the two calls: what was saved is reported, and the next record is not tried.
#[test]
fn a_token_that_expires_between_two_calls_stops_a_batch() {
    let refused = json!({"message": "The consumer isn't authorized to access %resources.",
        "parameters": {"resources": "Magento_Cart::manage"}});
    let cart = json!({"items": [{"id": 5, "is_active": true, "customer": {"id": 1}}], "total_count": 1});
    let script = vec![
        json_answer("200 OK", &cart),
        json_answer("200 OK", &json!({"payment_methods": [], "totals": {}})),
        json_answer("401 Unauthorized", &refused),
    ];
    let server = MockServer::start(script);
    let home = Home::new();
    let ship = r#"{"customer":1,"addressInformation":{"shipping_carrier_code":"flatrate"},"paymentMethod":{"method":"checkmo"}}"#;
    home.write("s.ndjson", format!("{ship}\n{ship}\n"), 0o600);
    let file = home.path("s.ndjson").display().to_string();
    let outcome = home
        .storefront(&["quote", "ship", "-i", &file, "--jobs", "1", "-y", "-q", "-o", "json"])
        .env("STOREFRONT_BASE_URL", &server.url("/rest"))
        .env("STOREFRONT_API", "magento")
        .env("STOREFRONT_ADMIN_TOKEN", "an-administrators-token")
        .run();
    assert_eq!((outcome.code, server.requests().len()), (7, 4), "the last one reads the cart: {outcome:?}");
    let lines: Vec<Value> = outcome.stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        [&lines[0]["applied"], &lines[1]["applied"], &lines[1]["reason"]],
        ["partial", "no", "not sent"],
        "{outcome:?}"
    );
}

/// What Magento answers to every call while `bin/magento maintenance:enable` is in force.
const MAINTENANCE: &str = "<!doctype html>\n<html xmlns=\"http://www.w3.org/1999/xhtml\" xml:lang=\"en\" lang=\"en\">\n\
    <head>\n    <title>Error 503: Service Unavailable</title>\n</head>\n<body>\n    <main class=\"page-main\">\n\
    <h1>Service Temporarily Unavailable</h1>\n    <p>The server is temporarily unable to service your request.</p>\n\
    </main>\n</body>\n</html>\n";

#[test]
fn a_shop_in_maintenance() {
    let page = answer("503 Service Unavailable", "Content-Type: text/html; charset=UTF-8\r\n", MAINTENANCE);
    for line in [
        "customer show --customer 1",
        "customer update --customer 1 --address 2 --city X -y",
        "customer update --customer a@example.com --address 2 --city X -y",
        "quote add-item --customer 1 --sku mug-blue --qty 1",
        "quote ship --customer 1 --ship-city X --no-payment",
        "attribute create --code fabric --label Fabric --type text",
    ] {
        let server = MockServer::start(vec![page.clone()]);
        let outcome = at(&server, &format!("{line} --retry 0"));
        assert_eq!((outcome.code, outcome.stdout.as_str()), (5, ""), "{line}: {outcome:?}");
        says(
            &outcome.error(),
            "the service answered 503 Service Unavailable: an HTML page titled Error 503: Service Unavailable",
            "try again later",
        );
        assert!(server.requests().iter().all(|request| request.starts_with("GET")), "{line}");
    }
}

#[test]
fn a_store_view_that_does_not_exist() {
    let env = TestEnv::new();
    let hint =
        "the shop may have no store view `nope`: check --store-view, or leave it out for the default one";
    let refused = "the service answered 400 Bad Request: Specified request cannot be processed";
    for (code, line, before) in [
        (3, UPDATE, "cannot read the stored addresses: "),
        (3, "customer update --customer 1 --address 2 --city X -y", "cannot read the stored addresses: "),
        (4, "customer update --customer a@example.com --address 2 --city X -y", ""),
        (4, "customer find x", ""),
        (4, "quote add-item --sku mug-blue --qty 1", "the cart could not be created: "),
        (4, "quote ship --ship-city X --no-payment", ""),
        (4, "attribute create --code fabric --label Fabric --type text", ""),
    ] {
        let error = fails(&env, code, &format!("{line} --store-view nope"));
        says(&error, &format!("{before}{refused}"), hint);
    }
    let outcome = run(&env, "doctor --store-view nope");
    let checks: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let failed = checks["checks"].as_array().unwrap().iter().find(|check| check["status"] == "failed");
    assert_eq!(failed.unwrap()["check"], "store view", "{outcome:?}");
}

/// A cell that is left empty would otherwise change the token's own customer.
#[test]
fn a_record_of_a_batch_that_names_no_customer() {
    let env = TestEnv::new();
    let hint = "fix the record and try again; --skip-invalid sends the others";
    for (file, content, line, what) in [
        ("a.csv", "customer,lastname\n1,Ada\n,Bob\n", 3, "no customer: column customer is empty"),
        (
            "b.ndjson",
            "{\"customer\":1,\"gender\":1}\n{\"gender\":1}\n",
            2,
            "no customer: earlier records name one",
        ),
        (
            "c.ndjson",
            "{\"gender\":1}\n{\"customer\":1,\"gender\":1}\n",
            2,
            "a customer is named, and earlier records name none",
        ),
        (
            "d.csv",
            "customer,lastname\n1,Ada\na@example.com,Bob\n",
            3,
            "the input names customers by id and by email",
        ),
        (
            "e.csv",
            "customer,lastname\n1,Ada\nme,Ada\n",
            3,
            "column customer: \"me\" is neither a customer ID nor an email",
        ),
    ] {
        env.file(file, content);
        let error = fails(&env, 2, &format!("customer update -y -i {file}"));
        let separator = if what.starts_with("column ") { "," } else { ":" };
        says(&error, &format!("{file}: line {line}{separator} {what}"), hint);
    }
    assert_eq!(env.requests(), [""; 0]);
    env.file("f.csv", "customer,lastname\n,Bob\n2,Ada\n");
    assert_eq!(run(&env, "customer update -y -i f.csv --skip-invalid").code, 7);
    let lastname = |id: i32| done(&env, &format!("customer show --customer {id}"))["lastname"].clone();
    assert_eq!((lastname(1), lastname(2)), (json!("Haddad"), json!("Ada")));
}

/// The shop fails while it saves, and what became of the call would not be known.
#[test]
fn a_website_or_store_view_that_is_not_there_is_refused_before_anything_is_sent() {
    let env = TestEnv::new();
    for (flag, expected) in [
        ("--website-id 9", "the shop has no website 9; it has 1"),
        ("--store-id 9", "the shop has no store view 9; it has 1, 2, 3"),
    ] {
        env.requests();
        let error = fails(&env, 2, &format!("customer update --customer 1 {flag}"));
        assert_eq!((&error["message"], &error["applied"]), (&expected.into(), &"no".into()), "{error}");
        assert_eq!(env.requests(), ["GET 200", "GET 200"]);
    }
    let known = run(&env, "customer update --customer 1 --store-id 2 -y");
    assert_eq!(known.code, 0, "{known:?}");
}
