//! `help` and `--help`: topics, and examples that run.

use std::path::Path;

use snapbox::str;

use crate::support::snapshot::assert_snapshot_file;
use crate::support::storefront::Home;
use storefront_core::failure::KINDS;

/// Whether a command is only another name of one: that has the help.
fn is_former_name(command: &clap::Command) -> bool {
    command.get_about().is_some_and(|about| about.to_string().starts_with("As `"))
}

/// The words of every command that does something by itself.
fn commands(command: &clap::Command, above: &str, found: &mut Vec<String>) {
    for inner in command.get_subcommands().filter(|inner| !is_former_name(inner)) {
        let words = format!("{above} {}", inner.get_name()).trim().to_owned();
        if inner.has_subcommands() {
            commands(inner, &words, found);
        } else {
            found.push(words);
        }
    }
}

/// The words of every command, groups of commands included.
fn pages(command: &clap::Command, above: &str, found: &mut Vec<String>) {
    found.push(above.to_owned());
    for inner in command.get_subcommands().filter(|inner| !is_former_name(inner)) {
        pages(inner, format!("{above} {}", inner.get_name()).trim(), found);
    }
}

#[test]
fn every_help_page_is_its_snapshot() {
    let mut all = Vec::new();
    pages(&storefront::commands::grammar(), "", &mut all);
    let (home, mut files) = (Home::new(), Vec::new());
    let mut check = |line: &str, name: &str, is_error: bool| {
        let shown = home.storefront(line).env("COLUMNS", "100").run();
        let (page, other) =
            if is_error { (&shown.stderr, &shown.stdout) } else { (&shown.stdout, &shown.stderr) };
        assert_eq!((shown.code, &**other), (if is_error { 2 } else { 0 }, ""), "{line}: {shown:?}");
        let file = format!("{}.txt", name.replace(' ', "-"));
        assert_snapshot_file(page, &format!("help/{file}"));
        files.push(file);
    };
    check("", "overview", true);
    for words in &all {
        check(&format!("{words} --help"), if words.is_empty() { "storefront" } else { words }, false);
    }
    for (topic, ..) in storefront::commands::meta::TOPICS {
        check(&format!("help {topic}"), &format!("topic-{topic}"), false);
    }
    files.sort();
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots/help");
    let mut found: Vec<String> = std::fs::read_dir(directory)
        .unwrap()
        .map(|file| file.unwrap().file_name().into_string().unwrap())
        .collect();
    found.sort();
    assert_eq!(found, files, "a snapshot of no page");
}

