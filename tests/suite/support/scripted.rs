//! A change of a profile against scripted replies.

use serde_json::{Value, json};
use snapbox::IntoData;

use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::snapshot::assert_snapshot;
use crate::support::storefront::{Home, Outcome};
use crate::support::test_env::serve;

pub const UPDATE: &str = "customer update --email new@example.com --settle 0";

/// A stored profile with two addresses, and some of its fields otherwise.
pub fn profile(otherwise: Value) -> Value {
    let mut profile =
        json!({"id": 1, "email": "old@example.com", "addresses": [{"id": 1, "city": "Paris"}, {"id": 2}]});
    for (name, value) in otherwise.as_object().unwrap() {
        profile[name] = value.clone();
    }
    profile
}

pub fn ok(body: &Value) -> Step {
    answer("200 OK", "", &body.to_string())
}

pub fn run(home: &Home, url: &str, line: &str) -> Outcome {
    serve(home.storefront(&format!("{line} -q -o json")), url).run()
}

/// Runs a command line against scripted replies: what came of it, and the methods of the requests that arrived.
pub fn against(script: Vec<Step>, line: &str) -> (Outcome, Vec<String>) {
    let server = MockServer::start(script);
    let outcome = run(&Home::new(), &server.url(""), &format!("{line} --timeout 5"));
    (outcome, methods(&server))
}

/// The same for a line that must fail, and is not tried again: exit code, error object, and methods.
#[track_caller]
pub fn failing(script: Vec<Step>, line: &str) -> (i32, Value, Vec<String>) {
    let retry = if line.contains("--retry") { "" } else { " --retry 0" };
    let (outcome, methods) = against(script, &format!("{line}{retry}"));
    assert_eq!(outcome.stdout, "", "{line}: {outcome:?}");
    (outcome.code, outcome.error(), methods)
}

pub fn methods(server: &MockServer) -> Vec<String> {
    server.requests().into_iter().map(|request| request.split(' ').next().unwrap().to_owned()).collect()
}

#[track_caller]
pub fn fails_with(outcome: &Outcome, code: i32, expected: impl IntoData) {
    assert_eq!((outcome.code, outcome.stdout.as_str()), (code, ""), "{outcome:?}");
    let error = outcome.error();
    let hint = error["hint"].as_str().map(|hint| format!("\n  hint: {hint}")).unwrap_or_default();
    assert_snapshot(&format!("{}{hint}", error["message"].as_str().unwrap()), expected);
}
