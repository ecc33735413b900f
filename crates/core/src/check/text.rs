//! Texts that no field, or not this field, can mean, wherever they were written.

use jiff::civil::{Date, date};
use serde_json::Value;

use super::spreadsheet;
use crate::interface::fields::{FLAGS_AS_TEXT, FieldType, Scalar};
use crate::text::sanitize::quoted;

/// The field whose text is a date.
const DATE: &str = "dob";

/// Fields whose text is taken as it was written, with line breaks and tabs. An element of a list has no name.
const AS_WRITTEN: [&str; 6] = ["", "value", "label", "default_frontend_label", "default_value", "note"];

/// Values that are texts to the interface and may stand for yes and no.
const MAY_BE_FLAGS: [&str; 2] = ["value", "default_value"];

/// The first year that a date of birth can have.
const FIRST_YEAR: i16 = 1900;

/// What is wrong with the value of this field as a text.
pub fn problem(field: &str, holds: FieldType, value: &Value) -> Option<String> {
    let is_text = matches!(holds, FieldType::Text | FieldType::TextOrNull | FieldType::Scalar(Scalar::Text));
    match value {
        Value::String(text) => spreadsheet::problem(field, text.trim())
            .or_else(|| if is_text && field == DATE { of_date(text) } else { None })
            .or_else(|| if is_text && !AS_WRITTEN.contains(&field) { of_line(text) } else { None }),
        Value::Number(number) if is_text && field == DATE => of_date(&number.to_string()),
        Value::Bool(flag)
            if matches!(holds, FieldType::Scalar(Scalar::Text))
                && !FLAGS_AS_TEXT.contains(&field)
                && !MAY_BE_FLAGS.contains(&field) =>
        {
            Some(format!("expected a text, found {flag}"))
        }
        _ => None,
    }
}

/// What breaks a text of one line.
pub fn of_line(text: &str) -> Option<String> {
    let character = text.chars().find(|it| it.is_control() || matches!(it, '\u{2028}' | '\u{2029}'))?;
    let what = match character {
        '\n' | '\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => "a line break".to_owned(),
        '\t' => "a tab".to_owned(),
        _ => format!("a control character (U+{:04X})", u32::from(character)),
    };
    Some(format!("the text holds {what}, and the field has one line"))
}

/// Why a text is not a date, and what it could mean. An empty text clears the field; a midnight after the date is
/// accepted, because shops show one.
pub fn of_date(text: &str) -> Option<String> {
    let day = text.strip_suffix(" 00:00:00").or_else(|| text.strip_suffix("T00:00:00")).unwrap_or(text);
    if text.is_empty() {
        return None;
    }
    let expected =
        |why: &str| Some(format!("expected a date such as 1985-04-03, found {}{why}", quoted(text)));
    let is_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let parts: Vec<&str> = day.split(['-', '/', '.']).map(str::trim).collect();
    if !parts.iter().all(|part| is_digits(part)) {
        return expected("");
    }
    match parts[..] {
        [serial] => match of_serial(serial) {
            Some(date) => expected(&format!(", which a spreadsheet shows as {date}")),
            None => expected(""),
        },
        [year, month, day_of_month] if year.len() == 4 => match of_parts(year, month, day_of_month) {
            None => expected(", a day that does not exist"),
            Some(date) if date.year() < FIRST_YEAR => expected(", a year before 1900"),
            Some(date) if date.to_string() == day => None,
            Some(date) => expected(&format!(", which may be {date}")),
        },
        [one, two, year] => expected(&of_two_readings(one, two, year, day.contains('.'))),
        _ => expected(""),
    }
}

fn of_parts(year: &str, month: &str, day: &str) -> Option<Date> {
    Date::new(year.parse().ok()?, month.parse().ok()?, day.parse().ok()?).ok()
}

/// The day of a spreadsheet's serial number, counted from the end of 1899.
fn of_serial(serial: &str) -> Option<Date> {
    let days = serial.parse::<i32>().ok().filter(|days| (10_000..=73_050).contains(days))?;
    date(1899, 12, 30).checked_add(jiff::Span::new().days(days)).ok()
}

/// What `4/3/85` can mean: with dots the day is first, else nobody knows.
fn of_two_readings(one: &str, two: &str, year: &str, has_dots: bool) -> String {
    let year = if year.len() == 2 { format!("19{year}") } else { year.to_owned() };
    let month_first = of_parts(&year, one, two).filter(|_| !has_dots);
    let day_first = of_parts(&year, two, one);
    let mut readings: Vec<String> = Vec::new();
    for reading in [month_first, day_first].into_iter().flatten().map(|date| date.to_string()) {
        if !readings.contains(&reading) {
            readings.push(reading);
        }
    }
    if readings.is_empty() { String::new() } else { format!(", which may be {}", readings.join(" or ")) }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{of_date, problem};
    use crate::interface::fields::{FieldType, Scalar};

    #[test]
    fn a_date_is_one_day_and_what_else_could_be_meant_is_named() {
        for text in ["1985-04-03", "1985-04-03 00:00:00", "2024-02-29", ""] {
            assert_eq!(of_date(text), None, "{text}");
        }
        for (text, meant) in [
            ("44927", "2023-01-01"),
            ("31100", "1985-02-22"),
            ("13/04/1985", "may be 1985-04-13"),
            ("3.4.1985", "may be 1985-04-03"),
            ("1985-4-3", "may be 1985-04-03"),
            ("1985/04/03", "may be 1985-04-03"),
            ("2023-02-29", "does not exist"),
            ("1899-12-31", "before 1900"),
            ("1985-04-03 10:00:00", "found"),
            ("19850403", "found"),
        ] {
            let said = of_date(text).unwrap_or_default();
            assert!(said.contains(meant), "{text}: {said}");
        }
    }

    #[test]
    fn what_may_have_lines_or_be_yes_and_no_stays() {
        let text = FieldType::Scalar(Scalar::Text);
        for (field, value) in [
            ("value", json!("a\nb")),
            ("note", json!("a\nb")),
            ("", json!("a\tb")),
            ("is_unique", json!(true)),
            ("value", json!(true)),
            ("default_value", json!(false)),
            ("telephone", json!(1)),
            ("telephone", json!(null)),
        ] {
            assert_eq!(problem(field, text, &value), None, "{field}");
        }
        for (field, value) in [("city", json!("a\u{2028}b")), ("sku", json!("a\0b")), ("sku", json!(false))] {
            assert!(problem(field, text, &value).is_some(), "{field}");
        }
    }
}
