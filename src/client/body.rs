//! Reads the body of a reply, for reads and writes and whatever the status (docs/interface.md, "Outcomes of a request").

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use storefront_core::text::exact_json;

/// A body that was read.
#[derive(Debug, PartialEq, Eq)]
pub struct Body {
    /// What is in it.
    pub content: Content,
    /// Whether its type, or how it begins, says that it is the page of a proxy or of a login.
    pub is_page: bool,
}

/// What is in a body.
#[derive(Debug, PartialEq, Eq)]
pub enum Content {
    /// Nothing, or blanks only.
    Empty,
    /// A JSON document.
    Json {
        /// Numbers have their exact text; the last of repeated fields counts.
        value: Value,
        /// The path of the first field that is repeated in its object.
        repeated: Option<String>,
        /// How many bytes the shop printed before and after it, such as notices of PHP.
        printed_around: usize,
    },
    /// Something else.
    Text {
        /// All of it.
        text: String,
        /// Why it is not JSON, if it begins like JSON; it quotes nothing of the text.
        problem: Option<String>,
    },
}

impl Body {
    /// Reads a body. `is_html` is whether its type says that it is a page.
    pub fn read(bytes: &[u8], is_html: bool) -> Self {
        let text = as_utf8(bytes);
        let beginning = &text[blanks(&text)..];
        Self { content: Content::read(&text, beginning), is_page: is_html || beginning.starts_with(b"<") }
    }

    /// Whether it is JSON, as the service writes it.
    pub fn is_json(&self) -> bool {
        !self.is_page && matches!(self.content, Content::Json { .. })
    }

    /// Whether something else than the service wrote it.
    pub fn is_foreign(&self) -> bool {
        self.is_page || matches!(self.content, Content::Text { .. })
    }
}

impl Content {
    /// `beginning` is the text without the blanks before it.
    fn read(text: &[u8], beginning: &[u8]) -> Self {
        if beginning.is_empty() {
            return Self::Empty;
        }
        let problem = match exact_json::parse_with_repeats(text) {
            Ok((value, repeated)) => return Self::Json { value, repeated, printed_around: 0 },
            Err(problem) => problem,
        };
        if let Some(document) = document_in(text) {
            return document;
        }
        let is_meant = matches!(beginning[0], b'{' | b'[');
        let problem = is_meant.then(|| problem.to_string());
        Self::Text { text: String::from_utf8_lossy(text).into_owned(), problem }
    }

    /// The JSON; the text if it is not JSON; `Null` if it is empty.
    pub fn into_value(self) -> Value {
        match self {
            Self::Empty => Value::Null,
            Self::Json { value, .. } => value,
            Self::Text { text, .. } => text.into(),
        }
    }
}

/// Text that is not JSON, up to where a document may begin: that part is not known to be an error.
pub(super) fn text_before_json(text: &str) -> &str {
    &text[..document_start(text.as_bytes()).unwrap_or(text.len())]
}

/// The body as UTF-8, without a byte order mark. UTF-16 is decoded, even without a mark if its first character is ASCII.
fn as_utf8(body: &[u8]) -> Cow<'_, [u8]> {
    let encoding = match body {
        _ if Encoding::for_bom(body).is_some() => Encoding::for_bom(body).map(|(encoding, _)| encoding),
        [1..=u8::MAX, 0, ..] => Some(UTF_16LE),
        [0, 1..=u8::MAX, ..] => Some(UTF_16BE),
        _ => None,
    };
    match encoding {
        Some(utf_16) if utf_16 == UTF_16LE || utf_16 == UTF_16BE => {
            Cow::Owned(utf_16.decode_with_bom_removal(body).0.into_owned().into_bytes())
        }
        _ => Cow::Borrowed(body.strip_prefix("\u{feff}".as_bytes()).unwrap_or(body)),
    }
}

/// How many bytes at the start are blanks: white space, no-break spaces of UTF-8 and of Latin-1, marks.
fn blanks(text: &[u8]) -> usize {
    const WIDE: [&[u8]; 3] = [b"\xc2\xa0", b"\xe2\x80\x8b", b"\xef\xbb\xbf"];
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match WIDE.iter().find(|blank| text[at..].starts_with(blank)) {
            Some(blank) => at += blank.len(),
            None if *byte <= b' ' || *byte == 0xa0 => at += 1,
            None => break,
        }
    }
    at
}

/// The object, or list of objects, inside other text, if it is complete and the only one. A part of a cut document is
/// never taken for one: the first place where one may begin decides.
fn document_in(text: &[u8]) -> Option<Content> {
    let start = document_start(text)?;
    let mut documents = serde_json::Deserializer::from_slice(&text[start..]).into_iter::<IgnoredAny>();
    documents.next()?.ok()?;
    let (document, after) = text[start..].split_at(documents.byte_offset());
    let (value, repeated) = exact_json::parse_with_repeats(document).ok()?;
    let printed_around = text.len() - document.len();
    document_start(after).is_none().then_some(Content::Json { value, repeated, printed_around })
}

/// Where an object or a list of objects may begin. A PHP notice also has brackets: `Undefined array key [2]`.
fn document_start(text: &[u8]) -> Option<usize> {
    let next = |at: usize| text[at + 1..].iter().find(|byte| !byte.is_ascii_whitespace());
    let begins = |at: usize| match text[at] {
        b'{' => matches!(next(at), Some(b'"' | b'}')),
        b'[' => matches!(next(at), Some(b'{')),
        _ => false,
    };
    (0..text.len()).find(|at| begins(*at))
}

