//! The input checked against the documented shapes: unknown fields and wrong types are refused with their path.

use std::fmt;

use serde_json::{Map, Value};

use super::country::{country_code, nearest};
use super::field_names::FieldNames;
use super::synonyms::{second_street_line, suggest};
use super::text;
use crate::failure::Failure;
use crate::interface::fields::{FieldType, ObjectSchema, Origin, Scalar};
use crate::interface::request::StoreView;
use crate::text::redact::MASK;

/// What the check did in addition to accepting: each line is a warning to print.
pub type Warnings = Vec<String>;

/// One problem of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// Where, from the top of the body.
    pub steps: Vec<Step>,
    /// No shape lists the field; else the value is not of the type or form that the field takes.
    pub is_unknown: bool,
    /// Where, for a person.
    pub place: String,
    /// The problem there.
    pub what: String,
}

impl Finding {
    /// The problem with its place.
    pub fn message(&self) -> String {
        format!("{}: {}", self.place, self.what)
    }
}

/// Corrects the two things that the interface document itself gets wrong: stray spaces around field names are trimmed,
/// and a `note` inside a configurable option is dropped. The name of a country, or its code in lower case, becomes its
/// code.
///
/// # Errors
/// `usage` for two fields of one object that get the same name.
pub fn tidy(body: &mut Map<String, Value>, shape: &'static ObjectSchema) -> Result<Warnings, Failure> {
    let mut tidying = Tidying { problems: Vec::new(), warnings: Vec::new() };
    tidying.object(body, shape, &Path::Top);
    if tidying.problems.is_empty() {
        return Ok(tidying.warnings);
    }
    Err(Failure::usage_problems(tidying.problems).hint("fix the input and run it again"))
}

/// Every problem of a body, in its order, with the names that its fields have where it was written.
pub fn findings(
    body: &Map<String, Value>,
    shape: &'static ObjectSchema,
    allow_unknown: bool,
    names: &FieldNames,
) -> Vec<Finding> {
    let mut checker = Validator { allow_unknown, names, findings: Vec::new() };
    checker.object(body, shape, &Path::Top);
    checker.findings
}

/// Refuses a body for its findings.
///
/// # Errors
/// `usage`, with all of them.
pub fn refuse(findings: &[Finding]) -> Result<(), Failure> {
    if findings.is_empty() {
        return Ok(());
    }
    let failure = Failure::usage_problems(findings.iter().map(Finding::message).collect());
    Err(failure.hint(if findings.iter().any(|finding| finding.is_unknown) {
        "fix the input, or send unknown fields unchanged with --allow-unknown"
    } else {
        "fix the input and run it again"
    }))
}

/// Refuses a body that holds `•••` in a value or a name: it stands for a token that was masked when it was shown, and must
/// not be stored in its place.
///
/// # Errors
/// `usage`, naming the path.
pub fn refuse_masked(body: &Map<String, Value>, names: &FieldNames) -> Result<(), Failure> {
    let masked = body.iter().find_map(|(name, value)| masked_field(name, value, &Path::Top));
    let Some(path) = masked else { return Ok(()) };
    let place = names.quoted(&path);
    Err(Failure::usage(format!("{place} contains `{MASK}`, the placeholder for a masked token"))
        .hint("enter the actual value, or omit the field to keep the stored one"))
}

fn masked_field(name: &str, value: &Value, above: &Path<'_>) -> Option<String> {
    let path = Path::Field(above, name);
    if is_masked(name) { Some(path.to_string()) } else { masked_value(value, &path) }
}

fn masked_value(value: &Value, path: &Path<'_>) -> Option<String> {
    match value {
        Value::String(text) => is_masked(text).then(|| path.to_string()),
        Value::Array(elements) => {
            let mut elements = elements.iter().enumerate();
            elements.find_map(|(index, element)| masked_value(element, &Path::Element(path, index)))
        }
        Value::Object(fields) => fields.iter().find_map(|(name, value)| masked_field(name, value, path)),
        _ => None,
    }
}

/// Most names and texts are ASCII, which the mask is not.
fn is_masked(text: &str) -> bool {
    !text.is_ascii() && text.contains(MASK)
}

struct Tidying {
    problems: Vec<String>,
    warnings: Warnings,
}

