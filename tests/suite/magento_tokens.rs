//! `auth login --user`: a password is exchanged for a token, which is kept with its expiry and never printed.

use serde_json::Value;

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
    let line = format!("auth login --with-password -vv {line}");
    let arguments: Vec<&str> = line.split(' ').collect();
    home.storefront(&arguments).stdin(format!("{password}\n")).run()
}

fn check(home: &Home, command: &str, name: &str) -> Value {
    let arguments: Vec<&str> = command.split(' ').collect();
    let outcome = home.run(&[&arguments[..], &["-o", "json"]].concat());
    let found: Value = serde_json::from_str(&outcome.stdout).unwrap();
    let found = found["checks"].as_array().unwrap().iter().find(|check| check["check"] == name).cloned();
    found.unwrap_or_else(|| panic!("{outcome:?}"))
}

#[test]
fn a_token_is_kept_with_its_expiry_and_never_printed() {
    let env = TestEnv::new();
    let home = profile(&env, "magento");
    let email = env.profile()["email"].as_str().unwrap().to_owned();
    let customer = login(&home, &format!("--user {email}"), PASSWORD);
    assert_eq!((customer.code, customer.stdout.as_str()), (0, ""), "{customer:?}");
    assert!(
        customer.stderr.contains("expires in 59 min") || customer.stderr.contains("expires in 1 h"),
        "{customer:?}"
    );
    let admin = login(&home, "--user admin --admin", PASSWORD);
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
            ["expires in 3 h 59 min", "expires in 4 h"].iter().any(|text| detail.contains(text)),
            "{found}"
        );
        assert_eq!(check(&home, command, "customer token")["status"], "ok");
    }
    let shown = home.ok("customer show -o json -q");
    assert!(shown.contains(&email), "{shown}");
}

#[test]
fn an_expired_token_is_said_to_be() {
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
    assert!(found["detail"].as_str().unwrap().contains("expired"), "{found}");
    assert!(found["fix"].as_str().unwrap().contains("auth login --user NAME --admin"), "{found}");
}

#[test]
fn a_bad_password_is_refused_and_nothing_is_stored() {
    let env = TestEnv::new();
    let home = profile(&env, "magento");
    let outcome = login(&home, "--user admin --admin", "wrong-secret");
    assert_eq!(outcome.code, 6, "{outcome:?}");
    assert!(!outcome.stderr.contains("wrong-secret") && outcome.stderr.contains("--otp"), "{outcome:?}");
    assert!(!home.path("credentials.toml").exists());
    // Without the two-factor modules there is no such route.
    let outcome = login(&home, "--user admin --admin --otp 123456", PASSWORD);
    assert_eq!(outcome.code, 4, "{outcome:?}");
    assert!(outcome.stderr.contains("leave out --otp"), "{outcome:?}");
    assert_eq!(login(&home, "--user admin --otp 123456", PASSWORD).code, 2, "only administrators have one");
    assert_eq!(login(&home, "--user admin --admin", "").code, 2);
    home.fails(2, "auth login --user admin --admin --no-input");
    home.fails(2, "auth login --with-password");
}

#[test]
fn a_login_that_is_not_answered_is_no_write() {
    let env = TestEnv::with_faults(&["POST:reset-after-commit"]);
    let home = profile(&env, "magento");
    let outcome = login(&home, "--user admin --admin -o json", PASSWORD);
    assert_eq!((outcome.code, &outcome.error()["applied"]), (5, &Value::from("no")), "{outcome:?}");
}

#[test]
fn the_marketplace_issues_no_tokens() {
    let env = TestEnv::new();
    let outcome = login(&profile(&env, "marketplace"), "--user admin --admin", PASSWORD);
    assert_eq!(outcome.code, 2, "{outcome:?}");
    assert!(outcome.stderr.contains("issues no tokens"), "{outcome:?}");
    assert!(env.requests().is_empty());
}

#[test]
fn the_password_goes_to_the_profiles_host_only() {
    let (env, other) = (TestEnv::new(), TestEnv::new());
    let home = profile(&env, "magento");
    let outcome = home
        .storefront(&["auth", "login", "--user", "admin", "--admin", "--with-password"])
        .stdin(PASSWORD)
        .env("STOREFRONT_BASE_URL", &other.url())
        .run();
    assert_eq!(outcome.code, 2, "{outcome:?}");
    assert!(other.requests().is_empty() && env.requests().is_empty());
}
