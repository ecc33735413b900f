//! The service's error bodies as one readable sentence. The interface does not show them (docs/interface.md): what is
//! found is rendered (docs/interface.md).

pub(crate) mod markup;
pub(crate) mod placeholders;
pub(crate) mod refusal_hint;
pub(crate) mod truncate;

use reqwest::StatusCode;
use serde_json::{Map, Value};

use super::reply::value_of;
use crate::http::error_body::truncate::Truncated;
use crate::redact::secrets;

const BYTE_ORDER_MARK: &[u8] = "\u{feff}".as_bytes();

/// Status and body of an error as one sentence without a full stop, such as `404 Not Found: no such quote`. Long
/// text is cut. The second value is the whole body: JSON, or a string where it is not JSON; nothing where it is empty.
/// Tokens in use are masked in both.
///
/// Never fails, whatever the body; its time grows with the body and not faster.
pub fn render(status: u16, content_type: Option<&str>, body: &[u8]) -> (String, Option<Value>) {
    let status = status_in_words(status);
    let whole = value_of(body.strip_prefix(BYTE_ORDER_MARK).unwrap_or(body));
    let mut said = Truncated::default();
    match &whole {
        Value::String(text) if !body.starts_with(b"\"") => {
            markup::to_text(text.trim(), content_type, &mut said);
        }
        Value::Null => {}
        json => to_text(json, &mut said),
    }
    let nothing = said.is_empty();
    let said = said.finish();
    let sentence = if nothing {
        format!("{status} with an empty body")
    } else if status.ends_with(&said) {
        status
    } else {
        format!("{status}: {said}")
    };
    (sentence, Some(secrets().masked_value(&whole)).filter(|whole| !whole.is_null()))
}

/// `404 Not Found`.
pub fn status_in_words(status: u16) -> String {
    match StatusCode::from_u16(status).ok().and_then(|code| code.canonical_reason()) {
        Some(words) => format!("{status} {words}"),
        None => status.to_string(),
    }
}

/// Foreign text on one line, cut where it is too long.
pub(super) fn shortened(text: &str) -> String {
    let mut out = Truncated::default();
    out.push(text);
    out.finish()
}

fn to_text(value: &Value, out: &mut Truncated) {
    match value {
        Value::String(text) => out.push(text),
        Value::Object(map) => object_to_text(map, out),
        other => out.push(&other.to_string()),
    }
}

fn object_to_text(map: &Map<String, Value>, out: &mut Truncated) {
    let text = |name| map.get(name).and_then(Value::as_str).filter(|text| !text.trim().is_empty());
    if let Some(message) = text("message") {
        placeholders::fill(message, map.get("parameters"), out);
        list_to_text(map.get("errors"), ": ", out);
    } else if let Some(messages) = map.get("messages") {
        messages_to_text(messages, out);
    } else if let (Some(_), Some(result)) = (map.get("code"), map.get("result")) {
        to_text(result, out);
    } else if let Some(said) = ["error_description", "detail"].into_iter().find_map(text) {
        out.push(said);
    } else if let Some(error) = map.get("error") {
        to_text(error, out);
    } else {
        json_to_text(map, out);
    }
}

/// `{"error": [{"code", "message"}]}`.
fn messages_to_text(messages: &Value, out: &mut Truncated) {
    match messages.get("error") {
        Some(errors @ Value::Array(_)) => list_to_text(Some(errors), "", out),
        _ => to_text(messages, out),
    }
}

/// Every field of a list, `first` before it where there is something already.
fn list_to_text(list: Option<&Value>, first: &str, out: &mut Truncated) {
    let mut between = first;
    for member in list.and_then(Value::as_array).into_iter().flatten() {
        if out.is_full() {
            return;
        }
        if !out.is_empty() {
            out.trim_terminator();
            out.push(between);
        }
        to_text(member, out);
        between = "; ";
    }
}

