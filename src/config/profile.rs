//! The settings of a profile: one table of their names and meanings, by which they are checked.

use std::time::Duration;

use toml_edit::{Array, Item, TableLike};
use url::Url;

use super::header_rules::{self, HEADERS};
use crate::system::shell::Shell;
use storefront_core::check::accepted::Version;
use storefront_core::failure::Failure;
use storefront_core::hint::{hint, storefront};
use storefront_core::interface::request::{Bearer, Dialect, StoreView};
use storefront_core::text::duration;
use storefront_core::text::suggestion::closest_match;
use storefront_core::text::token::Credential;

/// One setting.
#[derive(Debug)]
pub struct Key {
    /// Name within its profile, as in the file: `retry`, `read.path`.
    pub name: &'static str,
    /// The expected kind of value, for messages.
    pub expected: &'static str,
    /// One line of meaning.
    pub doc: &'static str,
}

const TEXT: &str = "text";
/// Never shown.
const SECRET: &str = "a token";
const FILE: &str = "the path of a file";
const URL: &str = "an http:// or https:// URL";
const INTERFACE: &str = "marketplace or magento";
const CODE: &str = "a store view code";
const LAYOUT: &str = "wrapped or flat";
const FLAG: &str = "true or false";
const COUNT: &str = "a non-negative integer";
const VERSION: &str = "2.4.6, 2.4.7, 2.4.8 or 2.4.9, with a patch or without";
const WRITES: &str = "yes, ask or no";
const PATH: &str = "a path starting with /";
const POINTER: &str = "a JSON pointer (empty or starting with /)";
const POINTERS: &str = "a list of JSON pointers (starting with /, not pointing into addresses)";
const COMMAND: &str = "a list of strings: program and arguments";
const HEADER: &str = "the text of a header, or a table with one of file, env and command";

/// The part of a setting's name that stands for any name.
const ANY: &str = "NAME";

