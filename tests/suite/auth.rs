//! `auth`: tokens go in, their sources come out, and no token goes where it was not meant for.

use serde_json::Value;

use crate::support::storefront::{Home, Outcome};

const SHOP: &str = "default-profile = \"shop\"\n[profiles.shop]\nbase-url = \"https://shop.example/rest\"\n";

fn login(home: &Home, token: &str, more: &[&str]) -> Outcome {
    let arguments = [&["auth", "login", "--with-token"], more].concat();
    home.storefront(&arguments).stdin(token).run()
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
    assert!(outcome.stderr.contains("https://shop.example"), "{outcome:?}");
    #[cfg(unix)]
    assert_eq!(home.mode("credentials.toml"), 0o600);
    assert!(home.read("credentials.toml").contains("value = \"hunter2\""));
    assert_eq!(home.read("config.toml"), SHOP);
    let text = home.ok("auth status");
    assert!(text.contains("token        auth login of profile shop\n"), "{text}");
    assert!(text.contains("admin token  auth login of profile shop\n"), "{text}");
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
    home.ok("config set base-url https://shop.example/other/path");
    home.ok("auth status");
    home.ok("config set base-url https://new.example");
    let stderr = home.fails(6, "auth status");
    for word in ["https://shop.example", "https://new.example", "storefront auth login -p shop"] {
        assert!(stderr.contains(word), "{stderr}");
    }
    // A token for the new host does not take the old one along.
    login(&home, "boss", &["--admin"]);
    let status = status(&home);
    assert_eq!(status["admin_token"]["available"], true);
    assert_eq!(status["token"]["available"], false);
}

#[test]
fn status_names_each_source() {
    let home = Home::with_config(&format!("{SHOP}token-env = \"SHOP\"\nadmin-token-command = [\"false\"]\n"));
    let unset = status(&home);
    assert_eq!(unset["token"]["source"], "the environment variable SHOP (token-env of profile shop)");
    assert_eq!(unset["token"]["available"], false);
    assert_eq!(unset["admin_token"]["available"], Value::Null);
    let set = home.storefront(&["auth", "status"]).env("SHOP", "hunter2").run();
    assert!(set.stdout.contains("the command false"), "{set:?}");
    assert!(!format!("{set:?}").contains("hunter2"));

    let environment = Home::new()
        .storefront(&["auth", "status", "-o", "json"])
        .env("STOREFRONT_BASE_URL", "https://shop.example/rest")
        .env("STOREFRONT_TOKEN", "hunter2")
        .run();
    let status: Value = serde_json::from_str(&environment.stdout).unwrap();
    assert_eq!(environment.code, 0);
    assert_eq!(status["profile"], Value::Null);
    assert_eq!(status["base_url"], "https://shop.example/rest");
    assert_eq!(status["token"]["source"], "the environment variable STOREFRONT_TOKEN");
}

#[test]
fn the_environment_may_move_the_host_but_not_the_token() {
    let home = Home::with_config(&format!("{SHOP}token = \"hunter2\"\n"));
    let moved = |name: &str, value: &str| {
        home.storefront(&["auth", "status"])
            .env("STOREFRONT_BASE_URL", "https://other.example")
            .env(name, value)
            .run()
    };
    let refused = moved("UNUSED", "");
    assert_eq!(refused.code, 6, "{refused:?}");
    assert!(refused.stderr.contains("not sent to another host"), "{refused:?}");
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
        (&["--admin"], " \n", "no token came"),
        (&["--admin"], "two\nhunter2", "blanks"),
        (&["-p", "bare"], "hunter2", "no base-url"),
        (&["-p", "shpo"], "hunter2", "did you mean shop?"),
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
