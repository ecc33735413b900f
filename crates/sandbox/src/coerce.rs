//! Bringing what was sent to the types of the field tables.
//!
//! Magento's input processor casts as PHP does, and refuses fields that it does not know. The marketplace is
//! strict (ours): a listed field of another type is refused in Magento's words, and other fields stay as they
//! came.

use serde_json::{Value, json};

use crate::reply::ApiError;
use crate::store::Document;
use storefront_core::interface::fields::{Field, FieldType, ObjectSchema, Scalar};
use storefront_core::text::exact_json;

/// How an interface takes values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rules {
    /// As they are listed, or not at all.
    Strict,
    /// As PHP casts them.
    Cast,
}

/// Why a value is refused.
enum TypeError {
    /// Magento's sentence about a value, to be preceded by the names of the fields around it.
    Sentence(String),
    /// Anything else.
    Other(ApiError),
}

impl TypeError {
    fn within(self, field: &str) -> Self {
        match self {
            Self::Sentence(text) => {
                Self::Sentence(format!("Error occurred during \"{field}\" processing. {text}"))
            }
            other @ Self::Other(_) => other,
        }
    }

    /// The answer. The message has the values: there are no parameters.
    fn refusal(self) -> ApiError {
        match self {
            Self::Sentence(text) => ApiError::new(400, &text),
            Self::Other(refusal) => refusal,
        }
    }
}

/// Magento's sentence about a value of another type.
pub fn wrong_type(found: &str, expected: &str) -> String {
    format!(
        "The \"{found}\" value's type is invalid. The \"{expected}\" type was expected. Verify and try again."
    )
}

fn type_error(found: &Value, expected: &str) -> TypeError {
    let shown = if found.is_array() || found.is_object() { "array".to_owned() } else { as_text(found) };
    TypeError::Sentence(wrong_type(&shown, expected))
}

/// An object brought to its types, under the names of its table; for another value, Magento crashes.
pub fn object(value: Value, shape: &ObjectSchema, rules: Rules) -> Result<Document, ApiError> {
    match value {
        Value::Object(object) => typed_fields(object, shape, rules).map_err(TypeError::refusal),
        // PHP decodes `{}` and `[]` alike.
        Value::Array(list) if list.is_empty() => Ok(Document::new()),
        other if rules == Rules::Strict => Err(type_error(&other, "array").refusal()),
        _ => Err(ApiError::crash()),
    }
}

fn typed_fields(object: Document, shape: &ObjectSchema, rules: Rules) -> Result<Document, TypeError> {
    let mut typed = Document::new();
    for (sent, value) in object {
        let known = match rules {
            Rules::Strict => shape.listed().find(|field| field.name == sent),
            Rules::Cast => Some(find(&sent, shape)?),
        };
        let (name, value) = match known {
            None => (sent, value),
            Some(field) => {
                let value = typed_value(value, field.field_type, rules);
                (field.name.to_owned(), value.map_err(|error| error.within(field.name))?)
            }
        };
        typed.insert(name, value);
    }
    Ok(typed)
}

/// `shippingAddress` is `shipping_address`, but `firstName` is not `firstname`: Magento compares both as
/// `FirstName`.
fn find(sent: &str, shape: &ObjectSchema) -> Result<&'static Field, TypeError> {
    let wanted = upper_camel(sent);
    shape.listed().find(|field| upper_camel(field.name) == wanted).ok_or_else(|| {
        // 2.4.6 answers 500 with a report id; this is 2.4.7.
        let message = "\"%fieldName\" is not supported. Correct the field name and try again.";
        TypeError::Other(ApiError::new(400, message).with(json!({"fieldName": wanted})))
    })
}

fn upper_camel(name: &str) -> String {
    let mut camel = String::with_capacity(name.len());
    for word in name.split('_') {
        let mut letters = word.chars();
        camel.extend(letters.next().map(|first| first.to_ascii_uppercase()));
        camel.push_str(letters.as_str());
    }
    camel
}

/// `cartItem` as `cart_item`.
pub fn snake_case(name: &str) -> String {
    let mut snake = String::with_capacity(name.len() + 2);
    for letter in name.chars() {
        if letter.is_ascii_uppercase() && !snake.is_empty() {
            snake.push('_');
        }
        snake.push(letter.to_ascii_lowercase());
    }
    snake
}

