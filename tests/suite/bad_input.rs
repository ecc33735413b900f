//! Bad input, bad files and bad ends of pipes: a clear message, the right exit code, no panic, nothing sent.

use serde_json::json;

use crate::support::mock_server::{MockServer, answer};
use crate::support::raw_http::{CUSTOMER, ITEM as RAW_ITEM};
use crate::support::storefront::{Home, Outcome};
#[cfg(unix)]
use crate::support::test_env::snapshots;
use crate::support::test_env::{TestEnv, serve, words};

const ITEM: &str = "quote add-item --sku mug-blue --qty 1 --quote-id 1";

/// The exit code is this one, standard error says so much, and nobody panicked.
#[track_caller]
fn ends(outcome: &Outcome, code: i32, says: &str) {
    assert_eq!(outcome.code, code, "{outcome:?}");
    assert!(outcome.stderr.contains(says), "{says}: {outcome:?}");
    assert!(
        !outcome.stderr.contains("panicked") && !outcome.stderr.contains("RUST_BACKTRACE"),
        "{outcome:?}"
    );
}

#[test]
fn files_that_are_no_input() {
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
    for (file, says) in [
        ("nowhere.json", "file `nowhere.json` not found"),
        ("directory", "`directory` is a directory, not a file"),
        ("empty.json", "`empty.json` is empty"),
        ("half.json", "`half.json` is not valid JSON: "),
        ("latin.json", "`latin.json` is not UTF-8: line 1, byte 12"),
        ("two.json", "`two.json` is not valid JSON: trailing characters at line 1 column 4"),
        ("deep.json", "deep.json is not a JSON array: line 1: "),
    ] {
        for command in ["customer update", "quote ship", "quote add-item", "attribute create"] {
            let outcome = env.run(&format!("{command} -i {file}"));
            ends(&outcome, 2, says);
            assert_eq!(outcome.stdout, "");
        }
    }
    let outcome = env.storefront(&words("quote add-item -i -")).stdin([0xff, 0x41]).run();
    ends(&outcome, 2, "stdin is not UTF-8");
    ends(&env.run("attribute create --code a --options directory"), 2, "is a directory");
    ends(&env.run("customer update --email a@example.com --base directory"), 2, "is a directory");
    assert_eq!(env.requests(), [""; 0]);
}

#[test]
#[cfg(unix)]
fn a_file_that_may_not_be_read() {
    use std::os::unix::fs::PermissionsExt as _;
    let env = TestEnv::new();
    let path = env.file("secret.json", "{}");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&path).is_ok() {
        return; // root may read everything
    }
    ends(&env.run("quote add-item -i secret.json"), 2, "cannot read `secret.json`: Permission denied");
}

#[test]
fn fifty_megabytes() {
    let env = TestEnv::new();
    let program = || env.storefront(&words("quote add-item -i -"));
    let outcome = program().stdin(format!("{{\"sku\": \"{}\", \"qty\": 1}}", "x".repeat(50 << 20))).run();
    ends(&outcome, 4, "413");
    assert!(outcome.stderr.len() < 2000, "{} bytes of message", outcome.stderr.len());
    let outcome = program().stdin(format!("{{\"{}\": 1}}", "x".repeat(4 << 20))).run();
    assert_eq!(outcome.code, 2);
    assert!(outcome.stderr.len() < 2000, "{} bytes of message", outcome.stderr.len());
    let raw = env.sandbox.call(CUSTOMER, "POST", RAW_ITEM, &"x".repeat(50 << 20));
    assert_eq!(raw.status, 413, "whoever sends too much hears the answer");
    assert_eq!(env.requests(), ["POST 413", "POST 413"]);
}

#[test]
fn store_views_stand_in_one_path_segment_or_are_refused() {
    let server = MockServer::start(vec![answer("200 OK", "", "{}")]);
    let home = Home::new();
    for (code, segment) in
        [("fr/ca", "fr%2Fca"), ("..%2f", "..%252f"), ("é?#", "%C3%A9%3F%23"), ("a\\b", "a%5Cb")]
    {
        let outcome =
            serve(home.storefront(&words(ITEM)), &server.url("")).env("STOREFRONT_STORE_VIEW", code).run();
        ends(&outcome, 0, &format!("store view {code}"));
        let request = server.requests().pop().unwrap();
        assert!(
            request.starts_with(&format!("POST /V1/storeview/{segment}/user/quote/item HTTP/1.1")),
            "{request}"
        );
    }
    let arrived = server.requests().len();
    for code in [".", "..", "a b", "fr;"] {
        let outcome =
            serve(home.storefront(&[&words(ITEM)[..], &["--store-view", code]].concat()), &server.url(""))
                .run();
        ends(&outcome, 2, "invalid store view code");
    }
    let none = serve(home.storefront(&words(ITEM)), &server.url("")).without("STOREFRONT_STORE_VIEW").run();
    ends(&none, 2, "no store view set");
    assert_eq!(server.requests().len(), arrived);
    let env = TestEnv::new();
    assert_eq!(env.fails(4, &format!("{ITEM} --store-view no_such_view"))["status"], 404);
}

