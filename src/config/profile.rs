//! The settings of a profile: one table of their names and meanings, and the struct that serde reads by it.

use std::time::Duration;

use serde::Deserialize;
use toml_edit::{Array, DocumentMut, Item, Table, de};
use url::Url;

use crate::cli::duration;
use crate::failure::Failure;
use crate::plan::request::{Bearer, Dialect, StoreView};
use crate::shell::Shell;
use crate::suggestion::closest_match;
use crate::token::Token;

/// One setting.
#[derive(Debug)]
pub struct Key {
    /// Name as it stands in the file, within its profile: `retry`, `read.path`.
    pub name: &'static str,
    /// What it holds.
    pub form: Form,
    /// One line of meaning.
    pub doc: &'static str,
}

/// What a setting holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Text.
    Text,
    /// A token as text: never shown.
    Secret,
    /// A file's path.
    File,
    /// A base URL.
    Url,
    /// The name of an interface.
    Interface,
    /// A store view code.
    StoreView,
    /// The name of a [`ShipLayout`].
    Layout,
    /// `true` or `false`.
    Flag,
    /// A whole number from 0.
    Count,
    /// Seconds, or text with a unit such as `500ms`; more than none.
    Time,
    /// The same, or none.
    TimeOrZero,
    /// A path of the service.
    Path,
    /// A JSON pointer.
    Pointer,
    /// JSON pointers.
    Pointers,
    /// A program and its arguments.
    Command,
}

impl Form {
    /// What it has to be, for messages.
    pub const fn expected(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Secret => "a token",
            Self::File => "the path of a file",
            Self::Url => "an http:// or https:// URL",
            Self::Interface => "marketplace or magento",
            Self::StoreView => "a store view code",
            Self::Layout => "wrapped or flat",
            Self::Flag => "true or false",
            Self::Count => "a non-negative integer",
            Self::Time => duration::POSITIVE,
            Self::TimeOrZero => duration::OR_ZERO,
            Self::Path => "a path starting with /",
            Self::Pointer => "a JSON pointer (empty or starting with /)",
            Self::Pointers => "a list of JSON pointers (starting with /, not pointing into addresses)",
            Self::Command => "a list of strings: program and arguments",
        }
    }
}

