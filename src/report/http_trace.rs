//! `-v` and `-vv`: requests and replies on standard error, tokens redacted by anyone who tells of them.

use super::stderr_line;
use crate::http::{Headers, HttpEvent, Tracer};

/// A listener for the given loudness: nothing at 0, one line an event at 1, headers and bodies from 2 on.
pub fn tracer(verbose: u8) -> Option<Tracer> {
    (verbose > 0).then(|| -> Tracer { std::sync::Arc::new(move |event| log_event(event, verbose > 1)) })
}

fn log_event(event: HttpEvent<'_>, whole: bool) {
    match event {
        HttpEvent::Sending { method, url, headers, body } => {
            stderr_line(&format!("> {method} {url}"));
            if whole {
                log_headers('>', headers);
                log_body('>', body.unwrap_or_default());
            }
        }
        HttpEvent::Response { status, headers, body, after } => {
            stderr_line(&format!("< {status}, {} bytes, {} ms", body.len(), after.as_millis()));
            if whole {
                log_headers('<', headers);
                log_body('<', &String::from_utf8_lossy(body));
            }
        }
        HttpEvent::TransportError { message, after } => {
            stderr_line(&format!("< {message} ({} ms)", after.as_millis()));
        }
        HttpEvent::Retry { repeat, of, wait, because } => {
            stderr_line(&format!("* again ({repeat} of {of}) in {} ms: {because}", wait.as_millis()));
        }
    }
}

fn log_headers(mark: char, headers: Headers<'_>) {
    for (name, value) in headers.iter() {
        stderr_line(&format!("{mark} {name}: {value}"));
    }
}

fn log_body(mark: char, body: &str) {
    for line in body.lines() {
        stderr_line(&format!("{mark} {line}"));
    }
}
