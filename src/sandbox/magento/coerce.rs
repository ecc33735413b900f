//! Magento's input processor: names of fields, and PHP's casts of their values.

use serde_json::{Value, json};

use super::fields::{Fields, Type};
use crate::exact_json;
use crate::sandbox::reply::ApiError;
use crate::sandbox::store::Document;

/// Why a value is refused.
#[derive(Debug)]
pub enum TypeError {
    /// Magento's sentence about a value; the names of the fields around it are put before it.
    Message(String),
    /// A field that the object does not have.
    Unknown(ApiError),
    /// Something that PHP fails on without an answer of its own.
    Crash,
}

impl TypeError {
    fn within(self, field: &str) -> Self {
        match self {
            Self::Message(message) => {
                Self::Message(format!("Error occurred during \"{field}\" processing. {message}"))
            }
            other => other,
        }
    }

    /// The answer. The values stand in the message: there are no parameters.
    pub fn refusal(self) -> ApiError {
        match self {
            Self::Message(message) => ApiError::new(400, &message),
            Self::Unknown(refusal) => refusal,
            Self::Crash => ApiError::crash(),
        }
    }
}

/// Magento's sentence about a value of another type.
pub fn wrong_type(found: &str, expected: &str) -> TypeError {
    TypeError::Message(format!(
        "The \"{found}\" value's type is invalid. The \"{expected}\" type was expected. Verify and try again."
    ))
}

/// An object brought to its types, under the names of its table; 500 in plain text for something else.
pub fn object(value: Value, fields: &Fields) -> Result<Document, ApiError> {
    match value {
        Value::Object(object) => cast_object(object, fields).map_err(TypeError::refusal),
        // PHP decodes `{}` and `[]` alike.
        Value::Array(list) if list.is_empty() => Ok(Document::new()),
        _ => Err(TypeError::Crash.refusal()),
    }
}

fn cast_object(object: Document, fields: &Fields) -> Result<Document, TypeError> {
    let mut cast = Document::new();
    for (sent, value) in object {
        let (name, holds) = find(&sent, fields)?;
        let value = cast_value(value, holds).map_err(|error| error.within(name))?;
        cast.insert(name.to_owned(), value);
    }
    Ok(cast)
}

