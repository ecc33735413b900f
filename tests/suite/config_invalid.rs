//! Missing and invalid configurations: refused with the reason, and never replaced by the sandbox.

use snapbox::str;

use crate::config::{SHOP, json};
use crate::support::mock_server::{MockServer, answer};
use crate::support::storefront::Home;
use crate::support::test_env::{ADD_ITEM, TestEnv, serve};

#[test]
fn without_a_configuration_the_sandbox_is_not_used() {
    let home = Home::new();
    for (command, stderr) in [
        (
            "customer show",
            str![[r#"
error: no service configured: `[HOME]/config/storefront/config.toml` does not exist
  hint: to try it with no account, add --sandbox; for a real service, run `storefront config init`, or set STOREFRONT_BASE_URL and STOREFRONT_TOKEN
"#]],
        ),
        (
            ADD_ITEM,
            str![[r#"
error: no service configured: `[HOME]/config/storefront/config.toml` does not exist
  No changes were made.
  hint: to try it with no account, add --sandbox; for a real service, run `storefront config init`, or set STOREFRONT_BASE_URL and STOREFRONT_TOKEN
"#]],
        ),
    ] {
        home.run(command).assert_failure(2, stderr);
    }
    assert!(!home.dir.path().join("data").exists());
    let faulty = TestEnv::new();
    faulty.run(&format!("{ADD_ITEM} --fault 500")).assert_failure(
        2,
        str![[r#"
error: --fault requires --sandbox
  No changes were made.
  hint: add --sandbox
"#]],
    );
    assert_eq!(faulty.requests(), [""; 0]);
}

#[test]
fn the_sandbox_needs_no_setup_and_ignores_the_environment() {
    let (home, server) = (Home::new(), MockServer::start(vec![answer("200 OK", "", "{}")]));
    let outcome = serve(home.storefront("customer show --sandbox -o json"), &server.url(""))
        .env("STOREFRONT_STORE_VIEW", "nowhere")
        .env("STOREFRONT_PROFILE", "nobody")
        .env("HTTP_PROXY", &server.url(""))
        .env("http_proxy", &server.url(""))
        .run();
    assert_eq!(outcome.done()["id"], 1);
    home.run("customer show --sandbox -p shop").assert_failure(
        2,
        str![[r#"
error: `--sandbox` cannot be used with `--profile`
  hint: leave out `--sandbox` or `--profile`
"#]],
    );
    home.run("customer show --sandbox --store-view nowhere").assert_failure(3, str![[r#"
error: cannot read the stored addresses: the service answered 404 Not Found: The store that was requested wasn't found. Verify the store and try again
  hint: the service has no store view `nowhere`: name another with --store-view
"#]]);
    assert_eq!(server.connections(), 0);
}

#[test]
fn sandbox_and_profile_are_mutually_exclusive() {
    let home = Home::with_config(SHOP);
    home.run("config list --sandbox -p shop").assert_failure(
        2,
        str![[r#"
error: `--sandbox` cannot be used with `--profile`
  hint: leave out `--sandbox` or `--profile`
"#]],
    );
}

#[test]
fn a_file_from_the_environment_must_exist_or_is_created_by_init() {
    let home = Home::new();
    let elsewhere = home.dir.path().join("deep/elsewhere.toml");
    let with = |line: &str| home.storefront(line).env("STOREFRONT_CONFIG", elsewhere.to_str().unwrap());
    with("auth status").run().assert_failure(
        2,
        str![[r#"
error: `[HOME]/deep/elsewhere.toml` (from STOREFRONT_CONFIG) does not exist
  hint: create it with `storefront config init`
"#]],
    );
    let complete = with("auth status")
        .env("STOREFRONT_BASE_URL", "https://shop.example")
        .env("STOREFRONT_TOKEN", "hunter2")
        .run();
    assert_eq!(complete.code, 0, "{complete:?}");
    assert_eq!(with("config init -p shop --base-url https://shop.example").run().code, 0);
    assert!(elsewhere.exists() && !home.path("config.toml").exists());
}

#[test]
fn invalid_configurations_are_refused() {
    let env = TestEnv::new();
    for (content, stderr) in [
        (
            &b"[profiles.shop"[..],
            str![[r#"
error: [HOME]/config/storefront/config.toml:1:15: not valid TOML: unclosed table, expected `]`
  No changes were made.
"#]],
        ),
        (
            b"\xff\xfe[",
            str![[r#"
error: `[HOME]/config/storefront/config.toml` is not valid UTF-8 text
  No changes were made.
"#]],
        ),
        (
            b"{\"profiles\": {}}",
            str![[r#"
error: [HOME]/config/storefront/config.toml:1:1: not valid TOML: invalid key-value pair, expected key
  No changes were made.
"#]],
        ),
        (
            b"[profiles.shop]\nbase_url = \"https://x.example\"\n",
            str![[r#"
error: [HOME]/config/storefront/config.toml: unknown key `profiles.shop.base_url`; did you mean `base-url`?
  No changes were made.
"#]],
        ),
        (
            b"[profiles.shop]\nbase-url = 7\n",
            str![[r#"
error: [HOME]/config/storefront/config.toml: profiles.shop.base-url: expected an http:// or https:// URL
  No changes were made.
"#]],
        ),
        (
            b"",
            str![[r#"
error: no profile `shop` in `[HOME]/config/storefront/config.toml` (from --profile)
  No changes were made.
  hint: run `storefront config init -p shop`
"#]],
        ),
    ] {
        env.home.write("config.toml", content, 0o600);
        env.run(&format!("{ADD_ITEM} -p shop")).assert_failure(2, stderr);
    }
    std::fs::remove_file(env.home.path("config.toml")).unwrap();
    std::fs::create_dir(env.home.path("config.toml")).unwrap();
    env.run(ADD_ITEM).assert_failure(
        2,
        str![[r#"
error: `[HOME]/config/storefront/config.toml` is a directory, not a file
  No changes were made.
"#]],
    );
    assert_eq!(env.requests(), [""; 0]);
}

#[test]
fn an_invalid_file_is_refused_with_its_reason() {
    let big = "#".repeat(2 * 1024 * 1024);
    for (content, stderr) in [
        (
            &b""[..],
            str![[r#"
error: no service configured: `[HOME]/config/storefront/config.toml` has no profile
  hint: to try it with no account, add --sandbox; for a real service, run `storefront config init`, or set STOREFRONT_BASE_URL and STOREFRONT_TOKEN
"#]],
        ),
        (b"\xff\xfe\x00", str!["error: `[HOME]/config/storefront/config.toml` is not valid UTF-8 text"]),
        (
            b"{\"profiles\": {\"hunter2\": 1}}",
            str![
                "error: [HOME]/config/storefront/config.toml:1:1: not valid TOML: invalid key-value pair, expected key"
            ],
        ),
        (
            b"[profiles.shop]\nbase-url = \"https://x\"\ntoken = \"hunter2",
            str![[
                r#"error: [HOME]/config/storefront/config.toml:3:17: not valid TOML: invalid basic string, expected `"`"#
            ]],
        ),
        (
            b"[profiles.shop]\nretry = \"hunter2\"",
            str![
                "error: [HOME]/config/storefront/config.toml: profiles.shop.retry: expected a non-negative integer"
            ],
        ),
        (
            b"<html>hunter2",
            str![
                "error: [HOME]/config/storefront/config.toml:1:14: not valid TOML: key with no value, expected `=`"
            ],
        ),
        (big.as_bytes(), str!["error: `[HOME]/config/storefront/config.toml` is larger than 1 MiB"]),
    ] {
        let home = Home::new();
        home.write("config.toml", content, 0o600);
        home.run("auth status").assert_failure(2, stderr);
        let error = home.run("auth status -o json").stderr;
        assert_eq!(json(&error)["error"]["kind"], "usage");
    }
    let home = Home::new();
    std::fs::create_dir_all(home.path("config.toml")).unwrap();
    home.run("config list")
        .assert_failure(2, str!["error: `[HOME]/config/storefront/config.toml` is a directory, not a file"]);
}

#[test]
fn read_ignore_cannot_hide_an_address() {
    for (pointer, stderr) in [
        (
            "",
            str![
                "error: [HOME]/config/storefront/config.toml: profiles.shop.read.ignore: expected a list of JSON pointers (starting with /, not pointing into addresses)"
            ],
        ),
        (
            "/addresses",
            str![
                "error: [HOME]/config/storefront/config.toml: profiles.shop.read.ignore: expected a list of JSON pointers (starting with /, not pointing into addresses)"
            ],
        ),
        (
            "/addresses/0",
            str![
                "error: [HOME]/config/storefront/config.toml: profiles.shop.read.ignore: expected a list of JSON pointers (starting with /, not pointing into addresses)"
            ],
        ),
        (
            "/addresses/12/id",
            str![
                "error: [HOME]/config/storefront/config.toml: profiles.shop.read.ignore: expected a list of JSON pointers (starting with /, not pointing into addresses)"
            ],
        ),
        (
            "/addresses/-",
            str![
                "error: [HOME]/config/storefront/config.toml: profiles.shop.read.ignore: expected a list of JSON pointers (starting with /, not pointing into addresses)"
            ],
        ),
    ] {
        let config = format!("[profiles.shop.read]\nignore = [\"/updated_at\", {pointer:?}]");
        Home::with_config(&config).run("-p shop customer show").assert_failure(2, stderr);
    }
}
