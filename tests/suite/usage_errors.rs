//! Invalid command lines: a message with a hint, an object with JSON output, and a word on changes for writes only.

use snapbox::str;

use crate::support::storefront::Home;

#[test]
fn a_group_of_commands_alone_is_an_error_with_json_output() {
    let error = Home::new().run("-o json customer").error();
    assert_eq!((&error["kind"], &error["message"]), (&"usage".into(), &"a command is missing".into()));
    assert_eq!(error["hint"], "see --help");
}

#[test]
fn an_item_in_a_misspelt_wrapper_is_named() {
    let home = Home::new();
    for (document, stderr) in [
        (
            r#"{"cartitem": {"sku": "a"}}"#,
            str![[r#"
error: cartitem: unknown field; did you mean `cartItem`?
  No changes were made.
  hint: fix the input, or send unknown fields unchanged with --allow-unknown
"#]],
        ),
        (
            r#"{"sku": "a", "cart_item": {"qty": 1}}"#,
            str![[r#"
error: sku: unknown field
  cart_item: unknown field; did you mean `cartItem`?
  No changes were made.
  hint: fix the input, or send unknown fields unchanged with --allow-unknown
"#]],
        ),
    ] {
        home.storefront("--sandbox quote add-item -i -").stdin(document).run().assert_failure(2, stderr);
    }
}

#[test]
fn usage_errors_are_objects_with_json_output() {
    let home = Home::new();
    for (line, stderr) in [
        (
            "customer updat -o json",
            str![[
                r#"{"error":{"kind":"usage","message":"unrecognized subcommand 'updat'","hint":"a similar subcommand exists: 'update'","status":null,"applied":"no","service":null}}"#
            ]],
        ),
        (
            "customer show --ouput x -ojson",
            str![[
                r#"{"error":{"kind":"usage","message":"unexpected argument '--ouput' found","hint":"a similar argument exists: '--output'","status":null,"applied":"no","service":null}}"#
            ]],
        ),
        (
            "quote add-item --qty two --output=json",
            str![[
                r#"{"error":{"kind":"usage","message":"invalid value 'two' for '--qty <N>': expected a number","hint":"see --help","status":null,"applied":"no","service":null}}"#
            ]],
        ),
        (
            "quote add-item --qty 1,5 --output=json",
            str![[
                r#"{"error":{"kind":"usage","message":"invalid value '1,5' for '--qty <N>': expected a number such as 1.5","hint":"see --help","status":null,"applied":"no","service":null}}"#
            ]],
        ),
        (
            "--output json",
            str![[
                r#"{"error":{"kind":"usage","message":"'storefront' requires a subcommand but one was not provided [subcommands: quote, customer, attribute, journal, config, auth, doctor, sandbox, api, template, schema, help, completions, man]","hint":"see --help","status":null,"applied":"no","service":null}}"#
            ]],
        ),
    ] {
        home.run(line).assert_failure(2, stderr);
    }
    home.storefront("customer updat").env("STOREFRONT_OUTPUT", "json").run().assert_failure(2, str![[r#"{"error":{"kind":"usage","message":"unrecognized subcommand 'updat'","hint":"a similar subcommand exists: 'update'","status":null,"applied":"no","service":null}}"#]]);
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
