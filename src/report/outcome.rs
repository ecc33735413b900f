//! What an operation did: one JSON object, or a few lines for a person.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::{Map, Value};

use super::changes;
use super::fields::format_value;
use crate::report::style::{OutputStyle, TextStyle};
use crate::system::shell::Shell;
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::id::AddressId;
use storefront_core::interface::request::{Bearer, Request};
use storefront_core::operation::{OperationSpec, Success};
use storefront_core::profile::diff::{Expected, FieldChange};
use storefront_core::profile::merge::AddressSummary;
use storefront_core::text::exact_json;
use storefront_core::text::sanitize::{in_json, sanitize, sanitize_line};

/// The outcome of one operation; of a failed one only in a batch. Its fields are those of results, in their order.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Outcome {
    /// The operation: `customer update`.
    pub operation: &'static str,
    /// The number of the record, in a batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub record: Option<u64>,
    /// Whether the write took effect.
    pub applied: Applied,
    /// Why nothing was sent: `unchanged`, `done earlier` or `not sent`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// Whether a read has shown what was written; `None` where nothing can be read back, or nothing was written.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verified: Option<bool>,
    /// HTTP status of the service's answer to the write.
    pub status: Option<u16>,
    /// What became of the profile, for operations on it.
    #[serde(flatten)]
    pub profile: Option<ProfileOutcome>,
    /// The changes of a cart that is set to a state, of an order, or of a product.
    #[serde(flatten)]
    pub changed: Option<ChangedOutcome>,
    /// Every difference, without [`Self::profile`] and [`Self::changed`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<Vec<FieldChange>>,
    /// The outcome of each call, if the operation has several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub calls: Vec<Call>,
    /// What would be sent; only of a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestPreview>,
    /// The service's reply as it came.
    pub response: Option<Value>,
    /// The owner of the changed values: `{"cart": 4}`; missing if nothing was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub owner: Option<Value>,
    /// The name of the write in the log; missing or `null` if nothing was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub write: Option<Value>,
    /// The number that names the record, in a batch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// The error object of a record that failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Value>,
    /// The owner that a plan expects, if there are no changes to compare.
    #[serde(skip)]
    pub planned_owner: Map<String, Value>,
    /// The text for people if nothing had to change, in place of `no changes`.
    #[serde(skip)]
    pub unchanged: Option<String>,
    /// The text for people about a success.
    #[serde(skip)]
    pub success: Option<Success>,
}

/// What became of a profile.
#[derive(Debug, Clone, Serialize)]
pub struct ProfileOutcome {
    /// Every difference.
    pub changes: Vec<FieldChange>,
    /// What became of the addresses.
    #[serde(rename = "addresses")]
    pub summary: AddressSummary,
    /// Whose profile it is; only of a dry run.
    #[serde(skip)]
    pub owner: Map<String, Value>,
    /// Whether the changes were shown in the confirmation already.
    #[serde(skip)]
    pub were_shown: bool,
    /// The ids that the service gave to new addresses, if they could be read back.
    #[serde(skip)]
    pub new_ids: Vec<AddressId>,
}

/// What changes of a thing other than a profile.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ChangedOutcome {
    /// Every difference.
    pub changes: Vec<FieldChange>,
    /// The owner of the changes, for people; only of a dry run.
    #[serde(skip)]
    pub owner: Map<String, Value>,
}

impl Outcome {
    /// What a plan that is made of this outcome expects.
    pub fn expected(&self) -> Expected {
        let profile = self.profile.as_ref().map(|of| (&of.owner, &of.changes));
        let of = profile.or(self.changed.as_ref().map(|of| (&of.owner, &of.changes)));
        let (owner, changes) = match of {
            Some((owner, changes)) => (owner.clone(), changes.clone()),
            None => (self.planned_owner.clone(), Vec::new()),
        };
        Expected { owner, changes, required: Vec::new() }
    }

    /// The outcome of a write that the service accepted.
    pub fn applied(operation: &'static OperationSpec, status: u16, response: Value) -> Self {
        Self {
            applied: Applied::Yes,
            status: Some(status),
            response: Some(response),
            ..Self::not_sent(operation.name)
        }
    }

    /// Nothing was sent.
    pub fn not_sent(operation: &'static str) -> Self {
        Self { operation, ..Self::default() }
    }

    /// An earlier run has done it.
    pub fn done_earlier(operation: &'static str) -> Self {
        Self { applied: Applied::Yes, reason: Some("done earlier"), ..Self::not_sent(operation) }
    }

    /// What an earlier run did, as a read shows.
    pub fn seen_earlier(operation: &'static str) -> Self {
        Self { verified: Some(true), ..Self::done_earlier(operation) }
    }

    /// What a dry run shows.
    pub fn dry_run(operation: &'static str, shown: RequestPreview) -> Self {
        Self { request: Some(shown), ..Self::not_sent(operation) }
    }

