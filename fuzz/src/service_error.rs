//! The error renderer: any reply becomes one short sentence, in time that grows with the reply and no faster.

use arbitrary::{Result, Unstructured};
use serde_json::{Value, json};
use crate::json;
use storefront::http::error_body::render;


const NAMES: [&str; 14] = [
    "message",
    "parameters",
    "errors",
    "messages",
    "error",
    "code",
    "result",
    "error_description",
    "detail",
    "fieldName",
    "1",
    "10",
    "trace",
    "title",
];
const PIECES: [&str; 22] = [
    "%",
    "%1",
    "%fieldName",
    "%10",
    "<",
    ">",
    "<html>",
    "<!doctype html",
    "<title",
    "</title",
    "<message>",
    "</message>",
    "<parameters>",
    "</parameters>",
    "<1>",
    "</1>",
    "&lt;",
    "&amp;amp;",
    " ",
    "\u{feff}",
    "\u{130}",
    "{\"message\":",
];
/// Bytes of the longest sentence: status, and as much foreign text as a person reads.
const LONGEST: usize = 900;

/// Renders a reply made of the bytes.
pub fn hold(data: &[u8]) {
    rendered(data);
    let mut bytes = Unstructured::new(data);
    let _ = made(&mut bytes).map(|body| rendered(&body));
}

fn rendered(body: &[u8]) {
    for kind in [None, Some("text/html; charset=utf-8"), Some("application/json")] {
        let (sentence, whole) = render(400, kind, body);
        assert!(sentence.starts_with("400 Bad Request") && sentence.len() < LONGEST, "{sentence}");
        assert!(!sentence.contains('\n'), "one line: {sentence:?}");
        if let Some(Value::Object(_) | Value::Array(_)) = whole {
            assert_eq!(
                whole,
                serde_json::from_slice(body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body)).ok()
            );
        }
    }
}

/// JSON in the shapes that errors have, or pieces of markup.
fn made(bytes: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    Ok(match bytes.int_in_range(0..=2)? {
        0 => json::value(bytes, &NAMES)?.to_string().into_bytes(),
        1 => {
            let parameters = json::value(bytes, &NAMES)?;
            json!({"message": pieces(bytes)?, "parameters": parameters, "errors": json::value(bytes, &NAMES)?})
                .to_string()
                .into_bytes()
        }
        _ => pieces(bytes)?.into_bytes(),
    })
}

fn pieces(bytes: &mut Unstructured<'_>) -> Result<String> {
    let count = bytes.int_in_range(0..=24)?;
    (0..count).map(|_| json::word(bytes, &PIECES)).collect()
}