#[test]
fn nobody_falls_back_to_the_sandbox() {
    let home = Home::new();
    for command in ["customer show", ITEM] {
        let outcome = home.run(&words(command));
        ends(&outcome, 2, "--sandbox");
        assert!(outcome.stderr.contains("storefront config init"), "{outcome:?}");
    }
    assert!(!home.dir.path().join("data").exists());
    let faulty = TestEnv::new();
    ends(&faulty.run(&format!("{ITEM} --fault 500")), 2, "--fault requires --sandbox");
    assert_eq!(faulty.requests(), [""; 0]);
}

#[test]
fn the_sandbox_needs_nothing_and_takes_nothing_from_outside() {
    let (home, server) = (Home::new(), MockServer::start(vec![answer("200 OK", "", "{}")]));
    let outcome = serve(home.storefront(&words("customer show --sandbox -o json")), &server.url(""))
        .env("STOREFRONT_STORE_VIEW", "nowhere")
        .env("STOREFRONT_PROFILE", "nobody")
        .env("HTTP_PROXY", &server.url(""))
        .env("http_proxy", &server.url(""))
        .run();
    assert_eq!(outcome.done()["id"], 1);
    ends(&home.run(&words("customer show --sandbox -p shop")), 2, "cannot be used with");
    ends(
        &home.run(&words("customer show --sandbox --store-view nowhere")),
        3,
        "cannot read the stored addresses: ",
    );
    assert_eq!(server.connections(), 0);
}

#[test]
fn configurations_that_are_foreign_or_half_written() {
    let env = TestEnv::new();
    for (content, says) in [
        (&b"[profiles.shop"[..], "config.toml"),
        (b"\xff\xfe[", "config.toml"),
        (b"{\"profiles\": {}}", "config.toml"),
        (b"[profiles.shop]\nbase_url = \"https://x.example\"\n", "did you mean `base-url`?"),
        (b"[profiles.shop]\nbase-url = 7\n", "base-url"),
        (b"", "no profile"),
    ] {
        env.home.write("config.toml", content, 0o600);
        let outcome = env.run(&format!("{ITEM} -p shop"));
        ends(&outcome, 2, "");
        assert!(outcome.stderr.to_lowercase().contains(says), "{says}: {outcome:?}");
    }
    std::fs::remove_file(env.home.path("config.toml")).unwrap();
    std::fs::create_dir(env.home.path("config.toml")).unwrap();
    ends(&env.run(ITEM), 2, "config.toml");
    assert_eq!(env.requests(), [""; 0]);
}

#[test]
fn bad_usage_is_an_object_where_json_is_asked_for() {
    let home = Home::new();
    for line in [
        "customer updat -o json",
        "customer show --ouput x -ojson",
        "quote add-item --qty two --output=json",
        "--output json",
    ] {
        let outcome = home.run(&words(line));
        assert_eq!(
            (outcome.code, outcome.stdout.as_str(), &outcome.error()["kind"]),
            (2, "", &json!("usage")),
            "{line}"
        );
        assert_eq!(outcome.stderr.lines().count(), 1, "{outcome:?}");
    }
    let outcome = home.storefront(&["customer", "updat"]).env("STOREFRONT_OUTPUT", "json").run();
    assert!(outcome.error()["hint"].as_str().unwrap().contains("update"), "{outcome:?}");
    ends(&home.run(&words("customer updat")), 2, "error: unrecognized subcommand 'updat'");
    ends(&home.storefront(&["config", "path"]).env("STOREFRONT_OUTPUT", "xml").run(), 2, "table or json");
    for line in [
        "customer show --timeout 0",
        "customer show --timeout soon",
        "customer show --retry -1",
        "customer show --curl",
        "customer show -q -v",
    ] {
        ends(&home.run(&words(line)), 2, "error: ");
    }
}

#[cfg(unix)]
mod ends_of_pipes {
    use super::*;

