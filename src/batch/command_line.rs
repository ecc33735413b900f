//! The commands with which a batch is continued, made from its parsed arguments.

use std::path::Path;

use crate::batch::failed_file::path_of;
use crate::batch::record::RecordPreparer;
use crate::cli::command_line::Given;
use crate::report::summary::NextSteps;
use crate::system::shell::Shell;

/// What to type next.
pub fn next_steps(preparer: &RecordPreparer<'_>, journal: &Path, grammar: clap::Command) -> NextSteps {
    let RecordPreparer { session, args, .. } = preparer;
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
        resume,
        is_plan: preparer.plan.is_some(),
        place: session.report.place,
        failed_file: args.failed.as_ref().map(|file| path_of(file, args.shard).display().to_string()),
        show: Shell::NATIVE.join(show.map(str::to_owned)),
    }
}

/// The flags that say how a journal is continued.
const OF_RESUMING: [&str; 5] = ["--resume", "--restart", "--retry-unknown", "--mark-done", "--start"];

/// The same run, continued.
fn resumed(given: &Given, flags: &[&str]) -> Vec<String> {
    let more = flags.iter().map(|flag| ((*flag).to_owned(), Vec::new()));
    given.words(&OF_RESUMING, more.collect())
}

#[cfg(test)]
mod tests {
    use super::resumed;
    use crate::cli::command_line::Given;

    fn given(line: &str) -> Given {
        Given::parse(crate::commands::grammar(), &line.split(' ').map(Into::into).collect::<Vec<_>>(), |_| {
            true
        })
        .unwrap()
    }

    #[test]
    fn a_command_is_continued() {
        let typed = given("x quote add-item -qi a.csv --jobs 2 --failed=bad.csv --restart --qty 1 -vv");
        assert_eq!(
            resumed(&typed, &["--resume"]).join(" "),
            "storefront quote add-item --quiet --input a.csv --jobs 2 --failed bad.csv --qty 1 --verbose --verbose --resume"
        );
    }
}
