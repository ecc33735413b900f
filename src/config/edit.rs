//! Changes one setting of the file and leaves every other byte of it is.

use toml_edit::{Item, Key as Name, Table, TableLike};

use super::file::ConfigFile;
use super::keys::{self, CONFIG, PROFILE};
use super::settings::{origin, parse_base_url};
use crate::cli::GlobalArgs;
use crate::config::keys::ValueType;
use crate::config::validate;
use crate::context::Context;
use crate::failure::Failure;

const DEFAULT_PROFILE: &str = "default-profile";

/// A setting by its place in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPath {
    names: Vec<String>,
}

impl KeyPath {
    /// The setting that names the profile to use when none is named.
    pub fn default_profile() -> Self {
        Self { names: vec![DEFAULT_PROFILE.to_owned()] }
    }

    /// A whole profile.
    pub fn profile_table(profile: &str) -> Self {
        Self { names: vec!["profiles".to_owned(), profile.to_owned()] }
    }

    /// A setting of a profile.
    pub fn of_profile(profile: &str, key: &str) -> Self {
        Self { names: vec!["profiles".to_owned(), profile.to_owned(), key.to_owned()] }
    }

    /// Takes a path from the top of the file, or from the chosen profile.
    ///
    /// # Errors
    /// `usage` when it is no path, or begins in a profile and none is chosen.
    pub fn resolve(
        text: &str,
        file: &ConfigFile,
        context: &Context,
        global: &GlobalArgs,
    ) -> Result<Self, Failure> {
        let names = Name::parse(text).map_err(|_| {
            Failure::usage(format!("invalid key `{text}`")).hint("write a key such as profiles.shop.base-url")
        })?;
        let mut names: Vec<String> = names.iter().map(|name| name.get().to_owned()).collect();
        let from_top = names.first().is_some_and(|name| keys::find(CONFIG, name).is_some());
        if !from_top {
            let (profile, _) = file.chosen_name(context, global)?.ok_or_else(|| {
                Failure::usage(format!("no profile selected for `{text}`"))
                    .hint(format!("use -p NAME, or profiles.NAME.{text}"))
            })?;
            names.splice(0..0, ["profiles".to_owned(), profile]);
        }
        Ok(Self { names })
    }

    /// What the setting holds.
    ///
    /// # Errors
    /// `usage` for a key that is not known, with the nearest one.
    pub fn kind(&self) -> Result<ValueType, Failure> {
        let mut kind = ValueType::ALL;
        let mut path = String::new();
        for name in &self.names {
            let at = validate::join(&path, name);
            kind = match kind {
                ValueType::Profiles(profile) => {
                    validate::profile_name(name)
                        .map_err(|problem| Failure::usage(format!("{at}: {problem}")))?;
                    ValueType::Table(profile)
                }
                ValueType::Table(known) => {
                    let key = keys::find(known, name);
                    key.ok_or_else(|| Failure::usage(validate::unknown_key(&at, known, name)))?.kind
                }
                _ => return Err(Failure::usage(format!("`{path}` is not a table"))),
            };
            path = at;
        }
        Ok(kind)
    }

    /// The profile it is in, or is.
    pub fn profile(&self) -> Option<&str> {
        match self.names.as_slice() {
            [top, profile, ..] if top == "profiles" => Some(profile),
            _ => None,
        }
    }

    /// Whether it is [`Self::default_profile`].
    pub fn is_default_profile(&self) -> bool {
        *self == Self::default_profile()
    }

    /// The host of the profile it is in, as scheme, host and port.
    pub fn origin(&self, file: &ConfigFile) -> Option<String> {
        let text = Self::of_profile(self.profile()?, "base-url").find(file)?.as_str()?;
        parse_base_url(text).ok().map(|url| origin(&url))
    }

    /// Whether it is a whole profile.
    pub fn is_profile(&self) -> bool {
        self.profile().is_some() && self.names.len() == 2
    }

    /// What stands there.
    pub fn find<'a>(&self, file: &'a ConfigFile) -> Option<&'a Item> {
        let mut item = file.document.as_item();
        for name in &self.names {
            item = item.as_table_like()?.get(name)?;
        }
        Some(item)
    }
}

impl std::fmt::Display for KeyPath {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = self.names.iter().fold(String::new(), |path, name| validate::join(&path, name));
        out.write_str(&path)
    }
}

impl ConfigFile {
    /// Sets a value; tables on the way are made.
    ///
    /// # Errors
    /// `usage` when something on the way is no table.
    pub fn set(&mut self, key: &KeyPath, mut value: toml_edit::Value) -> Result<(), Failure> {
        let Some((last, way)) = key.names.split_last() else {
            return Ok(());
        };
        let mut table: &mut dyn TableLike = self.document.as_table_mut();
        for name in way {
            let inner = table.entry(name).or_insert_with(|| {
                let mut inner = Table::new();
                inner.set_implicit(name == "profiles");
                Item::Table(inner)
            });
            table = inner
                .as_table_like_mut()
                .ok_or_else(|| Failure::usage(format!("{key}: `{name}` is not a table")))?;
        }
        if let Some(Item::Value(old)) = table.get(last) {
            *value.decor_mut() = old.decor().clone();
        }
        // Inserting would replace the key too, and with it the comment above it.
        match table.get_mut(last) {
            Some(item) => *item = Item::Value(value),
            None => {
                table.insert(last, Item::Value(value));
            }
        }
        Ok(())
    }

    /// Takes a setting or a profile out; whether it was there.
    pub fn unset(&mut self, key: &KeyPath) -> bool {
        let Some((last, way)) = key.names.split_last() else {
            return false;
        };
        let mut table: &mut dyn TableLike = self.document.as_table_mut();
        for name in way {
            match table.get_mut(name).and_then(Item::as_table_like_mut) {
                Some(inner) => table = inner,
                None => return false,
            }
        }
        table.remove(last).is_some()
    }

    /// Leaves only one profile, in memory.
    pub fn keep_only(&mut self, profile: &str) {
        let others: Vec<String> = self.names().into_iter().map(str::to_owned).collect();
        for other in others.iter().filter(|name| *name != profile) {
            self.unset(&KeyPath::profile_table(other));
        }
    }

    /// There is a profile of that name, or else a failure that says who names it.
    pub fn require_profile(&self, name: &str, by: &str) -> Result<(), Failure> {
        if self.names().contains(&name) {
            return Ok(());
        }
        Err(self.no_such_profile(name, by))
    }

    /// A default profile that is gone is none.
    pub fn drop_dangling_default(&mut self) {
        let default = KeyPath::default_profile();
        let name = default.find(self).and_then(Item::as_str);
        if name.is_some_and(|name| !self.names().contains(&name)) {
            self.unset(&default);
        }
    }
}

/// The keys of a profile that name its tokens.
pub fn token_keys() -> impl Iterator<Item = &'static str> {
    PROFILE.iter().map(|key| key.name).filter(|name| name.contains("token"))
}