/// What a path within a profile names.
#[derive(Debug, Clone, Copy)]
pub enum Setting {
    /// A table of settings.
    Table,
    /// A setting.
    Value(&'static Key),
}

impl Key {
    /// Whether it names a file.
    pub fn is_file(&self) -> bool {
        self.expected == FILE
    }
}

const fn key(name: &'static str, expected: &'static str, doc: &'static str) -> Key {
    Key { name, expected, doc }
}

/// The profile that is used if none is named, at the top of the file.
pub const DEFAULT_PROFILE: Key = key("default-profile", TEXT, "Default profile");

/// The names at the top of the file.
pub const TOP: [&str; 2] = [DEFAULT_PROFILE.name, "profiles"];

/// The address of the service.
pub const BASE_URL: Key = key("base-url", URL, "Base URL of the service (may include a path)");

/// All settings of a profile.
pub const PROFILE: &[Key] = &[
    BASE_URL,
    key("api", INTERFACE, "Interface of the service [default: marketplace]"),
    key("store-view", CODE, "Store view code"),
    key("token", SECRET, "Access token (the file must be readable by its owner only)"),
    key("token-env", TEXT, "Environment variable containing the token"),
    key("token-file", FILE, "File containing the token (readable by its owner only)"),
    key("token-command", COMMAND, "Program that prints the token, run without a shell"),
    key("admin-token", SECRET, "Like token, for administrator calls [default: the profile's token]"),
    key("admin-token-env", TEXT, "Like token-env, for administrator calls"),
    key("admin-token-file", FILE, "Like token-file, for administrator calls"),
    key("admin-token-command", COMMAND, "Like token-command, for administrator calls"),
    key("oauth.file", FILE, "File containing an integration's four values (readable by its owner only)"),
    key("oauth.command", COMMAND, "Program that prints an integration's four values, run without a shell"),
    key("sign-port", FLAG, "Include the URL's port in the signatures of an integration [default: true]"),
    key("ship-layout", LAYOUT, "Shipping payload layout: wrapped or flat [default: wrapped]"),
    key("allow-plain-http", FLAG, "Allow plain http:// to other hosts (sends tokens unencrypted)"),
    key("magento-version", VERSION, "Version of the shop: writes warn of values that block customers"),
    key("writes", WRITES, "Who may write: everybody, a person who is asked, or nobody [default: yes]"),
    key("ca-file", FILE, "PEM file of trusted certificates (replaces the system's)"),
    key("client-certificate", FILE, "PEM file with the client's private key and certificate chain"),
    key("headers.NAME", HEADER, "Header of every call to this host, such as that of an access proxy"),
    key("timeout", duration::POSITIVE, "Request timeout, such as 30, 500ms or 1m [default: 30]"),
    key("retry", COUNT, "Maximum retries of requests that are safe to repeat [default: 2]"),
    key("settle", duration::OR_ZERO, "Maximum time to wait until an update is visible [default: 10]"),
    key("lock-timeout", duration::OR_ZERO, "Maximum wait for another update of a customer [default: 300]"),
    key("retention-days", COUNT, "Days to keep updates [default: 30]"),
    key("read.path", PATH, "Path to read; {store_view} is replaced [default: the profile's own path]"),
    key("read.customer", POINTER, "JSON pointer to the customer in the response"),
    key("read.addresses", POINTER, "JSON pointer to the addresses, from the root or the customer"),
    key("read.quote-path", PATH, "Path of the quote; {store_view} is replaced [default: none]"),
    key("read.attribute-path", PATH, "Path of an attribute; {code} and {store_view} are replaced"),
    key("read.ignore", POINTERS, "JSON pointers ignored in comparisons [default: /updated_at]"),
];

/// One `[profiles.NAME]`, every value checked.
#[derive(Clone, Default)]
pub struct Profile {
    /// Its name, `NAME`.
    pub name: String,
    table: Item,
}

/// How a customer's stored profile is read (docs/interface.md, "Replacing a profile").
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadSettings {
    /// Path of the service, in which `{store_view}` stands for the store view code; `None` for the profile's own path.
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ShipLayout {
    /// The addresses are in `addressInformation`.
    #[default]
    Wrapped,
    /// The addresses are at the top.
    Flat,
}

impl Setting {
    /// The setting or table at a path within a profile, such as `["read", "path"]`; `None` for an unknown name.
    pub fn find(path: &[&str]) -> Option<Self> {
        let below =
            |key: &&Key| key.name.split('.').zip(path).all(|(name, asked)| name == *asked || name == ANY);
        let key = PROFILE.iter().filter(below).find(|key| key.name.split('.').count() >= path.len())?;
        Some(if key.name.split('.').count() == path.len() { Self::Value(key) } else { Self::Table })
    }
}

impl Key {
    /// Makes TOML of the words of a command line; several words are for a list only. The error is the end of a sentence.
    pub fn write(&self, words: &[String]) -> Result<toml_edit::Value, String> {
        let value = match words {
            [one] if self.is_list() && one.trim_start().starts_with('[') => {
                let array = one.parse::<toml_edit::Value>();
                array.map_err(|error| format!("not a TOML array: {}", error.message()))?
            }
            [line] if self.expected == COMMAND => {
                Shell::NATIVE.split(line)?.into_iter().collect::<Array>().into()
            }
            words if self.is_list() => words.iter().collect::<Array>().into(),
            [one] => {
                let scalar = one.parse::<toml_edit::Value>().ok().filter(|value| !value.is_str());
                let fits = |value: &toml_edit::Value| self.check(&value.clone().into()).is_ok();
                scalar.filter(fits).unwrap_or_else(|| one.into())
            }
            _ => return Err(format!("expected {}, got {} values", self.expected, words.len())),
        };
        self.check(&Item::Value(value.clone())).map(|()| value)
    }

    fn is_list(&self) -> bool {
        [POINTERS, COMMAND].contains(&self.expected)
    }

    /// Checks a value of a profile. The error is the end of a sentence, and never repeats the value, which may be a
    /// secret.
    pub(super) fn check(&self, value: &Item) -> Result<(), String> {
        let text = value.as_str();
        let fits = match (self.expected, text) {
            (URL, Some(text)) => return parse_base_url(text).map(drop),
            (CODE, Some(text)) => return StoreView::new(text).map(drop).map_err(|failure| failure.message),
            (INTERFACE, Some(text)) => Dialect::named(text).is_some(),
            (VERSION, Some(text)) => Version::named(text).is_some(),
            (LAYOUT, Some(text)) => matches!(text, "wrapped" | "flat"),
            (WRITES, Some(text)) => matches!(text, "yes" | "ask" | "no"),
            (SECRET, Some(text)) => Credential::new(text).is_some(),
            (PATH, Some(text)) => text.starts_with('/'),
            (POINTER, Some(text)) => text.is_empty() || text.starts_with('/'),
            (TEXT | FILE, Some(text)) => !text.is_empty(),
            (FLAG, _) => value.as_bool().is_some(),
            (COUNT, _) => count(value).is_some(),
            (duration::OR_ZERO, _) => time(value).is_some(),
            (duration::POSITIVE, _) => time(value).is_some_and(|time| !time.is_zero()),
            (POINTERS, _) => words(value).is_some_and(|all| all.iter().all(|one| may_be_ignored(one))),
            (HEADER, _) => header_rules::is_value(value),
            (COMMAND, _) => words(value).is_some_and(|words| words.first().is_some_and(|it| !it.is_empty())),
            _ => false,
        };
        if fits { Ok(()) } else { Err(format!("expected {}", self.expected)) }
    }
}

impl Profile {
    /// Reads a profile of the file.
    ///
    /// # Errors
    /// `path: problem` for the first unknown key, wrong type, bad value or doubled token.
    pub fn parse(name: &str, table: &Item) -> Result<Self, String> {
        let path = join("profiles", name);
        check_table(table, &path, &[])?;
        let profile = Self { name: name.to_owned(), table: table.clone() };
        for bearer in [Bearer::Customer, Bearer::Admin] {
            let named: Vec<_> = profile.token_keys(bearer).collect();
            if named.len() > 1 {
                return Err(format!("{path}: {} are mutually exclusive", named.join(" and ")));
            }
        }
        Ok(profile)
    }

    fn get(&self, key: &str) -> Option<&Item> {
        key.split('.').try_fold(&self.table, |item, name| item.get(name))
    }

    /// The text of a setting.
    pub fn text(&self, key: &str) -> Option<String> {
        self.get(key)?.as_str().map(str::to_owned)
    }

    /// Whether a setting is `true` or `false`.
    pub fn flag(&self, key: &str) -> Option<bool> {
        self.get(key)?.as_bool()
    }

    /// The whole number of a setting.
    pub fn count(&self, key: &str) -> Option<u32> {
        count(self.get(key)?)
    }

    /// The duration of a setting.
    pub fn time(&self, key: &str) -> Option<Duration> {
        time(self.get(key)?)
    }

    /// The list of a setting.
    pub fn words(&self, key: &str) -> Option<Vec<String>> {
        words(self.get(key)?)
    }

    /// Names and values of the headers that every call has.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &Item)> {
        self.get(HEADERS).and_then(Item::as_table_like).into_iter().flat_map(TableLike::iter)
    }

    /// The interface of the service, if the profile names one.
    pub fn dialect(&self) -> Option<&'static Dialect> {
        Dialect::named(&self.text("api")?)
    }

