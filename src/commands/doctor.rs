//! `storefront doctor`: is the set-up sound? Each finding comes with its mend.

use std::sync::{Arc, Mutex};

use jiff::Timestamp;
use jiff::fmt::rfc2822;
use serde_json::{Value, json};

use super::customer::reading;
use super::service::Service;
use super::{Session, on_runtime};
use crate::config::{Settings, TokenSource};
use crate::failure::{Failure, Kind};
use crate::http::{Tracer, Traffic};
use crate::report::escape::one_line;
use crate::report::screen::{Ink, Screen};
use crate::report::table::{cell, heads, table_on, trimmed};

/// Seconds by which the clocks may differ before it is worth a word.
const CLOCK_TOLERANCE: i64 = 60;

/// Reading a profile takes the customer's token only.
const ADMIN_TOKEN: &str = "admin token";

/// One thing looked at.
struct Finding {
    check: &'static str,
    state: State,
    message: String,
    mend: Option<String>,
}

/// How it looks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Sound,
    /// Works, but may surprise.
    Doubtful,
    /// Does not work: what a command would fail with.
    Broken(Kind),
}

/// Looks at configuration, permissions, tokens, reachability, TLS, the readable profile and the clock.
///
/// # Errors
/// The kind of the first thing that is broken.
pub fn run(session: &Session<'_>) -> Result<(), Failure> {
    let findings = on_runtime(async { Ok(examine(session).await) })?;
    let broken: Vec<_> = findings.iter().filter_map(Finding::broken).collect();
    let report = session.report;
    if report.is_json() {
        let checks: Value = findings.iter().map(Finding::to_json).collect();
        report.json(&json!({"sound": broken.is_empty(), "checks": checks}))?;
    } else {
        report.data(&table(&findings, report.stdout()))?;
    }
    match broken.first() {
        None => Ok(()),
        Some(kind) => {
            Err(Failure::new(*kind, format!("{} of {} checks failed", broken.len(), findings.len()))
                .hint("mend what is named above, from the top, and run `storefront doctor` again"))
        }
    }
}

async fn examine(session: &Session<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    findings.extend(state_directory(session));
    let date = Arc::new(Mutex::new(None));
    let service = match Service::open_traced(session, Some(date_keeper(&date))).await {
        Ok(service) => service,
        Err(failure) => {
            findings.push(Finding::broken_by("configuration", &failure));
            return findings;
        }
    };
    let settings = &service.settings;
    findings.push(Finding::sound("configuration", where_to(settings)));
    findings.push(match service.store_view() {
        Ok(view) => Finding::sound("store view", view.code().to_owned()),
        Err(failure) => Finding::broken_by("store view", &failure),
    });
    findings.push(token("customer token", &settings.token));
    findings.push(token(ADMIN_TOKEN, &settings.admin_token));
    let needed = |finding: &&Finding| finding.check != ADMIN_TOKEN;
    if findings.iter().filter(needed).all(|finding| finding.broken().is_none()) {
        findings.extend(read_profile(&service).await);
    }
    findings.extend(date.lock().ok().and_then(|date| clock(date.as_deref()?)));
    findings
}

fn where_to(settings: &Settings) -> String {
    let profile = match &settings.profile {
        Some(profile) => format!("profile {profile}"),
        None if settings.sandbox => "the sandbox".to_owned(),
        None => "the environment".to_owned(),
    };
    format!("{profile}: {}", settings.base_url)
}

fn token(check: &'static str, source: &TokenSource) -> Finding {
    match source.token() {
        Ok(_) => Finding::sound(check, source.describe()),
        Err(failure) => Finding::broken_by(check, &failure),
    }
}

/// One read of the profile shows whether the service is reached, over which TLS, and whether updates are possible.
async fn read_profile(service: &Service<'_>) -> Vec<Finding> {
    let secure = if service.settings.base_url.scheme() == "https" { "over TLS" } else { "without TLS" };
    let reached = Finding::sound("service", format!("answers, {secure}"));
    match reading::read_profile(service).await {
        Ok(profile) => {
            let message = format!("{} addresses can be read", profile.addresses().len());
            vec![reached, Finding::sound("profile", message)]
        }
        Err(failure) if failure.kind == Kind::Unavailable || failure.kind == Kind::Usage => {
            vec![Finding::broken_by("service", &failure)]
        }
        Err(failure) => vec![reached, Finding::broken_by("profile", &failure)],
    }
}

