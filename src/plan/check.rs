//! The input held against the documented shapes: unknown members and wrong types are refused with their path.

use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::nearest::nearest;
use crate::wire::{CONFIGURABLE_ITEM_OPTION, Holds, Shape};

/// What the check did beside accepting: each line is a warning to print.
pub type Warnings = Vec<String>;

/// How many problems one message names.
const NAMED_PROBLEMS: usize = 5;

/// Checks a body against its shape, and mends the two things the interface document itself gets wrong (2.6):
/// stray spaces around member names are trimmed, and a `note` inside a configurable option is dropped.
///
/// # Errors
/// `usage`, naming each unknown member with the nearest known name, and each wrong type with what was found.
pub fn check(
    body: &mut Map<String, Value>,
    shape: &'static Shape,
    allow_unknown: bool,
) -> Result<Warnings, Failure> {
    let mut checker = Checker { allow_unknown, problems: Vec::new(), unknown: false, warnings: Vec::new() };
    checker.object("", body, shape);
    if checker.problems.is_empty() {
        return Ok(checker.warnings);
    }
    Err(checker.into_failure())
}

struct Checker {
    allow_unknown: bool,
    problems: Vec<String>,
    unknown: bool,
    warnings: Warnings,
}

impl Checker {
    fn object(&mut self, path: &str, object: &mut Map<String, Value>, shape: &'static Shape) {
        self.trim_names(path, object);
        if std::ptr::eq(shape, &raw const CONFIGURABLE_ITEM_OPTION) && object.shift_remove("note").is_some() {
            self.warnings.push(format!("{path}.note: dropped; it explains the sample and is no field"));
        }
        for (name, value) in object {
            let path = below(path, name);
            match shape.member(name) {
                Some(member) => self.value(&path, value, member.holds),
                None if self.allow_unknown => {}
                None => {
                    self.unknown = true;
                    self.problems.push(unknown_member(&path, name, shape));
                }
            }
        }
    }

    fn trim_names(&mut self, path: &str, object: &mut Map<String, Value>) {
        if object.keys().all(|name| name.trim() == name) {
            return;
        }
        for (name, value) in std::mem::take(object) {
            let trimmed = name.trim();
            let path = below(path, trimmed);
            if object.contains_key(trimmed) {
                self.problems.push(format!("{path}: named twice"));
            }
            if trimmed != name {
                self.warnings.push(format!("{path}: spaces around its name were trimmed"));
            }
            object.insert(trimmed.to_owned(), value);
        }
    }

    fn value(&mut self, path: &str, value: &mut Value, holds: Holds) {
        match (holds, &mut *value) {
            (Holds::Object(shape), Value::Object(object)) => self.object(path, object, shape),
            (Holds::List(shape), Value::Array(elements)) => {
                for (index, element) in elements.iter_mut().enumerate() {
                    self.value(&format!("{path}[{index}]"), element, Holds::Object(shape));
                }
            }
            (Holds::TextList, Value::Array(lines)) => {
                for (index, line) in lines.iter_mut().enumerate() {
                    self.value(&format!("{path}[{index}]"), line, Holds::Text);
                }
            }
            (Holds::Text | Holds::TextOrNull, Value::String(_))
            | (Holds::TextOrNull, Value::Null)
            | (Holds::Number, Value::Number(_))
            | (Holds::Boolean, Value::Bool(_))
            | (Holds::AnyObject, Value::Object(_)) => {}
            (Holds::Integer, Value::Number(number)) if is_whole(&number.to_string()) => {}
            (_, found) => {
                self.problems.push(format!(
                    "{path}: expected {}, found {}",
                    holds.expected(),
                    described(found)
                ));
            }
        }
    }

    fn into_failure(self) -> Failure {
        let named =
            self.problems.iter().take(NAMED_PROBLEMS).map(String::as_str).collect::<Vec<_>>().join("\n  ");
        let rest = self.problems.len().saturating_sub(NAMED_PROBLEMS);
        let more = if rest == 0 { String::new() } else { format!("\n  and {rest} more") };
        let failure = Failure::usage(format!("{named}{more}"));
        if self.unknown {
            failure.hint("nothing was sent; --allow-unknown sends unknown members as they are")
        } else {
            failure.hint("nothing was sent; mend the input and run it again")
        }
    }
}

/// Whether a JSON number's text is a whole number.
pub fn is_whole(text: &str) -> bool {
    text.strip_prefix('-').unwrap_or(text).bytes().all(|byte| byte.is_ascii_digit())
}

