//! What an operation did: one JSON object, or a few lines for a person.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Value, json};

use super::changes;
use crate::failure::{Applied, Failure, FailureKind};
use crate::plan::operation::{Operation, Success};
use crate::plan::profile::diff::Change;
use crate::plan::profile::merge::AddressSummary;
use crate::report::terminal::{OutputStyle, TextStyle};
use crate::sanitize::sanitize_line;

pub use super::call::Call;
pub use super::request_preview::RequestPreview;

/// The end of one operation that did not fail.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// What was asked for, as in results: `customer update`.
    pub operation: &'static str,
    /// Whether the write took effect.
    pub applied: Applied,
    /// Why nothing was sent: `unchanged`.
    pub reason: Option<&'static str>,
    /// What a person reads where nothing had to change, in place of `no changes`.
    pub unchanged: Option<String>,
    /// Whether a read has shown what was written; `None` where nothing can be read back, or nothing was written.
    pub verified: Option<bool>,
    /// HTTP status of the service's answer to the write.
    pub status: Option<u16>,
    /// What became of the profile, for operations on it.
    pub profile: Option<ProfileOutcome>,
    /// What became of each call, where the operation is several.
    pub calls: Vec<Call>,
    /// What would be sent; only of a dry run.
    pub request: Option<RequestPreview>,
    /// The service's reply as it came.
    pub response: Option<Value>,
    /// What a person reads of the success.
    pub success: Option<Success>,
}

/// What became of a profile.
#[derive(Debug, Clone)]
pub struct ProfileOutcome {
    /// Every difference.
    pub changes: Vec<Change>,
    /// Whether they were shown in the confirmation already.
    pub were_shown: bool,
    /// What became of the addresses.
    pub summary: AddressSummary,
    /// The snapshot taken before.
    pub snapshot: Option<PathBuf>,
    /// Ids the service gave to new addresses, where they could be read back.
    pub new_ids: Vec<i64>,
}

/// The result object of `-o json`, its fields in their order.
#[derive(Serialize)]
struct OutcomeResult<'a> {
    operation: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<u64>,
    applied: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    verified: Option<bool>,
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    changes: Option<Vec<Value>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    addresses: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    calls: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    request: Option<Value>,
    response: Option<&'a Value>,
    /// Of a profile; `null` where none was taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    snapshot: Option<Value>,
}

impl Outcome {
    /// A write the service took.
    pub fn applied(operation: Operation, status: u16, response: Value) -> Self {
        Self {
            applied: Applied::Yes,
            status: Some(status),
            response: Some(response),
            ..Self::not_sent(operation.name())
        }
    }

    /// Nothing was sent.
    pub const fn not_sent(operation: &'static str) -> Self {
        Self {
            operation,
            applied: Applied::No,
            reason: None,
            unchanged: None,
            verified: None,
            status: None,
            profile: None,
            calls: Vec::new(),
            request: None,
            response: None,
            success: None,
        }
    }

    /// What a dry run shows.
    pub fn dry_run(operation: &'static str, shown: RequestPreview) -> Self {
        Self { request: Some(shown), ..Self::not_sent(operation) }
    }

