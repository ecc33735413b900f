//! A shop that stores values in its own notation: towns in capitals, dates with their time, numbers with four decimals.

use serde_json::{Value, json};

use super::customers::Stored;

/// Rewrites a profile.
pub fn rewrite(profile: &mut Stored) {
    profile.get_mut("custom_attributes").into_iter().for_each(rewrite_attributes);
    for address in profile.get_mut("addresses").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(city) = address["city"].as_str() {
            address["city"] = json!(city.to_uppercase());
        }
        address.get_mut("custom_attributes").into_iter().for_each(rewrite_attributes);
    }
}

fn rewrite_attributes(list: &mut Value) {
    for attribute in list.as_array_mut().into_iter().flatten() {
        if let Some(value) = attribute["value"].as_str() {
            attribute["value"] = json!(rewritten(value));
        }
    }
}

/// A date gets its midnight and a number its four decimals.
pub fn rewritten(value: &str) -> String {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let is_date = value.len() == 10 && value.split('-').count() == 3 && value.split('-').all(digits);
    match value.split_once('.') {
        Some((whole, decimals)) if digits(whole) && digits(decimals) => format!("{whole}.{decimals:0<4}"),
        _ if is_date => format!("{value} 00:00:00"),
        _ => value.to_owned(),
    }
}
