//! `auth`: tokens go in, their sources come out, and no token goes where it was not meant for.

use serde_json::Value;

use crate::support::storefront::{Home, Outcome};
use crate::support::test_env::TestEnv;

const SHOP_START: &str = "default-profile = \"shop\"\n[profiles.shop]\n";
const SHOP: &str = "default-profile = \"shop\"\n[profiles.shop]\nbase-url = \"https://127.0.0.1:1/rest\"\n";

fn login(home: &Home, token: &str, more: &[&str]) -> Outcome {
    let arguments = [&["auth", "login", "--with-token"], more].concat();
    home.storefront(&arguments).stdin(token).run()
}

/// The check of that name.
#[track_caller]
fn check<'a>(status: &'a Value, name: &str) -> &'a Value {
    let checks = status["checks"].as_array().unwrap();
    checks.iter().find(|check| check["check"] == name).unwrap_or_else(|| panic!("no {name}: {status}"))
}

fn status(home: &Home) -> Value {
    serde_json::from_str(&home.run(&["auth", "status", "-o", "json"]).stdout).unwrap()
}

#[test]
fn a_stored_token_is_private_apart_and_forgotten_on_demand() {
    let home = Home::with_config(SHOP);
    assert!(home.fails(6, "auth status").contains("storefront auth login -p shop"));
    let outcome = login(&home, "hunter2\n", &[]);
    assert_eq!((outcome.code, outcome.stdout.as_str()), (0, ""), "{outcome:?}");
    assert!(outcome.stderr.contains("https://127.0.0.1:1"), "{outcome:?}");
    #[cfg(unix)]
    assert_eq!(home.mode("credentials.toml"), 0o600);
    assert!(home.read("credentials.toml").contains("value = \"hunter2\""));
    assert_eq!(home.read("config.toml"), SHOP);
    let text = home.ok("auth status");
    assert!(text.contains("customer token  skipped  auth login of profile shop; not checked"), "{text}");
    assert!(text.contains("admin token     skipped  none of its own"), "{text}");
    assert!(home.ok("config list").contains("# shop.token: auth login of profile shop\n"));

    assert_eq!(login(&home, "boss", &["--admin"]).code, 0);
    home.ok("auth logout --admin");
    assert!(home.read("credentials.toml").contains("hunter2"));
    home.ok("auth logout");
    assert!(!home.read("credentials.toml").contains("hunter2"));
    home.fails(6, "auth status");
    home.ok("auth logout");
}

