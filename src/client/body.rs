//! What the body of a reply is: the one place that says so, for reads and writes, whatever the status (docs/interface.md,
//! "Replies").

use std::borrow::Cow;
use std::ops::Range;

use encoding_rs::{Encoding, UTF_16BE, UTF_16LE};
use serde::de::IgnoredAny;
use serde_json::{Map, Value};

use storefront_core::text::exact_json;

/// What a body is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Content<'a> {
    /// Nothing, or blanks only.
    Empty,
    /// A JSON document, as UTF-8.
    Json {
        /// Its text.
        text: Cow<'a, [u8]>,
        /// What it is; of a field that is repeated the last one.
        value: Value,
        /// How many bytes the shop printed before and after it, such as notices of PHP.
        printed_around: usize,
    },
    /// A page of a proxy or of a login.
    Page,
    /// Something else.
    Text,
}

/// What a body is. `is_html` is whether its type says that it is a page.
pub(super) fn content(body: &[u8], is_html: bool) -> Content<'_> {
    let text = as_utf8(body);
    let start = blanks(&text);
    if is_html || text[start..].starts_with(b"<") {
        return Content::Page;
    }
    if start == text.len() {
        return Content::Empty;
    }
    if let Ok((value, _)) = exact_json::parse_with_repeats(&text) {
        return Content::Json { text, value, printed_around: 0 };
    }
    match document_in(&text) {
        Some((document, value)) => {
            let printed_around = text.len() - document.len();
            let text = match text {
                Cow::Borrowed(text) => Cow::Borrowed(&text[document]),
                Cow::Owned(text) => Cow::Owned(text[document].to_vec()),
            };
            Content::Json { text, value, printed_around }
        }
        None => Content::Text,
    }
}

/// Why text that begins like JSON is not; nothing of it is in that.
pub(super) fn problem(body: &[u8]) -> Option<String> {
    let text = as_utf8(body);
    let is_meant = matches!(text.get(blanks(&text)), Some(b'{' | b'['));
    let problem = exact_json::parse_with_repeats(&text).err().filter(|_| is_meant);
    problem.map(|problem| problem.to_string())
}

/// Text that is not JSON, up to where a document may begin: what stands in that is not known to be an error.
pub(super) fn text_before_json(body: &[u8]) -> String {
    let text = as_utf8(body);
    let end = document_start(&text).unwrap_or(text.len());
    String::from_utf8_lossy(&text[..end]).into_owned()
}

/// The body without a byte order mark. UTF-16 is decoded, also without a mark where its first character is one of ASCII.
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

/// The object, or list of objects, that stands in other text, where it is whole and the only one. A part of one that is cut
/// is never taken for it: the first place where one may begin decides.
fn document_in(text: &[u8]) -> Option<(Range<usize>, Value)> {
    let start = document_start(text)?;
    let mut documents = serde_json::Deserializer::from_slice(&text[start..]).into_iter::<IgnoredAny>();
    documents.next()?.ok()?;
    let document = start..start + documents.byte_offset();
    let is_only = document_start(&text[document.end..]).is_none();
    let (value, _) = exact_json::parse_with_repeats(&text[document.clone()]).ok()?;
    is_only.then_some((document, value))
}

/// Where an object or a list of objects may begin. A notice has brackets too: `Undefined array key [2]`.
fn document_start(text: &[u8]) -> Option<usize> {
    let next = |at: usize| text[at + 1..].iter().find(|byte| !byte.is_ascii_whitespace());
    let begins = |at: usize| match text[at] {
        b'{' => matches!(next(at), Some(b'"' | b'}')),
        b'[' => matches!(next(at), Some(b'{')),
        _ => false,
    };
    (0..text.len()).find(|at| begins(*at))
}

/// Whether JSON says that something went wrong, although its status is one of success. Where an interface shows its replies,
/// no success is `false`, or has nothing but fields of errors; where it does not, only what can be nothing else is one.
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
    use serde_json::json;

    use super::{Content, content, is_error};

    fn utf_16(text: &str) -> Vec<u8> {
        text.encode_utf16().flat_map(u16::to_be_bytes).collect()
    }

    /// The JSON in a body, and how much stands around it.
    fn json_of(body: &str) -> Option<(String, usize)> {
        match content(body.as_bytes(), false) {
            Content::Json { text, printed_around, .. } => {
                Some((String::from_utf8(text.into_owned()).unwrap(), printed_around))
            }
            _ => None,
        }
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
            assert_eq!(content(&body, false), Content::Page, "{body:?}");
        }
        assert_eq!(content(b"", true), Content::Page);
        assert_eq!((content(b"", false), content(b" \n", false)), (Content::Empty, Content::Empty));
        assert_eq!(content(b"Service unavailable", false), Content::Text);
    }

    #[test]
    fn a_document_is_read_where_it_is_whole() {
        let document = r#"{"items": [{"id": 1}, {"id": 2}]}"#;
        assert_eq!(json_of(document), Some((document.to_owned(), 0)));
        assert_eq!(json_of(&format!("\u{feff}{document}")), Some((document.to_owned(), 0)));
        for (before, after) in [("Notice: key [2]\n", ""), ("", "\nFatal error: {x}"), ("{x} ", " [1]")] {
            let around = before.len() + after.len();
            assert_eq!(json_of(&format!("{before}{document}{after}")), Some((document.to_owned(), around)));
        }
        let wide = utf_16(document);
        let Content::Json { text, .. } = content(&wide, false) else { panic!("{wide:?}") };
        assert_eq!(text, document.as_bytes());
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
            assert_eq!(content(cut.as_bytes(), false), Content::Text, "{cut}");
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
