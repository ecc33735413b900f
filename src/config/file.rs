//! `config.toml`: found, read, checked against the table of keys, and taken apart into profiles.

use std::cell::Cell;
use std::fmt;
use std::path::{Path, PathBuf};

use toml_edit::{DocumentMut, Item, TableLike};

use super::files;
use super::keys::{CONFIG, PROFILE};
use super::profile::Profile;
use super::text_style::TextStyle;
use super::update::UpdateLock;
use crate::cli::GlobalArgs;
use crate::config::keys::ValueType;
use crate::config::validate;
use crate::context::Context;
use crate::environment;
use crate::failure::Failure;
use crate::shell::Shell;
use crate::suggestion::closest_match;

const FILE: &str = "config.toml";

/// The configuration file as it was read to find out which interface the service has, for the next reader.
#[derive(Default)]
pub struct ReadOnce(Cell<Option<ConfigFile>>);

impl ReadOnce {
    /// Keeps a file; one that is not there is looked for again.
    pub(super) fn keep(&self, file: ConfigFile) {
        self.0.set(Some(file).filter(|file| file.exists));
    }

    /// The file, the first time this is asked.
    pub(super) fn take(&self) -> Option<ConfigFile> {
        self.0.take()
    }

    /// Forgets the file: it may be changed before it is needed.
    pub fn forget(&self) {
        self.0.take();
    }
}

impl fmt::Debug for ReadOnce {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ReadOnce").finish_non_exhaustive()
    }
}

/// The configuration file; one that is not there has no profiles.
pub struct ConfigFile {
    /// Where it is, or would be.
    pub path: PathBuf,
    /// Whether it is there.
    pub exists: bool,
    /// The file unchanged, comments and all.
    pub document: DocumentMut,
    style: TextStyle,
}

impl ConfigFile {
    /// Where the file is: `STOREFRONT_CONFIG`, or `config.toml` in the program's own directory.
    pub fn locate(context: &Context) -> Result<PathBuf, Failure> {
        match context.var(environment::CONFIG)? {
            Some(path) => Ok(PathBuf::from(path)),
            None => Ok(context.directories()?.config.join(FILE)),
        }
    }

    /// Reads the file. What it says is not checked yet, who may read it is.
    ///
    /// # Errors
    /// `usage` when it cannot be read, is no TOML, is owned or can be written by another user, or holds a token that
    /// others can read.
    pub fn load(context: &Context) -> Result<Self, Failure> {
        Self::load_from(Self::locate(context)?)
    }

    /// As [`Self::load`]; a file that `STOREFRONT_CONFIG` names is expected to be there.
    pub fn load_named(context: &Context) -> Result<Self, Failure> {
        let file = Self::load(context)?;
        if file.exists || context.var(environment::CONFIG)?.is_none() {
            return Ok(file);
        }
        let message = format!("`{}` (from STOREFRONT_CONFIG) does not exist", file.path.display());
        Err(Failure::usage(message).hint("create it with `storefront config init`"))
    }

    /// As [`Self::load`], where the environment gives all that is needed: a file nobody named, in a home that is
    /// not known or not ours, is none.
    pub fn load_if_reachable(context: &Context) -> Result<Self, Failure> {
        let named = context.var(environment::CONFIG)?.is_some();
        let own = context.directories.as_ref().map(|directories| directories.config.join(FILE));
        match own {
            _ if named => Self::load(context),
            None => Ok(Self::empty(PathBuf::from(FILE))),
            Some(own) => match Self::load_from(own) {
                Err(_) if files::is_unreadable(&Self::locate(context)?) => {
                    Ok(Self::empty(PathBuf::from(FILE)))
                }
                loaded => loaded,
            },
        }
    }

    fn load_from(path: PathBuf) -> Result<Self, Failure> {
        let Some(file) = files::read(&path)? else {
            return Ok(Self::empty(path));
        };
        let config = Self::parse(path, &file.text)?;
        if config.holds_token() {
            file.exposure.require_private(&config.path)?;
        }
        Ok(config)
    }

    fn empty(path: PathBuf) -> Self {
        Self { path, exists: false, document: DocumentMut::new(), style: TextStyle::default() }
    }

