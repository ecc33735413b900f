//! Headers of a profile: those that a proxy in front of a shop needs in every call.

use std::path::PathBuf;

use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use toml_edit::Item;

use super::file::{ConfigFile, read_text, resolve_path};
use super::header_rules::HEADERS;
use super::profile::Profile;
use super::token::TokenCommand;
use crate::system::context::Context;
use storefront_core::failure::Failure;
use storefront_core::text::redact::secrets;
use storefront_core::text::token::Credential;

/// The length from which a value is masked: a shorter one would be found in innocent words.
const SHORTEST_SECRET: usize = 8;

/// The headers of a profile. No file is read and no program is run until the first call.
#[derive(Debug, Clone, Default)]
pub struct Headers(Vec<Header>);

#[derive(Debug, Clone)]
struct Header {
    name: HeaderName,
    /// The name of the source, never the value.
    from: String,
    source: Source,
}

/// Where the value of a header comes from.
#[derive(Debug, Clone)]
enum Source {
    /// The value in the profile or in a variable; `None` if the variable is not set.
    Given(Option<Credential>),
    File(PathBuf),
    Command(TokenCommand),
}

impl Headers {
    /// The headers of a profile that was checked.
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
            // Boxed, because the state of a process would be part of every request's future.
            Source::Command(command) => Some(Box::pin(command.first_line()).await?),
        };
        let value = value.map(|value| value.trim().to_owned()).filter(|value| !value.is_empty());
        value.ok_or_else(|| Failure::usage(format!("{} is empty or not there", self.from)))
    }
}
