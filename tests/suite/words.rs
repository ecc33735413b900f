//! The texts that people read keep to current English: phrases that once stood in them stay out.

use std::path::{Path, PathBuf};

/// What is not written, as a regular expression, and what is written in its place.
const PHRASES: &[(&str, &str)] = &[
    (r"Of a batch, ", "For a batch,"),
    (r"(where|when|if) there is none\b", "if it is missing"),
    (r"\b(person|somebody) (has to|must) look\b", "check it in the shop"),
    (r"\bby itself\b", "automatically"),
    (r"\banew\b", "again"),
    (r"\b(was|is|were|are) begun\b", "started"),
    (r"\bgoes on\b", "continues"),
    (r"\bbut for\b", "except"),
    (r"\bIt is a help\b", "best effort"),
    (r"\bAs many [a-z ]+ (are|may be)\b", "the number of …"),
    (r"///? The same[,;]", "the noun again"),
    (r"\bis another one afterwards\b", "now has another street, city and postcode"),
    (r"\bif it is so\b", "what it is"),
    (r"\brepair the disk\b", "check the disk"),
    (r"\bchanges nothing twice\b", "is safe to repeat"),
    (r"\bby your word\b", "naming a line states that …"),
    (r"\bsomething that is no JSON\b", "did not return JSON"),
    (r"\b(what|that|which) is no [a-z]+\b", "is not a"),
];

fn files(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let is_of_a_test = path.file_name().is_some_and(|name| name == "tests.rs" || name == "target");
        match path.extension().and_then(|extension| extension.to_str()) {
            _ if is_of_a_test => {}
            _ if path.is_dir() => files(&path, found),
            Some("rs" | "md") => found.push(path),
            _ => {}
        }
    }
}

/// The sources and pages below these directories.
fn files_of(directories: &[&str]) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for directory in directories {
        files(&root.join(directory), &mut found);
    }
    found
}

#[test]
fn no_page_message_or_comment_has_a_phrase_of_the_list() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut all = vec![root.join("README.md"), root.join("CHANGELOG.md"), root.join("CONTRIBUTING.md")];
    all.extend(files_of(&["src", "crates", "docs"]));
    assert!(all.len() > 200, "{}", all.len());
    let phrases = PHRASES.iter().map(|(phrase, instead)| (regex_lite::Regex::new(phrase).unwrap(), instead));
    let phrases = phrases.collect::<Vec<_>>();
    let mut found = Vec::new();
    for path in all {
        let text = std::fs::read_to_string(&path).unwrap();
        for (phrase, instead) in &phrases {
            for (line, text) in (1..).zip(text.lines()) {
                if phrase
                    .find(text)
                    .is_some_and(|it| !["longer", "more"].iter().any(|end| it.as_str().ends_with(end)))
                {
                    found.push(format!("{}:{line}: {} ({instead})", path.display(), text.trim()));
                }
            }
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// Texts with a command that are no hints: pages that are printed, notes for a file.
const PAGES: [&str; 4] = [
    "src/commands/meta.rs",
    "src/commands/review/server.rs",
    "src/commands/sandbox.rs",
    "crates/sandbox/src/store/file.rs",
];

#[test]
fn a_comment_that_names_a_section_of_a_page_names_one_that_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let all = files_of(&["src", "crates", "tests"]);
    let reference = regex_lite::Regex::new(r#"docs/([a-z-]+\.md), "([^"]+)""#).unwrap();
    let next_line = regex_lite::Regex::new(r"\n\s*//[/!]? ").unwrap();
    let mut count = 0;
    let mut missing = Vec::new();
    for path in all.iter().filter(|path| path.extension().is_some_and(|end| end == "rs")) {
        let text = std::fs::read_to_string(path).unwrap();
        for found in reference.captures_iter(&next_line.replace_all(&text, " ")) {
            let page = std::fs::read_to_string(root.join("docs").join(&found[1])).unwrap_or_default();
            let is_heading =
                |line: &str| line.starts_with('#') && line.trim_start_matches('#').trim() == &found[2];
            count += 1;
            if !page.lines().any(is_heading) {
                missing.push(format!("{}: {}", path.display(), &found[0]));
            }
        }
    }
    assert!(count > 10, "{count} references");
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// A command in a hint is a value (`storefront_core::hint::storefront`): as text it would not name the service and the customer
/// that the command was run against.
#[test]
fn no_hint_holds_a_command_as_text() {
    let all = files_of(&["src", "crates"]);
    let mut found = Vec::new();
    for path in all.iter().filter(|path| !PAGES.iter().any(|page| path.ends_with(page))) {
        let text = std::fs::read_to_string(path).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
        for (line, text) in (1..).zip(code.lines()).filter(|(_, text)| !text.trim().starts_with("//")) {
            if text.contains("`storefront ") && path.extension().is_some_and(|end| end == "rs") {
                found.push(format!("{}:{line}: {}", path.display(), text.trim()));
            }
        }
    }
    assert!(found.is_empty(), "write hint!(…, storefront(\"customer show\"), …):\n{}", found.join("\n"));
}
