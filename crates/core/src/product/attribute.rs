//! The attributes whose values are written, and their values in each form: as people write them, as they are sent, and as a
//! product shows them.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::{Map, Value};

use crate::attribute::{Named, label as labels, view};
use crate::check::{spreadsheet, text};
use crate::failure::Failure;
use crate::hint::{hint, storefront};
use crate::operation::scalar;
use crate::profile::equal::same_flag;
use crate::sheet::cells;
use crate::text::exact_json;
use crate::text::sanitize::quoted;
use crate::text::suggestion::closest_match;

/// Fields of a product that are written beside its custom attributes.
pub const FIELDS: [&str; 3] = ["name", "weight", "status"];

/// For which store views one value holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All.
    Global,
    /// Those of a website.
    Website,
    /// One.
    View,
}

/// What the values of an attribute are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// A text of one line.
    Line,
    /// A text.
    Lines,
    /// A day.
    Date,
    /// A decimal number.
    Number,
    /// Yes or no.
    Flag,
    /// One option.
    Choice,
    /// Several options.
    Choices,
}

/// An attribute of products.
#[derive(Debug, Clone)]
pub struct Attribute {
    /// Its code.
    pub code: String,
    /// Its label for administrators.
    pub label: String,
    /// For which store views one value holds.
    pub scope: Scope,
    /// What its values are.
    pub kind: Kind,
    /// Its options by the labels that administrators see, the blank one left out.
    pub options: Vec<Named>,
}

/// Attributes by their codes.
#[derive(Debug, Clone, Default)]
pub struct Attributes(BTreeMap<String, Rc<Attribute>>);

impl Attributes {
    /// Takes an attribute in.
    pub fn insert(&mut self, attribute: Rc<Attribute>) {
        self.0.insert(attribute.code.clone(), attribute);
    }

