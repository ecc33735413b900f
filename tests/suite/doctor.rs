//! `doctor`: each finding with its fix, the exit code of the first failure, and no secret in the output.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use snapbox::str;
use storefront::environment::STATE_HOME;

use crate::support::http_client::SECRET;
use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::snapshot::assert_snapshot;
use crate::support::storefront::{Home, Storefront};
use crate::support::test_env::{TestEnv, files_below, serve};
use crate::support::tls::{Authority, Defect};

const PROFILE: &str = r#"{"id": 1, "addresses": [{"id": 1}, {"id": 2}]}"#;
const QUICK: [&str; 7] = ["doctor", "-o", "json", "--retry", "0", "--timeout", "5"];

/// The program and arguments that print the next one, as the settings write them.
const ECHO: &str = if cfg!(windows) { r#""cmd", "/c", "echo""# } else { r#""echo""# };

/// The report of a run and its exit code.
struct Examined {
    code: i32,
    report: Value,
}

impl Examined {
    #[track_caller]
    fn check(&self, name: &str) -> (&str, &str, &str) {
        let checks = self.report["checks"].as_array().unwrap();
        let found = checks.iter().find(|check| check["check"] == name);
        let found = found.unwrap_or_else(|| panic!("no check {name}: {}", self.report));
        let text = |member: &str| found[member].as_str().unwrap_or_default();
        (text("status"), text("detail"), text("fix"))
    }

    /// A check as text: status, detail and fix.
    #[track_caller]
    fn text(&self, name: &str) -> String {
        let (status, detail, fix) = self.check(name);
        let fix = if fix.is_empty() { String::new() } else { format!("\n→ {fix}") };
        format!("{status}: {detail}{fix}")
    }

    fn states(&self) -> Vec<(&str, &str)> {
        let checks = self.report["checks"].as_array().unwrap();
        checks
            .iter()
            .map(|check| (check["check"].as_str().unwrap(), check["status"].as_str().unwrap()))
            .collect()
    }
}

/// Runs it and checks that the report is consistent and contains no secret.
#[track_caller]
fn examine(program: Storefront) -> Examined {
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
fn home(url: &str, lines: &str) -> Home {
    Home::with_config(&format!(
        "default-profile = \"shop\"\n[profiles.shop]\nbase-url = {url:?}\nstore-view = \"default\"\n{lines}\n"
    ))
}

fn script(step: Step) -> MockServer {
    MockServer::start(vec![step])
}

/// Runs the command of a fix.
fn apply_fix(fix: &str) {
    let command =
        fix.strip_prefix("run `").and_then(|rest| rest.strip_suffix('`')).unwrap_or_else(|| panic!("{fix}"));
    assert!(command.starts_with("chmod "), "{command}");
    assert!(Command::new("sh").args(["-c", command]).status().unwrap().success());
}

#[cfg_attr(windows, expect(unused_variables, reason = "Windows has no permission bits"))]
fn open(path: &Path, mode: u32) {
    #[cfg(unix)]
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
}

#[test]
fn a_correct_setup_passes_every_check() {
    let env = TestEnv::new();
    assert_eq!(examine(env.storefront(&QUICK)).code, 0);
    assert_eq!(env.requests(), ["GET 200"], "one read is enough");
    // The interface shows no read that needs the administrator's token.
    env.run("doctor").assert_success(str![[r#"
CHECK            STATUS   DETAIL
state directory  ok       `[HOME]/state/storefront` can be written
configuration    ok       the environment: http://127.0.0.1:[PORT]/
store view       ok       default
customer token   ok       the environment variable STOREFRONT_TOKEN
service          ok       answers, without TLS
profile          ok       4 addresses can be read
admin token      skipped  the environment variable STOREFRONT_ADMIN_TOKEN; not checked: `read.attribute-path` is not set
clock            ok       in sync with the service
"#]]);
}

#[test]
fn a_failed_check_is_shown_with_its_fix() {
    let env = TestEnv::new();
    env.storefront("doctor").env("STOREFRONT_STORE_VIEW", "..").run().assert(
        2,
        str![[r#"
CHECK            STATUS  DETAIL
state directory  ok      `[HOME]/state/storefront` can be written
configuration    failed  invalid store view code `..`
                         → the codes are listed in the admin panel under Stores > Settings > All Stores
"#]],
        str![[r#"
error: 1 of 2 checks failed
  hint: fix the failed checks from the top, then run `storefront doctor` again
"#]],
    );
}

#[test]
fn the_sandbox_passes_without_a_setup() {
    let home = Home::new();
    let found = examine(home.storefront(&[&QUICK[..], &["--sandbox"]].concat()));
    assert_eq!(found.code, 0, "{}", found.report);
    home.run("doctor --sandbox").assert_success(str![[r#"
CHECK            STATUS   DETAIL
state directory  ok       `[HOME]/state/storefront` can be written
configuration    ok       the sandbox: http://127.0.0.1:[PORT]/
store view       ok       default
customer token   ok       the sandbox
service          ok       answers, without TLS
profile          ok       4 addresses can be read
admin token      skipped  the sandbox; not checked: `read.attribute-path` is not set
clock            ok       in sync with the service
"#]]);
}

#[test]
fn a_missing_configuration_is_a_finding() {
    let found = examine(Home::new().storefront(&QUICK));
    assert_eq!(
        (found.code, found.states()),
        (2, vec![("state directory", "ok"), ("configuration", "failed")])
    );
    Home::new().run("doctor").assert(2, str![[r#"
CHECK            STATUS  DETAIL
state directory  ok      `[HOME]/state/storefront` can be written
configuration    failed  no service configured: `[HOME]/config/storefront/config.toml` does not exist
                         → to try it with no account, add --sandbox; for a real service, run `storefront config init`, or set STOREFRONT_BASE_URL and STOREFRONT_TOKEN
"#]], str![[r#"
error: 1 of 2 checks failed
  hint: fix the failed checks from the top, then run `storefront doctor` again
"#]]);
}

#[test]
fn an_unknown_key_is_a_finding() {
    let found =
        examine(Home::with_config("[profiles.shop]\nbase-ulr = \"https://shop.example\"").storefront(&QUICK));
    assert_eq!(found.code, 2);
    assert_snapshot(
        &found.text("configuration"),
        str![[r#"
failed: [HOME]/config/storefront/config.toml: unknown key `profiles.shop.base-ulr`; did you mean `base-url`?
→ correct it in the file, or with `storefront config set`
"#]],
    );
}

#[test]
#[cfg_attr(windows, ignore = "Windows has no permission bits to check or to change")]
fn a_configuration_that_others_can_read_is_fixed_by_the_suggested_command() {
    let server = script(answer("200 OK", "", PROFILE));
    let home = home(&server.url(""), &format!("token = {SECRET:?}"));
    open(&home.path("config.toml"), 0o644);
    let found = examine(home.storefront(&QUICK));
    assert_eq!((found.code, found.check("configuration").0), (2, "failed"));
    assert!(server.requests().is_empty());
    assert_snapshot(
        &found.text("configuration"),
        str![[r#"
failed: `[HOME]/config/storefront/config.toml` contains a token and can be read by other users
→ run `chmod 600 [HOME]/config/storefront/config.toml`
"#]],
    );
    apply_fix(found.check("configuration").2);
    assert_eq!(examine(home.storefront(&QUICK)).code, 0);
}

#[test]
#[cfg_attr(windows, ignore = "Windows has no permission bits to check or to change")]
fn a_token_file_that_others_can_read_is_fixed_by_the_suggested_command() {
    let server = script(answer("200 OK", "", PROFILE));
    let home = home(&server.url(""), "token-file = \"token with space\"");
    home.write("token with space", SECRET, 0o644);
    let found = examine(home.storefront(&QUICK));
    assert_snapshot(
        &found.text("customer token"),
        str![[r#"
failed: `[HOME]/config/storefront/token with space` contains a token and can be read by other users
→ run `chmod 600 '[HOME]/config/storefront/token with space'`
"#]],
    );
    assert_ne!(found.code, 0);
    assert!(server.requests().is_empty(), "the token is not sent");
    apply_fix(found.check("customer token").2);
    assert_eq!(examine(home.storefront(&QUICK)).code, 0);
}

#[cfg(unix)]
#[test]
fn snapshots_that_others_can_read_are_a_warning() {
    let env = TestEnv::new();
    env.done("customer update --email doctor@example.com");
    assert_eq!(examine(env.storefront(&QUICK)).check("state directory").0, "ok");
    let snapshots = env.home.state().join("snapshots");
    open(&snapshots, 0o755);
    let found = examine(env.storefront(&QUICK));
    assert_eq!(found.code, 0);
    assert_snapshot(
        &found.text("state directory"),
        str![[r#"
warning: `[HOME]/state/storefront/snapshots` contains customer data and is accessible to other users
→ run `chmod 700 [HOME]/state/storefront/snapshots`
"#]],
    );
    apply_fix(found.check("state directory").2);
    assert_eq!(examine(env.storefront(&QUICK)).check("state directory").0, "ok");
    let files = files_below(&snapshots);
    assert!(!files.is_empty());
    for file in files {
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(file).unwrap().permissions());
        assert_eq!(mode & 0o077, 0);
    }
}

#[test]
fn the_source_of_a_token_is_named_but_not_the_token() {
    let server = script(answer("200 OK", "", PROFILE));
    for (lines, expected) in [
        (format!("token = {SECRET:?}"), str!["ok: token of profile shop"]),
        (
            "token-env = \"SHOP_TOKEN\"".to_owned(),
            str!["ok: the environment variable SHOP_TOKEN (token-env of profile shop)"],
        ),
        (
            "token-file = \"token\"".to_owned(),
            str!["ok: the file [HOME]/config/storefront/token (token-file of profile shop)"],
        ),
        (
            format!("token-command = [{ECHO}, {SECRET:?}]"),
            str!["ok: the command echo (token-command of profile shop)"],
        ),
    ] {
        let home = home(&server.url(""), &lines);
        home.write("token", SECRET, 0o600);
        let found = examine(home.storefront(&[&QUICK[..], &["-vv"]].concat()).env("SHOP_TOKEN", SECRET));
        assert_eq!(found.check("customer token").0, "ok", "{lines}");
        assert_snapshot(&found.text("customer token"), expected);
        // No call shows that the service takes the customer's token for an administrator's.
        assert_eq!(found.check("admin token").0, "skipped");
    }
}

#[test]
fn a_missing_token_is_a_finding_and_no_request_is_sent() {
    let server = script(answer("200 OK", "", PROFILE));
    for (lines, expected) in [
        (
            "",
            str![[r#"
failed: no token for profile `shop`
→ run `storefront auth login -p shop`, or set STOREFRONT_TOKEN
"#]],
        ),
        (
            "token-env = \"SHOP_TOKEN\"",
            str![[r#"
failed: the environment variable SHOP_TOKEN (token-env of profile shop) is not set
→ set a new token where it comes from, or run `storefront auth login -p shop`
"#]],
        ),
        (
            "token-file = \"none\"",
            str![[r#"
failed: the file [HOME]/config/storefront/none (token-file of profile shop) not found
→ set a new token where it comes from, or run `storefront auth login -p shop`
"#]],
        ),
        (
            "token-command = [\"false\"]",
            str![[r#"
failed: the token command `false` failed (exit status: 1)
→ run it by hand to see why
"#]],
        ),
    ] {
        let found = examine(home(&server.url(""), lines).storefront(&QUICK));
        assert_snapshot(&found.text("customer token"), expected);
        assert!([2, 6].contains(&found.code), "{lines}: {}", found.code);
    }
    assert!(server.requests().is_empty());
}

#[test]
fn a_missing_admin_token_does_not_skip_the_profile() {
    let env = TestEnv::new();
    env.done("customer update --email doctor@example.com");
    let home = home(&env.url(), "token-env = \"SHOP_TOKEN\"\nadmin-token-env = \"ADMIN\"");
    let found = examine(home.storefront(&QUICK).env("SHOP_TOKEN", "sandbox-customer-1"));
    assert_eq!((found.code, found.check("admin token").0, found.check("profile").0), (6, "failed", "ok"));
}

#[test]
fn an_unreachable_service_is_a_finding() {
    let closed = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    let found = examine(serve(Home::new().storefront(&QUICK), &format!("http://{closed}")));
    assert_eq!(found.code, 5);
    // The fix is not to run doctor.
    assert_snapshot(
        &found.text("service"),
        str![[r#"
failed: cannot connect to 127.0.0.1:[PORT]: Connection refused (os error [N])
→ check host and port of base-url, and the network
"#]],
    );
}

#[test]
fn an_untrusted_certificate_is_fixed_by_ca_file() {
    let authority = Authority::new("Shop CA");
    let script = vec![answer("200 OK", "", PROFILE)];
    let server = MockServer::start_tls(script, authority.server(Defect::None, None));
    let strange = home(&server.url(""), &format!("token = {SECRET:?}"));
    let found = examine(strange.storefront(&QUICK));
    let (state, detail, fix) = found.check("service");
    assert_eq!((found.code, state), (5, "failed"));
    // Windows checks certificates itself and has more than one answer to this.
    assert!(detail.contains("the certificate of ") && fix.contains("ca-file"), "{detail}: {fix}");
    assert_snapshot(
        &found.text("service"),
        str![[r#"
failed: the certificate of 127.0.0.1:[PORT] is signed by an untrusted CA
→ set `ca-file` in the profile to the PEM file of the CA that signed it
"#]],
    );
    assert!(server.requests().is_empty());
    let known = home(&server.url(""), &format!("token = {SECRET:?}\nca-file = {:?}", authority.ca_file()));
    let found = examine(known.storefront(&QUICK));
    assert_eq!((found.code, found.check("service").1), (0, "answers, over TLS"), "{}", found.report);
}

#[test]
fn an_unreadable_profile_is_distinguished_from_an_unreachable_service() {
    for (reply, code, expected) in [
        (
            answer("404 Not Found", "", r#"{"message": "no route"}"#),
            3,
            str![[r#"
failed: cannot read the stored addresses: the service answered 404 Not Found: no route
→ check the path of base-url (http://127.0.0.1:[PORT]/) and set it with STOREFRONT_BASE_URL; if it is right, set read.path to where the service gives the profile
"#]],
        ),
        (
            answer("200 OK", "", "<html>Please sign in</html>"),
            3,
            str![[r#"
failed: cannot read the stored addresses from the response: it is not valid JSON: expected value at line 1 column 1
→ run it again with -vv to see the response, then set `read.path`, `read.customer` and `read.addresses` of the profile
"#]],
        ),
        (
            answer("200 OK", "", r#"{"id": 1}"#),
            3,
            str![[r#"
failed: cannot read the stored addresses from the response: it has no address list
→ run it again with -vv to see the response, then set `read.path`, `read.customer` and `read.addresses` of the profile
"#]],
        ),
    ] {
        let found = examine(serve(Home::new().storefront(&QUICK), &script(reply).url("")));
        assert_eq!((found.code, found.check("service").0), (code, "ok"));
        assert_snapshot(&found.text("profile"), expected);
    }
    let wrong = script(answer("401 Unauthorized", "", r#"{"message": "expired"}"#));
    let found = examine(serve(Home::new().storefront(&QUICK), &wrong.url("")));
    assert_eq!((found.code, found.check("service").0), (6, "ok"));
    assert_snapshot(
        &found.text("customer token"),
        str![[r#"
failed: the environment variable STOREFRONT_TOKEN: the service answered 401 Unauthorized: expired
→ set a new token where it comes from
"#]],
    );
    let broken = script(answer("500 Internal Server Error", "", ""));
    let found = examine(serve(Home::new().storefront(&QUICK), &broken.url("")));
    assert_eq!(found.code, 5);
    assert_snapshot(
        &found.text("service"),
        str![[r#"
failed: the service answered 500 Internal Server Error with an empty body
→ try again later
"#]],
    );
}

#[test]
fn clocks_that_differ_are_a_warning() {
    for (date, state) in [("Mon, 01 Jan 2001 00:00:00 GMT", Some("warning")), ("yesterday", None)] {
        let server = script(answer("200 OK", &format!("Date: {date}\r\n"), PROFILE));
        let found = examine(serve(Home::new().storefront(&QUICK), &server.url("")));
        assert_eq!(found.code, 0, "{}", found.report);
        let clock = found.states().into_iter().find(|(check, _)| *check == "clock");
        assert_eq!(clock.map(|(_, state)| state), state, "{date}");
    }
    let refused = script(answer("401 Unauthorized", "Date: Mon, 01 Jan 2001 00:00:00 GMT\r\n", ""));
    let found = examine(serve(Home::new().storefront(&QUICK), &refused.url("")));
    assert_eq!(found.check("clock").0, "warning", "an error's date counts too: {}", found.report);
}

#[test]
fn a_wrong_store_view_and_a_wrong_path_are_distinguished() {
    let env = TestEnv::new();
    let set = |lines: &str, path: &str| {
        let home = home(&format!("{}{path}", env.url()), &format!("token = \"sandbox-customer-1\"\n{lines}"));
        examine(home.storefront(&QUICK))
    };
    let found = examine(env.storefront(&[&QUICK[..], &["--store-view", "defualt"]].concat()));
    assert_eq!(found.code, 3);
    assert_snapshot(
        &found.text("store view"),
        str![[r#"
failed: cannot read the stored addresses: the service answered 404 Not Found: The store that was requested wasn't found. Verify the store and try again
→ correct STOREFRONT_STORE_VIEW, or pass --store-view CODE
"#]],
    );
    assert_eq!(found.check("customer token").0, "skipped", "{}", found.report);

    let found = set("", "/wrong");
    assert_eq!(found.code, 3, "{}", found.report);
    assert_snapshot(
        &found.text("profile"),
        str![[r#"
failed: cannot read the stored addresses: the service answered 404 Not Found: Request does not match any route
→ check the path of base-url (http://127.0.0.1:[PORT]/wrong) and set it with `storefront config set -p shop base-url URL`; if it is right, set read.path to where the service gives the profile
"#]],
    );
    assert_eq!(found.check("store view").0, "skipped", "{}", found.report);
}

#[test]
fn an_unwritable_state_directory_is_a_finding() {
    let env = TestEnv::new();
    let file = env.home.dir.path().join("no directory");
    std::fs::write(&file, "").unwrap();
    let file = file.to_str().unwrap();
    let program = env.storefront(&QUICK).env(STATE_HOME, file);
    let found = examine(program);
    assert_eq!(found.code, 1);
    assert_snapshot(
        &found.text("state directory"),
        str![[r#"
failed: the state directory `[HOME]/no directory/storefront` cannot be written: not a directory
→ make it writable, or set XDG_STATE_HOME to a directory that is
"#]],
    );
}
