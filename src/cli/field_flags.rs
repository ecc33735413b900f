//! Flags that set fields of the input, made from the documented shapes so that names, types and help are
//! written once.

use std::marker::PhantomData;

use clap::{Arg, ArgAction, ArgMatches, Args, Command, FromArgMatches};
use serde_json::{Map, Number, Value};

use storefront_core::check::body::{country, is_whole};
use storefront_core::interface::fields::{
    Field, FieldTables, FieldType, MAGENTO_FIELDS, MARKETPLACE_FIELDS, Table,
};
use storefront_core::profile::region;
use storefront_core::sheet::cells::{ambiguous, bare, flag};
use storefront_core::text::exact_json;

/// A family of flags.
pub trait FieldFlags: Clone + std::fmt::Debug + 'static {
    /// Heading in the help.
    const HEADING: &'static str;
    /// The object whose members they set; some are only in the tables of Magento.
    const TABLE: Table;
    /// The start of all names, if the members' names do not have it.
    const PREFIX: &'static str = "";
    /// The long names, each with the path of its member where that has another name: `city country=country_id`. A name
    /// like `no-city` takes no value and clears the member.
    const FLAGS: &'static str;
    /// The names that help leaves out: numbers that only programs know, and fields that few addresses have.
    const HIDDEN: &'static [&'static str] = &[];

    /// The flags.
    fn flags() -> impl Iterator<Item = FieldFlag> {
        Self::FLAGS.split_whitespace().filter_map(FieldFlag::find::<Self>)
    }
}

/// One flag and the member it sets.
#[derive(Debug)]
pub struct FieldFlag {
    /// Long name, without dashes.
    pub long: &'static str,
    /// The documented field that it sets.
    pub field: &'static Field,
    /// Member that holds the object the field is in, if it is not at the top.
    within: Option<&'static str>,
    /// Whether it takes no value and clears the field.
    clears: bool,
}

impl FieldFlag {
    fn find<F: FieldFlags>(word: &'static str) -> Option<Self> {
        let (long, path) = word.split_once('=').unwrap_or((word, word));
        let path = path.strip_prefix(F::PREFIX).unwrap_or(path);
        let (path, clears) = path.strip_prefix("no-").map_or((path, false), |path| (path, true));
        let path = path.replace('-', "_");
        let of = |tables: &FieldTables| {
            let object = (F::TABLE)(tables);
            let Some((outer, inner)) = path.split_once('.') else {
                return Some((None, object.field(&path)?));
            };
            let outer = object.field(outer)?;
            Some((Some(outer.name), outer.field_type.schema()?.field(inner)?))
        };
        let (within, field) = of(&MARKETPLACE_FIELDS).or_else(|| of(&MAGENTO_FIELDS))?;
        Some(Self { long, field, within, clears })
    }

    fn arg(&self, heading: &'static str) -> Arg {
        let arg = Arg::new(self.long).long(self.long).help_heading(heading).help(self.field.doc);
        match self.field.field_type {
            FieldType::Object(_) if self.clears => {
                arg.action(ArgAction::SetTrue).help(format!("Clear the {}", self.field.name))
            }
            _ if self.clears => {
                arg.action(ArgAction::SetTrue).help(format!("No {}: send null", self.field.name))
            }
            FieldType::TextList => {
                arg.action(ArgAction::Append).num_args(1..).value_parser(filled).value_name("LINE")
            }
            FieldType::Integer => arg.value_parser(whole_number).allow_negative_numbers(true).value_name("N"),
            FieldType::Number => arg.value_parser(number).allow_negative_numbers(true).value_name("N"),
            FieldType::Boolean => arg
                .num_args(0..=1)
                .require_equals(true)
                .default_missing_value("true")
                .value_parser(boolean)
                .value_name("BOOL"),
            _ if self.field.name == "country_id" => arg.value_parser(country_or_name).value_name("COUNTRY"),
            _ => arg.value_parser(filled).value_name("TEXT"),
        }
    }

    /// Whether the other flag sets the field that this one clears, or one inside it.
    fn contradicts(&self, other: &Self) -> bool {
        let is_same = || other.field.name == self.field.name && other.within == self.within;
        self.clears && self.long != other.long && (is_same() || other.within == Some(self.field.name))
    }