/// What a path within a profile leads to.
#[derive(Debug, Clone, Copy)]
pub enum Setting {
    /// A table of settings.
    Table,
    /// A setting.
    Value(&'static Key),
}

const fn key(name: &'static str, form: Form, doc: &'static str) -> Key {
    Key { name, form, doc }
}

/// The profile that is used where none is named; it stands at the top of the file.
pub const DEFAULT_PROFILE: Key = key("default-profile", Form::Text, "Default profile");

/// The names at the top of the file.
pub const TOP: [&str; 2] = [DEFAULT_PROFILE.name, "profiles"];

/// Where the service is.
pub const BASE_URL: Key = key("base-url", Form::Url, "Base URL of the service (may include a path)");

/// The store view.
pub const STORE_VIEW: Key = key("store-view", Form::StoreView, "Store view code");

/// All settings of a profile.
pub const PROFILE: &[Key] = &[
    BASE_URL,
    key("api", Form::Interface, "Interface of the service [default: marketplace]"),
    STORE_VIEW,
    key("token", Form::Secret, "Access token (the file must be readable by its owner only)"),
    key("token-env", Form::Text, "Environment variable containing the token"),
    key("token-file", Form::File, "File containing the token (readable by its owner only)"),
    key("token-command", Form::Command, "Program that prints the token, run without a shell"),
    key("admin-token", Form::Secret, "Like token, for administrator calls [default: the profile's token]"),
    key("admin-token-env", Form::Text, "Like token-env, for administrator calls"),
    key("admin-token-file", Form::File, "Like token-file, for administrator calls"),
    key("admin-token-command", Form::Command, "Like token-command, for administrator calls"),
    key("ship-layout", Form::Layout, "Shipping payload layout: wrapped or flat [default: wrapped]"),
    key("allow-plain-http", Form::Flag, "Allow plain http:// to other hosts (sends tokens unencrypted)"),
    key("ca-file", Form::File, "PEM file of trusted certificates (replaces the system's)"),
    key("client-certificate", Form::File, "PEM file with the client's private key and certificate chain"),
    key("timeout", Form::Time, "Request timeout, such as 30, 500ms or 1m [default: 30]"),
    key("retry", Form::Count, "Maximum retries of requests that are safe to repeat [default: 2]"),
    key("settle", Form::TimeOrZero, "Maximum time to wait until an update is visible [default: 10]"),
    key("lock-timeout", Form::TimeOrZero, "Maximum wait for another update of a customer [default: 300]"),
    key("retention-days", Form::Count, "Days to keep profile snapshots [default: 30]"),
    key("read.path", Form::Path, "Path to read; {store_view} is replaced [default: the profile's own path]"),
    key("read.customer", Form::Pointer, "JSON pointer to the customer in the response"),
    key("read.addresses", Form::Pointer, "JSON pointer to the addresses, from the root or the customer"),
    key("read.quote-path", Form::Path, "Path of the quote; {store_view} is replaced [default: none]"),
    key("read.attribute-path", Form::Path, "Path of an attribute; {code} and {store_view} are replaced"),
    key("read.ignore", Form::Pointers, "JSON pointers ignored in comparisons [default: /updated_at]"),
];

/// One `[profiles.NAME]`, every value checked.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct Profile {
    /// NAME.
    #[serde(skip)]
    pub name: String,
    /// Where the service is.
    #[serde(deserialize_with = "read::base_url")]
    pub base_url: Option<Url>,
    /// The interface of the service.
    #[serde(deserialize_with = "read::dialect")]
    pub api: Option<&'static Dialect>,
    /// The store view.
    #[serde(deserialize_with = "read::store_view")]
    pub store_view: Option<StoreView>,
    #[serde(deserialize_with = "read::token")]
    token: Option<Token>,
    token_env: Option<String>,
    token_file: Option<String>,
    #[serde(deserialize_with = "read::command")]
    token_command: Option<Vec<String>>,
    #[serde(deserialize_with = "read::token")]
    admin_token: Option<Token>,
    admin_token_env: Option<String>,
    admin_token_file: Option<String>,
    #[serde(deserialize_with = "read::command")]
    admin_token_command: Option<Vec<String>>,
    /// Layout of shipping information.
    pub ship_layout: ShipLayout,
    /// Whether `http://` beyond this machine is allowed.
    pub allow_plain_http: bool,
    /// File of the certificates to trust, as it is written.
    pub ca_file: Option<String>,
    /// File of the client's key and certificate, as it is written.
    pub client_certificate: Option<String>,
    /// Time a request may take.
    #[serde(deserialize_with = "read::time")]
    pub timeout: Option<Duration>,
    /// Repeats of what cannot act twice.
    pub retry: Option<u32>,
    /// How long a written profile may take to show the change.
    #[serde(deserialize_with = "read::time_or_zero")]
    pub settle: Option<Duration>,
    /// How long to wait for another process that writes the same customer.
    #[serde(deserialize_with = "read::time_or_zero")]
    pub lock_timeout: Option<Duration>,
    /// Days a snapshot is kept.
    pub retention_days: Option<u32>,
    /// How a stored profile is read.
    pub read: ReadSettings,
}

/// How a customer's stored profile is read (docs/interface.md, "Replacing a profile").
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct ReadSettings {
    /// Path of the service, in which `{store_view}` stands for the store view code; the profile's own path where `None`.
    pub path: Option<String>,
    /// JSON pointer to the customer in the reply.
    pub customer: Option<String>,
    /// JSON pointer to the addresses, from the top of the reply or from the customer.
    pub addresses: Option<String>,
    /// Path that shows the quote, in which `{store_view}` stands for the store view code.
    pub quote_path: Option<String>,
    /// Path that shows an attribute, in which `{code}` stands for its code and `{store_view}` for the store view code.
    pub attribute_path: Option<String>,
    /// JSON pointers left out of comparisons.
    pub ignore: Vec<String>,
}

