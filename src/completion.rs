//! Shell completion. The scripts only register this program: at each Tab the shell asks it, through [`VARIABLE`], and it
//! answers from its own grammar and files. It never asks the network or the sandbox.

use std::collections::BTreeSet;
use std::ffi::OsString;

use clap::{Arg, ArgMatches, Command};
use clap_complete::Shell;
use clap_complete::engine::{ArgValueCandidates, CompletionCandidate};
use clap_complete::env::{CompleteEnv, Shells};
use serde_json::Value;

use crate::cli::{GlobalArgs, GlobalFlags};
use crate::client::local_service::data_file;
use crate::config::{self, ConfigFile, Key, Loaded, SANDBOX, ServiceId, Settings};
use crate::log::WriteLog;
use crate::system::context::Context;
use storefront_core::attribute::rules::FRONTEND_INPUTS;
use storefront_core::failure::Failure;
use storefront_core::operation::{OPERATIONS, OperationSpec};
use storefront_core::text::sanitize::sanitize_line;

/// The variable with the name of the shell that asks. It has a name of its own, so that no existing variable turns a
/// command into a completion request.
pub const VARIABLE: &str = crate::system::environment::COMPLETE;

/// The script that registers this program with a shell.
///
/// # Errors
/// `internal` if the shell is not supported.
pub fn script(shell: Shell) -> Result<String, Failure> {
    let mut script = Vec::new();
    let engines = Shells::builtins();
    let engine = engines
        .completer(&shell.to_string())
        .ok_or_else(|| Failure::internal(format!("completions for {shell} are not supported")))?;
    let name = env!("CARGO_PKG_NAME");
    engine
        .write_registration(VARIABLE, name, name, name, &mut script)
        .map_err(|error| Failure::internal(format!("cannot generate the script: {error}")))?;
    Ok(String::from_utf8_lossy(&script).trim().to_owned() + "\n")
}

/// Answers a shell that asks for completions on standard output; `false` if this run is not such a question.
///
/// # Errors
/// The engine's error for an unknown shell.
pub fn answer(context: &Context, grammar: fn() -> Command) -> Result<bool, clap::Error> {
    let asked = context.var(VARIABLE).is_ok_and(|shell| shell.is_some());
    // Every script puts the typed words after two dashes.
    if !asked || std::env::args_os().nth(1).is_none_or(|argument| argument != "--") {
        return Ok(false);
    }
    // Relative paths are completed from this directory.
    let directory = std::env::current_dir().ok();
    CompleteEnv::with_factory(|| with_candidates(grammar()))
        .var(VARIABLE)
        .try_complete(std::env::args_os(), directory.as_deref())
}

/// The words typed so far, and the surroundings.
struct CompletionContext {
    context: Context,
    global: GlobalArgs,
    config: Loaded,
    /// The customer named by `--customer`.
    customer: Option<String>,
}

/// The values of an argument.
type Values = fn(&CompletionContext) -> Vec<CompletionCandidate>;

/// Arguments, by their ids in the grammar, whose values are known.
const COMPLETED: [(&str, Values); 12] = [
    ("profile", |asked| plain(profiles(asked))),
    ("name", |asked| plain(profiles(asked))),
    ("store_view", store_views),
    ("operation", |_| plain(OPERATIONS.into_iter().map(OperationSpec::slug))),
    ("type", |_| plain(FRONTEND_INPUTS.iter().map(|kind| kind.name))),
    ("address", addresses),
    ("remove_addresses", addresses),
    ("ship_to_address", addresses),
    ("bill_to_address", addresses),
    ("what", |asked| plain(updates(asked).into_iter().chain(journals()))),
    ("fault", faults),
    ("key", config_keys),
];

/// The grammar, with the known values attached to its arguments.
fn with_candidates(command: Command) -> Command {
    let attach = |argument: Arg| match COMPLETED.iter().find(|(id, _)| argument.get_id() == *id) {
        Some((_, values)) => argument.add(ArgValueCandidates::new(|| values(&CompletionContext::now()))),
        None => argument,
    };
    command.mut_args(attach).mut_subcommands(with_candidates)
}

/// Values without an explanation.
fn plain(values: impl IntoIterator<Item = impl Into<OsString>>) -> Vec<CompletionCandidate> {
    values.into_iter().map(CompletionCandidate::new).collect()
}