    /// The attribute with this code.
    pub fn get(&self, code: &str) -> Option<&Attribute> {
        self.0.get(code).map(Rc::as_ref)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Attribute> {
        self.0.values().map(Rc::as_ref)
    }

    /// Their codes.
    pub fn codes(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// The values of a product by the codes of the attributes, in the notation of the attributes that are known.
    pub fn values(&self, shown: &Value) -> Option<Map<String, Value>> {
        let fields = FIELDS.iter().filter_map(|name| Some(((*name).to_owned(), shown.get(*name)?)));
        let custom = shown.get("custom_attributes").and_then(Value::as_array)?.iter();
        let custom = custom
            .filter_map(|one| Some((one.get("attribute_code")?.as_str()?.to_owned(), one.get("value")?)));
        let values = fields.chain(custom).filter(|(_, value)| !value.is_null() && *value != "");
        let in_notation = |(code, value): (String, &Value)| {
            let value = self.notation(&code, value);
            (code, value)
        };
        Some(values.map(in_notation).collect())
    }

    fn notation(&self, code: &str, value: &Value) -> Value {
        self.get(code)
            .and_then(|attribute| Some(attribute.notation(&scalar_text(value)?)))
            .unwrap_or_else(|| value.clone())
    }

    /// The value of an attribute as a cell of a sheet, empty if it has none; `None` for a value that no cell can hold.
    pub fn cell(&self, code: &str, values: &Map<String, Value>) -> Option<String> {
        match (self.get(code), values.get(code)) {
            (_, None) => Some(String::new()),
            (Some(attribute), Some(value)) => attribute.cell(&scalar_text(value)?),
            (None, Some(_)) => None,
        }
    }

    /// A value as people read it: the labels of options, yes or no.
    pub fn in_words(&self, code: &str, value: Value) -> Value {
        let text = scalar_text(&value);
        match self.get(code).zip(text) {
            Some((attribute, text)) => attribute.in_words(&text),
            None => value,
        }
    }
}

/// The text of a text, a number or a flag.
fn scalar_text(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

impl Attribute {
    /// One of [`FIELDS`], which are the same in every shop.
    pub fn field(code: &str) -> Option<Self> {
        let named = |id: &str, name: &str| Named { id: id.to_owned(), name: name.to_owned() };
        let (label, scope, kind, options) = match code {
            "name" => ("Name", Scope::View, Kind::Line, Vec::new()),
            "weight" => ("Weight", Scope::Global, Kind::Number, Vec::new()),
            "status" => {
                let options = vec![named("1", "Enabled"), named("2", "Disabled")];
                ("Status", Scope::Website, Kind::Choice, options)
            }
            _ => return None,
        };
        Some(Self { code: code.to_owned(), label: label.to_owned(), scope, kind, options })
    }

    /// An attribute as administrators see it.
    ///
    /// # Errors
    /// `usage` for one whose values are not written.
    pub fn of(shown: view::Attribute<'_>) -> Result<Self, Failure> {
        let code = shown.code();
        let input = shown.text("frontend_input");
        if !same_flag(shown.0.get("is_user_defined"), Some(&Value::Bool(true))) {
            return Err(not_written(code, "is an attribute of the shop itself"));
        }
        let kind = match input {
            "text" => Kind::Line,
            "textarea" => Kind::Lines,
            "date" => Kind::Date,
            "price" => Kind::Number,
            "boolean" => Kind::Flag,
            "select" => Kind::Choice,
            "multiselect" => Kind::Choices,
            other => return Err(not_written(code, &format!("is of the type `{other}`"))),
        };
        let options = shown.0.get("options").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        let options = Named::list(options, "value", "label").unwrap_or_default();
        Ok(Self {
            code: code.to_owned(),
            label: shown.text("default_frontend_label").to_owned(),
            scope: match shown.text("scope") {
                "store" => Scope::View,
                "website" => Scope::Website,
                _ => Scope::Global,
            },
            kind,
            options,
        })
    }

    /// Whether its values are options.
    pub fn has_options(&self) -> bool {
        matches!(self.kind, Kind::Choice | Kind::Choices)
    }

    /// What is sent for a value as people write it.
    ///
    /// # Errors
    /// What was expected, and what could be meant.
    pub fn read(&self, given: &Value) -> Result<String, String> {
        let given = match given {
            Value::Bool(_) if self.kind != Kind::Flag => {
                return Err(format!("expected a text, found {given}"));
            }
            given => scalar_text(given).ok_or_else(|| "expected a text".to_owned())?,
        };
        if given.trim().is_empty() {
            return Err("the value is empty, which changes nothing".to_owned());
        }
        match self.kind {
            Kind::Line => text::of_line(&given).map_or(Ok(given), Err),
            Kind::Lines => Ok(given),
            Kind::Date => {
                let day = given.trim();
                text::of_date(day)
                    .map_or_else(|| Ok(self.notation(day).as_str().unwrap_or(day).to_owned()), Err)
            }
            Kind::Number => number(given.trim()),
            Kind::Flag => cells::flag(&given).map(|is_set| if is_set { "1" } else { "0" }.to_owned()),
            Kind::Choice => self.option(given.trim()).map(|option| option.id.clone()),
            Kind::Choices => {
                let labels = cells::lines(&given);
                let ids = labels.iter().map(|label| self.option(label).map(|option| option.id.clone()));
                Ok(in_order(ids.collect::<Result<_, _>>()?))
            }
        }
    }

    /// The ids of options that are named by their ids.
    ///
    /// # Errors
    /// For an id that no option has, and for an attribute without options.
    pub fn read_ids(&self, given: &Value) -> Result<String, String> {
        if !self.has_options() {
            return Err(format!("`{}` has no options", self.code));
        }
        let given = scalar_text(given).unwrap_or_default();
        let ids: Vec<String> = given.split([',', '|']).map(|id| id.trim().to_owned()).collect();
        if ids.len() > 1 && self.kind == Kind::Choice {
            return Err(format!("`{}` takes one option", self.code));
        }
        match ids.iter().find(|id| !self.options.iter().any(|option| option.id == **id)) {
            Some(unknown) => Err(format!("no option has the ID `{unknown}`")),
            None => Ok(in_order(ids)),
        }
    }

    /// The option with this label.
    fn option(&self, label: &str) -> Result<&Named, String> {
        match Named::with_label(&self.options, label)[..] {
            [only] => Ok(only),
            [] => {
                let names = || self.options.iter().map(|option| option.name.as_str());
                let near =
                    closest_match(label, names()).map(|near| format!("; did you mean {}?", quoted(near)));
                let known = || match names().count() {
                    0 => "; it has none".to_owned(),
                    _ => format!("; it has {}", names().take(MAX_NAMED).collect::<Vec<_>>().join(", ")),
                };
                Err(format!("no option {}{}", quoted(label), near.unwrap_or_else(known)))
            }
            ref same => {
                let ids: Vec<&str> = same.iter().map(|option| option.id.as_str()).collect();
                let ids = ids.join(", ");
                let code = &self.code;
                Err(format!(
                    "several options have the label `{label}`: name one by its ID in `{code}:id` ({ids})"
                ))
            }
        }
    }

    /// A value as it is compared: a day without its midnight, a number without zeros at its end, options in one order.
    fn notation(&self, value: &str) -> Value {
        match self.kind {
            Kind::Date => {
                let day = ["00:00:00", "T00:00:00"].iter().find_map(|midnight| value.strip_suffix(midnight));
                day.map_or(value, str::trim_end).into()
            }
            Kind::Number => plain_number(value).into(),
            Kind::Choices => in_order(value.split(',').map(|id| id.trim().to_owned()).collect()).into(),
            Kind::Line | Kind::Lines | Kind::Flag | Kind::Choice => value.into(),
        }
    }

    /// A value as a cell of a sheet, which [`Self::read`] reads; `None` for what no cell can hold.
    fn cell(&self, value: &str) -> Option<String> {
        let label = |id: &str| {
            let option = self.options.iter().find(|option| option.id == id)?;
            self.option(&option.name).is_ok_and(|found| found.id == id).then_some(option.name.as_str())
        };
        let cell = match self.kind {
            Kind::Choice => label(value)?.to_owned(),
            Kind::Choices => {
                let labels: Option<Vec<&str>> = value.split(',').map(label).collect();
                cells::joined(labels?.into_iter())
            }
            _ => scalar_text(&self.in_words(value))?,
        };
        let is_read = text::of_line(&cell).is_none()
            && spreadsheet::problem("value", &cell).is_none()
            && cells::clears(&cell) == Ok(false)
            && cells::bare(&cell) == cell;
        is_read.then_some(cell)
    }

    /// A value as people read it. Options are their labels; a label that two options have is followed by the id.
    fn in_words(&self, value: &str) -> Value {
        let label = |id: &str| {
            let Some(option) = self.options.iter().find(|option| option.id == id) else {
                return format!("unknown option {id}");
            };
            let is_twice =
                self.options.iter().filter(|one| labels::is_exact(&one.name, &option.name)).count() > 1;
            if is_twice { format!("{} (ID {id})", option.name) } else { option.name.clone() }
        };
        match self.kind {
            Kind::Flag => if value == "1" { "yes" } else { "no" }.into(),
            Kind::Choice => label(value).into(),
            Kind::Choices => value.split(',').map(label).collect::<Vec<_>>().join(" | ").into(),
            _ => self.notation(value),
        }
    }
}

/// The number of options that a message names.
const MAX_NAMED: usize = 20;

fn not_written(code: &str, why: &str) -> Failure {
    Failure::usage(format!("`{code}` {why}, whose values are not written")).hint(hint!(
        "set name, weight, status, and user-defined attributes of the types text, textarea, date, price, boolean, select and \
         multiselect: ",
        storefront("attribute list"),
        " lists them"
    ))
}

/// Ids of options as they are sent: each once, in ascending order.
pub fn in_order(mut ids: Vec<String>) -> String {
    ids.retain(|id| !id.is_empty());
    ids.sort_by_key(|id| (id.parse::<u64>().unwrap_or(u64::MAX), id.clone()));
    ids.dedup();
    ids.join(",")
}

/// A number as it is sent. The service stores `1,5` as 1, and any other text that is not a number as 0.
fn number(text: &str) -> Result<String, String> {
    let is_plain = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit() || b"-.".contains(&byte));
    match exact_json::number(text).filter(|_| is_plain(text)) {
        Some(_) => Ok(plain_number(text)),
        None => match exact_json::with_decimal_point(text).filter(|number| is_plain(number)) {
            Some(number) => Err(format!("expected a number such as {number}, found {text:?}")),
            None => Err(format!("expected a number with a decimal point, such as 12.50, found {text:?}")),
        },
    }
}

/// A number without zeros at its end.
fn plain_number(text: &str) -> String {
    match text.split_once('.') {
        Some((whole, decimals)) => match decimals.trim_end_matches('0') {
            "" => whole.to_owned(),
            decimals => format!("{whole}.{decimals}"),
        },
        None => text.to_owned(),
    }
}

/// The value of one of [`FIELDS`] as it is sent.
pub fn as_field(code: &str, value: Value) -> Value {
    match scalar(Some(&value)).and_then(|text| exact_json::number(&text)).filter(|_| code != "name") {
        Some(number) => Value::Number(number),
        None => value,
    }
}
