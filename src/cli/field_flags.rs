//! Flags that set fields of the input, made from the documented shapes so that names, types and help are
//! written once.

use std::marker::PhantomData;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use serde_json::{Map, Number, Value};

use crate::plan::validate::body::is_whole;
use crate::text::exact_json;
use crate::wire::{Field, FieldType, MAGENTO_FIELDS, MARKETPLACE_FIELDS, Table};

/// One flag and the member it sets.
#[derive(Debug)]
pub struct FieldFlag {
    /// Long name, without dashes.
    pub long: &'static str,
    /// Member that holds the object the set member is in, if it is not at the top.
    pub within: Option<&'static str>,
    /// Table the set member is listed in.
    pub table: Table,
    /// Name of the set member.
    pub member: &'static str,
    /// For a flag without a value: what it sets the member to.
    pub constant: Option<Constant>,
}

/// What a flag without a value sets its member to.
#[derive(Debug, Clone, Copy)]
pub struct Constant {
    value: fn() -> Value,
    help: &'static str,
}

impl FieldFlag {
    /// A flag that sets a member at the top of the object of `table`.
    pub const fn new(long: &'static str, table: Table, member: &'static str) -> Self {
        Self { long, within: None, table, member, constant: None }
    }

    /// The same, in an object inside.
    #[must_use]
    pub const fn within(mut self, object: &'static str) -> Self {
        self.within = Some(object);
        self
    }

    /// A flag without a value.
    #[must_use]
    pub const fn constant(mut self, value: fn() -> Value, help: &'static str) -> Self {
        self.constant = Some(Constant { value, help });
        self
    }

    /// The documented field; some are in the tables of Magento alone.
    fn field(&self) -> Option<&'static Field> {
        (self.table)(&MARKETPLACE_FIELDS)
            .field(self.member)
            .or_else(|| (self.table)(&MAGENTO_FIELDS).field(self.member))
    }

    fn arg(&self, heading: &'static str) -> Arg {
        let arg = Arg::new(self.long).long(self.long).help_heading(heading);
        if let Some(constant) = self.constant {
            return arg.action(ArgAction::SetTrue).help(constant.help);
        }
        let member = self.field();
        let arg = arg.help(member.map_or("", |member| member.doc));
        match member.map(|member| member.field_type) {
            Some(FieldType::TextList) => {
                arg.action(ArgAction::Append).num_args(1..).value_parser(filled).value_name("LINE")
            }
            Some(FieldType::Integer) => {
                arg.value_parser(whole_number).allow_negative_numbers(true).value_name("N")
            }
            Some(FieldType::Number) => arg.value_parser(number).allow_negative_numbers(true).value_name("N"),
            Some(FieldType::Boolean) => arg
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("true")
                .value_parser(boolean)
                .value_name("BOOL"),
            _ => arg.value_parser(filled).value_name("TEXT"),
        }
    }

    /// Whether the other flag sets the same member, or one inside it.
    fn conflicts_with(&self, other: &Self) -> bool {
        self.long != other.long
            && (other.member == self.member && other.within == self.within
                || other.within == Some(self.member))
    }

    fn value(&self, matches: &ArgMatches) -> Option<Value> {
        if let Some(constant) = self.constant {
            return matches.get_flag(self.long).then(constant.value);
        }
        match self.field()?.field_type {
            FieldType::TextList => {
                let lines = matches.get_many::<String>(self.long)?;
                Some(lines.map(|line| Value::String(line.clone())).collect())
            }
            FieldType::Integer | FieldType::Number | FieldType::Boolean => {
                matches.get_one::<Value>(self.long).cloned()
            }
            _ => matches.get_one::<String>(self.long).cloned().map(Value::String),
        }
    }

    fn set(&self, value: Value, members: &mut Map<String, Value>) {
        let Some(object) = self.within else {
            members.insert(self.member.to_owned(), value);
            return;
        };
        let object = members.entry(object).or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(object) = object {
            object.insert(self.member.to_owned(), value);
        }
    }
}

/// A family of flags.
pub trait FieldFlags: Clone + std::fmt::Debug + 'static {
    /// Heading in the help.
    const HEADING: &'static str;
    /// The flags.
    const FLAGS: &'static [FieldFlag];
}

/// The members a family of flags named, as JSON.
#[derive(Debug, Clone)]
pub struct FieldArgs<F> {
    /// What was named.
    pub named: Map<String, Value>,
    family: PhantomData<F>,
}

impl<F: FieldFlags> Args for FieldArgs<F> {
    fn augment_args(command: Command) -> Command {
        let arg = |flag: &FieldFlag| {
            let rivals =
                F::FLAGS.iter().filter(|rival| flag.constant.is_some() && flag.conflicts_with(rival));
            flag.arg(F::HEADING).conflicts_with_all(rivals.map(|rival| rival.long))
        };
        command.args(F::FLAGS.iter().map(arg))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<F: FieldFlags> FromArgMatches for FieldArgs<F> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut named = Map::new();
        for flag in F::FLAGS {
            if let Some(value) = flag.value(matches) {
                flag.set(value, &mut named);
            }
        }
        Ok(Self { named, family: PhantomData })
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.named.extend(Self::from_arg_matches(matches)?.named);
        Ok(())
    }
}

/// Text that is not empty: an unset variable of a shell must not clear a field.
fn filled(text: &str) -> Result<String, String> {
    if text.is_empty() {
        return Err("expected text; to clear a field use `customer update --clear FIELD`".to_owned());
    }
    Ok(text.to_owned())
}

/// JSON `true` or `false`.
fn boolean(text: &str) -> Result<Value, String> {
    match text {
        "true" | "yes" | "1" => Ok(Value::Bool(true)),
        "false" | "no" | "0" => Ok(Value::Bool(false)),
        _ => Err("expected true or false".to_owned()),
    }
}

/// A whole number with its exact text.
pub fn whole_number(text: &str) -> Result<Value, String> {
    number(text).ok().filter(|_| is_whole(text)).ok_or_else(|| "expected an integer".to_owned())
}

/// A JSON number with its exact text.
fn number(text: &str) -> Result<Value, String> {
    exact_json::number(text).map(Value::Number).ok_or_else(|| {
        let example = exact_json::with_decimal_point(text).map(|number| format!(" such as {number}"));
        format!("expected a number{}", example.unwrap_or_default())
    })
}

/// `KEY=VALUE`, as `--custom-attribute` takes it.
pub fn parse_key_value(text: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !key.is_empty() => Ok((key.to_owned(), value.to_owned())),
        _ => Err("expected KEY=VALUE".to_owned()),
    }
}

/// The same, with the names that the help of the flag has.
fn parse_pair(text: &str, expected: &str) -> Result<(String, String), String> {
    parse_key_value(text).map_err(|_| format!("expected {expected}"))
}

/// `STORE=LABEL`, with the id or the code of a store view before the equals sign.
pub fn parse_store_label(text: &str) -> Result<(String, String), String> {
    parse_pair(text, "STORE=LABEL")
}

/// `OPTION_ID=OPTION_VALUE`, with a whole number after the equals sign.
pub fn parse_label_number(text: &str) -> Result<(String, Number), String> {
    let (id, value) = parse_pair(text, "OPTION_ID=OPTION_VALUE")?;
    Ok((id, whole(&value)?))
}

fn whole(text: &str) -> Result<Number, String> {
    match whole_number(text) {
        Ok(Value::Number(number)) => Ok(number),
        _ => Err(format!("`{text}` is not an integer")),
    }
}
