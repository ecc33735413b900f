//! Which values an argument can take, as far as this machine knows.

use std::ffi::OsStr;

use clap::{Arg, Command};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};

use crate::cli::GlobalArgs;
use crate::config::{ConfigFile, SANDBOX, Settings};
use crate::context::Context;
use crate::plan::operation::Operation;
use crate::plan::validate::frontend_input::FRONTEND_INPUTS;
use crate::sanitize::sanitize_line;
use crate::{sandbox, state};

/// The words typed so far, and what they were typed in.
struct CompletionContext {
    context: Context,
    global: GlobalArgs,
}

/// Finds the values of an argument.
type Finder = fn(&CompletionContext) -> Vec<CompletionCandidate>;

/// Arguments, by their ids in the grammar, whose values are known.
const COMPLETERS: &[(&str, Finder)] = &[
    ("profile", profiles),
    ("name", profiles),
    ("store_view", store_views),
    ("operation", operations),
    ("type", input_kinds),
    ("address", addresses),
    ("remove_addresses", addresses),
    ("ship_to_address", addresses),
    ("bill_to_address", addresses),
];

/// The grammar, its arguments told where to look for values.
pub fn with_completers(command: Command) -> Command {
    command.mut_args(with_completer).mut_subcommands(with_completers)
}

fn with_completer(argument: Arg) -> Arg {
    match COMPLETERS.iter().find(|(id, _)| argument.get_id() == id) {
        Some((_, finder)) => argument.add(ArgValueCompleter::new(|begun: &OsStr| {
            filter_by_prefix(begun, finder(&CompletionContext::now()))
        })),
        None => argument,
    }
}

fn filter_by_prefix(begun: &OsStr, mut candidates: Vec<CompletionCandidate>) -> Vec<CompletionCandidate> {
    let begun = begun.to_string_lossy();
    candidates.retain(|candidate| candidate.get_value().to_string_lossy().starts_with(&*begun));
    candidates
}

impl CompletionContext {
    fn now() -> Self {
        let words: Vec<_> = std::env::args_os().skip_while(|word| word != "--").skip(2).collect();
        Self { context: Context::capture(), global: GlobalArgs::find_in(&words) }
    }

    /// The name under which the service meant is remembered.
    fn service(&self) -> Option<String> {
        if self.global.sandbox {
            return Some(SANDBOX.to_owned());
        }
        Settings::resolve(&self.context, &self.global).ok().map(|settings| settings.service_name())
    }
}

fn profiles(asked: &CompletionContext) -> Vec<CompletionCandidate> {
    let Ok(file) = ConfigFile::load(&asked.context) else { return Vec::new() };
    file.names().into_iter().map(CompletionCandidate::new).collect()
}

/// Those of the sandbox's seed, or those that profiles name.
fn store_views(asked: &CompletionContext) -> Vec<CompletionCandidate> {
    if asked.global.sandbox {
        return sandbox::seeded_store_views().into_iter().map(CompletionCandidate::new).collect();
    }
    let profiles = ConfigFile::load(&asked.context).and_then(|file| file.profiles()).unwrap_or_default();
    let mut codes: Vec<&str> = profiles.iter().filter_map(|profile| profile.text("store-view")).collect();
    codes.sort_unstable();
    codes.dedup();
    codes.into_iter().map(CompletionCandidate::new).collect()
}

fn operations(_: &CompletionContext) -> Vec<CompletionCandidate> {
    Operation::ALL.into_iter().map(Operation::slug).map(CompletionCandidate::new).collect()
}

fn input_kinds(_: &CompletionContext) -> Vec<CompletionCandidate> {
    FRONTEND_INPUTS.iter().map(|kind| CompletionCandidate::new(kind.name)).collect()
}

fn addresses(asked: &CompletionContext) -> Vec<CompletionCandidate> {
    let remembered = asked.service().map(|service| state::load_addresses(&asked.context, &service));
    let candidate = |address: state::CachedAddress| {
        CompletionCandidate::new(address.id.to_string()).help(Some(sanitize_line(&address.label).into()))
    };
    remembered.into_iter().flatten().map(candidate).collect()
}