impl Tidying {
    fn object(&mut self, object: &mut Map<String, Value>, shape: &'static ObjectSchema, above: &Path<'_>) {
        self.trim_names(object, above);
        for ignored in shape.own_fields.iter().filter(|member| member.origin == Origin::Ignored) {
            if object.shift_remove(ignored.name).is_some() {
                let path = Path::Field(above, ignored.name);
                self.warnings.push(format!("{path}: ignored (documentation only)"));
            }
        }
        for (name, value) in object {
            if name == COUNTRY_ID
                && let Some(code) = value.as_str().and_then(|text| country(text).ok())
            {
                *value = code.into();
            }
            if let Some(inner) = shape.field(name).and_then(|member| member.field_type.schema()) {
                self.value(value, inner, &Path::Field(above, name));
            }
        }
    }

    fn value(&mut self, value: &mut Value, shape: &'static ObjectSchema, path: &Path<'_>) {
        match value {
            Value::Object(object) => self.object(object, shape, path),
            Value::Array(elements) => {
                for (index, element) in elements.iter_mut().enumerate() {
                    if let Value::Object(element) = element {
                        self.object(element, shape, &Path::Element(path, index));
                    }
                }
            }
            _ => {}
        }
    }

    fn trim_names(&mut self, object: &mut Map<String, Value>, above: &Path<'_>) {
        if object.keys().all(|name| name.trim() == name) {
            return;
        }
        for (name, value) in std::mem::take(object) {
            let trimmed = name.trim();
            let path = Path::Field(above, trimmed);
            if object.contains_key(trimmed) {
                self.problems.push(format!("{path}: duplicate field"));
            }
            if trimmed != name {
                self.warnings.push(format!("{path}: trimmed spaces around the field name"));
            }
            object.insert(trimmed.to_owned(), value);
        }
    }
}

struct Validator<'n> {
    allow_unknown: bool,
    names: &'n FieldNames,
    findings: Vec<Finding>,
}

impl Validator<'_> {
    fn object(&mut self, object: &Map<String, Value>, shape: &'static ObjectSchema, above: &Path<'_>) {
        for (name, value) in object {
            let path = Path::Field(above, name);
            match shape.field(name) {
                Some(member) => self.value(name, value, member.field_type, &path),
                None if self.allow_unknown => {}
                None => {
                    let what = unknown_field(name, shape);
                    self.found(true, &path, what);
                }
            }
        }
    }

    fn value(&mut self, name: &str, value: &Value, holds: FieldType, path: &Path<'_>) {
        if let Some(problem) = text::problem(name, holds, value) {
            return self.found(false, path, problem);
        }
        match (holds, value) {
            (FieldType::Object(shape), Value::Object(object)) => self.object(object, shape, path),
            (FieldType::List(shape), Value::Array(elements)) => {
                self.elements(elements, FieldType::Object(shape), path);
            }
            (FieldType::TextList, Value::Array(lines)) => self.elements(lines, FieldType::Text, path),
            (FieldType::Text | FieldType::Scalar(Scalar::Text), Value::String(code))
                if name == COUNTRY_ID =>
            {
                if let Err(problem) = country(code) {
                    self.found(false, path, problem);
                }
            }
            (FieldType::Text | FieldType::TextOrNull, Value::String(_))
            | (FieldType::TextOrNull, Value::Null)
            | (FieldType::Number, Value::Number(_))
            | (FieldType::Boolean, Value::Bool(_))
            | (FieldType::AnyObject, Value::Object(_))
            | (FieldType::AnyList, Value::Array(_)) => {}
            (FieldType::Scalar(scalar), value) if is_castable(scalar, value) => {}
            (FieldType::Integer, Value::Number(number)) if is_whole(&number.to_string()) => {}
            (_, found) => {
                let what = format!("expected {}, found {}", holds.expected(), describe(found));
                self.found(false, path, what);
            }
        }
    }

    fn elements(&mut self, elements: &[Value], holds: FieldType, list: &Path<'_>) {
        for (index, element) in elements.iter().enumerate() {
            self.value("", element, holds, &Path::Element(list, index));
        }
    }

    fn found(&mut self, is_unknown: bool, path: &Path<'_>, what: String) {
        let place = self.names.name(&path.to_string());
        self.findings.push(Finding { steps: path.steps(), is_unknown, place, what });
    }
}

