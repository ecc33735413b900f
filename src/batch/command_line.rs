//! The commands with which a batch is continued, made from its parsed arguments.

use std::ffi::OsString;
use std::path::Path;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args as _};

use crate::batch::record::RecordPreparer;
use crate::cli::{CustomerChoice, GlobalFlags, OperationArgs, ReplacementArgs};
use crate::input::records::Format;
use crate::report::summary::NextSteps;
use crate::system::shell::Shell;

/// What to type next.
pub fn next_steps(preparer: &RecordPreparer<'_>, journal: &Path, grammar: clap::Command) -> NextSteps {
    let RecordPreparer { session, source, args, .. } = preparer;
    let mut given = Given::parse(grammar, &session.context.arguments, |_| true).unwrap_or_default();
    // Where a command is pasted later, the variable may not be set.
    let named = session.global.profile.clone().filter(|_| session.global.flags.profile.is_none());
    given.flags.extend(named.map(|profile| ("--profile".to_owned(), vec![profile])));
    let show = ["storefront", "journal", "show", &journal.to_string_lossy(), "--state"];
    // A plan that was begun is resumed by itself.
    let flags: &[&str] = if args.plan.is_some() { &[] } else { &["--resume"] };
    let resume = format!("`{}`", Shell::NATIVE.join(given.resumed(flags)));
    let is_held_back = preparer.operation.spec().is_merged;
    let wait = match (is_held_back, args.plan.is_some()) {
        (true, false) => ", 10 minutes later or with --after-unknown,",
        (true, true) => ", 10 minutes later,",
        (false, _) => "",
    };
    let places = format!("{}S", session.report.place.to_uppercase());
    NextSteps {
        settle: format!(
            "resume with {resume}, with --mark-done={places} for what did and{wait} \
             --retry-unknown={places} for what did not"
        ),
        fix: match &args.failed {
            Some(file) => {
                let command = Shell::NATIVE.join(given.with_input(file, &source.path, source.format));
                format!("fix the failed records and run them: `{command}`")
            }
            None if args.plan.is_some() => "make a plan of the failed records again".to_owned(),
            None => format!("fix the failed records in the input, then resume with {resume}"),
        },
        resume,
        show: Shell::NATIVE.join(show.map(str::to_owned)),
        ..NextSteps::default()
    }
}

/// The flags that belong to the operation itself, as they are typed: not those that say where input comes from, how it
/// is sent, and where to, and not the customer.
pub fn operation_flags(grammar: clap::Command, words: &[OsString]) -> Vec<String> {
    let shared = CustomerChoice::augment_args(ReplacementArgs::augment_args(OperationArgs::augment_args(
        GlobalFlags::augment_args(clap::Command::new("shared")),
    )));
    let is_own = |argument: &clap::Arg| {
        let is_shared = shared.get_arguments().any(|other| other.get_id() == argument.get_id());
        argument.get_id() == "allow_unknown" || !is_shared
    };
    let given = Given::parse(grammar, words, is_own).unwrap_or_default();
    given.words(&[], Vec::new()).split_off(given.command.len())
}

/// A flag as it is typed, and its values; a positional argument has no name.
type Flag = (String, Vec<String>);

/// The flags that say how a journal is continued.
const OF_RESUMING: [&str; 5] = ["--resume", "--restart", "--retry-unknown", "--mark-done", "--start"];

/// A command line as it was understood: the program and the command, and their flags.
#[derive(Debug, Default)]
struct Given {
    command: Vec<String>,
    flags: Vec<Flag>,
}

