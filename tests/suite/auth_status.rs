//! `auth status`: where each token comes from, whether it can be used, and which host it is for.

use serde_json::Value;
use snapbox::str;

use crate::support::storefront::Home;
use crate::support::test_env::TestEnv;

pub const SHOP_START: &str = "default-profile = \"shop\"\n[profiles.shop]\n";
pub const SHOP: &str =
    "default-profile = \"shop\"\n[profiles.shop]\nbase-url = \"https://127.0.0.1:1/rest\"\n";

/// The check of that name.
#[track_caller]
pub fn check<'a>(status: &'a Value, name: &str) -> &'a Value {
    let checks = status["checks"].as_array().unwrap();
    checks.iter().find(|check| check["check"] == name).unwrap_or_else(|| panic!("no {name}: {status}"))
}

pub fn status(home: &Home) -> Value {
    serde_json::from_str(&home.run(&["auth", "status", "-o", "json"]).stdout).unwrap()
}

#[test]
fn status_names_each_source() {
    let home = Home::with_config(&format!("{SHOP}token-env = \"SHOP\"\nadmin-token-command = [\"false\"]\n"));
    home.run("auth status").assert(
        6,
        str![[r#"
profile   shop
base URL  https://127.0.0.1:1/rest

CHECK           STATUS  DETAIL
customer token  failed  the environment variable SHOP (token-env of profile shop) is not set
                        → set a new token where it comes from, or run `storefront auth login -p shop`
admin token     failed  the token command `false` failed (exit status: 1)
                        → run it by hand to see why
"#]],
        str![[r#"
error: customer token: the environment variable SHOP (token-env of profile shop) is not set
  hint: set a new token where it comes from, or run `storefront auth login -p shop`
"#]],
    );
    // Windows has no such program.
    let says = if cfg!(windows) { "`false` cannot be run" } else { "`false` failed" };
    let unset = status(&home);
    let detail = check(&unset, "admin token")["detail"].as_str().unwrap();
    assert!(detail.contains(says), "{unset}");
    let set = home.storefront("auth status").env("SHOP", "hunter2").run();
    assert!(!format!("{set:?}").contains("hunter2"));
    set.assert(6, str![[r#"
profile   shop
base URL  https://127.0.0.1:1/rest

CHECK           STATUS   DETAIL
customer token  skipped  the environment variable SHOP (token-env of profile shop); not checked: no store view set
admin token     failed   the token command `false` failed (exit status: 1)
                         → run it by hand to see why
"#]], str![[r#"
error: admin token: the token command `false` failed (exit status: 1)
  hint: run it by hand to see why
"#]]);

    let environment = Home::new()
        .storefront("auth status -o json")
        .env("STOREFRONT_BASE_URL", "https://127.0.0.1:1/rest")
        .env("STOREFRONT_TOKEN", "hunter2")
        .run();
    environment.assert_success(str![[r#"{"profile":null,"base_url":"https://127.0.0.1:1/rest","checks":[{"check":"customer token","status":"skipped","detail":"the environment variable STOREFRONT_TOKEN; not checked: no store view set","fix":null},{"check":"admin token","status":"skipped","detail":"none of its own: the customer token is used; not checked as an administrator's","fix":null}]}"#]]);
}

#[test]
fn a_rejected_token_is_a_failed_check() {
    let env = TestEnv::new();
    let home = Home::with_config(&format!(
        "{SHOP_START}base-url = {:?}\nstore-view = \"default\"\ntoken = \"hunter2\"\n",
        env.url()
    ));
    home.run("auth status").assert(6, str![[r#"
profile   shop
base URL  http://127.0.0.1:[PORT]/

CHECK           STATUS   DETAIL
customer token  failed   token of profile shop: the service answered 401 Unauthorized: The consumer isn't authorized to access self
                         → set a new token where it comes from, or run `storefront auth login -p shop`
admin token     skipped  none of its own: the customer token is used; not checked as an administrator's
"#]], str![[r#"
error: customer token: token of profile shop: the service answered 401 Unauthorized: The consumer isn't authorized to access self
  hint: set a new token where it comes from, or run `storefront auth login -p shop`
"#]]);
    home.run("auth status -o json").assert(6, str![[r#"{"profile":"shop","base_url":"http://127.0.0.1:[PORT]/","checks":[{"check":"customer token","status":"failed","detail":"token of profile shop: the service answered 401 Unauthorized: The consumer isn't authorized to access self","fix":"set a new token where it comes from, or run `storefront auth login -p shop`"},{"check":"admin token","status":"skipped","detail":"none of its own: the customer token is used; not checked as an administrator's","fix":null}]}"#]], str![[r#"{"error":{"kind":"auth","message":"customer token: token of profile shop: the service answered 401 Unauthorized: The consumer isn't authorized to access self","hint":"set a new token where it comes from, or run `storefront auth login -p shop`","status":null,"applied":"no","service":null}}"#]]);
}

#[test]
fn a_base_url_from_the_environment_does_not_get_the_token_of_the_profile() {
    let home = Home::with_config(&format!("{SHOP}token = \"hunter2\"\n"));
    let moved = |name: &str, value: &str| {
        home.storefront(&["auth", "status"])
            .env("STOREFRONT_BASE_URL", "https://127.0.0.1:3")
            .env(name, value)
            .run()
    };
    moved("UNUSED", "").assert(6, str![[r#"
profile   shop
base URL  https://127.0.0.1:3/

CHECK           STATUS  DETAIL
customer token  failed  STOREFRONT_BASE_URL points to https://127.0.0.1:3, but profile `shop` is for https://127.0.0.1:1; refusing to send its token to another host
                        → set STOREFRONT_TOKEN to a token for https://127.0.0.1:3, or unset STOREFRONT_BASE_URL
admin token     failed  STOREFRONT_BASE_URL points to https://127.0.0.1:3, but profile `shop` is for https://127.0.0.1:1; refusing to send its token to another host
                        → set STOREFRONT_TOKEN to a token for https://127.0.0.1:3, or unset STOREFRONT_BASE_URL
"#]], str![[r#"
error: customer token: STOREFRONT_BASE_URL points to https://127.0.0.1:3, but profile `shop` is for https://127.0.0.1:1; refusing to send its token to another host
  hint: set STOREFRONT_TOKEN to a token for https://127.0.0.1:3, or unset STOREFRONT_BASE_URL
"#]]);
    assert_eq!(moved("STOREFRONT_TOKEN", "theirs").code, 0);
    for (bad, stderr) in [
        ("ftp://other.example", str!["error: STOREFRONT_BASE_URL must start with https:// or http://"]),
        (
            "https://me:hunter2@other.example",
            str!["error: STOREFRONT_BASE_URL must not contain credentials; tokens are configured separately"],
        ),
        ("https://other.example/?hunter2", str!["error: STOREFRONT_BASE_URL has a query (?…)"]),
    ] {
        home.storefront("auth status").env("STOREFRONT_BASE_URL", bad).run().assert_failure(2, stderr);
    }
}

#[cfg(unix)]
#[test]
fn unsafe_or_invalid_credentials_are_refused() {
    for (content, mode, stdout, stderr) in [
        (
            "",
            0o644,
            str![[r#"
profile   shop
base URL  https://127.0.0.1:1/rest

CHECK           STATUS  DETAIL
customer token  failed  `[HOME]/config/storefront/credentials.toml` contains a token and can be read by other users
                        → run `chmod 600 [HOME]/config/storefront/credentials.toml`
admin token     failed  `[HOME]/config/storefront/credentials.toml` contains a token and can be read by other users
                        → run `chmod 600 [HOME]/config/storefront/credentials.toml`
"#]],
            str![[r#"
error: customer token: `[HOME]/config/storefront/credentials.toml` contains a token and can be read by other users
  hint: run `chmod 600 [HOME]/config/storefront/credentials.toml`
"#]],
        ),
        (
            "shop = \"hunter2",
            0o600,
            str![[r#"
profile   shop
base URL  https://127.0.0.1:1/rest

CHECK           STATUS  DETAIL
customer token  failed  [HOME]/config/storefront/credentials.toml:1:16: not valid TOML: invalid basic string, expected `"`
                        → correct the file, or delete it and run `storefront auth login` again
admin token     failed  [HOME]/config/storefront/credentials.toml:1:16: not valid TOML: invalid basic string, expected `"`
                        → correct the file, or delete it and run `storefront auth login` again
"#]],
            str![[r#"
error: customer token: [HOME]/config/storefront/credentials.toml:1:16: not valid TOML: invalid basic string, expected `"`
  hint: correct the file, or delete it and run `storefront auth login` again
"#]],
        ),
        (
            "shop.token = \"hunter2\"",
            0o600,
            str![[r#"
profile   shop
base URL  https://127.0.0.1:1/rest

CHECK           STATUS  DETAIL
customer token  failed  [HOME]/config/storefront/credentials.toml: shop.token: expected the texts origin and value
                        → run `storefront auth logout -p shop`, then `storefront auth login -p shop`
admin token     failed  [HOME]/config/storefront/credentials.toml: shop.token: expected the texts origin and value
                        → run `storefront auth logout -p shop`, then `storefront auth login -p shop`
"#]],
            str![[r#"
error: customer token: [HOME]/config/storefront/credentials.toml: shop.token: expected the texts origin and value
  hint: run `storefront auth logout -p shop`, then `storefront auth login -p shop`
"#]],
        ),
    ] {
        let home = Home::with_config(SHOP);
        home.write("credentials.toml", content, mode);
        home.run("auth status").assert(2, stdout, stderr);
    }
}
