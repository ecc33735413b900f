//! `config.toml`: found, read, checked against the table of keys, and taken apart into profiles.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use toml_edit::{DocumentMut, Item, TableLike};
use url::Url;

use super::keys::{self, Kind, PROFILE};
use super::value::Value;
use super::{base_url, files};
use crate::cli::GlobalArgs;
use crate::context::Context;
use crate::failure::Failure;
use crate::plan::request::Bearer;
use crate::token::Token;

/// The configuration file; one that is not there has no profiles.
pub struct ConfigFile {
    /// Where it is, or would be.
    pub path: PathBuf,
    /// Whether it is there.
    pub exists: bool,
    /// The file as it stands, comments and all.
    pub document: DocumentMut,
}

/// One `[profiles.NAME]`, every value checked.
#[derive(Debug, Clone)]
pub struct Profile {
    /// NAME.
    pub name: String,
    values: BTreeMap<String, Value>,
}

/// Where a profile says its token is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NamedToken {
    /// In the profile itself.
    Literal(Token),
    /// In this environment variable.
    Variable(String),
    /// In this file, as it is written in the profile.
    File(String),
    /// On the standard output of this program.
    Command(Vec<String>),
}

impl ConfigFile {
    /// Where the file is: `STOREFRONT_CONFIG`, or `config.toml` in the program's own directory.
    pub fn locate(context: &Context) -> Result<PathBuf, Failure> {
        match context.var("STOREFRONT_CONFIG")? {
            Some(path) => Ok(PathBuf::from(path)),
            None => Ok(context.directories()?.config.join("config.toml")),
        }
    }

    /// Reads the file. What it says is not checked yet, who may read it is.
    ///
    /// # Errors
    /// `usage` when it cannot be read, is no TOML, or holds a token that others may read.
    pub fn load(context: &Context) -> Result<Self, Failure> {
        Self::load_from(Self::locate(context)?)
    }

    fn load_from(path: PathBuf) -> Result<Self, Failure> {
        let Some(file) = files::read(&path)? else {
            return Ok(Self { path, exists: false, document: DocumentMut::new() });
        };
        let document = files::parse(&path, &file.text)?;
        let file_config = Self { path, exists: true, document };
        if file.open_to_others && file_config.holds_token() {
            return Err(files::too_open(&file_config.path));
        }
        Ok(file_config)
    }

    /// A file that `STOREFRONT_CONFIG` names is expected to be there.
    pub fn is_there_if_named(&self, context: &Context) -> Result<(), Failure> {
        if self.exists || context.var("STOREFRONT_CONFIG")?.is_none() {
            return Ok(());
        }
        let message = format!("{}, which STOREFRONT_CONFIG names, is not there", self.path.display());
        Err(Failure::usage(message).hint("storefront config init makes it"))
    }

    /// Whether a token stands in the file itself.
    pub fn holds_token(&self) -> bool {
        let secrets = || PROFILE.iter().filter(|key| matches!(key.kind, Kind::Secret));
        self.tables().any(|(_, profile)| {
            profile.as_table_like().is_some_and(|profile| secrets().any(|key| profile.contains_key(key.name)))
        })
    }

    /// The names of the profiles, in the order of the file.
    pub fn names(&self) -> Vec<&str> {
        self.tables().map(|(name, _)| name).collect()
    }

    fn tables(&self) -> impl Iterator<Item = (&str, &Item)> {
        let profiles = self.document.get("profiles").and_then(Item::as_table_like);
        profiles.into_iter().flat_map(TableLike::iter)
    }

