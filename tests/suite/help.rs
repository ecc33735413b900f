//! `help` and `--help`: topics, and examples that run.

use std::path::Path;

use crate::support::storefront::Home;
use storefront::failure::FailureKind;

/// The words of every command that does something by itself.
fn commands(command: &clap::Command, above: &str, found: &mut Vec<String>) {
    for inner in command.get_subcommands() {
        let words = format!("{above} {}", inner.get_name()).trim().to_owned();
        if inner.has_subcommands() {
            commands(inner, &words, found);
        } else {
            found.push(words);
        }
    }
}

#[test]
#[cfg_attr(windows, ignore = "it runs a POSIX shell script")]
fn the_help_of_each_command_ends_with_three_examples_and_each_runs() {
    let mut all = Vec::new();
    commands(&storefront::cli::command(), "", &mut all);
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
            if words == "journal show" {
                let items = "sku,qty,quote_id\nmug-blue,1,1\n";
                std::fs::write(home.dir.path().join("items.csv"), items).unwrap();
                home.ok("--sandbox quote add-item -i items.csv");
            }
            let ran = home.command("sh").args(["-c", example]).env("PATH", &path).output().unwrap();
            if !ran.status.success() {
                failed.push(format!("{example}: {ran:?}"));
            }
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn help_fits_a_hundred_lines_and_the_overview_thirty_five() {
    let mut all = Vec::new();
    commands(&storefront::cli::command(), "", &mut all);
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
        assert!(overview.lines().count() <= 35, "{overview}");
    }
}

#[test]
fn topics_come_from_the_tables_the_program_uses() {
    let home = Home::new();
    let codes = home.ok("help exit-codes");
    for kind in FailureKind::ALL {
        let row = format!("{:>3}  {}", kind.exit_code(), kind.name());
        assert!(codes.contains(&row), "{row}: {codes}");
    }
    for variable in storefront::environment::ALL.iter().chain(storefront::environment::DIRECTORIES) {
        assert!(home.ok("help environment").contains(variable.name));
    }
    let input = home.ok("help input");
    assert!(input.contains("customer.addresses[].postcode") && input.contains("quote add-item"), "{input}");
}

#[test]
fn the_help_of_a_command_is_what_its_own_flag_prints() {
    let home = Home::new();
    assert_eq!(home.ok("help customer update"), home.ok("customer update --help"));
    assert!(home.ok("help").contains("exit-codes"));
    assert!(home.fails(2, "help exit-code").contains("did you mean `exit-codes`?"));
    assert!(home.fails(2, "help customer updat").contains("did you mean `update`?"));
}

#[test]
fn a_command_that_is_looked_for_in_vain_says_what_exists() {
    let home = Home::new();
    for (line, instead) in [
        ("attribute list", "storefront api GET"),
        ("attribute delete x", "storefront api DELETE"),
        ("delete", "--remove-address ID"),
        ("alias", "alias of your shell"),
        ("undo", "storefront customer restore"),
        ("config edit", "storefront config path"),
    ] {
        let stderr = home.fails(2, line);
        assert!(stderr.contains("unrecognized subcommand") && stderr.contains(instead), "{line}: {stderr}");
        assert!(!stderr.contains("similar"), "{line}: {stderr}");
    }
    assert!(home.fails(2, "customr").contains("customer"));
}
