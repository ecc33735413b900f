//! One profile of the configuration, every value checked.

use std::collections::BTreeMap;
use std::time::Duration;

use toml_edit::TableLike;
use url::Url;

use super::keys::PROFILE;
use super::settings::parse_base_url;
use super::value::Value;
use crate::config::validate;
use crate::failure::Failure;
use crate::plan::request::Bearer;
use crate::token::Token;

/// One `[profiles.NAME]`, every value checked.
#[derive(Debug, Clone)]
pub struct Profile {
    /// NAME.
    pub name: String,
    values: BTreeMap<String, Value>,
}

/// Where a profile says its token is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ConfiguredToken {
    /// In the profile itself.
    Literal(Token),
    /// In this environment variable.
    Variable(String),
    /// In this file, as it is written in the profile.
    File(String),
    /// On the standard output of this program.
    Command(Vec<String>),
}

impl Profile {
    /// Checks the table of a profile.
    ///
    /// # Errors
    /// `path: problem` for the first unknown key, wrong type, bad value or doubled token.
    pub fn read(name: &str, table: &dyn TableLike) -> Result<Self, String> {
        let path = validate::join("profiles", name);
        let profile = Self { name: name.to_owned(), values: validate::values(table, PROFILE, &path)? };
        profile.check_tokens().map_err(|problem| format!("{path}: {problem}"))?;
        Ok(profile)
    }

    /// Where the service is.
    pub fn base_url(&self) -> Option<Url> {
        self.text("base-url").and_then(|text| parse_base_url(text).ok())
    }

    /// The failure that this profile has no base URL.
    pub fn no_base_url(&self) -> Failure {
        Failure::usage(format!("profile `{}` has no base-url", self.name))
            .hint(format!("run `storefront config set -p {} base-url URL`", self.name))
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

    /// An integer.
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
    pub fn named_token(&self, bearer: Bearer) -> Option<ConfiguredToken> {
        let key = token_key(bearer);
        let of = |suffix: &str| format!("{key}{suffix}");
        if let Some(Value::Secret(token)) = self.values.get(key) {
            return Some(ConfiguredToken::Literal(token.clone()));
        }
        let variable = self.text(&of("-env")).map(|name| ConfiguredToken::Variable(name.to_owned()));
        let file = || self.text(&of("-file")).map(|path| ConfiguredToken::File(path.to_owned()));
        let command = || self.list(&of("-command")).map(|argv| ConfiguredToken::Command(argv.to_vec()));
        variable.or_else(file).or_else(command)
    }

    /// The key that names the token of a kind, if one does.
    pub fn token_key_in_use(&self, bearer: Bearer) -> Option<&str> {
        self.token_keys_in_use(token_key(bearer)).next()
    }

    fn token_keys_in_use<'a>(&'a self, key: &'a str) -> impl Iterator<Item = &'a str> {
        let rest_fits = |rest: &str| rest.is_empty() || rest.starts_with('-');
        let names = self.values.keys().map(String::as_str);
        names.filter(move |name| name.strip_prefix(key).is_some_and(rest_fits))
    }

    /// One token may be named once.
    fn check_tokens(&self) -> Result<(), String> {
        for key in [token_key(Bearer::Customer), token_key(Bearer::Admin)] {
            let named: Vec<&str> = self.token_keys_in_use(key).collect();
            if named.len() > 1 {
                return Err(format!("{} are mutually exclusive", named.join(" and ")));
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