#[test]
#[cfg_attr(windows, ignore = "it runs a POSIX shell script")]
fn the_help_of_each_command_ends_with_three_examples_and_each_runs() {
    let mut all = Vec::new();
    commands(&storefront::commands::grammar(), "", &mut all);
    assert!(all.len() > 20, "{all:?}");
    let binaries = Path::new(env!("CARGO_BIN_EXE_storefront")).parent().unwrap();
    let path = format!("{}:{}", binaries.display(), std::env::var("PATH").unwrap());
    let mut failed = Vec::new();
    for words in all {
        let help = Home::new().ok(&format!("{words} --help"));
        let examples = help.split("Examples:\n").nth(1).unwrap_or_else(|| panic!("{words} has no examples"));
        let examples: Vec<&str> = examples.lines().map(str::trim).collect();
        assert_eq!(examples.len(), 3, "{words}: {examples:?}");
        for example in examples {
            assert!(example.contains(&format!("storefront {words}")), "{words}: {example}");
            let home = Home::with_config(
                "default-profile = \"shop\"\n[profiles.shop]\nbase-url = \"https://shop.example\"\nretry = 5\n",
            );
            if ["history", "resume"].contains(&words.as_str()) {
                let items = "sku,qty,quote_id\nmug-blue,1,1\n";
                std::fs::write(home.dir.path().join("items.csv"), items).unwrap();
                home.ok("--sandbox quote add-item -i items.csv");
            }
            if words == "attribute diff" {
                let exported = home.ok("--sandbox --api magento attribute export -q");
                std::fs::write(home.dir.path().join("attributes.json"), exported).unwrap();
            }
            if ["verify", "undo"].contains(&words.as_str()) {
                std::fs::write(home.dir.path().join("names.csv"), "address_id,city\n2,Albany\n").unwrap();
                home.ok("--sandbox customer update -i names.csv");
            }
            if ["quote set-item", "quote remove-item", "quote clear"].contains(&words.as_str()) {
                home.ok("--sandbox --api magento quote add-item --sku mug-blue --qty 1");
            }
            std::fs::write(home.dir.path().join("token.txt"), "t0ken\n").unwrap();
            // These wait for a person: a server runs until it is stopped, and a login asks for the token.
            let example = match example.strip_prefix("storefront sandbox serve") {
                Some(flags) => format!("timeout 1 storefront sandbox serve{flags} || true"),
                None if *example == *"storefront auth login" => format!("{example} < token.txt || true"),
                // Without a terminal and a code it is refused, before it opens a browser.
                None if words == "review" => {
                    format!("{} || true", example.replace("storefront review", "setsid -w storefront review"))
                }
                None if words == "auth status" => format!("STOREFRONT_TOKEN=t0ken {example}"),
                None => example.to_owned(),
            };
            let ran = home.command("sh").args(["-c", &example]).env("PATH", &path).output().unwrap();
            if !ran.status.success() {
                failed.push(format!("{example}: {ran:?}"));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn help_fits_a_hundred_lines_and_the_overview_forty() {
    let mut all = Vec::new();
    commands(&storefront::commands::grammar(), "", &mut all);
    let home = Home::new();
    for words in &all {
        for help in ["--help", "-h"] {
            let text = home.ok(&format!("{words} {help}"));
            let headings: Vec<&str> =
                text.lines().filter(|line| line.ends_with(':') && !line.starts_with(' ')).collect();
            let distinct: std::collections::BTreeSet<_> = headings.iter().collect();
            assert!(text.lines().count() <= 100, "{words} {help}: {} lines", text.lines().count());
            assert_eq!(distinct.len(), headings.len(), "{words}: {headings:?}");
        }
    }
    for overview in [home.run(&[]).stderr, home.ok("--help"), home.ok("-h")] {
        assert!(overview.lines().count() <= 40, "{overview}");
    }
}

#[test]
fn topics_come_from_the_tables_the_program_uses() {
    let home = Home::new();
    let codes = home.ok("help exit-codes");
    for (_, code, name, _) in KINDS {
        let row = format!("{code:>3}  {name}");
        assert!(codes.contains(&row), "{row}: {codes}");
    }
    for variable in
        storefront::system::environment::ALL.iter().chain(storefront::system::environment::DIRECTORIES)
    {
        assert!(home.ok("help environment").contains(variable.name));
    }
}

#[test]
fn help_of_a_command_equals_its_help_flag() {
    let home = Home::new();
    assert_eq!(home.ok("help customer update"), home.ok("customer update --help"));
}

/// In the tables what clap adds below each of its errors is left out.
#[test]
fn an_error_of_the_command_line_ends_with_its_usage() {
    Home::new().run("customer updat").assert_failure(
        2,
        str![[r#"
error: unrecognized subcommand 'updat'

  tip: a similar subcommand exists: 'update'

Usage: storefront customer [OPTIONS] <COMMAND>

For more information, try '--help'.
"#]],
    );
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
fn what_people_mean_by_another_flag_is_refused_and_named() {
    let home = Home::new();
    std::fs::write(home.dir.path().join("items.csv"), "sku,qty,quote_id\nmug-blue,1,1\n").unwrap();
    home.ok("--sandbox quote add-item -i items.csv");
    for (line, message) in [
        ("--sandbox customer update --address 2 --firstname Lisa", "use --address-firstname for the address"),
        (
            "--sandbox customer update --add-address --lastname Haddad",
            "use --address-lastname for the address",
        ),
        ("--sandbox customer update --address 2 --city ''", "clears a field with --clear FIELD"),
        ("--sandbox quote show jan@example.com", "name the customer with '--customer jan@example.com'"),
        ("--sandbox attribute show --code color", "write the code of the attribute without '--code'"),
        ("--sandbox --api magento customer find x --limit 0", "0 is not in 1..=65535"),
        ("--sandbox history --limit 0", "0 is not in 1.."),
        ("history items.csv.journal --csv -o json", "`--csv` cannot be used with `-o json`"),
        ("history items.csv.journal --state wrong", "invalid value 'wrong' for '--state <STATE>...'"),
    ] {
        let error = home.fails(2, line);
        assert!(error.contains(message), "{line}: {error}");
    }
}

#[test]
fn what_explains_the_program_works_whatever_is_set() {
    let home = Home::new();
    for line in ["help exit-codes", "--help", "completions bash", "man"] {
        let storefront = home.storefront(line).env("STOREFRONT_API", "bad").env("STOREFRONT_OUTPUT", "yaml");
        let outcome = storefront.run();
        assert_eq!((outcome.code, &*outcome.stderr), (0, ""), "{line}");
    }
}

#[test]
fn the_words_that_people_try_first_work() {
    let home = Home::new();
    let shown = home.ok("--sandbox customer show");
    assert_eq!(home.ok("--sandbox customer get"), shown);
    home.ok("--sandbox customer edit --address 2 --postcode 10119");
    home.ok("--sandbox customer undo 1 --yes");
    assert_eq!(home.ok("--sandbox customer get"), shown);
    assert!(home.ok("--sandbox --api magento customer search haddad").contains("amina"));
}