/// Layout of shipping information.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ShipLayout {
    /// The addresses stand in `addressInformation`.
    #[default]
    Wrapped,
    /// The addresses stand at the top.
    Flat,
}

impl Default for ReadSettings {
    fn default() -> Self {
        Self {
            path: None,
            customer: None,
            addresses: None,
            quote_path: None,
            attribute_path: None,
            ignore: vec!["/updated_at".to_owned()],
        }
    }
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

impl Setting {
    /// What stands at a path within a profile, such as `["read", "path"]`; nothing for a name that is not known.
    pub fn find(path: &[&str]) -> Option<Self> {
        let below = |key: &&Key| key.name.split('.').zip(path).all(|(name, asked)| name == *asked);
        let key = PROFILE.iter().filter(below).find(|key| key.name.split('.').count() >= path.len())?;
        Some(if key.name.split('.').count() == path.len() { Self::Value(key) } else { Self::Table })
    }
}

impl Key {
    /// Makes TOML of what stood on a command line: several words only where a list is held. The error is a sentence's
    /// end.
    pub fn write(&self, words: &[String]) -> Result<toml_edit::Value, String> {
        let expected = || format!("expected {}", self.form.expected());
        let value = match (self.form, words) {
            (Form::Pointers | Form::Command, [one]) if one.trim_start().starts_with('[') => {
                let array = one.parse::<toml_edit::Value>();
                array.map_err(|error| format!("not a TOML array: {}", error.message()))?
            }
            (Form::Command, [line]) => Shell::NATIVE.split(line)?.into_iter().collect::<Array>().into(),
            (Form::Pointers | Form::Command, words) => words.iter().collect::<Array>().into(),
            (Form::Flag, [one]) => one.parse::<bool>().map_err(|_| expected())?.into(),
            (Form::Count | Form::Time | Form::TimeOrZero, [one]) => {
                let whole = one.parse::<i64>().ok().map(Into::into);
                let number = whole.or_else(|| one.parse::<f64>().ok().map(Into::into));
                number.unwrap_or_else(|| one.into())
            }
            (_, [one]) => one.into(),
            _ => return Err(format!("{}, got {} values", expected(), words.len())),
        };
        self.check(&Item::Value(value.clone())).map(|()| value)
    }

    /// Checks a value as a profile has it. The error is a sentence's end, and never serde's own, which repeats the value.
    pub(super) fn check(&self, value: &Item) -> Result<(), String> {
        let expected = || format!("expected {}", self.form.expected());
        if self.name == DEFAULT_PROFILE.name {
            return value.as_str().filter(|name| !name.is_empty()).map(drop).ok_or_else(expected);
        }
        let text = value.as_str();
        let pointers = || value.as_array()?.iter().map(toml_edit::Value::as_str).collect::<Option<Vec<_>>>();
        let fits = match self.form {
            Form::Text | Form::File => text != Some(""),
            Form::Path => text.is_some_and(|text| text.starts_with('/')),
            Form::Pointer => text.is_some_and(|text| text.is_empty() || text.starts_with('/')),
            Form::Pointers => pointers().is_some_and(|list| list.into_iter().all(may_be_ignored)),
            _ => true,
        };
        if !fits {
            return Err(expected());
        }
        let mut item = value.clone();
        for name in self.name.rsplit('.') {
            let mut table = Table::new();
            table.insert(name, item);
            item = Item::Table(table);
        }
        from_item::<Profile>(item).map(drop).map_err(|problem| match problem {
            problem if problem.is_empty() => expected(),
            problem => problem,
        })
    }
}

impl Profile {
    /// Takes a profile out of the file.
    ///
    /// # Errors
    /// `path: problem` for the first unknown key, wrong type, bad value or doubled token.
    pub fn parse(name: &str, item: &Item) -> Result<Self, String> {
        let path = join("profiles", name);
        check_table(item, &path, &[])?;
        let profile = Self { name: name.to_owned(), ..from_item(item.clone())? };
        for bearer in [Bearer::Customer, Bearer::Admin] {
            let named: Vec<String> = profile.named_tokens(bearer).into_iter().map(|(key, _)| key).collect();
            if named.len() > 1 {
                return Err(format!("{path}: {} are mutually exclusive", named.join(" and ")));
            }
        }
        Ok(profile)
    }

