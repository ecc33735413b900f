//! A token that a service echoes is masked in every spelling, and is sent unmasked.

use snapbox::str;

use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::storefront::{Home, Outcome};
use crate::support::test_env::{files_below, log, serve};

/// As base64 writes secrets.
const TOKEN: &str = "aB1/c2+d3/e4=";
const ITEM: &str = "quote add-item --sku a --qty 1 --quote-id 1";

fn spellings() -> [&'static str; 4] {
    [TOKEN, r"aB1\/c2+d3\/e4=", "aB1%2Fc2%2Bd3%2Fe4%3D", "aB1%2fc2%2bd3%2fe4%3d"]
}

fn run(home: &Home, server: &MockServer, line: &str) -> Outcome {
    serve(home.storefront(line), &server.url("")).env("STOREFRONT_TOKEN", TOKEN).run()
}

fn file(home: &Home, name: &str, content: &str) {
    std::fs::write(home.dir.path().join(name), content).unwrap();
}

/// Nothing of the token in any spelling, nor a good part of it.
#[track_caller]
fn clean(what: &str, text: &str) {
    for part in ["aB1", "d3/e4", r"d3\/e4", "aB1%2F", "2Fc2"] {
        assert!(!text.contains(part), "{part} of the token in {what}: {text}");
    }
}

