//! Input files that are missing, unreadable, invalid or too large: a short message, and nothing changed.

use snapbox::str;

use crate::support::raw_http::{CUSTOMER, ITEM};
use crate::support::test_env::TestEnv;

#[test]
#[cfg(unix)]
fn an_unreadable_file_is_refused() {
    use std::os::unix::fs::PermissionsExt as _;
    let env = TestEnv::new();
    let path = env.file("secret.json", "{}");
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o000)).unwrap();
    if std::fs::read(&path).is_ok() {
        return; // root may read everything
    }
    env.run("quote add-item -i secret.json")
        .assert_failure(2, str!["error: cannot read `secret.json`: Permission denied (os error 13)"]);
}

#[test]
fn an_input_of_33_megabytes_gives_a_short_message() {
    let env = TestEnv::new();
    let program = || env.storefront("quote add-item -i -");
    let value = format!("{{\"sku\": \"{}\", \"qty\": 1}}", "x".repeat(33 << 20));
    program().stdin(value).run().assert_failure(4, str![[r#"
quote add-item: host 127.0.0.1:[PORT], store view default
error: the service answered 413 Payload Too Large: The request body is larger than 33554432 bytes, or was cut off
"#]]);
    program().stdin(format!("{{\"{}\": 1}}", "x".repeat(4 << 20))).run().assert_failure(
        2,
        str![[r#"
error: cartItem.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…: unknown field
  hint: fix the input, or send unknown fields unchanged with --allow-unknown
"#]],
    );
    let raw = env.sandbox.call(CUSTOMER, "POST", ITEM, &"x".repeat(33 << 20));
    assert_eq!(raw.status, 413, "the answer arrives although the body was not read");
    assert_eq!(env.requests(), ["POST 413", "POST 413"]);
}
