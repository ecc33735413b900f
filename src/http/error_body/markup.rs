//! Error bodies that are not JSON: XML of the service, HTML of a proxy, plain text.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::placeholders;
use crate::http::error_body::truncate::Truncated;

/// A title stands near the beginning, or nowhere.
const HEAD: usize = 64 * 1024;

/// Writes what `text` says.
pub(crate) fn to_text(text: &str, content_type: Option<&str>, out: &mut Truncated) {
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
        placeholders::fill(&unescaped(message), parameters.as_ref(), out);
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