fn typed_value(value: Value, holds: FieldType, rules: Rules) -> Result<Value, TypeError> {
    let is_cast = rules == Rules::Cast;
    match (holds, value) {
        (FieldType::TextOrNull, Value::Null) => Ok(Value::Null),
        (_, Value::Null) if is_cast => Ok(Value::Null),
        (FieldType::AnyObject | FieldType::AnyList, value) if is_cast => Ok(value),
        (FieldType::Text | FieldType::TextOrNull, value) => require(value, "string", Value::is_string),
        (FieldType::Integer, value) => require(value, "int", Value::is_i64),
        (FieldType::Number, value) => require(value, "float", Value::is_number),
        (FieldType::Boolean, value) => require(value, "boolean", Value::is_boolean),
        (FieldType::AnyObject, value) => require(value, "array", Value::is_object),
        (FieldType::AnyList, value) => require(value, "array", Value::is_array),
        (FieldType::Scalar(scalar), value) => cast_scalar(&value, scalar),
        (FieldType::TextList, value) => {
            let line = if is_cast { FieldType::Scalar(Scalar::Text) } else { FieldType::Text };
            match elements(value, rules) {
                Ok(lines) => lines.into_iter().map(|text| typed_value(text, line, rules)).collect(),
                Err(other) => Err(TypeError::Sentence(wrong_type(php_type(&other), "string[]"))),
            }
        }
        // Magento's own sentence for a list that is null.
        (FieldType::List(_), Value::Null) => {
            Err(TypeError::Other(ApiError::new(400, "Not all parameters valid.")))
        }
        (FieldType::List(shape), value) if is_cast && shape.name == "custom attribute" => {
            custom_attributes(value)
        }
        (FieldType::List(shape), value) => match elements(value, rules) {
            Ok(list) => list.into_iter().map(|element| typed_object(element, shape, rules)).collect(),
            // A text stays, because Magento does not make a list of it.
            Err(_) if is_cast => Ok(Value::from("")),
            Err(other) => Err(type_error(&other, "array")),
        },
        (FieldType::Object(shape), value) => typed_object(value, shape, rules),
    }
}

/// A text where Magento expects an object counts as an empty object.
fn typed_object(value: Value, shape: &ObjectSchema, rules: Rules) -> Result<Value, TypeError> {
    match value {
        Value::Object(object) => typed_fields(object, shape, rules).map(Value::Object),
        _ if rules == Rules::Cast => Ok(Value::Object(Document::new())),
        other => Err(type_error(&other, "array")),
    }
}

fn require(value: Value, expected: &str, is: impl FnOnce(&Value) -> bool) -> Result<Value, TypeError> {
    if is(&value) { Ok(value) } else { Err(type_error(&value, expected)) }
}

/// The elements of an array; PHP knows no other objects than arrays with keys.
fn elements(value: Value, rules: Rules) -> Result<Vec<Value>, Value> {
    match value {
        Value::Array(elements) => Ok(elements),
        Value::Object(object) if rules == Rules::Cast => {
            Ok(object.into_iter().map(|(_, value)| value).collect())
        }
        other => Err(other),
    }
}

/// `[{"attribute_code", "value"}]` from both forms that are accepted.
fn custom_attributes(value: Value) -> Result<Value, TypeError> {
    let pair = |code: &str, value: Value| {
        exact_json::object([("attribute_code", Value::from(code)), ("value", value)])
    };
    let named = |mut element: Value| {
        let Some(code) = element["attribute_code"].as_str().map(str::to_owned) else {
            let message = "A custom attribute is specified with a missing attribute code.";
            return Err(format!("{message} Verify the code and try again."));
        };
        match element.get_mut("value") {
            Some(value) => Ok(pair(&code, value.take())),
            None => Err(format!(
                "The \"{code}\" attribute code doesn't have a value set. Enter the value and try again."
            )),
        }
    };
    match value {
        // In a map, an entry that is a pair has its own code.
        Value::Object(object) => {
            let entry = |(code, value): (String, Value)| match value {
                Value::Object(_) => named(value),
                value => Ok(pair(&code, value)),
            };
            object.into_iter().map(entry).collect::<Result<_, _>>().map_err(TypeError::Sentence)
        }
        Value::Array(list) => {
            list.into_iter().map(named).collect::<Result<_, _>>().map_err(TypeError::Sentence)
        }
        _ => Ok(Value::Array(Vec::new())),
    }
}

