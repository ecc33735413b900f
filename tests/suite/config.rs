//! `config`, and invalid configurations.

use serde_json::{Value, json};
use snapbox::str;

use crate::support::snapshot::assert_snapshot;
use crate::support::storefront::Home;

const SHOP: &str = "[profiles.shop]\nbase-url = \"https://shop.example/rest\"\n";

fn json(text: &str) -> Value {
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
fn set_changes_one_value_and_keeps_every_other_byte() {
    let before = "# ours\n  default-profile   = 'shop' # the real one\n\n\
        [profiles.shop] # Paris\n# where it is\nbase-url = 'https://shop.example'   # old\n\n\
        retry=3\n[profiles.shop.read]\nignore = [\n  '/a', # noise\n]\n# the end\n";
    let home = Home::with_config(before);
    home.ok("config set base-url https://new.example");
    home.ok("config set profiles.shop.retry 5");
    let after =
        before.replace("'https://shop.example'", "\"https://new.example\"").replace("retry=3", "retry=5");
    assert_eq!(home.read("config.toml"), after);
    home.ok("config set timeout 2.5");
    home.ok("config set read.ignore /x /y");
    home.ok("config set token-command pass show shop");
    home.ok("config set -p other base-url https://other.example");
    home.run("config list").assert_success(str![[r#"
default-profile = "shop"
profiles.shop.base-url = "https://new.example"
profiles.shop.retry = 5
profiles.shop.timeout = 2.5
profiles.shop.token-command = ["pass","show","shop"]
profiles.shop.read.ignore = ["/x","/y"]
profiles.other.base-url = "https://other.example"
# shop.token: the command pass (token-command of profile shop)
# shop.admin-token: the command pass (token-command of profile shop)
# other.token: none
# other.admin-token: none
"#]]);
    assert_snapshot(
        &home.read("config.toml"),
        str![[r##"
# ours
  default-profile   = 'shop' # the real one

[profiles.shop] # Paris
# where it is
base-url = "https://new.example"   # old

retry=5
timeout = 2.5
token-command = ["pass", "show", "shop"]
[profiles.shop.read]
ignore = ["/x", "/y"]

[profiles.other]
base-url = "https://other.example"
# the end
"##]],
    );
    home.run("config list -p other").assert_success(str![[r#"
default-profile = "shop"
profiles.other.base-url = "https://other.example"
# other.token: none
# other.admin-token: none
"#]]);
}

#[test]
fn set_refuses_invalid_keys_and_values() {
    let home = Home::with_config(&format!("{SHOP}token-env = \"SHOP\"\n"));
    let before = home.read("config.toml");
    for (line, stderr) in [
        ("-p shop retyr 1", str!["error: unknown key `profiles.shop.retyr`; did you mean `retry`?"]),
        (
            "-p shop retry -1",
            str!["error: profiles.shop.retry: expected a non-negative integer, found the number -1"],
        ),
        (
            "-p shop retry one",
            str!["error: profiles.shop.retry: expected a non-negative integer, found `one`"],
        ),
        (
            "-p shop retry 1 2",
            str!["error: profiles.shop.retry: expected a non-negative integer, got 2 values"],
        ),
        ("-p shop retry", str!["error: profiles.shop.retry: missing value, expected a non-negative integer"]),
        (
            "-p shop ship-layout round",
            str!["error: profiles.shop.ship-layout: expected wrapped or flat, found `round`"],
        ),
        (
            "-p shop base-url https://u:hunter2@shop.example",
            str![
                "error: profiles.shop.base-url: must not contain credentials; tokens are configured separately"
            ],
        ),
        ("-p shop read.path V1", str!["error: profiles.shop.read.path: expected a path starting with /"]),
        (
            "-p shop read x",
            str![[r#"
error: `profiles.shop.read` is a table
  hint: set its keys individually
"#]],
        ),
        ("-p shop retry.x 1", str!["error: `profiles.shop.retry` is not a table"]),
        (
            "-p shop token-file x",
            str![
                "error: [HOME]/config/storefront/config.toml: profiles.shop: token-env and token-file are mutually exclusive"
            ],
        ),
        (
            "-p sh/op retry 1",
            str![[
                r#"error: profiles."sh/op": invalid profile name `sh/op`: use letters, digits, `-`, `_` and `.`, start with a letter or digit, at most 64 bytes"#
            ]],
        ),
        (
            "retry 1",
            str![[r#"
error: no profile selected for `retry`
  hint: use -p NAME, or profiles.NAME.retry
"#]],
        ),
        (
            "default-profile shpo",
            str![[r#"
error: no profile `shpo` in `[HOME]/config/storefront/config.toml` (from config set)
  hint: did you mean `shop`?
"#]],
        ),
        (
            "= 1",
            str![[r#"
error: invalid key `=`
  hint: write a key such as profiles.shop.base-url
"#]],
        ),
    ] {
        home.run(&format!("config set {line}")).assert_failure(2, stderr);
    }
    home.run("config use shpo").assert_failure(
        2,
        str![[r#"
error: no profile `shpo` in `[HOME]/config/storefront/config.toml` (from config use)
  hint: did you mean `shop`?
"#]],
    );
    home.run("config unset -p shop retry").assert_failure(
        2,
        str!["error: `profiles.shop.retry` is not set in `[HOME]/config/storefront/config.toml`"],
    );
    assert_eq!(home.read("config.toml"), before);
}

#[test]
fn unset_removes_a_key_or_a_profile_and_repairs_an_invalid_file() {
    let home = Home::with_config(&format!("default-profile = \"shop\"\n{SHOP}tokn = 1\nretyr = 2\n"));
    home.run("config list").assert_failure(2, str!["error: [HOME]/config/storefront/config.toml: unknown key `profiles.shop.tokn`; did you mean `token`?"]);
    home.run("config unset tokn")
        .assert_report(str!["removed profiles.shop.tokn from `[HOME]/config/storefront/config.toml`"]);
    home.run("config list").assert_failure(2, str!["error: [HOME]/config/storefront/config.toml: unknown key `profiles.shop.retyr`; did you mean `retry`?"]);
    home.ok("config unset retyr");
    home.ok("config list");
    home.ok("config unset profiles.shop");
    assert_eq!(home.ok("config list"), "");
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
                "error: [HOME]/config/storefront/config.toml: profiles.shop.retry: expected a non-negative integer, found text"
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
fn a_dry_run_of_a_command_without_one_is_refused_and_writes_nothing() {
    let home = Home::new();
    home.run("config set profiles.shop.base-url https://shop.example --dry-run").assert_failure(
        2,
        str![[r#"
error: unexpected argument '--dry-run' found

  tip: to pass '--dry-run' as a value, use '-- --dry-run'

Usage: storefront config set <KEY> <VALUE>...

For more information, try '--help'.
"#]],
    );
    assert!(!home.path("config.toml").exists());
    home.run("sandbox reset --input x.json").assert_failure(
        2,
        str![[r#"
error: unexpected argument '--input' found

  tip: a similar argument exists: '--no-input'

Usage: storefront sandbox reset --no-input

For more information, try '--help'.
"#]],
    );
}