    /// A sandbox of many customers' addresses, so that the output outgrows a pipe.
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
    fn a_reader_that_goes_away_is_no_error() {
        let (home, server) = (Home::new(), long_profile());
        for format in ["table", "json"] {
            let line = format!("customer show -o {format}");
            let program = serve(home.storefront(&words(&line)), &server.url(""));
            let outcome = program.shell(r#"{ "$@"; echo "code $?" >&2; } | head -c 1 > /dev/null"#);
            ends(&outcome, 0, "code 0\n");
            assert_eq!(outcome.stderr, "code 0\n");
        }
    }

    #[test]
    fn closed_ends_are_no_panic() {
        let env = TestEnv::new();
        for (script, code) in [
            (r#"exec "$@" >&-"#, 0),
            (r#"exec "$@" 2>&-"#, 0),
            (r#"exec "$@" <&-"#, 0),
            (r#"exec "$@" <&- >&- 2>&-"#, 0),
        ] {
            let outcome = env.storefront(&words("customer show")).shell(script);
            ends(&outcome, code, "");
        }
        ends(&env.storefront(&words("quote add-item -i -")).shell(r#"exec "$@" <&-"#), 2, "stdin is empty");
        let outcome = env.storefront(&words("quote add-item")).shell(r#"exec "$@" 2>/dev/full"#);
        assert_eq!(outcome.code, 2, "{outcome:?}");
    }

    #[test]
    fn a_full_standard_output_never_hides_what_was_done() {
        let env = TestEnv::new();
        let full = r#"exec "$@" > /dev/full"#;
        ends(
            &env.storefront(&words("customer show")).shell(full),
            1,
            "cannot write to stdout: No space left",
        );
        for (line, operation) in
            [(ITEM, "quote add-item"), ("customer update --address 2 --city Troy", "customer update")]
        {
            let outcome = env.storefront(&words(&format!("{line} -o json -q"))).shell(full);
            ends(&outcome, 1, "");
            let error = outcome.error();
            assert_eq!((&error["kind"], &error["applied"]), (&json!("internal"), &json!("yes")), "{error}");
            assert!(
                error["message"].as_str().unwrap().starts_with(&format!("{operation} succeeded, but")),
                "{error}"
            );
        }
        let outcome = env.storefront(&words("customer update --address 2 --city Rome -n")).shell(full);
        ends(&outcome, 1, "cannot write to stdout: No space left");
        assert!(!outcome.stderr.contains("No changes were made"), "a dry run writes nothing: {outcome:?}");
    }

    #[test]
    fn a_full_disk_under_the_snapshot_stops_everything() {
        let env = TestEnv::new();
        let update = words("customer update --address 2 --city Troy -q -o json");
        let outcome = env.storefront(&update).shell(r#"trap '' XFSZ; ulimit -f 0; exec "$@""#);
        ends(&outcome, 1, "the snapshot cannot be written to ");
        assert_eq!(outcome.error()["applied"], "no");
        let outcome = env.storefront(&update).env("XDG_STATE_HOME", "/dev/null").run();
        ends(&outcome, 1, "/dev/null/storefront/locks");
        assert!(!env.requests().iter().any(|heard| heard.starts_with("PUT")));
        assert!(snapshots(&env.home).is_empty());
    }

    #[test]
    fn a_full_disk_under_the_sandbox_is_said() {
        let home = Home::new();
        let small = r#"trap '' XFSZ; ulimit -f 16; exec "$@""#;
        let outcome = home.storefront(&words("customer show --sandbox")).shell(small);
        assert!(matches!(outcome.code, 1 | 2), "{outcome:?}");
        ends(&outcome, outcome.code, "sandbox");
        let home = Home::new();
        home.ok("customer show --sandbox -o json");
        let long =
            format!(r#"{{"attribute_code": "fabric", "default_frontend_label": "{}"}}"#, "x".repeat(300_000));
        let program = home.storefront(&words("attribute create --sandbox -i - -o json -q")).stdin(long);
        let outcome = program.shell(r#"trap '' XFSZ; ulimit -f 200; exec "$@""#);
        ends(&outcome, 8, "The sandbox could not use its database: disk I/O error");
        home.ok("attribute create --sandbox --code fabric --label Fabric --type text");
    }

    #[test]
    fn a_database_that_is_none() {
        let home = Home::new();
        let data = home.dir.path().join("data/storefront/sandbox.db");
        std::fs::create_dir_all(data.parent().unwrap()).unwrap();
        std::fs::write(&data, "no database ".repeat(500)).unwrap();
        let outcome = home.run(&words("customer show --sandbox"));
        assert!(matches!(outcome.code, 1 | 2), "{outcome:?}");
        ends(&outcome, outcome.code, "sandbox.db");
        std::fs::remove_file(&data).unwrap();
        std::fs::create_dir(&data).unwrap();
        ends(&home.run(&words("customer show --sandbox")), outcome.code, "sandbox.db");
    }
}

#[test]
fn only_what_could_have_written_says_that_it_did_not() {
    let home = Home::new();
    for line in ["help xx", "template quote-shp", "config get x", "--sandbox customer restore x -n"] {
        let told = home.run(&line.split(' ').collect::<Vec<_>>());
        assert!(told.code != 0 && !told.stderr.contains("No changes"), "{line}: {told:?}");
    }
    let told = home.fails(2, "--sandbox quote add-item --sku umbrella --qty x --quote-id 1");
    assert!(!told.contains("No changes"), "clap refuses it: {told}");
    let told = home.fails(4, "--sandbox quote add-item --sku nothing-such --qty 1 --quote-id 1");
    assert_eq!(told.matches("No changes were made.").count(), 1, "{told}");
}
