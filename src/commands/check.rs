//! What `doctor` and `auth status` report: one finding for each thing that was looked at.

use std::time::Duration;

use jiff::Timestamp;
use serde_json::{Value, json};

use crate::cli::GlobalArgs;
use crate::failure::{Failure, FailureKind};
use crate::ops::profile::read;
use crate::ops::{attribute, customers};
use crate::plan::profile::stored::Profile;
use crate::plan::request::{Bearer, Request};
use crate::report::style::{self, OutputStyle, TextStyle, cell};
use crate::sanitize::sanitize_line;
use crate::session::service::Service;

/// One thing that was looked at.
#[derive(Debug)]
pub struct Check {
    /// What was looked at, such as `customer token`.
    pub name: &'static str,
    /// How it is.
    pub status: Status,
    /// What was found.
    pub detail: String,
    /// What to do about it; never where the status is `ok` or `skipped`.
    pub fix: Option<String>,
}

/// How it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It works.
    Ok,
    /// It works, but may surprise.
    Warning,
    /// It could not be looked at.
    Skipped,
    /// It does not work: what a command would fail with.
    Failed(FailureKind),
}

impl Check {
    /// It works.
    pub fn ok(name: &'static str, detail: impl Into<String>) -> Self {
        Self { name, status: Status::Ok, detail: detail.into(), fix: None }
    }

    /// It could not be looked at.
    pub fn skipped(name: &'static str, detail: impl Into<String>) -> Self {
        Self { name, status: Status::Skipped, detail: detail.into(), fix: None }
    }

    /// It works, but may surprise.
    pub fn warning(name: &'static str, detail: impl Into<String>, fix: impl Into<String>) -> Self {
        Self { name, status: Status::Warning, detail: detail.into(), fix: Some(fix.into()) }
    }

    /// It does not work.
    pub fn failed(name: &'static str, failure: &Failure, fix: impl Into<String>) -> Self {
        Self {
            name,
            status: Status::Failed(failure.kind),
            detail: failure.message.clone(),
            fix: Some(fix.into()),
        }
    }

    /// What a command would fail with, if it does not work.
    pub fn failure(&self) -> Option<FailureKind> {
        match self.status {
            Status::Failed(kind) => Some(kind),
            _ => None,
        }
    }

    fn status_name(&self) -> &'static str {
        match self.status {
            Status::Ok => "ok",
            Status::Warning => "warning",
            Status::Skipped => "skipped",
            Status::Failed(_) => "failed",
        }
    }

    fn to_json(&self) -> Value {
        json!({"check": self.name, "status": self.status_name(), "detail": self.detail, "fix": self.fix})
    }
}

/// The checks as `-o json` has them: a list of `{check, status, detail, fix}`.
pub fn to_json(checks: &[Check]) -> Value {
    checks.iter().map(Check::to_json).collect()
}

/// The checks as a table.
pub fn table(checks: &[Check], screen: OutputStyle) -> String {
    let rows = checks.iter().map(|check| {
        let ink = match check.status {
            Status::Ok => TextStyle::After,
            Status::Warning | Status::Skipped => TextStyle::Warning,
            Status::Failed(_) => TextStyle::Error,
        };
        let fix = check.fix.as_ref().map(|fix| format!("\n→ {}", sanitize_line(fix))).unwrap_or_default();
        let text = format!("{}{fix}", sanitize_line(&check.detail));
        [check.name.into(), cell(ink, check.status_name()), text.into()]
    });
    style::table(screen, &["CHECK", "STATUS", "DETAIL"], rows) + "\n"
}

/// A longer wait would tell nothing new.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Why a token cannot be checked by a call.
pub const NO_CALL: &str = "`read.attribute-path` is not set";

/// Every shop has an attribute of this code.
const ANY_ATTRIBUTE: &str = "name";

/// The flags of a call that only checks: it is not repeated and gives up early.
pub fn quick(global: &GlobalArgs) -> GlobalArgs {
    GlobalArgs { retry: Some(0), timeout: Some(global.timeout.unwrap_or(TIMEOUT)), ..global.clone() }
}

