//! Whose token a record carries: the run's, its own, or what the token command prints for it.

use serde_json::{Map, Value};

use crate::config::run_token_command;
use crate::failure::{Failure, Kind};
use crate::token::Token;

/// A member or column that holds the record's own token.
pub const TOKEN: &str = "token";

/// Where a record's token comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Own {
    /// The run's token.
    Run,
    /// It stands in the record.
    Given(Token),
    /// A program prints it: its name and arguments, placeholders filled.
    Command(Vec<String>),
}

impl Own {
    /// The same for records that carry the same token.
    pub fn key(&self) -> String {
        match self {
            Self::Run => String::new(),
            Self::Given(token) => token.expose().to_owned(),
            Self::Command(argv) => argv.join("\0"),
        }
    }

    /// Gets the token; `None` for the run's. A command runs beside the other records.
    ///
    /// # Errors
    /// As [`run_token_command`].
    pub async fn token(self) -> Result<Option<Token>, Failure> {
        match self {
            Self::Run => Ok(None),
            Self::Given(token) => Ok(Some(token)),
            Self::Command(argv) => {
                let ran = tokio::task::spawn_blocking(move || run_token_command(&argv)).await;
                ran.map_err(|error| Failure::internal(format!("the token command cannot be run: {error}")))?
                    .map(Some)
            }
        }
    }
}

/// A token command with `{record.FIELD}` placeholders.
#[derive(Debug, Clone)]
pub struct TokenCommand {
    argv: Vec<String>,
    /// Fields the placeholders name.
    pub fields: Vec<String>,
}

impl TokenCommand {
    /// Takes a command that has placeholders; `None` for any other.
    pub fn new(argv: &[String]) -> Option<Self> {
        let mut fields: Vec<String> =
            argv.iter().flat_map(|argument| fields(argument)).map(str::to_owned).collect();
        fields.sort_unstable();
        fields.dedup();
        (!fields.is_empty()).then(|| Self { argv: argv.to_vec(), fields })
    }

    /// The command for a record. `find` gives a record's field as text.
    ///
    /// # Errors
    /// `usage` when the record lacks a field.
    pub fn fill(&self, find: impl Fn(&str) -> Option<String>) -> Result<Own, Failure> {
        let mut argv = self.argv.clone();
        for field in &self.fields {
            let value = find(field).filter(|value| !value.is_empty()).ok_or_else(|| {
                Failure::usage(format!("the token command needs {field:?}, which the record lacks"))
            })?;
            // The program's own name is never the record's to choose.
            for argument in argv.iter_mut().skip(1) {
                *argument = argument.replace(&placeholder(field), &value);
            }
        }
        Ok(Own::Command(argv))
    }
}

/// A token that stands in a record.
///
/// # Errors
/// `auth` when it is none.
pub fn given(value: &Value) -> Result<Own, Failure> {
    let token = value
        .as_str()
        .and_then(Token::new)
        .filter(|token| token.expose().bytes().all(|byte| byte.is_ascii_graphic()));
    token.map(Own::Given).ok_or_else(|| Failure::new(Kind::Usage, "the record's token is no token"))
}

/// A member of a record as text, at its top or inside its wrapper.
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

#[cfg(test)]
mod tests {
    use super::{Own, TokenCommand};

    #[test]
    fn placeholders_are_filled_in_arguments_only_and_without_a_shell() {
        let argv = ["{record.email}", "show", "shop/{record.email}/{record.id}"].map(str::to_owned);
        let command = TokenCommand::new(&argv).unwrap();
        assert_eq!(command.fields, ["email", "id"]);
        let find = |name: &str| Some(if name == "id" { "7".to_owned() } else { "a b;$(x)".to_owned() });
        let filled = ["{record.email}", "show", "shop/a b;$(x)/7"].map(str::to_owned).to_vec();
        assert_eq!(command.fill(find).unwrap(), Own::Command(filled));
        assert!(command.fill(|_| None).unwrap_err().message.contains("\"email\""));
        assert!(TokenCommand::new(&["pass".to_owned(), "show".to_owned()]).is_none());
    }
}
