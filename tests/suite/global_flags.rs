//! Global flags: conflicts, empty values and the sandbox, wherever the flags stand.

use crate::support::storefront::{Home, Outcome};

fn run(line: &[&str]) -> Outcome {
    Home::new().run(line)
}

#[test]
fn flags_that_contradict_each_other_are_refused_wherever_they_stand() {
    for (line, says) in [
        (&["-p", "x", "customer", "show", "--sandbox"][..], "`--sandbox` cannot be used with `--profile`"),
        (&["--sandbox", "customer", "show", "-p", "x"], "`--sandbox` cannot be used with `--profile`"),
        (&["customer", "show", "--sandbox", "-p", "x"], "`--sandbox` cannot be used with `--profile`"),
        (&["-q", "customer", "show", "-v"], "`--quiet` cannot be used with `--verbose`"),
        (&["--sandbox", "quote", "add-item", "--sku", "mug-blue", "--curl"], "`--curl` requires `--dry-run`"),
    ] {
        let outcome = run(line);
        assert!(outcome.code == 2 && outcome.stderr.contains(says), "{line:?}: {outcome:?}");
    }
}

/// The flags that every command takes; the two that clap adds are not among them.
const GLOBAL: [&str; 10] =
    ["api", "color", "jq", "no-input", "output", "profile", "quiet", "sandbox", "store-view", "verbose"];

#[test]
fn only_these_flags_are_taken_by_every_command() {
    let grammar = storefront::cli::command();
    let mut global: Vec<_> =
        grammar.get_arguments().filter(|flag| flag.is_global_set()).filter_map(clap::Arg::get_long).collect();
    global.sort_unstable();
    assert_eq!(global, GLOBAL);
}

#[test]
fn a_flag_of_the_operations_is_refused_where_it_would_be_passed_over() {
    for line in [
        &["customer", "show", "-n", "-i", "x"][..],
        &["customer", "show", "-i", "x"],
        &["customer", "history", "--allow-unknown"],
        &["customer", "restore", "-i", "x"],
        &["customer", "show", "--yes"],
        &["api", "GET", "/V1/x", "--allow-unknown"],
        &["config", "list", "--retry", "1"],
        &["template", "quote-ship", "--dry-run"],
        &["sandbox", "show", "--fault", "500"],
        &["--dry-run", "quote", "add-item"],
    ] {
        let outcome = run(&[&["--sandbox"], line].concat());
        assert!(
            outcome.code == 2 && outcome.stderr.contains("error: unexpected argument '-"),
            "{line:?}: {outcome:?}"
        );
    }
    let outcome =
        run(&["--sandbox", "quote", "add-item", "--sku=umbrella", "--qty=1", "--quote-id=1", "-n", "--curl"]);
    assert!(outcome.code == 0 && outcome.stdout.starts_with("curl"), "{outcome:?}");
}

#[test]
fn a_wrong_command_line_that_asks_for_json_gets_it() {
    for line in [
        &["customer", "show", "--bogus", "-o", "json"][..],
        &["-ojson", "customer", "shw"],
        &["customer", "--jq=.id", "show", "--dry-run"],
        &["customer", "show", "--bogus", "-p", "--output=json"],
    ] {
        let outcome = run(line);
        let error: Result<serde_json::Value, _> = serde_json::from_str(&outcome.stderr);
        assert!(outcome.code == 2 && error.is_ok_and(|it| it["error"]["kind"] == "usage"), "{outcome:?}");
    }
    for line in [&["customer", "shw", "-o", "table"][..], &["customer", "shw"], &["customer", "shw", "-o"]] {
        assert!(run(line).stderr.starts_with("error: "), "{line:?}");
    }
}

#[test]
fn an_empty_flag_value_is_refused_and_an_empty_field_is_not() {
    for line in [
        &["--profile", "", "customer", "show"][..],
        &["customer", "show", "--profile="],
        &["--sandbox", "customer", "show", "--store-view", ""],
        &["--sandbox", "--jq", "", "customer", "show"],
        &["--sandbox", "customer", "update", "--input", ""],
        &["--sandbox", "attribute", "create", "--option", ""],
        &["--sandbox", "quote", "ship", "--payment-method="],
    ] {
        let outcome = run(line);
        let flag = line.iter().rev().find(|word| word.starts_with("--") && **word != "--sandbox").unwrap();
        let flag = flag.trim_end_matches('=');
        assert!(
            outcome.code == 2 && outcome.stderr.contains("a value is required for"),
            "{line:?}: {outcome:?}"
        );
        assert!(outcome.stderr.contains(flag), "{flag}: {outcome:?}");
    }
    let cleared =
        run(&["--sandbox", "customer", "update", "--address", "2", "--company", "", "-n", "-o", "json"]);
    assert!(!cleared.stderr.contains("a value is required"), "{cleared:?}");
}

#[test]
fn the_sandbox_takes_nothing_from_the_environment_and_says_which_tokens_it_ignores() {
    let home = Home::new();
    let show = |more: &[&str]| {
        home.storefront(&[&["--sandbox", "customer", "show", "--jq", ".id"], more].concat())
            .env("STOREFRONT_PROFILE", "nobody")
            .env("STOREFRONT_STORE_VIEW", "../x")
            .env("STOREFRONT_BASE_URL", "http://127.0.0.1:1")
            .env("STOREFRONT_TOKEN", "hunter2")
            .env("STOREFRONT_ADMIN_TOKEN", "hunter2")
            .run()
    };
    let outcome = show(&[]);
    assert_eq!((outcome.code, outcome.stdout.trim(), outcome.stderr.as_str()), (0, "1", ""), "{outcome:?}");
    let table = home
        .storefront(&["--sandbox", "customer", "show"])
        .env("STOREFRONT_TOKEN", "hunter2")
        .env("STOREFRONT_ADMIN_TOKEN", "")
        .run();
    assert_eq!(
        (table.code, table.stderr.as_str()),
        (0, "ignored with --sandbox: STOREFRONT_TOKEN\n"),
        "{table:?}"
    );
}

#[test]
fn the_certificate_file_of_the_environment_is_documented() {
    assert!(Home::new().ok("help environment").contains("SSL_CERT_FILE"));
}

#[test]
fn an_empty_variable_counts_as_unset() {
    let outcome = Home::with_config(
        "default-profile = \"shop\"\n[profiles.shop]\nbase-url = \"https://127.0.0.1:1\"\n",
    )
    .storefront(&["config", "get", "base-url"])
    .env("STOREFRONT_PROFILE", "")
    .env("STOREFRONT_CONFIG", "")
    .run();
    assert_eq!((outcome.code, outcome.stdout.as_str()), (0, "https://127.0.0.1:1\n"), "{outcome:?}");
}

#[test]
fn a_timeout_may_have_a_unit() {
    for (timeout, code) in [("30s", 0), ("1m", 0), ("500ms", 0), ("1d", 2), ("0", 2)] {
        assert_eq!(run(&["--sandbox", "customer", "show", "--timeout", timeout]).code, code, "{timeout}");
    }
    let home = Home::with_config("[profiles.shop]\nsettle = \"1m\"\nlock-timeout = 0\n");
    home.ok("config set -p shop timeout 500ms");
    assert_eq!(home.ok("config get -p shop timeout"), "500ms\n");
    home.fails(2, "config set -p shop settle soon");
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
        ("customer restore nothing", "error"),
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
