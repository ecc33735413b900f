//! Refuses empty flag values: `--profile "$NAME"` with an unset variable must not mean another profile.

use clap::error::ErrorKind;
use clap::{Arg, ArgMatches, Command};

/// Value names of the flags that set a field of the input, whose empty text clears that field.
const FIELD_VALUES: [&str; 2] = ["TEXT", "LINE"];

/// Checks every flag of the command line, whichever command it belongs to.
///
/// # Errors
/// That the first flag with an empty value needs one.
pub fn refuse(grammar: &mut Command, matches: &ArgMatches) -> Result<(), clap::Error> {
    match find(grammar, matches) {
        None => Ok(()),
        Some(flag) => {
            let message = format!("a value is required for '{flag}' but it is empty");
            Err(grammar.error(ErrorKind::InvalidValue, message))
        }
    }
}

fn find(command: &Command, matches: &ArgMatches) -> Option<String> {
    let flags = command.get_arguments().filter(|arg| arg.get_long().is_some() && !sets_field(arg));
    for flag in flags {
        let id = flag.get_id().as_str();
        let values = matches.try_get_raw(id).ok().flatten();
        if values.is_some_and(|mut values| values.any(std::ffi::OsStr::is_empty)) {
            return Some(flag.to_string());
        }
    }
    let (name, inner) = matches.subcommand()?;
    find(command.find_subcommand(name)?, inner)
}

fn sets_field(arg: &Arg) -> bool {
    let names = arg.get_value_names().unwrap_or_default();
    names.iter().any(|name| FIELD_VALUES.contains(&name.as_str()))
}
