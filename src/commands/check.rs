//! What `doctor` and `auth status` report: one finding for each thing that was looked at.

use std::time::Duration;

use jiff::Timestamp;
use serde::Serialize;

use crate::cli::{GlobalArgs, RequestArgs};
use crate::failure::{Failure, FailureKind};
use crate::ops::profile::read;
use crate::ops::{attribute, customers};
use crate::plan::profile::stored::Profile;
use crate::plan::request::Bearer;
use crate::report::style::{self, OutputStyle, TextStyle, cell};
use crate::session::service::Service;
use crate::text::oauth;
use crate::text::sanitize::sanitize_line;

/// One thing that was looked at.
#[derive(Debug, Serialize)]
pub struct Check {
    /// What was looked at, such as `customer token`.
    #[serde(rename = "check")]
    pub name: &'static str,
    /// How it is: `ok`, `warning` (it works, but may surprise), `skipped` (it could not be looked at) or `failed`.
    pub status: &'static str,
    /// What was found.
    pub detail: String,
    /// What to do about it; never where the status is `ok` or `skipped`.
    pub fix: Option<String>,
    /// What a command would fail with.
    #[serde(skip)]
    pub failure: Option<FailureKind>,
}

impl Check {
    fn new(name: &'static str, status: &'static str, detail: impl Into<String>) -> Self {
        Self { name, status, detail: detail.into(), fix: None, failure: None }
    }

    /// It works.
    pub fn ok(name: &'static str, detail: impl Into<String>) -> Self {
        Self::new(name, "ok", detail)
    }

    /// It could not be looked at.
    pub fn skipped(name: &'static str, detail: impl Into<String>) -> Self {
        Self::new(name, "skipped", detail)
    }

    /// It works, but may surprise.
    pub fn warning(name: &'static str, detail: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { fix: Some(fix.into()), ..Self::new(name, "warning", detail) }
    }

    /// It does not work.
    pub fn failed(name: &'static str, failure: &Failure, fix: impl Into<String>) -> Self {
        let fix = Some(fix.into());
        Self { fix, failure: Some(failure.kind), ..Self::new(name, "failed", &failure.message) }
    }
}

/// The checks as a table.
pub fn table(checks: &[Check], screen: OutputStyle) -> String {
    let rows = checks.iter().map(|check| {
        let ink = match check.status {
            "ok" => TextStyle::After,
            "failed" => TextStyle::Error,
            _ => TextStyle::Warning,
        };
        let fix = check.fix.as_ref().map(|fix| format!("\n→ {}", sanitize_line(fix))).unwrap_or_default();
        let text = format!("{}{fix}", sanitize_line(&check.detail));
        [check.name.into(), cell(ink, check.status), text.into()]
    });
    style::table(screen, &["CHECK", "STATUS", "DETAIL"], rows) + "\n"
}

/// A longer wait would tell nothing new.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Every shop has an attribute of this code.
const ANY_ATTRIBUTE: &str = "name";

/// The flags of a call that only checks: it is not repeated and gives up early.
pub fn quick(global: &GlobalArgs) -> GlobalArgs {
    let timeout = Some(global.request.timeout.unwrap_or(TIMEOUT));
    let request = RequestArgs { retry: Some(0), timeout, ..global.request.clone() };
    GlobalArgs { request, ..global.clone() }
}

/// What a call with a token showed: that the service accepts it (and the profile, with a customer's), or why that is not
/// proven.
pub type Answer = Result<Option<Profile>, Failure>;

/// Calls the service with the token of that kind. Of an administrator's, each read needs another permission; the
/// marketplace's interface shows none, but a profile may name one.
pub async fn ask(service: &Service<'_>, bearer: Bearer) -> Answer {
    if bearer == Bearer::Customer {
        return read::read_profile(service).await.map(Some);
    }
    let attribute = attribute::read_request(service, ANY_ATTRIBUTE);
    let mut answer = Err(Failure::usage("`read.attribute-path` is not set"));
    for request in attribute.into_iter().chain(customers::none_request(service)) {
        answer = service.read(&request).await.map(|_| None);
        // A token that lacks one permission may have another: only one that no read accepts is rejected.
        if !answer.as_ref().is_err_and(is_rejected) {
            break;
        }
    }
    answer
}

