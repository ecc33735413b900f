//! The service's error bodies as one readable sentence. The interface does not show error bodies (docs/interface.md), so
//! all known shapes are rendered.

use std::cmp::Reverse;

use reqwest::StatusCode;
use serde_json::Value;

use super::body::{Body, Content, text_before_json};
use storefront_core::text::redact::secrets;

/// How many bytes of foreign text a message has. All of it is in the failure's `service`.
const MAX_MESSAGE: usize = 600;
/// How many bytes are searched for a message, so that no body takes long.
const MAX_SCANNED: usize = 64 * MAX_MESSAGE;
/// How many elements of a list are read; their texts fill a message.
const MAX_LISTED: usize = 20;

/// Status and body of an error as one sentence without a full stop, such as `404 Not Found: no such quote`. Long text is
/// cut. The second value is the error itself: JSON, or the text before any JSON. If a body says nothing of an error, only
/// its type is named: its content may be a customer's. Tokens in use are masked in both, before anything is cut.
///
/// Never fails, whatever the body; its time grows with the body and not faster.
pub fn render(status: u16, body: Body) -> (String, Option<Value>) {
    let without_words = described(status, &body);
    let (mut whole, is_json) = match body.content {
        Content::Empty => return (without_words, None),
        Content::Json { value, .. } => (value, true),
        Content::Text { text, .. } => (text_before_json(&text).into(), false),
    };
    secrets().value(&mut whole);
    let said = match &whole {
        Value::String(text) if !is_json => of_text(text.trim()),
        json => of_json(json),
    };
    // A placeholder may have joined the halves of a token.
    let said = one_line(&secrets().text(&said));
    if said.is_empty() {
        return (without_words, None);
    }
    let status = status_in_words(status);
    (if status.ends_with(&said) { status } else { format!("{status}: {said}") }, Some(whole))
}

/// Status and type of a body that is not an error, such as `200 OK with an HTML page`. Its content may be a customer's,
/// and is never quoted.
pub(super) fn described(status: u16, body: &Body) -> String {
    let kind = match body.content {
        Content::Empty => "an empty body",
        _ if body.is_page => "an HTML page",
        Content::Text { .. } => "a body that is not JSON",
        Content::Json { .. } => "a JSON body",
    };
    format!("{} with {kind}", status_in_words(status))
}

/// `404 Not Found`.
pub fn status_in_words(status: u16) -> String {
    let code = StatusCode::from_u16(status).ok();
    let words = code.and_then(|code| code.canonical_reason());
    words.map_or_else(|| status.to_string(), |words| format!("{status} {words}"))
}

/// Foreign text on one line, without a full stop, and cut where it is too long.
pub(super) fn one_line(text: &str) -> String {
    let words: Vec<&str> = beginning(text, MAX_SCANNED).split_whitespace().collect();
    let line = words.join(" ");
    if line.len() > MAX_MESSAGE || text.len() > MAX_SCANNED {
        return format!("{}…", beginning(&line, MAX_MESSAGE).trim_end());
    }
    without_full_stop(&line).to_owned()
}

fn without_full_stop(line: &str) -> &str {
    line.trim_end().trim_end_matches(['.', ':'])
}

/// At most `limit` bytes.
fn beginning(text: &str, limit: usize) -> &str {
    let end = (0..=text.len().min(limit)).rev().find(|end| text.is_char_boundary(*end));
    &text[..end.unwrap_or_default()]
}

/// What JSON says of an error, in any shape; empty if it has none of the fields of an error.
fn of_json(value: &Value) -> String {
    const FIELDS: [&str; 8] =
        ["messages", "result", "error_description", "detail", "error", "errors", "title", "code"];
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(list) => {
            let members = list.iter().take(MAX_LISTED).map(of_json).filter(|member| !member.is_empty());
            members.map(|member| without_full_stop(&member).to_owned()).collect::<Vec<_>>().join("; ")
        }
        Value::Object(map) => match map.get("message").and_then(Value::as_str) {
            Some(message) if !message.trim().is_empty() => {
                let message = filled(message, map.get("parameters"));
                match map.get("errors").and_then(Value::as_array) {
                    Some(errors) if !errors.is_empty() => {
                        format!("{}: {}", without_full_stop(&message), of_json(&map["errors"]))
                    }
                    _ => message,
                }
            }
            _ => {
                let mut inside = FIELDS.into_iter().filter_map(|name| map.get(name)).map(of_json);
                inside.find(|said| !said.is_empty()).unwrap_or_default()
            }
        },
        other => other.to_string(),
    }
}

