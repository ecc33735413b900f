//! Types of the listed members, as leniently as Magento's input processor takes them.
//!
//! A real Magento body writes integers as text, flags as booleans, numbers or text, and texts as numbers. Each
//! listed member is brought to its documented type; unlisted ones stay as they came (ours).

use serde_json::{Value, json};

use super::reply::Refusal;
use super::store::Document;
use crate::wire::{Holds, Shape};

/// Members that may be left out but not sent as null, as Magento's validators have it (ours).
const NEVER_NULL: &[&str] = &["city", "country_id", "email", "firstname", "lastname", "street", "telephone"];

/// Why a member is not of its type.
enum Objection {
    /// Magento's sentence about the type; the names of the members around it are put before it.
    Type(String),
    /// Anything else.
    Other(Refusal),
}

/// Brings every listed member of `object` to its type; 400 in Magento's words where that cannot be.
pub fn settle(object: &mut Document, shape: &Shape) -> Result<(), Refusal> {
    settle_members(object, shape).map_err(|(name, objection)| objection.about(name))
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

fn settle_members(object: &mut Document, shape: &Shape) -> Result<(), (&'static str, Objection)> {
    for member in shape.members {
        if let Some(value) = object.get_mut(member.name) {
            settle_value(value, member.name, member.holds).map_err(|objection| (member.name, objection))?;
        }
    }
    Ok(())
}

fn settle_value(value: &mut Value, name: &str, holds: Holds) -> Result<(), Objection> {
    if value.is_null() {
        return null_is_fine(name, holds).map_err(Objection::Other);
    }
    match holds {
        Holds::Text | Holds::TextOrNull => replace(value, as_text, "string"),
        Holds::Integer => replace(value, as_integer, "int"),
        Holds::Number => replace(value, as_number, "float"),
        Holds::Boolean => replace(value, as_boolean, "boolean"),
        Holds::TextList => match value {
            Value::Array(lines) => lines.iter_mut().try_for_each(|line| replace(line, as_text, "string")),
            other => Err(objection(other, "string[]")),
        },
        Holds::List(shape) => match value {
            Value::Array(elements) => {
                elements.iter_mut().try_for_each(|element| settle_object(element, shape))
            }
            other => Err(objection(other, "array")),
        },
        Holds::Object(shape) => settle_object(value, shape),
        Holds::AnyObject if value.is_object() => Ok(()),
        Holds::AnyObject => Err(objection(value, "array")),
    }
}

fn settle_object(value: &mut Value, shape: &Shape) -> Result<(), Objection> {
    let Value::Object(object) = value else {
        return Err(objection(value, "array"));
    };
    settle_members(object, shape).map_err(|(name, objection)| match objection {
        Objection::Type(details) => {
            Objection::Type(format!("Error occurred during \"{name}\" processing. {details}"))
        }
        other @ Objection::Other(_) => other,
    })
}

fn null_is_fine(name: &str, holds: Holds) -> Result<(), Refusal> {
    match holds {
        Holds::List(_) => Err(Refusal::new(400, "Not all parameters valid.")),
        _ if NEVER_NULL.contains(&name) => Err(Refusal::required(name)),
        _ => Ok(()),
    }
}

fn replace(
    value: &mut Value,
    cast: impl FnOnce(&Value) -> Option<Value>,
    expected: &str,
) -> Result<(), Objection> {
    *value = cast(value).ok_or_else(|| objection(value, expected))?;
    Ok(())
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

fn as_text(value: &Value) -> Option<Value> {
    match value {
        Value::String(_) => Some(value.clone()),
        Value::Number(number) => Some(Value::from(number.to_string())),
        Value::Bool(flag) => Some(Value::from(if *flag { "1" } else { "0" })),
        _ => None,
    }
}

fn as_integer(value: &Value) -> Option<Value> {
    match value {
        Value::Number(number) if number.as_i64().is_some() => Some(value.clone()),
        Value::String(text) => text.parse::<i64>().ok().map(Value::from),
        _ => None,
    }
}

fn as_number(value: &Value) -> Option<Value> {
    match value {
        Value::Number(_) => Some(value.clone()),
        Value::String(text) => text.parse().ok().map(Value::Number),
        _ => None,
    }
}

fn as_boolean(value: &Value) -> Option<Value> {
    let flag = match value {
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64()? != 0.0,
        Value::String(text) => match text.to_ascii_lowercase().as_str() {
            "1" | "true" | "on" | "yes" => true,
            "0" | "false" | "off" | "no" | "" => false,
            _ => return None,
        },
        _ => return None,
    };
    Some(Value::from(flag))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{ATTRIBUTE, CART_ITEM, CUSTOMER, PROFILE_ADDRESS};

    fn settled(value: Value, shape: &Shape) -> Result<Value, Refusal> {
        let Value::Object(mut object) = value else { panic!("an object") };
        settle(&mut object, shape).map(|()| Value::Object(object))
    }

    #[test]
    fn what_magento_bodies_write_is_brought_to_its_type() {
        assert_eq!(
            settled(json!({"group_id": "3", "firstname": 7, "loyalty": "3"}), &CUSTOMER),
            Ok(json!({"group_id": 3, "firstname": "7", "loyalty": "3"}))
        );
        assert_eq!(
            settled(
                json!({"is_required": "0", "is_filterable": 1, "is_searchable": true, "entity_type_id": 4}),
                &ATTRIBUTE
            ),
            Ok(
                json!({"is_required": false, "is_filterable": true, "is_searchable": "1", "entity_type_id": "4"})
            )
        );
        assert_eq!(
            settled(json!({"qty": "2.50", "quote_id": 4, "product_option": null}), &CART_ITEM),
            Ok(
                json!({"qty": serde_json::from_str::<Value>("2.50").unwrap(), "quote_id": "4", "product_option": null})
            )
        );
    }

    #[test]
    fn a_wrong_type_is_told_with_the_names_around_it() {
        let refusal = settled(json!({"region": {"region_id": "Virginia"}}), &PROFILE_ADDRESS).unwrap_err();
        assert_eq!(refusal.status, 400);
        assert_eq!(
            refusal.parameters.unwrap(),
            json!({"field_name": "region", "details": "Error occurred during \"region_id\" processing. The \"Virginia\" \
                   value's type is invalid. The \"int\" type was expected. Verify and try again."})
        );
        for wrong in [json!({"gender": 1.5}), json!({"gender": true}), json!({"firstname": ["x"]})] {
            assert_eq!(settled(wrong, &CUSTOMER).unwrap_err().status, 400);
        }
        assert!(settled(json!({"street": "one line"}), &PROFILE_ADDRESS).is_err());
        assert!(settled(json!({"is_required": "maybe"}), &ATTRIBUTE).is_err());
    }

    #[test]
    fn null_is_refused_for_names_and_lists_only() {
        assert!(settled(json!({"gender": null, "store_id": null}), &CUSTOMER).is_ok());
        assert!(settled(json!({"postcode": null, "region": null}), &PROFILE_ADDRESS).is_ok());
        let refusal = settled(json!({"firstname": null}), &PROFILE_ADDRESS).unwrap_err();
        assert_eq!(refusal.parameters, Some(json!({"fieldName": "firstname"})));
        assert_eq!(
            settled(json!({"addresses": null}), &CUSTOMER).unwrap_err().message,
            "Not all parameters valid."
        );
    }
}
