//! JSON text as a [`Value`] that loses nothing: numbers keep their spelling, every field name is an ordinary name, and
//! a repeated name is reported with its path.
//!
//! `serde_json` itself writes `1E2` as `1e+2`, and takes `{"$serde_json::private::Number": "1"}` for the number 1.
//! Neither may happen to what a service or a user gave us, so foreign text becomes a [`Value`] only here. For the same
//! reason, values must never pass through `serde_json::to_value`, `from_value` or `json!`, which read numbers again;
//! writing them as text is exact.

use std::borrow::Cow;
use std::fmt;

use hifijson::num::LexWrite as _;
use hifijson::str::LexAlloc as _;
use hifijson::token::Lex as _;
use hifijson::{Expect, Read as _, SliceLexer, escape, str as string};
use serde::Serialize;
use serde_json::{Map, Number, Value};

/// The number of levels that are read; `serde_json` has the same limit.
const DEEPEST: usize = 127;

/// Why a text is not read as JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// The text is not JSON, or has one half of a surrogate pair, which is not a character and could not be sent back.
    Syntax {
        /// What is wrong.
        problem: String,
        /// Line, from 1.
        line: usize,
        /// Column in bytes, from 1.
        column: usize,
    },
    /// It is nested over 127 levels deep.
    TooDeep,
    /// The field at this path is repeated in its object.
    Repeated(String),
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax { problem, line, column } => write!(out, "{problem} at line {line} column {column}"),
            Self::TooDeep => write!(out, "nested over {DEEPEST} levels deep"),
            Self::Repeated(path) => write!(out, "duplicate field `{path}`"),
        }
    }
}

impl std::error::Error for Error {}

/// Parses a document in which no object has a field twice.
///
/// # Errors
/// [`Error`], a repeated field included.
pub fn parse(text: &[u8]) -> Result<Value, Error> {
    let (value, repeated) = parse_with_repeats(text)?;
    repeated.map_or(Ok(value), |path| Err(Error::Repeated(path)))
}

/// Parses a document. The last of repeated fields counts, as in most parsers; the path of the first repetition, such as
/// `customer.addresses`, is returned beside the document.
///
/// # Errors
/// [`Error`], but never [`Error::Repeated`].
pub fn parse_with_repeats(text: &[u8]) -> Result<(Value, Option<String>), Error> {
    let mut reader = Reader { text, lexer: SliceLexer::new(text), path: Vec::new(), repeated: None };
    let value = reader.document()?;
    Ok((value, reader.repeated))
}

/// A number that keeps its spelling, if the text is one, blanks apart.
pub fn number(text: &str) -> Option<Number> {
    match parse(text.as_bytes()) {
        Ok(Value::Number(number)) => Some(number),
        _ => None,
    }
}

/// The number that a text with a decimal comma stands for, as many countries write it: `1.5` for `1,5`.
pub fn with_decimal_point(text: &str) -> Option<String> {
    let with_point = text.trim().replacen(',', ".", 1);
    number(&with_point).is_some().then_some(with_point)
}

/// Parses an object in which no object has a field twice.
///
/// # Errors
/// As [`parse`]; for a value of another kind, a syntax error that says so.
pub fn parse_object(text: &[u8]) -> Result<Map<String, Value>, Error> {
    match parse(text)? {
        Value::Object(object) => Ok(object),
        _ => Err(Error::Syntax { problem: "expected an object".to_owned(), line: 1, column: 1 }),
    }
}

/// An object of these fields. Unlike `json!` it leaves the values unchanged.
pub fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::Object(fields.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// A serialized value; null for what cannot be serialized.
pub fn of(value: &impl Serialize) -> Value {
    serde_json::to_vec(value).ok().and_then(|text| parse(&text).ok()).unwrap_or_default()
}

/// Parses a document. Levels are counted, because each costs stack.
struct Reader<'a> {
    text: &'a [u8],
    lexer: SliceLexer<'a>,
    /// The fields and indices that lead to the current place.
    path: Vec<Step<'a>>,
    repeated: Option<String>,
}

/// One step of a path.
enum Step<'a> {
    Field(Cow<'a, str>),
    Index(usize),
}

/// What is wrong, without the place.
type Problem = hifijson::Error;

impl<'a> Reader<'a> {
    /// Reads one document with nothing after it.
    fn document(&mut self) -> Result<Value, Error> {
        let value = self.next(Expect::Value).and_then(|next| self.value(next));
        let end = |value| self.lexer.ws_peek().map_or(Ok(value), |_| Err(Expect::Eof.into()));
        value.and_then(end).map_err(|problem| self.error(&problem))
    }

    fn next(&mut self, expected: Expect) -> Result<u8, Problem> {
        Ok(self.lexer.ws_peek().ok_or(expected)?)
    }