/// PHP's `settype`, with Magento's exceptions: a number must be numeric, and a boolean is filtered.
fn cast_scalar(value: &Value, holds: Scalar) -> Result<Value, TypeError> {
    let (expected, cast): (&str, fn(&Value) -> Option<Value>) = match holds {
        Scalar::Integer | Scalar::StoreView => ("int", as_integer),
        Scalar::Number => ("float", as_number),
        Scalar::Boolean => ("boolean", |value| {
            let text = as_text(value).trim().to_ascii_lowercase();
            Some(Value::from(["1", "true", "on", "yes"].contains(&text.as_str())))
        }),
        Scalar::Text => ("string", |value| Some(Value::from(as_text(value)))),
    };
    let scalar = Some(value).filter(|value| !value.is_array() && !value.is_object());
    scalar.and_then(cast).ok_or_else(|| type_error(value, expected))
}

/// PHP's text of a scalar.
pub fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Bool(true) => "1".to_owned(),
        Value::Bool(false) | Value::Null => String::new(),
        other => other.to_string(),
    }
}

fn as_integer(value: &Value) -> Option<Value> {
    let text = as_numeric(value)?;
    if let Ok(whole) = text.parse::<i64>() {
        return Some(Value::from(whole));
    }
    let number: f64 = text.parse().ok()?;
    // PHP cuts off the fraction; out of range the number wraps, which is never meant.
    #[allow(clippy::cast_possible_truncation)]
    Some(Value::from(number.trunc() as i64))
}

fn as_number(value: &Value) -> Option<Value> {
    let text = as_numeric(value)?;
    let plain = text.trim_start_matches('+');
    plain.parse().ok().map(Value::Number).or_else(|| text.parse::<f64>().ok().map(Value::from))
}

/// The text of a numeric value, without the blanks around it that PHP allows.
fn as_numeric(value: &Value) -> Option<String> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.trim().to_owned(),
        _ => return None,
    };
    let starts =
        text.trim_start_matches(['+', '-']).starts_with(|first: char| first.is_ascii_digit() || first == '.');
    (starts && text.parse::<f64>().is_ok_and(f64::is_finite)).then_some(text)
}

