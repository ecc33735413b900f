//! What `doctor` and `auth status` report: one finding for each thing that was looked at.

use serde_json::{Value, json};

use crate::failure::{Failure, Kind};
use crate::report::sanitize::one_line;
use crate::report::table::{cell, heads, table_on, trimmed};
use crate::report::terminal::{Ink, Screen};

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
    Failed(Kind),
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
    pub fn failure(&self) -> Option<Kind> {
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
pub fn table(checks: &[Check], screen: Screen) -> String {
    let mut table = table_on(screen);
    table.set_header(heads(&["CHECK", "STATUS", "DETAIL"]));
    for check in checks {
        let ink = match check.status {
            Status::Ok => Ink::After,
            Status::Warning | Status::Skipped => Ink::Warning,
            Status::Failed(_) => Ink::Error,
        };
        let fix = check.fix.as_ref().map(|fix| format!("\n→ {}", one_line(fix))).unwrap_or_default();
        let text = format!("{}{fix}", one_line(&check.detail));
        table.add_row([check.name.into(), cell(ink, check.status_name()), text.into()]);
    }
    format!("{}\n", trimmed(&table))
}
