//! Types of the listed fields, as the sandbox's own OpenAPI description gives them.
//!
//! A field of another type is refused in Magento's words, and null with it where the interface does not list it.
//! Fields that are not listed stay as they came (ours).

use serde_json::{Value, json};

use super::reply::Refusal;
use super::store::Document;
use crate::wire::{Holds, Shape};

/// Why a member is not of its type.
enum Objection {
    /// Magento's sentence about the type; the names of the members around it are put before it.
    Type(String),
    /// Anything else.
    Other(Refusal),
}

/// 400, in Magento's words, for a listed field of `object` that is not of its type.
pub fn check(object: &Document, shape: &Shape) -> Result<(), Refusal> {
    check_fields(object, shape).map_err(|(name, objection)| objection.about(name))
}

/// 400: the member `name` is not of the type `expected`, which is one of Magento's names.
pub fn wrong_type(name: &str, found: &Value, expected: &str) -> Refusal {
    objection(found, expected).about(name)
}

impl Objection {
    fn about(self, name: &str) -> Refusal {
        match self {
            Self::Type(details) => {
                Refusal::new(400, "Error occurred during \"%field_name\" processing. %details")
                    .with(json!({"field_name": name, "details": details}))
            }
            Self::Other(refusal) => refusal,
        }
    }
}

fn check_fields(object: &Document, shape: &Shape) -> Result<(), (&'static str, Objection)> {
    for field in shape.members {
        if let Some(value) = object.get(field.name) {
            check_value(value, field.holds).map_err(|objection| (field.name, objection))?;
        }
    }
    Ok(())
}

fn check_value(value: &Value, holds: Holds) -> Result<(), Objection> {
    match holds {
        Holds::TextOrNull if value.is_null() => Ok(()),
        Holds::Text | Holds::TextOrNull => require(value, "string", Value::is_string),
        Holds::Integer => require(value, "int", |value| value.as_i64().is_some()),
        Holds::Number => require(value, "float", Value::is_number),
        Holds::Boolean => require(value, "boolean", Value::is_boolean),
        Holds::TextList => match value {
            Value::Array(lines) => {
                lines.iter().try_for_each(|line| require(line, "string", Value::is_string))
            }
            other => Err(objection(other, "string[]")),
        },
        // Magento's own sentence for a list that is null.
        Holds::List(_) if value.is_null() => {
            Err(Objection::Other(Refusal::new(400, "Not all parameters valid.")))
        }
        Holds::List(shape) => match value {
            Value::Array(elements) => elements.iter().try_for_each(|element| check_object(element, shape)),
            other => Err(objection(other, "array")),
        },
        Holds::Object(shape) => check_object(value, shape),
        Holds::AnyObject => require(value, "array", Value::is_object),
    }
}

fn check_object(value: &Value, shape: &Shape) -> Result<(), Objection> {
    let Value::Object(object) = value else {
        return Err(objection(value, "array"));
    };
    check_fields(object, shape).map_err(|(name, objection)| match objection {
        Objection::Type(details) => {
            Objection::Type(format!("Error occurred during \"{name}\" processing. {details}"))
        }
        other @ Objection::Other(_) => other,
    })
}

fn require(value: &Value, expected: &str, is: impl FnOnce(&Value) -> bool) -> Result<(), Objection> {
    if is(value) { Ok(()) } else { Err(objection(value, expected)) }
}

fn objection(found: &Value, expected: &str) -> Objection {
    let shown = match found {
        Value::String(text) => text.clone(),
        Value::Array(_) | Value::Object(_) => "array".to_owned(),
        scalar => scalar.to_string(),
    };
    Objection::Type(format!(
        "The \"{shown}\" value's type is invalid. The \"{expected}\" type was expected. Verify and try again."
    ))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::wire::{ATTRIBUTE, CART_ITEM, CUSTOMER, PROFILE_ADDRESS};

    fn checked(value: Value, shape: &Shape) -> Result<(), Refusal> {
        let Value::Object(object) = value else { panic!("an object") };
        check(&object, shape)
    }

    #[test]
    fn a_listed_field_is_of_its_type_and_an_unlisted_one_of_any() {
        for (fine, shape) in [
            (json!({"group_id": 3, "firstname": "7", "loyalty": "3", "default_billing": null}), &CUSTOMER),
            (
                json!({"is_required": false, "is_searchable": "1", "entity_type_id": "4", "position": "x"}),
                &ATTRIBUTE,
            ),
            (json!({"qty": 2.50, "quote_id": "4", "product_option": {"note": 1}}), &CART_ITEM),
            (
                json!({"postcode": null, "region": {"region": null, "region_code": null}, "id": 7}),
                &PROFILE_ADDRESS,
            ),
        ] {
            assert_eq!(checked(fine, shape), Ok(()));
        }
        for (wrong, shape) in [
            (json!({"group_id": "3"}), &CUSTOMER),
            (json!({"firstname": 7}), &CUSTOMER),
            (json!({"gender": null}), &CUSTOMER),
            (json!({"is_required": "no"}), &ATTRIBUTE),
            (json!({"is_searchable": true}), &ATTRIBUTE),
            (json!({"qty": "2"}), &CART_ITEM),
            (json!({"quote_id": 1}), &CART_ITEM),
            (json!({"product_option": null}), &CART_ITEM),
            (json!({"city": 5}), &PROFILE_ADDRESS),
            (json!({"city": null}), &PROFILE_ADDRESS),
            (json!({"street": "one line"}), &PROFILE_ADDRESS),
            (json!({"region": null}), &PROFILE_ADDRESS),
        ] {
            assert_eq!(checked(wrong.clone(), shape).unwrap_err().status, 400, "{wrong}");
        }
    }

    #[test]
    fn a_wrong_type_is_told_with_the_names_around_it() {
        let refusal = checked(json!({"region": {"region_id": "Virginia"}}), &PROFILE_ADDRESS).unwrap_err();
        assert_eq!(refusal.status, 400);
        assert_eq!(
            refusal.parameters.unwrap(),
            json!({"field_name": "region", "details": "Error occurred during \"region_id\" processing. The \"Virginia\" \
                   value's type is invalid. The \"int\" type was expected. Verify and try again."})
        );
        assert_eq!(
            checked(json!({"addresses": null}), &CUSTOMER).unwrap_err().message,
            "Not all parameters valid."
        );
    }
}