    /// The failure that this profile has no base URL.
    pub fn no_base_url(&self) -> Failure {
        Failure::usage(format!("profile `{}` has no base-url", self.name))
            .hint(format!("run `storefront config set -p {} base-url URL`", self.name))
    }

    /// Where the profile says its token is, if it says so, and the key that says it.
    pub fn named_token(&self, bearer: Bearer) -> Option<(String, ConfiguredToken)> {
        self.named_tokens(bearer).into_iter().next()
    }

    fn named_tokens(&self, bearer: Bearer) -> Vec<(String, ConfiguredToken)> {
        let (token, variable, file, command) = match bearer {
            Bearer::Customer => (&self.token, &self.token_env, &self.token_file, &self.token_command),
            Bearer::Admin => {
                (&self.admin_token, &self.admin_token_env, &self.admin_token_file, &self.admin_token_command)
            }
        };
        let named = [
            ("", token.clone().map(ConfiguredToken::Literal)),
            ("-env", variable.clone().map(ConfiguredToken::Variable)),
            ("-file", file.clone().map(ConfiguredToken::File)),
            ("-command", command.clone().map(ConfiguredToken::Command)),
        ];
        let key = token_key(bearer);
        named.into_iter().filter_map(|(suffix, token)| Some((format!("{key}{suffix}"), token?))).collect()
    }
}

/// Whether a setting of this name is a token.
pub fn is_secret(name: &str) -> bool {
    PROFILE.iter().any(|key| key.form == Form::Secret && key.name == name)
}

/// The keys of a profile that name its tokens.
pub fn token_keys() -> impl Iterator<Item = &'static str> {
    PROFILE.iter().map(|key| key.name).filter(|name| name.contains("token"))
}

/// The key that holds the token of a kind, and begins the names of the others that do.
pub fn token_key(bearer: Bearer) -> &'static str {
    match bearer {
        Bearer::Customer => "token",
        Bearer::Admin => "admin-token",
    }
}

/// Profile names become names of directories and words of commands.
pub fn check_profile_name(name: &str) -> Result<(), String> {
    let fits = |one: char| one.is_alphanumeric() || matches!(one, '-' | '_' | '.');
    let begins_well = name.chars().next().is_some_and(char::is_alphanumeric);
    if begins_well && name.chars().all(fits) && name.len() <= 64 {
        return Ok(());
    }
    Err(format!(
        "invalid profile name `{name}`: use letters, digits, `-`, `_` and `.`, start with a letter or digit, \
         at most 64 bytes"
    ))
}

/// Checks every name and value of a profile's table, or of the one at `way` in it.
fn check_table(item: &Item, path: &str, way: &[&str]) -> Result<(), String> {
    let table = item.as_table_like().ok_or_else(|| format!("{path}: expected a table"))?;
    for (name, item) in table.iter() {
        let (at, way) = (join(path, name), [way, &[name]].concat());
        match Setting::find(&way) {
            Some(Setting::Table) => check_table(item, &at, &way)?,
            Some(Setting::Value(key)) => key.check(item).map_err(|problem| format!("{at}: {problem}"))?,
            None => return Err(unknown_key(&at, &way)),
        }
    }
    Ok(())
}

/// Reads a table. The error is our own words, or empty.
fn from_item<T: serde::de::DeserializeOwned>(item: Item) -> Result<T, String> {
    let table = item.into_table().map_err(|_| String::new())?;
    de::from_document(DocumentMut::from(table))
        .map_err(|error| error.message().strip_prefix(read::OURS).unwrap_or_default().to_owned())
}

