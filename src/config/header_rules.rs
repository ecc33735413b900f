//! Which headers a profile may have, and what their values may be.

use reqwest::header::{HeaderName, HeaderValue};
use toml_edit::Item;

/// The table of a profile that has them.
pub const HEADERS: &str = "headers";

/// Headers that the client sets itself, and headers that would change where a call goes or how its body is read.
const REFUSED: [&str; 5] = ["authorization", "host", "transfer-encoding", "connection", "cookie2"];
const REFUSED_PREFIXES: [&str; 2] = ["content-", "proxy-"];

/// Refuses a name that no profile may set. The error is the end of a sentence.
pub fn check_name(name: &str) -> Result<(), String> {
    let folded = name.to_ascii_lowercase();
    let is_refused =
        REFUSED.contains(&&*folded) || REFUSED_PREFIXES.iter().any(|one| folded.starts_with(one));
    match HeaderName::from_bytes(name.as_bytes()) {
        Err(_) => Err("not the name of a header".to_owned()),
        Ok(_) if is_refused => Err("a profile cannot set this header".to_owned()),
        Ok(_) => Ok(()),
    }
}

/// Whether a profile may have this value: a text, or a table with one source of the value.
pub fn is_value(value: &Item) -> bool {
    let Some(table) = value.as_table_like() else {
        return value.as_str().is_some_and(|text| HeaderValue::from_str(text).is_ok() && !text.is_empty());
    };
    let is_text = |item: &Item| item.as_str().is_some_and(|text| !text.is_empty());
    let is_command = |item: &Item| {
        item.as_array()
            .is_some_and(|words| !words.is_empty() && words.iter().all(|word| word.as_str().is_some()))
    };
    let mut members = table.iter();
    let fits = members.next().is_some_and(|(name, item)| match name {
        "file" | "env" => is_text(item),
        "command" => is_command(item),
        _ => false,
    });
    fits && members.next().is_none()
}
