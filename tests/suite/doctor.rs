//! `doctor`: each finding with its mend, the exit code of the first that is broken, and never a secret.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use storefront::environment::STATE_HOME;

use crate::support::http_client::SECRET;
use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::storefront::{Home, Storefront};
use crate::support::test_env::{TestEnv, files_below, serve};
use crate::support::tls::{Authority, Odd};

const PROFILE: &str = r#"{"id": 1, "addresses": [{"id": 1}, {"id": 2}]}"#;
const QUICK: [&str; 7] = ["doctor", "-o", "json", "--retry", "0", "--timeout", "5"];

/// The program and arguments that print the next one, as the settings write them.
const ECHO: &str = if cfg!(windows) { r#""cmd", "/c", "echo""# } else { r#""echo""# };

/// What a run found: state, message and mend by check; and the exit code.
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

    fn states(&self) -> Vec<(&str, &str)> {
        let checks = self.report["checks"].as_array().unwrap();
        checks
            .iter()
            .map(|check| (check["check"].as_str().unwrap(), check["status"].as_str().unwrap()))
            .collect()
    }
}

/// Runs it and sees that it contradicts itself nowhere and tells no secret.
#[track_caller]
fn examine(program: Storefront) -> Examined {
    let outcome = program.run();
    let said = format!("{}{}", outcome.stdout, outcome.stderr);
    assert!(!said.contains(SECRET), "{said}");
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

/// Does what a mend says.
fn mend(command: &str) {
    assert!(command.starts_with("chmod "), "{command}");
    assert!(Command::new("sh").args(["-c", command]).status().unwrap().success());
}

#[cfg_attr(windows, expect(unused_variables, reason = "Windows has no permission bits"))]
fn open(path: &Path, mode: u32) {
    #[cfg(unix)]
    std::fs::set_permissions(path, std::os::unix::fs::PermissionsExt::from_mode(mode)).unwrap();
}

#[test]
fn a_sound_set_up_passes_every_check() {
    let env = TestEnv::new();
    let found = examine(env.storefront(&QUICK));
    assert_eq!(found.code, 0);
    let checks = ["state directory", "configuration", "store view", "customer token", "service", "profile"];
    let mut expected = checks.map(|check| (check, "ok")).to_vec();
    // The interface shows no read that needs the administrator's token.
    expected.extend([("admin token", "skipped"), ("clock", "ok")]);
    assert_eq!(found.states(), expected);
    assert_eq!(found.check("configuration").1, format!("the environment: {}/", env.url()));
    assert_eq!(found.check("service").1, "answers, without TLS");
    assert_eq!(found.check("profile").1, "4 addresses can be read");
    assert_eq!(env.requests(), ["GET 200"], "one read is enough");
}

#[test]
fn it_reads_well_without_json() {
    let env = TestEnv::new();
    let outcome = env.storefront(&["doctor"]).run();
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{outcome:?}");
    assert!(outcome.stdout.contains("4 addresses can be read"), "{outcome:?}");
    let outcome = env.storefront(&["doctor"]).env("STOREFRONT_STORE_VIEW", "..").run();
    assert_eq!(outcome.code, 2, "{outcome:?}");
    assert!(outcome.stdout.contains('→') && outcome.stderr.contains("checks failed"), "{outcome:?}");
}

#[test]
fn the_sandbox_is_sound_with_no_set_up_at_all() {
    let home = Home::new();
    let found = examine(home.storefront(&[&QUICK[..], &["--sandbox"]].concat()));
    assert_eq!(found.code, 0, "{}", found.report);
    assert!(found.check("configuration").1.starts_with("the sandbox: http://127.0.0.1:"), "{}", found.report);
    assert_eq!(found.check("profile").0, "ok");
}

#[test]
fn no_configuration_at_all_names_both_ways_in() {
    let found = examine(Home::new().storefront(&QUICK));
    assert_eq!(
        (found.code, found.states()),
        (2, vec![("state directory", "ok"), ("configuration", "failed")])
    );
    let (_, message, mend) = found.check("configuration");
    assert!(message.contains("STOREFRONT_BASE_URL") && mend.contains("--sandbox"), "{message}: {mend}");
}

#[test]
fn a_key_nobody_knows_is_a_finding() {
    let found =
        examine(Home::with_config("[profiles.shop]\nbase-ulr = \"https://shop.example\"").storefront(&QUICK));
    assert_eq!(found.code, 2);
    assert!(found.check("configuration").1.contains("did you mean `base-url`?"), "{}", found.report);
}

#[test]
#[cfg_attr(windows, ignore = "Windows has no permission bits to check or to change")]
fn a_configuration_that_others_may_read_is_mended_by_the_command_that_is_told() {
    let server = script(answer("200 OK", "", PROFILE));
    let home = home(&server.url(""), &format!("token = {SECRET:?}"));
    open(&home.path("config.toml"), 0o644);
    let found = examine(home.storefront(&QUICK));
    assert_eq!((found.code, found.check("configuration").0), (2, "failed"));
    assert!(server.requests().is_empty());
    mend(found.check("configuration").2);
    assert_eq!(examine(home.storefront(&QUICK)).code, 0);
}

#[test]
#[cfg_attr(windows, ignore = "Windows has no permission bits to check or to change")]
fn a_token_file_that_others_may_read_is_mended_by_the_command_that_is_told() {
    let server = script(answer("200 OK", "", PROFILE));
    let home = home(&server.url(""), "token-file = \"token with space\"");
    home.write("token with space", SECRET, 0o644);
    let found = examine(home.storefront(&QUICK));
    assert_eq!(found.check("customer token").0, "failed");
    assert_ne!(found.code, 0);
    assert!(server.requests().is_empty(), "a token in doubt goes nowhere");
    mend(found.check("customer token").2);
    assert_eq!(examine(home.storefront(&QUICK)).code, 0);
}

#[cfg(unix)]
#[test]
fn snapshots_that_others_may_read_are_a_warning() {
    let env = TestEnv::new();
    env.done("customer update --email doctor@example.com");
    assert_eq!(examine(env.storefront(&QUICK)).check("state directory").0, "ok");
    let snapshots = env.home.state().join("snapshots");
    open(&snapshots, 0o755);
    let found = examine(env.storefront(&QUICK));
    let (state, message, command) = found.check("state directory");
    assert_eq!((found.code, state), (0, "warning"), "{message}");
    mend(command);
    assert_eq!(examine(env.storefront(&QUICK)).check("state directory").0, "ok");
    for file in files_below(&snapshots) {
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(file).unwrap().permissions());
        assert_eq!(mode & 0o077, 0);
    }
}

