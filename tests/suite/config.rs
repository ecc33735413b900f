//! `config`, and every way a configuration can be wrong.

use serde_json::{Value, json};

use crate::support::storefront::Home;

const SHOP: &str = "[profiles.shop]\nbase-url = \"https://shop.example/rest\"\n";

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap()
}

#[test]
fn the_way_from_nothing_to_a_profile() {
    let home = Home::new();
    let stderr = home.fails(2, "auth status");
    for way in ["--sandbox", "storefront config init", "STOREFRONT_BASE_URL", "STOREFRONT_TOKEN"] {
        assert!(stderr.contains(way), "{stderr}");
    }
    assert_eq!(home.ok("config path"), format!("{}\n", home.path("config.toml").display()));
    assert_eq!(json(&home.ok("config path -o json"))["exists"], false);
    home.ok("config init -p shop --base-url https://shop.example/rest --store-view fr");
    assert_eq!(json(&home.ok("config path -o json"))["exists"], true);
    assert_eq!(
        home.read("config.toml"),
        "default-profile = \"shop\"\n\n\
         [profiles.shop]\nbase-url = \"https://shop.example/rest\"\nstore-view = \"fr\"\n"
    );
    assert_eq!(home.ok("config get base-url"), "https://shop.example/rest\n");
    home.ok("config init -p test --base-url https://test.example");
    assert_eq!(home.ok("config get default-profile"), "shop\n");
    home.ok("config use test");
    assert_eq!(home.ok("config get base-url"), "https://test.example\n");
    assert_eq!(home.ok("config get -p shop store-view"), "fr\n");
}

#[test]
fn init_asks_nobody_where_nobody_is() {
    let home = Home::new();
    assert!(home.fails(2, "config init --base-url https://shop.example").contains("-p NAME"));
    assert!(home.fails(2, "config init -p shop").contains("--base-url URL"));
    assert!(home.fails(2, "config init -p shop --base-url shop.example").contains("https://"));
    assert!(home.fails(2, "config init -p ../x --base-url https://shop.example").contains("letters"));
    assert!(
        home.fails(2, "config init -p x --base-url https://shop.example --store-view ..")
            .contains("--store-view")
    );
    assert!(!home.path("config.toml").exists());
}

#[test]
fn init_replaces_only_when_told() {
    let home = Home::with_config(&format!("{SHOP}retry = 7\n"));
    let again = "config init -p shop --base-url https://new.example";
    assert!(home.fails(3, again).contains("--replace"));
    assert_eq!(home.ok("config get -p shop retry"), "7\n");
    home.ok(&format!("{again} --replace"));
    assert!(home.fails(2, "config get -p shop retry").contains("not set"));
    home.ok("config init -p shop --base-url https://newer.example -y");
    assert_eq!(home.ok("config get -p shop base-url"), "https://newer.example\n");
}

#[test]
fn set_changes_one_value_and_no_other_byte() {
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
    let list = home.ok("config list");
    for line in [
        "default-profile = \"shop\"\n",
        "profiles.shop.timeout = 2.5\n",
        "profiles.shop.read.ignore = [\"/x\",\"/y\"]\n",
        "profiles.shop.token-command = [\"pass\",\"show\",\"shop\"]\n",
        "profiles.other.base-url = \"https://other.example\"\n",
        "# shop.token: the command pass (token-command of profile shop)\n",
        "# other.token: none\n",
    ] {
        assert!(list.contains(line), "{line}{list}");
    }
    assert!(home.read("config.toml").contains("# where it is\n"));
    assert!(!home.ok("config list -p other").contains("profiles.shop"));
}

#[test]
fn set_refuses_what_the_file_could_not_hold() {
    let home = Home::with_config(&format!("{SHOP}token-env = \"SHOP\"\n"));
    let before = home.read("config.toml");
    for (line, problem) in [
        ("-p shop retyr 1", "unknown key `profiles.shop.retyr`; did you mean `retry`?"),
        ("-p shop retry -1", "expected a non-negative integer"),
        ("-p shop retry one", "expected a non-negative integer"),
        ("-p shop retry 1 2", "got 2 values"),
        ("-p shop retry", "missing value, expected a non-negative integer"),
        ("-p shop ship-layout round", "expected wrapped or flat, found `round`"),
        ("-p shop base-url https://u:hunter2@shop.example", "must not contain credentials"),
        ("-p shop read.path V1", "expected a path starting with /"),
        ("-p shop read x", "is a table"),
        ("-p shop retry.x 1", "`profiles.shop.retry` is not a table"),
        ("-p shop token-file x", "token-env and token-file are mutually exclusive"),
        ("-p sh/op retry 1", "invalid profile name"),
        ("retry 1", "no profile selected for `retry`"),
        ("default-profile shpo", "did you mean `shop`?"),
        ("= 1", "invalid key `=`"),
    ] {
        let stderr = home.fails(2, &format!("config set {line}"));
        assert!(stderr.contains(problem), "{line}: {stderr}");
        assert!(!stderr.contains("hunter2"), "{stderr}");
    }
    assert!(home.fails(2, "config use shpo").contains("did you mean `shop`?"));
    assert!(home.fails(2, "config unset -p shop retry").contains("not set"));
    assert_eq!(home.read("config.toml"), before);
}

