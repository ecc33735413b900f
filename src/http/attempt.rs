//! One attempt: the request leaves, and an answer comes or does not.

use std::time::{Duration, Instant};

use jiff::Timestamp;
use reqwest::Response;
use reqwest::header::{CONTENT_TYPE, HeaderMap, HeaderName, LOCATION, RETRY_AFTER};
use tokio::time::timeout_at;

use super::Client;
use super::lost::Lost;
use super::mask::{mask_body, masked};
use super::retry::retry_after;
use super::trace::{Headers, Traffic};
use crate::plan::request::Request;

/// As much of a reply as is ever read.
pub(super) const LONGEST_BODY: usize = 16 << 20;

/// A complete head, and what could be read of the body.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) content_type: Option<String>,
    pub(super) location: Option<String>,
    pub(super) retry_after: Option<Duration>,
    pub(super) body: Vec<u8>,
    /// Why the body is not whole.
    pub(super) broken: Option<String>,
}

impl Answer {
    /// What the head says; the body is yet to come.
    fn of_head(response: &Response, secret: &str) -> Self {
        let header = |name| header(response.headers(), name, secret);
        Self {
            status: response.status().as_u16(),
            content_type: header(&CONTENT_TYPE),
            location: header(&LOCATION),
            retry_after: header(&RETRY_AFTER).and_then(|value| retry_after(&value, Timestamp::now())),
            body: Vec::new(),
            broken: None,
        }
    }
}

impl Client {
    /// Sends once. `outgoing` is `request`, made ready for the library.
    pub(super) async fn attempt(
        &self,
        request: &Request,
        outgoing: reqwest::Request,
        secret: &str,
    ) -> Result<Answer, Lost> {
        let url = outgoing.url().clone();
        self.trace(|| Traffic::Sending {
            method: request.method.as_str(),
            url: url.as_str(),
            headers: Headers::new(outgoing.headers(), secret),
            body: request.body.as_deref(),
        });
        let start = Instant::now();
        let deadline = tokio::time::Instant::now() + self.timeout;
        let response = match timeout_at(deadline, self.inner.execute(outgoing)).await {
            Ok(Ok(response)) => response,
            Ok(Err(error)) => {
                return Err(self.lost(Lost::from_error(&error, &url, self.proxy), start));
            }
            Err(_) => return Err(self.lost(Lost::silence(&url, self.timeout), start)),
        };
        let headers = self.tracer.as_ref().map(|_| response.headers().clone());
        let mut answer = Answer::of_head(&response, secret);
        answer.broken = self.read_body(response, deadline, &mut answer.body).await;
        mask_body(&mut answer.body, secret);
        if let Some(headers) = headers {
            self.trace(|| Traffic::Answered {
                status: answer.status,
                headers: Headers::new(&headers, secret),
                body: &answer.body,
                after: start.elapsed(),
            });
        }
        Ok(answer)
    }

    /// Fills `body`; returns why it is not whole.
    async fn read_body(
        &self,
        mut response: Response,
        deadline: tokio::time::Instant,
        body: &mut Vec<u8>,
    ) -> Option<String> {
        loop {
            let chunk = match timeout_at(deadline, response.chunk()).await {
                Ok(Ok(Some(chunk))) => chunk,
                Ok(Ok(None)) => return None,
                Ok(Err(_)) => return Some("the reply's body broke off".to_owned()),
                Err(_) => {
                    let limit = self.timeout.as_secs_f64();
                    return Some(format!("the reply's body was not complete within {limit} s"));
                }
            };
            let room = LONGEST_BODY - body.len();
            body.extend_from_slice(&chunk[..chunk.len().min(room)]);
            if chunk.len() > room {
                return Some("the reply's body is over 16 MiB; the rest was not read".to_owned());
            }
        }
    }

    fn lost(&self, lost: Lost, start: Instant) -> Lost {
        self.trace(|| Traffic::Lost { message: &lost.message, after: start.elapsed() });
        lost
    }
}

fn header(headers: &HeaderMap, name: &HeaderName, secret: &str) -> Option<String> {
    let value = String::from_utf8_lossy(headers.get(name)?.as_bytes()).into_owned();
    Some(masked(&value, secret).into_owned())
}