    fn value(&self, matches: &ArgMatches) -> Option<Value> {
        match self.field.field_type {
            FieldType::Object(_) if self.clears => matches.get_flag(self.long).then(region::none),
            _ if self.clears => matches.get_flag(self.long).then_some(Value::Null),
            FieldType::TextList => Some(matches.get_many::<Value>(self.long)?.cloned().collect()),
            _ => matches.get_one::<Value>(self.long).cloned(),
        }
    }

    fn set(&self, value: Value, members: &mut Map<String, Value>) {
        let members = match self.within {
            None => Some(members),
            Some(object) => members.entry(object).or_insert_with(|| Map::new().into()).as_object_mut(),
        };
        members.and_then(|members| members.insert(self.field.name.to_owned(), value));
    }
}

/// The members that a family of flags named, as JSON.
#[derive(Debug, Clone)]
pub struct FieldArgs<F> {
    /// The named members.
    pub named: Map<String, Value>,
    family: PhantomData<F>,
}

impl<F: FieldFlags> Args for FieldArgs<F> {
    fn augment_args(command: Command) -> Command {
        let flags: Vec<FieldFlag> = F::flags().collect();
        command.args(flags.iter().map(|flag| {
            let rivals = flags.iter().filter(|rival| flag.contradicts(rival));
            let arg = flag.arg(F::HEADING).hide(F::HIDDEN.contains(&flag.long));
            arg.conflicts_with_all(rivals.map(|rival| rival.long))
        }))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl<F: FieldFlags> FromArgMatches for FieldArgs<F> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        let mut named = Map::new();
        for flag in F::flags() {
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

/// Text without the blanks around it, as in a cell. It is not empty, because an unset variable of a shell must not clear
/// a field.
fn filled(text: &str) -> Result<Value, &'static str> {
    let text = bare(text);
    if text.is_empty() {
        return Err("expected text (`customer update` clears a field with --clear FIELD)");
    }
    Ok(text.into())
}

/// The code of a country, from its code or its name.
fn country_or_name(text: &str) -> Result<Value, String> {
    filled(text)?;
    country(text).map(Value::from)
}

/// Yes or no, in the words that a cell may have.
fn boolean(text: &str) -> Result<Value, String> {
    flag(text).map(Value::Bool).map_err(|_| "expected yes or no (or true, false, 1, 0)".to_owned())
}

/// A whole number with its exact text.
pub fn whole_number(text: &str) -> Result<Value, String> {
    number(text).ok().filter(|_| is_whole(text)).ok_or_else(|| "expected an integer".to_owned())
}

/// A JSON number with its exact text.
fn number(text: &str) -> Result<Value, String> {
    exact_json::number(text).map(Value::Number).ok_or_else(|| {
        let example = exact_json::with_decimal_point(text).map(|number| format!(" such as {number}"));
        ambiguous(text).unwrap_or_else(|| format!("expected a number{}", example.unwrap_or_default()))
    })
}

fn pair(text: &str, expected: &str) -> Result<(String, String), String> {
    match text.split_once('=') {
        Some((key, value)) if !bare(key).is_empty() => Ok((bare(key).to_owned(), bare(value).to_owned())),
        _ => Err(format!("expected {expected}")),
    }
}

/// `KEY=VALUE`, as `--custom-attribute` takes it.
pub fn parse_key_value(text: &str) -> Result<(String, String), String> {
    pair(text, "KEY=VALUE")
}

/// `STORE=LABEL`, with the id or the code of a store view before the equals sign.
pub fn parse_store_label(text: &str) -> Result<(String, String), String> {
    pair(text, "STORE=LABEL")
}

/// `OPTION_ID=OPTION_VALUE`, with a whole number after the equals sign.
pub fn parse_label_number(text: &str) -> Result<(String, Number), String> {
    let (id, value) = pair(text, "OPTION_ID=OPTION_VALUE")?;
    match whole_number(&value) {
        Ok(Value::Number(number)) => Ok((id, number)),
        _ => Err(format!("`{value}` is not an integer")),
    }
}