fn php_type(value: &Value) -> &'static str {
    match value {
        Value::Null => "NULL",
        Value::Bool(_) => "boolean",
        Value::Number(number) if number.is_f64() => "double",
        Value::Number(_) => "integer",
        Value::String(_) => "string",
        Value::Array(_) | Value::Object(_) => "array",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use storefront_core::interface::fields::{MAGENTO_FIELDS, MARKETPLACE_FIELDS};

    fn strict(value: Value, shape: &ObjectSchema) -> Result<Document, ApiError> {
        object(value, shape, Rules::Strict)
    }

    fn cast(value: Value, shape: &ObjectSchema) -> Value {
        object(value, shape, Rules::Cast).map_or_else(|refusal| refusal.body(), Value::Object)
    }

    #[test]
    fn a_listed_field_is_of_its_type_and_an_unlisted_one_of_any() {
        let tables = &*MARKETPLACE_FIELDS;
        for (fine, shape) in [
            (
                json!({"group_id": 3, "firstname": "7", "loyalty": "3", "default_billing": null}),
                tables.customer,
            ),
            (
                json!({"is_required": false, "is_searchable": "1", "entity_type_id": "4", "position": "x"}),
                tables.attribute,
            ),
            (json!({"qty": 2.50, "quote_id": "4", "product_option": {"note": 1}}), tables.cart_item),
            (
                json!({"postcode": null, "region": {"region": null, "region_code": null}, "id": 7}),
                tables.address,
            ),
        ] {
            assert_eq!(strict(fine.clone(), shape).map(Value::Object), Ok(fine));
        }
        for (wrong, shape) in [
            (json!({"group_id": "3"}), tables.customer),
            (json!({"firstname": 7}), tables.customer),
            (json!({"gender": null}), tables.customer),
            (json!({"is_required": "no"}), tables.attribute),
            (json!({"is_searchable": true}), tables.attribute),
            (json!({"qty": "2"}), tables.cart_item),
            (json!({"quote_id": 1}), tables.cart_item),
            (json!({"product_option": null}), tables.cart_item),
            (json!({"city": 5}), tables.address),
            (json!({"city": null}), tables.address),
            (json!({"street": "one line"}), tables.address),
            (json!({"region": null}), tables.address),
        ] {
            assert_eq!(strict(wrong.clone(), shape).unwrap_err().status, 400, "{wrong}");
        }
    }

    #[test]
    fn a_wrong_type_is_told_with_the_names_around_it() {
        let tables = &*MARKETPLACE_FIELDS;
        let refusal = strict(json!({"region": {"region_id": "Virginia"}}), tables.address).unwrap_err();
        assert_eq!(
            (refusal.status, refusal.message.as_str()),
            (
                400,
                "Error occurred during \"region\" processing. Error occurred during \"region_id\" processing. The \
                 \"Virginia\" value's type is invalid. The \"int\" type was expected. Verify and try again."
            )
        );
        let refusal = strict(json!({"addresses": null}), tables.customer).unwrap_err();
        assert_eq!(refusal.message, "Not all parameters valid.");
    }

    #[test]
    fn scalars_are_cast_as_php_does() {
        let tables = &*MAGENTO_FIELDS;
        assert_eq!(
            cast(json!({"group_id": "3", "firstname": 7, "gender": 1.5, "taxvat": true}), tables.customer),
            json!({"group_id": 3, "firstname": "7", "gender": 1, "taxvat": "1"})
        );
        assert_eq!(
            cast(
                json!({"is_required": "yes", "is_filterable": "no", "is_searchable": true, "entity_type_id": 4}),
                tables.attribute
            ),
            json!({"is_required": true, "is_filterable": false, "is_searchable": "1", "entity_type_id": "4"})
        );
        assert_eq!(
            cast(json!({"qty": " 2 ", "quote_id": 7}), tables.cart_item),
            json!({"qty": 2, "quote_id": "7"})
        );
        let wrong = "Error occurred during \"qty\" processing. The \"abc\" value's type is invalid. The \"float\" type was \
                     expected. Verify and try again.";
        assert_eq!(cast(json!({"qty": "abc"}), tables.cart_item), json!({"message": wrong}));
    }

    #[test]
    fn camel_case_is_understood_where_magento_does() {
        let tables = &*MAGENTO_FIELDS;
        let camel = json!({"shippingAddress": {"countryId": "US"}, "shippingCarrierCode": "flatrate"});
        let snake = json!({"shipping_address": {"country_id": "US"}, "shipping_carrier_code": "flatrate"});
        assert_eq!(cast(camel, tables.address_information), snake);
        for (sent, shape, named) in [
            (json!({"firstName": "A"}), tables.customer, "FirstName"),
            (json!({"colour": 1}), tables.address, "Colour"),
        ] {
            assert_eq!(cast(sent, shape)["parameters"], json!({"fieldName": named}));
        }
        assert_eq!(snake_case("addressInformation"), "address_information");
    }

    #[test]
    fn lists_and_custom_attributes_come_in_more_than_one_form() {
        let customer = MAGENTO_FIELDS.customer;
        for (sent, typed) in [
            (json!({"addresses": {}}), json!({"addresses": []})),
            (json!({"addresses": ""}), json!({"addresses": ""})),
            (
                json!({"custom_attributes": {"a": 1}}),
                json!({"custom_attributes": [{"attribute_code": "a", "value": 1}]}),
            ),
            (
                json!({"custom_attributes": {"x": {"attribute_code": "a", "value": 1}}}),
                json!({"custom_attributes": [{"attribute_code": "a", "value": 1}]}),
            ),
        ] {
            assert_eq!(cast(sent, customer), typed);
        }
        for wrong in [json!([{"attribute_code": "a"}]), json!([{"value": "a"}]), json!({"a": {"value": "a"}})]
        {
            assert!(object(json!({"custom_attributes": wrong}), customer, Rules::Cast).is_err());
        }
    }
}
