//! Nouns whose grammar is made when they are asked for: most calls use one of them.

use clap::error::Error;
use clap::{ArgMatches, Command, FromArgMatches, Subcommand};

/// The commands of a noun, made when the noun is typed, or when the whole grammar is built for a page or a shell.
#[derive(Debug)]
pub struct Lazy<T>(pub T);

impl<T: FromArgMatches> FromArgMatches for Lazy<T> {
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

impl<T: Subcommand> Subcommand for Lazy<T> {
    fn augment_subcommands(noun: Command) -> Command {
        noun.defer(T::augment_subcommands)
    }

    fn augment_subcommands_for_update(noun: Command) -> Command {
        noun.defer(T::augment_subcommands_for_update)
    }

    fn has_subcommand(name: &str) -> bool {
        T::has_subcommand(name)
    }
}
