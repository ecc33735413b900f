//! The tokens of `auth login`, apart from the settings, each with the host it was meant for.

use std::path::PathBuf;

use jiff::Timestamp;
use toml_edit::{DocumentMut, Item, Table, value};

use super::file::{ConfigFile, parse_toml, read_text, update_file};
use super::profile::token_key;
use crate::system::context::Context;
use crate::system::storage::real_path;
use storefront_core::failure::Failure;
use storefront_core::hint::{hint, storefront};
use storefront_core::interface::request::Bearer;
use storefront_core::text::hash::fnv1a;
use storefront_core::text::token::Credential;

/// The stored tokens.
pub struct Credentials {
    /// The path of the file, which may not exist.
    pub path: PathBuf,
    document: DocumentMut,
}

/// A stored token.
#[derive(Debug, Clone)]
pub struct Stored {
    /// The token.
    pub token: Credential,
    /// The scheme, host and port that it is for.
    pub origin: String,
    /// When it expires, if known.
    pub expires: Option<Timestamp>,
}

impl Credentials {
    /// Reads the file; a missing one is empty.
    ///
    /// # Errors
    /// `usage` when it cannot be read, is not TOML, or can be read or written by others.
    pub fn load(context: &Context) -> Result<Self, Failure> {
        let path = Self::locate(context)?;
        let document = match read_text(&path, true)? {
            None => DocumentMut::new(),
            Some((text, _)) => parse_toml(&path, &text).map_err(|failure| {
                failure.hint(hint!(
                    "correct the file, or move it away and run ",
                    storefront("auth login"),
                    " again"
                ))
            })?,
        };
        Ok(Self { path, document })
    }

    /// The path of the file: in the program's own directory, one for each configuration file. A named configuration may
    /// be in a repository, where no token belongs.
    fn locate(context: &Context) -> Result<PathBuf, Failure> {
        let own = ConfigFile::default_path(context)?;
        let named = ConfigFile::locate(context)?;
        let own = real_path(&own);
        let named = real_path(&named);
        let hash = || format!("credentials-{:016x}.toml", fnv1a(named.to_string_lossy().as_bytes()));
        let name = if named == own { "credentials.toml".to_owned() } else { hash() };
        Ok(context.directories()?.credentials.join(name))
    }

    /// Reads the file, changes it and writes it, under its lock: changes of other processes are kept.
    fn update<T>(context: &Context, change: impl FnOnce(&mut DocumentMut) -> T) -> Result<T, Failure> {
        update_file(&Self::locate(context)?, || {
            let mut credentials = Self::load(context)?;
            let changed = change(&mut credentials.document);
            Ok((credentials.document.to_string(), true, changed))
        })
    }

    /// The token stored for a profile.
    ///
    /// # Errors
    /// `usage` when the entry is not what `auth login` writes.
    pub fn find(&self, profile: &str, bearer: Bearer) -> Result<Option<Stored>, Failure> {
        let key = token_key(bearer);
        let Some(entry) = self.document.get(profile).and_then(|profile| profile.get(key)) else {
            return Ok(None);
        };
        let text = |name: &str| entry.get(name).and_then(Item::as_str);
        let (Some(token), Some(origin)) = (text("value").and_then(Credential::new), text("origin")) else {
            let path = self.path.display();
            let message = format!("{path}: {profile}.{key}: expected the texts origin and value");
            let [logout, login] =
                ["auth logout -p", "auth login -p"].map(|words| storefront(words).arg(profile));
            return Err(Failure::usage(message).hint(hint!("run ", logout, ", then ", login)));
        };
        let expires = text("expires").and_then(|time| time.parse().ok()).or_else(|| token.expires_at());
        Ok(Some(Stored { token, origin: origin.to_owned(), expires }))
    }

    /// Stores a token for a profile and the host of its base URL.
    ///
    /// # Errors
    /// As [`Self::load`]; `unavailable` when another process keeps the lock, `internal` when the file cannot be written.
    pub fn store(context: &Context, profile: &str, bearer: Bearer, stored: &Stored) -> Result<(), Failure> {
        Self::update(context, |document| {
            let mut entry = Table::new();
            entry.insert("origin", value(&stored.origin));
            entry.insert("value", value(&*stored.token.expose()));
            if let Some(expires) = stored.expires {
                entry.insert("expires", value(expires.to_string()));
            }
            let tokens = document.remove(profile).and_then(|tokens| tokens.into_table().ok());
            let mut tokens = tokens.unwrap_or_default();
            tokens.set_implicit(true);
            tokens.insert(token_key(bearer), Item::Table(entry));
            document.insert(profile, Item::Table(tokens));
        })
    }

    /// Deletes stored tokens of a profile; returns those that existed.
    ///
    /// # Errors
    /// As [`Self::store`].
    pub fn delete(context: &Context, profile: &str, bearers: &[Bearer]) -> Result<Vec<Bearer>, Failure> {
        if Self::load(context)?.document.get(profile).is_none() {
            return Ok(Vec::new());
        }
        Self::update(context, |document| {
            let Some(tokens) = document.get_mut(profile).and_then(Item::as_table_like_mut) else {
                return Vec::new();
            };
            let stored = bearers.iter().filter(|bearer| tokens.remove(token_key(**bearer)).is_some());
            let deleted = stored.copied().collect();
            if tokens.is_empty() {
                document.remove(profile);
            }
            deleted
        })
    }
}
