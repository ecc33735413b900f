//! The commands with which a batch is continued, made from its parsed arguments.

use std::ffi::OsString;
use std::path::Path;

use clap::ArgMatches;
use clap::parser::ValueSource;

use crate::cli::batch::BatchArgs;
use crate::input::records::{Format, Source};
use crate::report::summary::NextSteps;
use crate::session::Session;
use crate::shell::Shell;

/// What to type next.
pub fn next_steps(
    session: &Session<'_>,
    source: &Source,
    args: &BatchArgs,
    journal: &Path,
    grammar: clap::Command,
) -> NextSteps {
    let given = Given::parse(grammar, &session.context.arguments).unwrap_or_default();
    let show = ["storefront", "journal", "show", &journal.to_string_lossy()].map(str::to_owned);
    NextSteps {
        resume: Shell::NATIVE.join(given.resumed(&["--resume"])),
        retry_unknown: Shell::NATIVE.join(given.resumed(&["--resume", "--retry-unknown"])),
        with_same_input: source.is_stream(),
        failed: args
            .failed
            .as_deref()
            .map(|file| Shell::NATIVE.join(given.with_input(file, (source.path(), source.format)))),
        show: Shell::NATIVE.join(show),
    }
}

/// A command line as it was understood.
#[derive(Debug, Default)]
struct Given {
    /// The program and the command.
    command: Vec<String>,
    /// Long names of flags and their values; a positional argument has no name.
    flags: Vec<(String, Vec<String>)>,
}

impl Given {
    fn parse(mut grammar: clap::Command, words: &[OsString]) -> Option<Self> {
        let matches = grammar.try_get_matches_from_mut(words).ok()?;
        let mut given = Self { command: vec!["storefront".to_owned()], flags: Vec::new() };
        let (mut command, mut matches) = (&grammar, &matches);
        while let Some((name, of_subcommand)) = matches.subcommand() {
            given.command.push(name.to_owned());
            (command, matches) = (command.find_subcommand(name)?, of_subcommand);
        }
        let mut flags = Vec::new();
        for argument in command.get_arguments() {
            let id = argument.get_id().as_str();
            if !matches.try_contains_id(id).unwrap_or(false)
                || matches.value_source(id) != Some(ValueSource::CommandLine)
            {
                continue;
            }
            let name = argument.get_long().map(|long| format!("--{long}")).unwrap_or_default();
            let position = matches.index_of(id);
            flags.extend(
                occurrences(argument, matches, id).into_iter().map(|values| (position, name.clone(), values)),
            );
        }
        flags.sort_by_key(|(position, ..)| *position);
        given.flags = flags.into_iter().map(|(_, name, values)| (name, values)).collect();
        Some(given)
    }

    /// The same run, continued.
    fn resumed(&self, flags: &[&str]) -> Vec<String> {
        let more = flags.iter().map(|flag| ((*flag).to_owned(), Vec::new()));
        self.words(&["--restart", "--retry-unknown", "--resume"], more)
    }

    /// The same operation over the file of failed records, which has a journal of its own.
    fn with_input(&self, file: &Path, (input, format): (&Path, Format)) -> Vec<String> {
        let mut more = vec![("--input".to_owned(), vec![file.to_string_lossy().into_owned()])];
        let has_format = self.flags.iter().any(|(name, _)| name == "--input-format");
        if !has_format && file.extension() != input.extension() {
            let format = match format {
                Format::Csv => "csv",
                Format::Ndjson => "ndjson",
                Format::Array => "json",
            };
            more.push(("--input-format".to_owned(), vec![format.to_owned()]));
        }
        // It is written in UTF-8.
        let dropped = [
            "--input",
            "--journal",
            "--failed",
            "--shard",
            "--resume",
            "--restart",
            "--retry-unknown",
            "--encoding",
        ];
        self.words(&dropped, more)
    }

    fn words(&self, dropped: &[&str], more: impl IntoIterator<Item = (String, Vec<String>)>) -> Vec<String> {
        let kept = self.flags.iter().filter(|(name, _)| !dropped.contains(&name.as_str())).cloned();
        let mut words = self.command.clone();
        for (name, values) in kept.chain(more) {
            match values.as_slice() {
                // A value that begins like a flag is one only behind an equals sign.
                [value] if value.starts_with('-') && value != "-" && !name.is_empty() => {
                    words.push(format!("{name}={value}"));
                }
                _ => words.extend([name].into_iter().filter(|name| !name.is_empty()).chain(values)),
            }
        }
        words
    }
}

/// The values of each time that an argument was given; none for a flag without a value.
fn occurrences(argument: &clap::Arg, matches: &ArgMatches, id: &str) -> Vec<Vec<String>> {
    if !argument.get_action().takes_values() {
        let count =
            if matches!(argument.get_action(), clap::ArgAction::Count) { matches.get_count(id) } else { 1 };
        return vec![Vec::new(); count.into()];
    }
    let text = |value: &std::ffi::OsStr| value.to_string_lossy().into_owned();
    let raw = matches.get_raw_occurrences(id).into_iter().flatten();
    raw.map(|values| values.map(text).collect()).collect()
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::Given;
    use crate::input::records::Format;

    fn given(line: &str) -> Given {
        Given::parse(crate::commands::grammar(), &line.split(' ').map(Into::into).collect::<Vec<_>>())
            .unwrap()
    }

    #[test]
    fn a_command_is_continued_or_run_over_the_failed_records() {
        let typed = given("x quote add-item -qi a.csv --jobs 2 --failed=bad.csv --restart --qty 1 -vv");
        assert_eq!(
            typed.resumed(&["--resume"]).join(" "),
            "storefront quote add-item --quiet --input a.csv --jobs 2 --failed bad.csv --qty 1 --verbose --verbose --resume"
        );
        let (input_file, format) = (PathBuf::from("a.csv"), Format::Csv);
        for (input, flags) in [("-i a.csv", ""), ("--input=a.csv", ""), ("-qia.csv", "--quiet ")] {
            let typed =
                given(&format!("storefront -p x quote add-item {input} --resume --shard 0/2 --qty=-1"));
            let failed = typed.with_input(Path::new("bad.csv"), (&input_file, format));
            assert_eq!(
                failed.join(" "),
                format!("storefront quote add-item {flags}--profile x --qty=-1 --input bad.csv")
            );
        }
        let typed = given("storefront quote add-item --input a.csv --qty 1");
        let failed = typed.with_input(Path::new("bad"), (&input_file, format));
        assert_eq!(failed.join(" "), "storefront quote add-item --qty 1 --input bad --input-format csv");
    }
}