/// Whether the service answered 401 or 403: otherwise nothing is known of the token.
pub fn is_rejected(failure: &Failure) -> bool {
    failure.kind == FailureKind::Auth && failure.status.is_some()
}

/// The finding about a customer's token that is not needed: an administrator's serves all customers.
pub fn not_needed(service: &Service<'_>) -> Option<Check> {
    let settings = &service.settings;
    let is_needed = settings.dialect.customers.is_none() || !settings.has_only_admin_token();
    let serve = if settings.admin_token.is_integration {
        "the integration's credentials serve"
    } else {
        "the admin token serves"
    };
    (!is_needed && settings.token.from == "none").then(|| {
        let detail = format!("none; {serve} customers named by --customer");
        Check::skipped(check_name(Bearer::Customer), detail)
    })
}

/// The finding about a token. Its source has been read already.
pub fn finding(service: &Service<'_>, bearer: Bearer, answer: &Answer) -> Check {
    let token = service.settings.token_for(bearer);
    let (name, mut source) = (check_name(bearer), token.from.clone());
    if token.is_integration {
        source.push_str("; requests are signed (OAuth 1.0a)");
    }
    let expires = token.expires.map(|expires| (expires <= Timestamp::now(), expiry(expires)));
    if let Some((_, expiry)) = &expires {
        source = format!("{source}; {expiry}");
    }
    let why = match answer {
        Ok(_) => return Check::ok(name, source),
        Err(failure) if is_rejected(failure) => {
            let rejected = Failure { message: format!("{source}: {}", failure.message), ..failure.clone() };
            let fix = oauth::hint(&failure.message).map_or_else(|| service.renewal(bearer), str::to_owned);
            return Check::failed(name, &rejected, fix);
        }
        Err(failure) => &failure.message,
    };
    if expires.is_some_and(|(is_expired, _)| is_expired) {
        return Check::failed(name, &Failure::new(FailureKind::Auth, source), service.renewal(bearer));
    }
    Check::skipped(name, format!("{source}; not checked: {why}"))
}

/// The finding about a token, by reading it and by a call.
pub async fn token(service: &Service<'_>, bearer: Bearer) -> Check {
    match unreadable(service, bearer).await {
        Some(check) => check,
        None => finding(service, bearer, &ask(service, bearer).await),
    }
}

/// The finding about the administrator's token. Where none is set, no call has shown whether the service takes the
/// customer's for one.
pub async fn admin_token(service: &Service<'_>) -> Check {
    // Reading it may show that it is the same.
    let unreadable = unreadable(service, Bearer::Admin).await;
    if service.settings.shares_token() {
        let detail = "none of its own: the customer token is used; not checked as an administrator's";
        return Check::skipped(check_name(Bearer::Admin), detail);
    }
    match unreadable {
        Some(check) => check,
        None => finding(service, Bearer::Admin, &ask(service, Bearer::Admin).await),
    }
}

/// How long a token lasts, such as `expires in 3 h 59 min`.
pub fn expiry(expires: Timestamp) -> String {
    let seconds = expires.as_second() - Timestamp::now().as_second();
    let span = style::time(Duration::from_secs(seconds.unsigned_abs()));
    if seconds > 0 { format!("expires in {span}") } else { format!("expired {span} ago") }
}

/// Reads the token where it comes from; a finding where there is none.
pub async fn unreadable(service: &Service<'_>, bearer: Bearer) -> Option<Check> {
    let failure = service.token(bearer).await.err()?;
    let fix = failure.hint.clone().unwrap_or_else(|| service.renewal(bearer));
    Some(Check::failed(check_name(bearer), &failure, fix))
}

/// What the check of a token is called.
pub fn check_name(bearer: Bearer) -> &'static str {
    match bearer {
        Bearer::Customer => "customer token",
        Bearer::Admin => "admin token",
    }
}
