//! The commands with which a batch is continued, made from its parsed arguments.

use std::path::Path;

use crate::batch::record::RecordPreparer;
use crate::cli::command_line::Given;
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
    let flags: &[&str] = if preparer.plan.is_some() { &[] } else { &["--resume"] };
    let resume = format!("`{}`", Shell::NATIVE.join(resumed(&given, flags)));
    let is_held_back = preparer.operation.spec().is_merged;
    let wait = match (is_held_back, preparer.plan.is_some()) {
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
                let command = Shell::NATIVE.join(with_input(&given, file, &source.path, source.format));
                format!("fix the failed records and run them: `{command}`")
            }
            None if preparer.plan.is_some() => "make a plan of the failed records again".to_owned(),
            None => format!("fix the failed records in the input, then resume with {resume}"),
        },
        resume,
        show: Shell::NATIVE.join(show.map(str::to_owned)),
        ..NextSteps::default()
    }
}

/// The flags that say how a journal is continued.
const OF_RESUMING: [&str; 5] = ["--resume", "--restart", "--retry-unknown", "--mark-done", "--start"];

/// The same run, continued.
fn resumed(given: &Given, flags: &[&str]) -> Vec<String> {
    let more = flags.iter().map(|flag| ((*flag).to_owned(), Vec::new()));
    given.words(&OF_RESUMING, more.collect())
}

/// The same operation over the file of failed records, which has a journal of its own. It is UTF-8 with a byte order mark,
/// which counts more than `--encoding`.
fn with_input(given: &Given, file: &Path, input: &Path, format: Format) -> Vec<String> {
    let mut more = vec![("--input".to_owned(), vec![file.to_string_lossy().into_owned()])];
    let has_format = given.flags.iter().any(|(name, _)| name == "--input-format");
    if !has_format && file.extension() != input.extension() {
        let format = match format {
            Format::Csv => "csv",
            Format::Ndjson => "ndjson",
            Format::Array => "json",
        };
        more.push(("--input-format".to_owned(), vec![format.to_owned()]));
    }
    let of_this_run = ["--input", "--journal", "--failed", "--shard"];
    given.words(&[&of_this_run[..], &OF_RESUMING].concat(), more)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{resumed, with_input};
    use crate::cli::command_line::Given;
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
            resumed(&typed, &["--resume"]).join(" "),
            "storefront quote add-item --quiet --input a.csv --jobs 2 --failed bad.csv --qty 1 --verbose --verbose --resume"
        );
        let (input_file, format) = (Path::new("a.csv"), Format::Csv);
        for (input, flags) in [("-i a.csv", ""), ("--input=a.csv", ""), ("-qia.csv", "--quiet ")] {
            let typed =
                given(&format!("storefront -p x quote add-item {input} --resume --shard 0/2 --qty=-1"));
            let failed = with_input(&typed, Path::new("bad.csv"), input_file, format);
            assert_eq!(
                failed.join(" "),
                format!("storefront quote add-item {flags}--profile x --qty=-1 --input bad.csv")
            );
        }
        let typed = given("storefront quote add-item --input a.csv --qty 1");
        let failed = with_input(&typed, Path::new("bad"), input_file, format);
        assert_eq!(failed.join(" "), "storefront quote add-item --qty 1 --input bad --input-format csv");
    }
}
