//! Where a record's token comes from: the batch, the record, or the token command.

use std::cell::{Cell, RefCell};

use serde_json::{Map, Value};
use tokio::sync::Mutex;

use crate::config::TokenCommand as Program;
use crate::failure::{Failure, FailureKind};
use crate::redact::secrets;
use crate::token::Token;

/// A field or column that holds the record's own token.
pub const TOKEN_FIELD: &str = "token";

/// Where a record's token comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TokenSource {
    /// The run's token.
    Shared,
    /// It stands in the record.
    Given(Token),
    /// A program prints it, placeholders filled.
    Command(Program),
}

impl TokenSource {
    /// The same for records that carry the same token.
    pub fn key(&self) -> String {
        match self {
            Self::Shared => String::new(),
            Self::Given(token) => token.expose().to_owned(),
            Self::Command(program) => program.argv().join("\0"),
        }
    }

    /// Gets the token; `None` for the run's. A command runs concurrently with the other records.
    ///
    /// # Errors
    /// As [`Program::run`].
    pub async fn token(self) -> Result<Option<Token>, Failure> {
        match self {
            Self::Shared => Ok(None),
            Self::Given(token) => Ok(Some(token)),
            Self::Command(program) => Box::pin(program.run()).await.map(Some),
        }
    }
}

/// A token command with `{record.FIELD}` placeholders.
#[derive(Debug, Clone)]
pub struct TokenCommand {
    program: Program,
    /// Fields the placeholders name.
    pub fields: Vec<String>,
}

impl TokenCommand {
    /// Takes a command that has placeholders; `None` for any other.
    pub fn new(program: &Program) -> Option<Self> {
        let mut fields: Vec<String> =
            program.argv().iter().flat_map(|argument| fields(argument)).map(str::to_owned).collect();
        fields.sort_unstable();
        fields.dedup();
        (!fields.is_empty()).then(|| Self { program: program.clone(), fields })
    }

    /// The command for a record. `find` gives a record's field as text.
    ///
    /// # Errors
    /// `usage` when the record lacks a field.
    pub fn substitute(&self, find: impl Fn(&str) -> Option<String>) -> Result<TokenSource, Failure> {
        let mut argv = self.program.argv().to_vec();
        for field in &self.fields {
            let value = find(field).filter(|value| !value.is_empty()).ok_or_else(|| {
                Failure::usage(format!("the token command uses `{field}`, which this record does not have"))
            })?;
            // The program's own name is never the record's to choose.
            for argument in argv.iter_mut().skip(1) {
                *argument = argument.replace(&placeholder(field), &value);
            }
        }
        Ok(TokenSource::Command(self.program.with_argv(argv)))
    }
}

/// A token that stands in a record.
///
/// # Errors
/// `auth` when it is none.
pub fn from_record(value: &Value) -> Result<TokenSource, Failure> {
    let token = value.as_str().and_then(Token::new).filter(Token::is_valid);
    token.map(TokenSource::Given).ok_or_else(|| Failure::new(FailureKind::Usage, "invalid token in record"))
}

/// A field of a record as text, at its top or inside its wrapper.
pub fn field(document: &Map<String, Value>, wrapper: Option<&str>, name: &str) -> Option<String> {
    let inner = || wrapper.and_then(|wrapper| document.get(wrapper)).and_then(|inner| inner.get(name));
    match document.get(name).or_else(inner)? {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn fields(argument: &str) -> impl Iterator<Item = &str> {
    argument
        .split("{record.")
        .skip(1)
        .filter_map(|rest| Some(rest.split_once('}')?.0))
        .filter(|name| !name.is_empty())
}

fn placeholder(field: &str) -> String {
    format!("{{record.{field}}}")
}

/// The batch's own token, once it had to be renewed.
#[derive(Debug, Default)]
pub struct RunToken {
    /// The command that prints it, if that is where it comes from.
    command: Option<Program>,
    renewed: RefCell<Option<Token>>,
    /// Whether the command was run again; that is done once.
    was_renewed: Cell<bool>,
    lock: Mutex<()>,
}

impl RunToken {
    /// A token printed by this command; `None` for one that cannot be renewed.
    pub fn new(command: Option<Program>) -> Self {
        Self { command, ..Self::default() }
    }

    /// The renewed token; `None` as long as the first one is good.
    pub fn renewed(&self) -> Option<Token> {
        self.renewed.borrow().clone()
    }

    /// A token to try after `refused` (`None`: the first one) was answered 401; `None` where there is no other.
    ///
    /// # Errors
    /// As the command's.
    pub async fn after(&self, refused: Option<&Token>) -> Result<Option<Token>, Failure> {
        // Records in flight are refused together; the first of them renews it for all.
        let _held = self.lock.lock().await;
        let current = self.renewed();
        if current.as_ref() != refused {
            return Ok(current);
        }
        let Some(command) = self.command.clone().filter(|_| !self.was_renewed.replace(true)) else {
            return Ok(None);
        };
        let token = Box::pin(command.run()).await?;
        secrets().add(&token);
        *self.renewed.borrow_mut() = Some(token.clone());
        Ok(Some(token))
    }
}

#[cfg(test)]
mod tests {
    use super::{Program, TokenCommand};
    use crate::batch::token::TokenSource;

    #[test]
    fn placeholders_are_filled_in_arguments_only_and_without_a_shell() {
        let argv = ["{record.email}", "show", "shop/{record.email}/{record.id}"].map(str::to_owned);
        let program = Program::new(argv.to_vec());
        let command = TokenCommand::new(&program).unwrap();
        assert_eq!(command.fields, ["email", "id"]);
        let find = |name: &str| Some(if name == "id" { "7".to_owned() } else { "a b;$(x)".to_owned() });
        let filled = ["{record.email}", "show", "shop/a b;$(x)/7"].map(str::to_owned).to_vec();
        assert_eq!(command.substitute(find).unwrap(), TokenSource::Command(program.with_argv(filled)));
        assert!(command.substitute(|_| None).unwrap_err().message.contains("the token command uses `email`"));
        assert!(TokenCommand::new(&Program::new(vec!["pass".to_owned(), "show".to_owned()])).is_none());
    }
}
