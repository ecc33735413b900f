//! Where a token comes from. Nothing is read or run until the token is asked for.

use std::path::PathBuf;

use jiff::Timestamp;

use super::files;
use super::token_command::TokenCommand;
use crate::failure::{Failure, FailureKind};
use crate::token::Token;

/// Where a token comes from.
#[derive(Debug, Clone)]
pub struct TokenSource(Origin);

#[derive(Debug, Clone)]
enum Origin {
    Given { token: Token, from: String, expires: Option<Timestamp> },
    File { path: PathBuf, from: String },
    Command { command: TokenCommand, from: String },
    Absent { failure: Box<Failure>, from: String },
}

impl TokenSource {
    /// A token that is at hand; `from` names where it was found, as in "the environment variable X".
    pub fn given(token: Token, from: impl Into<String>) -> Self {
        let expires = token.expires_at();
        Self::expiring(token, from, expires)
    }

    /// A token that is at hand and expires at that time, where it is known.
    pub fn expiring(token: Token, from: impl Into<String>, expires: Option<Timestamp>) -> Self {
        Self(Origin::Given { token, from: from.into(), expires })
    }

    /// When the token expires, where that is known without reading a file or running a program.
    pub fn expires(&self) -> Option<Timestamp> {
        match &self.0 {
            Origin::Given { expires, .. } => *expires,
            _ => None,
        }
    }

    /// A file that holds nothing but the token.
    pub fn file(path: PathBuf, profile: &str, key: &str) -> Self {
        let from = format!("the file {} ({key} of profile {profile})", path.display());
        Self(Origin::File { path, from })
    }

    /// A program that prints the token.
    pub fn command(command: TokenCommand, profile: &str, key: &str) -> Self {
        let from = format!("the command {} ({key} of profile {profile})", command.program());
        Self(Origin::Command { command, from })
    }

    /// There is no token: `failure` says so when it is asked for, `from` says where one was looked for.
    pub fn absent(failure: Failure, from: impl Into<String>) -> Self {
        Self(Origin::Absent { failure: Box::new(failure), from: from.into() })
    }

    /// Names the source, never the token.
    pub fn describe(&self) -> String {
        match &self.0 {
            Origin::Given { from, .. }
            | Origin::File { from, .. }
            | Origin::Command { from, .. }
            | Origin::Absent { from, .. } => from.clone(),
        }
    }

    /// The program that prints the token, where that is the source. In a batch its placeholders are filled by
    /// [`TokenCommand::with_argv`].
    pub fn token_command(&self) -> Option<&TokenCommand> {
        match &self.0 {
            Origin::Command { command, .. } => Some(command),
            _ => None,
        }
    }

    /// Whether there is no token, wherever one was looked for.
    pub fn is_absent(&self) -> bool {
        matches!(self.0, Origin::Absent { .. })
    }

    /// The token, where it is known without reading a file or running a program.
    pub fn at_hand(&self) -> Option<&Token> {
        match &self.0 {
            Origin::Given { token, .. } => Some(token),
            _ => None,
        }
    }

    /// Reads the token. A command is run each time, for 30 seconds at most; dropping the future kills it.
    ///
    /// # Errors
    /// `auth` when there is none, with what to type; `usage` when its file can be read or written by others.
    pub async fn token(&self) -> Result<Token, Failure> {
        match &self.0 {
            Origin::Given { token, from, .. } => token.clone().checked(from),
            Origin::File { path, from } => read_file(path, from),
            // In a box: what it needs for a process would be part of every request.
            Origin::Command { command, .. } => Box::pin(command.run()).await,
            Origin::Absent { failure, .. } => Err((**failure).clone()),
        }
    }
}

fn read_file(path: &std::path::Path, from: &str) -> Result<Token, Failure> {
    let file = files::read_private(path)?.ok_or_else(|| auth(format!("{from} not found")))?;
    let token = Token::new(&file.text).ok_or_else(|| auth(format!("{from} is empty")))?;
    token.checked(from)
}

fn auth(message: impl Into<String>) -> Failure {
    Failure::new(FailureKind::Auth, message)
}
