//! A value that is sent for an attribute of a product: its type, and the scope for which it is stored.

use serde_json::{Value, json};

use crate::coerce::{as_text, wrong_type};
use crate::magento::attributes::backend_type;
use crate::magento::customers::date;
use crate::reply::ApiError;
use crate::store::{Database, Document};

/// Store views of the only website with store views.
pub const DEFAULT_WEBSITE: &[i64] = &[1, 2, 3];

/// Attributes of the catalog that products have without being in their attribute sets.
pub const SYSTEM: &[&str] = &["special_from_date", "special_price"];

/// `None` for a value that is deleted; a value that is stored may be empty.
pub type Change = Option<Option<String>>;

/// The store views for which one value holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All.
    Global,
    /// Those of a website.
    Website,
    /// One.
    View,
}

impl Scope {
    /// The store views for which a value that is sent for `store` is stored.
    pub fn stores(self, store: i64) -> &'static [i64] {
        match (self, store) {
            (Self::Global, _) | (_, 0) => &[0],
            (Self::Website, _) => DEFAULT_WEBSITE,
            (Self::View, store) => {
                DEFAULT_WEBSITE.iter().position(|id| *id == store).map_or(&[], |at| &DEFAULT_WEBSITE[at..=at])
            }
        }
    }
}

/// The scope of an attribute.
pub fn scope(attribute: &Document) -> Scope {
    match attribute.get("scope").and_then(Value::as_str) {
        Some("store") => Scope::View,
        Some("website") => Scope::Website,
        _ => Scope::Global,
    }
}

/// The attributes that products of a set have.
pub fn of_set(records: &Database<'_>, set: i64) -> Result<Vec<Document>, ApiError> {
    let mut attributes = Vec::new();
    for (id, _) in records.assignments(set)? {
        attributes.push(records.attribute(id)?);
    }
    for (code, input) in SYSTEM.iter().zip(["date", "price"]) {
        let attribute = json!({"attribute_code": code, "frontend_input": input, "scope": "website"});
        attributes.extend(attribute.as_object().cloned());
    }
    Ok(attributes)
}

/// The stored form of a value; 400 for one of another type. Options are not checked.
pub fn change(attribute: &Document, value: &Value) -> Result<Change, ApiError> {
    let input = attribute.get("frontend_input").map(as_text).unwrap_or_default();
    let text = as_text(value);
    let refused = |found: &str, expected: &str| {
        let code = as_text(&attribute["attribute_code"]);
        let sentence = wrong_type(found, expected);
        Err(ApiError::new(400, &format!("Attribute \"{code}\" has invalid value. {sentence}")))
    };
    match (backend_type(&input), value) {
        (_, Value::Null) => Ok(None),
        ("int", Value::Bool(flag)) => refused(&flag.to_string(), "int"),
        (kind, Value::Array(_) | Value::Object(_)) => {
            refused("array", if kind == "int" { "int" } else { "string" })
        }
        ("int", _) if text.parse::<i64>().is_err() => refused(&text, "int"),
        ("decimal", _) => Ok(Some(Some(format!("{:.6}", number(&text))))),
        (_, _) if text.is_empty() => Ok(Some(None)),
        ("datetime", _) => Ok(Some(date(&text)?.map(|date| format!("{date} 00:00:00")))),
        _ => Ok(Some(Some(text))),
    }
}

/// The number at the start of a text, as PHP reads it; 0 without one.
fn number(text: &str) -> f64 {
    let beginnings = text.char_indices().map(|(at, letter)| &text[..at + letter.len_utf8()]).rev();
    let mut numbers = beginnings.filter_map(|beginning| beginning.trim_start().parse::<f64>().ok());
    numbers.find(|number| number.is_finite()).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::number;

    #[test]
    fn a_text_counts_as_the_number_it_begins_with() {
        for (text, counts) in
            [("", 0.0), ("abc", 0.0), ("1,5", 1.0), (" -2.5 kg", -2.5), ("infinity", 0.0), ("1e2x", 100.0)]
        {
            assert!((number(text) - counts).abs() < f64::EPSILON, "{text}");
        }
    }
}
