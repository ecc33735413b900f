//! What `doctor` and `auth status` report: one finding for each thing that was looked at.

use serde_json::{Value, json};

use crate::failure::{Failure, FailureKind};
use crate::report::table::{cell, header, new_table, render};
use crate::report::terminal::{OutputStyle, TextStyle};
use crate::sanitize::sanitize_line;

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
    let mut table = new_table(screen);
    table.set_header(header(&["CHECK", "STATUS", "DETAIL"]));
    for check in checks {
        let ink = match check.status {
            Status::Ok => TextStyle::After,
            Status::Warning | Status::Skipped => TextStyle::Warning,
            Status::Failed(_) => TextStyle::Error,
        };
        let fix = check.fix.as_ref().map(|fix| format!("\n→ {}", sanitize_line(fix))).unwrap_or_default();
        let text = format!("{}{fix}", sanitize_line(&check.detail));
        table.add_row([check.name.into(), cell(ink, check.status_name()), text.into()]);
    }
    format!("{}\n", render(&table))
}