#[test]
fn the_source_of_a_token_is_named_and_the_token_never() {
    let server = script(answer("200 OK", "", PROFILE));
    for (lines, names) in [
        (format!("token = {SECRET:?}"), "profile"),
        ("token-env = \"SHOP_TOKEN\"".to_owned(), "SHOP_TOKEN"),
        ("token-file = \"token\"".to_owned(), "token"),
        (format!("token-command = [{ECHO}, {SECRET:?}]"), "token-command"),
    ] {
        let home = home(&server.url(""), &lines);
        home.write("token", SECRET, 0o600);
        let found = examine(home.storefront(&[&QUICK[..], &["-vv"]].concat()).env("SHOP_TOKEN", SECRET));
        let (state, message, _) = found.check("customer token");
        assert!(state == "ok" && message.contains(names), "{lines}: {message}");
        // No call shows that the service takes the customer's token for an administrator's.
        assert_eq!(found.check("admin token").0, "skipped");
    }
}

#[test]
fn a_token_that_is_not_there_is_the_finding_and_nothing_is_asked_of_the_service() {
    let server = script(answer("200 OK", "", PROFILE));
    for lines in ["", "token-env = \"SHOP_TOKEN\"", "token-file = \"none\"", "token-command = [\"false\"]"] {
        let found = examine(home(&server.url(""), lines).storefront(&QUICK));
        assert_eq!(found.check("customer token").0, "failed", "{lines}");
        assert!([2, 6].contains(&found.code), "{lines}: {}", found.code);
    }
    assert!(server.requests().is_empty());
}

#[test]
fn an_admin_token_that_is_not_there_keeps_nobody_from_looking_at_the_profile() {
    let env = TestEnv::new();
    env.done("customer update --email doctor@example.com");
    let home = home(&env.url(), "token-env = \"SHOP_TOKEN\"\nadmin-token-env = \"ADMIN\"");
    let found = examine(home.storefront(&QUICK).env("SHOP_TOKEN", "sandbox-customer-1"));
    assert_eq!((found.code, found.check("admin token").0, found.check("profile").0), (6, "failed", "ok"));
}