fn json_to_text(map: &Map<String, Value>, out: &mut Truncated) {
    out.push(&serde_json::to_string(map).unwrap_or_default());
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::render;

    fn json_error(body: &Value) -> String {
        let (text, whole) = render(400, Some("application/json"), body.to_string().as_bytes());
        assert_eq!(whole.as_ref(), Some(body));
        text.strip_prefix("400 Bad Request: ").unwrap().to_owned()
    }

    fn said(status: u16, content_type: Option<&str>, body: &[u8]) -> String {
        render(status, content_type, body).0
    }

    #[test]
    fn messages_with_parameters() {
        let map = json!({"message": "No such entity with %fieldName = %fieldValue.",
            "parameters": {"fieldName": "quoteId", "fieldValue": 4}, "trace": "#0 /srv/x.php(1)"});
        assert_eq!(json_error(&map), "No such entity with quoteId = 4");
        let list = json!({"message": "Unknown carrier: %1, %2", "parameters": ["fast", "air"]});
        assert_eq!(json_error(&list), "Unknown carrier: fast, air");
        let bare = json!({"message": "Only 5% of it (100% expected)."});
        assert_eq!(json_error(&bare), "Only 5% of it (100% expected)");
    }

    #[test]
    fn added_errors_follow_the_message() {
        let body = json!({"message": "Some inputs are wrong.", "errors": [
            {"message": "\"%fieldName\" is required.", "parameters": {"fieldName": "email"}},
            {"message": "\"%1\" is too long.", "parameters": ["city"]},
            "and more"]});
        assert_eq!(
            json_error(&body),
            r#"Some inputs are wrong: "email" is required; "city" is too long; and more"#
        );
    }

    #[test]
    fn other_shapes() {
        let list = json!({"messages": {"error": [{"code": 404, "message": "No route."}, {"code": 1, "message": "Second"}]}});
        assert_eq!(json_error(&list), "No route; Second");
        assert_eq!(json_error(&json!({"code": 500, "result": "Agotado."})), "Agotado");
        let nested = json!({"code": 500, "result": {"message": "No %1", "parameters": ["stock"]}});
        assert_eq!(json_error(&nested), "No stock");
        assert_eq!(json_error(&json!({"error": {"message": "deep"}})), "deep");
        assert_eq!(
            json_error(&json!({"error": "invalid", "error_description": "Token is old"})),
            "Token is old"
        );
        assert_eq!(json_error(&json!({"message": "", "odd": [1]})), r#"{"message":"","odd":[1]}"#);
        assert_eq!(json_error(&json!(["a", 1])), r#"["a",1]"#);
        let marked = "\u{feff}{\"message\": \"marked\"}";
        assert_eq!(said(404, None, marked.as_bytes()), "404 Not Found: marked");
        assert_eq!(json_error(&json!("just text")), "just text");
    }

    #[test]
    fn bodies_that_are_no_json() {
        let xml = b"<?xml version=\"1.0\"?>\n<response><message>\"%f\" &lt;b&gt; is required.</message>\
            <parameters><f>customer</f></parameters></response>\n";
        assert_eq!(said(400, None, xml), "400 Bad Request: \"customer\" <b> is required");
        let page = b"<!DOCTYPE html><html><head><TITLE lang=en>503\n Backend &amp; more</TITLE></head><body>long</body>";
        assert_eq!(
            said(502, Some("text/html"), page),
            "502 Bad Gateway: an HTML page titled 503 Backend & more"
        );
        assert_eq!(said(502, None, b"<html>x"), "502 Bad Gateway: an HTML page without a title");
        assert_eq!(said(500, Some("text/html"), b"Fatal error"), "500 Internal Server Error: Fatal error");
        assert_eq!(said(503, None, b" \n"), "503 Service Unavailable with an empty body");
        assert_eq!(said(429, None, b"{\"message\": \"Too Many Requests\"}"), "429 Too Many Requests");
        assert_eq!(said(799, None, b"\xff"), "799: \u{fffd}");
    }

    #[test]
    fn long_text_is_cut() {
        let said = json_error(&json!({"message": "x".repeat(5000)}));
        assert!(said.len() < 700 && said.ends_with('…'), "{said}");
    }

    proptest::proptest! {
        #[test]
        fn no_body_is_too_odd(status: u16, body: Vec<u8>, text in "[<>/a-c%&{}\"\\[\\]:, titlemsg1]{0,80}") {
            for body in [&body[..], text.as_bytes(), format!("<html><title>{text}").as_bytes()] {
                let said = said(status, Some("text/html"), body);
                proptest::prop_assert!(said.len() < 900, "{}", said);
            }
        }
    }
}
