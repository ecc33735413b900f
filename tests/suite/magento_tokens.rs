//! `auth login --user`: a password is exchanged for a token, which is kept with its expiry and never printed.

use serde_json::Value;
use snapbox::str;

use crate::support::snapshot::assert_snapshot;
use crate::support::storefront::{Home, Outcome};
use crate::support::test_env::TestEnv;

const PASSWORD: &str = "sandbox";

fn profile(env: &TestEnv, api: &str) -> Home {
    let path = if api == "magento" { "/rest" } else { "" };
    Home::with_config(&format!(
        "default-profile = \"shop\"\n[profiles.shop]\nbase-url = \"{}{path}\"\napi = \"{api}\"\n",
        env.url()
    ))
}

fn login(home: &Home, line: &str, password: &str) -> Outcome {
    let line = format!("auth login --with-password {line}");
    home.storefront(&line).stdin(format!("{password}\n")).run()
}

fn check(home: &Home, command: &str, name: &str) -> Value {
    let outcome = home.run(&format!("{command} -o json"));
    let found: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let found = found["checks"].as_array().unwrap().iter().find(|check| check["check"] == name).cloned();
    found.unwrap_or_else(|| panic!("{outcome:?}"))
}

#[test]
fn a_token_is_kept_with_its_expiry_and_never_printed() {
    let env = TestEnv::new();
    let home = profile(&env, "magento");
    let email = env.profile()["email"].as_str().unwrap().to_owned();
    let customer = login(&home, &format!("--user {email} -vv"), PASSWORD);
    assert_eq!((customer.code, customer.stdout.as_str()), (0, ""), "{customer:?}");
    assert!(
        customer.stderr.contains("expires in 59 min") || customer.stderr.contains("expires in 60 min"),
        "{customer:?}"
    );
    let admin = login(&home, "--user admin --admin -vv", PASSWORD);
    assert_eq!(admin.code, 0, "{admin:?}");
    let stored = home.read("credentials.toml");
    assert_eq!(stored.matches("expires = ").count(), 2, "{stored}");
    for line in stored.lines().filter(|line| line.starts_with("value")) {
        let token = line.split('"').nth(1).unwrap();
        for said in [&customer.stderr, &admin.stderr] {
            assert!(!said.contains(token) && !said.contains("\"password\""), "{said}");
        }
    }
    for command in ["auth status", "doctor"] {
        let found = check(&home, command, "admin token");
        assert_eq!(found["status"], "ok", "{found}");
        let detail = found["detail"].as_str().unwrap();
        assert!(
            ["expires in 59 min", "expires in 60 min"].iter().any(|text| detail.contains(text)),
            "{found}"
        );
        assert_eq!(check(&home, command, "customer token")["status"], "ok");
    }
    let shown = home.ok("customer show -o json -q");
    assert!(shown.contains(&email), "{shown}");
}

#[test]
fn an_expired_token_is_a_failed_check() {
    let env = TestEnv::new();
    let home = profile(&env, "magento");
    assert_eq!(login(&home, "--user admin --admin", PASSWORD).code, 0);
    let stored = home.read("credentials.toml");
    let old: Vec<String> = stored
        .lines()
        .map(|line| {
            if line.starts_with("expires") {
                "expires = \"2026-01-01T00:00:00Z\"".to_owned()
            } else {
                line.to_owned()
            }
        })
        .collect();
    home.write("credentials.toml", old.join("\n"), 0o600);
    drop(env);
    let found = check(&home, "auth status", "admin token");
    assert_eq!(found["status"], "failed", "{found}");
    assert_snapshot(
        found["detail"].as_str().unwrap(),
        str!["auth login --admin of profile shop; expired [AGE] ago"],
    );
    assert_snapshot(
        found["fix"].as_str().unwrap(),
        str![
            "set a new token where it comes from, or run `storefront auth login --user NAME --admin -p shop`"
        ],
    );
}

#[test]
fn a_bad_password_is_refused_and_nothing_is_stored() {
    let env = TestEnv::new();
    let home = profile(&env, "magento");
    let outcome = login(&home, "--user admin --admin", "wrong-secret");
    outcome.assert_failure(6, str![[r#"
error: no token was issued: the service answered 401 Unauthorized: The account sign-in was incorrect or your account is disabled temporarily. Please wait and try again later
  hint: check user name and password; where the shop asks administrators for a second factor, add --otp CODE; repeated failures lock the account temporarily
"#]]);
    assert!(!home.path("credentials.toml").exists());
    // Without the two-factor modules there is no such route.
    let outcome = login(&home, "--user admin --admin --otp 123456", PASSWORD);
    outcome.assert_failure(
        4,
        str![[r#"
error: no token was issued: the service answered 404 Not Found: Request does not match any route
  hint: the shop asks for no second factor there: leave out --otp
"#]],
    );
    login(&home, "--user admin --otp 123456", PASSWORD).assert_failure(
        2,
        str![[r#"
error: the following required arguments were not provided:
  --admin

Usage: storefront auth login --user <NAME> --admin --with-password --otp <CODE>

For more information, try '--help'.
"#]],
    );
    login(&home, "--user admin --admin", "").assert_failure(2, str!["error: the password is empty"]);
    home.run("auth login --user admin --admin --no-input").assert_failure(
        2,
        str![[r#"
error: cannot ask for the password of admin: `--no-input` was given
  hint: pass it on standard input with --with-password
"#]],
    );
    home.run("auth login --with-password").assert_failure(
        2,
        str![[r#"
error: the following required arguments were not provided:
  --user <NAME>

Usage: storefront auth login --user <NAME> --with-password

For more information, try '--help'.
"#]],
    );
}

#[test]
fn a_login_without_a_response_is_no_write() {
    let env = TestEnv::with_faults(&["POST:reset-after-commit"]);
    let home = profile(&env, "magento");
    let outcome = login(&home, "--user admin --admin -o json", PASSWORD);
    assert_eq!((outcome.code, &outcome.error()["applied"]), (5, &Value::from("no")), "{outcome:?}");
}

#[test]
fn the_marketplace_issues_no_tokens() {
    let env = TestEnv::new();
    let outcome = login(&profile(&env, "marketplace"), "--user admin --admin", PASSWORD);
    outcome.assert_failure(
        2,
        str![[r#"
error: the interface `marketplace` issues no tokens for a user name
  hint: leave out --user and paste a token; for a Magento shop set `api` of the profile to magento
"#]],
    );
    assert!(env.requests().is_empty());
}

#[test]
fn the_password_is_sent_only_to_the_host_of_the_profile() {
    let (env, other) = (TestEnv::new(), TestEnv::new());
    let home = profile(&env, "magento");
    let outcome = home
        .storefront(&["auth", "login", "--user", "admin", "--admin", "--with-password"])
        .stdin(PASSWORD)
        .env("STOREFRONT_BASE_URL", &other.url())
        .run();
    outcome.assert_failure(
        2,
        str![[r#"
error: STOREFRONT_BASE_URL points to another host than profile shop; the password is not sent there
  hint: unset STOREFRONT_BASE_URL
"#]],
    );
    assert!(other.requests().is_empty() && env.requests().is_empty());
}
