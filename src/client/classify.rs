//! What one reply, or the lack of one, means: the outcome of the attempt and its failure.

use std::time::Duration;

use jiff::Timestamp;
use reqwest::header::{CONTENT_TYPE, HeaderName, LOCATION, RETRY_AFTER};
use serde_json::Value;
use url::Url;

use super::attempt::{Attempt, Reply, ServiceSignal, retry_after};
use super::body::{Body, Content, is_error};
use super::transport::Incoming;
use crate::client::error_body;
use crate::client::transport_error::TransportError;
use storefront_core::absent::Absent;
use storefront_core::failure::{Failure, FailureKind, Persistence};
use storefront_core::hint::{Hint, hint, storefront};
use storefront_core::interface::request::Request;
use storefront_core::text::redact::secrets;

/// The hint if it is unknown whether a write was applied.
pub const CHECK_BEFORE_RETRY: &str = "check whether it took effect before you try again";

/// The hint if a reply is not what the interface says.
pub const LOOK_CLOSER: &str = "try again; -vv shows the response";

/// The hint if a page answers a write.
const PAGE_TO_WRITE: &str =
    "check for a proxy, a firewall or a login page in front of the service, then whether it took effect";

/// The hint if a page answers a read, or refuses a call: it says nothing about the token.
pub(super) const PAGE: &str =
    "check the base URL, and for a proxy, a firewall or a login page in front of the service";

/// The hint if there is no such call.
pub fn check_url() -> Hint {
    hint!("check the base URL: ", storefront("doctor"), " tells what is wrong with it")
}

/// What Magento answers with 400 to an unknown path.
pub const NO_SUCH_PATH: &str = "Specified request cannot be processed";

/// What Magento answers with 400 if the stock is not enough, by version and by module.
const OUT_OF_STOCK: [&str; 8] = [
    "The requested qty is not available",
    "The requested qty. is not available",
    "Not enough items for sale",
    "This product is out of stock",
    "Some of the products are out of stock",
    "Product that you are trying to add is not available",
    "Not all of your products are available in the requested quantity",
    "There are no source items with the in stock status",
];

/// Statuses that say where to look instead, without having done anything.
const REDIRECTS: [u16; 4] = [301, 302, 307, 308];

/// Whether some shops have acted all the same when they refuse like this: they save, and fail at a later step, such as an
/// email.
pub fn may_be_saved(failure: &Failure) -> bool {
    failure.kind == FailureKind::Refused && matches!(failure.status, Some(400 | 404 | 409 | 422 | 501))
}

/// Decides what one attempt at `request` came to.
pub(super) fn classify(
    request: &Request,
    url: &Url,
    received: Result<Incoming, TransportError>,
    replies_are_shown: bool,
    now: Timestamp,
) -> (Attempt, ServiceSignal) {
    let is_read = request.is_read();
    match received {
        Err(lost) => (without_reply(is_read, lost), ServiceSignal::Failing(None)),
        Ok(incoming) => {
            let wait = header(&incoming, &RETRY_AFTER).and_then(|value| retry_after(&value, now));
            let signal = signal(incoming.status, wait);
            let attempt = if is_success(request, incoming.status) {
                success(request, incoming, replies_are_shown)
            } else {
                failed(request, url, &incoming, wait)
            };
            (attempt, signal)
        }
    }
}

fn signal(status: u16, wait: Option<Duration>) -> ServiceSignal {
    match status {
        429 => ServiceSignal::Throttled(wait),
        502..=504 => ServiceSignal::Failing(wait),
        500 => ServiceSignal::InternalError,
        _ => ServiceSignal::Healthy,
    }
}

/// A reply with a status of success. Its body decides whether it is one: a page, an error and text that is not JSON do
/// not say that the service did it, and are no answer to a read.
fn success(request: &Request, incoming: Incoming, replies_are_shown: bool) -> Attempt {
    let is_read = request.is_read();
    let status = incoming.status;
    let kind = if is_read { FailureKind::Unavailable } else { FailureKind::Unknown };
    let unknown = |failure: Failure| {
        let otherwise = if is_read { LOOK_CLOSER } else { CHECK_BEFORE_RETRY };
        let hint = failure.hint.clone().unwrap_or_else(|| otherwise.into());
        Attempt::Unknown { failure: failure.hint(hint), transient: false }
    };
    let body = body(&incoming);
    let is_answer = match &body.content {
        // The user's own call may read a page, or an answer that is `true` or `false`.
        _ if request.is_raw && is_read => true,
        _ if body.is_page => false,
        Content::Text { .. } => !is_read && says_done(request, &incoming, replies_are_shown),
        Content::Empty => !is_read,
        Content::Json { value, .. } if is_error(value, replies_are_shown && !request.is_raw) => {
            let (said, service) = error_body::render(status, body);
            let failure = Failure::new(kind, format!("the service answered with an error under {said}"));
            let failure = if is_read { failure.no_answer() } else { failure };
            return unknown(Failure { service, status: Some(status), ..failure });
        }
        Content::Json { .. } => true,
    };
    if !is_answer {
        return unknown(answered(kind, &incoming, body));
    }
    let (value, repeated, printed_around) = match body.content {
        // The beginning of a number is a number, too: the id of something else.
        Content::Json { value: Value::Number(_), .. } if incoming.broken.is_some() && !request.is_raw => {
            (Value::Null, None, 0)
        }
        Content::Json { value, repeated, printed_around } => (value, repeated, printed_around),
        other => (other.into_value(), None, 0),
    };
    // The answer to the user's own call is passed on as it came.
    let printed_around = if request.is_raw { 0 } else { printed_around };
    let warning = incoming.broken;
    Attempt::Applied(Reply { status, value, repeated, bytes: incoming.body, warning, printed_around })
}