    /// Checks the whole file and takes it apart.
    ///
    /// # Errors
    /// `usage` for the first unknown key, wrong type, bad value or doubled token, with its path.
    pub fn profiles(&self) -> Result<Vec<Profile>, Failure> {
        let mut values = BTreeMap::new();
        collect(self.document.as_table(), keys::CONFIG, "", &mut values)
            .map_err(|problem| self.problem(&problem))?;
        let mut profiles = Vec::new();
        for (name, table) in self.tables() {
            let mut values = BTreeMap::new();
            let path = format!("profiles.{name}.");
            if let Some(table) = table.as_table_like() {
                collect(table, PROFILE, &path, &mut values).map_err(|problem| self.problem(&problem))?;
            }
            let profile = Profile { name: name.to_owned(), values };
            profile.check_tokens().map_err(|problem| self.problem(&problem))?;
            profiles.push(profile);
        }
        Ok(profiles)
    }

    /// The profile that is named by flag, environment or `default-profile`; `None` where none is named.
    ///
    /// # Errors
    /// As [`Self::profiles`], and `usage` when there is no profile of that name.
    pub fn chosen(&self, context: &Context, global: &GlobalArgs) -> Result<Option<Profile>, Failure> {
        let profiles = self.profiles()?;
        let Some((name, by)) = self.chosen_name(context, global)? else {
            return Ok(None);
        };
        match profiles.into_iter().find(|profile| profile.name == name) {
            Some(profile) => Ok(Some(profile)),
            None => Err(self.no_such_profile(&name, by)),
        }
    }

    /// The name of the chosen profile and who names it, whether or not there is such a profile.
    pub fn chosen_name(
        &self,
        context: &Context,
        global: &GlobalArgs,
    ) -> Result<Option<(String, &'static str)>, Failure> {
        if let Some(name) = &global.profile {
            return Ok(Some((name.clone(), "--profile")));
        }
        if let Some(name) = context.var("STOREFRONT_PROFILE")? {
            return Ok(Some((name.to_owned(), "STOREFRONT_PROFILE")));
        }
        let default = self.document.get("default-profile").and_then(Item::as_str);
        Ok(default.map(|name| (name.to_owned(), "default-profile")))
    }

    /// The failure that there is no profile `name`, with the nearest name or all of them.
    pub fn no_such_profile(&self, name: &str, by: &str) -> Failure {
        let names = self.names();
        let hint = match keys::nearest(names.iter().copied(), name) {
            Some(near) => format!("did you mean {near}?"),
            None if names.is_empty() => format!("storefront config init -p {}", shell_words::quote(name)),
            None => format!("the profiles are {}", names.join(", ")),
        };
        Failure::usage(format!("{} has no profile {name:?}, which {by} names", self.path.display()))
            .hint(hint)
    }

    fn problem(&self, problem: &str) -> Failure {
        Failure::usage(format!("{}: {problem}", self.path.display()))
    }

    /// The directory that paths in the file are relative to.
    pub fn directory(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }
}

impl Profile {
    /// Where the service is.
    pub fn base_url(&self) -> Option<Url> {
        self.text("base-url").and_then(|text| base_url::parse(text).ok())
    }

    /// A text of any kind but a secret.
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.values.get(key) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    /// Whether a flag is set to `true`.
    pub fn flag(&self, key: &str) -> bool {
        self.values.get(key) == Some(&Value::Flag(true))
    }

    /// A whole number.
    pub fn count(&self, key: &str) -> Option<u32> {
        match self.values.get(key) {
            Some(Value::Count(count)) => Some(*count),
            _ => None,
        }
    }

    /// A time.
    pub fn seconds(&self, key: &str) -> Option<Duration> {
        match self.values.get(key) {
            Some(Value::Seconds(time)) => Some(*time),
            _ => None,
        }
    }

    /// A list of texts.
    pub fn list(&self, key: &str) -> Option<&[String]> {
        match self.values.get(key) {
            Some(Value::List(list)) => Some(list),
            _ => None,
        }
    }