    fn value(&mut self, next: u8) -> Result<Value, Problem> {
        Ok(match next {
            b'"' => Value::String(self.string()?.into_owned()),
            b'{' => Value::Object(self.object()?),
            b'[' => Value::Array(self.array()?),
            b'-' | b'0'..=b'9' => {
                let (text, _) = self.lexer.num_string().validated()?;
                // This is the only way to a number that keeps the spelling of its exponent; the text has just been
                // validated.
                Value::Number(Number::from_string_unchecked(text.to_owned()))
            }
            _ => self.lexer.null_or_bool().ok_or(Expect::Value)?.map_or(Value::Null, Value::Bool),
        })
    }

    fn string(&mut self) -> Result<Cow<'a, str>, Problem> {
        Ok(self.lexer.discarded().str_string()?)
    }

    fn array(&mut self) -> Result<Vec<Value>, Problem> {
        self.descend()?;
        let mut array = Vec::new();
        let mut next = Some(self.next(Expect::ValueOrEnd)?).filter(|next| *next != b']');
        while let Some(first) = next {
            self.path.push(Step::Index(array.len()));
            array.push(self.value(first)?);
            next = self.after_member(b']')?;
        }
        self.lexer.take_next();
        Ok(array)
    }

    fn object(&mut self) -> Result<Map<String, Value>, Problem> {
        self.descend()?;
        let mut object = Map::new();
        let mut next = Some(self.next(Expect::ValueOrEnd)?).filter(|next| *next != b'}');
        while let Some(first) = next {
            if first != b'"' {
                return Err(Expect::String.into());
            }
            let name = self.string()?;
            self.lexer.expect(SliceLexer::ws_peek, b':').ok_or(Expect::Colon)?;
            let value = self.next(Expect::Value)?;
            self.path.push(Step::Field(name.clone()));
            let value = self.value(value)?;
            if object.insert(name.into_owned(), value).is_some() && self.repeated.is_none() {
                self.repeated = Some(path_text(&self.path));
            }
            next = self.after_member(b'}')?;
        }
        self.lexer.take_next();
        Ok(object)
    }

    /// Ends a member: returns the first byte of the next one, or `None` if the array or object ends.
    fn after_member(&mut self, end: u8) -> Result<Option<u8>, Problem> {
        self.path.pop();
        match self.next(Expect::CommaOrEnd)? {
            b',' => {
                self.lexer.take_next();
                Ok(Some(self.next(Expect::Value)?))
            }
            next if next == end => Ok(None),
            _ => Err(Expect::CommaOrEnd.into()),
        }
    }

    /// Takes the opening bracket. Each open one except the outermost is a step of the path.
    fn descend(&mut self) -> Result<(), Problem> {
        if self.path.len() >= DEEPEST {
            return Err(Problem::Depth);
        }
        self.lexer.take_next();
        Ok(())
    }

    fn error(&self, problem: &Problem) -> Error {
        let problem = match problem {
            Problem::Depth => return Error::TooDeep,
            Problem::Str(string::Error::Escape(
                escape::Error::ExpectedLowSurrogate | escape::Error::InvalidChar(_),
            )) => r"half of a surrogate pair (`\ud800` to `\udfff`)".to_owned(),
            // People know the words of serde_json from other tools.
            problem => match serde_json::from_slice::<serde::de::IgnoredAny>(self.text) {
                Err(known) => {
                    let line = known.line();
                    let column = known.column();
                    let problem = without_place(&known.to_string()).to_owned();
                    return Error::Syntax { problem, line, column };
                }
                Ok(_) => problem.to_string(),
            },
        };
        let (line, column) = place(&self.text[..self.text.len() - self.lexer.as_slice().len()]);
        Error::Syntax { problem, line, column }
    }
}

fn without_place(message: &str) -> &str {
    message.rsplit_once(" at line ").map_or(message, |(problem, _)| problem)
}

fn place(read: &[u8]) -> (usize, usize) {
    let last = read.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
    (read.split(|byte| *byte == b'\n').count(), last.len())
}

