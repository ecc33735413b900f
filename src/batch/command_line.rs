//! The commands that go on with a run, made from the one that was typed.

use std::path::Path;

use crate::cli::batch::BatchArgs;
use crate::input::records::Source;
use crate::report::summary::NextSteps;
use crate::session::Session;
use crate::shell::Shell;

/// What to type next.
pub fn next_steps(session: &Session<'_>, source: &Source, args: &BatchArgs, journal: &Path) -> NextSteps {
    let mut words: Vec<String> =
        session.context.arguments.iter().map(|word| word.to_string_lossy().into_owned()).collect();
    if let Some(program) = words.first_mut() {
        "storefront".clone_into(program);
    }
    let again = if source.is_stream() { " (with the same input)" } else { "" };
    let join = |words: &[String]| Shell::NATIVE.join(words);
    let show = ["storefront", "journal", "show", &journal.to_string_lossy()].map(str::to_owned);
    NextSteps {
        resume: format!("{}{again}", join(&resumed(&words))),
        failed: args.failed.as_deref().map(|file| join(&with_input(&words, file))),
        show: join(&show),
    }
}

/// The same run, continued.
fn resumed(words: &[String]) -> Vec<String> {
    let dropped = ["--restart", "--retry-unknown", "--resume"];
    let kept = words.iter().filter(|word| !dropped.contains(&word.as_str()));
    kept.cloned().chain(["--resume".to_owned()]).collect()
}

/// The same operation over another file, which has a journal of its own.
fn with_input(words: &[String], file: &Path) -> Vec<String> {
    /// Flags that are left out, and whether a value follows.
    const DROPPED: [(&str, bool); 7] = [
        ("--input", true),
        ("--journal", true),
        ("--failed", true),
        ("--shard", true),
        ("--resume", false),
        ("--restart", false),
        ("--retry-unknown", false),
    ];
    let mut kept = Vec::new();
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let name = word.split_once('=').map_or(word.as_str(), |(name, _)| name);
        if let Some((_, has_value)) = DROPPED.iter().find(|(flag, _)| *flag == name) {
            if *has_value && name == word {
                rest.next();
            }
        } else if word == "-i" {
            rest.next();
        } else if !word.starts_with("-i") || word.starts_with("--") {
            kept.push(word.clone());
        }
    }
    kept.extend(["--input".to_owned(), file.to_string_lossy().into_owned()]);
    kept
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{resumed, with_input};

    fn words(line: &str) -> Vec<String> {
        line.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_typed_command_is_continued_or_run_over_the_failed_records() {
        let typed = words("storefront quote add-item -i a.csv --jobs 2 --failed=bad.csv --restart --qty 1");
        assert_eq!(
            resumed(&typed).join(" "),
            "storefront quote add-item -i a.csv --jobs 2 --failed=bad.csv --qty 1 --resume"
        );
        for input in ["-i a.csv", "--input a.csv", "--input=a.csv", "-ia.csv"] {
            let typed = words(&format!("storefront quote add-item {input} --resume --shard 0/2 --qty 1"));
            let failed = with_input(&typed, Path::new("bad.csv"));
            assert_eq!(failed.join(" "), "storefront quote add-item --qty 1 --input bad.csv");
        }
    }
}
