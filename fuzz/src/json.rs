//! JSON out of bytes: mostly such as a storefront has, and now and then anything at all.

use arbitrary::{Result, Unstructured};
use serde_json::{Map, Number, Value};

/// Texts of numbers that are apt to be taken for one another.
const NUMBERS: [&str; 11] =
    ["0", "-0", "1", "1.0", "1e0", "1.00", "2", "-3", "9223372036854775807", "9223372036854775808", "12.50"];
const TEXTS: [&str; 12] = ["", "1", "+1", "01", " 1", "2", "Paris", "FR", "US", "%1", "/", "\u{202e}é\0"];
/// Deeper is only the same again.
const DEPTH: u8 = 3;
/// Longer lists and larger objects too.
const MOST: u8 = 4;

/// Any JSON, its fields called by one of `names` or by anything.
pub fn value(bytes: &mut Unstructured<'_>, names: &[&str]) -> Result<Value> {
    nested(bytes, names, DEPTH)
}

/// An object of such fields.
pub fn object(bytes: &mut Unstructured<'_>, names: &[&str]) -> Result<Map<String, Value>> {
    members(bytes, names, DEPTH)
}

/// One of the words, or any text.
pub fn word(bytes: &mut Unstructured<'_>, words: &[&str]) -> Result<String> {
    if words.is_empty() || bytes.ratio(1, 16)? {
        bytes.arbitrary()
    } else {
        Ok((*bytes.choose(words)?).to_owned())
    }
}

fn nested(bytes: &mut Unstructured<'_>, names: &[&str], depth: u8) -> Result<Value> {
    Ok(match bytes.int_in_range(0..=if depth == 0 { 4 } else { 6 })? {
        0 => Value::Null,
        1 => bytes.arbitrary::<bool>()?.into(),
        2 => number(bytes)?,
        3 => (*bytes.choose(&TEXTS)?).into(),
        4 => bytes.arbitrary::<&str>()?.into(),
        5 => {
            let length = bytes.int_in_range(0..=MOST)?;
            (0..length).map(|_| nested(bytes, names, depth - 1)).collect::<Result<Value>>()?
        }
        _ => members(bytes, names, depth - 1)?.into(),
    })
}

fn members(bytes: &mut Unstructured<'_>, names: &[&str], depth: u8) -> Result<Map<String, Value>> {
    let count = bytes.int_in_range(0..=MOST)?;
    (0..count).map(|_| Ok((word(bytes, names)?, nested(bytes, names, depth)?))).collect()
}

fn number(bytes: &mut Unstructured<'_>) -> Result<Value> {
    Ok(serde_json::from_str::<Number>(bytes.choose(&NUMBERS)?).map_or(Value::Null, Value::Number))
}
