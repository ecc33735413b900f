//! What an operation did: one JSON object, or a few lines for a person.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::{Value, json};

use super::changes;
use crate::exact_json;
use crate::failure::{Applied, Failure, FailureKind};
use crate::http::Reply;
use crate::plan::operation::{Operation, Success};
use crate::plan::profile::diff::Change;
use crate::plan::profile::merge::AddressSummary;
use crate::plan::request::{Bearer, Request};
use crate::report::style::{OutputStyle, TextStyle};
use crate::sanitize::{self, sanitize_line};
use crate::shell::Shell;

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
                shown.iter().map(|shown| curl_command(&shown.request, &shown.url) + "\n").collect();
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

/// What became of one call.
#[derive(Debug, Clone)]
pub struct Call {
    /// The last segment of its path, such as `shipping-information`.
    pub name: &'static str,
    /// Whether it took effect.
    pub applied: Applied,
    /// Why it was not sent now: `done earlier`.
    pub reason: Option<&'static str>,
    /// HTTP status of the answer.
    pub status: Option<u16>,
    /// The answer as it came.
    pub response: Option<Value>,
    /// What would be sent; only of a dry run.
    pub request: Option<RequestPreview>,
}

impl Call {
    /// A call that was not sent, or was sent by an earlier run.
    pub const fn new(name: &'static str, applied: Applied) -> Self {
        Self { name, applied, reason: None, status: None, response: None, request: None }
    }

    /// A call that the service took.
    pub fn replied(name: &'static str, reply: &Reply) -> Self {
        Self { status: Some(reply.status), response: Some(reply.value()), ..Self::new(name, Applied::Yes) }
    }

    /// A call that failed.
    pub fn failed(name: &'static str, failure: &Failure) -> Self {
        Self { status: failure.status, response: failure.service.clone(), ..Self::new(name, failure.applied) }
    }

    /// As results have it: `{"call", "applied", "status", "response"}`.
    pub fn to_json(&self) -> Value {
        let mut shown =
            exact_json::object([("call", self.name.into()), ("applied", self.applied.name().into())]);
        if let Some(reason) = self.reason {
            shown["reason"] = reason.into();
        }
        shown["status"] = self.status.into();
        if let Some(request) = &self.request {
            shown["request"] = request.to_json();
        }
        shown["response"] = self.response.clone().unwrap_or_default();
        shown
    }

    /// One line for a person.
    pub fn to_text(&self) -> String {
        let status = self.status.map(|status| format!(" (HTTP {status})")).unwrap_or_default();
        let what = match (self.applied, self.reason) {
            (Applied::Yes, Some(reason)) => reason,
            (Applied::Yes, None) => "done",
            (Applied::Unknown, _) => "outcome unknown",
            _ => "not done",
        };
        format!("  {}: {what}{status}", self.name)
    }
}

/// What would be sent, as JSON, as text or as a curl command.
#[derive(Debug, Clone)]
pub struct RequestPreview {
    /// The call.
    pub request: Request,
    /// Its whole URL.
    pub url: String,
    /// Whether to show it as a curl command.
    pub curl: bool,
}

impl RequestPreview {
    /// As results have it.
    fn to_json(&self) -> Value {
        let body: Value =
            self.request.body.as_deref().map_or(Value::Null, |body| {
                exact_json::parse(body.as_bytes()).unwrap_or_else(|_| body.into())
            });
        let mut shown = exact_json::object([
            ("method", self.request.method.as_str().into()),
            ("url", self.url.as_str().into()),
            ("body", body),
        ]);
        if self.curl {
            shown["curl"] = curl_command(&self.request, &self.url).into();
        }
        shown
    }

    /// For a person: the request line, the hidden token, and the body.
    fn to_text(&self) -> String {
        let body = self.request.body.as_deref().map(|body| match exact_json::parse(body.as_bytes()) {
            Ok(value) => format!("\n{value:#}"),
            Err(_) => format!("\n{body}"),
        });
        let text = format!(
            "{} {}\nAuthorization: Bearer •••{}",
            self.request.method.as_str(),
            self.url,
            body.unwrap_or_default()
        );
        crate::sanitize::sanitize(&text).into_owned()
    }
}

