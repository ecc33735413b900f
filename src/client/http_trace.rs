//! `-v` and `-vv`: requests and replies on standard error, tokens redacted.

use std::rc::Rc;

use super::http::{HttpEvent, Tracer, redacted};
use crate::report::Report;
use storefront_core::text::sanitize::sanitize;

/// A listener for the verbosity of the run: nothing at 0, one line an event at 1, headers and bodies from 2 on. Under `-o
/// json` each line is an object `{"trace": …}`, as everything on standard error.
pub fn tracer(report: &Report) -> Option<Tracer> {
    let (report, verbose) = (report.clone(), report.verbose);
    let print = move |line: String| {
        if report.is_json() {
            report.stderr_object("trace", line.into());
        } else {
            report.stderr(&sanitize(&line));
        }
    };
    let listener = move |event: HttpEvent<'_>| lines(event, verbose > 1).into_iter().for_each(&print);
    (verbose > 0).then(|| -> Tracer { Rc::new(listener) })
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
