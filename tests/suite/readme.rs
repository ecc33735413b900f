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
    std::fs::copy(root.join(page), &examples).unwrap();
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
fn the_examples_for_magento_shops_run() {
    examples_run("docs/magento.md");
}

/// A page that is too long is not read, and one that is not linked is not found.
#[test]
fn the_readme_is_short_and_links_every_page() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    assert!(readme.lines().count() <= 130, "{} lines", readme.lines().count());
    for page in std::fs::read_dir(root.join("docs")).unwrap() {
        let name = page.unwrap().file_name().into_string().unwrap();
        let is_linked = readme.contains(&format!("(docs/{name})"));
        assert!(
            is_linked || std::path::Path::new(&name).extension().is_none_or(|extension| extension != "md"),
            "docs/{name} is not linked"
        );
    }
}