/// Snapshots are customers' data.
#[cfg(unix)]
fn state_directory(session: &Session<'_>) -> Option<Finding> {
    use std::os::unix::fs::PermissionsExt;
    let directory = session.context.directories().ok()?.state.join("snapshots");
    let mode = std::fs::metadata(&directory).ok()?.permissions().mode();
    let shown = directory.display();
    let open_to_others = mode & 0o077 > 0;
    Some(if open_to_others {
        Finding {
            check: "permissions",
            state: State::Doubtful,
            message: format!("{shown} holds customers' data and is open to others"),
            mend: Some(format!("chmod 700 {}", shell_words::quote(&shown.to_string()))),
        }
    } else {
        Finding::sound("permissions", format!("{shown} is open to you only"))
    })
}

#[cfg(not(unix))]
fn state_directory(_: &Session<'_>) -> Option<Finding> {
    None
}

/// Keeps the `Date` of the last answer, an error's too.
fn date_keeper(date: &Arc<Mutex<Option<String>>>) -> Tracer {
    let date = Arc::clone(date);
    Arc::new(move |event| {
        let Traffic::Answered { headers, .. } = event else { return };
        let found = headers.iter().find(|(name, _)| *name == "date").map(|(_, value)| value.into_owned());
        if let Ok(mut date) = date.lock() {
            *date = found;
        }
    })
}

fn clock(date: &str) -> Option<Finding> {
    let theirs = rfc2822::DateTimeParser::new().parse_timestamp(date).ok()?;
    let apart = (Timestamp::now().as_second() - theirs.as_second()).abs();
    Some(if apart <= CLOCK_TOLERANCE {
        Finding::sound("clock", "agrees with the service's".to_owned())
    } else {
        Finding {
            check: "clock",
            state: State::Doubtful,
            message: format!(
                "differs from the service's by {apart} seconds; certificates and waiting times depend on it"
            ),
            mend: Some("set this machine's clock, for instance with timedatectl set-ntp true".to_owned()),
        }
    })
}

impl Finding {
    fn sound(check: &'static str, message: String) -> Self {
        Self { check, state: State::Sound, message, mend: None }
    }

    fn broken_by(check: &'static str, failure: &Failure) -> Self {
        Self {
            check,
            state: State::Broken(failure.kind),
            message: failure.message.clone(),
            mend: Some(failure.hint.clone().filter(|hint| !hint.contains("doctor")).unwrap_or_else(|| {
                match check {
                    "configuration" | "store view" => "mend it there, or with `storefront config set`",
                    "customer token" | ADMIN_TOKEN => "set it, or store one with `storefront auth login`",
                    _ => "check the host and the port of the base URL, and the network between",
                }
                .to_owned()
            })),
        }
    }

    fn broken(&self) -> Option<Kind> {
        match self.state {
            State::Broken(kind) => Some(kind),
            _ => None,
        }
    }

    fn state_name(&self) -> &'static str {
        match self.state {
            State::Sound => "ok",
            State::Doubtful => "warning",
            State::Broken(_) => "failed",
        }
    }

    fn to_json(&self) -> Value {
        json!({"check": self.check, "state": self.state_name(), "message": self.message, "mend": self.mend})
    }
}

fn table(findings: &[Finding], screen: Screen) -> String {
    let mut table = table_on(screen);
    table.set_header(heads(&["CHECK", "STATE", "FINDING"]));
    for finding in findings {
        let ink = match finding.state {
            State::Sound => Ink::After,
            State::Doubtful => Ink::Warning,
            State::Broken(_) => Ink::Error,
        };
        let mend = finding.mend.as_ref().map(|mend| format!("\n→ {}", one_line(mend))).unwrap_or_default();
        let text = format!("{}{mend}", one_line(&finding.message));
        table.add_row([finding.check.into(), cell(ink, finding.state_name()), text.into()]);
    }
    format!("{}\n", trimmed(&table))
}
