//! The script for a real shop, against the Magento interface of the sandbox.

use std::path::Path;

use crate::support::raw_http::{ADMIN, CUSTOMER};
use crate::support::test_env::TestEnv;

fn run(env: &TestEnv, customer: &str) -> std::process::Output {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/live/run");
    env.home
        .command(script.to_str().unwrap())
        .env("STOREFRONT_BIN", env!("CARGO_BIN_EXE_storefront"))
        .env("STOREFRONT_BASE_URL", format!("{}/rest", env.url()))
        .env("STOREFRONT_TOKEN", customer)
        .env("STOREFRONT_ADMIN_TOKEN", ADMIN)
        .env("LIVE_SKU", "mug-blue")
        .output()
        .unwrap()
}

#[test]
fn the_live_script_passes_and_removes_what_it_created() {
    let env = TestEnv::new();
    let (profile, before) = (env.profile(), env.sandbox.show());
    let output = run(&env, CUSTOMER);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(String::from_utf8_lossy(&output.stdout).lines().count(), 12, "{output:?}");
    let after = env.sandbox.show();
    assert_eq!(after["attributes"], before["attributes"]);
    assert_eq!(after["quotes"][0]["items"], before["quotes"][0]["items"]);
    assert_eq!(env.profile()["addresses"], profile["addresses"]);
}

#[test]
fn the_live_script_fails_where_the_shop_does() {
    let env = TestEnv::with_faults(&["PUT:500"]);
    let (before, output) = (env.sandbox.show(), run(&env, CUSTOMER));
    assert!(!output.status.success(), "{output:?}");
    assert!(String::from_utf8_lossy(&output.stderr).contains("not ok  customer update"), "{output:?}");
    assert_eq!(env.sandbox.show()["attributes"], before["attributes"]);
}
