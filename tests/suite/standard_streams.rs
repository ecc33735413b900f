//! Standard streams that are closed or full: no panic, and a message that says what was applied.

use snapbox::str;

use crate::support::mock_server::{MockServer, answer};
use crate::support::storefront::Home;
use crate::support::test_env::{ADD_ITEM, TestEnv, serve};

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
    env.storefront(&format!("{ADD_ITEM} -q")).shell(full).assert_failure(
        1,
        str![[r#"
error: quote add-item succeeded, but cannot write to stdout: No space left on device (os error [N])
  Changes were made.
  hint: do not run it again just to see the output
"#]],
    );
    let update = "customer update --address 2 --city Troy -q";
    env.storefront(update).shell(full).assert_failure(
        1,
        str![[r#"
error: customer update succeeded, but cannot write to stdout: No space left on device (os error [N])
  Changes were made.
  hint: do not run it again just to see the output
"#]],
    );
    env.storefront("customer update --address 2 --city Rome -q -o json")
        .shell(full)
        .assert_failure(1, str![[r#"{"error":{"kind":"internal","message":"customer update succeeded, but cannot write to stdout: No space left on device (os error [N])","hint":"do not run it again just to see the output","status":null,"applied":"yes","service":null}}"#]]);
    let dry = env.storefront("customer update --address 2 --city Oslo -n").shell(full);
    dry.assert_failure(1, str!["error: cannot write to stdout: No space left on device (os error [N])"]);
}

/// Nobody reads that the item was added: a script would take 0 for a result that it got.
#[test]
fn a_write_whose_reader_is_gone_is_reported() {
    let env = TestEnv::new();
    let script = r#"{ until [ -e gone ]; do :; done; "$@"; echo "code $?" >&2; } | { exec <&-; : > gone; }"#;
    for format in ["table", "json"] {
        let outcome = env.storefront(&format!("{ADD_ITEM} -q -o {format}")).shell(script);
        assert!(outcome.stderr.contains("code 1"), "{outcome:?}");
        assert!(
            outcome.stderr.contains("quote add-item succeeded, but cannot write to stdout"),
            "{outcome:?}"
        );
    }
    let dry = env.storefront(&format!("{ADD_ITEM} -n")).shell(script);
    assert!(dry.stderr.contains("code 0"), "{dry:?}");
}

/// A program that reads standard error under `-o json` meets objects only.
#[test]
fn under_json_every_line_on_standard_error_is_an_object() {
    let home = Home::new();
    std::fs::write(home.dir.path().join("items.csv"), include_str!("../readme/items.csv")).unwrap();
    for (line, key) in [
        ("quote add-item -i items.csv", "error"),
        ("customer update --address 2 --telephone abc", "warning"),
        ("customer show -vv", "trace"),
        ("undo nothing -y", "error"),
    ] {
        let words: Vec<&str> = line.split(' ').chain(["--sandbox", "-o", "json"]).collect();
        let outcome = home.storefront(&words).env("STOREFRONT_TOKEN", "x").run();
        let objects: Vec<serde_json::Value> = outcome
            .stderr
            .lines()
            .map(|text| serde_json::from_str(text).unwrap_or_else(|_| panic!("{line}: {text}")))
            .collect();
        assert!(objects.iter().any(|object| object[key] != serde_json::Value::Null), "{line}: {outcome:?}");
    }
}