    /// Reads the file, changes it and writes it, under its lock: changes of other processes are kept. `change` must not
    /// wait for a person. Gives the file as written and what `change` gave.
    ///
    /// A change may not break what was sound; what was broken before may be fixed step by step.
    ///
    /// # Errors
    /// As [`Self::load`] and `change`; `usage` for a change that breaks the file, `unavailable` when another process
    /// keeps the lock, `internal` when it cannot be written.
    pub fn update<T>(
        context: &Context,
        change: impl FnOnce(&mut Self) -> Result<T, Failure>,
    ) -> Result<(Self, T), Failure> {
        let lock = UpdateLock::acquire(&Self::locate(context)?)?;
        let mut file = Self::load(context)?;
        let was_sound = file.profiles().is_ok();
        let changed = change(&mut file)?;
        if was_sound {
            file.profiles()?;
        }
        lock.replace(&file.style.apply(&file.document.to_string()), file.holds_token())?;
        Ok((file, changed))
    }

    /// The file as a text has it. What it says is not checked yet.
    ///
    /// # Errors
    /// `usage`, with line and column, when the text is no TOML.
    pub fn parse(path: PathBuf, text: &str) -> Result<Self, Failure> {
        let document = files::parse(&path, text)?;
        Ok(Self { path, exists: true, document, style: TextStyle::of(text) })
    }

    /// Whether a token stands in the file itself.
    pub fn holds_token(&self) -> bool {
        let secrets = || PROFILE.iter().filter(|key| matches!(key.kind, ValueType::Secret));
        self.tables().any(|(_, profile)| {
            profile.as_table_like().is_some_and(|profile| secrets().any(|key| profile.contains_key(key.name)))
        })
    }

    /// The environment variables that hold tokens of any profile.
    pub fn token_variables(&self) -> Vec<String> {
        let keys = ["token-env", "admin-token-env"];
        let named = |profile: &Item, key: &str| profile.get(key)?.as_str().map(str::to_owned);
        self.tables()
            .flat_map(|(_, profile)| keys.into_iter().filter_map(|key| named(profile, key)))
            .collect()
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
        let problem = |problem: String| Failure::usage(format!("{}: {problem}", self.path.display()));
        validate::values(self.document.as_table(), CONFIG, "").map_err(problem)?;
        self.tables()
            .filter_map(|(name, item)| item.as_table_like().map(|table| (name, table)))
            .map(|(name, table)| Profile::read(name, table).map_err(problem))
            .collect()
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
        if let Some(name) = context.var(environment::PROFILE)? {
            return Ok(Some((name.to_owned(), environment::PROFILE)));
        }
        let default = self.document.get("default-profile").and_then(Item::as_str);
        Ok(default.map(|name| (name.to_owned(), "default-profile")))
    }

    /// The failure that there is no profile `name`, with the nearest name or all of them.
    pub fn no_such_profile(&self, name: &str, by: &str) -> Failure {
        let names = self.names();
        let hint = match closest_match(name, names.iter().copied()) {
            Some(near) => format!("did you mean `{near}`?"),
            None if names.is_empty() => format!("storefront config init -p {}", Shell::NATIVE.quote(name)),
            None => format!("available profiles: {}", names.join(", ")),
        };
        Failure::usage(format!("no profile `{name}` in {} (from {by})", self.path.display())).hint(hint)
    }

    /// The failure that no profile is chosen: the ways in.
    pub fn no_profile_selected(&self) -> Failure {
        let names = self.names();
        if !names.is_empty() {
            return Failure::usage(format!("no profile selected (available: {})", names.join(", ")))
                .hint("use -p NAME, set a default with `storefront config use NAME`, or use --sandbox");
        }
        let path = self.path.display();
        let state = if self.exists { "has no profile" } else { "does not exist" };
        Failure::usage(format!(
            "no service configured: set STOREFRONT_BASE_URL, use --sandbox, or create a profile ({path} {state})"
        ))
        .hint(
            "to try it with no account, add --sandbox; for a real service, run `storefront config init`, \
             or set STOREFRONT_BASE_URL and STOREFRONT_TOKEN",
        )
    }

    /// The directory that paths in the file are relative to.
    pub fn directory(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }
}
