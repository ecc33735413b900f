//! The findings of `doctor` and `auth status`, one for each thing that was looked at.

use std::time::Duration;

use serde::Serialize;

use crate::cli::{GlobalArgs, RequestArgs};
use crate::client::run_doctor;
use crate::client::service::Service;
use crate::ops::profile::read;
use crate::ops::{attribute, customers};
use crate::report::changes::expiry;
use crate::report::style::{self, OutputStyle, TextStyle, cell};
use storefront_core::failure::{Failure, FailureKind};
use storefront_core::hint::Hint;
use storefront_core::interface::request::Bearer;
use storefront_core::profile::stored::Profile;
use storefront_core::text::oauth;
use storefront_core::text::sanitize::sanitize_line;

/// One thing that was looked at.
#[derive(Debug, Serialize)]
pub struct Check {
    /// What was looked at, such as `customer token`.
    #[serde(rename = "check")]
    pub name: &'static str,
    /// The result: `ok`, `warning` (it works, but may surprise), `skipped` (it could not be looked at) or `failed`.
    pub status: &'static str,
    /// What was found.
    pub detail: String,
    /// What to do about it; never where the status is `ok` or `skipped`.
    pub fix: Option<Hint>,
    /// The failure that a command would end with.
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
    pub fn warning(name: &'static str, detail: impl Into<String>, fix: impl Into<Hint>) -> Self {
        Self { fix: Some(fix.into()), ..Self::new(name, "warning", detail) }
    }

    /// It does not work.
    pub fn failed(name: &'static str, failure: &Failure, fix: impl Into<Hint>) -> Self {
        let fix = Some(fix.into());
        Self { fix, failure: Some(failure.kind), ..Self::new(name, "failed", &failure.message) }
    }
}

/// The checks as a table.
pub fn table(checks: &[Check], screen: OutputStyle) -> String {
    let rows = checks.iter().map(|check| {
        let style = match check.status {
            "ok" => TextStyle::Success,
            "failed" => TextStyle::Error,
            _ => TextStyle::Warning,
        };
        let fix = check
            .fix
            .as_ref()
            .map(|fix| format!("\n→ {}", sanitize_line(&fix.to_string())))
            .unwrap_or_default();
        let text = format!("{}{fix}", sanitize_line(&check.detail));
        [check.name.into(), cell(style, check.status), text.into()]
    });
    style::table(screen, &["CHECK", "STATUS", "DETAIL"], rows) + "\n"
}

/// The timeout of a check without `--timeout`: a longer wait would tell nothing new.
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

/// Calls the service with the token of that kind. Each read with an administrator's token needs another permission; the
/// marketplace's interface has no such read, but a profile may name one.
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

/// Whether the service itself answered 401 or 403: otherwise nothing is known of the token.
pub fn is_rejected(failure: &Failure) -> bool {
    failure.kind == FailureKind::Auth && failure.status.is_some() && !failure.is_foreign
}

/// The finding about a token, and what a call with it showed; `None` without such a token.
pub async fn token(service: &Service<'_>, bearer: Bearer) -> (Check, Option<Answer>) {
    let settings = &service.settings;
    let is_customer = bearer == Bearer::Customer;
    let name = if is_customer { "customer token" } else { "admin token" };
    let serves_all = settings.dialect.customers.is_some() && settings.has_only_admin_token();
    if is_customer && serves_all && settings.token.from == "none" {
        let detail = "none; not needed for customers named by --customer";
        return (Check::skipped(name, detail), None);
    }
    if !is_customer && settings.shares_token() {
        let detail = "none of its own: the customer token is used; not checked as an administrator's";
        return (Check::skipped(name, detail), None);
    }
    if let Err(failure) = service.token(bearer).await {
        return (Check::failed(name, &failure, hint_or(&failure, service.renewal(bearer))), None);
    }
    let answer = ask(service, bearer).await;
    let source = settings.token_for(bearer);
    let mut detail = source.from.clone();
    if source.is_integration {
        detail.push_str("; requests are signed (OAuth 1.0a)");
    }
    if let Some(expires) = source.expires {
        detail = format!("{detail}; {}", expiry(expires));
    }
    let check = match &answer {
        Ok(_) => Check::ok(name, detail),
        Err(failure) if is_rejected(failure) => {
            let fix = oauth::hint(&failure.message).map_or_else(|| service.renewal(bearer), Hint::from);
            let rejected = Failure::new(FailureKind::Auth, format!("{detail}: {}", failure.message));
            Check::failed(name, &rejected, fix)
        }
        Err(_) if source.is_expired() => {
            Check::failed(name, &Failure::new(FailureKind::Auth, detail), service.renewal(bearer))
        }
        Err(failure) => Check::skipped(name, format!("{detail}; not checked: {}", failure.message)),
    };
    (check, Some(answer))
}

/// What to do about a failure; `doctor` itself is not an answer here.
pub fn hint_or(failure: &Failure, otherwise: impl Into<Hint>) -> Hint {
    failure.hint.clone().filter(|hint| *hint != run_doctor()).unwrap_or_else(|| otherwise.into())
}
