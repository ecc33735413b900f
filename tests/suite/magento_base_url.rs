//! Spellings of a Magento shop's base URL: all of them are one service, or are refused.

use serde_json::Value;
use snapbox::str;

use crate::support::storefront::{Home, Storefront};
use crate::support::test_env::{TestEnv, words};

/// A command line against the sandbox's Magento side, its base URL going on after `/rest` as given.
fn at(env: &TestEnv, after_rest: &str, line: &str) -> Storefront {
    env.storefront(&words(line))
        .env("STOREFRONT_BASE_URL", &format!("{}/rest{after_rest}", env.url()))
        .env("STOREFRONT_API", "magento")
        .without("STOREFRONT_STORE_VIEW")
}

#[test]
fn every_spelling_of_the_base_url_has_one_history() {
    let env = TestEnv::new();
    for (number, after_rest) in ["", "/", "/V1", "/all", "/default/", "/fr/V1"].into_iter().enumerate() {
        let line = format!("customer update --customer 1 --address 2 --city City{number} -y -q -o json");
        at(&env, after_rest, &line).run().done();
        let history = at(&env, after_rest, "customer history --customer 1 -o json").run();
        assert_eq!(history.stdout.lines().count(), number + 1, "{after_rest}: {history:?}");
    }
    // Where something in between adds `/rest`, as the sandbox does.
    let history =
        at(&env, "", "customer history --customer 1 -o json").env("STOREFRONT_BASE_URL", &env.url());
    assert_eq!(history.run().stdout.lines().count(), 6);
    let restored = at(&env, "", "customer restore --customer 1 -y").run();
    assert_eq!((restored.code, &env.address(2)["city"]), (0, &"City4".into()), "{restored:?}");
}

#[test]
fn a_store_view_in_the_base_url_is_where_calls_go() {
    let env = TestEnv::new();
    let url = |after_rest: &str, line: &str| -> String {
        let shown: Value = at(&env, after_rest, &format!("{line} -n -o json")).run().done();
        let url = shown["request"]["url"].as_str().unwrap().to_owned();
        url.replace(&env.url(), "")
    };
    let update = "customer update --customer 1 --address 2 --city X";
    assert_eq!(url("/fr/V1", update), "/rest/fr/V1/customers/1");
    assert_eq!(url("/V1", update), "/rest/V1/customers/1");
    assert_eq!(url("/fr", &format!("{update} --store-view de")), "/rest/de/V1/customers/1");
    // Paths of `api` are below the base URL as it is written.
    assert_eq!(url("/all", "api PUT /V1/products/x"), "/rest/all/V1/products/x");
    assert_eq!(url("/all", "api PUT '/{store_view}/V1/products/x'"), "/rest/all/V1/products/x");
    assert_eq!(url("", "api PUT /V1/products/x"), "/rest/V1/products/x");
    assert_eq!(
        at(&env, "/fr", &format!("{update} -n -o json")).env("STOREFRONT_STORE_VIEW", "fr").run().code,
        0
    );
}

#[test]
fn what_is_no_base_url_is_refused_with_the_right_one() {
    let env = TestEnv::new();
    at(&env, "/all/V1/customers", "customer show --customer 1").run().assert_failure(
        2,
        str![[r#"
error: the base URL http://127.0.0.1:[PORT]/rest/all/V1/customers does not end at the root of the REST API
  hint: set STOREFRONT_BASE_URL=http://127.0.0.1:[PORT]/rest
"#]],
    );
    at(&env, "/rest", "customer show --customer 1").run().assert_failure(
        2,
        str![[r#"
error: the base URL http://127.0.0.1:[PORT]/rest/rest does not end at the root of the REST API
  hint: set STOREFRONT_BASE_URL=http://127.0.0.1:[PORT]/rest
"#]],
    );
    let other = at(&env, "/fr", "customer show --customer 1").env("STOREFRONT_STORE_VIEW", "de");
    other.run().assert_failure(
        2,
        str![[r#"
error: the base URL http://127.0.0.1:[PORT]/rest/fr names the store view `fr`, but `de` is set
  hint: set STOREFRONT_BASE_URL=http://127.0.0.1:[PORT]/rest, or choose with --store-view CODE
"#]],
    );
    let config = "api = \"magento\"\nbase-url = \"https://shop.example/rest/all/async/V1\"\n";
    let home = Home::with_config(&format!("[profiles.shop]\n{config}"));
    home.storefront("customer show -p shop").run().assert_failure(
        2,
        str![[r#"
error: the base URL https://shop.example/rest/all/async/V1 does not end at the root of the REST API
  hint: run `storefront config set -p shop base-url https://shop.example/rest`
"#]],
    );
    assert_eq!(env.requests(), [""; 0]);
}
