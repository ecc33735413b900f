//! Which token goes to which host. A profile's tokens were meant for the host of its base URL; those of the
//! environment for whatever the environment or the profile names.

use std::path::Path;

use url::Url;

use super::credentials::Credentials;
use super::profile::{Profile, token_key};
use super::program_search::ProgramSearch;
use super::token_command::TokenCommand;
use super::token_source::TokenSource;
use super::{base_url, files};
use crate::config::profile::ConfiguredToken;
use crate::context::Context;
use crate::environment;
use crate::failure::{Failure, FailureKind};
use crate::plan::request::Bearer;
use crate::token::Token;

/// What decides about tokens.
pub struct Tokens<'a> {
    /// The surroundings.
    pub context: &'a Context,
    /// What paths in the configuration are relative to.
    pub directory: &'a Path,
    /// The chosen profile.
    pub profile: Option<&'a Profile>,
    /// Where calls will go.
    pub base_url: &'a Url,
    /// Whether that is the host the profile names.
    pub own_host: bool,
    /// The environment variables that hold tokens of any profile.
    pub secret_variables: Vec<String>,
}

/// The environment variable that holds a token.
pub fn token_variable(bearer: Bearer) -> &'static str {
    match bearer {
        Bearer::Customer => environment::TOKEN,
        Bearer::Admin => environment::ADMIN_TOKEN,
    }
}

impl Tokens<'_> {
    /// The customer's and the administrator's.
    pub fn resolve(&self) -> Result<(TokenSource, TokenSource), Failure> {
        let customer = match self.source(Bearer::Customer)? {
            Some(source) => source,
            None => self.none(),
        };
        let admin = self.source(Bearer::Admin)?.unwrap_or_else(|| customer.clone());
        Ok((customer, admin))
    }

    fn source(&self, bearer: Bearer) -> Result<Option<TokenSource>, Failure> {
        let variable = token_variable(bearer);
        if let Some(token) = self.context.var(variable)?.and_then(Token::new) {
            return Ok(Some(TokenSource::given(token, format!("the environment variable {variable}"))));
        }
        match self.profile.filter(|_| self.own_host) {
            None => Ok(None),
            Some(profile) => match profile.named_token(bearer) {
                Some(named) => self.named(profile, bearer, named).map(Some),
                None => Ok(self.stored(profile, bearer)),
            },
        }
    }

    fn named(
        &self,
        profile: &Profile,
        bearer: Bearer,
        named: ConfiguredToken,
    ) -> Result<TokenSource, Failure> {
        let key = token_key(bearer);
        let name = &profile.name;
        Ok(match named {
            ConfiguredToken::Literal(token) => TokenSource::given(token, format!("{key} of profile {name}")),
            ConfiguredToken::File(path) => TokenSource::file(
                files::resolve_path(self.context, self.directory, &path)?,
                name,
                &format!("{key}-file"),
            ),
            ConfiguredToken::Command(argv) => {
                let command = TokenCommand::new(argv)
                    .hiding(self.secret_variables.iter().cloned())
                    .in_own_group(!self.context.has_terminal())
                    .found_by(ProgramSearch::native(self.context)?);
                TokenSource::command(command, name, &format!("{key}-command"))
            }
            ConfiguredToken::Variable(variable) => {
                let from = format!("the environment variable {variable} ({key}-env of profile {name})");
                match self.context.var(&variable)?.and_then(Token::new) {
                    Some(token) => TokenSource::given(token, from),
                    None => TokenSource::absent(
                        Failure::new(FailureKind::Auth, format!("{from} is not set")),
                        from,
                    ),
                }
            }
        })
    }

    /// The token of `auth login`. An error in the file is reported when the token is needed.
    fn stored(&self, profile: &Profile, bearer: Bearer) -> Option<TokenSource> {
        let from = format!("auth login of profile {}", profile.name);
        let found =
            Credentials::load(self.context).and_then(|credentials| credentials.find(&profile.name, bearer));
        match found {
            Ok(None) => None,
            Err(failure) => Some(TokenSource::absent(failure, from)),
            Ok(Some(stored)) if stored.origin == base_url::origin(self.base_url) => {
                Some(TokenSource::expiring(stored.token, from, stored.expires))
            }
            Ok(Some(stored)) => {
                let flag = if bearer == Bearer::Admin { " --admin" } else { "" };
                let failure = Failure::new(
                    FailureKind::Auth,
                    format!(
                        "the token from {from} is bound to {}, but the base URL is now {}",
                        stored.origin,
                        base_url::origin(self.base_url)
                    ),
                )
                .hint(format!("storefront auth login{flag} -p {}", profile.name));
                Some(TokenSource::absent(failure, format!("{from}, bound to {}", stored.origin)))
            }
        }
    }

    /// There is no token; or there may be one, in a profile that is for another host.
    fn none(&self) -> TokenSource {
        let variable = token_variable(Bearer::Customer);
        let mut from = "none".to_owned();
        let (message, hint) = match self.profile {
            Some(profile) if self.own_host => (
                format!("no token for profile `{}`", profile.name),
                format!("storefront auth login -p {}, or set {variable}", profile.name),
            ),
            Some(profile) => {
                from = format!("none for {}", base_url::origin(self.base_url));
                self.foreign(profile)
            }
            None => ("no token configured".to_owned(), format!("set {variable}")),
        };
        TokenSource::absent(Failure::new(FailureKind::Auth, message).hint(hint), from)
    }

    /// The base URL is the environment's, at another host than the profile's.
    fn foreign(&self, profile: &Profile) -> (String, String) {
        let (name, variable) = (&profile.name, environment::BASE_URL);
        let meant_for = profile
            .base_url()
            .map_or_else(|| "has no base URL".to_owned(), |url| format!("is for {}", base_url::origin(&url)));
        let here = base_url::origin(self.base_url);
        let token = token_variable(Bearer::Customer);
        (
            format!(
                "{variable} points to {here}, but profile `{name}` {meant_for}; refusing to send its token to another host"
            ),
            format!("set {token} to a token for {here}, or unset {variable}"),
        )
    }
}