#[test]
fn every_spelling_of_the_token_in_an_error_body_is_masked() {
    for spelled in spellings() {
        let bodies = [
            format!(r#"{{"message":"Bearer {spelled} is wrong","trace":{{"{spelled}":["{spelled}"]}}}}"#),
            format!(r#"{{"message":"no %a","parameters":{{"a":"{spelled}"}}}}"#),
            format!("<html><title>{}</title></html>", spelled.replace(['\\', '"'], "")),
            format!("broken {{ {spelled}"),
        ];
        for body in bodies.iter().filter(|body| !body.starts_with('<') || !spelled.contains('\\')) {
            let headers = format!("X-Echo: {spelled}\r\nLocation: https://other.example/?t={spelled}\r\n");
            for status in ["400 Bad Request", "302 Found", "401 Unauthorized"] {
                let (home, server) = (Home::new(), MockServer::start(vec![answer(status, &headers, body)]));
                for mode in ["", "-vv -o json"] {
                    let outcome = run(&home, &server, &format!("{ITEM} --retry 0 {mode}"));
                    clean(
                        &format!("{status} {mode} {body}"),
                        &format!("{}{}", outcome.stdout, outcome.stderr),
                    );
                    assert!(outcome.stderr.contains("•••"), "{outcome:?}");
                }
            }
        }
    }
}

#[test]
fn a_token_in_two_pieces_is_masked_when_a_placeholder_joins_them() {
    let (first, second) = TOKEN.split_at(6);
    let body = format!(r#"{{"message":"it is %1%2","parameters":["{first}","{second}"]}}"#);
    let (home, server) = (Home::new(), MockServer::start(vec![answer("400 Bad Request", "", &body)]));
    let outcome = run(&home, &server, ITEM);
    outcome.assert_failure(
        4,
        str![[r#"
quote add-item: host 127.0.0.1:[PORT], store view default
error: the service answered 400 Bad Request: it is •••
  hint: check whether it took effect before you try again
"#]],
    );
}

#[test]
fn a_token_cut_off_at_the_end_of_a_message_is_masked() {
    let body = format!("{}{TOKEN}", "x".repeat(592));
    let (home, server) = (Home::new(), MockServer::start(vec![answer("400 Bad Request", "", &body)]));
    let outcome = run(&home, &server, ITEM);
    outcome.assert_failure(4, str![[r#"
quote add-item: host 127.0.0.1:[PORT], store view default
error: the service answered 400 Bad Request: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx••…
  hint: check whether it took effect before you try again
"#]]);
}

#[test]
fn a_reply_is_shown_without_the_token_and_stays_json() {
    for spelled in &spellings()[..3] {
        let body = format!(
            r#"{{"id":1,"{spelled}":{{"deep":["x {spelled}"]}},"n":1E2,"addresses":[{{"id":1,"city":"{spelled}"}}]}}"#
        );
        let (home, server) = (Home::new(), MockServer::start(vec![answer("200 OK", "", &body)]));
        for line in [
            ITEM,
            "quote add-item --sku a --qty 1 --quote-id 1 -o json",
            "api GET /V1/x",
            "api GET /V1/x -o json",
            "customer show",
            "customer show -o json",
            "customer show --jq .",
            "customer show --jq .addresses[0].city",
            "customer show --jq env.STOREFRONT_TOKEN",
            "customer show --jq [env]",
            "customer update --address 1 --telephone 1 -n",
            "customer update --address 1 --telephone 1 -n -o json",
            "customer update --address 1 --telephone 1 -n --curl",
        ] {
            let outcome = run(&home, &server, &format!("{line} -vv"));
            clean(line, &format!("{}{}", outcome.stdout, outcome.stderr));
            if line.contains("json") || line.starts_with("api") {
                let shown: serde_json::Value =
                    serde_json::from_str(&outcome.stdout).unwrap_or_else(|_| panic!("{line}: {outcome:?}"));
                assert!(outcome.stdout.contains("•••") && shown.to_string().contains("1e+2"), "{outcome:?}");
            }
        }
    }
}

#[test]
fn a_profile_that_contains_the_token_is_sent_and_stored_unmasked() {
    let stored = format!(
        r#"{{"id":1,"note":"{TOKEN}","addresses":[{{"id":1,"city":"Rome","telephone":"{TOKEN}"}}]}}"#
    );
    let (home, server) = (Home::new(), MockServer::start(vec![answer("200 OK", "", &stored)]));
    let outcome = run(&home, &server, "customer update --address 1 --city Oslo -q --retry 0 --settle 0");
    clean("the output", &format!("{}{}", outcome.stdout, outcome.stderr));
    let put = server.requests().into_iter().find(|request| request.starts_with("PUT")).unwrap();
    let sent = stored.replace("Rome", "Oslo");
    assert!(put.ends_with(&format!(r#"{{"customer":{sent}}}"#)), "{put}");
    let both = "SELECT stored || sent FROM document";
    let kept: String = log(&home).unwrap().query_row(both, [], |row| row.get(0)).unwrap();
    assert_eq!(kept.matches(TOKEN).count(), 4, "as it was and as it was sent: {kept}");
    let history = run(&home, &server, "history -o json");
    clean("the history", &history.stdout);
}

#[test]
fn a_masked_value_in_the_input_is_refused() {
    let stored = format!(r#"{{"id":1,"addresses":[{{"id":1,"city":"Rome","telephone":"+{TOKEN}"}}]}}"#);
    let (home, server) = (Home::new(), MockServer::start(vec![answer("200 OK", "", &stored)]));
    let shown = run(&home, &server, "customer show -o json").stdout;
    assert!(shown.contains("+•••"), "{shown}");
    let update = |input: String| {
        file(&home, "edit.json", &input);
        run(&home, &server, "customer update -i edit.json --allow-unknown -q -o json --retry 0")
    };
    let read = server.requests().len();
    let outcome = update(shown.replace("Rome", "Oslo"));
    outcome.assert_failure(2, str![[r#"{"error":{"kind":"usage","message":"`customer.addresses[0].telephone` contains `•••`, the placeholder for a masked token","hint":"enter the actual value, or omit the field to keep the stored one","status":null,"applied":"no","service":null}}"#]]);
    assert_eq!(server.requests().len(), read);
}

#[test]
fn tokens_and_escape_sequences_are_in_no_journal_row_or_result() {
    let body = format!(
        r#"{{"message":"not {} \u001b]0;x\u0007 \u009b2J \u202e","errors":[{{"{TOKEN}":"\u200f"}}]}}"#,
        TOKEN.replace('/', r"\/")
    );
    let server = MockServer::start(vec![answer("400 Bad Request", "", &body)]);
    for (mode, name, input) in [
        (
            "-o json",
            "in.ndjson",
            format!("{{\"sku\":\"a\",\"qty\":1,\"quote_id\":\"1\",\"token\":\"{TOKEN}\"}}\n"),
        ),
        ("", "in.csv", format!("sku,qty,quote_id,token\na,1,1,{TOKEN}\n")),
    ] {
        let home = Home::new();
        file(&home, name, &input);
        let line = format!("quote add-item -i {name} --yes --retry 0 {mode}");
        let outcome = serve(home.storefront(&line), &server.url("")).run();
        assert_eq!(outcome.code, 7, "{outcome:?}");
        let rows = home.run(&format!("history {name}.journal --state failed --rows"));
        assert!(rows.stdout.contains('a') && !rows.stdout.contains("token"), "without its token: {rows:?}");
        let rows = rows.stdout;
        let journal = files_below(home.dir.path())
            .into_iter()
            .find(|path| path.extension().is_some_and(|it| it == "journal"))
            .map(|path| std::fs::read_to_string(path).unwrap())
            .unwrap();
        clean("the journal", &journal);
        clean("the output", &format!("{}{}", outcome.stdout, outcome.stderr));
        for text in [&rows, &journal, &outcome.stderr] {
            assert!(!text.contains(['\u{1b}', '\u{9b}', '\u{202e}', '\u{7}']), "{text:?}");
        }
        assert!(rows.contains("not ••• \\") && journal.contains("not ••• \\"), "{rows}{journal}");
    }
}

#[test]
fn an_error_object_is_json_for_any_control_characters() {
    let body = r#"{"message":"שם \u200f\u202e\u2066\u007f\u009b2J\udb40\udc41 é"}"#;
    let (home, server) = (
        Home::new(),
        MockServer::start(vec![Step::Answer(crate::support::mock_server::reply(
            "400 Bad Request",
            "",
            body,
        ))]),
    );
    let outcome = run(&home, &server, &format!("{ITEM} -q -o json"));
    let error: serde_json::Value = serde_json::from_str(&outcome.stderr).unwrap();
    assert!(error["error"]["message"].as_str().unwrap().contains('\u{200f}'));
    assert!(!outcome.stderr.contains(['\u{200f}', '\u{202e}', '\u{2066}', '\u{7f}', '\u{9b}', '\u{e0041}']));
}
