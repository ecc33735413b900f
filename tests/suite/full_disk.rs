//! A full disk, or a directory that cannot be written: what could not be recorded is not sent, and the message says so.

use snapbox::str;

use crate::support::scripted::UPDATE;
use crate::support::storefront::Home;
use crate::support::test_env::{TestEnv, updates};

#[cfg(unix)]
#[test]
fn a_log_that_cannot_be_written_stops_the_update() {
    let env = TestEnv::new();
    let update = "customer update --address 2 --city Troy -q";
    let outcome = env.storefront(update).shell(r#"trap '' XFSZ; ulimit -f 0; exec "$@""#);
    outcome.assert_failure(
        3,
        str![[r#"
error: the log `[HOME]/state/storefront/log.db` cannot be used: disk I/O error
  hint: nothing is sent that cannot be noted: check the directory, or set XDG_STATE_HOME to another one
"#]],
    );
    let outcome = env.storefront(update).env("XDG_STATE_HOME", "/dev/null").run();
    outcome.assert_failure(1, str![[r#"
error: the lock `/dev/null/storefront/locks/localhost%3A[PORT].token-511784b483ef17d5.lock` cannot be used: File exists (os error [N])
  hint: nothing is written without the lock: free some space, or set XDG_STATE_HOME
"#]]);
    assert!(!env.requests().iter().any(|heard| heard.starts_with("PUT")));
    assert!(updates(&env.home).is_empty());
}

#[cfg(unix)]
#[test]
fn a_full_disk_under_the_sandbox_is_reported() {
    let home = Home::new();
    let small = r#"trap '' XFSZ; ulimit -f 16; exec "$@""#;
    home.storefront("customer show --sandbox").shell(small).assert_failure(
        2,
        str!["error: `[HOME]/data/storefront/sandbox.db` is not a readable SQLite database: disk I/O error"],
    );
    let home = Home::new();
    home.ok("customer show --sandbox -o json");
    let long =
        format!(r#"{{"attribute_code": "fabric", "default_frontend_label": "{}"}}"#, "x".repeat(300_000));
    let program = home.storefront("attribute create --sandbox -i - -q --force").stdin(long);
    let outcome = program.shell(r#"trap '' XFSZ; ulimit -f 500; exec "$@""#);
    outcome.assert_failure(
        8,
        str![[r#"
warning: the label `xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…` has more than 255 characters
error: the service answered 500 Internal Server Error: The sandbox could not use its database: disk I/O error
  Changes may have been made.
  hint: check whether it took effect before you try again
"#]],
    );
    home.ok("attribute create --sandbox --code fabric --label Fabric --type text");
}

#[test]
fn an_unwritable_state_directory_sends_nothing() {
    let env = TestEnv::new();
    env.file(if cfg!(windows) { "data" } else { "state" }, "in the way");
    let outcome = env.run(UPDATE);
    assert!(outcome.stderr.contains(storefront::system::environment::STATE_HOME), "{outcome:?}");
    outcome.assert_failure(1, str![[r#"
error: the lock `[HOME]/state/storefront/locks/localhost%3A[PORT].token-511784b483ef17d5.lock` cannot be used: File exists (os error [N])
  hint: nothing is written without the lock: free some space, or set XDG_STATE_HOME
"#]]);
    assert!(!env.requests().iter().any(|request| request.starts_with("PUT")));
}

/// As in a container whose home is read-only: nothing would be better at the next restart.
#[test]
fn a_batch_without_a_state_directory_ends_as_a_single_command_does() {
    let env = TestEnv::new();
    env.file(if cfg!(windows) { "data" } else { "state" }, "in the way");
    env.home.write("items.csv", "quote_id,sku,qty\n1,mug-blue,1\n1,umbrella,1\n", 0o600);
    env.home.write("moves.csv", "address_id,city\n2,Troy\n3,Rome\n", 0o600);
    for (command, file) in [("quote add-item", "items.csv"), ("customer update", "moves.csv")] {
        let outcome = env.run(&format!("{command} --input {} -y", env.home.path(file).display()));
        assert_eq!(outcome.code, 1, "{outcome:?}");
        assert!(outcome.stderr.contains(storefront::system::environment::STATE_HOME), "{outcome:?}");
        assert!(!env.home.path(&format!("{file}.journal")).exists(), "nothing to resume");
    }
    assert!(!env.requests().iter().any(|request| !request.starts_with("GET")));
}