    /// Where the profile says its token is, if it says so.
    pub fn named_token(&self, bearer: Bearer) -> Option<NamedToken> {
        let key = token_key(bearer);
        let of = |suffix: &str| format!("{key}{suffix}");
        if let Some(Value::Secret(token)) = self.values.get(key) {
            return Some(NamedToken::Literal(token.clone()));
        }
        let variable = self.text(&of("-env")).map(|name| NamedToken::Variable(name.to_owned()));
        let file = || self.text(&of("-file")).map(|path| NamedToken::File(path.to_owned()));
        let command = || self.list(&of("-command")).map(|argv| NamedToken::Command(argv.to_vec()));
        variable.or_else(file).or_else(command)
    }

    /// One token may be named once.
    fn check_tokens(&self) -> Result<(), String> {
        for key in [token_key(Bearer::Customer), token_key(Bearer::Admin)] {
            let named: Vec<&str> = self
                .values
                .keys()
                .filter_map(|name| name.strip_prefix(key).map(|rest| (name, rest)))
                .filter(|(_, rest)| rest.is_empty() || rest.starts_with('-'))
                .map(|(name, _)| name.as_str())
                .collect();
            if named.len() > 1 {
                return Err(format!(
                    "profiles.{}: {} name one token twice; keep one of them",
                    self.name,
                    named.join(" and ")
                ));
            }
        }
        Ok(())
    }
}

/// The key that holds the token of a kind, and begins the names of the others that do.
pub fn token_key(bearer: Bearer) -> &'static str {
    match bearer {
        Bearer::Customer => "token",
        Bearer::Admin => "admin-token",
    }
}

/// Reads the values of a table by their keys; tables inside give dotted keys. The error is `path: problem`.
fn collect(
    table: &dyn TableLike,
    known: &'static [keys::Key],
    path: &str,
    values: &mut BTreeMap<String, Value>,
) -> Result<(), String> {
    collect_under(table, known, path, "", values)
}

fn collect_under(
    table: &dyn TableLike,
    known: &'static [keys::Key],
    path: &str,
    prefix: &str,
    values: &mut BTreeMap<String, Value>,
) -> Result<(), String> {
    for (name, item) in table.iter() {
        let at = format!("{path}{prefix}{name}");
        let Some(key) = keys::find(known, name) else {
            return Err(unknown_key(&at, known, name));
        };
        let inner = || {
            item.as_table_like().ok_or_else(|| format!("{at}: expected a table, found {}", item.type_name()))
        };
        match key.kind {
            Kind::Table(keys) => collect_under(inner()?, keys, path, &format!("{prefix}{name}."), values)?,
            Kind::Profiles(_) => check_profiles(inner()?, &at)?,
            kind => {
                let value = kind.read(item).map_err(|problem| format!("{at}: {problem}"))?;
                values.insert(format!("{prefix}{name}"), value);
            }
        }
    }
    Ok(())
}

fn check_profiles(table: &dyn TableLike, path: &str) -> Result<(), String> {
    for (name, item) in table.iter() {
        check_profile_name(name).map_err(|problem| format!("{path}.{name}: {problem}"))?;
        if !item.is_table_like() {
            return Err(format!("{path}.{name}: expected a table, found {}", item.type_name()));
        }
    }
    Ok(())
}

/// Profile names become names of directories and words of commands.
pub fn check_profile_name(name: &str) -> Result<(), String> {
    let fits = |one: char| one.is_alphanumeric() || matches!(one, '-' | '_' | '.');
    let begins_well = name.chars().next().is_some_and(char::is_alphanumeric);
    if begins_well && name.chars().all(fits) && name.len() <= 64 {
        Ok(())
    } else {
        Err("a profile's name is letters, digits, -, _ and ., begins with a letter or digit, and has 64 bytes at most".to_owned())
    }
}

/// The sentence that a key is not known, with the nearest one.
pub fn unknown_key(path: &str, known: &[keys::Key], name: &str) -> String {
    match keys::nearest(known.iter().map(|key| key.name), name) {
        Some(near) => format!("{path}: unknown; did you mean {near}?"),
        None => format!(
            "{path}: unknown; known are {}",
            known.iter().map(|key| key.name).collect::<Vec<_>>().join(", ")
        ),
    }
}