/// Whether JSON says that something went wrong under a status of success. If the interface shows its replies, `false` and
/// objects with nothing but error fields are errors, because no success looks so; otherwise only unmistakable errors
/// count.
pub(super) fn is_error(reply: &Value, replies_are_shown: bool) -> bool {
    const FIELDS: [&str; 7] = ["message", "parameters", "errors", "code", "result", "messages", "trace"];
    match reply {
        Value::Bool(false) => replies_are_shown,
        Value::Object(fields) => {
            let is_of_errors = !fields.is_empty() && fields.keys().all(|name| FIELDS.contains(&&**name));
            is_of_errors && (replies_are_shown || says_error(fields))
        }
        _ => false,
    }
}

/// Whether fields of errors leave no doubt: a code of an error, or errors in a list.
fn says_error(fields: &Map<String, Value>) -> bool {
    let code = fields.get("code").and_then(|code| code.as_u64().or_else(|| code.as_str()?.parse().ok()));
    let has_members = |list: Option<&Value>| match list {
        Some(Value::Array(members)) => !members.is_empty(),
        Some(Value::Object(members)) => !members.is_empty(),
        _ => false,
    };
    code.is_some_and(|code| (400..600).contains(&code))
        || has_members(fields.get("errors"))
        || has_members(fields.get("messages").and_then(|messages| messages.get("error")))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{Body, Content, is_error};

    fn utf_16(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_be_bytes).collect()
    }

    /// The JSON in a body, and how much stands around it.
    fn json_of(body: &[u8]) -> Option<(String, usize)> {
        match Body::read(body, false).content {
            Content::Json { value, printed_around, .. } => Some((value.to_string(), printed_around)),
            _ => None,
        }
    }

    fn value_of(body: &[u8]) -> Value {
        Body::read(body, false).content.into_value()
    }

    #[test]
    fn a_body_is_json_or_text_or_nothing() {
        assert_eq!(value_of(b""), Value::Null);
        assert_eq!(value_of(b"plain"), json!("plain"));
        assert_eq!(value_of(b"\xff{"), json!("\u{fffd}{"));
        let exact = br#"{"b":12345678901234567890.10,"a":[]}"#;
        assert_eq!(value_of(exact).to_string().as_bytes(), exact);
        let twice = Body::read(br#"{"a":[{"b":1,"b":2}]}"#, false).content;
        assert!(matches!(twice, Content::Json { repeated: Some(path), .. } if path == "a[0].b"));
    }

    #[test]
    fn a_page_is_one_in_any_encoding() {
        let page = "<html>";
        for body in [
            page.into(),
            utf_16(page),
            [b"\xfe\xff".to_vec(), utf_16(page)].concat(),
            "\u{feff}\u{a0}\r\n\u{200b}<p>".into(),
            b"\xa0<p>".to_vec(),
        ] {
            assert!(Body::read(&body, false).is_page, "{body:?}");
        }
        assert!(Body::read(b"", true).is_page && Body::read(b"{}", true).is_page);
        for empty in ["", " \n"] {
            let read = Body::read(empty.as_bytes(), false);
            assert_eq!(read, Body { content: Content::Empty, is_page: false });
        }
        assert!(!Body::read(b"Service unavailable", false).is_page);
    }

    #[test]
    fn a_document_is_read_where_it_is_whole() {
        let document = r#"{"items":[{"id":1},{"id":2}]}"#;
        let alone = Some((document.to_owned(), 0));
        assert_eq!(json_of(document.as_bytes()), alone);
        assert_eq!(json_of(format!("\u{feff}{document}").as_bytes()), alone);
        assert_eq!(json_of(&utf_16(document)), alone);
        for (before, after) in [("Notice: key [2]\n", ""), ("", "\nFatal error: {x}"), ("{x} ", " [1]")] {
            let around = before.len() + after.len();
            let body = format!("{before}{document}{after}");
            assert_eq!(json_of(body.as_bytes()), Some((document.to_owned(), around)));
        }
    }

    #[test]
    fn a_part_of_a_document_is_none() {
        for cut in [
            r#"Notice {"items": [{"id": 1}, {"id""#,
            r#"{"items": [{"id": 1}, {"id" Fatal error"#,
            r#"[{"id": 1}, {"id": 2} Fatal error"#,
            r#"{"id": 1}{"message": "No."}"#,
            r#"{"id": 1"#,
        ] {
            assert_eq!(value_of(cut.as_bytes()), *cut);
        }
    }

    #[test]
    fn an_error_is_what_can_be_nothing_else() {
        for (reply, where_shown, where_not) in [
            (json!(false), true, false),
            (json!({"message": "No."}), true, false),
            (json!({"code": 200, "result": "Done."}), true, false),
            (json!({"code": 500, "result": "No."}), true, true),
            (json!({"code": "404", "message": "No."}), true, true),
            (json!({"messages": {"error": [{"message": "No."}]}}), true, true),
            (json!({"message": "No.", "errors": [{"message": "No."}]}), true, true),
            (json!({"message": "No.", "errors": [], "parameters": []}), true, false),
            (json!({"item_id": 7, "message": "No."}), false, false),
            (json!({}), false, false),
            (json!([]), false, false),
            (json!(true), false, false),
            (json!(null), false, false),
        ] {
            assert_eq!(
                (is_error(&reply, true), is_error(&reply, false)),
                (where_shown, where_not),
                "{reply}"
            );
        }
    }
}