fn path_text(path: &[Step<'_>]) -> String {
    let mut text = String::new();
    for step in path {
        match step {
            Step::Field(name) => text.extend([if text.is_empty() { "" } else { "." }, name.as_ref()]),
            Step::Index(index) => text.extend(["[", &index.to_string(), "]"]),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    //! Numbers, names and texts come through as they were written.

    use proptest::prelude::*;
    use serde_json::Value;

    use super::{Error, number, parse, parse_with_repeats};

    fn repeated(text: &str) -> Option<String> {
        parse_with_repeats(text.as_bytes()).unwrap().1
    }

    #[test]
    fn numbers_and_private_names_come_back_to_the_letter() {
        for text in [
            "[1E2,1e2,1E+2,1.0E5,1E-2,1e400,-0.0,-0,0,1.10,12345678901234567890.10]",
            r#"{"$serde_json::private::Number":"12"}"#,
            r#"{"a":{"$serde_json::private::RawValue":"[1]"},"b":[{"$serde_json::private::Number":1E2}]}"#,
            r#"["\"\\\n","é両\u0001",""]"#,
            "[]",
            "{}",
            "null",
            "[true,false,[{}]]",
        ] {
            assert_eq!(parse(text.as_bytes()).unwrap().to_string(), text);
        }
        assert_eq!(number("1E2").unwrap().to_string(), "1E2");
        for text in ["", "1 2", "01", "1.", "+1", "1e", "NaN", "\"1\"", "-"] {
            assert!(number(text).is_none(), "{text}");
        }
    }

    #[test]
    fn the_first_repeated_field_is_told_by_its_path() {
        for (text, path) in [
            (r#"{"a": 1, "a": 1}"#, "a"),
            (r#"{"customer": {"addresses": [1], "email": "x", "addresses": []}}"#, "customer.addresses"),
            (r#"[{}, {"b": [[], {"c": null, "\u0063": 1.50}]}]"#, "[1].b[1].c"),
            (
                r#"{"$serde_json::private::RawValue": 1, "$serde_json::private::RawValue": 2}"#,
                "$serde_json::private::RawValue",
            ),
            (r#"{"a": 1, "": 2, "a": 3, "": 4}"#, "a"),
        ] {
            assert_eq!(repeated(text).as_deref(), Some(path), "{text}");
            assert_eq!(parse(text.as_bytes()), Err(Error::Repeated(path.to_owned())), "{text}");
        }
        let many = (0..40).map(|n| format!("\"f{n}\":0")).collect::<Vec<_>>().join(",") + ",";
        assert_eq!(repeated(&format!("{{{many}\"f39\":1}}")).as_deref(), Some("f39"));
        assert_eq!(repeated(&format!("{{{many}\"f2\":1}}")).as_deref(), Some("f2"));
        for text in [r#"{"a": {"a": [{"a": 1}, {"a": 1.0e3}]}, "A": true, "": "a"}"#, "12"] {
            assert_eq!(repeated(text), None, "{text}");
        }
    }

    #[test]
    fn depth_and_half_characters_are_refused_by_name() {
        let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
        assert!(parse(deep(127).as_bytes()).is_ok());
        assert_eq!(parse(deep(128).as_bytes()), Err(Error::TooDeep));
        let objects = format!("{}1{}", "{\"a\":".repeat(128), "}".repeat(128));
        assert_eq!(parse(objects.as_bytes()), Err(Error::TooDeep));
        for half in [r#""\ud800""#, r#""\udc00""#, r#"{"\ud83d\u0041":1}"#, r#"["\ud83dx"]"#] {
            let failed = parse(half.as_bytes()).unwrap_err();
            assert!(matches!(failed, Error::Syntax { line: 1, .. }), "{half}: {failed:?}");
            assert!(failed.to_string().contains("half of a surrogate pair"), "{failed}");
        }
        assert_eq!(parse(br#""\ud83d\ude00""#).unwrap(), "😀");
    }

    #[test]
    fn broken_text_is_placed_by_line_and_column() {
        for text in
            ["", "{", "[1,]", "{\"a\":1,}", "{a:1}", "[1] x", "\"a\nb\"", "01", "[1.]", "tru", "\"\\x\""]
        {
            let failed = parse(text.as_bytes()).unwrap_err();
            assert!(failed.to_string().contains("at line "), "{text}: {failed}");
        }
        assert!(parse(b"\"\xff\"").is_err());
        assert_eq!(
            parse(b"{\n  \"a\": 1\n  \"b\": 2}").unwrap_err().to_string(),
            "expected `,` or `}` at line 3 column 3"
        );
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            any::<String>().prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::hash_map(any::<String>(), inner, 0..4)
                    .prop_map(|fields| Value::Object(fields.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_was_written_is_read_back(value in values()) {
            let text = value.to_string();
            prop_assert_eq!(&parse(text.as_bytes()).unwrap(), &value);
            prop_assert_eq!(&parse(format!("{value:#}").as_bytes()).unwrap(), &value);
        }

        #[test]
        fn it_reads_what_serde_json_reads(text in "[\\[\\]{}:,\"\\\\a-f0-2. eE+nulltrsu-]{0,24}") {
            let known = serde_json::from_str::<Value>(&text).is_ok();
            prop_assert_eq!(parse_with_repeats(text.as_bytes()).is_ok(), known, "{}", text);
        }
    }
}
