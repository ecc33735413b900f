//! The service's error bodies as one readable sentence. The interface does not show them (docs/interface.md): what is
//! found is rendered.

use std::borrow::Cow;

use reqwest::StatusCode;
use serde_json::{Map, Value};

use super::attempt::value_of;
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
            plain_to_text(text.trim(), content_type, &mut said);
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
        fill(message, map.get("parameters"), out);
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

/// A title stands near the beginning, or nowhere.
const HEAD: usize = 64 * 1024;

/// Writes what `text` says.
fn plain_to_text(text: &str, content_type: Option<&str>, out: &mut Truncated) {
    let head = head(text).to_ascii_lowercase();
    if is_html(&head, content_type) {
        out.push(match title(text, &head) {
            Some(_) => "an HTML page titled ",
            None => "an HTML page without a title",
        });
        if let Some(title) = title(text, &head) {
            out.push(&unescaped(title));
        }
    } else if let Some(message) = element(text, "message") {
        let parameters = element(text, "parameters").map(parameters);
        fill(&unescaped(message), parameters.as_ref(), out);
    } else {
        out.push(text);
    }
}

fn is_html(head: &str, content_type: Option<&str>) -> bool {
    let says_so = content_type.is_some_and(|kind| kind.to_ascii_lowercase().contains("html"));
    let looks_so = head.starts_with("<!doctype html") || head.starts_with("<html");
    looks_so || (says_so && head.starts_with('<'))
}

/// The text between `<title …>` and `</title>`; `head` is its beginning in lower case.
fn title<'a>(text: &'a str, head: &str) -> Option<&'a str> {
    let tag = head.find("<title")?;
    let start = tag + head[tag..].find('>')? + 1;
    let end = start + head[start..].find("</title")?;
    text.get(start..end).map(str::trim).filter(|title| !title.is_empty())
}

/// At most [`HEAD`] bytes.
fn head(text: &str) -> &str {
    let mut end = text.len().min(HEAD);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// What stands in the first `<name>…</name>`.
fn element<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    let (inside, _) = rest.split_once(&format!("</{name}>"))?;
    Some(inside)
}

/// `<name>value</name>…` as a map, as far as it is that.
fn parameters(mut text: &str) -> Value {
    let mut map = Map::new();
    while let Some((name, rest)) = text.trim_start().strip_prefix('<').and_then(|text| text.split_once('>')) {
        let Some((value, rest)) = rest.split_once(&format!("</{name}>")) else {
            break;
        };
        map.insert(name.to_owned(), unescaped(value).into());
        text = rest;
    }
    map.into()
}

/// The five entities that every such text knows.
fn unescaped(text: &str) -> Cow<'_, str> {
    if !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let text = text.replace("&lt;", "<").replace("&gt;", ">");
    let text = text.replace("&quot;", "\"").replace("&#39;", "'").replace("&apos;", "'");
    Cow::Owned(text.replace("&amp;", "&"))
}

/// Longer names are not looked for: each `%` then costs the same, however long the message.
const MAX_NAME: usize = 64;

/// Writes `message` with its placeholders filled, in one pass: what a parameter brings in is not looked at again. The
/// longest name wins (`%10` before `%1`); a `%` that begins no known name stays.
fn fill(message: &str, parameters: Option<&Value>, out: &mut Truncated) {
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

/// Bytes of foreign text in a message. The whole of it stays in the failure's `service`.
const MAX_CHARS: usize = 600;
/// Characters looked at, so that endless white space is not read to its end.
const MAX_SCANNED: usize = 64 * MAX_CHARS;

/// A sentence under construction: white space becomes one space, and what is too long ends with `…`.
#[derive(Debug, Default)]
struct Truncated {
    text: String,
    looked_at: usize,
    full: bool,
}

impl Truncated {
    /// Appends a piece, or as much of it as there is room for.
    fn push(&mut self, piece: &str) {
        for character in piece.chars() {
            if self.full {
                return;
            }
            self.push_one(character);
        }
    }

    /// Appends one character, if there is room.
    fn push_one(&mut self, character: char) {
        if self.full {
            return;
        }
        self.looked_at += 1;
        if self.text.len() >= MAX_CHARS || self.looked_at > MAX_SCANNED {
            self.full = true;
            self.text.truncate(self.text.trim_end().len());
            self.text.push('…');
        } else if !character.is_whitespace() {
            self.text.push(character);
        } else if !self.text.is_empty() && !self.text.ends_with(' ') {
            self.text.push(' ');
        }
    }

    /// Whether everything more is dropped.
    fn is_full(&self) -> bool {
        self.full
    }

    /// Whether nothing readable came yet.
    fn is_empty(&self) -> bool {
        self.text.is_empty()
    }

    /// Takes the full stop off the end, so that the sentence can go on.
    fn trim_terminator(&mut self) {
        let end = self.text.trim_end().trim_end_matches(['.', ':']).len();
        self.text.truncate(end);
    }

    /// The sentence, without a full stop at its end, and without our tokens. They are masked only here, because a
    /// placeholder may bring in the second half of one, and the cut may fall into another.
    fn finish(mut self) -> String {
        self.trim_terminator();
        match self.text.strip_suffix('…').filter(|_| self.full) {
            Some(cut) => format!("{}…", secrets().cut_text(cut)),
            None => secrets().text(&self.text).into_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{MAX_CHARS, Truncated, fill, render};

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

    fn clipped(pieces: &[&str]) -> String {
        let mut sentence = Truncated::default();
        for piece in pieces {
            sentence.push(piece);
        }
        sentence.finish()
    }

    #[test]
    fn white_space_is_one_space_and_the_full_stop_goes() {
        assert_eq!(clipped(&["  a\r\n\t b", " ", " c. "]), "a b c");
        assert_eq!(clipped(&["..."]), "");
    }

    #[test]
    fn what_is_too_long_is_cut_between_characters() {
        let long = clipped(&["é".repeat(MAX_CHARS).as_str()]);
        assert_eq!(long, format!("{}…", "é".repeat(MAX_CHARS / 2)));
        assert_eq!(clipped(&[" ".repeat(100_000).as_str(), "late"]), "…");
    }
}
