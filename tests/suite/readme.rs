//! The examples of the README and of the pages in `docs/`, run as they stand, each page in a home of its own.

use std::path::Path;

/// Runs the examples of a page one after the other. `cases` runs when it is dropped, so that each page has its own.
fn examples_run(page: &str) {
    let home = tempfile::tempdir().unwrap();
    let below = |name: &str| home.path().join(name);
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let name = Path::new(page).file_stem().unwrap().to_str().unwrap();
    // The files the examples name stand where the examples run.
    std::fs::create_dir(below(&format!("{name}.in"))).unwrap();
    for file in std::fs::read_dir(root.join("tests/readme")).unwrap() {
        let file = file.unwrap();
        std::fs::copy(file.path(), below(&format!("{name}.in")).join(file.file_name())).unwrap();
    }
    let examples = below(&format!("{name}.md"));
    std::fs::write(&examples, as_cases(&std::fs::read_to_string(root.join(page)).unwrap())).unwrap();
    let cases = trycmd::TestCases::new();
    for (name, directory) in [
        ("HOME", ""),
        ("XDG_CONFIG_HOME", "config"),
        ("XDG_DATA_HOME", "data"),
        ("XDG_STATE_HOME", "state"),
        ("USERPROFILE", ""),
        ("APPDATA", "config"),
        ("LOCALAPPDATA", "data"),
    ] {
        cases.env(name, below(directory).display().to_string());
    }
    cases.case(&examples).run();
}

/// A page as `trycmd` wants it. For people `…` stands for what varies, and the codes with which the commands exit stand behind the
/// language of a block, where nobody sees them: `console exits=7,0`.
fn as_cases(page: &str) -> String {
    let (mut cases, mut codes, mut is_console) = (String::new(), Vec::new(), false);
    for line in page.lines() {
        if let Some(info) = line.strip_prefix("```") {
            // A case ends with an empty line.
            cases += if is_console { "\n" } else { "" };
            is_console = info.starts_with("console");
            codes = info.strip_prefix("console exits=").unwrap_or_default().split(',').rev().collect();
            cases += if is_console { "```console" } else { line };
        } else if !is_console {
            cases += line;
        } else if line == "…" {
            cases += "...";
        } else {
            cases += &line.replace('…', "[..]");
            if line.starts_with("$ ")
                && let Some(code) = codes.pop().filter(|code| !code.is_empty())
            {
                cases += &format!("\n? {code}");
            }
        }
        cases.push('\n');
    }
    cases
}

#[test]
fn the_examples_of_the_readme_run() {
    examples_run("README.md");
}

#[test]
fn the_examples_for_support_run() {
    examples_run("docs/support.md");
}

#[test]
fn the_examples_for_merchandisers_run() {
    examples_run("docs/merchandisers.md");
}

#[test]
fn the_examples_for_scripts_run() {
    examples_run("docs/scripts.md");
}

#[test]
fn the_examples_about_the_journal_run() {
    examples_run("docs/journal.md");
}

#[test]
fn the_examples_about_plans_run() {
    examples_run("docs/plans.md");
}

#[test]
fn the_examples_about_what_is_kept_run() {
    examples_run("docs/data.md");
}

#[test]
fn the_examples_for_magento_shops_run() {
    examples_run("docs/magento.md");
}

/// A page that is too long is not read, and one that is not linked is not found.
#[test]
fn the_readme_is_short_and_links_every_page() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let read = |page: &str| std::fs::read_to_string(root.join(page)).unwrap();
    for (page, limit) in [("README.md", 140), ("docs/journal.md", 125), ("docs/interface.md", 145)] {
        let lines = read(page).lines().count();
        assert!(lines <= limit, "{page}: {lines} lines");
    }
    let readme = read("README.md");
    for page in std::fs::read_dir(root.join("docs")).unwrap() {
        let name = page.unwrap().file_name().into_string().unwrap();
        let is_linked = readme.contains(&format!("(docs/{name})"));
        assert!(
            is_linked || std::path::Path::new(&name).extension().is_none_or(|extension| extension != "md"),
            "docs/{name} is not linked"
        );
    }
}

/// Whoever has read one of them finds the command in the others.
#[test]
fn the_readme_the_page_and_the_help_say_the_same_five_words() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let pages =
        ["README.md", "docs/journal.md"].map(|page| std::fs::read_to_string(root.join(page)).unwrap());
    let help = crate::support::storefront::Home::new().ok("--help");
    for (command, words) in [
        ("history", "what did I do?"),
        ("verify", "is it still so?"),
        ("undo", "take it back"),
        ("resume", "go on"),
        ("forget", "forget"),
    ] {
        for page in &pages {
            let asks = |line: &str| line.contains(words) && line.contains(&format!("`storefront {command}"));
            assert!(page.lines().any(|line| line.starts_with('|') && asks(line)), "{command}: {page}");
        }
        let shows = |line: &str| {
            let described =
                line.trim_start().strip_prefix(command).map(|rest| rest.trim_start().to_lowercase());
            described.is_some_and(|described| described.starts_with(&words.to_lowercase()))
        };
        assert!(help.lines().any(shows), "{command}: {help}");
    }
}
