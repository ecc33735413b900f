//! Checks a table of the configuration against the keys that are known. Errors are `path: problem`.

use std::collections::BTreeMap;

use toml_edit::{Item, TableLike};

use super::keys::{self, Key};
use super::value::{Value, found};
use crate::config::keys::ValueType;
use crate::suggestion::closest_match;

/// The checked values of a table; those of tables inside have dotted keys. Profiles are checked, not collected.
pub fn values(table: &dyn TableLike, known: &[Key], path: &str) -> Result<BTreeMap<String, Value>, String> {
    let mut values = BTreeMap::new();
    for (name, item) in table.iter() {
        let at = join(path, name);
        let key = keys::find(known, name).ok_or_else(|| unknown_key(&at, known, name))?;
        match key.kind {
            ValueType::Table(inner) => {
                for (rest, value) in self::values(as_table(item, &at)?, inner, &at)? {
                    values.insert(format!("{name}.{rest}"), value);
                }
            }
            ValueType::Profiles(_) => check_profiles(as_table(item, &at)?, &at)?,
            kind => {
                let value = kind.read(item).map_err(|problem| format!("{at}: {problem}"))?;
                values.insert(name.to_owned(), value);
            }
        }
    }
    Ok(values)
}

fn check_profiles(table: &dyn TableLike, path: &str) -> Result<(), String> {
    for (name, item) in table.iter() {
        let at = join(path, name);
        profile_name(name).map_err(|problem| format!("{at}: {problem}"))?;
        as_table(item, &at)?;
    }
    Ok(())
}

/// Profile names become names of directories and words of commands.
pub fn profile_name(name: &str) -> Result<(), String> {
    let fits = |one: char| one.is_alphanumeric() || matches!(one, '-' | '_' | '.');
    let begins_well = name.chars().next().is_some_and(char::is_alphanumeric);
    if begins_well && name.chars().all(fits) && name.len() <= 64 {
        return Ok(());
    }
    Err(format!(
        "invalid profile name `{name}`: use letters, digits, `-`, `_` and `.`, start with a letter or digit, at most 64 bytes"
    ))
}

/// The sentence that a key is not known, with the nearest one.
pub fn unknown_key(path: &str, known: &[Key], name: &str) -> String {
    let names = || known.iter().map(|key| key.name);
    match closest_match(name, names()) {
        Some(near) => format!("unknown key `{path}`; did you mean `{near}`?"),
        None => format!("unknown key `{path}`; expected one of {}", names().collect::<Vec<_>>().join(", ")),
    }
}

/// A dotted path, quoted where TOML wants it.
pub fn join(path: &str, name: &str) -> String {
    let name = toml_edit::Key::new(name);
    if path.is_empty() { name.to_string() } else { format!("{path}.{name}") }
}

fn as_table<'a>(item: &'a Item, path: &str) -> Result<&'a dyn TableLike, String> {
    item.as_table_like().ok_or_else(|| format!("{path}: expected a table, found {}", found(item)))
}
