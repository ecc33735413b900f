//! What a key holds: read out of TOML, or made from the words of a command line.

use std::time::Duration;

use toml_edit::{Array, Item};

use super::settings::parse_base_url;
use crate::cli::duration;
use crate::config::keys::ValueType;
use crate::plan::request::StoreView;
use crate::shell::Shell;
use crate::token::Token;

/// The checked value of a key.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Every kind of text but secrets.
    Text(String),
    /// A token.
    Secret(Token),
    /// `true` or `false`.
    Flag(bool),
    /// A time.
    Seconds(Duration),
    /// An integer.
    Count(u32),
    /// A list of texts.
    List(Vec<String>),
}

impl ValueType {
    /// Reads a value of this kind; the error says what was expected and what was found, and never repeats a secret.
    pub fn read(self, item: &Item) -> Result<Value, String> {
        let value = match self {
            Self::Flag => item.as_bool().map(Value::Flag),
            Self::Count => item.as_integer().and_then(|number| u32::try_from(number).ok()).map(Value::Count),
            Self::Seconds => read_duration(item, duration::positive).map(Value::Seconds),
            Self::Wait => read_duration(item, duration::or_zero).map(Value::Seconds),
            Self::Command | Self::Pointers => read_texts(item).map(Value::List),
            Self::Secret => item.as_str().and_then(Token::new).map(Value::Secret),
            _ => item.as_str().map(|text| Value::Text(text.to_owned())),
        };
        let value = value.ok_or_else(|| format!("expected {}, found {}", self.expected(), found(item)))?;
        self.check(&value).map(|()| value)
    }

    /// Makes TOML of what stood on a command line: several words only where a list is held.
    pub fn write(self, words: &[String]) -> Result<toml_edit::Value, String> {
        let one = match (self, words) {
            (Self::Command | Self::Pointers, _) => return self.write_list(words),
            (_, [one]) => one,
            _ => {
                return Err(format!("expected {}, got {} values", self.expected(), words.len()));
            }
        };
        let value = match self {
            Self::Flag => one.parse::<bool>().ok().map(Into::into),
            Self::Count => one.parse::<i64>().ok().map(Into::into),
            Self::Seconds | Self::Wait => {
                let whole = one.parse::<i64>().ok().map(Into::into);
                let number = whole.or_else(|| one.parse::<f64>().ok().map(Into::into));
                number.or_else(|| Some(one.into()))
            }
            _ => Some(toml_edit::Value::from(one)),
        };
        let value = value.ok_or_else(|| format!("expected {}, found `{one}`", self.expected()))?;
        self.read(&Item::Value(value.clone())).map(|_| value)
    }

    /// One word may be a TOML array or, for a command, a line as a shell splits it.
    fn write_list(self, words: &[String]) -> Result<toml_edit::Value, String> {
        let value = match words {
            [one] if one.trim_start().starts_with('[') => one
                .parse::<toml_edit::Value>()
                .map_err(|error| format!("not a TOML array: {}", error.message()))?,
            [one] if matches!(self, Self::Command) => {
                let words = Shell::NATIVE.split(one)?;
                words.into_iter().collect::<Array>().into()
            }
            words => words.iter().collect::<Array>().into(),
        };
        self.read(&Item::Value(value.clone())).map(|_| value)
    }

    /// What is beyond the type: the error is a sentence's end.
    fn check(self, value: &Value) -> Result<(), String> {
        let problem = || format!("expected {}", self.expected());
        match (self, value) {
            (Self::BaseUrl, Value::Text(text)) => parse_base_url(text).map(|_| ()),
            (Self::StoreView, Value::Text(code)) => {
                StoreView::new(code).map(|_| ()).map_err(|failure| failure.message)
            }
            (Self::Choice(words), Value::Text(word)) if !words.contains(&word.as_str()) => {
                Err(format!("{}, found `{word}`", problem()))
            }
            (Self::RequestPath, Value::Text(path)) if !path.starts_with('/') => Err(problem()),
            (Self::Pointer, Value::Text(pointer)) if !is_pointer(pointer) => Err(problem()),
            (Self::Text | Self::Path, Value::Text(text)) if text.is_empty() => Err(problem()),
            (Self::Command, Value::List(words)) if words.first().is_none_or(String::is_empty) => {
                Err(problem())
            }
            (Self::Pointers, Value::List(pointers)) if !pointers.iter().all(|one| may_be_ignored(one)) => {
                Err(problem())
            }
            _ => Ok(()),
        }
    }

    /// What a value of this kind looks like, for messages and the docs.
    pub fn expected(self) -> String {
        match self {
            Self::Text => "text",
            Self::Secret => "a token",
            Self::BaseUrl => "an http:// or https:// URL",
            Self::StoreView => "a store view code",
            Self::Path => "the path of a file",
            Self::RequestPath => "a path starting with /",
            Self::Pointer => "a JSON pointer (empty or starting with /)",
            Self::Pointers => "a list of JSON pointers (starting with /, not pointing into addresses)",
            Self::Command => "a list of strings: program and arguments",
            Self::Flag => "true or false",
            Self::Seconds => duration::POSITIVE,
            Self::Wait => duration::OR_ZERO,
            Self::Count => "a non-negative integer",
            Self::Choice(words) => return words.join(" or "),
            Self::Table(_) | Self::Profiles(_) => "a table",
        }
        .to_owned()
    }
}