#[test]
fn a_service_that_is_not_reached() {
    let closed = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    let found = examine(serve(Home::new().storefront(&QUICK), &format!("http://{closed}")));
    let (state, message, mend) = found.check("service");
    assert_eq!((found.code, state), (5, "failed"));
    assert!(message.contains(&closed.to_string()), "{message}");
    assert!(!mend.contains("doctor"), "doctor is no mend of what doctor found: {mend}");
}

#[test]
fn a_certificate_nobody_here_trusts_is_mended_by_ca_file() {
    let authority = Authority::new("Shop CA");
    let script = vec![answer("200 OK", "", PROFILE)];
    let server = MockServer::start_tls(script, authority.server(Odd::Nothing, None));
    let strange = home(&server.url(""), &format!("token = {SECRET:?}"));
    let found = examine(strange.storefront(&QUICK));
    let (state, message, mend) = found.check("service");
    assert_eq!((found.code, state), (5, "failed"));
    // Windows checks certificates itself and has more than one answer to this.
    let says = if cfg!(windows) { "the certificate of " } else { "is signed by an untrusted CA" };
    assert!(message.contains(says) && mend.contains("ca-file"), "{message}: {mend}");
    assert!(server.requests().is_empty());
    let known = home(&server.url(""), &format!("token = {SECRET:?}\nca-file = {:?}", authority.ca_file()));
    let found = examine(known.storefront(&QUICK));
    assert_eq!((found.code, found.check("service").1), (0, "answers, over TLS"), "{}", found.report);
}

#[test]
fn a_profile_that_cannot_be_read_is_told_from_a_service_that_is_not_reached() {
    for (reply, code, says) in [
        (answer("404 Not Found", "", r#"{"message": "no route"}"#), 3, "read.path"),
        (answer("200 OK", "", "<html>Please sign in</html>"), 3, "read.path"),
        (answer("200 OK", "", r#"{"id": 1}"#), 3, "read.addresses"),
    ] {
        let found = examine(serve(Home::new().storefront(&QUICK), &script(reply).url("")));
        let (state, message, mend) = found.check("profile");
        assert_eq!((found.code, state, found.check("service").0), (code, "failed", "ok"), "{message}");
        assert!(mend.contains(says), "{mend}");
    }
    let wrong = script(answer("401 Unauthorized", "", r#"{"message": "expired"}"#));
    let found = examine(serve(Home::new().storefront(&QUICK), &wrong.url("")));
    let (status, message, fix) = found.check("customer token");
    assert_eq!((found.code, status, found.check("service").0), (6, "failed", "ok"), "{message}");
    assert!(fix.contains("new token"), "{fix}");
    let broken = script(answer("500 Internal Server Error", "", ""));
    let found = examine(serve(Home::new().storefront(&QUICK), &broken.url("")));
    assert_eq!((found.code, found.check("service").0), (5, "failed"));
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
fn a_wrong_store_view_and_a_wrong_path_are_each_named_with_their_setting() {
    let env = TestEnv::new();
    let set = |lines: &str, path: &str| {
        let home = home(&format!("{}{path}", env.url()), &format!("token = \"sandbox-customer-1\"\n{lines}"));
        examine(home.storefront(&QUICK))
    };
    let found = examine(env.storefront(&[&QUICK[..], &["--store-view", "defualt"]].concat()));
    let (status, message, fix) = found.check("store view");
    assert_eq!((found.code, status), (3, "failed"), "{message}");
    assert!(fix.contains("--store-view") && !fix.contains("read.path"), "{fix}");
    assert_eq!(found.check("customer token").0, "skipped", "{}", found.report);

    let found = set("", "/wrong");
    let (status, _, fix) = found.check("profile");
    assert_eq!((found.code, status), (3, "failed"), "{}", found.report);
    assert!(fix.contains("base-url") && fix.contains("/wrong"), "{fix}");
    assert_eq!(found.check("store view").0, "skipped", "{}", found.report);
}

#[test]
fn a_state_directory_that_cannot_be_written_is_named_with_its_variable() {
    let env = TestEnv::new();
    let file = env.home.dir.path().join("no directory");
    std::fs::write(&file, "").unwrap();
    let file = file.to_str().unwrap();
    let program = env.storefront(&QUICK).env(STATE_HOME, file);
    let found = examine(program);
    let (status, detail, fix) = found.check("state directory");
    assert_eq!((found.code, status), (1, "failed"), "{detail}");
    assert!(detail.contains(file) && fix.contains(STATE_HOME), "{detail}: {fix}");
}
