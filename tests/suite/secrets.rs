//! Tokens are in no output of any command in any mode, and in no file.

use std::path::Path;

use snapbox::str;

use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::raw_http::{ADMIN, CUSTOMER};
use crate::support::storefront::{Home, Outcome};
use crate::support::test_env::{TestEnv, files_below};

const PLANTED: &str = "planted-tok3n-f1e2d3c4";
const PLANTED_ADMIN: &str = "planted-adm1n-a5b6c7d8";

const COMMANDS: [&str; 10] = [
    "customer show",
    "customer update --address 2 --city Troy --settle 0",
    "history",
    "undo LAST -y --settle 0",
    "quote ship --ship-to-address 1 --bill-same-as-ship --carrier flatrate --method flatrate --payment-method checkmo",
    "quote add-item --sku mug-blue --qty 1 --quote-id 1",
    "attribute create --code fabric --type text",
    "auth status",
    "config list",
    "config get -p shop token",
];
const MODES: [&str; 5] = ["-vv", "-vv -o json", "-v --color always", "-vv -n", "-vv -n --curl -o json"];

/// Runs a command with planted tokens in the profile, against this service.
fn planted(home: &Home, url: &str, line: &str) -> Outcome {
    let profile = format!(
        "default-profile = \"shop\"\n[profiles.shop]\nbase-url = \"{url}\"\nstore-view = \"default\"\n\
         token = \"{PLANTED}\"\nadmin-token = \"{PLANTED_ADMIN}\"\n"
    );
    home.write("config.toml", profile, 0o600);
    home.run(line)
}

#[track_caller]
fn clean(what: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for secret in [PLANTED, PLANTED_ADMIN, CUSTOMER, ADMIN] {
        assert!(!text.contains(secret), "{secret} in {what}: {text}");
    }
}

/// No file of a home but the configuration holds a token.
fn clean_files(home: &Path) {
    for path in files_below(home) {
        if !path.ends_with("config.toml") && !path.to_string_lossy().contains("service.db") {
            clean(&path.display().to_string(), &std::fs::read(&path).unwrap());
        }
    }
}

/// A service that echoes the tokens in its headers and body, with any status.
fn echo(status: &str) -> MockServer {
    let body = format!(
        r#"{{"message": "Bearer {PLANTED} / {PLANTED_ADMIN} is not %1", "parameters": ["{PLANTED}"], "addresses": [], "id": 1}}"#
    );
    let headers =
        format!("X-Echo: Bearer {PLANTED}\r\nLocation: https://other.example/?token={PLANTED_ADMIN}\r\n");
    MockServer::start(vec![answer(status, &headers, &body)])
}

#[test]
fn no_output_of_any_command_holds_a_token() {
    for status in ["200 OK", "302 Found", "401 Unauthorized"] {
        let (home, server) = (Home::new(), echo(status));
        for command in COMMANDS {
            for mode in MODES {
                let line = format!("{command} {mode} --retry 0");
                let outcome = planted(&home, &server.url(""), &line);
                let own = |text: &str, token: &str| text.replace(token, "");
                // Each call masks the token that it sends, not another one that the service echoes.
                let carried = if command.starts_with("attribute") { PLANTED_ADMIN } else { PLANTED };
                let other = if carried == PLANTED { PLANTED_ADMIN } else { PLANTED };
                clean(&line, own(&outcome.stdout, other).as_bytes());
                clean(&line, own(&outcome.stderr, other).as_bytes());
            }
        }
        assert!(server.requests().iter().any(|request| request.contains(PLANTED)), "the token did go out");
    }
}

