//! Magento's messages with placeholders: `%fieldName` from a map, `%1` from a list.

use serde_json::Value;

use crate::http::error_body::truncate::Truncated;

/// Longer names are not looked for: each `%` then costs the same, however long the message.
const MAX_NAME: usize = 64;

/// Writes `message` with its placeholders filled, in one pass: what a parameter brings in is not looked at again. The
/// longest name wins (`%10` before `%1`); a `%` that begins no known name stays.
pub(crate) fn fill(message: &str, parameters: Option<&Value>, out: &mut Truncated) {
    let mut rest = message;
    while let Some(character) = rest.chars().next() {
        if out.is_full() {
            return;
        }
        let after = &rest[character.len_utf8()..];
        match parameters {
            Some(parameters) if character == '%' => {
                rest = if let Some((length, value)) = longest_name(after, parameters) {
                    push_value(value, out);
                    &after[length..]
                } else {
                    out.push_one('%');
                    after
                };
            }
            _ => {
                out.push_one(character);
                rest = after;
            }
        }
    }
}

/// The longest beginning of `text` that names a parameter, and that parameter.
fn longest_name<'a>(text: &str, parameters: &'a Value) -> Option<(usize, &'a Value)> {
    (1..=text.len().min(MAX_NAME))
        .rev()
        .find_map(|length| Some((length, parameter(parameters, text.get(..length)?)?)))
}

fn parameter<'a>(parameters: &'a Value, name: &str) -> Option<&'a Value> {
    match parameters {
        Value::Object(map) => map.get(name),
        Value::Array(list) if name.bytes().all(|byte| byte.is_ascii_digit()) && !name.starts_with('0') => {
            list.get(name.parse::<usize>().ok()?.checked_sub(1)?)
        }
        _ => None,
    }
}

fn push_value(value: &Value, out: &mut Truncated) {
    match value {
        Value::String(text) => out.push(text),
        other => out.push(&other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Truncated, fill};

    fn filled(message: &str, parameters: &Value) -> String {
        let mut out = Truncated::default();
        fill(message, Some(parameters), &mut out);
        out.finish()
    }

    #[test]
    fn the_longest_name_wins() {
        let parameters = json!({"field": "no", "fieldName": "email", "field2Name": "websiteId", "value": 0});
        assert_eq!(
            filled("%fieldName = %value, %field2Name, %fields", &parameters),
            "email = 0, websiteId, nos"
        );
        let ten: Vec<_> = (1..=10).map(|n| format!("<{n}>")).collect();
        assert_eq!(filled("%1 %10 %11 %0 %01", &json!(ten)), "<1> <10> <1>1 %0 %01");
    }

    #[test]
    fn what_a_parameter_brings_in_is_not_filled_again() {
        assert_eq!(filled("%a %b", &json!({"a": "%b", "b": "%a"})), "%b %a");
        assert_eq!(filled("%1%2", &json!(["%", "1"])), "%1");
    }

    #[test]
    fn a_percent_sign_survives() {
        let text = "Only 5% of 100% (%, %%1, %é, %";
        assert_eq!(filled(text, &json!(["x"])), "Only 5% of 100% (%, %x, %é, %");
        assert_eq!(filled(text, &json!("x")), text);
    }

    #[test]
    fn values_that_are_no_text_are_json() {
        let parameters = json!([1.50, true, null, {"a": ["b"]}]);
        assert_eq!(filled("%1 %2 %3 %4", &parameters), r#"1.5 true null {"a":["b"]}"#);
    }

    #[test]
    fn work_grows_with_the_text_and_not_faster() {
        let message = "%1%2".repeat(1 << 16);
        for value in ["", " ", "long ".repeat(1 << 16).as_str()] {
            let start = std::time::Instant::now();
            filled(&message, &json!([value, [value]]));
            assert!(start.elapsed().as_secs() < 5, "{value:.10}");
        }
    }
}
