//! `auth login --user`: a password is exchanged for a token, which is kept with its expiry and never printed.

use serde_json::Value;
use snapbox::str;

use crate::support::mock_server::{MockServer, answer};
use crate::support::snapshot::assert_snapshot;
use crate::support::storefront::{Home, Outcome};
#[cfg(unix)]
use crate::support::terminal::{ENTER, Terminal};
use crate::support::test_env::TestEnv;

fn profile(env: &TestEnv) -> Home {
    Home::with_config(&format!(
        "default-profile = \"shop\"\n[profiles.shop]\nbase-url = \"{}/rest\"\napi = \"magento\"\n",
        env.url()
    ))
}

fn login(home: &Home, line: &str) -> Outcome {
    home.storefront(&format!("auth login --with-password {line}")).stdin("sandbox\n").run()
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
    let home = profile(&env);
    let email = env.profile()["email"].as_str().unwrap().to_owned();
    let customer = login(&home, &format!("--user {email} -vv"));
    assert_eq!((customer.code, customer.stdout.as_str()), (0, ""), "{customer:?}");
    assert!(
        customer.stderr.contains("expires in 59 min") || customer.stderr.contains("expires in 60 min"),
        "{customer:?}"
    );
    let admin = login(&home, "--user admin --admin -vv");
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

/// The tokens of the profile have expired, and the shop refuses them.
fn expire(home: &Home) {
    let old = |line: &str| match line.split_once(" = ") {
        Some(("expires", _)) => "expires = \"2026-01-01T00:00:00Z\"".to_owned(),
        Some(("value", _)) => "value = \"outdated-token\"".to_owned(),
        _ => line.to_owned(),
    };
    let lines: Vec<String> = home.read("credentials.toml").lines().map(old).collect();
    home.write("credentials.toml", lines.join("\n"), 0o600);
}

#[test]
fn an_expired_token_is_a_failed_check() {
    let env = TestEnv::new();
    let home = profile(&env);
    assert_eq!(login(&home, "--user admin --admin").code, 0);
    expire(&home);
    drop(env);
    let found = check(&home, "auth status", "admin token");
    assert_eq!(found["status"], "failed", "{found}");
    assert_snapshot(
        found["detail"].as_str().unwrap(),
        str!["auth login --admin of profile shop; expired [AGE] ago"],
    );
    assert_snapshot(
        found["fix"].as_str().unwrap(),
        str!["run `storefront auth login --user NAME --admin -p shop`"],
    );
}

/// What a page in front of the shop answers is no token, and says nothing of the user name.
#[test]
fn a_page_is_no_answer_to_a_log_in() {
    let html = "Content-Type: text/html\r\n";
    for (status, code) in [("200 OK", 5), ("403 Forbidden", 6), ("400 Bad Request", 4)] {
        let server = MockServer::start(vec![answer(status, html, "<html><title>Blocked</title></html>")]);
        let home = Home::with_config(&format!(
            "default-profile = \"shop\"\n[profiles.shop]\nbase-url = \"{}\"\napi = \"magento\"\n",
            server.url("/rest")
        ));
        let outcome = login(&home, "--user jane@example.com -o json");
        let error = outcome.error();
        assert_eq!((outcome.code, &error["applied"]), (code, &Value::from("no")), "{error}");
        let hint = error["hint"].as_str().unwrap();
        assert!(hint.contains("firewall") && !hint.contains("user name"), "{status}: {error}");
        // A token that was pasted is kept: nothing says that it is wrong.
        let pasted = home.storefront("auth login --with-token").stdin("pasted-token-1234\n").run();
        assert_eq!(pasted.code, 0, "{status}: {pasted:?}");
        assert!(pasted.stderr.contains("could not be verified"), "{status}: {pasted:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_command_with_an_expired_token_says_since_when_and_offers_the_log_in() {
    let env = TestEnv::new();
    let home = profile(&env);
    assert_eq!(login(&home, "--user admin --admin").code, 0);
    expire(&home);
    let refused = home.run("customer show 1");
    assert_eq!(refused.code, 6, "{refused:?}");
    let said =
        "ago: run `storefront auth login --user NAME --admin -p shop` (the token is from auth login --admin";
    assert!(refused.stderr.contains("the token expired ") && refused.stderr.contains(said), "{refused:?}");
    let update = ["customer", "update", "1", "--gender", "3", "--yes"];
    let mut terminal = Terminal::run(&home, 200, &update, &[]);
    terminal.sees("The token has expired. Log in now?").types(ENTER);
    terminal.asks("User name (empty: paste a token)").answers("admin");
    terminal.asks("Code of the second factor (empty: none)").types(ENTER);
    terminal.sees("password of admin").types("sandbox").types(ENTER).sees("saved the admin token");
    terminal.sees("customer update: done");
    let (code, screen) = terminal.ends();
    assert_eq!(code, 0, "{screen}");
    assert!(!screen.contains("error:") && !screen.contains("sandbox\r"), "{screen}");
    expire(&home);
    let mut terminal = Terminal::run(&home, 200, &update, &[]);
    terminal.sees("Log in now?").types("n").types(ENTER);
    terminal.sees("the token expired");
    let (code, screen) = terminal.ends();
    assert_eq!(code, 6, "{screen}");
}