    /// The address of the service.
    pub fn base_url(&self) -> Option<Url> {
        parse_base_url(self.get(BASE_URL.name)?.as_str()?).ok()
    }

    /// The failure that this profile has no base URL.
    pub fn no_base_url(&self) -> Failure {
        Failure::usage(format!("profile `{}` has no base-url", self.name))
            .hint(hint!("run ", storefront("config set -p").arg(&self.name).arg("base-url").arg("URL")))
    }

    /// The key of the profile that has the source of its token: one at most.
    pub fn token_keys(&self, bearer: Bearer) -> impl Iterator<Item = &'static str> {
        let is_of = move |key: &&str| match bearer {
            Bearer::Customer => key.starts_with(token_key(bearer)),
            Bearer::Admin => key.starts_with(token_key(bearer)) || key.starts_with("oauth."),
        };
        PROFILE.iter().map(|key| key.name).filter(is_of).filter(|key| self.get(key).is_some())
    }
}

fn count(item: &Item) -> Option<u32> {
    item.as_integer().and_then(|count| u32::try_from(count).ok())
}

/// A number of seconds, or text with a unit.
fn time(item: &Item) -> Option<Duration> {
    let whole = item.as_integer().map(|seconds| seconds.to_string());
    let number = whole.or_else(|| item.as_float().map(|seconds| seconds.to_string()));
    duration::or_zero(&number.or_else(|| item.as_str().map(str::to_owned))?).ok()
}

