//! Runs of `doctor`, and what their reports say of each check.

use serde_json::Value;

use crate::support::http_client::SECRET;
use crate::support::mock_server::{MockServer, Step};
use crate::support::storefront::{Home, Storefront};

pub const PROFILE: &str = r#"{"id": 1, "addresses": [{"id": 1}, {"id": 2}]}"#;
pub const QUICK: [&str; 7] = ["doctor", "-o", "json", "--retry", "0", "--timeout", "5"];

/// The report of a run and its exit code.
pub struct Examined {
    pub code: i32,
    pub report: Value,
}

impl Examined {
    #[track_caller]
    pub fn check(&self, name: &str) -> (&str, &str, &str) {
        let checks = self.report["checks"].as_array().unwrap();
        let found = checks.iter().find(|check| check["check"] == name);
        let found = found.unwrap_or_else(|| panic!("no check {name}: {}", self.report));
        let text = |member: &str| found[member].as_str().unwrap_or_default();
        (text("status"), text("detail"), text("fix"))
    }

    /// A check as text: status, detail and fix.
    #[track_caller]
    pub fn text(&self, name: &str) -> String {
        let (status, detail, fix) = self.check(name);
        let fix = if fix.is_empty() { String::new() } else { format!("\n→ {fix}") };
        format!("{status}: {detail}{fix}")
    }

    pub fn states(&self) -> Vec<(&str, &str)> {
        let checks = self.report["checks"].as_array().unwrap();
        checks
            .iter()
            .map(|check| (check["check"].as_str().unwrap(), check["status"].as_str().unwrap()))
            .collect()
    }
}

/// Runs it and checks that the report is consistent and contains no secret.
#[track_caller]
pub fn examine(program: Storefront) -> Examined {
    let outcome = program.run();
    let output = format!("{}{}", outcome.stdout, outcome.stderr);
    assert!(!output.contains(SECRET), "{output}");
    let report: Value =
        serde_json::from_str(&outcome.stdout).unwrap_or_else(|error| panic!("{error}: {outcome:?}"));
    let members: Vec<&String> = report.as_object().unwrap().keys().collect();
    assert_eq!(members, ["checks"]);
    for check in report["checks"].as_array().unwrap() {
        let members: Vec<&String> = check.as_object().unwrap().keys().collect();
        assert_eq!(members, ["check", "status", "detail", "fix"]);
        let needs_no_fix = check["status"] == "ok" || check["status"] == "skipped";
        assert_eq!(needs_no_fix, check["fix"].is_null(), "what does not work has a fix: {check}");
    }
    if outcome.code != 0 {
        assert!(outcome.error()["message"].as_str().unwrap().ends_with("checks failed"), "{outcome:?}");
    }
    Examined { code: outcome.code, report }
}

/// A home whose only profile leads to `url`, with more lines of its table.
pub fn home(url: &str, lines: &str) -> Home {
    Home::with_config(&format!(
        "default-profile = \"shop\"\n[profiles.shop]\nbase-url = {url:?}\nstore-view = \"default\"\n{lines}\n"
    ))
}

pub fn script(step: Step) -> MockServer {
    MockServer::start(vec![step])
}
