//! `-v` and `-vv`: requests and replies on standard error, tokens redacted.

use reqwest::header::HeaderMap;

use super::{sanitize, stderr_line, write_stderr};
use crate::exact_json;
use crate::http::{HttpEvent, Tracer, redacted};

/// A listener for the given loudness: nothing at 0, one line an event at 1, headers and bodies from 2 on.
/// With `is_json` each line is an object `{"trace": …}`: under `-o json` standard error holds nothing but objects.
pub fn tracer(verbose: u8, is_json: bool) -> Option<Tracer> {
    let log = Log { is_json, whole: verbose > 1 };
    (verbose > 0).then(|| -> Tracer { std::sync::Arc::new(move |event| log.event(event)) })
}

/// How events are written.
#[derive(Clone, Copy)]
struct Log {
    is_json: bool,
    /// With headers and bodies.
    whole: bool,
}

impl Log {
    fn event(self, event: HttpEvent<'_>) {
        match event {
            HttpEvent::Sending { method, url, headers, body } => {
                self.line(&format!("> {method} {url}"));
                if self.whole {
                    self.headers('>', headers);
                    self.body('>', body.unwrap_or_default());
                }
            }
            HttpEvent::Response { status, headers, body, after } => {
                self.line(&format!("< {status}, {} bytes, {} ms", body.len(), after.as_millis()));
                if self.whole {
                    self.headers('<', headers);
                    self.body('<', &String::from_utf8_lossy(body));
                }
            }
            HttpEvent::TransportError { message, after } => {
                self.line(&format!("< {message} ({} ms)", after.as_millis()));
            }
            HttpEvent::Retry { repeat, of, wait, because } => {
                self.line(&format!("* again ({repeat} of {of}) in {} ms: {because}", wait.as_millis()));
            }
        }
    }

    fn headers(self, mark: char, headers: &HeaderMap) {
        for (name, value) in redacted(headers) {
            self.line(&format!("{mark} {name}: {value}"));
        }
    }

    fn body(self, mark: char, body: &str) {
        for line in body.lines() {
            self.line(&format!("{mark} {line}"));
        }
    }

    fn line(self, text: &str) {
        if self.is_json {
            let object = exact_json::object([("trace", text.into())]);
            return write_stderr(&sanitize::in_json(&object.to_string()));
        }
        stderr_line(text);
    }
}