/// The command, on one line, for the shell of this system. A token that stands in URL or body is masked there as everywhere.
fn curl_command(request: &Request, url: &str) -> String {
    curl_command_for(request, url, Shell::NATIVE)
}

fn curl_command_for(request: &Request, url: &str, shell: Shell) -> String {
    // In Windows PowerShell `curl` alone is another command.
    let (curl, token) = match (shell, request.bearer) {
        (Shell::Posix, Bearer::Customer) => ("curl", "$STOREFRONT_TOKEN"),
        (Shell::Posix, Bearer::Admin) => ("curl", "${STOREFRONT_ADMIN_TOKEN:-$STOREFRONT_TOKEN}"),
        (Shell::Windows, Bearer::Customer) => ("curl.exe", "$env:STOREFRONT_TOKEN"),
        (Shell::Windows, Bearer::Admin) => (
            "curl.exe",
            "$(if ($env:STOREFRONT_ADMIN_TOKEN) { $env:STOREFRONT_ADMIN_TOKEN } else { $env:STOREFRONT_TOKEN })",
        ),
    };
    let mut command = format!(
        "{curl} --request {} --globoff {} --header \"Authorization: Bearer {token}\"",
        request.method.as_str(),
        shell.quote(&sanitize::sanitize(url))
    );
    if let Some(body) = &request.body {
        command.push_str(" --header 'Content-Type: application/json' --data-raw ");
        command.push_str(&shell.quote(&sanitize::in_json(body)));
    }
    command
}

#[cfg(test)]
mod tests {
    use super::curl_command_for;
    use crate::plan::operation::Operation;
    use crate::plan::request::dialect::MARKETPLACE;
    use crate::plan::request::{StoreView, Target};
    use crate::shell::Shell;

    #[test]
    fn what_a_terminal_would_obey_is_written_as_json_escapes() {
        let body = "{\"city\":\"a\u{9b}2J\u{202e}b\"}";
        let request = Operation::QuoteAddItem
            .request(&Target::new(&MARKETPLACE, Some(&StoreView::new("fr").unwrap())).unwrap(), body.into());
        let words =
            shell_words::split(&curl_command_for(&request, "https://shop.example/rest/V1/x", Shell::Posix))
                .unwrap();
        let sent = words.last().unwrap();
        assert_eq!(sent, r#"{"city":"a\u009b2J\u202eb"}"#);
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(value(sent), value(body));
    }

    #[test]
    fn the_body_survives_the_shell() {
        let body = r#"{"cartItem":{"sku":"it's $5","qty":1}}"#;
        let request = Operation::QuoteAddItem
            .request(&Target::new(&MARKETPLACE, Some(&StoreView::new("fr").unwrap())).unwrap(), body.into());
        let words =
            shell_words::split(&curl_command_for(&request, "https://shop.example/rest/V1/x", Shell::Posix))
                .unwrap();
        assert_eq!(words.last().unwrap(), body);
        // Without it curl makes three requests of a URL that ends in [1-3].
        assert!(words.contains(&"--globoff".to_owned()));
        assert!(words.contains(&"Authorization: Bearer $STOREFRONT_TOKEN".to_owned()));
    }

    #[test]
    fn on_windows_it_is_for_powershell() {
        let request = Operation::QuoteAddItem.request(
            &Target::new(&MARKETPLACE, Some(&StoreView::new("fr").unwrap())).unwrap(),
            r#"{"sku":"it's $5"}"#.into(),
        );
        assert_eq!(
            curl_command_for(&request, "https://shop.example/x?a=1&b", Shell::Windows),
            "curl.exe --request POST --globoff \"https://shop.example/x?a=1&b\" \
             --header \"Authorization: Bearer $env:STOREFRONT_TOKEN\" --header 'Content-Type: application/json' \
             --data-raw '{\"sku\":\"it''s $5\"}'"
        );
    }
}