/// A number of seconds, or text with a unit.
fn read_duration(item: &Item, parse: fn(&str) -> Result<Duration, String>) -> Option<Duration> {
    let text = match item.as_value()? {
        toml_edit::Value::Integer(number) => number.value().to_string(),
        toml_edit::Value::Float(number) => number.value().to_string(),
        toml_edit::Value::String(text) => text.value().clone(),
        _ => return None,
    };
    parse(&text).ok()
}

fn read_texts(item: &Item) -> Option<Vec<String>> {
    let texts = item.as_array()?.iter();
    texts.map(|text| text.as_str().map(str::to_owned)).collect()
}

fn is_pointer(text: &str) -> bool {
    text.is_empty() || text.starts_with('/')
}

/// A comparison that overlooked an address, or which one it is, would let it be lost.
fn may_be_ignored(pointer: &str) -> bool {
    let steps: Vec<&str> = pointer.split('/').collect();
    match steps[..] {
        ["", "addresses"] | ["", "addresses", _] | ["", "addresses", _, "id"] => false,
        _ => pointer.starts_with('/'),
    }
}

/// The type of what was found and, for what is never secret, the value.
pub fn found(item: &Item) -> String {
    match item {
        Item::Value(toml_edit::Value::Integer(number)) => format!("the number {}", number.value()),
        Item::Value(toml_edit::Value::Float(number)) => format!("the number {}", number.value()),
        Item::Value(toml_edit::Value::Boolean(flag)) => flag.value().to_string(),
        Item::Value(toml_edit::Value::String(text)) if text.value().trim().is_empty() => {
            "an empty string".to_owned()
        }
        Item::Value(toml_edit::Value::String(_)) => "text".to_owned(),
        Item::Value(toml_edit::Value::Array(list)) if list.iter().all(toml_edit::Value::is_str) => {
            "a list of strings".to_owned()
        }
        Item::Value(toml_edit::Value::Array(_)) => "a list".to_owned(),
        other => format!("a {}", other.type_name()),
    }
}

#[cfg(test)]
mod tests {
    use super::{Value, ValueType};

    fn write(kind: ValueType, words: &[&str]) -> Result<String, String> {
        let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
        kind.write(&words).map(|value| value.to_string())
    }

    #[test]
    fn a_command_is_a_list_however_it_is_written() {
        for words in [
            &["pass", "show", "a shop"][..],
            &["pass show \"a shop\""],
            &["[\"pass\", \"show\", \"a shop\"]"],
        ] {
            assert_eq!(write(ValueType::Command, words).unwrap(), r#"["pass", "show", "a shop"]"#);
        }
        assert!(write(ValueType::Command, &[""]).is_err());
        assert!(write(ValueType::Command, &["[1]"]).is_err());
    }

    #[test]
    fn scalars_are_checked_as_they_are_written() {
        assert_eq!(write(ValueType::Count, &["0"]).unwrap(), "0");
        assert_eq!(write(ValueType::Seconds, &["0.5"]).unwrap(), "0.5");
        assert_eq!(write(ValueType::Seconds, &["500ms"]).unwrap(), "\"500ms\"");
        assert_eq!(write(ValueType::Wait, &["0"]).unwrap(), "0");
        assert_eq!(write(ValueType::Flag, &["true"]).unwrap(), "true");
        for (kind, word) in [
            (ValueType::Count, "-1"),
            (ValueType::Count, "many"),
            (ValueType::Count, "4294967296"),
            (ValueType::Seconds, "0"),
            (ValueType::Seconds, "nan"),
            (ValueType::Seconds, "86401"),
            (ValueType::Seconds, "0ms"),
            (ValueType::Wait, "-1"),
            (ValueType::Flag, "yes"),
            (ValueType::Choice(&["wrapped", "flat"]), "round"),
            (ValueType::StoreView, ".."),
            (ValueType::RequestPath, "V1"),
            (ValueType::Pointer, "customer"),
            (ValueType::Pointers, "customer"),
            (ValueType::Text, ""),
            (ValueType::Secret, " "),
        ] {
            assert!(write(kind, &[word]).is_err(), "{kind:?} {word}");
        }
        assert!(write(ValueType::Count, &["1", "2"]).is_err());
    }

    #[test]
    fn a_secret_does_not_show_itself() {
        let item = toml_edit::value("hunter2");
        assert_eq!(format!("{:?}", ValueType::Secret.read(&item).unwrap()), "Secret(•••)");
        assert!(!ValueType::Count.read(&item).unwrap_err().contains("hunter2"));
        assert_eq!(
            ValueType::Seconds.read(&toml_edit::value(30)).unwrap(),
            Value::Seconds(std::time::Duration::from_secs(30))
        );
    }
}
