//! `-v` and `-vv`: requests and replies on standard error, tokens redacted.

use std::sync::Arc;

use super::http::{HttpEvent, Tracer, redacted};
use crate::report::{stderr_object, write_stderr};
use storefront_core::text::sanitize::sanitize;

/// A listener for the given loudness: nothing at 0, one line an event at 1, headers and bodies from 2 on.
/// With `is_json` each line is an object `{"trace": …}`: under `-o json` standard error holds nothing but objects.
pub fn tracer(verbose: u8, is_json: bool) -> Option<Tracer> {
    let print = move |line: String| {
        if is_json { stderr_object("trace", line.into()) } else { write_stderr(&sanitize(&line)) }
    };
    let listener = move |event: HttpEvent<'_>| lines(event, verbose > 1).into_iter().for_each(print);
    (verbose > 0).then(|| -> Tracer { Arc::new(listener) })
}

/// An event in one line, or `whole`, with headers and body.
fn lines(event: HttpEvent<'_>, whole: bool) -> Vec<String> {
    let (mark, first, headers, body) = match event {
        HttpEvent::Sending { method, url, headers, body } => {
            ('>', format!("{method} {url}"), headers, body.unwrap_or_default().into())
        }
        HttpEvent::Response { status, headers, body, after } => {
            let first = format!("{status}, {} bytes, {} ms", body.len(), after.as_millis());
            ('<', first, headers, String::from_utf8_lossy(body))
        }
        HttpEvent::TransportError { message, after } => {
            return vec![format!("< {message} ({} ms)", after.as_millis())];
        }
        HttpEvent::Retry { repeat, of, wait, because } => {
            return vec![format!("* again ({repeat} of {of}) in {} ms: {because}", wait.as_millis())];
        }
    };
    let mut lines = vec![format!("{mark} {first}")];
    if whole {
        lines.extend(redacted(headers).map(|(name, value)| format!("{mark} {name}: {value}")));
        lines.extend(body.lines().map(|line| format!("{mark} {line}")));
    }
    lines
}
