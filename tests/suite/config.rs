//! `config`: profiles are created, selected and shown, without their tokens.

use serde_json::{Value, json};
use snapbox::str;

use crate::support::snapshot::assert_snapshot;
use crate::support::storefront::Home;

pub const SHOP: &str = "[profiles.shop]\nbase-url = \"https://shop.example/rest\"\n";

pub fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn profiles_are_created_and_selected() {
    let home = Home::new();
    home.run("auth status").assert_failure(2, str![[r#"
error: no service configured: `[HOME]/config/storefront/config.toml` does not exist
  hint: to try it with no account, add --sandbox; for a real service, run `storefront config init`, or set STOREFRONT_BASE_URL and STOREFRONT_TOKEN
"#]]);
    assert_eq!(home.ok("config path"), format!("{}\n", home.path("config.toml").display()));
    assert_eq!(json(&home.ok("config path -o json"))["exists"], false);
    home.run("config init -p shop --base-url https://shop.example/rest --store-view fr").assert_report(str![
        "created profile `shop` in `[HOME]/config/storefront/config.toml`; next: `storefront auth login -p shop`"
    ]);
    assert_eq!(json(&home.ok("config path -o json"))["exists"], true);
    assert_eq!(
        home.read("config.toml"),
        "default-profile = \"shop\"\n\n\
         [profiles.shop]\nbase-url = \"https://shop.example/rest\"\nstore-view = \"fr\"\n"
    );
    assert_eq!(home.ok("config get base-url"), "https://shop.example/rest\n");
    home.ok("config init -p test --base-url https://test.example");
    assert_eq!(home.ok("config get default-profile"), "shop\n");
    home.run("config use test").assert_report(str!["default profile: test"]);
    assert_eq!(home.ok("config get base-url"), "https://test.example\n");
    assert_eq!(home.ok("config get -p shop store-view"), "fr\n");
}

#[test]
fn init_without_a_terminal_names_the_missing_flags() {
    let home = Home::new();
    for (line, stderr) in [
        (
            "--base-url https://shop.example",
            str![[r#"
error: cannot ask for the profile name: not a terminal
  hint: use -p NAME
"#]],
        ),
        (
            "-p shop",
            str![[r#"
error: cannot ask for the base URL: not a terminal
  hint: use --base-url URL
"#]],
        ),
        (
            "-p shop --base-url shop.example",
            str!["error: --base-url URL: has no scheme; write https:// before it"],
        ),
        (
            "-p ../x --base-url https://shop.example",
            str![
                "error: invalid profile name `../x`: use letters, digits, `-`, `_` and `.`, start with a letter or digit, at most 64 bytes"
            ],
        ),
        (
            "-p x --base-url https://shop.example --store-view ..",
            str!["error: --store-view CODE: invalid store view code `..`"],
        ),
    ] {
        home.run(&format!("config init {line}")).assert_failure(2, stderr);
    }
    assert!(!home.path("config.toml").exists());
}

#[test]
fn init_replaces_a_profile_only_with_replace_or_yes() {
    let home = Home::with_config(&format!("{SHOP}retry = 7\n"));
    let again = "config init -p shop --base-url https://new.example";
    home.run(again).assert_failure(
        3,
        str![[r#"
error: profile `shop` already exists
  hint: replace it with --replace, or change one setting with `storefront config set`
"#]],
    );
    assert_eq!(home.ok("config get -p shop retry"), "7\n");
    home.ok(&format!("{again} --replace"));
    home.run("config get -p shop retry").assert_failure(
        2,
        str![[r#"
error: `profiles.shop.retry` is not set in `[HOME]/config/storefront/config.toml`
  hint: run `storefront config list` to see all settings
"#]],
    );
    home.ok("config init -p shop --base-url https://newer.example -y");
    assert_eq!(home.ok("config get -p shop base-url"), "https://newer.example\n");
}

#[test]
fn list_and_get_print_json() {
    let home = Home::with_config(&format!("{SHOP}retry = 3\nread.customer = \"/data\"\ntoken = \"x\"\n"));
    let expected = json!({
        "path": home.path("config.toml").to_str().unwrap(),
        "exists": true,
        "settings": {"profiles": {"shop": {
            "base-url": "https://shop.example/rest", "retry": 3, "read": {"customer": "/data"}, "token": "•••",
        }}},
        "tokens": {"shop": {"token": "token of profile shop", "admin-token": "token of profile shop"}},
    });
    assert_eq!(json(&home.ok("config list -o json")), expected);
    assert_eq!(json(&home.ok("config get -p shop retry -o json")), 3);
    assert_eq!(home.ok("config get -p shop read.customer"), "/data\n");
}

#[cfg(unix)]
#[test]
fn a_token_is_never_printed_and_makes_the_file_private() {
    let home = Home::new();
    home.write("config.toml", SHOP, 0o644);
    home.ok("config set -p shop retry 1");
    assert_eq!(home.mode("config.toml"), 0o644);
    home.run("config set -p shop token hunter2").assert_report(str![[r#"
warning: command-line arguments are visible to other users; use `storefront config set profiles.shop.token -` to read it from stdin
set profiles.shop.token in `[HOME]/config/storefront/config.toml`
"#]]);
    assert_eq!(home.mode("config.toml"), 0o600);
    let piped = home.storefront("config set -p shop admin-token -").stdin("hunter3\n").run();
    piped.assert_report(str!["set profiles.shop.admin-token in `[HOME]/config/storefront/config.toml`"]);
    assert_snapshot(
        &home.read("config.toml"),
        str![[r#"
[profiles.shop]
base-url = "https://shop.example/rest"
retry = 1
token = "hunter2"
admin-token = "hunter3"
"#]],
    );
    assert_eq!(home.ok("config get -p shop token"), "•••\n");
    assert_eq!(json(&home.ok("config get -p shop token -o json")), "•••");
    for (line, stdout) in [
        (
            "config get profiles.shop",
            str![[r#"
base-url = "https://shop.example/rest"
retry = 1
token = "•••"
admin-token = "•••"
"#]],
        ),
        (
            "config list",
            str![[r#"
profiles.shop.base-url = "https://shop.example/rest"
profiles.shop.retry = 1
profiles.shop.token = "•••"
profiles.shop.admin-token = "•••"
# shop.token: token of profile shop
# shop.admin-token: admin-token of profile shop
"#]],
        ),
        (
            "config list -o json",
            str![[
                r#"{"path":"[HOME]/config/storefront/config.toml","exists":true,"settings":{"profiles":{"shop":{"base-url":"https://shop.example/rest","retry":1,"token":"•••","admin-token":"•••"}}},"tokens":{"shop":{"token":"token of profile shop","admin-token":"admin-token of profile shop"}}}"#
            ]],
        ),
        (
            "auth status -p shop",
            str![[r#"
profile   shop
base URL  https://shop.example/rest

CHECK           STATUS   DETAIL
customer token  skipped  token of profile shop; not checked: no store view set
admin token     skipped  admin-token of profile shop; not checked: `read.attribute-path` is not set
"#]],
        ),
        (
            "auth status -p shop -o json",
            str![[
                r#"{"profile":"shop","base_url":"https://shop.example/rest","checks":[{"check":"customer token","status":"skipped","detail":"token of profile shop; not checked: no store view set","fix":null},{"check":"admin token","status":"skipped","detail":"admin-token of profile shop; not checked: `read.attribute-path` is not set","fix":null}]}"#
            ]],
        ),
    ] {
        home.run(line).assert_success(stdout);
    }
    home.run("config set -p shop base-url https://new.example").assert_report(str![[r#"
set profiles.shop.base-url in `[HOME]/config/storefront/config.toml`
warning: profile `shop` now points to a different host; the tokens of its `token` and `admin-token` will be sent there
"#]]);

    home.write("config.toml", home.read("config.toml"), 0o644);
    for (line, stderr) in [
        (
            "config list",
            str![[r#"
error: `[HOME]/config/storefront/config.toml` contains a token and can be read by other users
  hint: run `chmod 600 [HOME]/config/storefront/config.toml`
"#]],
        ),
        (
            "auth status",
            str![[r#"
error: `[HOME]/config/storefront/config.toml` contains a token and can be read by other users
  hint: run `chmod 600 [HOME]/config/storefront/config.toml`
"#]],
        ),
        (
            "config set -p shop retry 1",
            str![[r#"
error: `[HOME]/config/storefront/config.toml` contains a token and can be read by other users
  hint: run `chmod 600 [HOME]/config/storefront/config.toml`
"#]],
        ),
        (
            "config get -p shop retry",
            str![[r#"
error: `[HOME]/config/storefront/config.toml` contains a token and can be read by other users
  hint: run `chmod 600 [HOME]/config/storefront/config.toml`
"#]],
        ),
    ] {
        home.run(line).assert_failure(2, stderr);
    }
}