/// The path of a member, its name cut where nobody would read on.
fn below(path: &str, name: &str) -> String {
    const LONGEST: usize = 60;
    let end = name.char_indices().nth(LONGEST).map_or(name.len(), |(end, _)| end);
    let cut = if end < name.len() { "…" } else { "" };
    let dot = if path.is_empty() { "" } else { "." };
    format!("{path}{dot}{}{cut}", &name[..end])
}

/// The message for a member no shape lists, with the nearest one that is.
pub fn unknown_member(path: &str, name: &str, shape: &Shape) -> String {
    match nearest(name, shape.members.iter().map(|member| member.name)) {
        Some(known) => format!("{path}: unknown; did you mean {known}?"),
        None => format!("{path}: unknown"),
    }
}

/// A value in words, short enough for a message.
fn described(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) if text.chars().count() <= 40 => format!("the string {text:?}"),
        Value::String(_) => "a long string".to_owned(),
        Value::Array(_) => "an array".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::check;
    use crate::plan::operation::Operation;

    fn body(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn problem(operation: Operation, value: Value) -> String {
        check(&mut body(value), operation.body(), false).unwrap_err().message
    }

    #[test]
    fn an_unknown_member_is_named_with_the_nearest_known_name() {
        let draft = json!({"customer": {"addresses": [{}, {"postcod": "75001"}]}});
        assert_eq!(
            problem(Operation::CustomerUpdate, draft),
            "customer.addresses[1].postcod: unknown; did you mean postcode?"
        );
        assert_eq!(
            problem(Operation::QuoteAddItem, json!({"cartItem": {"zzz": 1}})),
            "cartItem.zzz: unknown"
        );
        let camel = json!({"cartItem": {"quoteId": "1"}});
        assert_eq!(
            problem(Operation::QuoteAddItem, camel),
            "cartItem.quoteId: unknown; did you mean quote_id?"
        );
    }

    #[test]
    fn a_wrong_type_is_named_with_what_was_expected_and_found() {
        let cases = [
            (json!({"qty": "2"}), "cartItem.qty: expected a number, found the string \"2\""),
            (json!({"quote_id": 1}), "cartItem.quote_id: expected a string, found the number 1"),
            (json!({"product_option": null}), "cartItem.product_option: expected an object, found null"),
            (json!({"sku": true}), "cartItem.sku: expected a string, found true"),
        ];
        for (item, expected) in cases {
            assert_eq!(problem(Operation::QuoteAddItem, json!({"cartItem": item})), expected);
        }
        let half = json!({"customer": {"gender": 1.5}});
        assert_eq!(
            problem(Operation::CustomerUpdate, half),
            "customer.gender: expected a whole number, found the number 1.5"
        );
    }

    #[test]
    fn every_problem_is_named_up_to_a_bound() {
        let many = json!({"cartItem": {"a1": 1, "a2": 1, "a3": 1, "a4": 1, "a5": 1, "a6": 1, "a7": 1}});
        let message = problem(Operation::QuoteAddItem, many);
        assert_eq!(message.lines().count(), 6);
        assert!(message.ends_with("and 2 more"), "{message}");
    }

    #[test]
    fn the_samples_own_blemishes_are_mended_with_a_warning() {
        let option = json!({"option_id ": "93", "option_value": 52, "note": "see the product detail"});
        let item = json!({"sku": "MS-01", "product_option ":
            {"extension_attributes": {"configurable_item_options": [option]}}});
        let mut body = body(json!({"cartItem": item}));
        let warnings = check(&mut body, Operation::QuoteAddItem.body(), false).unwrap();
        assert_eq!(warnings.len(), 3, "{warnings:?}");
        let sent =
            &body["cartItem"]["product_option"]["extension_attributes"]["configurable_item_options"][0];
        assert_eq!(*sent, json!({"option_id": "93", "option_value": 52}));
    }

    #[test]
    fn a_name_that_becomes_another_by_trimming_is_refused() {
        let twice = json!({"cartItem": {"sku": "a", "sku ": "b"}});
        assert_eq!(problem(Operation::QuoteAddItem, twice), "cartItem.sku: named twice");
    }

    #[test]
    fn unknown_members_pass_when_allowed_but_types_still_count() {
        let mut odd = body(json!({"cartItem": {"product_type": "simple", "qty": 1}}));
        assert!(check(&mut odd, Operation::QuoteAddItem.body(), true).unwrap().is_empty());
        let mut wrong = body(json!({"cartItem": {"product_type": "simple", "qty": "1"}}));
        assert!(check(&mut wrong, Operation::QuoteAddItem.body(), true).is_err());
    }
}
