//! One field of a form: its value, and what a typed text stands for.

use serde_json::{Map, Number, Value, json};
use unicode_width::UnicodeWidthStr as _;

use crate::plan::profile::region;
use crate::plan::validate::body::is_whole;
use crate::plan::validate::country::country_code;
use crate::redact::secrets;
use crate::report::changes::format_value;
use crate::wire::FieldType;

/// The fields that are asked again when they are left empty.
const REQUIRED: [&str; 5] = ["firstname", "lastname", "street", "city", "country_id"];

/// One field and its value.
#[derive(Debug, Clone)]
pub struct Field {
    /// Its name in the JSON.
    pub name: String,
    /// What a person calls it.
    pub label: String,
    /// What it holds.
    pub field_type: FieldType,
    /// As it is stored; null where it is not.
    pub stored: Value,
    /// As it is to be, where that differs.
    pub edited: Option<Value>,
    /// Whether it is a custom attribute, and the name its code.
    pub is_custom: bool,
}

impl Field {
    /// A field with nothing stored.
    pub fn new(name: &str, label: &str, holds: FieldType) -> Self {
        Self {
            name: name.to_owned(),
            label: label.to_owned(),
            field_type: holds,
            stored: Value::Null,
            edited: None,
            is_custom: false,
        }
    }

    /// The value as it is to be.
    pub fn value(&self) -> &Value {
        self.edited.as_ref().unwrap_or(&self.stored)
    }

    /// Sets it; what is stored already is no edit.
    pub fn set(&mut self, value: Value) {
        let nothing = self.stored.is_null() && (value == "" || value == json!([]) || value == false);
        self.edited = (value != self.stored && !nothing).then_some(value);
    }

    /// Whether it holds a region that is one.
    pub fn is_region(&self) -> bool {
        region::is_stored(&Map::from_iter([("region".to_owned(), self.value().clone())]))
    }

    /// Whether it says that this address is a default. Only another address can take that from it.
    pub fn is_stored_default(&self) -> bool {
        matches!(self.name.as_str(), "default_shipping" | "default_billing") && self.stored == true
    }

    /// Whether it must not be left empty.
    pub fn is_required(&self) -> bool {
        REQUIRED.contains(&self.name.as_str())
    }

    /// The value as a line of text to be edited. A token in it is masked; what comes back masked is no edit.
    pub fn text(&self) -> String {
        match self.value() {
            Value::Null => String::new(),
            Value::String(text) => secrets().text(text).into_owned(),
            other => other.to_string(),
        }
    }

    /// What a typed line stands for.
    ///
    /// # Errors
    /// What is wrong with it, in a few words.
    pub fn parse(&self, text: &str) -> Result<Value, String> {
        // What is stored stays exactly as it is.
        if text == self.text().trim() {
            return Ok(self.value().clone());
        }
        match self.field_type {
            FieldType::Integer if text.is_empty() && self.stored.is_null() => Ok(Value::Null),
            FieldType::Integer => whole_number(text),
            FieldType::Number => number(text).ok_or_else(|| "enter a number".to_owned()),
            FieldType::TextOrNull if text.is_empty() => Ok(Value::Null),
            _ if self.name == "country_id" => Ok(country_code(text).map_or_else(|| text.into(), Value::from)),
            _ => Ok(text.into()),
        }
    }

    /// What it is, its value from that column on, and the stored one where it differs.
    pub fn line(&self, width: usize) -> String {
        let before = match &self.edited {
            Some(_) if !self.stored.is_null() => format!("  (was {})", short(&self.stored)),
            _ => String::new(),
        };
        let blanks = width.saturating_sub(self.label.width());
        format!("{}{:blanks$}  {}{before}", self.label, "", short(self.value()))
    }
}

/// An integer as JSON, with its exact text.
///
/// # Errors
/// What to type instead.
pub fn whole_number(text: &str) -> Result<Value, String> {
    number(text).filter(|_| is_whole(text)).ok_or_else(|| "enter an integer".to_owned())
}

fn number(text: &str) -> Option<Value> {
    serde_json::from_str::<Number>(text).ok().map(Value::Number)
}

fn short(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(yes) => (if *yes { "yes" } else { "no" }).to_owned(),
        Value::Object(region) => {
            let texts = ["region", "region_code"].iter().find_map(|name| region.get(*name)?.as_str());
            texts.unwrap_or_default().to_owned()
        }
        other => format_value(Some(other)),
    }
}
