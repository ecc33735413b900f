//! A command whose verbs are made only once it is typed: a process runs one command, and has no use for the
//! others.

use clap::{ArgMatches, Command, Error, FromArgMatches, Subcommand};

use super::{command_flags, examples};

/// The verb of a noun.
#[derive(Debug)]
pub struct LazySubcommands<T>(pub T);

impl<T: Subcommand> Subcommand for LazySubcommands<T> {
    fn augment_subcommands(noun: Command) -> Command {
        noun.defer(with_verbs::<T>)
    }

    fn augment_subcommands_for_update(noun: Command) -> Command {
        Self::augment_subcommands(noun)
    }

    fn has_subcommand(name: &str) -> bool {
        T::has_subcommand(name)
    }
}

impl<T: FromArgMatches> FromArgMatches for LazySubcommands<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(Self)
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches_mut(matches).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

fn with_verbs<T: Subcommand>(noun: Command) -> Command {
    // What the list of commands says of it, not what the subcommands' own type does.
    let about = noun.get_about().cloned().unwrap_or_default();
    let name = noun.get_name().to_owned();
    T::augment_subcommands(noun).about(about).mut_subcommands(|verb| {
        let words = format!("{name} {}", verb.get_name());
        examples::added_to(command_flags::added_to(verb, &words), &words)
    })
}
