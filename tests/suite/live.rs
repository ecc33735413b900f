//! The script for a real shop, against the Magento interface of the sandbox: it cleans up, and touches only its own data.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::support::raw_http::{ADMIN, CUSTOMER};
use crate::support::test_env::TestEnv;

const EMAIL: &str = "amina.haddad@example.com";

fn script(env: &TestEnv, email: &str) -> Command {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live/run");
    let mut command = env.home.command(script.to_str().unwrap());
    command
        .env("STOREFRONT_BIN", env!("CARGO_BIN_EXE_storefront"))
        .env("STOREFRONT_BASE_URL", format!("{}/rest", env.url()))
        .env("STOREFRONT_TOKEN", CUSTOMER)
        .env("STOREFRONT_ADMIN_TOKEN", ADMIN)
        .env("LIVE_EMAIL", email)
        .env("LIVE_SKU", "mug-blue")
        .env("LIVE_STORE_VIEW", "fr")
        .env("LIVE_VIEW_ORDER", "000000002")
        .env("LIVE_GUEST_ORDER", "000000001")
        .env("LIVE_VIRTUAL_ORDER", "000000001")
        .env("LIVE_DUMP", dump(env))
        .env("LIVE_OAUTH", env.home.path("integration"));
    env.home.write(
        "integration",
        "consumer-key=sandbox-consumer-key\nconsumer-secret=sandbox-consumer-secret\n\
         token=sandbox-token\ntoken-secret=sandbox-token-secret\n",
        0o600,
    );
    command
}

/// The addresses of orders and the values of products, each on a line.
fn dump(env: &TestEnv) -> String {
    let (program, data) = (env!("CARGO_BIN_EXE_storefront"), env.sandbox.data().display());
    let rows = "(.orders[] | .addresses[]), .products[]";
    format!("{program} sandbox show --data '{data}' --jq '{rows}'")
}

fn run(env: &TestEnv) -> Output {
    // The first order is a guest's, with nothing to ship; the second one is of another store view.
    env.sandbox
        .sql("UPDATE orders SET customer_id = NULL, body = json_set(body, '$.is_virtual', 1) WHERE id = 1");
    env.sandbox.sql("DELETE FROM order_addresses WHERE order_id = 1 AND type = 'shipping'");
    env.sandbox.sql("UPDATE orders SET body = json_set(body, '$.store_id', 2) WHERE id = 2");
    script(env, EMAIL).output().unwrap()
}

#[track_caller]
fn left_nothing(env: &TestEnv, before: &serde_json::Value) {
    let after = env.sandbox.show();
    assert_eq!(after["attributes"], before["attributes"]);
    assert_eq!(after["quotes"][0]["items"], before["quotes"][0]["items"]);
    let addresses = |shown: &serde_json::Value| shown["customers"][0]["addresses"].clone();
    assert!(addresses(&after).is_array());
    assert_eq!(addresses(&after), addresses(before));
    let cities = |shown: &serde_json::Value| {
        let orders = shown["orders"].as_array().unwrap().iter();
        let cities = orders.flat_map(|order| order["addresses"].as_array().unwrap().clone());
        cities.map(|address| address["city"].clone()).collect::<Vec<_>>()
    };
    // An address that the script never had may be gone: it was the test's own.
    assert!(cities(&after).iter().all(|city| cities(before).contains(city)));
    assert_eq!(after["products"], before["products"]);
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_live_script_passes_and_removes_what_it_created() {
    let env = TestEnv::new();
    let before = env.sandbox.show();
    let output = run(&env);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 36, "{output:?}");
    left_nothing(&env, &before);
}

#[test]
fn the_live_script_fails_where_the_shop_does() {
    let env = TestEnv::with_faults(&["PUT:500"]);
    let (before, output) = (env.sandbox.show(), run(&env));
    assert!(!output.status.success(), "{output:?}");
    assert!(said(&output).contains("not ok  customer update"), "{output:?}");
    left_nothing(&env, &before);
}

/// The token of a customer who is not the one named, and a cart that holds something.
#[test]
fn the_live_script_refuses_data_that_is_not_its_own() {
    let env = TestEnv::new();
    let before = env.sandbox.show();
    let output = script(&env, "test@example.com").output().unwrap();
    let message = format!(
        "not ok  the token is that of {EMAIL}, and LIVE_EMAIL is test@example.com: nothing was changed\n"
    );
    assert_eq!((output.status.code(), said(&output)), (Some(1), message), "{output:?}");
    let item = r#"{"cartItem":{"sku":"mug-blue","qty":2,"quote_id":"1"}}"#;
    assert_eq!(env.sandbox.call(CUSTOMER, "POST", "/rest/V1/carts/mine/items", item).status, 200);
    let filled = env.sandbox.show();
    assert_ne!(filled["quotes"][0]["items"], before["quotes"][0]["items"]);
    let output = run(&env);
    let message = "not ok  the cart of the test customer is not empty: nothing was changed\n";
    assert_eq!((output.status.code(), said(&output)), (Some(1), message.to_owned()), "{output:?}");
    left_nothing(&env, &filled);
    assert!(env.requests().iter().all(|request| request.starts_with("GET") || request == "POST 200"));
}

/// Ctrl-C reaches the script and the program that it runs.
#[test]
fn the_live_script_cleans_up_after_ctrl_c() {
    use std::os::unix::process::CommandExt;
    for written in ["PUT 200", "POST 200"] {
        // Slow enough that the signal comes while the script is still running.
        let env = TestEnv::with_faults(&["latency=50"]);
        let before = env.sandbox.show();
        let mut command = script(&env, EMAIL);
        let mut child =
            command.process_group(0).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        while !env.requests().iter().any(|request| request == written) {
            assert!(child.try_wait().unwrap().is_none(), "{written}: the script has ended");
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        let group = format!("-{}", child.id());
        assert!(Command::new("kill").args(["-INT", "--", &group]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(130), "{output:?}");
        left_nothing(&env, &before);
    }
}

/// What a call changes besides is in no read of the order: another order's address.
#[test]
fn the_live_script_sees_in_the_database_what_no_read_shows() {
    let env = TestEnv::new();
    env.sandbox.sql(
        "CREATE TRIGGER moved AFTER UPDATE ON order_addresses WHEN NEW.order_id = 3 BEGIN
         UPDATE order_addresses SET body = json_set(body, '$.fax', '1') WHERE order_id = 1; END",
    );
    let output = run(&env);
    let message = "not ok  order update: the shipping address: the database has changed more than one row";
    assert!(!output.status.success() && said(&output).contains(message), "{output:?}");
}
