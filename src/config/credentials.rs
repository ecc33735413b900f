//! `credentials.toml`: the tokens of `auth login`, apart from the settings, each with the host it was meant for.

use std::path::PathBuf;

use toml_edit::{DocumentMut, Item, Table, value};

use super::files;
use super::profile::token_key;
use crate::context::Context;
use crate::failure::Failure;
use crate::plan::request::Bearer;
use crate::token::Token;

/// The stored tokens.
pub struct Credentials {
    /// Where they are, or would be.
    pub path: PathBuf,
    document: DocumentMut,
}

/// A stored token.
#[derive(Debug, Clone)]
pub struct Stored {
    /// The token.
    pub token: Token,
    /// Scheme, host and port it was meant for.
    pub origin: String,
}

impl Credentials {
    /// Reads the file; one that is not there holds nothing.
    ///
    /// # Errors
    /// `usage` when it cannot be read, is no TOML, or may be read by others.
    pub fn load(context: &Context) -> Result<Self, Failure> {
        let path = context.directories()?.config.join("credentials.toml");
        let document = match files::read(&path)? {
            None => DocumentMut::new(),
            Some(file) if file.open_to_others => return Err(files::too_open(&path)),
            Some(file) => files::parse(&path, &file.text)?,
        };
        Ok(Self { path, document })
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
        match (text("value").and_then(Token::new), text("origin")) {
            (Some(token), Some(origin)) => Ok(Some(Stored { token, origin: origin.to_owned() })),
            _ => Err(Failure::usage(format!(
                "{}: {profile}.{key}: expected the texts origin and value",
                self.path.display()
            ))
            .hint(format!("storefront auth logout -p {profile}, then storefront auth login -p {profile}"))),
        }
    }

    /// Stores a token for a profile and the host of its base URL.
    ///
    /// # Errors
    /// `internal` when the file cannot be written.
    pub fn store(&mut self, profile: &str, bearer: Bearer, stored: &Stored) -> Result<(), Failure> {
        let mut entry = Table::new();
        entry.insert("origin", value(&stored.origin));
        entry.insert("value", value(stored.token.expose()));
        let mut tokens = match self.document.remove(profile) {
            Some(Item::Table(table)) => table,
            _ => Table::new(),
        };
        tokens.set_implicit(true);
        tokens.insert(token_key(bearer), Item::Table(entry));
        self.document.insert(profile, Item::Table(tokens));
        self.save()
    }

    /// Forgets a token; whether there was one.
    ///
    /// # Errors
    /// `internal` when the file cannot be written.
    pub fn forget(&mut self, profile: &str, bearer: Bearer) -> Result<bool, Failure> {
        let Some(tokens) = self.document.get_mut(profile).and_then(Item::as_table_like_mut) else {
            return Ok(false);
        };
        let found = tokens.remove(token_key(bearer)).is_some();
        if tokens.is_empty() {
            self.document.remove(profile);
        }
        if found {
            self.save()?;
        }
        Ok(found)
    }

    fn save(&self) -> Result<(), Failure> {
        files::replace(&self.path, &self.document.to_string(), true)
    }
}
