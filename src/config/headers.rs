//! Headers of a profile: what a proxy in front of a shop wants to see with every call to it.

use std::path::PathBuf;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use toml_edit::Item;

use super::file::{ConfigFile, read_text, resolve_path};
use super::profile::Profile;
use super::token::TokenCommand;
use crate::system::context::Context;
use storefront_core::failure::Failure;
use storefront_core::text::redact::secrets;
use storefront_core::text::token::Credential;

/// The table of a profile that has them.
pub const HEADERS: &str = "headers";

/// A shorter value is not masked: it would be found in innocent words.
const SHORTEST_SECRET: usize = 8;

/// What the client sets itself, or what would change where a call goes and how its body is read.
const REFUSED: [&str; 5] = ["authorization", "host", "transfer-encoding", "connection", "cookie2"];
const REFUSED_PREFIXES: [&str; 2] = ["content-", "proxy-"];

/// The headers of a profile. No file is read and no program is run until the first call.
#[derive(Debug, Clone, Default)]
pub struct Headers(Vec<Header>);

#[derive(Debug, Clone)]
struct Header {
    name: HeaderName,
    /// Names the source, never the value.
    from: String,
    source: Source,
}

/// Where the value of a header comes from.
#[derive(Debug, Clone)]
enum Source {
    /// What stands in the profile or in a variable; none where the variable is not set.
    Given(Option<Credential>),
    File(PathBuf),
    Command(TokenCommand),
}

/// Refuses a name that no profile may set. The error is a sentence's end.
pub fn check_name(name: &str) -> Result<(), String> {
    let folded = name.to_ascii_lowercase();
    let is_refused =
        REFUSED.contains(&&*folded) || REFUSED_PREFIXES.iter().any(|one| folded.starts_with(one));
    match HeaderName::from_bytes(name.as_bytes()) {
        Err(_) => Err("not the name of a header".to_owned()),
        Ok(_) if is_refused => Err("a profile cannot set this header".to_owned()),
        Ok(_) => Ok(()),
    }
}

/// Whether a profile may have this value: a text, or a table with one place where it is.
pub fn is_value(value: &Item) -> bool {
    let Some(table) = value.as_table_like() else {
        return value.as_str().is_some_and(|text| HeaderValue::from_str(text).is_ok() && !text.is_empty());
    };
    let is_text = |item: &Item| item.as_str().is_some_and(|text| !text.is_empty());
    let is_command = |item: &Item| {
        item.as_array()
            .is_some_and(|words| !words.is_empty() && words.iter().all(|word| word.as_str().is_some()))
    };
    let mut members = table.iter();
    let fits = members.next().is_some_and(|(name, item)| match name {
        "file" | "env" => is_text(item),
        "command" => is_command(item),
        _ => false,
    });
    fits && members.next().is_none()
}

impl Headers {
    /// Those of a profile, which was checked.
    ///
    /// # Errors
    /// `usage` where a home directory is not known, or a variable is not text.
    pub fn of(context: &Context, file: &ConfigFile, profile: &Profile) -> Result<Self, Failure> {
        let header = |(name, item): (&str, &Item)| -> Result<Option<Header>, Failure> {
            let Ok(name) = HeaderName::from_bytes(name.as_bytes()) else { return Ok(None) };
            let by = format!("{HEADERS}.{name} of profile {}", profile.name);
            let text = |key: &str| item.get(key).and_then(Item::as_str);
            let (from, source) = if let Some(path) = text("file") {
                let path = resolve_path(context, file.directory(), path)?;
                (format!("the file {} ({by})", path.display()), Source::File(path))
            } else if let Some(variable) = text("env") {
                let value = context.var(variable)?.map(|value| Credential::Bearer(value.to_owned()));
                (format!("the environment variable {variable} ({by})"), Source::Given(value))
            } else if let Some(words) = item.get("command").and_then(Item::as_array) {
                let words = words.iter().filter_map(|word| word.as_str().map(str::to_owned)).collect();
                let command = TokenCommand::of_profile(words, context, file);
                (format!("the command {} ({by})", command.program()), Source::Command(command))
            } else {
                let value = item.as_str().map(|value| Credential::Bearer(value.to_owned()));
                (by, Source::Given(value))
            };
            Ok(Some(Header { name, from, source }))
        };
        profile.headers().map(header).filter_map(Result::transpose).collect::<Result<_, _>>().map(Self)
    }

    /// Reads the values; from then on they are masked.
    ///
    /// # Errors
    /// `usage` and `auth` for a value that is missing or cannot be in a header.
    pub async fn read(&self) -> Result<HeaderMap, Failure> {
        let mut headers = HeaderMap::new();
        for header in &self.0 {
            let value = header.value().await?;
            let mut sent = HeaderValue::from_str(&value)
                .map_err(|_| Failure::usage(format!("what {} has cannot be in a header", header.from)))?;
            sent.set_sensitive(true);
            if value.len() >= SHORTEST_SECRET {
                secrets().add(&Credential::Bearer(value));
            }
            headers.insert(header.name.clone(), sent);
        }
        Ok(headers)
    }
}

impl Header {
    async fn value(&self) -> Result<String, Failure> {
        let value = match &self.source {
            Source::Given(value) => value.as_ref().map(|value| value.expose().into_owned()),
            Source::File(path) => read_text(path, true)?.map(|(text, _)| text),
            // In a box: what it needs for a process would be part of every request.
            Source::Command(command) => Some(Box::pin(command.first_line()).await?),
        };
        let value = value.map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        value.ok_or_else(|| Failure::usage(format!("{} is empty or not there", self.from)))
    }
}
