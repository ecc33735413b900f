//! `doctor`: each finding with its fix, and the exit code of the first failure.

use std::path::Path;
use std::process::Command;

use snapbox::str;
use storefront::system::environment::STATE_HOME;

use crate::support::doctor::{PROFILE, QUICK, examine, home, script};
use crate::support::http_client::SECRET;
use crate::support::mock_server::answer;
use crate::support::snapshot::assert_snapshot;
use crate::support::storefront::Home;
use crate::support::test_env::{TestEnv, files_below};

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
                         → to try it with no account, add --sandbox; for a real service, run `storefront config init`, or set STOREFRONT_API=magento, STOREFRONT_BASE_URL and STOREFRONT_ADMIN_TOKEN
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
fn a_state_directory_that_others_can_read_is_a_warning() {
    let env = TestEnv::new();
    env.done("customer update --email doctor@example.com");
    assert_eq!(examine(env.storefront(&QUICK)).check("state directory").0, "ok");
    let state = env.home.state();
    open(&state, 0o755);
    let found = examine(env.storefront(&QUICK));
    assert_eq!(found.code, 0);
    assert_snapshot(
        &found.text("state directory"),
        str![[r#"
warning: `[HOME]/state/storefront` contains customer data and is accessible to other users
→ run `chmod 700 [HOME]/state/storefront`
"#]],
    );
    apply_fix(found.check("state directory").2);
    assert_eq!(examine(env.storefront(&QUICK)).check("state directory").0, "ok");
    let files = files_below(&state);
    assert!(!files.is_empty());
    for file in files {
        let mode = std::os::unix::fs::PermissionsExt::mode(&std::fs::metadata(file).unwrap().permissions());
        assert_eq!(mode & 0o077, 0);
    }
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
