//! Spellings of a Magento shop's base URL: both of its root are one service, and others are refused.

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
fn the_root_written_or_added_by_a_gateway_is_one_history() {
    let env = TestEnv::new();
    for (number, (after_rest, city)) in [("", "Utica"), ("/", "Albany")].into_iter().enumerate() {
        let line = format!("customer update --customer 1 --address 2 --city {city} -y -q -o json");
        at(&env, after_rest, &line).run().done();
        let history = at(&env, after_rest, "history --customer 1 -o json").run();
        assert_eq!(history.stdout.lines().count(), number + 1, "{after_rest}: {history:?}");
    }
    // Where something in between adds `/rest`, as the sandbox does.
    let history = at(&env, "", "history --customer 1 -o json").env("STOREFRONT_BASE_URL", &env.url());
    assert_eq!(history.run().stdout.lines().count(), 2);
    let restored = at(&env, "", "undo LAST --customer 1 -y").run();
    assert_eq!((restored.code, &env.address(2)["city"]), (0, &"Utica".into()), "{restored:?}");
}

#[test]
fn a_store_view_and_a_version_in_the_base_url_are_refused_with_the_settings() {
    let env = TestEnv::new();
    for (after_rest, stderr) in [
        (
            "/fr",
            str![[r#"
error: the base URL http://127.0.0.1:[PORT]/rest/fr continues after the root of the REST API
  hint: set STOREFRONT_BASE_URL=http://127.0.0.1:[PORT]/rest and STOREFRONT_STORE_VIEW=fr
"#]],
        ),
        (
            "/fr/V1",
            str![[r#"
error: the base URL http://127.0.0.1:[PORT]/rest/fr/V1 continues after the root of the REST API
  hint: set STOREFRONT_BASE_URL=http://127.0.0.1:[PORT]/rest and STOREFRONT_STORE_VIEW=fr
"#]],
        ),
        (
            "/V1",
            str![[r#"
error: the base URL http://127.0.0.1:[PORT]/rest/V1 continues after the root of the REST API
  hint: set STOREFRONT_BASE_URL=http://127.0.0.1:[PORT]/rest
"#]],
        ),
        (
            "/all/V1/customers",
            str![[r#"
error: the base URL http://127.0.0.1:[PORT]/rest/all/V1/customers continues after the root of the REST API
  hint: set STOREFRONT_BASE_URL=http://127.0.0.1:[PORT]/rest
"#]],
        ),
        (
            "/rest",
            str![[r#"
error: the base URL http://127.0.0.1:[PORT]/rest/rest continues after the root of the REST API
  hint: set STOREFRONT_BASE_URL=http://127.0.0.1:[PORT]/rest
"#]],
        ),
    ] {
        at(&env, after_rest, "customer show --customer 1").run().assert_failure(2, stderr);
    }
    for (after_rest, stderr) in [
        (
            "/fr/V1",
            str![[r#"
error: the base URL https://shop.example/rest/fr/V1 continues after the root of the REST API
  hint: run `storefront config set -p shop base-url https://shop.example/rest` and `storefront config set -p shop store-view fr`
"#]],
        ),
        (
            "/all/async/V1",
            str![[r#"
error: the base URL https://shop.example/rest/all/async/V1 continues after the root of the REST API
  hint: run `storefront config set -p shop base-url https://shop.example/rest`
"#]],
        ),
    ] {
        let config = format!("api = \"magento\"\nbase-url = \"https://shop.example/rest{after_rest}\"\n");
        let home = Home::with_config(&format!("[profiles.shop]\n{config}"));
        home.storefront("customer show -p shop").run().assert_failure(2, stderr);
    }
    assert_eq!(env.requests(), [""; 0]);
}
