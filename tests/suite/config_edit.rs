//! `config set` and `config unset`: one value changes, and an invalid one is refused.

use snapbox::str;

use crate::config::SHOP;
use crate::support::snapshot::assert_snapshot;
use crate::support::storefront::Home;

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
        ("-p shop retry -1", str!["error: profiles.shop.retry: expected a non-negative integer"]),
        ("-p shop retry one", str!["error: profiles.shop.retry: expected a non-negative integer"]),
        (
            "-p shop retry 1 2",
            str!["error: profiles.shop.retry: expected a non-negative integer, got 2 values"],
        ),
        ("-p shop retry", str!["error: profiles.shop.retry: missing value, expected a non-negative integer"]),
        ("-p shop ship-layout round", str!["error: profiles.shop.ship-layout: expected wrapped or flat"]),
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