/// Whether a service that casts takes this value for such a scalar.
fn is_castable(scalar: Scalar, value: &Value) -> bool {
    let is_number = |text: &str| text.trim().parse::<f64>().is_ok_and(f64::is_finite);
    match (scalar, value) {
        (_, Value::Null)
        | (Scalar::Text, Value::String(_) | Value::Number(_) | Value::Bool(_))
        | (Scalar::Boolean, Value::Bool(_))
        | (Scalar::Number, Value::Number(_)) => true,
        (Scalar::StoreView, Value::String(code)) => StoreView::new(code).is_ok(),
        (Scalar::Integer | Scalar::StoreView, Value::Number(number)) => is_whole(&number.to_string()),
        (Scalar::Integer, Value::String(text)) => is_whole(text.trim()) && is_number(text),
        (Scalar::Number, Value::String(text)) => is_number(text),
        (Scalar::Boolean, Value::Number(number)) => matches!(number.to_string().as_str(), "0" | "1"),
        (Scalar::Boolean, Value::String(text)) => {
            matches!(text.as_str(), "0" | "1" | "true" | "false" | "yes" | "no" | "on" | "off" | "")
        }
        _ => false,
    }
}

const COUNTRY_ID: &str = "country_id";

/// The code of a country that is given by its code or name. What has the form of a code stays: whether there is such a
/// country is only a warning, for the interface lists none.
///
/// # Errors
/// Why it is not a country, and which one was probably meant.
pub fn country(text: &str) -> Result<String, String> {
    let is_code = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_uppercase());
    // `UK` has the form of a code, and is a name.
    country_code(text.trim()).or_else(|| is_code.then(|| text.to_owned())).ok_or_else(|| {
        let meant = nearest(text).map(|name| format!("; did you mean `{name}`?")).unwrap_or_default();
        format!("expected a country's code of two letters or its name, found {}{meant}", text_in_words(text))
    })
}

/// Whether a JSON number's text is an integer.
pub fn is_whole(text: &str) -> bool {
    text.strip_prefix('-').unwrap_or(text).bytes().all(|byte| byte.is_ascii_digit())
}

/// What is said of a field no shape lists, with the nearest one that is.
fn unknown_field(name: &str, shape: &ObjectSchema) -> String {
    if second_street_line(name) && shape.field("street").is_some() {
        return "unknown field; a second line of the street is an element of `street`".to_owned();
    }
    let own = shape.own_fields.iter().map(|member| member.name);
    // A field may be one level too high; of two that are equally near, that of this level is meant.
    let inner = shape.own_fields.iter().flat_map(|member| match member.field_type {
        FieldType::Object(object) => object.own_fields,
        _ => &[],
    });
    let inner = inner.map(|member| member.name).filter(|inner| *inner != name);
    if let Some(known) = suggest(name, inner.chain(own)) {
        return format!("unknown field; did you mean `{known}`?");
    }
    // Or it belongs into the elements of a list, such as a field of an address that stands beside the list.
    let in_list = shape.own_fields.iter().find_map(|member| {
        let FieldType::List(inner) = member.field_type else { return None };
        let known = inner.own_fields.iter().map(|field| field.name);
        let own = known.clone().find(|known| *known == name);
        Some((member.name, own.or_else(|| suggest(name, known))?))
    });
    match in_list {
        Some((list, known)) => format!("unknown field; did you mean `{list}[].{known}`?"),
        None => "unknown field".to_owned(),
    }
}

/// A value in words, short enough for a message.
pub fn describe(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => text_in_words(text),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

fn text_in_words(text: &str) -> String {
    if text.chars().count() <= 40 { format!("the string {text:?}") } else { "a long string".to_owned() }
}

/// One step from a body down to a value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A field of an object.
    Field(String),
    /// An element of a list, from 0.
    Element(usize),
}

/// A value while its body is walked. Most bodies have nothing to report: only then are the steps copied.
#[derive(Clone, Copy)]
enum Path<'p> {
    Top,
    Field(&'p Path<'p>, &'p str),
    Element(&'p Path<'p>, usize),
}

impl Path<'_> {
    fn steps(&self) -> Vec<Step> {
        let (above, step) = match self {
            Self::Top => return Vec::new(),
            Self::Field(above, name) => (above, Step::Field((*name).to_owned())),
            Self::Element(above, index) => (above, Step::Element(*index)),
        };
        let mut steps = above.steps();
        steps.push(step);
        steps
    }
}

/// As messages name it: `customer.addresses[0].city`. A long name is cut.
impl fmt::Display for Path<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        const LONGEST: usize = 60;
        match self {
            Self::Top => Ok(()),
            Self::Element(above, index) => write!(out, "{above}[{index}]"),
            Self::Field(above, name) => {
                let dot = if matches!(above, Self::Top) { "" } else { "." };
                match name.char_indices().nth(LONGEST) {
                    Some((end, _)) => write!(out, "{above}{dot}{}…", &name[..end]),
                    None => write!(out, "{above}{dot}{name}"),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests;