/// A message of Magento's with its placeholders filled in one pass: `%fieldName` from a map, `%1` from a list. Inserted
/// text is not searched again. The longest name wins (`%10` before `%1`); a `%` before no known name stays.
fn filled(message: &str, parameters: Option<&Value>) -> String {
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    };
    let mut known: Vec<(String, String)> = match parameters {
        Some(Value::Object(map)) => {
            map.iter().take(MAX_LISTED).map(|(name, value)| (name.clone(), text(value))).collect()
        }
        Some(Value::Array(list)) => {
            let numbered = (1..=MAX_LISTED).zip(list);
            numbered.map(|(number, value)| (number.to_string(), text(value))).collect()
        }
        _ => Vec::new(),
    };
    known.retain(|(name, _)| !name.is_empty());
    known.sort_by_key(|(name, _)| Reverse(name.len()));
    let mut parts = message.split('%');
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        if out.len() > MAX_SCANNED {
            break;
        }
        let named = known.iter().find_map(|(name, value)| Some((value, part.strip_prefix(name.as_str())?)));
        match named {
            Some((value, rest)) => out.extend([value.as_str(), rest]),
            None => out.extend(["%", part]),
        }
    }
    out
}

/// What a text that is not JSON says: the title of a proxy's HTML page, else the text.
fn of_text(text: &str) -> String {
    let page = beginning(text, MAX_SCANNED);
    let lower = page.to_ascii_lowercase();
    if !["<!doctype html", "<html"].iter().any(|start| lower.starts_with(start)) {
        return text.to_owned();
    }
    let title = || {
        let tag = lower.find("<title")?;
        let start = tag + lower[tag..].find('>')? + 1;
        let end = start + lower[start..].find("</title")?;
        Some(page[start..end].trim()).filter(|title| !title.is_empty())
    };
    match title() {
        Some(title) => format!("an HTML page titled {}", title.replace("&amp;", "&")),
        None => "an HTML page without a title".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Body, MAX_MESSAGE, MAX_SCANNED, filled, one_line};
    use storefront_core::text::redact::secrets;
    use storefront_core::text::token::Credential;

    fn render(status: u16, body: &[u8]) -> (String, Option<Value>) {
        super::render(status, Body::read(body, false))
    }

    fn json_error(body: &Value) -> String {
        let (text, whole) = render(400, body.to_string().as_bytes());
        assert_eq!(whole.as_ref(), Some(body));
        text.strip_prefix("400 Bad Request: ").unwrap().to_owned()
    }

    fn said(status: u16, body: &[u8]) -> String {
        render(status, body).0
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
        assert_eq!(
            json_error(&json!({"errors": [{"message": "No %1", "parameters": ["stock"]}]})),
            "No stock"
        );
        assert_eq!(json_error(&json!(["a", 1])), "a; 1");
        let marked = "\u{feff}{\"message\": \"marked\"}";
        assert_eq!(said(404, marked.as_bytes()), "404 Not Found: marked");
        assert_eq!(json_error(&json!("just text")), "just text");
    }

    /// A gateway that fails at a reply may hand on what it got.
    #[test]
    fn what_is_not_an_error_is_not_quoted() {
        let customer =
            json!({"id": 1, "email": "jane@example.com", "message": "", "addresses": [{"city": "Rome"}]});
        let cut = &customer.to_string()[..40];
        for (body, expected) in [
            (customer.to_string(), "500 Internal Server Error with a JSON body"),
            (json!([customer]).to_string(), "500 Internal Server Error with a JSON body"),
            (cut.to_owned(), "500 Internal Server Error with a body that is not JSON"),
        ] {
            assert_eq!(render(500, body.as_bytes()), (expected.to_owned(), None));
        }
        for body in [format!("\nFatal error: x\n{customer}{customer}"), format!("Fatal error: x\n{cut}")] {
            let (said, whole) = render(500, body.as_bytes());
            assert_eq!(said, "500 Internal Server Error: Fatal error: x");
            assert!(!whole.unwrap().to_string().contains("jane"), "{body}");
        }
    }

    /// Bodies of Magento, its documentation and its proxies.
    #[test]
    fn bodies_that_shops_gave() {
        let no_entity = "No such entity with %fieldName = %fieldValue, %field2Name = %field2Value";
        let accessor =
            r#"Property "Foo" does not have accessor method "getFoo" in class "Magento\Customer"."#;
        let required = "\"%fieldName\" is required. Enter and try again.";
        let unsaved = "The shipping information was unable to be saved. Error: \"%message\"";
        for (body, expected) in [
            (
                json!({"message": "The consumer isn't authorized to access %resources.",
                    "parameters": {"resources": "self"}}),
                "The consumer isn't authorized to access self",
            ),
            (
                json!({"message": "The consumer isn't authorized to access %1.", "parameters": ["resourceN"]}),
                "The consumer isn't authorized to access resourceN",
            ),
            (
                json!({"message": no_entity, "parameters": {"fieldName": "email", "fieldValue": "a@example.com",
                    "field2Name": "websiteId", "field2Value": 0}}),
                "No such entity with email = a@example.com, websiteId = 0",
            ),
            (
                json!({"message": "Carrier with such method not found: %1, %2",
                    "parameters": ["bestway", "tablerate"]}),
                "Carrier with such method not found: bestway, tablerate",
            ),
            (
                json!({"message": "One or more input exceptions have occurred.", "errors": [
                    {"message": required, "parameters": {"fieldName": "email"}},
                    {"message": required, "parameters": {"fieldName": "template"}}]}),
                "One or more input exceptions have occurred: \"email\" is required. Enter and try again; \
                 \"template\" is required. Enter and try again",
            ),
            (
                json!({"message": accessor, "trace": "#0 /var/www/NameFinder.php(62): ...\n#1 {main}"}),
                accessor.trim_end_matches('.'),
            ),
            (json!({"message": "Too Many Requests", "trace": null}), "Too Many Requests"),
            (
                json!({"message": "Provided customer ID \"%customer_id\" isn't related to current customer address.",
                    "parameters": {"customer_id": 1}}),
                "Provided customer ID \"1\" isn't related to current customer address",
            ),
            (
                json!({"message": unsaved, "parameters": {"message": "Invalid customer address id 7"}}),
                "The shipping information was unable to be saved. Error: \"Invalid customer address id 7\"",
            ),
            (
                json!({"code": 500, "result": "Producto que desea agregar no está disponible."}),
                "Producto que desea agregar no está disponible",
            ),
        ] {
            assert_eq!(json_error(&body), expected);
        }
        assert_eq!(said(503, b""), "503 Service Unavailable with an empty body");
    }

    #[test]
    fn bodies_that_are_no_json() {
        // We ask for JSON: XML is text like any other.
        let xml = b"<?xml version=\"1.0\"?>\n<response><message>No.</message></response>\n";
        assert_eq!(
            said(400, xml),
            "400 Bad Request: <?xml version=\"1.0\"?> <response><message>No.</message></response>"
        );
        let page = b"<!DOCTYPE html><html><head><TITLE lang=en>503\n Backend &amp; more</TITLE></head><body>long</body>";
        assert_eq!(said(502, page), "502 Bad Gateway: an HTML page titled 503 Backend & more");
        assert_eq!(said(502, b"<html>x"), "502 Bad Gateway: an HTML page without a title");
        assert_eq!(said(500, b"Fatal error"), "500 Internal Server Error: Fatal error");
        assert_eq!(said(503, b" \n"), "503 Service Unavailable with an empty body");
        assert_eq!(said(429, b"{\"message\": \"Too Many Requests\"}"), "429 Too Many Requests");
        assert_eq!(said(799, b"\xff"), "799: \u{fffd}");
    }

    #[test]
    fn long_text_is_cut() {
        let said = json_error(&json!({"message": "x".repeat(5000)}));
        assert!(said.len() < 700 && said.ends_with('…'), "{said}");
    }

    #[test]
    fn a_token_is_masked_before_any_text_is_cut() {
        let token = "tok3n-before-any-cut-0123456789";
        let _masked = secrets().add_while(&Credential::new(token).unwrap());
        let blanks = " ".repeat(MAX_MESSAGE - 12);
        let scanned = " ".repeat(MAX_SCANNED - 12);
        let html = |title: &str| format!("<html><title>{title}</title>");
        for body in [
            json!({"message": "no %1", "parameters": [format!("{blanks}{token}")]}).to_string(),
            json!({"message": "no %a", "parameters": {"a": [format!("{blanks}{token}")]}}).to_string(),
            json!({"message": format!("no{scanned}{token}%1"), "parameters": [1]}).to_string(),
            json!({"message": format!("no{scanned}{token}")}).to_string(),
            json!({"message": "no %1%2", "parameters": [format!("{blanks}{}", &token[..20]), &token[20..]]})
                .to_string(),
            html(&format!("{scanned}{token}")),
            format!("{scanned}{token}"),
        ] {
            let said = said(400, body.as_bytes());
            assert!(!said.contains("tok3n"), "{said}");
        }
    }

    proptest::proptest! {
        #[test]
        fn no_body_is_too_odd(status: u16, body: Vec<u8>, text in "[<>/a-c%&{}\"\\[\\]:, titlemsg1]{0,80}") {
            for body in [&body[..], text.as_bytes(), format!("<html><title>{text}").as_bytes()] {
                let said = said(status, body);
                proptest::prop_assert!(said.len() < 900, "{}", said);
            }
        }
    }

    #[test]
    fn the_longest_name_wins() {
        let parameters = json!({"field": "no", "fieldName": "email", "field2Name": "websiteId", "value": 0});
        assert_eq!(
            filled("%fieldName = %value, %field2Name, %fields", Some(&parameters)),
            "email = 0, websiteId, nos"
        );
        let ten: Vec<_> = (1..=10).map(|n| format!("<{n}>")).collect();
        assert_eq!(filled("%1 %10 %11 %0 %01", Some(&json!(ten))), "<1> <10> <1>1 %0 %01");
    }

    #[test]
    fn what_a_parameter_brings_in_is_not_filled_again() {
        assert_eq!(filled("%a %b", Some(&json!({"a": "%b", "b": "%a"}))), "%b %a");
        assert_eq!(filled("%1%2", Some(&json!(["%", "1"]))), "%1");
    }

    #[test]
    fn a_percent_sign_survives() {
        let text = "Only 5% of 100% (%, %%1, %é, %";
        assert_eq!(filled(text, Some(&json!(["x"]))), "Only 5% of 100% (%, %x, %é, %");
        assert_eq!(filled(text, Some(&json!("x"))), text);
    }

    #[test]
    fn values_that_are_no_text_are_json() {
        let parameters = json!([1.50, true, null, {"a": ["b"]}]);
        assert_eq!(filled("%1 %2 %3 %4", Some(&parameters)), r#"1.5 true null {"a":["b"]}"#);
    }

    #[test]
    fn work_grows_with_the_text_and_not_faster() {
        let message = "%1%2".repeat(1 << 16);
        for value in ["", " ", "long ".repeat(1 << 16).as_str()] {
            let start = std::time::Instant::now();
            filled(&message, Some(&json!([value, [value]])));
            assert!(start.elapsed().as_secs() < 5, "{value:.10}");
        }
    }

    #[test]
    fn white_space_is_one_space_and_the_full_stop_goes() {
        assert_eq!(one_line("  a\r\n\t b  c. "), "a b c");
        assert_eq!(one_line("..."), "");
    }

    #[test]
    fn what_is_too_long_is_cut_between_characters() {
        let long = one_line(&"é".repeat(MAX_MESSAGE));
        assert_eq!(long, format!("{}…", "é".repeat(MAX_MESSAGE / 2)));
        assert_eq!(one_line(&format!("{}late", " ".repeat(100_000))), "…");
    }
}
