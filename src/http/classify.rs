//! What an attempt means: success, a refusal, or no verdict; and whether it may be repeated (DESIGN 2.4, 6).

use url::Url;

use super::attempt::Answer;
use super::lost::Lost;
use super::reply::Reply;
use super::retry::Repeat;
use super::service_error;
use crate::failure::{Failure, Kind};
use crate::plan::request::Request;

/// What one attempt came to.
#[derive(Debug)]
pub(super) struct Verdict {
    pub(super) result: Result<Reply, Failure>,
    pub(super) repeat: Repeat,
    /// Whether the service asked for fewer requests.
    pub(super) throttled: bool,
}

impl Verdict {
    fn last(result: Result<Reply, Failure>) -> Self {
        Self { result, repeat: Repeat::Never, throttled: false }
    }

    fn busy(failure: Failure, repeat: Repeat) -> Self {
        Self { result: Err(failure), repeat, throttled: true }
    }
}

/// Judges one attempt at `request`.
pub(super) fn classify(request: &Request, url: &Url, attempt: Result<Answer, Lost>) -> Verdict {
    match attempt {
        Ok(answer) => judge_answer(request, url, answer),
        Err(lost) => judge_silence(request, lost),
    }
}

fn judge_answer(request: &Request, url: &Url, answer: Answer) -> Verdict {
    let status = answer.status;
    match status {
        200..=299 => Verdict::last(Ok(success(answer))),
        _ if request.also_success == Some(status) => Verdict::last(Ok(success(answer))),
        300..=399 => Verdict::last(Err(redirected(&answer, url))),
        401 | 403 => Verdict::last(Err(answered(Kind::Auth, &answer).hint(auth_hint(status)))),
        429 => {
            let repeat = answer.retry_after.map_or(Repeat::WithBackoff, Repeat::After);
            Verdict::busy(busy(&answer), repeat)
        }
        400..=499 => {
            let mut failure = answered(Kind::Refused, &answer);
            failure.hint = web_server_hint(&answer.body).map(str::to_owned);
            Verdict::last(Err(failure))
        }
        // Without Retry-After it may come from a cache in front that gave up while the service went on.
        503 if answer.retry_after.is_some() => {
            let repeat = answer.retry_after.map_or(Repeat::Never, Repeat::After);
            Verdict::busy(busy(&answer), repeat)
        }
        _ if request.method.is_read() => Verdict {
            result: Err(answered(Kind::Unavailable, &answer).hint("type the command again in a while")),
            repeat: Repeat::WithBackoff,
            throttled: false,
        },
        _ => Verdict::last(Err(answered(Kind::Unknown, &answer).hint(CHECK_FIRST))),
    }
}

/// What to do where nobody knows whether a write was applied.
pub const CHECK_FIRST: &str = "look whether it took effect before you type the command again";

fn judge_silence(request: &Request, lost: Lost) -> Verdict {
    let harmless = !lost.sent || request.method.is_read();
    let kind = if harmless { Kind::Unavailable } else { Kind::Unknown };
    let mut failure = Failure::new(kind, lost.message);
    failure.hint = if harmless { lost.hint } else { Some(CHECK_FIRST.to_owned()) };
    Verdict {
        result: Err(failure),
        repeat: if harmless && !lost.lasting { Repeat::WithBackoff } else { Repeat::Never },
        throttled: false,
    }
}

fn success(answer: Answer) -> Reply {
    Reply { status: answer.status, body: answer.body, warning: answer.broken }
}

fn answered(kind: Kind, answer: &Answer) -> Failure {
    let (said, body) = service_error::render(answer.status, answer.content_type.as_deref(), &answer.body);
    let mut failure = Failure::new(kind, format!("the service answered {said}")).status(answer.status);
    failure.service = body;
    failure
}

fn busy(answer: &Answer) -> Failure {
    let hint = match answer.retry_after {
        Some(wait) if wait.as_secs() > 0 => format!("type the command again in {} s", wait.as_secs()),
        _ => "type the command again in a while".to_owned(),
    };
    answered(Kind::Unavailable, answer).hint(hint)
}

fn redirected(answer: &Answer, url: &Url) -> Failure {
    let status = service_error::status_in_words(answer.status);
    let Some(location) = &answer.location else {
        return answered(Kind::Refused, answer);
    };
    let target = url.join(location).map_or_else(|_| location.clone(), |target| target.to_string());
    let target = service_error::shortened(&target);
    let mut failure = answered(Kind::Refused, answer);
    failure.message =
        format!("the service answered {status} and points to {target}; redirects are never followed");
    failure.hint("if the service has moved there, set `base-url` in the profile")
}

/// What to do about the refusals of nginx in front of a service, which it gives as pages without a further word.
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

fn auth_hint(status: u16) -> &'static str {
    match status {
        401 => {
            "`storefront auth status` shows which token was used; `storefront auth login` stores a new one"
        }
        _ => "the token may not do this: `storefront auth status` shows which one was used",
    }
}