/// `shippingAddress` is `shipping_address`, but `firstName` is not `firstname`: Magento compares both as `FirstName`.
fn find(sent: &str, fields: &Fields) -> Result<(&'static str, Type), TypeError> {
    let wanted = upper_camel(sent);
    let found = fields.rows.iter().find(|(name, _)| upper_camel(name) == wanted);
    found.copied().ok_or_else(|| {
        // 2.4.6 answers 500 with a report id; this is 2.4.7.
        TypeError::Unknown(
            ApiError::new(400, "\"%fieldName\" is not supported. Correct the field name and try again.")
                .with(json!({"fieldName": wanted})),
        )
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

fn cast_value(value: Value, holds: Type) -> Result<Value, TypeError> {
    match (holds, value) {
        (_, Value::Null) => Ok(Value::Null),
        (Type::Any, value) => Ok(value),
        (Type::Object(fields), Value::Object(object)) => cast_object(object, fields).map(Value::Object),
        // A text where an object is expected counts as an empty object.
        (Type::Object(_), _) => Ok(Value::Object(Document::new())),
        (Type::List(fields), value) => cast_list(value, fields),
        (Type::CustomAttributes, value) => custom_attributes(value),
        (Type::TextList, value) => match elements(value) {
            Ok(lines) => lines.into_iter().map(|line| cast_scalar(line, Type::Text)).collect(),
            Err(other) => Err(wrong_type(php_type(&other), "string[]")),
        },
        (scalar, value) => cast_scalar(value, scalar),
    }
}

/// `""` stays, since Magento makes no list of it.
fn cast_list(value: Value, fields: &Fields) -> Result<Value, TypeError> {
    let Ok(elements) = elements(value) else {
        return Ok(Value::from(""));
    };
    elements
        .into_iter()
        .map(|element| match element {
            Value::Object(object) => cast_object(object, fields).map(Value::Object),
            _ => Ok(Value::Object(Document::new())),
        })
        .collect()
}

/// The elements of an array; PHP knows no other objects than arrays with keys.
fn elements(value: Value) -> Result<Vec<Value>, Value> {
    match value {
        Value::Array(elements) => Ok(elements),
        Value::Object(object) => Ok(object.into_iter().map(|(_, value)| value).collect()),
        other => Err(other),
    }
}

/// `[{"attribute_code", "value"}]` in both of the forms that are taken.
fn custom_attributes(value: Value) -> Result<Value, TypeError> {
    let pair = |code: &str, value: Value| {
        exact_json::object([("attribute_code", Value::from(code)), ("value", value)])
    };
    match value {
        Value::Object(object) => {
            Ok(object.into_iter().map(|(code, value)| pair(&code, value)).collect())
        }
        Value::Array(list) => list
            .into_iter()
            .map(|mut element| {
                let code = element.get("attribute_code").and_then(Value::as_str).map(str::to_owned).ok_or_else(|| {
                    TypeError::Message(
                        "A custom attribute is specified with a missing attribute code. Verify the code and try again."
                            .to_owned(),
                    )
                })?;
                match element.get_mut("value") {
                    Some(value) => Ok(pair(&code, value.take())),
                    None => Err(TypeError::Message(format!(
                        "The \"{code}\" attribute code doesn't have a value set. Enter the value and try again."
                    ))),
                }
            })
            .collect(),
        _ => Ok(Value::Array(Vec::new())),
    }
}

/// PHP's `settype`, with Magento's exceptions: a number must be numeric, and a boolean is filtered.
fn cast_scalar(value: Value, holds: Type) -> Result<Value, TypeError> {
    let expected = match holds {
        Type::Integer => "int",
        Type::Float => "float",
        Type::Boolean => "boolean",
        _ => "string",
    };
    if value.is_array() || value.is_object() {
        return Err(wrong_type("array", expected));
    }
    if value.is_null() {
        return Ok(value);
    }
    let text = as_text(&value);
    match holds {
        Type::Integer => as_integer(&value).ok_or_else(|| wrong_type(&text, expected)),
        Type::Float => as_number(&value).ok_or_else(|| wrong_type(&text, expected)),
        Type::Boolean => {
            Ok(Value::from(matches!(text.trim().to_ascii_lowercase().as_str(), "1" | "true" | "on" | "yes")))
        }
        _ => Ok(Value::from(text)),
    }
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
    use crate::sandbox::magento::fields::{ADDRESS, ATTRIBUTE, CART_ITEM, CUSTOMER, SHIPPING_INFORMATION};

    fn cast(value: Value, fields: &Fields) -> Value {
        object(value, fields).map_or_else(|refusal| refusal.body(), Value::Object)
    }

    #[test]
    fn scalars_are_cast_as_php_does() {
        assert_eq!(
            cast(json!({"group_id": "3", "firstname": 7, "gender": 1.5, "taxvat": true}), &CUSTOMER),
            json!({"group_id": 3, "firstname": "7", "gender": 1, "taxvat": "1"})
        );
        assert_eq!(
            cast(
                json!({"is_required": "yes", "is_filterable": "no", "is_searchable": true, "entity_type_id": 4}),
                &ATTRIBUTE
            ),
            json!({"is_required": true, "is_filterable": false, "is_searchable": "1", "entity_type_id": "4"})
        );
        assert_eq!(
            cast(json!({"qty": " 2 ", "quote_id": 7}), &CART_ITEM),
            json!({"qty": 2, "quote_id": "7"})
        );
        let wrong = "Error occurred during \"qty\" processing. The \"abc\" value's type is invalid. The \"float\" type was \
                     expected. Verify and try again.";
        assert_eq!(cast(json!({"qty": "abc"}), &CART_ITEM), json!({"message": wrong}));
    }

    #[test]
    fn camel_case_is_understood_where_magento_does() {
        let camel = json!({"shippingAddress": {"countryId": "US"}, "shippingCarrierCode": "flatrate"});
        let snake = json!({"shipping_address": {"country_id": "US"}, "shipping_carrier_code": "flatrate"});
        assert_eq!(cast(camel, &SHIPPING_INFORMATION), snake);
        assert_eq!(
            cast(json!({"firstName": "A"}), &CUSTOMER)["parameters"],
            json!({"fieldName": "FirstName"})
        );
        assert_eq!(cast(json!({"colour": 1}), &ADDRESS)["parameters"], json!({"fieldName": "Colour"}));
        assert_eq!(snake_case("addressInformation"), "address_information");
    }

    #[test]
    fn lists_and_custom_attributes_come_in_more_than_one_form() {
        assert_eq!(cast(json!({"addresses": {}}), &CUSTOMER), json!({"addresses": []}));
        assert_eq!(cast(json!({"addresses": ""}), &CUSTOMER), json!({"addresses": ""}));
        assert_eq!(
            cast(json!({"custom_attributes": {"a": 1}}), &CUSTOMER),
            json!({"custom_attributes": [{"attribute_code": "a", "value": 1}]})
        );
        for wrong in [json!([{"attribute_code": "a"}]), json!([{"value": "a"}])] {
            assert!(object(json!({"custom_attributes": wrong}), &CUSTOMER).is_err());
        }
    }
}
