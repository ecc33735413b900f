//! Where a record's token comes from: the batch, the record, or the token command.

use std::cell::RefCell;
use std::collections::HashMap;

use serde_json::{Map, Value};
use tokio::sync::Mutex;

use crate::config::TokenCommand;
use storefront_core::failure::Failure;
use storefront_core::text::redact::secrets;
use storefront_core::text::token::Credential;

/// A field or column that holds the record's own token.
pub const TOKEN_FIELD: &str = "token";

/// A placeholder up to the name of its field.
const PLACEHOLDER: &str = "{record.";

/// Where a record's token comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordToken {
    /// The run's token.
    Shared,
    /// It is in the record.
    Given(Credential),
    /// A program prints it; its placeholders are filled.
    Command(TokenCommand),
}

impl RecordToken {
    /// A text that is equal for records that carry the same token.
    pub fn key(&self) -> String {
        match self {
            Self::Shared => String::new(),
            Self::Given(token) => token.expose().into_owned(),
            Self::Command(command) => command.argv.join("\0"),
        }
    }

    /// Gets the token; `None` for the run's. A command runs concurrently with other records.
    ///
    /// # Errors
    /// As [`TokenCommand::run`].
    pub async fn token(self) -> Result<Option<Credential>, Failure> {
        match self {
            Self::Shared => Ok(None),
            Self::Given(token) => Ok(Some(token)),
            Self::Command(command) => Box::pin(command.run()).await.map(Some),
        }
    }
}

/// The fields of the placeholders `{record.FIELD}` in a token command; empty if it prints one token for all.
pub fn placeholders(command: &TokenCommand) -> Vec<String> {
    let after = command.argv.iter().flat_map(|argument| argument.split(PLACEHOLDER).skip(1));
    let mut fields: Vec<String> = after
        .filter_map(|rest| Some(rest.split_once('}')?.0.to_owned()))
        .filter(|name| !name.is_empty())
        .collect();
    fields.sort_unstable();
    fields.dedup();
    fields
}

/// The command for a record. `find` returns each of the record's `fields` as text.
///
/// # Errors
/// `usage` if the record lacks a field, or has one that the program would take for an option.
pub fn filled(
    command: &TokenCommand,
    fields: &[String],
    find: impl Fn(&str) -> Option<String>,
) -> Result<RecordToken, Failure> {
    let mut values = HashMap::new();
    for field in fields {
        let value = find(field).filter(|value| !value.is_empty()).ok_or_else(|| {
            Failure::usage(format!("the token command uses `{field}`, which this record does not have"))
        })?;
        values.insert(field.as_str(), value);
    }
    let mut argv = command.argv.clone();
    let mut options_ended = false;
    // A record never chooses the program.
    for argument in argv.iter_mut().skip(1) {
        let given = fill(argument, &values);
        let begins_with = argument.strip_prefix(PLACEHOLDER).and_then(|rest| Some(rest.split_once('}')?.0));
        match begins_with.filter(|field| !options_ended && values.contains_key(field)) {
            Some(field) if given.starts_with('-') => {
                let message =
                    format!("`{field}` begins with `-`: the token command would take it for an option");
                return Err(Failure::usage(message)
                    .hint("correct the record, or put `--` before the placeholder in `token-command`"));
            }
            _ => options_ended |= argument == "--",
        }
        *argument = given;
    }
    Ok(RecordToken::Command(command.with_argv(argv)))
}

/// Fills the placeholders of an argument in one pass: inserted values are not searched again.
fn fill(argument: &str, values: &HashMap<&str, String>) -> String {
    let mut parts = argument.split(PLACEHOLDER);
    let mut given = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        match part.split_once('}').and_then(|(field, rest)| Some((values.get(field)?, rest))) {
            Some((value, rest)) => given.extend([value, rest]),
            None => given.extend([PLACEHOLDER, part]),
        }
    }
    given
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

/// The batch's own token, which may be renewed once.
#[derive(Debug, Default)]
pub struct RunToken {
    /// The command that prints it, if a command does, until it was run again.
    command: RefCell<Option<TokenCommand>>,
    renewed: Mutex<Option<Credential>>,
}

impl RunToken {
    /// A token printed by this command; `None` if it cannot be renewed.
    pub fn new(command: Option<TokenCommand>) -> Self {
        Self { command: RefCell::new(command), ..Self::default() }
    }

    /// The renewed token; `None` as long as the first one is good.
    pub async fn renewed(&self) -> Option<Credential> {
        self.renewed.lock().await.clone()
    }

    /// A token to try after `refused` (`None`: the first one) was answered 401; `None` if there is no other.
    ///
    /// # Errors
    /// As the command's.
    pub async fn after(&self, refused: Option<&Credential>) -> Result<Option<Credential>, Failure> {
        // Records in flight are refused together; the first one renews the token for all.
        let mut renewed = self.renewed.lock().await;
        if renewed.as_ref() != refused {
            return Ok(renewed.clone());
        }
        let Some(command) = self.command.take() else { return Ok(None) };
        let token = Box::pin(command.run()).await?;
        secrets().add(&token);
        *renewed = Some(token);
        Ok(renewed.clone())
    }
}

#[cfg(test)]
mod tests {
    use super::{RecordToken, TokenCommand, filled, placeholders};

    #[test]
    fn placeholders_are_filled_in_arguments_only_and_without_a_shell() {
        let argv = ["{record.email}", "show", "shop/{record.email}/{record.id}"].map(str::to_owned);
        let command = TokenCommand::new(argv.to_vec());
        let fields = placeholders(&command);
        assert_eq!(fields, ["email", "id"]);
        let find = |name: &str| Some(if name == "id" { "7".to_owned() } else { "a b;$(x)".to_owned() });
        let argv = ["{record.email}", "show", "shop/a b;$(x)/7"].map(str::to_owned).to_vec();
        assert_eq!(filled(&command, &fields, find).unwrap(), RecordToken::Command(command.with_argv(argv)));
        let missing = filled(&command, &fields, |_| None).unwrap_err().message;
        assert!(missing.contains("the token command uses `email`"));
        assert!(placeholders(&TokenCommand::new(vec!["pass".to_owned(), "show".to_owned()])).is_empty());
    }

    #[test]
    fn a_value_of_a_record_is_never_an_option_of_the_command() {
        let filled_with = |argv: &[&str], value: &str| {
            let command = TokenCommand::new(argv.iter().map(|word| (*word).to_owned()).collect());
            filled(&command, &placeholders(&command), |_| Some(value.to_owned())).map_err(|it| it.message)
        };
        for value in ["--output=/tmp/x", "-o", "-"] {
            for argv in [&["op", "{record.id}"][..], &["op", "read", "{record.id}.token", "--", "x"]] {
                let refused = filled_with(argv, value).unwrap_err();
                assert!(refused.starts_with("`id` begins with `-`"), "{refused}");
                assert!(!refused.contains("tmp"), "{refused}");
            }
            for argv in
                [&["op", "--", "{record.id}"][..], &["op", "--user={record.id}"], &["op", "x/{record.id}"]]
            {
                assert!(filled_with(argv, value).is_ok(), "{argv:?} {value}");
            }
        }
        assert!(filled_with(&["op", "{record.id}"], "7-1").is_ok());
        // What a value brings in is not filled again.
        let nested = filled_with(&["op", "--", "{record.a}/{record.b}"], "{record.b}").unwrap();
        let RecordToken::Command(command) = nested else { panic!("{nested:?}") };
        assert_eq!(command.argv[2], "{record.b}/{record.b}");
    }
}