#[test]
fn unset_takes_out_a_key_or_a_profile_and_mends_a_broken_file() {
    let home = Home::with_config(&format!("default-profile = \"shop\"\n{SHOP}tokn = 1\nretyr = 2\n"));
    assert!(home.fails(2, "config list").contains("profiles.shop.tokn"));
    home.ok("config unset tokn");
    assert!(home.fails(2, "config list").contains("profiles.shop.retyr"));
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
    let given = home.run(&["config", "set", "-p", "shop", "token", "hunter2"]);
    assert!(
        given.code == 0 && given.stderr.contains("command-line arguments are visible to other users"),
        "{given:?}"
    );
    assert_eq!(home.mode("config.toml"), 0o600);
    let piped =
        home.storefront(&["config", "set", "-p", "shop", "admin-token", "-"]).stdin("hunter3\n").run();
    assert!(piped.code == 0 && !piped.stderr.contains("warning"), "{piped:?}");
    assert!(home.read("config.toml").contains("hunter2") && home.read("config.toml").contains("\"hunter3\""));
    assert_eq!(home.ok("config get -p shop token"), "•••\n");
    assert_eq!(json(&home.ok("config get -p shop token -o json")), "•••");
    assert!(home.ok("config get profiles.shop").contains("token = \"•••\""));
    for line in ["config list", "config list -o json", "auth status -p shop", "auth status -p shop -o json"] {
        let outcome = home.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(outcome.code, 0, "{outcome:?}");
        assert!(!format!("{given:?}{outcome:?}").contains("hunter"), "{outcome:?}");
        assert!(outcome.stdout.contains("token of profile shop"), "{outcome:?}");
    }
    let moved = home.run(&["config", "set", "-p", "shop", "base-url", "https://new.example"]);
    assert!(
        moved.stderr.contains("the tokens of its `token` and `admin-token` will be sent there"),
        "{moved:?}"
    );

    home.write("config.toml", home.read("config.toml"), 0o644);
    let chmod = format!("chmod 600 {}", home.path("config.toml").display());
    for line in ["config list", "auth status", "config set -p shop retry 1", "config get -p shop retry"] {
        assert!(home.fails(2, line).contains(&chmod), "{line}");
    }
}

#[test]
fn list_and_get_speak_json() {
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
fn every_kind_of_broken_file_is_told() {
    let big = "#".repeat(2 * 1024 * 1024);
    let cases: [(&[u8], &str); 7] = [
        (b"", "has no profile"),
        (b"\xff\xfe\x00", "not valid UTF-8"),
        (b"{\"profiles\": {\"hunter2\": 1}}", "config.toml:1:1: not valid TOML"),
        (b"[profiles.shop]\nbase-url = \"https://x\"\ntoken = \"hunter2", "config.toml:3:"),
        (b"[profiles.shop]\nretry = \"hunter2\"", "profiles.shop.retry: expected a non-negative integer"),
        (b"<html>hunter2", "config.toml:1:"),
        (big.as_bytes(), "larger than 1 MiB"),
    ];
    for (content, problem) in cases {
        let home = Home::new();
        home.write("config.toml", content, 0o600);
        let outcome = home.run(&["auth", "status"]);
        assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{outcome:?}");
        assert!(outcome.stderr.contains(problem), "{problem}: {outcome:?}");
        assert!(!outcome.stderr.contains("hunter2") && !outcome.stderr.contains("panicked"), "{outcome:?}");
        let error = home.run(&["auth", "status", "-o", "json"]).stderr;
        assert_eq!(json(&error)["error"]["kind"], "usage");
    }
    let home = Home::new();
    std::fs::create_dir_all(home.path("config.toml")).unwrap();
    assert!(home.fails(2, "config list").contains("is a directory"));
}

#[test]
fn a_named_file_is_expected_and_may_be_made() {
    let home = Home::new();
    let elsewhere = home.dir.path().join("deep/elsewhere.toml");
    let with = |line: &str| {
        let arguments: Vec<&str> = line.split(' ').collect();
        home.storefront(&arguments).env("STOREFRONT_CONFIG", elsewhere.to_str().unwrap())
    };
    let missing = with("auth status").run();
    assert!(
        missing.code == 2 && missing.stderr.contains("(from STOREFRONT_CONFIG) does not exist"),
        "{missing:?}"
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
fn sandbox_and_profile_do_not_go_together() {
    let home = Home::with_config(SHOP);
    assert!(home.fails(2, "config list --sandbox -p shop").contains("cannot be used with"));
}

#[test]
fn a_dry_run_of_what_knows_none_is_refused_and_writes_nothing() {
    let home = Home::new();
    let told = home.fails(2, "config set profiles.shop.base-url https://shop.example --dry-run");
    assert!(told.contains("unexpected argument '--dry-run'"), "{told}");
    assert!(!home.path("config.toml").exists());
    home.fails(2, "sandbox reset --input x.json");
}
