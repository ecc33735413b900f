//! Cells of a CSV: text, until the documented type of their field says otherwise.

use serde_json::{Number, Value};

use crate::exact_json;
use crate::plan::validate::body::is_whole;
use crate::wire::{FieldType, Scalar};

/// A cell as what its field holds. Text stays exactly as it is; lines of a street are parted by `|` or line
/// breaks.
///
/// # Errors
/// What was expected and what was found.
pub fn parse_cell(cell: &str, holds: FieldType) -> Result<Value, String> {
    let expected = || format!("expected {}, found {cell:?}", holds.expected());
    match holds {
        FieldType::Text | FieldType::TextOrNull | FieldType::Scalar(Scalar::Text) => Ok(cell.into()),
        FieldType::TextList => {
            Ok(cell.split(['|', '\n']).map(str::trim).filter(|line| !line.is_empty()).collect())
        }
        FieldType::Boolean | FieldType::Scalar(Scalar::Boolean) => {
            flag(cell).map(Value::Bool).ok_or_else(|| not_a_flag(cell))
        }
        FieldType::Number | FieldType::Scalar(Scalar::Number) => {
            number(cell).map(Value::Number).ok_or_else(|| match exact_json::with_decimal_point(cell) {
                Some(number) => format!("expected a number such as {number}, found {cell:?}"),
                None => expected(),
            })
        }
        FieldType::Integer | FieldType::Scalar(Scalar::Integer) => {
            number(cell).filter(|_| is_whole(cell.trim())).map(Value::Number).ok_or_else(expected)
        }
        FieldType::Object(_) | FieldType::AnyObject => {
            let object = exact_json::parse_object(cell.as_bytes()).ok();
            object.map(Value::Object).ok_or_else(|| format!("expected a JSON object, found {cell:?}"))
        }
        FieldType::List(_) | FieldType::AnyList => {
            let list = exact_json::parse(cell.as_bytes()).ok().filter(Value::is_array);
            list.ok_or_else(|| format!("expected a JSON array, found {cell:?}"))
        }
    }
}

/// Yes or no, in the ways spreadsheets say it.
pub fn flag(cell: &str) -> Option<bool> {
    match cell.trim().to_ascii_lowercase().as_str() {
        "1" | "true" | "yes" => Some(true),
        "0" | "false" | "no" => Some(false),
        _ => None,
    }
}

/// What is said of a cell that is no [`flag`].
pub fn not_a_flag(cell: &str) -> String {
    format!("expected yes or no (or true, false, 1, 0), found {cell:?}")
}

/// A number with its exact text.
fn number(cell: &str) -> Option<Number> {
    exact_json::number(cell.trim())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::input::cell::parse_cell;
    use crate::wire::FieldType;

    #[test]
    fn text_stays_as_it_is() {
        assert_eq!(parse_cell("02138", FieldType::Text), Ok(json!("02138")));
        assert_eq!(parse_cell(" 1e3", FieldType::TextOrNull), Ok(json!(" 1e3")));
    }

    #[test]
    fn numbers_keep_their_text_and_street_lines_part() {
        assert_eq!(parse_cell("1.50", FieldType::Number).unwrap().to_string(), "1.50");
        assert_eq!(parse_cell("12", FieldType::Integer).unwrap().to_string(), "12");
        assert_eq!(
            parse_cell("1 Rue de Rivoli|2e étage", FieldType::TextList),
            Ok(json!(["1 Rue de Rivoli", "2e étage"]))
        );
        assert_eq!(parse_cell("yes", FieldType::Boolean), Ok(json!(true)));
    }

    #[test]
    fn what_does_not_fit_says_what_was_expected() {
        assert_eq!(
            parse_cell("1.5", FieldType::Integer),
            Err("expected an integer, found \"1.5\"".to_owned())
        );
        assert_eq!(
            parse_cell("1,5", FieldType::Number),
            Err("expected a number such as 1.5, found \"1,5\"".to_owned())
        );
        assert!(parse_cell("maybe", FieldType::Boolean).is_err());
    }
}
