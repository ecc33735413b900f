//! Parts of the grammar that are made only once they are typed: a process runs one command, and has no use for the flags
//! of the others.

use std::ops::Deref;

use clap::builder::Resettable;
use clap::{Arg, ArgMatches, Args, Command, Error, FromArgMatches, Subcommand};

use super::{command_flags, examples};

/// The verbs of a noun.
#[derive(Debug)]
pub struct LazySubcommands<T>(pub T);

/// What a command takes, beside its global flags: its own arguments, the shared flags of [`command_flags`], and its
/// examples.
#[derive(Debug)]
pub struct LazyArgs<T>(pub Box<T>);

/// The arguments of a command that has none of its own.
#[derive(Debug, Args)]
pub struct NoArgs {}

impl<T> Deref for LazyArgs<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

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

impl<T: Args> Args for LazyArgs<T> {
    fn augment_args(command: Command) -> Command {
        command.defer(with_args::<T>)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
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

impl<T: FromArgMatches> FromArgMatches for LazyArgs<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches(matches).map(|args| Self(Box::new(args)))
    }

    fn from_arg_matches_mut(matches: &mut ArgMatches) -> Result<Self, Error> {
        T::from_arg_matches_mut(matches).map(|args| Self(Box::new(args)))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        self.0.update_from_arg_matches(matches)
    }
}

/// Tells each subcommand its words, `storefront quote ship`, which [`with_args`] looks its flags and examples up by.
pub fn with_words(parent: Command) -> Command {
    let before = parent.get_bin_name().unwrap_or_default().to_owned();
    parent.mut_subcommands(|command| {
        let words = format!("{before} {}", command.get_name());
        command.bin_name(words)
    })
}

fn with_verbs<T: Subcommand>(noun: Command) -> Command {
    with_words(keeping_about(noun, T::augment_subcommands))
}

fn with_args<T: Args>(command: Command) -> Command {
    let name = command.get_bin_name().unwrap_or_default();
    let words = name.split_once(' ').map_or(name, |(_program, words)| words).to_owned();
    let inherited = command.get_arguments().count();
    let command = command_flags::added_to(keeping_about(command, T::augment_args), &words);
    if command.is_disable_help_flag_set() {
        return command;
    }
    examples::added_to(with_global_flags_last(command, inherited), &words)
}

/// Help lists flags in the order they were added in, and clap has already added the global ones.
fn with_global_flags_last(command: Command, global: usize) -> Command {
    let mut flags: Vec<Arg> = command.get_arguments().cloned().collect();
    flags.rotate_left(global);
    let mut flags = flags.into_iter();
    command.mut_args(|flag| flags.next().unwrap_or(flag))
}

/// What the list of commands says of it stays, not what its arguments' own type says.
fn keeping_about(command: Command, augment: fn(Command) -> Command) -> Command {
    let (about, long_about) = (command.get_about().cloned(), command.get_long_about().cloned());
    augment(command).about(Resettable::from(about)).long_about(Resettable::from(long_about))
}