fn body(incoming: &Incoming) -> Body {
    let kind = header(incoming, &CONTENT_TYPE);
    Body::read(&incoming.body, kind.is_some_and(|kind| kind.to_ascii_lowercase().contains("html")))
}

/// Whether text that is not JSON may be the answer to a write: the rest of it was lost, or the interface does not show
/// its answers and the text is not typed as text.
fn says_done(request: &Request, incoming: &Incoming, replies_are_shown: bool) -> bool {
    let is_text = header(incoming, &CONTENT_TYPE).is_some_and(|kind| kind.trim_start().starts_with("text/"));
    incoming.broken.is_some() || request.is_raw || !replies_are_shown && !is_text
}

fn failed(request: &Request, url: &Url, incoming: &Incoming, wait: Option<Duration>) -> Attempt {
    let is_read = request.is_read();
    let status = incoming.status;
    let body = body(incoming);
    match status {
        300..=399 if is_read || REDIRECTS.contains(&status) => {
            let failure = redirected(FailureKind::Refused, incoming, body, url);
            Attempt::Rejected(Failure { is_misdirected: true, ..failure }.no_answer())
        }
        300..=399 => Attempt::Unknown {
            failure: redirected(FailureKind::Unknown, incoming, body, url).hint(CHECK_BEFORE_RETRY),
            transient: false,
        },
        401 | 403 => Attempt::Rejected(answered(FailureKind::Auth, incoming, body)),
        429 => Attempt::Throttled { failure: throttled(incoming, body, wait), retry_after: wait },
        408 | 499 => unknown(is_read, incoming, body),
        // The service has no such function, which does not change with time.
        400..=499 | 501 => {
            let mut failure = answered(FailureKind::Refused, incoming, body);
            failure.absent = Absent::said(failure.service.as_ref()).filter(|_| status == 404);
            failure.is_of_stored =
                OUT_OF_STOCK.into_iter().any(|message| says(failure.service.as_ref(), message));
            let is_page = failure.hint.is_some();
            let is_unreadable = is_read && !request.is_raw && status == 404;
            failure.is_misdirected = match failure.absent {
                Some(Absent::Route) => true,
                Some(_) => false,
                None => {
                    is_unreadable || status == 404 && is_page || says(failure.service.as_ref(), NO_SUCH_PATH)
                }
            };
            if failure.is_misdirected {
                failure = failure.no_answer();
                // It is not known whether the record is there.
                failure.kind = if is_unreadable { FailureKind::Unavailable } else { failure.kind };
            }
            let hint = web_server_hint(&incoming.body).or(of_request(failure.service.as_ref()));
            let hint = hint.map(Hint::from).or_else(|| failure.is_misdirected.then(check_url));
            failure.hint = hint.or(failure.hint);
            Attempt::Rejected(failure)
        }
        _ => unknown(is_read, incoming, body),
    }
}

/// 202 says that the service has yet to do it; for a read, any 2xx is an answer.
fn is_success(request: &Request, status: u16) -> bool {
    match status {
        202 => request.is_read(),
        200..=299 => true,
        _ => request.also_success == Some(status),
    }
}

fn unknown(is_read: bool, incoming: &Incoming, body: Body) -> Attempt {
    let failure = if is_read {
        answered(FailureKind::Unavailable, incoming, body).hint("try again later")
    } else {
        answered(FailureKind::Unknown, incoming, body).hint(CHECK_BEFORE_RETRY)
    };
    Attempt::Unknown { failure, transient: incoming.status >= 500 }
}

fn without_reply(is_read: bool, lost: TransportError) -> Attempt {
    let (kind, hint) = if is_read || !lost.sent {
        (FailureKind::Unavailable, lost.hint)
    } else {
        (FailureKind::Unknown, Some(CHECK_BEFORE_RETRY.into()))
    };
    let failure = Failure { hint, ..Failure::new(kind, lost.message) };
    if lost.sent {
        Attempt::Unknown { failure, transient: !lost.is_permanent }
    } else {
        Attempt::NotSent { failure, permanent: lost.is_permanent }
    }
}