    /// The result object. `record` is the record's number in a run.
    pub fn result(&self, record: Option<u64>) -> impl Serialize + '_ {
        let profile = self.profile.as_ref();
        OutcomeResult {
            operation: self.operation,
            record,
            applied: self.applied.name(),
            reason: self.reason,
            verified: self.verified,
            status: self.status,
            changes: profile.map(|profile| profile.changes.iter().map(Change::to_json).collect()),
            addresses: profile.map(|profile| address_summary_json(&profile.summary)),
            calls: self.calls.iter().map(Call::to_json).collect(),
            request: self.request.as_ref().map(RequestPreview::to_json),
            response: self.response.as_ref(),
            snapshot: profile
                .map(|profile| profile.snapshot.as_ref().map(|path| path.display().to_string()).into()),
        }
    }

    /// The result for a person, ending in a newline; a curl command stands alone, so that a shell can run it.
    pub fn to_text(&self, screen: OutputStyle) -> String {
        let shown = self.calls.iter().filter_map(|call| call.request.as_ref());
        let shown: Vec<&RequestPreview> =
            if self.calls.is_empty() { self.request.iter().collect() } else { shown.collect() };
        if shown.iter().any(|shown| shown.curl) {
            let commands: Vec<String> =
                shown.iter().map(|shown| super::curl::command(&shown.request, &shown.url) + "\n").collect();
            return commands.concat();
        }
        let mut text = String::new();
        let mut line = |content: &str| {
            text.push_str(content);
            text.push('\n');
        };
        line(&self.headline());
        if let Some(profile) = &self.profile {
            if !profile.changes.is_empty() && !profile.were_shown {
                line(&changes::table(&profile.changes, screen));
            }
            line(&changes::summary(&profile.summary, &profile.new_ids));
            if let Some(snapshot) = &profile.snapshot {
                line(&snapshot_line(snapshot, screen));
            }
        }
        for shown in &shown {
            line(&shown.to_text());
        }
        if shown.is_empty() {
            self.calls.iter().for_each(|call| line(&call.to_text()));
        }
        match &self.response {
            _ if self.success.as_ref().is_some_and(|success| success.covers_response) => {}
            // The changes of the profile are printed above; the reply's body only repeats them.
            _ if self.profile.is_some() => {}
            None | Some(Value::Null) => {}
            Some(Value::String(reply)) if reply.trim().is_empty() => {}
            Some(reply) => {
                line(&screen.paint(TextStyle::Dim, &format!("Response: {}", truncate(reply))));
            }
        }
        text
    }

    /// The failure to print this.
    pub fn print_failed(&self, failure: Failure) -> Failure {
        match self.applied {
            Applied::Yes => Failure {
                // A wrong expression is a wrong usage; that kind says that nothing was written.
                kind: FailureKind::Internal,
                message: format!("{} succeeded, but {}", self.operation, failure.message),
                hint: Some(match &failure.hint {
                    Some(hint) => format!("do not run it again just to see the output; {hint}"),
                    None => "do not run it again just to see the output".to_owned(),
                }),
                applied: Applied::Yes,
                ..failure
            },
            _ => failure,
        }
    }

    fn headline(&self) -> String {
        if let (Applied::Yes, Some(success)) = (self.applied, &self.success) {
            return success.text.clone();
        }
        match (self.applied, self.reason) {
            _ if self.request.is_some() => format!("{}: dry run", self.operation),
            (Applied::Yes, _) => {
                let status = self.status.map(|status| format!(" (HTTP {status})")).unwrap_or_default();
                format!("{}: done{status}", self.operation)
            }
            (_, Some("unchanged")) => {
                format!("{}: {}", self.operation, self.unchanged.as_deref().unwrap_or("no changes"))
            }
            _ => format!("{}: nothing was sent", self.operation),
        }
    }
}

/// The snapshot: its name on a terminal, where a person goes on with it, and else its file.
fn snapshot_line(snapshot: &Path, screen: OutputStyle) -> String {
    match snapshot.file_stem() {
        Some(name) if screen.width.is_some() => {
            let name = screen.paint(TextStyle::Id, &sanitize_line(&name.to_string_lossy()));
            format!("Snapshot: {name}")
        }
        _ => format!("Snapshot: {}", sanitize_line(&snapshot.display().to_string())),
    }
}

fn address_summary_json(tally: &AddressSummary) -> Value {
    json!({"kept": tally.kept, "changed": tally.changed, "added": tally.added, "removed": tally.removed})
}

/// A reply on one line, cut where it gets long: `-o json` has it whole.
fn truncate(reply: &Value) -> String {
    const LONGEST: usize = 300;
    let text = match reply {
        Value::String(text) => sanitize_line(text),
        other => sanitize_line(&other.to_string()),
    };
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}… (use -o json for the full response)", &text[..end]),
        None => text,
    }
}