#[test]
fn nothing_prints_a_token() {
    let home = Home::with_config(SHOP);
    let mut said = vec![login(&home, "hunter2", &["-vv"])];
    for line in
        ["auth status", "auth status -o json", "config list", "config list -o json -vv", "auth logout"]
    {
        said.push(home.run(&line.split(' ').collect::<Vec<_>>()));
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
    let stderr = home.fails(6, "auth status");
    for word in ["https://127.0.0.1:1", "https://127.0.0.1:2", "storefront auth login -p shop"] {
        assert!(stderr.contains(word), "{stderr}");
    }
    // A token for the new host does not take the old one along.
    login(&home, "boss", &["--admin"]);
    let status = status(&home);
    assert_eq!(check(&status, "admin token")["status"], "skipped");
    assert_eq!(check(&status, "customer token")["status"], "failed");
}

#[test]
fn status_names_each_source() {
    let home = Home::with_config(&format!("{SHOP}token-env = \"SHOP\"\nadmin-token-command = [\"false\"]\n"));
    let unset = status(&home);
    let from = "the environment variable SHOP (token-env of profile shop)";
    assert_eq!(check(&unset, "customer token")["detail"], format!("{from} is not set"));
    assert_eq!(check(&unset, "customer token")["status"], "failed");
    let detail = check(&unset, "admin token")["detail"].as_str().unwrap();
    // Windows has no such program.
    let says = if cfg!(windows) { "`false` cannot be run" } else { "`false` failed" };
    assert!(detail.contains(says), "{unset}");
    let set = home.storefront(&["auth", "status"]).env("SHOP", "hunter2").run();
    assert!(set.stdout.contains("SHOP") && set.stdout.contains("not checked"), "{set:?}");
    assert!(!format!("{set:?}").contains("hunter2"));

    let environment = Home::new()
        .storefront(&["auth", "status", "-o", "json"])
        .env("STOREFRONT_BASE_URL", "https://127.0.0.1:1/rest")
        .env("STOREFRONT_TOKEN", "hunter2")
        .run();
    let status: Value = serde_json::from_str(&environment.stdout).unwrap();
    assert_eq!(environment.code, 0);
    assert_eq!(status["profile"], Value::Null);
    assert_eq!(status["base_url"], "https://127.0.0.1:1/rest");
    let detail = check(&status, "customer token")["detail"].as_str().unwrap();
    assert!(detail.starts_with("the environment variable STOREFRONT_TOKEN; not checked"), "{detail}");
}

#[test]
fn login_keeps_a_token_that_the_service_accepts_or_that_cannot_be_checked() {
    let env = TestEnv::new();
    let profile = |url: &str| format!("{SHOP_START}base-url = {url:?}\nstore-view = \"default\"\n");
    let home = Home::with_config(&profile(&env.url()));
    let outcome = login(&home, "sandbox-customer-1", &[]);
    assert!(outcome.code == 0 && !outcome.stderr.contains("warning"), "{outcome:?}");
    assert_eq!(check(&status(&home), "customer token")["status"], "ok");

    let outcome = login(&home, "hunter2", &[]);
    assert_eq!(outcome.code, 6, "{outcome:?}");
    assert!(outcome.stderr.contains("the token was not stored"), "{outcome:?}");
    assert!(!home.read("credentials.toml").contains("hunter2"));

    let away = Home::with_config(&profile("http://127.0.0.1:1"));
    let outcome = login(&away, "hunter2", &[]);
    assert!(outcome.code == 0 && outcome.stderr.contains("could not be verified"), "{outcome:?}");
    assert!(away.read("credentials.toml").contains("hunter2"));
}

#[test]
fn login_shows_the_token_to_no_host_but_the_profiles() {
    let env = TestEnv::new();
    let home = Home::with_config(&format!("{SHOP}store-view = \"default\"\n"));
    let outcome = home
        .storefront(&["auth", "login", "--with-token"])
        .env("STOREFRONT_BASE_URL", &env.url())
        .stdin("hunter2")
        .run();
    // The shop would have answered 401.
    assert!(outcome.code == 0 && outcome.stderr.contains("points to another host"), "{outcome:?}");
}

#[test]
fn a_token_that_the_service_rejects_is_not_ok() {
    let env = TestEnv::new();
    let home = Home::with_config(&format!(
        "{SHOP_START}base-url = {:?}\nstore-view = \"default\"\ntoken = \"hunter2\"\n",
        env.url()
    ));
    let outcome = home.run(&["auth", "status", "-o", "json"]);
    let status: Value = serde_json::from_str(&outcome.stdout).unwrap();
    assert_eq!((outcome.code, &check(&status, "customer token")["status"]), (6, &Value::from("failed")));
    let fix = check(&status, "customer token")["fix"].as_str().unwrap();
    assert!(fix.contains("storefront auth login -p shop"), "{fix}");
    assert!(!format!("{outcome:?}").contains("hunter2"));
}

#[test]
fn the_environment_may_move_the_host_but_not_the_token() {
    let home = Home::with_config(&format!("{SHOP}token = \"hunter2\"\n"));
    let moved = |name: &str, value: &str| {
        home.storefront(&["auth", "status"])
            .env("STOREFRONT_BASE_URL", "https://127.0.0.1:3")
            .env(name, value)
            .run()
    };
    let refused = moved("UNUSED", "");
    assert_eq!(refused.code, 6, "{refused:?}");
    assert!(refused.stderr.contains("refusing to send its token to another host"), "{refused:?}");
    assert_eq!(moved("STOREFRONT_TOKEN", "theirs").code, 0);
    for bad in ["ftp://other.example", "https://me:hunter2@other.example", "https://other.example/?hunter2"] {
        let outcome = home.storefront(&["auth", "status"]).env("STOREFRONT_BASE_URL", bad).run();
        assert_eq!(outcome.code, 2, "{outcome:?}");
        assert!(!format!("{outcome:?}").contains("hunter2"), "{outcome:?}");
    }
}

#[test]
fn login_refuses_what_would_not_be_used() {
    let home = Home::with_config(&format!("{SHOP}token-env = \"SHOP\"\n[profiles.bare]\nretry = 1\n"));
    for (arguments, token, problem) in [
        (&[][..], "hunter2", "config unset -p shop token-env"),
        (&["--admin"], " \n", "no token given"),
        (&["--admin"], "two\nhunter2", "contains whitespace or non-ASCII characters"),
        (&["-p", "bare"], "hunter2", "no base-url"),
        (&["-p", "shpo"], "hunter2", "did you mean `shop`?"),
        (&["--sandbox"], "hunter2", "storefront sandbox tokens"),
    ] {
        let outcome = login(&home, token, arguments);
        assert!(outcome.code == 2 || outcome.code == 6, "{outcome:?}");
        assert!(outcome.stderr.contains(problem), "{problem}: {outcome:?}");
        assert!(!outcome.stderr.contains("hunter2"), "{outcome:?}");
    }
    assert!(home.fails(2, "auth login --admin").contains("--with-token"));
    assert!(!home.path("credentials.toml").exists());
}

#[cfg(unix)]
#[test]
fn odd_credentials_are_refused() {
    for (content, mode, problem) in [
        ("", 0o644, "chmod 600"),
        ("shop = \"hunter2", 0o600, "credentials.toml:1:"),
        ("shop.token = \"hunter2\"", 0o600, "expected the texts origin and value"),
    ] {
        let home = Home::with_config(SHOP);
        home.write("credentials.toml", content, mode);
        let outcome = home.run(&["auth", "status"]);
        assert_eq!(outcome.code, 2, "{outcome:?}");
        assert!(outcome.stderr.contains(problem), "{outcome:?}");
        assert!(!format!("{outcome:?}").contains("hunter2"), "{outcome:?}");
    }
}
