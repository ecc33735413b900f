//! Invalid input, files and standard streams: a clear message, the right exit code, no panic, nothing sent.

use snapbox::str;

use crate::support::mock_server::{MockServer, answer};
use crate::support::raw_http::{CUSTOMER, ITEM as RAW_ITEM};
use crate::support::storefront::Home;
#[cfg(unix)]
use crate::support::test_env::snapshots;
use crate::support::test_env::{TestEnv, serve};

const ITEM: &str = "quote add-item --sku mug-blue --qty 1 --quote-id 1";

#[test]
fn invalid_input_files_are_refused() {
    let env = TestEnv::new();
    std::fs::create_dir(env.home.dir.path().join("directory")).unwrap();
    for (name, content) in [
        ("empty.json", &b""[..]),
        ("half.json", b"{\"sku\": \"a"),
        ("latin.json", b"{\"sku\": \"Gr\xfcn\"}"),
        ("two.json", b"{} {}"),
        ("deep.json", &[b'['; 9000]),
    ] {
        env.file(name, content);
    }
    for (file, stderr) in [
        (
            "nowhere.json",
            str![[r#"
error: file `nowhere.json` not found
  No changes were made.
"#]],
        ),
        (
            "directory",
            str![[r#"
error: `directory` is a directory, not a file
  No changes were made.
"#]],
        ),
        (
            "empty.json",
            str![[r#"
error: `empty.json` is empty
  No changes were made.
"#]],
        ),
        (
            "half.json",
            str![[r#"
error: `half.json` is not valid JSON: EOF while parsing a string at line 1 column 10
  No changes were made.
"#]],
        ),
        (
            "latin.json",
            str![[r#"
error: `latin.json` is not UTF-8: line 1, byte 12
  No changes were made.
  hint: save it as UTF-8 (in a spreadsheet: as CSV UTF-8) and try again
"#]],
        ),
        (
            "two.json",
            str![[r#"
error: `two.json` is not valid JSON: trailing characters at line 1 column 4
  No changes were made.
"#]],
        ),
        (
            "deep.json",
            str![[r#"
error: `deep.json` is not a JSON array: line 1: unexpected end of input in array
  No changes were made.
"#]],
        ),
    ] {
        for command in ["customer update", "quote ship", "quote add-item", "attribute create"] {
            env.run(&format!("{command} -i {file}")).assert_failure(2, stderr.clone());
        }
    }
    env.storefront("quote add-item -i -").stdin([0xff, 0x41]).run().assert_failure(
        2,
        str![[r#"
error: stdin is not UTF-8: line 1, byte 1
  No changes were made.
  hint: save it as UTF-8 (in a spreadsheet: as CSV UTF-8) and try again
"#]],
    );
    env.run("attribute create --code a --options directory").assert_failure(
        2,
        str![[r#"
error: `directory` is a directory, not a file
  No changes were made.
"#]],
    );
    env.run("customer update --email a@example.com --base directory").assert_failure(
        2,
        str![[r#"
error: `directory` is a directory, not a file
  No changes were made.
"#]],
    );
    assert_eq!(env.requests(), [""; 0]);
}

#[test]
#[cfg(unix)]
fn an_unreadable_file_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let env = TestEnv::new();
    let path = env.file("secret.json", "{}");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&path).is_ok() {
        return; // root may read everything
    }
    env.run("quote add-item -i secret.json")
        .assert_failure(2, str!["error: cannot read `secret.json`: Permission denied (os error 13)"]);
}

#[test]
fn an_input_of_fifty_megabytes_gives_a_short_message() {
    let env = TestEnv::new();
    let program = || env.storefront("quote add-item -i -");
    let value = format!("{{\"sku\": \"{}\", \"qty\": 1}}", "x".repeat(50 << 20));
    program().stdin(value).run().assert_failure(4, str![[r#"
quote add-item: host 127.0.0.1:[PORT], store view default
error: the service answered 413 Payload Too Large: The request body is larger than 33554432 bytes, or was cut off
  No changes were made.
"#]]);
    program().stdin(format!("{{\"{}\": 1}}", "x".repeat(4 << 20))).run().assert_failure(
        2,
        str![[r#"
error: cartItem.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…: unknown field
  No changes were made.
  hint: fix the input, or send unknown fields unchanged with --allow-unknown
"#]],
    );
    let raw = env.sandbox.call(CUSTOMER, "POST", RAW_ITEM, &"x".repeat(50 << 20));
    assert_eq!(raw.status, 413, "the answer arrives although the body was not read");
    assert_eq!(env.requests(), ["POST 413", "POST 413"]);
}

#[test]
fn a_store_view_code_is_one_escaped_path_segment_or_refused() {
    let server = MockServer::start(vec![answer("200 OK", "", "{}")]);
    let home = Home::new();
    for (code, segment) in
        [("fr/ca", "fr%2Fca"), ("..%2f", "..%252f"), ("é?#", "%C3%A9%3F%23"), ("a\\b", "a%5Cb")]
    {
        let outcome = serve(home.storefront(ITEM), &server.url("")).env("STOREFRONT_STORE_VIEW", code).run();
        let host = server.address;
        assert_eq!(
            (outcome.code, outcome.stderr),
            (0, format!("quote add-item: host {host}, store view {code}\n"))
        );
        let request = server.requests().pop().unwrap();
        assert!(
            request.starts_with(&format!("POST /V1/storeview/{segment}/user/quote/item HTTP/1.1")),
            "{request}"
        );
    }
    let arrived = server.requests().len();
    for (code, stderr) in [
        (
            ".",
            str![[r#"
error: invalid store view code `.`
  No changes were made.
  hint: the codes are listed in the admin panel under Stores > Settings > All Stores
"#]],
        ),
        (
            "..",
            str![[r#"
error: invalid store view code `..`
  No changes were made.
  hint: the codes are listed in the admin panel under Stores > Settings > All Stores
"#]],
        ),
        (
            "a b",
            str![[r#"
error: invalid store view code `a b`
  No changes were made.
  hint: the codes are listed in the admin panel under Stores > Settings > All Stores
"#]],
        ),
    ] {
        let line = format!("{ITEM} --store-view '{code}'");
        serve(home.storefront(&line), &server.url("")).run().assert_failure(2, stderr);
    }
    let none = serve(home.storefront(ITEM), &server.url("")).without("STOREFRONT_STORE_VIEW").run();
    none.assert_failure(
        2,
        str![[r#"
error: no store view set
  No changes were made.
  hint: use --store-view CODE, or set STOREFRONT_STORE_VIEW=CODE
"#]],
    );
    assert_eq!(server.requests().len(), arrived);
    let env = TestEnv::new();
    env.run(&format!("{ITEM} --store-view no_such_view")).assert_failure(4, str![[r#"
quote add-item: host 127.0.0.1:[PORT], store view no_such_view
error: the service answered 404 Not Found: The store that was requested wasn't found. Verify the store and try again
  No changes were made.
  hint: the service has no store view `no_such_view`: name another with --store-view
"#]]);
}

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
            ITEM,
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
    faulty.run(&format!("{ITEM} --fault 500")).assert_failure(
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
error: [HOME]/config/storefront/config.toml: profiles.shop.base-url: expected an http:// or https:// URL, found the number 7
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
        env.run(&format!("{ITEM} -p shop")).assert_failure(2, stderr);
    }
    std::fs::remove_file(env.home.path("config.toml")).unwrap();
    std::fs::create_dir(env.home.path("config.toml")).unwrap();
    env.run(ITEM).assert_failure(
        2,
        str![[r#"
error: `[HOME]/config/storefront/config.toml` is a directory, not a file
  No changes were made.
"#]],
    );
    assert_eq!(env.requests(), [""; 0]);
}

#[test]
fn usage_errors_are_objects_with_json_output() {
    let home = Home::new();
    for (line, stderr) in [
        (
            "customer updat -o json",
            str![[
                r#"{"error":{"kind":"usage","message":"unrecognized subcommand 'updat'","hint":"tip: a similar subcommand exists: 'update'\n\nUsage: storefront customer [OPTIONS] <COMMAND>\n\nFor more information, try '--help'.","status":null,"applied":"no","service":null}}"#
            ]],
        ),
        (
            "customer show --ouput x -ojson",
            str![[
                r#"{"error":{"kind":"usage","message":"unexpected argument '--ouput' found","hint":"tip: a similar argument exists: '--output'\n\nUsage: storefront customer show --output <table|json>\n\nFor more information, try '--help'.","status":null,"applied":"no","service":null}}"#
            ]],
        ),
        (
            "quote add-item --qty two --output=json",
            str![[
                r#"{"error":{"kind":"usage","message":"invalid value 'two' for '--qty <N>': expected a number","hint":"For more information, try '--help'.","status":null,"applied":"no","service":null}}"#
            ]],
        ),
        (
            "--output json",
            str![[
                r#"{"error":{"kind":"usage","message":"'storefront' requires a subcommand but one was not provided\n  [subcommands: quote, customer, attribute, journal, config, auth, doctor, sandbox, api, template, schema, help, completions, man]","hint":"Usage: storefront [OPTIONS] <COMMAND>\n\nFor more information, try '--help'.","status":null,"applied":"no","service":null}}"#
            ]],
        ),
    ] {
        home.run(line).assert_failure(2, stderr);
    }
    home.storefront("customer updat").env("STOREFRONT_OUTPUT", "json").run().assert_failure(2, str![[r#"{"error":{"kind":"usage","message":"unrecognized subcommand 'updat'","hint":"tip: a similar subcommand exists: 'update'\n\nUsage: storefront customer [OPTIONS] <COMMAND>\n\nFor more information, try '--help'.","status":null,"applied":"no","service":null}}"#]]);
    home.storefront("config path")
        .env("STOREFRONT_OUTPUT", "xml")
        .run()
        .assert_failure(2, str!["error: invalid STOREFRONT_OUTPUT `xml`: expected table or json"]);
    for (line, stderr) in [
        (
            "customer show --timeout 0",
            str![[r#"
error: invalid value '0' for '--timeout <DURATION>': expected a duration above 0, such as 30, 500ms or 1m, at most 24 hours

For more information, try '--help'.
"#]],
        ),
        (
            "customer show --timeout soon",
            str![[r#"
error: invalid value 'soon' for '--timeout <DURATION>': expected a duration above 0, such as 30, 500ms or 1m, at most 24 hours

For more information, try '--help'.
"#]],
        ),
        (
            "customer show --retry -1",
            str![[r#"
error: unexpected argument '-1' found

Usage: storefront customer show [OPTIONS]

For more information, try '--help'.
"#]],
        ),
        (
            "customer show --curl",
            str![[r#"
error: unexpected argument '--curl' found

Usage: storefront customer show [OPTIONS]

For more information, try '--help'.
"#]],
        ),
        (
            "customer show -q -v",
            str![[r#"
error: `--quiet` cannot be used with `--verbose`
  hint: leave out `--quiet` or `--verbose`
"#]],
        ),
    ] {
        home.run(line).assert_failure(2, stderr);
    }
}

#[cfg(unix)]
mod standard_streams {
    use super::*;

    /// A profile larger than the buffer of a pipe.
    fn long_profile() -> MockServer {
        let address = |id| format!(r#"{{"id": {id}, "street": ["{}"], "city": "Lyon"}}"#, "long ".repeat(20));
        let list: Vec<String> = (1..3000).map(address).collect();
        MockServer::start(vec![answer(
            "200 OK",
            "",
            &format!(r#"{{"id": 7, "addresses": [{}]}}"#, list.join(",")),
        )])
    }

    #[test]
    fn a_closed_reader_is_no_error() {
        let (home, server) = (Home::new(), long_profile());
        for format in ["table", "json"] {
            let line = format!("customer show -o {format}");
            let program = serve(home.storefront(&line), &server.url(""));
            let outcome = program.shell(r#"{ "$@"; echo "code $?" >&2; } | head -c 1 > /dev/null"#);
            outcome.assert_report(str!["code 0"]);
        }
    }

    #[test]
    fn closed_standard_streams_do_not_panic() {
        let env = TestEnv::new();
        for (script, code) in [
            (r#"exec "$@" >&-"#, 0),
            (r#"exec "$@" 2>&-"#, 0),
            (r#"exec "$@" <&-"#, 0),
            (r#"exec "$@" <&- >&- 2>&-"#, 0),
        ] {
            let outcome = env.storefront("customer show").shell(script);
            assert_eq!((outcome.code, &*outcome.stderr), (code, ""), "{script}: {outcome:?}");
        }
        let closed = env.storefront("quote add-item -i -").shell(r#"exec "$@" <&-"#);
        closed.assert_failure(
            2,
            str![[r#"
error: stdin is empty
  No changes were made.
"#]],
        );
        let outcome = env.storefront("quote add-item").shell(r#"exec "$@" 2>/dev/full"#);
        assert_eq!(outcome.code, 2, "{outcome:?}");
    }

    #[test]
    fn a_full_stdout_reports_what_was_applied() {
        let env = TestEnv::new();
        let full = r#"exec "$@" > /dev/full"#;
        env.storefront("customer show")
            .shell(full)
            .assert_failure(1, str!["error: cannot write to stdout: No space left on device (os error [N])"]);
        env.storefront(&format!("{ITEM} -q")).shell(full).assert_failure(
            1,
            str![[r#"
error: quote add-item succeeded, but cannot write to stdout: No space left on device (os error [N])
  The change was applied.
  hint: do not run it again just to see the output
"#]],
        );
        let update = "customer update --address 2 --city Troy -q";
        env.storefront(update).shell(full).assert_failure(
            1,
            str![[r#"
error: customer update succeeded, but cannot write to stdout: No space left on device (os error [N])
  The change was applied.
  hint: do not run it again just to see the output
"#]],
        );
        env.storefront("customer update --address 2 --city Rome -q -o json")
            .shell(full)
            .assert_failure(1, str![[r#"{"error":{"kind":"internal","message":"customer update succeeded, but cannot write to stdout: No space left on device (os error [N])","hint":"do not run it again just to see the output","status":null,"applied":"yes","service":null}}"#]]);
        let dry = env.storefront("customer update --address 2 --city Oslo -n").shell(full);
        dry.assert_failure(1, str!["error: cannot write to stdout: No space left on device (os error [N])"]);
    }

    #[test]
    fn a_snapshot_that_cannot_be_written_stops_the_update() {
        let env = TestEnv::new();
        let update = "customer update --address 2 --city Troy -q";
        let outcome = env.storefront(update).shell(r#"trap '' XFSZ; ulimit -f 0; exec "$@""#);
        outcome.assert_failure(1, str![[r#"
error: the snapshot cannot be written to `[HOME]/state/storefront/snapshots/marketplace%20http%3A%2F%2Flocalhost%3A[PORT]/1`: File too large (os error [N]) at path "[HOME]/state/storefront/snapshots/marketplace%20http%3A%2F%2Flocalhost%3A[PORT]/1/.tmp[ID]"
  No changes were made.
  hint: a profile is replaced only after a snapshot: free some space, or set XDG_STATE_HOME
"#]]);
        let outcome = env.storefront(update).env("XDG_STATE_HOME", "/dev/null").run();
        outcome.assert_failure(1, str![[r#"
error: the lock `/dev/null/storefront/locks/localhost%3A[PORT].token-511784b483ef17d5.lock` cannot be used: Not a directory (os error [N])
  No changes were made.
  hint: a profile is replaced only under its lock: free some space, or set XDG_STATE_HOME
"#]]);
        assert!(!env.requests().iter().any(|heard| heard.starts_with("PUT")));
        assert!(snapshots(&env.home).is_empty());
    }

    #[test]
    fn a_full_disk_under_the_sandbox_is_reported() {
        let home = Home::new();
        let small = r#"trap '' XFSZ; ulimit -f 16; exec "$@""#;
        home.storefront("customer show --sandbox").shell(small).assert_failure(
            2,
            str![
                "error: `[HOME]/data/storefront/sandbox.db` is not a readable SQLite database: disk I/O error"
            ],
        );
        let home = Home::new();
        home.ok("customer show --sandbox -o json");
        let long =
            format!(r#"{{"attribute_code": "fabric", "default_frontend_label": "{}"}}"#, "x".repeat(300_000));
        let program = home.storefront("attribute create --sandbox -i - -q").stdin(long);
        let outcome = program.shell(r#"trap '' XFSZ; ulimit -f 200; exec "$@""#);
        outcome.assert_failure(
            8,
            str![[r#"
error: the service answered 500 Internal Server Error: The sandbox could not use its database: disk I/O error
  The change may have been applied.
  hint: check whether it took effect before you try again
"#]],
        );
        home.ok("attribute create --sandbox --code fabric --label Fabric --type text");
    }

    #[test]
    fn an_invalid_sandbox_database_is_refused() {
        let home = Home::new();
        let data = home.dir.path().join("data/storefront/sandbox.db");
        std::fs::create_dir_all(data.parent().unwrap()).unwrap();
        std::fs::write(&data, "no database ".repeat(500)).unwrap();
        home.run("customer show --sandbox").assert_failure(2, str!["error: `[HOME]/data/storefront/sandbox.db` is not a readable SQLite database: file is not a database"]);
        std::fs::remove_file(&data).unwrap();
        std::fs::create_dir(&data).unwrap();
        home.run("customer show --sandbox").assert_failure(2, str!["error: cannot use `[HOME]/data/storefront/sandbox.db` as the database of the sandbox: is a directory"]);
    }
}

#[test]
fn only_writes_report_that_no_changes_were_made() {
    let home = Home::new();
    for (line, stderr) in [
        (
            "template quote-shp",
            str![[r#"
error: unknown operation `quote-shp`
  hint: did you mean `quote-ship`?
"#]],
        ),
        (
            "config get x",
            str![[r#"
error: no profile selected for `x`
  hint: use -p NAME, or profiles.NAME.x
"#]],
        ),
        (
            "--sandbox customer restore x -n",
            str![[r#"
error: no snapshot named `x` of this customer on this machine
  hint: `storefront --sandbox customer history` lists the snapshots
"#]],
        ),
        (
            "--sandbox quote add-item --sku umbrella --qty x --quote-id 1",
            str![[r#"
error: invalid value 'x' for '--qty <N>': expected a number

For more information, try '--help'.
"#]],
        ),
    ] {
        home.run(line).assert_failure(2, stderr);
    }
    let line = "--sandbox quote add-item --sku nothing-such --qty 1 --quote-id 1";
    home.run(line).assert_failure(4, str![[r#"
error: the service answered 404 Not Found: The product that was requested doesn't exist. Verify the product and try again
  No changes were made.
"#]]);
}