    /// The result for a person, ending in a newline; a curl command stands alone, so that a shell can run it.
    pub fn to_text(&self, screen: OutputStyle) -> String {
        let others = self.calls.iter().skip(1).filter_map(|call| call.request.as_ref());
        let shown: Vec<&RequestPreview> = self.request.iter().chain(others).collect();
        let commands = shown.iter().filter_map(|shown| Some(format!("{}\n", shown.curl.as_ref()?)));
        let commands: String = commands.collect();
        if !commands.is_empty() {
            return commands;
        }
        let mut lines = vec![screen.wrapped(&self.headline())];
        if let Some(profile) = &self.profile {
            // The request is a whole profile; a person wants to see its changes.
            if !profile.changes.is_empty() && !profile.were_shown {
                lines.push(changes::text(&profile.changes, screen));
            }
            lines.push(screen.wrapped(&changes::summary(&profile.summary, &profile.new_ids)));
        } else {
            // The headline of an applied write tells what it did.
            let changed = self.changed.iter().filter(|of| self.success.is_none() && !of.changes.is_empty());
            lines.extend(changed.map(|of| changes::text(&of.changes, screen)));
            lines.extend(shown.iter().map(|shown| shown.to_text()));
        }
        let of_profile = self.write.as_ref().filter(|_| self.profile.is_some());
        if let Some(name) = of_profile.and_then(Value::as_str) {
            lines.push(format!("Update: {}", screen.paint(TextStyle::Id, name)));
        }
        if shown.is_empty() {
            lines.extend(self.calls.iter().map(|call| screen.wrapped(&call.to_text())));
        }
        // The reply's body would only repeat the headline, or the changes of a profile.
        let is_said = self.profile.is_some() || self.success.as_ref().is_some_and(|it| it.covers_response);
        if let Some(reply) = self.response.as_ref().filter(|reply| !is_said && !reply.is_null()) {
            let text = screen.wrapped(&format!("Response: {}", truncate(reply)));
            lines.push(screen.paint(TextStyle::Dim, &text));
        }
        lines.join("\n") + "\n"
    }

    /// The failure to print this outcome.
    pub fn print_failed(&self, failure: Failure) -> Failure {
        match self.applied {
            Applied::Yes => Failure {
                // The kind of a wrong expression, `usage`, would mean that nothing was written.
                kind: FailureKind::Internal,
                message: format!("{} succeeded, but {}", self.operation, failure.message),
                hint: Some("do not run it again just to see the output".into()),
                applied: Applied::Yes,
                ..failure
            },
            _ => failure,
        }
    }

    fn headline(&self) -> String {
        let what = match (self.applied, &self.success, self.reason) {
            _ if self.request.is_some() => "dry run",
            (Applied::Yes, Some(success), _) => return success.text.clone(),
            (Applied::Yes, None, _) => "done",
            (_, _, Some("unchanged")) => self.unchanged.as_deref().unwrap_or("no changes"),
            _ => "nothing was sent",
        };
        format!("{}: {what}", self.operation)
    }
}

/// A reply on one line, cut where it gets long: `-o json` has it whole.
fn truncate(reply: &Value) -> String {
    const LONGEST: usize = 300;
    let text = match reply {
        Value::Bool(_) | Value::Object(_) | Value::Array(_) => sanitize_line(&reply.to_string()),
        other => format_value(Some(other)),
    };
    match text.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}… (use -o json for the full response)", &text[..end]),
        None => text,
    }
}

/// The outcome of one call.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Call {
    /// The last segment of its path, such as `shipping-information`, or what it does, such as `assign Default/Content`.
    #[serde(rename = "call")]
    pub name: Cow<'static, str>,
    /// Whether it took effect.
    pub applied: Applied,
    /// Why this run did not send it: `done earlier`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'static str>,
    /// HTTP status of the answer.
    pub status: Option<u16>,
    /// What would be sent; only of a dry run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestPreview>,
    /// The answer as it came.
    pub response: Option<Value>,
}

impl Call {
    /// A call that was not sent, or was sent by an earlier run.
    pub fn new(name: impl Into<Cow<'static, str>>, applied: Applied) -> Self {
        Self { name: name.into(), applied, ..Self::default() }
    }

    /// A call that failed.
    pub fn failed(name: impl Into<Cow<'static, str>>, failure: &Failure) -> Self {
        Self { status: failure.status, response: failure.service.clone(), ..Self::new(name, failure.applied) }
    }

    /// One line for a person.
    fn to_text(&self) -> String {
        let what = match (self.applied, self.reason) {
            (Applied::Yes, reason) => reason.unwrap_or("done"),
            (Applied::Unknown, _) => "outcome unknown",
            _ => "not done",
        };
        format!("  {}: {what}", sanitize_line(&self.name))
    }
}