fn header(incoming: &Incoming, name: &HeaderName) -> Option<String> {
    Some(String::from_utf8_lossy(incoming.headers.get(name)?.as_bytes()).into_owned())
}

/// What the service, or something in front of it, answered. A page gets its own hint.
fn answered(kind: FailureKind, incoming: &Incoming, body: Body) -> Failure {
    let status = incoming.status;
    let is_foreign = body.is_foreign();
    let lasting = persistence(incoming, &body);
    let is_no_answer = is_no_answer(kind, incoming, &body);
    let hint = body.is_page.then(|| if kind == FailureKind::Unknown { PAGE_TO_WRITE } else { PAGE }.into());
    let (said, service) = match (status, &body) {
        (200..=299, Body { content: Content::Text { problem, .. }, is_page: false }) => {
            let why = incoming.broken.as_ref().or(problem.as_ref());
            let why = why.map(|why| format!(": {why}")).unwrap_or_default();
            (error_body::described(status, &body) + &why, None)
        }
        (200..=399, _) => (error_body::described(status, &body), None),
        _ => error_body::render(status, body),
    };
    let failure = Failure::new(kind, format!("the service answered {said}"));
    let persistence = lasting.unwrap_or(failure.persistence);
    let failure = Failure { service, status: Some(status), hint, is_foreign, persistence, ..failure };
    if is_no_answer { failure.no_answer() } else { failure }
}

/// Whether the failure is temporary; `None` where the answer says no more about that than the kind of the failure does.
fn persistence(incoming: &Incoming, body: &Body) -> Option<Persistence> {
    Some(match incoming.status {
        408 | 429 | 499 | 500 | 502.. => Persistence::Temporary,
        200..=299 if incoming.broken.is_some() => Persistence::Temporary,
        403 if body.is_json() => Persistence::Permanent,
        _ => return None,
    })
}

/// Whether another server seems to have answered, or the service with something else than it was asked for.
fn is_no_answer(kind: FailureKind, incoming: &Incoming, body: &Body) -> bool {
    match incoming.status {
        408 | 429 | 499 | 500 | 502.. => false,
        200..=299 if incoming.broken.is_some() => false,
        403 => !body.is_json(),
        200..=299 if kind == FailureKind::Unavailable => true,
        _ => body.is_foreign(),
    }
}

fn throttled(incoming: &Incoming, body: Body, wait: Option<Duration>) -> Failure {
    let hint = match wait {
        Some(wait) if wait.as_secs() > 0 => format!("try again in {} s", wait.as_secs()),
        _ => "try again later".to_owned(),
    };
    answered(FailureKind::Unavailable, incoming, body).hint(hint)
}

fn redirected(kind: FailureKind, incoming: &Incoming, body: Body, url: &Url) -> Failure {
    let failure = answered(kind, incoming, body);
    let Some(location) = header(incoming, &LOCATION) else { return failure };
    let target = url.join(&location).map_or(location, String::from);
    let target = error_body::one_line(&secrets().text(&target));
    let status = error_body::status_in_words(incoming.status);
    let message = format!("the service answered {status} and redirects to {target}, which is not followed");
    Failure { message, ..failure }.hint("if the service moved, update `base-url`")
}

/// The hint about refusals of nginx in front of a service, which it gives as pages without explanation.
fn web_server_hint(body: &[u8]) -> Option<&'static str> {
    let says = |words: &str| body.windows(words.len()).any(|part| part == words.as_bytes());
    if says("No required SSL certificate was sent") || says("The SSL certificate error") {
        Some("set `client-certificate` in the profile to one that the service accepts")
    } else if says("The plain HTTP request was sent to HTTPS port") {
        Some("write https:// in the base URL")
    } else {
        None
    }
}

/// The hint of another 4xx. An administrator's token has no customer of its own; Magento then reports a missing id.
fn of_request(body: Option<&Value>) -> Option<&'static str> {
    let parameters = body?.get("parameters")?;
    let is_missing = parameters.get("fieldName")? == "customerId" && parameters.get("fieldValue").is_none();
    is_missing.then_some(
        "the token is an administrator's, which has no customer of its own: name one with \
         --customer ID|EMAIL",
    )
}

/// Whether the service's own message begins like this.
pub fn says(body: Option<&Value>, beginning: &str) -> bool {
    let message = body.and_then(|body| body.get("message")?.as_str());
    message.is_some_and(|message| message.starts_with(beginning))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::of_request;

    #[test]
    fn a_missing_customer_id_is_explained() {
        let body = |resources: &str| json!({"parameters": {"resources": resources}});
        let missing =
            json!({"message": "\"%fieldName\" is required", "parameters": {"fieldName": "customerId"}});
        let unknown = json!({"parameters": {"fieldName": "customerId", "fieldValue": 6}});
        assert!(of_request(Some(&unknown)).is_none());
        assert!(of_request(Some(&missing)).is_some() && of_request(Some(&body("self"))).is_none());
    }
}
