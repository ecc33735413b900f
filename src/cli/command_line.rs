//! A command line as it was understood, so that it can be typed again.

use std::ffi::OsString;

use clap::parser::ValueSource;
use clap::{ArgMatches, Args as _};

use super::{CustomerChoice, GlobalFlags, OperationArgs, ReplacementArgs};

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
pub type Flag = (String, Vec<String>);

/// A command line as it was understood: the program and the command, and their flags.
#[derive(Debug, Default)]
pub struct Given {
    /// The program and the command.
    pub command: Vec<String>,
    /// The flags, in the order in which they were typed.
    pub flags: Vec<Flag>,
}

impl Given {
    /// Reads the words of a command line, and keeps some of its arguments; `None` where the grammar does not understand it.
    pub fn parse(
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

    /// The words to type: without the flags in `dropped`, and with some more.
    pub fn words(&self, dropped: &[&str], more: Vec<Flag>) -> Vec<String> {
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
