//! What `doctor` says of tokens: where they come from, what is missing, and never the token.

use serde_json::Value;
use snapbox::str;

use crate::support::doctor::{PROFILE, QUICK, examine, home, script};
use crate::support::http_client::SECRET;
use crate::support::mock_server::answer;
use crate::support::snapshot::assert_snapshot;
use crate::support::test_env::TestEnv;

/// The program and arguments that print the next one, as the settings write them.
const ECHO: &str = if cfg!(windows) { r#""cmd", "/c", "echo""# } else { r#""echo""# };

#[test]
fn the_source_of_a_token_is_named_but_not_the_token() {
    let server = script(answer("200 OK", "", PROFILE));
    for (lines, expected) in [
        (format!("token = {SECRET:?}"), str!["ok: token of profile shop"]),
        (
            "token-env = \"SHOP_TOKEN\"".to_owned(),
            str!["ok: the environment variable SHOP_TOKEN (token-env of profile shop)"],
        ),
        (
            "token-file = \"token\"".to_owned(),
            str!["ok: the file [HOME]/config/storefront/token (token-file of profile shop)"],
        ),
        (
            format!("token-command = [{ECHO}, {SECRET:?}]"),
            str!["ok: the command echo (token-command of profile shop)"],
        ),
    ] {
        let home = home(&server.url(""), &lines);
        home.write("token", SECRET, 0o600);
        let found = examine(home.storefront(&[&QUICK[..], &["-vv"]].concat()).env("SHOP_TOKEN", SECRET));
        assert_eq!(found.check("customer token").0, "ok", "{lines}");
        assert_snapshot(&found.text("customer token"), expected);
        // No call shows that the service takes the customer's token for an administrator's.
        assert_eq!(found.check("admin token").0, "skipped");
    }
}

#[test]
fn a_missing_token_is_a_finding_and_no_request_is_sent() {
    let server = script(answer("200 OK", "", PROFILE));
    for (lines, expected) in [
        (
            "",
            str![[r#"
failed: no token for profile `shop`
→ run `storefront auth login -p shop`, or set STOREFRONT_TOKEN
"#]],
        ),
        (
            "token-env = \"SHOP_TOKEN\"",
            str![[r#"
failed: the environment variable SHOP_TOKEN (token-env of profile shop) is not set
→ renew the token where it comes from
"#]],
        ),
        (
            "token-file = \"none\"",
            str![[r#"
failed: the file [HOME]/config/storefront/none (token-file of profile shop) not found
→ renew the token where it comes from
"#]],
        ),
        (
            "token-command = [\"false\"]",
            str![[r#"
failed: the token command `false` failed (exit status: 1)
→ run it by hand to see why
"#]],
        ),
    ] {
        let found = examine(home(&server.url(""), lines).storefront(&QUICK));
        assert_snapshot(&found.text("customer token"), expected);
        assert!([2, 6].contains(&found.code), "{lines}: {}", found.code);
    }
    assert!(server.requests().is_empty());
}

#[test]
fn a_missing_admin_token_does_not_skip_the_profile() {
    let env = TestEnv::new();
    env.done("customer update --email doctor@example.com");
    let home = home(&env.url(), "token-env = \"SHOP_TOKEN\"\nadmin-token-env = \"ADMIN\"");
    let found = examine(home.storefront(&QUICK).env("SHOP_TOKEN", "sandbox-customer-1"));
    assert_eq!((found.code, found.check("admin token").0, found.check("profile").0), (6, "failed", "ok"));
}

#[test]
fn only_a_call_that_worked_makes_a_token_ok() {
    let service = TestEnv::new();
    let checks = |variables: &[(&str, &str)]| -> Value {
        let mut run = service.storefront(&["doctor", "-o", "json"]).without("STOREFRONT_ADMIN_TOKEN");
        for (name, value) in variables {
            run = run.env(name, value);
        }
        serde_json::from_str::<Value>(&run.run().stdout).unwrap()["checks"].clone()
    };
    let check = |checks: &Value, name: &str| {
        checks.as_array().unwrap().iter().find(|check| check["check"] == name).unwrap().clone()
    };
    let right = checks(&[]);
    assert_eq!(check(&right, "customer token")["status"], "ok");
    let admin = check(&right, "admin token");
    assert_eq!(admin["status"], "skipped");
    assert!(admin["detail"].as_str().unwrap().ends_with("not checked as an administrator's"), "{admin}");
    let view = check(&checks(&[("STOREFRONT_STORE_VIEW", "defualt")]), "store view");
    assert_eq!(view["fix"], "pass --store-view CODE, or set it with STOREFRONT_STORE_VIEW");
    let path = checks(&[("STOREFRONT_BASE_URL", &format!("{}/rest", service.url()))]);
    let fix = check(&path, "profile")["fix"].as_str().unwrap().to_owned();
    assert!(fix.contains("set it with STOREFRONT_BASE_URL"), "{fix}");
}
