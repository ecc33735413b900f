//! Input files that are missing, unreadable, invalid or too large: a short message, and nothing changed.

use snapbox::str;

use crate::support::raw_http::{CUSTOMER, ITEM};
use crate::support::test_env::TestEnv;

#[test]
fn invalid_input_files_are_refused() {
    let env = TestEnv::new();
    std::fs::create_dir(env.home.dir.path().join("directory")).unwrap();
    for (name, content) in [
        ("empty.json", &b""[..]),
        ("half.json", b"{\"sku\": \"a"),
        ("latin.json", b"{\"sku\": \"Gr\xfcn\"}"),
        ("two.json", b"{} {}"),
        ("deep.json", &[b'['; 9000]),
    ] {
        env.file(name, content);
    }
    for (file, stderr) in [
        (
            "nowhere.json",
            str![[r#"
error: file `nowhere.json` not found
  No changes were made.
"#]],
        ),
        (
            "directory",
            str![[r#"
error: `directory` is a directory, not a file
  No changes were made.
"#]],
        ),
        (
            "empty.json",
            str![[r#"
error: `empty.json` is empty
  No changes were made.
"#]],
        ),
        (
            "half.json",
            str![[r#"
error: `half.json` is not valid JSON: EOF while parsing a string at line 1 column 10
  No changes were made.
"#]],
        ),
        (
            "latin.json",
            str![[r#"
error: `latin.json` is not UTF-8: line 1
  No changes were made.
  hint: save it as UTF-8 (in a spreadsheet: as CSV UTF-8), or name the encoding of --input: --encoding windows-1252
"#]],
        ),
        (
            "two.json",
            str![[r#"
error: `two.json` is not valid JSON: trailing characters at line 1 column 4
  No changes were made.
"#]],
        ),
        (
            "deep.json",
            str![[r#"
error: `deep.json` is not a JSON array of records: EOF while parsing a list at line 1 column 9000
  No changes were made.
"#]],
        ),
    ] {
        for command in ["customer update", "quote ship", "quote add-item", "attribute create"] {
            env.run(&format!("{command} -i {file}")).assert_failure(2, stderr.clone());
        }
    }
    env.storefront("quote add-item -i -").stdin([0xff, 0x41]).run().assert_failure(
        2,
        str![[r#"
error: stdin is not UTF-8: line 1
  No changes were made.
  hint: save it as UTF-8 (in a spreadsheet: as CSV UTF-8), or name the encoding of --input: --encoding windows-1252
"#]],
    );
    env.run("attribute create --code a --options directory").assert_failure(
        2,
        str![[r#"
error: `directory` is a directory, not a file
  No changes were made.
"#]],
    );
    env.run("customer update --email a@example.com --base directory").assert_failure(
        2,
        str![[r#"
error: `directory` is a directory, not a file
  No changes were made.
"#]],
    );
    assert_eq!(env.requests(), [""; 0]);
}

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
fn an_input_of_fifty_megabytes_gives_a_short_message() {
    let env = TestEnv::new();
    let program = || env.storefront("quote add-item -i -");
    let value = format!("{{\"sku\": \"{}\", \"qty\": 1}}", "x".repeat(50 << 20));
    program().stdin(value).run().assert_failure(4, str![[r#"
quote add-item: host 127.0.0.1:[PORT], store view default
error: the service answered 413 Payload Too Large: The request body is larger than 33554432 bytes, or was cut off
  No changes were made.
"#]]);
    program().stdin(format!("{{\"{}\": 1}}", "x".repeat(4 << 20))).run().assert_failure(
        2,
        str![[r#"
error: cartItem.xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx…: unknown field
  No changes were made.
  hint: fix the input, or send unknown fields unchanged with --allow-unknown
"#]],
    );
    let raw = env.sandbox.call(CUSTOMER, "POST", ITEM, &"x".repeat(50 << 20));
    assert_eq!(raw.status, 413, "the answer arrives although the body was not read");
    assert_eq!(env.requests(), ["POST 413", "POST 413"]);
}
