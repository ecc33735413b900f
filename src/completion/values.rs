//! Which values an argument can take, as far as this machine knows.

use std::ffi::{OsStr, OsString};

use clap::{Arg, Command};
use clap_complete::engine::{ArgValueCompleter, CompletionCandidate};
use serde_json::Value;

use crate::cli::{GlobalArgs, GlobalFlags, SharedArgs};
use crate::config::{self, ConfigFile, Key, SANDBOX, ServiceId, Settings};
use crate::context::Context;
use crate::plan::operation::{OPERATIONS, OperationSpec};
use crate::plan::validate::attribute::FRONTEND_INPUTS;
use crate::sanitize::sanitize_line;
use crate::session::local_service::data_file;
use crate::{sandbox, state};

/// The words typed so far, and what they were typed in.
struct CompletionContext {
    context: Context,
    global: GlobalArgs,
    /// The customer named by `--customer`.
    customer: Option<String>,
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
    ("snapshot", snapshots),
    ("delete", deletable_snapshots),
    ("fault", faults),
    ("key", config_keys),
];

/// The grammar, with completers attached to its arguments.
pub fn with_completers(command: Command) -> Command {
    command.mut_args(with_completer).mut_subcommands(with_completers)
}

/// The grammar, `help` completing its topics and the first words of commands.
pub fn with_help_topics(command: Command, topics: &[&'static str]) -> Command {
    let nouns = command.get_subcommands().map(|noun| noun.get_name().to_owned());
    let words: Vec<String> = topics.iter().map(|topic| (*topic).to_owned()).chain(nouns).collect();
    let complete =
        move |begun: &OsStr| filter_by_prefix(begun, words.iter().map(CompletionCandidate::new).collect());
    command.mut_subcommand("help", |help| {
        help.mut_arg("words", |words| words.add(ArgValueCompleter::new(complete)))
    })
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
        Self {
            context: Context::capture(),
            global: GlobalArgs::new(&GlobalFlags::find_in(&words), SharedArgs::default()),
            customer: named_customer(&words),
        }
    }

    /// Which service is meant, as the names of its files say.
    fn service_id(&self) -> Option<ServiceId> {
        if self.global.sandbox {
            let database = data_file(&self.context, None).ok()?;
            let dialect =
                config::chosen_dialect(&self.context, &self.global, &ConfigFile::load(&self.context)).ok()?;
            return Some(ServiceId::sandbox(&database, dialect.name));
        }
        self.settings().map(|settings| settings.service_id())
    }

    fn settings(&self) -> Option<Settings> {
        Settings::resolve(&self.context, &self.global, &ConfigFile::load(&self.context)).ok()
    }

    /// The name under which the service meant is remembered.
    fn service(&self) -> Option<String> {
        if self.global.sandbox {
            return Some(SANDBOX.to_owned());
        }
        self.settings().map(|settings| settings.service_name())
    }
}

fn profiles(asked: &CompletionContext) -> Vec<CompletionCandidate> {
    let Ok(file) = ConfigFile::load(&asked.context) else { return Vec::new() };
    file.names().into_iter().map(CompletionCandidate::new).collect()
}

/// What follows `--customer`, in either form.
fn named_customer(words: &[OsString]) -> Option<String> {
    let mut words = words.iter().map(|word| word.to_string_lossy());
    while let Some(word) = words.next() {
        match word.strip_prefix("--customer") {
            Some("") => return words.next().map(std::borrow::Cow::into_owned),
            Some(value) if value.starts_with('=') => return Some(value[1..].to_owned()),
            _ => {}
        }
    }
    None
}

/// Those of the sandbox's seed, or those that profiles name.
fn store_views(asked: &CompletionContext) -> Vec<CompletionCandidate> {
    if asked.global.sandbox {
        return sandbox::seeded_store_views().into_iter().map(CompletionCandidate::new).collect();
    }
    let profiles = ConfigFile::load(&asked.context).and_then(|file| file.profiles()).unwrap_or_default();
    let mut codes: Vec<String> = profiles.iter().filter_map(|profile| profile.text("store-view")).collect();
    codes.sort_unstable();
    codes.dedup();
    codes.into_iter().map(CompletionCandidate::new).collect()
}

fn operations(_: &CompletionContext) -> Vec<CompletionCandidate> {
    OPERATIONS.into_iter().map(OperationSpec::slug).map(CompletionCandidate::new).collect()
}

fn input_kinds(_: &CompletionContext) -> Vec<CompletionCandidate> {
    FRONTEND_INPUTS.iter().map(|kind| CompletionCandidate::new(kind.name)).collect()
}

fn addresses(asked: &CompletionContext) -> Vec<CompletionCandidate> {
    let remembered = asked
        .service()
        .map(|service| state::load_addresses(&asked.context, &service, asked.customer.as_deref()));
    let candidate = |(id, label): (String, Value)| {
        let label = sanitize_line(label.as_str().unwrap_or_default());
        CompletionCandidate::new(id).help(Some(label.into()))
    };
    remembered.into_iter().flatten().map(candidate).collect()
}

fn snapshots(asked: &CompletionContext) -> Vec<CompletionCandidate> {
    let names = asked.service_id().map(|service| state::snapshot_names(&asked.context, &service));
    names.into_iter().flatten().map(CompletionCandidate::new).collect()
}

fn deletable_snapshots(asked: &CompletionContext) -> Vec<CompletionCandidate> {
    let mut candidates = snapshots(asked);
    candidates.push(CompletionCandidate::new("all"));
    candidates
}

fn faults(_: &CompletionContext) -> Vec<CompletionCandidate> {
    // `late=MS` needs a value, `throttle[=SECONDS]` takes one.
    let kinds = sandbox::fault_kinds();
    let names = kinds.split(", ").map(|kind| match kind.split_once('=') {
        Some((name, _)) => name.strip_suffix('[').map_or_else(|| format!("{name}="), str::to_owned),
        None => kind.to_owned(),
    });
    names.map(CompletionCandidate::new).collect()
}

/// The keys of a profile, and those with their table before them.
fn config_keys(asked: &CompletionContext) -> Vec<CompletionCandidate> {
    let of = |key: &Key, prefix: &str| {
        CompletionCandidate::new(format!("{prefix}{}", key.name)).help(Some(key.doc.into()))
    };
    let mut candidates: Vec<_> = config::PROFILE.iter().map(|key| of(key, "")).collect();
    candidates.push(of(&config::DEFAULT_PROFILE, ""));
    for name in ConfigFile::load(&asked.context).iter().flat_map(ConfigFile::names) {
        candidates.extend(config::PROFILE.iter().map(|key| of(key, &format!("profiles.{name}."))));
    }
    candidates
}
