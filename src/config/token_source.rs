//! Where a token comes from. Nothing is read or run until the token is asked for.

use std::io::Read;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use super::files;
use crate::failure::{Failure, Kind};
use crate::token::Token;

/// No token is longer, in bytes.
const LONGEST: u64 = 64 * 1024;

/// Where a token comes from.
#[derive(Debug, Clone)]
pub struct TokenSource(Origin);

#[derive(Debug, Clone)]
enum Origin {
    Given { token: Token, from: String },
    File { path: PathBuf, from: String },
    Command { argv: Vec<String>, from: String },
    Absent { failure: Box<Failure>, from: String },
}

impl TokenSource {
    /// A token that is at hand; `from` names where it was found, as in "the environment variable X".
    pub fn given(token: Token, from: impl Into<String>) -> Self {
        let from = from.into();
        Self(Origin::Given { token, from })
    }

    /// A file that holds nothing but the token.
    pub fn file(path: PathBuf, profile: &str, key: &str) -> Self {
        let from = format!("the file {} ({key} of profile {profile})", path.display());
        Self(Origin::File { path, from })
    }

    /// A program that prints the token: its name, then its arguments.
    pub fn command(argv: Vec<String>, profile: &str, key: &str) -> Self {
        let from = format!("the command {} ({key} of profile {profile})", program(&argv));
        Self(Origin::Command { argv, from })
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

    /// The program and arguments that print the token, where that is the source: with many records, its
    /// placeholders are filled before [`run_token_command`].
    pub fn argv(&self) -> Option<&[String]> {
        match &self.0 {
            Origin::Command { argv, .. } => Some(argv),
            _ => None,
        }
    }

    /// The token, where it is known without reading a file or running a program.
    pub fn at_hand(&self) -> Option<&Token> {
        match &self.0 {
            Origin::Given { token, .. } => Some(token),
            _ => None,
        }
    }

    /// Reads the token. A command is run each time.
    ///
    /// # Errors
    /// `auth` when there is none, with what to type; `usage` when its file may be read by others.
    pub fn token(&self) -> Result<Token, Failure> {
        match &self.0 {
            Origin::Given { token, from } => fit_for_header(token.clone(), from),
            Origin::File { path, from } => read_file(path, from),
            Origin::Command { argv, .. } => run_token_command(argv),
            Origin::Absent { failure, .. } => Err((**failure).clone()),
        }
    }
}

/// Runs a program, without a shell, that prints a token. It sees no standard input; its standard error is ours.
///
/// # Errors
/// `auth` when it cannot be run, fails, or prints no token; the message names the program, never what it printed.
pub fn run_token_command(argv: &[String]) -> Result<Token, Failure> {
    let name = format!("the token command {}", program(argv));
    let fails = |what: String| auth(format!("{name} {what}"));
    let Some((program, arguments)) = argv.split_first() else {
        return Err(auth("the token command is empty"));
    };
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .map_err(|error| fails(format!("cannot be run: {error}")))?;
    let mut printed = Vec::new();
    if let Some(stdout) = child.stdout.take() {
        stdout
            .take(LONGEST)
            .read_to_end(&mut printed)
            .map_err(|error| fails(format!("cannot be read: {error}")))?;
    }
    let status = child.wait().map_err(|error| fails(format!("cannot be waited for: {error}")))?;
    if !status.success() {
        return Err(fails(format!("failed ({status})")).hint("run it by hand to see why"));
    }
    let printed = String::from_utf8(printed).map_err(|_| fails("printed no UTF-8 text".to_owned()))?;
    let token = Token::new(&printed).ok_or_else(|| fails("printed nothing".to_owned()))?;
    fit_for_header(token, &name)
}

fn read_file(path: &std::path::Path, from: &str) -> Result<Token, Failure> {
    let file = files::read(path)?.ok_or_else(|| auth(format!("{from} is not there")))?;
    if file.open_to_others {
        return Err(files::too_open(path));
    }
    let token = Token::new(&file.text).ok_or_else(|| auth(format!("{from} is empty")))?;
    fit_for_header(token, from)
}

/// A token travels in a header: visible ASCII, nothing else.
fn fit_for_header(token: Token, from: &str) -> Result<Token, Failure> {
    if token.expose().bytes().all(|byte| byte.is_ascii_graphic()) {
        Ok(token)
    } else {
        Err(auth(format!("the token of {from} has blanks, line breaks or characters beyond ASCII inside"))
            .hint("is it more than the token? A file or command gives the token and nothing else"))
    }
}

/// Arguments may be secrets; the program's name is not.
fn program(argv: &[String]) -> &str {
    argv.first().map_or("", String::as_str)
}

fn auth(message: impl Into<String>) -> Failure {
    Failure::new(Kind::Auth, message)
}