/// What would be sent.
#[derive(Debug, Clone, Serialize)]
pub struct RequestPreview {
    /// HTTP method.
    pub method: String,
    /// The whole URL.
    pub url: String,
    /// The body, as text where it is not JSON.
    pub body: Option<Value>,
    /// The request as a curl command, if asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub curl: Option<String>,
}

/// In place of a curl command: a signature serves once.
const SIGNED: &str =
    "# an integration signs each request with a new nonce: no curl command can send this one";

impl RequestPreview {
    /// A request to that URL, and as a curl command where that is wanted. `is_signed` says that an integration signs it.
    pub fn new(request: &Request, url: String, as_curl: bool, is_signed: bool) -> Self {
        let json = |body: &str| exact_json::parse(body.as_bytes()).unwrap_or_else(|_| body.into());
        let command =
            || if is_signed { SIGNED.to_owned() } else { curl_command(request, &url, Shell::NATIVE) };
        Self {
            method: request.method.as_str().to_owned(),
            curl: as_curl.then(command),
            body: request.body.as_deref().map(json),
            url,
        }
    }

    /// For a person: the request line and the body.
    fn to_text(&self) -> String {
        let body = match &self.body {
            None => String::new(),
            Some(Value::String(text)) => format!("\n{text}"),
            Some(json) => format!("\n{json:#}"),
        };
        sanitize(&format!("{} {}{body}", self.method, self.url)).into_owned()
    }
}

/// The command, on one line, for that shell. A token in URL or body is masked, as everywhere.
fn curl_command(request: &Request, url: &str, shell: Shell) -> String {
    // In Windows PowerShell `curl` alone is another command.
    let (curl, token) = match (shell, request.bearer) {
        (Shell::Posix, Bearer::Customer) => ("curl", "$STOREFRONT_TOKEN"),
        (Shell::Posix, Bearer::Admin) => ("curl", "${STOREFRONT_ADMIN_TOKEN:-$STOREFRONT_TOKEN}"),
        (Shell::Windows, Bearer::Customer) => ("curl.exe", "$env:STOREFRONT_TOKEN"),
        (Shell::Windows, Bearer::Admin) => (
            "curl.exe",
            "$(if ($env:STOREFRONT_ADMIN_TOKEN) { $env:STOREFRONT_ADMIN_TOKEN } else { \
             $env:STOREFRONT_TOKEN })",
        ),
    };
    let method = request.method.as_str();
    let url = shell.quote(&sanitize(url)).into_owned();
    let mut command =
        format!("{curl} --request {method} --globoff {url} --header \"Authorization: Bearer {token}\"");
    if let Some(body) = &request.body {
        command.push_str(" --header 'Content-Type: application/json' --data-raw ");
        command.push_str(&shell.quote(&in_json(body)));
    }
    command
}

#[cfg(test)]
mod tests {
    use super::curl_command;
    use crate::system::shell::Shell;
    use storefront_core::interface::dialect::MARKETPLACE;
    use storefront_core::interface::request::{Bearer, Request};

    #[test]
    fn what_a_terminal_would_obey_is_written_as_json_escapes() {
        let body = "{\"city\":\"a\u{9b}2J\u{202e}b\"}";
        let request = Request::post(MARKETPLACE.add_item.to_owned(), body.into(), Bearer::Customer);
        let words =
            shell_words::split(&curl_command(&request, "https://shop.example/rest/V1/x", Shell::Posix))
                .unwrap();
        let sent = words.last().unwrap();
        assert_eq!(sent, r#"{"city":"a\u009b2J\u202eb"}"#);
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(value(sent), value(body));
    }

    #[test]
    fn the_body_survives_the_shell() {
        let body = r#"{"cartItem":{"sku":"it's $5","qty":1}}"#;
        let request = Request::post(MARKETPLACE.add_item.to_owned(), body.into(), Bearer::Customer);
        let words =
            shell_words::split(&curl_command(&request, "https://shop.example/rest/V1/x", Shell::Posix))
                .unwrap();
        assert_eq!(words.last().unwrap(), body);
        // Without it curl makes three requests of a URL that ends in [1-3].
        assert!(words.contains(&"--globoff".to_owned()));
        assert!(words.contains(&"Authorization: Bearer $STOREFRONT_TOKEN".to_owned()));
    }

    #[test]
    fn on_windows_it_is_for_powershell() {
        let request =
            Request::post(MARKETPLACE.add_item.to_owned(), r#"{"sku":"it's $5"}"#.into(), Bearer::Customer);
        assert_eq!(
            curl_command(&request, "https://shop.example/x?a=1&b", Shell::Windows),
            "curl.exe --request POST --globoff \"https://shop.example/x?a=1&b\" \
             --header \"Authorization: Bearer $env:STOREFRONT_TOKEN\" --header 'Content-Type: application/json' \
             --data-raw '{\"sku\":\"it''s $5\"}'"
        );
    }
}
