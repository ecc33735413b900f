//! Global flags: conflicts, empty values and the sandbox, wherever the flags stand.

use snapbox::str;

use crate::support::storefront::{Arguments, Home, Outcome};

fn run(line: impl Arguments) -> Outcome {
    Home::new().run(line)
}

#[test]
fn conflicting_flags_are_refused_in_every_position() {
    for (line, stderr) in [
        (
            "-p x customer show --sandbox",
            str![[r#"
error: `--sandbox` cannot be used with `--profile`
  hint: leave out `--sandbox` or `--profile`
"#]],
        ),
        (
            "--sandbox customer show -p x",
            str![[r#"
error: `--sandbox` cannot be used with `--profile`
  hint: leave out `--sandbox` or `--profile`
"#]],
        ),
        (
            "customer show --sandbox -p x",
            str![[r#"
error: `--sandbox` cannot be used with `--profile`
  hint: leave out `--sandbox` or `--profile`
"#]],
        ),
        (
            "-q customer show -v",
            str![[r#"
error: `--quiet` cannot be used with `--verbose`
  hint: leave out `--quiet` or `--verbose`
"#]],
        ),
        (
            "--sandbox quote add-item --sku mug-blue --curl",
            str![[r#"
error: the following required arguments were not provided:
  --dry-run

Usage: storefront quote add-item --dry-run --sku <TEXT> --curl

For more information, try '--help'.
"#]],
        ),
    ] {
        run(line).assert_failure(2, stderr);
    }
}

/// The flags that every command takes; the two that clap adds are not among them.
const GLOBAL: [&str; 10] =
    ["api", "color", "jq", "no-input", "output", "profile", "quiet", "sandbox", "store-view", "verbose"];

#[test]
fn only_these_flags_are_taken_by_every_command() {
    let grammar = storefront::commands::grammar();
    let mut global: Vec<_> =
        grammar.get_arguments().filter(|flag| flag.is_global_set()).filter_map(clap::Arg::get_long).collect();
    global.sort_unstable();
    assert_eq!(global, GLOBAL);
}

#[test]
fn a_flag_of_the_operations_is_refused_where_it_would_be_ignored() {
    for (line, stderr) in [
        (
            "customer show -n -i x",
            str![[r#"
error: unexpected argument '-n' found

Usage: storefront customer show [OPTIONS]

For more information, try '--help'.
"#]],
        ),
        (
            "customer show -i x",
            str![[r#"
error: unexpected argument '-i' found

Usage: storefront customer show [OPTIONS]

For more information, try '--help'.
"#]],
        ),
        (
            "customer history --allow-unknown",
            str![[r#"
error: unexpected argument '--allow-unknown' found

Usage: storefront customer history [OPTIONS]

For more information, try '--help'.
"#]],
        ),
        (
            "customer restore -i x",
            str![[r#"
error: unexpected argument '-i' found

  tip: to pass '-i' as a value, use '-- -i'

Usage: storefront customer restore [OPTIONS] [SNAPSHOT]

For more information, try '--help'.
"#]],
        ),
        (
            "customer show --yes",
            str![[r#"
error: unexpected argument '--yes' found

Usage: storefront customer show [OPTIONS]

For more information, try '--help'.
"#]],
        ),
        (
            "api GET /V1/x --allow-unknown",
            str![[r#"
error: unexpected argument '--allow-unknown' found

  tip: to pass '--allow-unknown' as a value, use '-- --allow-unknown'

Usage: storefront api <METHOD> <PATH>

For more information, try '--help'.
"#]],
        ),
        (
            "config list --retry 1",
            str![[r#"
error: unexpected argument '--retry' found

Usage: storefront config list [OPTIONS]

For more information, try '--help'.
"#]],
        ),
        (
            "template quote-ship --dry-run",
            str![[r#"
error: unexpected argument '--dry-run' found

  tip: to pass '--dry-run' as a value, use '-- --dry-run'

Usage: storefront template <OPERATION>...

For more information, try '--help'.
"#]],
        ),
        (
            "sandbox show --fault 500",
            str![[r#"
error: unexpected argument '--fault' found

Usage: storefront sandbox show [OPTIONS]

For more information, try '--help'.
"#]],
        ),
        (
            "--dry-run quote add-item",
            str![[r#"
error: unexpected argument '--dry-run' found

Usage: storefront --sandbox <COMMAND>

For more information, try '--help'.
"#]],
        ),
    ] {
        run(&format!("--sandbox {line}")).assert_failure(2, stderr);
    }
    let outcome = run("--sandbox quote add-item --sku=umbrella --qty=1 --quote-id=1 -n --curl");
    assert!(outcome.code == 0 && outcome.stdout.starts_with("curl"), "{outcome:?}");
}

#[test]
fn usage_errors_respect_json_output() {
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
    for (line, stderr) in [
        (
            "--profile '' customer show",
            str![[r#"
error: a value is required for '--profile <NAME>' but none was supplied

For more information, try '--help'.
"#]],
        ),
        (
            "customer show --profile=",
            str![[r#"
error: a value is required for '--profile <NAME>' but none was supplied

For more information, try '--help'.
"#]],
        ),
        (
            "--sandbox customer show --store-view ''",
            str![[r#"
error: a value is required for '--store-view <CODE>' but none was supplied

For more information, try '--help'.
"#]],
        ),
        (
            "--sandbox --jq '' customer show",
            str![[r#"
error: a value is required for '--jq <EXPRESSION>' but none was supplied

For more information, try '--help'.
"#]],
        ),
        (
            "--sandbox customer update --input ''",
            str![[r#"
error: a value is required for '--input <FILE>' but none was supplied

For more information, try '--help'.
"#]],
        ),
        (
            "--sandbox attribute create --option ''",
            str![[r#"
error: a value is required for '--option <LABEL>...' but none was supplied

For more information, try '--help'.
"#]],
        ),
        (
            "--sandbox quote ship --payment-method=",
            str![[r#"
error: a value is required for '--payment-method <CODE>' but none was supplied

For more information, try '--help'.
"#]],
        ),
    ] {
        run(line).assert_failure(2, stderr);
    }
    run("--sandbox customer update --address 2 --company '' -n -o json --jq .changes").assert_success(str![
        [r#"[{"path":"addresses[id=2].company","before":"Haddad Imports","after":""}]"#]
    ]);
}

#[test]
fn the_sandbox_ignores_the_environment_and_names_the_ignored_tokens() {
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
        assert_eq!(run(&format!("--sandbox customer show --timeout {timeout}")).code, code, "{timeout}");
    }
    let home = Home::with_config("[profiles.shop]\nsettle = \"1m\"\nlock-timeout = 0\n");
    home.ok("config set -p shop timeout 500ms");
    assert_eq!(home.ok("config get -p shop timeout"), "500ms\n");
    home.run("config set -p shop settle soon").assert_failure(
        2,
        str!["error: profiles.shop.settle: expected a duration, such as 30, 500ms or 1m, at most 24 hours"],
    );
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