/// What a call with a token showed.
pub enum Answer {
    /// The service accepted the token; what it gave, where that is the customer's profile.
    Accepted(Option<Box<Profile>>),
    /// The service answered 401 or 403.
    Rejected(Failure),
    /// Nothing is known of the token: the service was not reached, or answered something else.
    Unproven(Failure),
    /// There is no call to check it with.
    NoCall,
}

/// Calls the service with the token of that kind.
pub async fn ask(service: &Service<'_>, bearer: Bearer) -> Answer {
    match bearer {
        Bearer::Customer => answer(read::read_profile(service).await.map(Box::new).map(Some)),
        Bearer::Admin => ask_admin(service).await,
    }
}

/// A token that lacks one permission may have another: only one that no read accepts is rejected.
async fn ask_admin(service: &Service<'_>) -> Answer {
    let mut last = Answer::NoCall;
    for request in admin_reads(service) {
        match answer(service.read(&request).await.map(|_| None)) {
            rejected @ Answer::Rejected(_) => last = rejected,
            answer => return answer,
        }
    }
    last
}

fn answer(read: Result<Option<Box<Profile>>, Failure>) -> Answer {
    match read {
        Ok(profile) => Answer::Accepted(profile),
        Err(failure) if failure.kind == FailureKind::Auth && failure.status.is_some() => {
            Answer::Rejected(failure)
        }
        Err(failure) => Answer::Unproven(failure),
    }
}

/// Reads that need an administrator's token, each with another permission. The marketplace's interface shows none; a
/// profile may name one.
fn admin_reads(service: &Service<'_>) -> Vec<Request> {
    let attribute = attribute::read_request(service, ANY_ATTRIBUTE);
    attribute.into_iter().chain(customers::none_request(service)).collect()
}

/// The finding about a customer's token that is not needed: an administrator's serves all customers.
pub fn not_needed(service: &Service<'_>) -> Option<Check> {
    let settings = &service.settings;
    let is_needed = settings.dialect.customers.is_none() || !settings.has_only_admin_token();
    (!is_needed && settings.token.from == "none").then(|| {
        Check::skipped(
            check_name(Bearer::Customer),
            "none; the admin token serves customers named by --customer",
        )
    })
}

/// The finding about a token. Its source has been read already.
pub fn finding(service: &Service<'_>, bearer: Bearer, answer: &Answer) -> Check {
    let token = service.settings.token_for(bearer);
    let (name, mut source) = (check_name(bearer), token.from.clone());
    if let Some(expires) = token.expires {
        source = format!("{source}; {}", expiry(expires));
        if expires <= Timestamp::now() && matches!(answer, Answer::Unproven(_) | Answer::NoCall) {
            return Check::failed(
                name,
                &Failure::new(FailureKind::Auth, source),
                login_hint(service, bearer),
            );
        }
    }
    match answer {
        Answer::Accepted(_) => Check::ok(name, source),
        Answer::Rejected(failure) => {
            let rejected = Failure { message: format!("{source}: {}", failure.message), ..failure.clone() };
            Check::failed(name, &rejected, login_hint(service, bearer))
        }
        Answer::Unproven(failure) => {
            Check::skipped(name, format!("{source}; not checked: {}", failure.message))
        }
        Answer::NoCall => Check::skipped(name, format!("{source}; not checked: {NO_CALL}")),
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
    let fix = failure.hint.clone().unwrap_or_else(|| login_hint(service, bearer));
    Some(Check::failed(check_name(bearer), &failure, fix))
}

/// What the check of a token is called.
pub fn check_name(bearer: Bearer) -> &'static str {
    match bearer {
        Bearer::Customer => "customer token",
        Bearer::Admin => "admin token",
    }
}

fn login_hint(service: &Service<'_>, bearer: Bearer) -> String {
    let user = if service.settings.dialect.tokens.is_some() { " --user NAME" } else { "" };
    let flag = format!("{user}{}", if bearer == Bearer::Admin { " --admin" } else { "" });
    match &service.settings.profile {
        Some(profile) => {
            format!("set a new token where it comes from, or run `storefront auth login{flag} -p {profile}`")
        }
        None => "set a new token where it comes from".to_owned(),
    }
}
