//! `storefront help`: topics, each read off the table the program itself uses; and the help of a command.

use std::fmt::Write;

use crate::failure::{Failure, FailureKind};
use crate::plan::operation::Operation;
use crate::session::Session;
use crate::suggestion::closest_match;
use crate::{cli, environment};

/// A topic and its text.
type Topic = (&'static str, &'static str, fn() -> String);

const TOPICS: &[Topic] = &[
    ("exit-codes", "What the exit code tells", exit_codes),
    ("environment", "The environment variables that are read", environment),
    ("input", "What --input takes, member by member", input),
];

/// Prints a topic, or the help of the command these words name.
///
/// # Errors
/// `usage` where there is neither.
pub fn run(session: &Session<'_>, words: &[String]) -> Result<(), Failure> {
    if let [word] = words
        && let Some((_, _, text)) = TOPICS.iter().find(|(name, ..)| name == word)
    {
        return session.report.stdout(&text());
    }
    let mut command = cli::command();
    command.build();
    let found = words.iter().try_fold(&mut command, |command, word| {
        let known: Vec<String> = command.get_subcommands().map(|inner| inner.get_name().to_owned()).collect();
        command.find_subcommand_mut(word).ok_or_else(|| neither(word, &known))
    })?;
    let help = found.render_long_help();
    let text = if session.report.color_stdout { help.ansi().to_string() } else { help.to_string() };
    let topics = if words.is_empty() { listed_topics() } else { String::new() };
    session.report.stdout(&format!("{}\n{topics}", text.trim_end()))
}

fn neither(word: &str, known: &[String]) -> Failure {
    let topics = TOPICS.iter().map(|(name, ..)| *name);
    let near = closest_match(word, known.iter().map(String::as_str).chain(topics.clone()));
    let hint = match near {
        Some(near) => format!("did you mean {near}?"),
        None => format!("the topics are {}", topics.collect::<Vec<_>>().join(", ")),
    };
    Failure::usage(format!("{word:?} is neither a topic nor a command")).hint(hint)
}

fn listed_topics() -> String {
    format!("\nTopics of storefront help:\n{}", rows(TOPICS.iter().map(|(name, about, _)| (*name, *about))))
}

fn exit_codes() -> String {
    let codes = FailureKind::ALL.map(|kind| (kind.exit_code().to_string(), kind));
    let rows = codes.iter().fold(String::new(), |mut text, (code, kind)| {
        let _ = writeln!(text, "  {code:>3}  {:<12} {}", kind.name(), kind.meaning());
        text
    });
    format!(
        "    0               done\n{rows}\nUnder -o json an error is one object on standard error; its kind is the word above.\n"
    )
}

fn environment() -> String {
    rows(
        environment::ALL.iter().chain(environment::DIRECTORIES).map(|variable| (variable.name, variable.doc)),
    )
}

fn input() -> String {
    let mut text =
        "--input FILE takes JSON, NDJSON or CSV; - is standard input. Flags are laid over it and win.\n\
        A body may stand in its wrapper or without it; an array, NDJSON and CSV are a run over records.\n\
        `storefront template OPERATION` prints an example, `storefront schema OPERATION` a JSON Schema.\n"
            .to_owned();
    for operation in Operation::ALL {
        let members = operation.schema().fields();
        let _ = writeln!(text, "\n{}", operation.name());
        text += &rows(members.iter().map(|(path, member)| (path.as_str(), member.doc)));
    }
    text
}

/// Two columns.
fn rows<'a>(rows: impl Iterator<Item = (&'a str, &'a str)> + Clone) -> String {
    let width = rows.clone().map(|(name, _)| name.len()).max().unwrap_or(0);
    rows.fold(String::new(), |mut text, (name, meaning)| {
        let _ = writeln!(text, "  {name:<width$}  {meaning}");
        text
    })
}