impl Given {
    fn parse(
        mut grammar: clap::Command,
        words: &[OsString],
        is_kept: impl Fn(&clap::Arg) -> bool,
    ) -> Option<Self> {
        let matches = grammar.try_get_matches_from_mut(words).ok()?;
        let mut names = vec!["storefront".to_owned()];
        let (mut command, mut matches) = (&grammar, &matches);
        while let Some((name, of_subcommand)) = matches.subcommand() {
            names.push(name.to_owned());
            (command, matches) = (command.find_subcommand(name)?, of_subcommand);
        }
        let is_given = |id: &str| {
            matches.try_contains_id(id).unwrap_or(false)
                && matches.value_source(id) == Some(ValueSource::CommandLine)
        };
        let mut arguments: Vec<&clap::Arg> =
            command.get_arguments().filter(|argument| is_given(argument.get_id().as_str())).collect();
        arguments.retain(|argument| is_kept(argument));
        arguments.sort_by_key(|argument| matches.index_of(argument.get_id().as_str()));
        let flags = arguments.into_iter().flat_map(|argument| {
            let name = argument.get_long().map(|long| format!("--{long}")).unwrap_or_default();
            occurrences(argument, matches).into_iter().map(move |values| (name.clone(), values))
        });
        Some(Self { flags: flags.collect(), command: names })
    }

    /// The same run, continued.
    fn resumed(&self, flags: &[&str]) -> Vec<String> {
        let more = flags.iter().map(|flag| ((*flag).to_owned(), Vec::new()));
        self.words(&OF_RESUMING, more.collect())
    }

    /// The same operation over the file of failed records, which has a journal of its own. It is UTF-8 with a byte order mark,
    /// which counts more than `--encoding`.
    fn with_input(&self, file: &Path, input: &Path, format: Format) -> Vec<String> {
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
        let of_this_run = ["--input", "--journal", "--failed", "--shard"];
        self.words(&[&of_this_run[..], &OF_RESUMING].concat(), more)
    }

    fn words(&self, dropped: &[&str], more: Vec<Flag>) -> Vec<String> {
        let kept = self.flags.iter().filter(|(name, _)| !dropped.contains(&name.as_str())).cloned();
        let words = kept.chain(more).flat_map(|(name, values)| match values.as_slice() {
            // A value that begins like a flag is one only behind an equals sign.
            [value] if value.starts_with('-') && value != "-" && !name.is_empty() => {
                vec![format!("{name}={value}")]
            }
            _ => [name].into_iter().filter(|name| !name.is_empty()).chain(values).collect(),
        });
        self.command.iter().cloned().chain(words).collect()
    }
}

/// The values of each time that an argument was given; none for a flag without a value.
fn occurrences(argument: &clap::Arg, matches: &ArgMatches) -> Vec<Vec<String>> {
    let id = argument.get_id().as_str();
    if argument.get_action().takes_values() {
        let text = |value: &std::ffi::OsStr| value.to_string_lossy().into_owned();
        let occurrences = matches.get_raw_occurrences(id).into_iter().flatten();
        return occurrences.map(|values| values.map(text).collect()).collect();
    }
    let is_counted = matches!(argument.get_action(), clap::ArgAction::Count);
    vec![Vec::new(); if is_counted { matches.get_count(id).into() } else { 1 }]
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::Given;
    use crate::input::records::Format;

    fn given(line: &str) -> Given {
        Given::parse(crate::commands::grammar(), &line.split(' ').map(Into::into).collect::<Vec<_>>(), |_| {
            true
        })
        .unwrap()
    }

    #[test]
    fn a_command_is_continued_or_run_over_the_failed_records() {
        let typed = given("x quote add-item -qi a.csv --jobs 2 --failed=bad.csv --restart --qty 1 -vv");
        assert_eq!(
            typed.resumed(&["--resume"]).join(" "),
            "storefront quote add-item --quiet --input a.csv --jobs 2 --failed bad.csv --qty 1 --verbose --verbose --resume"
        );
        let (input_file, format) = (Path::new("a.csv"), Format::Csv);
        for (input, flags) in [("-i a.csv", ""), ("--input=a.csv", ""), ("-qia.csv", "--quiet ")] {
            let typed =
                given(&format!("storefront -p x quote add-item {input} --resume --shard 0/2 --qty=-1"));
            let failed = typed.with_input(Path::new("bad.csv"), input_file, format);
            assert_eq!(
                failed.join(" "),
                format!("storefront quote add-item {flags}--profile x --qty=-1 --input bad.csv")
            );
        }
        let typed = given("storefront quote add-item --input a.csv --qty 1");
        let failed = typed.with_input(Path::new("bad"), input_file, format);
        assert_eq!(failed.join(" "), "storefront quote add-item --qty 1 --input bad --input-format csv");
    }
}