/// The sentence that the last name of a way within a profile is not known, with the nearest one.
pub fn unknown_key(path: &str, way: &[&str]) -> String {
    let (name, above) = way.split_last().unwrap_or((&"", &[]));
    let mut known: Vec<&str> = Vec::new();
    for key in PROFILE {
        let mut names = key.name.split('.');
        if above.iter().all(|above| names.next() == Some(above)) {
            known.extend(names.next().filter(|name| !known.contains(name)));
        }
    }
    unknown(path, name, &known)
}

/// The same, with the names that are known.
pub fn unknown(path: &str, name: &str, known: &[&str]) -> String {
    match closest_match(name, known.iter().copied()) {
        Some(near) => format!("unknown key `{path}`; did you mean `{near}`?"),
        None => format!("unknown key `{path}`; expected one of {}", known.join(", ")),
    }
}

/// A dotted path, quoted where TOML wants it.
pub fn join(path: &str, name: &str) -> String {
    let name = toml_edit::Key::new(name);
    if path.is_empty() { name.to_string() } else { format!("{path}.{name}") }
}

/// Takes a base URL as the user wrote it; a path is kept.
///
/// The error is a sentence's end, such as "has a query". It never repeats the text, which may hold a password.
pub fn parse_base_url(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| match error {
        url::ParseError::RelativeUrlWithoutBase => "has no scheme; write https:// before it".to_owned(),
        other => format!("is not a URL: {other}"),
    })?;
    let problem = if !matches!(url.scheme(), "http" | "https") {
        "must start with https:// or http://"
    } else if !url.username().is_empty() || url.password().is_some() {
        "must not contain credentials; tokens are configured separately"
    } else if url.query().is_some() {
        "has a query (?…)"
    } else if url.fragment().is_some() {
        "has a fragment (#…)"
    } else {
        return Ok(url);
    };
    Err(problem.to_owned())
}

/// Scheme, host and port: whom a token was meant for. The scheme counts, so that a token for `https` never goes out in the clear.
pub fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// Whether comparisons may leave out what a pointer leads to. One that overlooked an address, or which one it is,
/// would let it be lost.
fn may_be_ignored(pointer: &str) -> bool {
    match pointer.split('/').collect::<Vec<_>>()[..] {
        ["", "addresses"] | ["", "addresses", _] | ["", "addresses", _, "id"] => false,
        _ => pointer.starts_with('/'),
    }
}

/// How serde reads the values of a profile.
mod read {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer};
    use serde_json::Value;

    use super::{Dialect, Duration, StoreView, Token, Url, duration, parse_base_url};

    /// Begins the messages that are ours: only these repeat no value, which may be a secret.
    pub(super) const OURS: &str = "storefront: ";

    /// Functions for `deserialize_with`. The error is a sentence's end; an empty one stands for what the setting has to be.
    macro_rules! readers {
        ($($name:ident($value:ident: $raw:ty) -> $to:ty = $checked:expr;)*) => {$(
            pub(super) fn $name<'de, D: Deserializer<'de>>(input: D) -> Result<Option<$to>, D::Error> {
                let $value = <$raw>::deserialize(input)?;
                let checked: Result<$to, String> = $checked;
                checked.map(Some).map_err(|problem| D::Error::custom(format!("{OURS}{problem}")))
            }
        )*};
    }

    readers! {
        base_url(text: String) -> Url = parse_base_url(&text);
        store_view(code: String) -> StoreView = StoreView::new(&code).map_err(|failure| failure.message);
        dialect(name: String) -> &'static Dialect = Dialect::named(&name).ok_or_else(String::new);
        token(text: String) -> Token = Token::new(&text).ok_or_else(String::new);
        command(words: Vec<String>) -> Vec<String> =
            if words.first().is_some_and(|word| !word.is_empty()) { Ok(words) } else { Err(String::new()) };
        time(time: Value) -> Duration = duration::positive(&in_words(time)).map_err(|_| String::new());
        time_or_zero(time: Value) -> Duration = duration::or_zero(&in_words(time)).map_err(|_| String::new());
    }

    /// A number of seconds, or text with a unit.
    fn in_words(time: Value) -> String {
        if let Value::String(text) = time { text } else { time.to_string() }
    }
}
