//! `auth login` and `auth logout`: tokens are stored privately, and sent only to the host they are for.

use snapbox::str;

use crate::auth_status::{SHOP, SHOP_START, check, status};
use crate::support::snapshot::assert_snapshot;
use crate::support::storefront::{Home, Outcome};
use crate::support::test_env::TestEnv;

fn login(home: &Home, token: &str, more: &[&str]) -> Outcome {
    home.storefront(&[&["auth", "login", "--with-token"], more].concat()).stdin(token).run()
}

#[test]
fn a_stored_token_is_private_and_deleted_by_logout() {
    let home = Home::with_config(SHOP);
    home.run("auth status").assert(
        6,
        str![[r#"
profile   shop
base URL  https://127.0.0.1:1/rest

CHECK           STATUS  DETAIL
customer token  failed  no token for profile `shop`
                        → run `storefront auth login -p shop`, or set STOREFRONT_TOKEN
admin token     failed  no token for profile `shop`
                        → run `storefront auth login -p shop`, or set STOREFRONT_TOKEN
"#]],
        str![[r#"
error: customer token: no token for profile `shop`
  hint: run `storefront auth login -p shop`, or set STOREFRONT_TOKEN
"#]],
    );
    login(&home, "hunter2\n", &[]).assert_report(str![[r#"
warning: the token could not be verified: no store view set
saved the token for profile `shop` (https://127.0.0.1:1) to [HOME]/config/storefront/credentials.toml
"#]]);
    #[cfg(unix)]
    assert_eq!(home.mode("credentials.toml"), 0o600);
    assert_snapshot(
        &home.read("credentials.toml"),
        str![[r#"
[shop.token]
origin = "https://127.0.0.1:1"
value = "hunter2"
"#]],
    );
    assert_eq!(home.read("config.toml"), SHOP);
    home.run("auth status").assert_success(str![[r#"
profile   shop
base URL  https://127.0.0.1:1/rest

CHECK           STATUS   DETAIL
customer token  skipped  auth login of profile shop; not checked: no store view set
admin token     skipped  none of its own: the customer token is used; not checked as an administrator's
"#]]);
    home.run("config list").assert_success(str![[r#"
default-profile = "shop"
profiles.shop.base-url = "https://127.0.0.1:1/rest"
# shop.token: auth login of profile shop
# shop.admin-token: auth login of profile shop
"#]]);

    login(&home, "boss", &["--admin"]).assert_report(str![[r#"
the admin token was not verified: `read.attribute-path` is not set
saved the admin token for profile `shop` (https://127.0.0.1:1) to [HOME]/config/storefront/credentials.toml
"#]]);
    home.run("auth logout --admin").assert_report(str!["deleted the admin token of profile `shop`"]);
    assert_snapshot(
        &home.read("credentials.toml"),
        str![[r#"
[shop.token]
origin = "https://127.0.0.1:1"
value = "hunter2"
"#]],
    );
    home.run("auth logout").assert_report(str!["deleted the token of profile `shop`"]);
    assert_snapshot(&home.read("credentials.toml"), str![]);
    home.run("auth status").assert(
        6,
        str![[r#"
profile   shop
base URL  https://127.0.0.1:1/rest

CHECK           STATUS  DETAIL
customer token  failed  no token for profile `shop`
                        → run `storefront auth login -p shop`, or set STOREFRONT_TOKEN
admin token     failed  no token for profile `shop`
                        → run `storefront auth login -p shop`, or set STOREFRONT_TOKEN
"#]],
        str![[r#"
error: customer token: no token for profile `shop`
  hint: run `storefront auth login -p shop`, or set STOREFRONT_TOKEN
"#]],
    );
    home.run("auth logout").assert_report(str!["no stored token for profile `shop`"]);
}

#[test]
fn nothing_prints_a_token() {
    let home = Home::with_config(SHOP);
    let mut said = vec![login(&home, "hunter2", &["-vv"])];
    for line in
        ["auth status", "auth status -o json", "config list", "config list -o json -vv", "auth logout"]
    {
        said.push(home.run(line));
    }
    let said = format!("{said:?}");
    assert!(said.contains("auth login of profile shop") && !said.contains("hunter2"), "{said}");
}

#[test]
fn a_stored_token_is_refused_when_the_profile_moves() {
    let home = Home::with_config(SHOP);
    login(&home, "hunter2", &[]);
    home.ok("config set base-url https://127.0.0.1:1/other/path");
    home.ok("auth status");
    home.ok("config set base-url https://127.0.0.1:2");
    home.run("auth status").assert(6, str![[r#"
profile   shop
base URL  https://127.0.0.1:2/

CHECK           STATUS  DETAIL
customer token  failed  the token from auth login of profile shop is bound to https://127.0.0.1:1, but the base URL is now https://127.0.0.1:2
                        → run `storefront auth login -p shop`
admin token     failed  the token from auth login of profile shop is bound to https://127.0.0.1:1, but the base URL is now https://127.0.0.1:2
                        → run `storefront auth login -p shop`
"#]], str![[r#"
error: customer token: the token from auth login of profile shop is bound to https://127.0.0.1:1, but the base URL is now https://127.0.0.1:2
  hint: run `storefront auth login -p shop`
"#]]);
    // A token for the new host does not take the old one along.
    login(&home, "boss", &["--admin"]);
    let status = status(&home);
    assert_eq!(check(&status, "admin token")["status"], "skipped");
    assert_eq!(check(&status, "customer token")["status"], "failed");
}

#[test]
fn login_stores_a_token_that_is_accepted_or_cannot_be_verified() {
    let env = TestEnv::new();
    let profile = |url: &str| format!("{SHOP_START}base-url = {url:?}\nstore-view = \"default\"\n");
    let home = Home::with_config(&profile(&env.url()));
    login(&home, "sandbox-customer-1", &[]).assert_report(str!["saved the token for profile `shop` (http://127.0.0.1:[PORT]) to [HOME]/config/storefront/credentials.toml"]);
    assert_eq!(check(&status(&home), "customer token")["status"], "ok");

    login(&home, "hunter2", &[]).assert_failure(6, str![[r#"
error: the token was not stored: the service answered 401 Unauthorized: The consumer isn't authorized to access self
  hint: get a new token, then run `storefront auth login` again; if it is an administrator's token, add --admin
"#]]);
    assert!(!home.read("credentials.toml").contains("hunter2"));

    let away = Home::with_config(&profile("http://127.0.0.1:1"));
    login(&away, "hunter2", &[]).assert_report(str![[r#"
warning: the token could not be verified: cannot connect to 127.0.0.1:1: Connection refused (os error [N])
saved the token for profile `shop` (http://127.0.0.1:1) to [HOME]/config/storefront/credentials.toml
"#]]);
    assert!(away.read("credentials.toml").contains("hunter2"));
}

#[test]
fn login_sends_the_token_only_to_the_host_of_the_profile() {
    let env = TestEnv::new();
    let home = Home::with_config(&format!("{SHOP}store-view = \"default\"\n"));
    let outcome = home
        .storefront(&["auth", "login", "--with-token"])
        .env("STOREFRONT_BASE_URL", &env.url())
        .stdin("hunter2")
        .run();
    // The shop would have answered 401.
    outcome.assert_report(str![[r#"
warning: the token could not be verified: STOREFRONT_BASE_URL points to another host
saved the token for profile `shop` (https://127.0.0.1:1) to [HOME]/config/storefront/credentials.toml
"#]]);
}

#[test]
fn login_refuses_a_token_that_would_not_be_used() {
    let home = Home::with_config(&format!("{SHOP}token-env = \"SHOP\"\n[profiles.bare]\nretry = 1\n"));
    for (arguments, token, code, stderr) in [
        (
            &[][..],
            "hunter2",
            2,
            str![[r#"
error: profile `shop` sets `token-env`, which overrides stored tokens
  hint: run `storefront config unset -p shop token-env`
"#]],
        ),
        (&["--admin"], " \n", 2, str!["error: no token given"]),
        (
            &["--admin"],
            "two\nhunter2",
            6,
            str![[r#"
error: invalid token from the input: only `A-Z a-z 0-9 - . _ ~ + /` can be in it, and `=` at its end
  hint: give only the token, without quotes or blanks
"#]],
        ),
        (
            &["-p", "bare"],
            "hunter2",
            2,
            str![[r#"
error: profile `bare` has no base-url
  hint: run `storefront config set -p bare base-url URL`
"#]],
        ),
        (
            &["-p", "shpo"],
            "hunter2",
            2,
            str![[r#"
error: no profile `shpo` in `[HOME]/config/storefront/config.toml` (from --profile)
  hint: did you mean `shop`?
"#]],
        ),
        (
            &["--sandbox"],
            "hunter2",
            2,
            str![[r#"
error: the sandbox uses its own tokens
  hint: list them with `storefront sandbox tokens`
"#]],
        ),
    ] {
        login(&home, token, arguments).assert_failure(code, stderr);
    }
    home.run("auth login --admin").assert_failure(
        2,
        str![[r#"
error: cannot ask for the admin token of shop for https://127.0.0.1:1: not a terminal
  hint: use --with-token to read it from stdin
"#]],
    );
    assert!(!home.path("credentials.toml").exists());
}