#[test]
fn a_token_is_shown_as_three_dots() {
    let (home, server) = (Home::new(), echo("200 OK"));
    let outcome = planted(&home, &server.url(""), "quote add-item --sku a --qty 1 --quote-id 1 -vv");
    outcome.assert(
        0,
        str![[r#"
Added 1 × a to quote 1
Response: {"message":"Bearer ••• / ••• is not %1","parameters":["•••"],"addresses":[],"id":1}
"#]],
        str![[r#"
quote add-item: profile shop, host 127.0.0.1:[PORT], store view default
> POST http://127.0.0.1:[PORT]/V1/storeview/default/user/quote/item
> accept: application/json
> user-agent: storefront/[VERSION]
> authorization: •••
> content-type: application/json
> {"cartItem":{"sku":"a","qty":1,"quote_id":"1"}}
< 200, 147 bytes, [DURATION]
< x-echo: Bearer •••
< location: https://other.example/?token=•••
< content-length: 147
< {"message": "Bearer ••• / ••• is not %1", "parameters": ["•••"], "addresses": [], "id": 1}
"#]],
    );
    for (line, stdout) in [
        (
            "quote add-item --sku a --qty 1 --quote-id 1 -n",
            str![[r#"
quote add-item: dry run
POST http://127.0.0.1:[PORT]/V1/storeview/default/user/quote/item
{
  "cartItem": {
    "sku": "a",
    "qty": 1,
    "quote_id": "1"
  }
}
"#]],
        ),
        (
            "quote add-item --sku a --qty 1 --quote-id 1 -n --curl",
            str![[
                r#"curl --request POST --globoff http://127.0.0.1:[PORT]/V1/storeview/default/user/quote/item --header "Authorization: Bearer $STOREFRONT_TOKEN" --header 'Content-Type: application/json' --data-raw '{"cartItem":{"sku":"a","qty":1,"quote_id":"1"}}'"#
            ]],
        ),
        (
            "attribute create --code a -n --curl",
            str![[
                r#"curl --request POST --globoff http://127.0.0.1:[PORT]/V1/admin/product/attribute/ --header "Authorization: Bearer ${STOREFRONT_ADMIN_TOKEN:-$STOREFRONT_TOKEN}" --header 'Content-Type: application/json' --data-raw '{"attribute":{"attribute_code":"a","entity_type_id":"4"}}'"#
            ]],
        ),
        ("config get token", str!["•••"]),
    ] {
        planted(&home, &server.url(""), line).assert_success(stdout);
    }
    let [customer, admin] = if cfg!(windows) {
        ["$env:STOREFRONT_TOKEN", "$(if ($env:STOREFRONT_ADMIN_TOKEN)"]
    } else {
        ["$STOREFRONT_TOKEN", "${STOREFRONT_ADMIN_TOKEN:-$STOREFRONT_TOKEN}"]
    };
    for (line, token) in [
        ("quote add-item --sku a --qty 1 --quote-id 1 -n --curl", customer),
        ("attribute create --code a -n --curl", admin),
    ] {
        let outcome = planted(&home, &server.url(""), line);
        assert!(outcome.stdout.contains(&format!("\"Authorization: Bearer {token}")), "{outcome:?}");
    }
}

#[test]
fn no_fault_reveals_a_token_and_no_file_stores_one() {
    for fault in [
        "429=0",
        "500",
        "502",
        "503",
        "html",
        "empty",
        "truncated",
        "reset-before-commit",
        "reset-after-commit",
        "no-get",
        "envelope",
        "error-shape=messages",
        "error-shape=result",
        "error-shape=errors",
        "drop-address",
        "PUT:500-after-commit",
        "silent-update",
        "latency=700",
    ] {
        let env = TestEnv::with_faults(&[fault]);
        for command in &COMMANDS[..7] {
            let outcome = env.run(&format!("{command} -vv -o json --retry 0 --timeout 0.3"));
            clean(&format!("{command} with {fault}"), outcome.stdout.as_bytes());
            clean(&format!("{command} with {fault}"), outcome.stderr.as_bytes());
        }
        clean_files(env.home.dir.path());
    }
}

#[test]
fn no_output_holds_a_token_of_any_source() {
    let server = MockServer::start(vec![Step::Answer(
        b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 2\r\n\r\n{}".to_vec(),
    )]);
    let home = Home::new();
    home.write("token.txt", PLANTED, 0o600);
    for source in [
        "token-file = \"token.txt\"".to_owned(),
        format!("token-command = [\"echo\", \"{PLANTED}\"]"),
        "token-env = \"ELSEWHERE\"".to_owned(),
        format!("token-command = [\"sh\", \"-c\", \"echo {PLANTED} >&2; exit 3\"]"),
        format!("token-command = [\"sh\", \"-c\", \"echo {PLANTED}; echo {PLANTED}\"]"),
    ] {
        let url = server.url("");
        home.write(
            "config.toml",
            format!("[profiles.shop]\nbase-url = \"{url}\"\nstore-view = \"fr\"\n{source}\n"),
            0o600,
        );
        for line in ["customer show -p shop -vv", "customer show -p shop -vv -o json", "auth status -p shop"]
        {
            let outcome = home.storefront(line).env("ELSEWHERE", PLANTED).run();
            assert!(!outcome.stdout.contains(PLANTED), "{source}: {outcome:?}");
            // The standard error of the user's own command is passed through.
            let stderr = if source.contains(">&2") { String::new() } else { outcome.stderr.clone() };
            assert!(!stderr.contains(PLANTED), "{source}: {outcome:?}");
        }
    }
}

#[test]
#[cfg(unix)]
fn files_with_customer_data_are_readable_by_their_owner_only() {
    use std::os::unix::fs::PermissionsExt as _;
    let env = TestEnv::new();
    env.done("customer update --address 2 --city Troy");
    env.home.ok("customer update --sandbox --address 2 --city Troy -q");
    let mut looked_at = 0;
    for path in files_below(env.home.dir.path()) {
        let holds =
            String::from_utf8_lossy(&std::fs::read(&path).unwrap()).contains("amina.haddad@example.com");
        if !holds || path.to_string_lossy().contains("service.db") {
            continue;
        }
        looked_at += 1;
        let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&path), 0o600, "{}", path.display());
        assert_eq!(mode(path.parent().unwrap()) & 0o077, 0, "{}", path.display());
    }
    assert!(looked_at >= 2, "the log and the sandbox's database, at least: {looked_at}");
}