impl CompletionContext {
    fn now() -> Self {
        let words: Vec<_> = std::env::args_os().skip_while(|word| word != "--").skip(2).collect();
        let context = Context::capture();
        let flags = GlobalFlags::find_in(&words);
        Self {
            config: ConfigFile::load(&context),
            global: GlobalArgs::new(&flags, &Command::default(), &ArgMatches::default()),
            customer: named_customer(&words),
            context,
        }
    }

    fn settings(&self) -> Option<Settings> {
        Settings::resolve(&self.context, &self.global, &self.config).ok()
    }
}

fn profiles(asked: &CompletionContext) -> Vec<String> {
    asked.config.iter().flat_map(ConfigFile::names).map(str::to_owned).collect()
}

/// The word after `--customer` and a blank or `=`.
fn named_customer(words: &[OsString]) -> Option<String> {
    let split = |word: &OsString| -> Vec<String> {
        word.to_string_lossy().splitn(2, '=').map(str::to_owned).collect()
    };
    words.iter().flat_map(split).skip_while(|part| part != "--customer").nth(1)
}

/// The store views of the sandbox's seed, or those that profiles name.
fn store_views(asked: &CompletionContext) -> Vec<CompletionCandidate> {
    if asked.global.flags.sandbox {
        return plain(storefront_sandbox::seeded_store_views());
    }
    let profiles = asked.config.as_ref().ok().and_then(|file| file.profiles().ok()).unwrap_or_default();
    let codes: BTreeSet<String> = profiles.iter().filter_map(|profile| profile.text("store-view")).collect();
    plain(codes)
}

/// The addresses seen last at the chosen service.
fn addresses(asked: &CompletionContext) -> Vec<CompletionCandidate> {
    let sandbox = asked.global.flags.sandbox.then(|| SANDBOX.to_owned());
    let service = sandbox.or_else(|| Some(asked.settings()?.service_name()));
    let log = WriteLog::to_read(&asked.context).ok().flatten();
    let remembered =
        log.zip(service).map(|(log, service)| log.seen_addresses(&service, asked.customer.as_deref()));
    let candidate = |(id, label): (String, Value)| {
        let label = sanitize_line(label.as_str().unwrap_or_default());
        CompletionCandidate::new(id).help(Some(label.into()))
    };
    remembered.into_iter().flatten().map(candidate).collect()
}

/// The updates of the chosen service.
fn updates(asked: &CompletionContext) -> Vec<String> {
    let service = if asked.global.flags.sandbox {
        let database = data_file(&asked.context, None).ok();
        let dialect = config::chosen_dialect(&asked.context, &asked.global, &asked.config).ok();
        database.zip(dialect).map(|(database, dialect)| ServiceId::sandbox(&database, dialect.name))
    } else {
        asked.settings().map(|settings| settings.service_id())
    };
    let log = WriteLog::to_read(&asked.context).ok().flatten();
    let names = log.zip(service).and_then(|(log, service)| log.write_names(&service.to_string()).ok());
    names.into_iter().flatten().map(|name| name.to_string()).collect()
}

/// The journals in the working directory.
fn journals() -> Vec<String> {
    let files = std::fs::read_dir(".").into_iter().flatten().flatten();
    let names = files.filter_map(|file| file.file_name().into_string().ok());
    names.filter(|name| name.ends_with(".journal")).collect()
}

fn faults(_: &CompletionContext) -> Vec<CompletionCandidate> {
    // `late=MS` needs a value, `throttle[=SECONDS]` takes one.
    let name = |kind: &str| match kind.split_once('=') {
        Some((name, _)) => name.strip_suffix('[').map_or_else(|| format!("{name}="), str::to_owned),
        None => kind.to_owned(),
    };
    plain(storefront_sandbox::fault_kinds().split(", ").map(name))
}

/// The keys of a profile, alone and after the names of profiles.
fn config_keys(asked: &CompletionContext) -> Vec<CompletionCandidate> {
    let of = |key: &Key, prefix: &str| {
        CompletionCandidate::new(format!("{prefix}{}", key.name)).help(Some(key.doc.into()))
    };
    let mut candidates: Vec<_> = config::PROFILE.iter().map(|key| of(key, "")).collect();
    candidates.push(of(&config::DEFAULT_PROFILE, ""));
    for name in profiles(asked) {
        candidates.extend(config::PROFILE.iter().map(|key| of(key, &format!("profiles.{name}."))));
    }
    candidates
}
