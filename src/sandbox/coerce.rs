//! Types of the listed fields, as the sandbox's own OpenAPI description gives them.
//!
//! A field of another type is refused in Magento's words, and null with it where the interface does not list it.
//! Fields that are not listed stay as they came (ours).

use serde_json::{Value, json};

use super::store::Document;
use crate::sandbox::reply::ApiError;
use crate::wire::{FieldType, ObjectSchema};

/// Why a field is not of its type.
enum TypeError {
    /// Magento's sentence about the type; the names of the fields around it are put before it.
    Type(String),
    /// Anything else.
    Other(ApiError),
}

/// 400, in Magento's words, for a listed field of `object` that is not of its type.
pub fn check(object: &Document, shape: &ObjectSchema) -> Result<(), ApiError> {
    check_fields(object, shape).map_err(|(name, objection)| objection.about(name))
}

/// 400: the field `name` is not of the type `expected`, which is one of Magento's names.
pub fn wrong_type(name: &str, found: &Value, expected: &str) -> ApiError {
    type_error(found, expected).about(name)
}

impl TypeError {
    fn about(self, name: &str) -> ApiError {
        match self {
            Self::Type(details) => {
                ApiError::new(400, "Error occurred during \"%field_name\" processing. %details")
                    .with(json!({"field_name": name, "details": details}))
            }
            Self::Other(refusal) => refusal,
        }
    }
}

fn check_fields(object: &Document, shape: &ObjectSchema) -> Result<(), (&'static str, TypeError)> {
    for field in shape.listed() {
        if let Some(value) = object.get(field.name) {
            check_value(value, field.field_type).map_err(|objection| (field.name, objection))?;
        }
    }
    Ok(())
}

fn check_value(value: &Value, holds: FieldType) -> Result<(), TypeError> {
    match holds {
        FieldType::TextOrNull if value.is_null() => Ok(()),
        FieldType::Text | FieldType::TextOrNull => require(value, "string", Value::is_string),
        FieldType::Integer => require(value, "int", |value| value.as_i64().is_some()),
        FieldType::Number => require(value, "float", Value::is_number),
        FieldType::Boolean => require(value, "boolean", Value::is_boolean),
        FieldType::TextList => match value {
            Value::Array(lines) => {
                lines.iter().try_for_each(|line| require(line, "string", Value::is_string))
            }
            other => Err(type_error(other, "string[]")),
        },
        // Magento's own sentence for a list that is null.
        FieldType::List(_) if value.is_null() => {
            Err(TypeError::Other(ApiError::new(400, "Not all parameters valid.")))
        }
        FieldType::List(shape) => match value {
            Value::Array(elements) => elements.iter().try_for_each(|element| check_object(element, shape)),
            other => Err(type_error(other, "array")),
        },
        FieldType::Object(shape) => check_object(value, shape),
        FieldType::AnyObject => require(value, "array", Value::is_object),
        FieldType::AnyList => require(value, "array", Value::is_array),
        // No table of the marketplace has it.
        FieldType::Scalar(_) => Ok(()),
    }
}

fn check_object(value: &Value, shape: &ObjectSchema) -> Result<(), TypeError> {
    let Value::Object(object) = value else {
        return Err(type_error(value, "array"));
    };
    check_fields(object, shape).map_err(|(name, objection)| match objection {
        TypeError::Type(details) => {
            TypeError::Type(format!("Error occurred during \"{name}\" processing. {details}"))
        }
        other @ TypeError::Other(_) => other,
    })
}

fn require(value: &Value, expected: &str, is: impl FnOnce(&Value) -> bool) -> Result<(), TypeError> {
    if is(value) { Ok(()) } else { Err(type_error(value, expected)) }
}

fn type_error(found: &Value, expected: &str) -> TypeError {
    let shown = match found {
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => "array".to_owned(),
        scalar => scalar.to_string(),
    };
    TypeError::Type(format!(
        "The \"{shown}\" value's type is invalid. The \"{expected}\" type was expected. Verify and try again."
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::wire::MARKETPLACE_FIELDS;

    fn checked(value: Value, shape: &ObjectSchema) -> Result<(), ApiError> {
        let Value::Object(object) = value else { panic!("an object") };
        check(&object, shape)
    }

    #[test]
    fn a_listed_field_is_of_its_type_and_an_unlisted_one_of_any() {
        for (fine, shape) in [
            (
                json!({"group_id": 3, "firstname": "7", "loyalty": "3", "default_billing": null}),
                MARKETPLACE_FIELDS.customer,
            ),
            (
                json!({"is_required": false, "is_searchable": "1", "entity_type_id": "4", "position": "x"}),
                MARKETPLACE_FIELDS.attribute,
            ),
            (
                json!({"qty": 2.50, "quote_id": "4", "product_option": {"note": 1}}),
                MARKETPLACE_FIELDS.cart_item,
            ),
            (
                json!({"postcode": null, "region": {"region": null, "region_code": null}, "id": 7}),
                MARKETPLACE_FIELDS.address,
            ),
        ] {
            assert_eq!(checked(fine, shape), Ok(()));
        }
        for (wrong, shape) in [
            (json!({"group_id": "3"}), MARKETPLACE_FIELDS.customer),
            (json!({"firstname": 7}), MARKETPLACE_FIELDS.customer),
            (json!({"gender": null}), MARKETPLACE_FIELDS.customer),
            (json!({"is_required": "no"}), MARKETPLACE_FIELDS.attribute),
            (json!({"is_searchable": true}), MARKETPLACE_FIELDS.attribute),
            (json!({"qty": "2"}), MARKETPLACE_FIELDS.cart_item),
            (json!({"quote_id": 1}), MARKETPLACE_FIELDS.cart_item),
            (json!({"product_option": null}), MARKETPLACE_FIELDS.cart_item),
            (json!({"city": 5}), MARKETPLACE_FIELDS.address),
            (json!({"city": null}), MARKETPLACE_FIELDS.address),
            (json!({"street": "one line"}), MARKETPLACE_FIELDS.address),
            (json!({"region": null}), MARKETPLACE_FIELDS.address),
        ] {
            assert_eq!(checked(wrong.clone(), shape).unwrap_err().status, 400, "{wrong}");
        }
    }

    #[test]
    fn a_wrong_type_is_told_with_the_names_around_it() {
        let refusal =
            checked(json!({"region": {"region_id": "Virginia"}}), MARKETPLACE_FIELDS.address).unwrap_err();
        assert_eq!(refusal.status, 400);
        assert_eq!(
            refusal.parameters.unwrap(),
            json!({"field_name": "region", "details": "Error occurred during \"region_id\" processing. The \"Virginia\" \
                   value's type is invalid. The \"int\" type was expected. Verify and try again."})
        );
        assert_eq!(
            checked(json!({"addresses": null}), MARKETPLACE_FIELDS.customer).unwrap_err().message,
            "Not all parameters valid."
        );
    }
}
