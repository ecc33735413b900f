//! Shell completion. The scripts only register this program: at each Tab the shell asks it, by
//! [`VARIABLE`], and it answers from its own grammar and files. It never asks the network or the sandbox.

mod values;

use clap_complete::Shell;
use clap_complete::env::{CompleteEnv, Shells};

use crate::failure::Failure;
use crate::system::context::Context;

/// Names the shell that asks. A name of our own, so that no existing variable turns a command into a completion request.
pub const VARIABLE: &str = crate::system::environment::COMPLETE;

/// The script that registers this program with a shell.
///
/// # Errors
/// `internal` where the shell has no engine.
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

/// Answers a shell that asks for completions on standard output; `false` when this run is no such question.
///
/// # Errors
/// What the engine says of a shell it does not know.
pub fn answer(
    context: &Context,
    grammar: fn() -> clap::Command,
    topics: &[&'static str],
) -> Result<bool, clap::Error> {
    let asked = context.var(VARIABLE).is_ok_and(|shell| shell.is_some());
    // Every script puts the words typed after two dashes.
    if !asked || std::env::args_os().nth(1).is_none_or(|argument| argument != "--") {
        return Ok(false);
    }
    let with_completers = || values::with_help_topics(values::with_completers(grammar()), topics);
    // Relative paths are completed from here.
    let directory = std::env::current_dir().ok();
    CompleteEnv::with_factory(with_completers)
        .var(VARIABLE)
        .try_complete(std::env::args_os(), directory.as_deref())
}