fn words(item: &Item) -> Option<Vec<String>> {
    item.as_array()?.iter().map(|word| word.as_str().map(str::to_owned)).collect()
}

/// Checks every name and value of a profile's table, or of the one at `way` in it.
fn check_table(item: &Item, path: &str, way: &[&str]) -> Result<(), String> {
    let table = item.as_table_like().ok_or_else(|| format!("{path}: expected a table"))?;
    for (name, item) in table.iter() {
        let at = join(path, name);
        let way = [way, &[name]].concat();
        match Setting::find(&way) {
            Some(Setting::Table) => check_table(item, &at, &way)?,
            Some(Setting::Value(key)) => {
                let name = if key.expected == HEADER { header_rules::check_name(name) } else { Ok(()) };
                name.and_then(|()| key.check(item)).map_err(|problem| format!("{at}: {problem}"))?;
            }
            None => return Err(unknown_key(&at, &way)),
        }
    }
    Ok(())
}

/// Whether a setting of this name is a token.
pub fn is_secret(name: &str) -> bool {
    PROFILE.iter().any(|key| key.expected == SECRET && key.name == name)
}

/// The key that holds the token of a kind; the names of the other keys with its token begin with it.
pub fn token_key(bearer: Bearer) -> &'static str {
    match bearer {
        Bearer::Customer => "token",
        Bearer::Admin => "admin-token",
    }
}

/// Checks the name of a profile, which becomes a key of the configuration and a word of commands.
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

/// The message about an unknown last name of a path within a profile, with the nearest one.
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

/// The message about an unknown key, with the nearest of the known names, or all of them.
pub fn unknown(path: &str, name: &str, known: &[&str]) -> String {
    match closest_match(name, known.iter().copied()) {
        Some(near) => format!("unknown key `{path}`; did you mean `{near}`?"),
        None => format!("unknown key `{path}`; expected one of {}", known.join(", ")),
    }
}

/// A dotted path, quoted where TOML needs it.
pub fn join(path: &str, name: &str) -> String {
    let name = toml_edit::Key::new(name);
    if path.is_empty() { name.to_string() } else { format!("{path}.{name}") }
}

/// Takes a base URL as the user wrote it; a path is kept.
///
/// The error is the end of a sentence, such as "has a query". It never repeats the text, which may hold a password.
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

/// Scheme, host and port, to which a token is bound. The scheme is part of it, so that a token for `https` never goes out
/// in the clear.
pub fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

/// Whether comparisons may leave out the value at a pointer. Without an address or its id, a lost address would not be
/// noticed.
fn may_be_ignored(pointer: &str) -> bool {
    match pointer.split('/').collect::<Vec<_>>()[..] {
        ["", "addresses"] | ["", "addresses", _] | ["", "addresses", _, "id"] => false,
        _ => pointer.starts_with('/'),
    }
}
