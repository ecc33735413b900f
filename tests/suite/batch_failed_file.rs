//! `--failed`: the records that failed for good, written as the input is, and never over somebody's work.

use serde_json::json;

use crate::support::batch::{attributes, created, lines};
use crate::support::mock_server::{MockServer, answer};
use crate::support::test_env::{TestEnv, serve, words};

fn read(env: &TestEnv, name: &str) -> Vec<u8> {
    std::fs::read(env.home.dir.path().join(name)).unwrap()
}

#[test]
fn an_edited_file_is_never_overwritten_and_the_hint_is_to_run_it() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(4).replace("code_2,", "Bad,").replace("code_3,", "Bad 3,"));
    let failed = env.run("attribute create -i a.csv --failed fix.csv -o json");
    assert_eq!(failed.code, 7, "{failed:?}");
    let hint = failed.error()["hint"].as_str().unwrap().to_owned();
    assert!(hint.contains("`storefront attribute create -o json --input fix.csv`"), "{hint}");
    assert!(!hint.contains("--resume"), "{hint}");
    // As it was left, it is written anew.
    let again = env.run("attribute create -i a.csv --failed fix.csv --resume");
    assert_eq!(again.code, 7, "{again:?}");
    let fixed =
        String::from_utf8(read(&env, "fix.csv")).unwrap().replace("Bad 3", "code_3").replace("Bad", "code_2");
    env.file("fix.csv", &fixed);
    env.requests();
    let refused = env.run("attribute create -i a.csv --failed fix.csv --resume");
    assert!(refused.code == 3 && refused.stderr.contains("was changed since"), "{refused:?}");
    assert_eq!(String::from_utf8(read(&env, "fix.csv")).unwrap(), fixed);
    assert_eq!(env.run("attribute create --input fix.csv").code, 0);
    let mut found = created(&env);
    found.sort_unstable();
    assert_eq!(found, [1, 2, 3, 4]);
}

#[test]
fn each_record_is_in_one_place_only() {
    // Done, failed for good, unknown, failed for a reason that may pass.
    let script = vec![
        answer("200 OK", "", "{}"),
        answer("404 Not Found", "", "{}"),
        answer("500 Internal Server Error", "", "{}"),
        answer("429 Too Many Requests", "", "{}"),
    ];
    let server = MockServer::start(script);
    let env = TestEnv::new();
    env.file("a.csv", attributes(4));
    let line = words("attribute create -i a.csv --failed fix.csv --jobs 1 --retry 0 -o json");
    let outcome = serve(env.home.storefront(&line), &server.url("")).run();
    let applied: Vec<_> = lines(&outcome).iter().map(|line| line["applied"].clone()).collect();
    assert_eq!(applied, [json!("yes"), json!("no"), json!("unknown"), json!("no")], "{outcome:?}");
    let text = String::from_utf8(read(&env, "fix.csv")).unwrap();
    let codes: Vec<&str> = text.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    assert_eq!(codes, ["code_2"], "{text}");
    let hint = outcome.error()["hint"].as_str().unwrap().to_owned();
    for part in ["--input fix.csv", "--resume`", "--retry-unknown"] {
        assert!(hint.contains(part), "{part}: {hint}");
    }
}

#[test]
fn encoding_and_line_ends_are_those_of_the_input() {
    let text = attributes(2).replace("code_2,", "Bad,").replace("Label", "Größe").replace('\n', "\r\n");
    let env = TestEnv::new();
    env.file("a.csv", format!("\u{feff}{text}"));
    assert_eq!(env.run("attribute create -i a.csv --failed fix.csv").code, 7);
    let written = String::from_utf8(read(&env, "fix.csv")).unwrap();
    let rows: Vec<&str> = written.split_inclusive('\n').collect();
    assert!(written.starts_with('\u{feff}') && rows.len() == 2, "{written:?}");
    assert!(
        rows.iter().all(|row| row.ends_with("\r\n")) && written.contains("Bad,Größe 2,text,"),
        "{written:?}"
    );
    let ndjson =
        "{\"attribute_code\":\"Bad\",\"default_frontend_label\":\"x\",\"frontend_input\":\"text\"}\r\n";
    env.file("a.ndjson", ndjson);
    assert_eq!(env.run("attribute create -i a.ndjson --failed fix.ndjson").code, 7);
    let written = String::from_utf8(read(&env, "fix.ndjson")).unwrap();
    assert!(written.starts_with(&ndjson[..40]) && written.ends_with("\"}\r\n"), "{written:?}");
}

#[test]
fn a_journal_is_shown_record_by_record() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(3).replace("code_2,", "Bad,"));
    assert_eq!(env.run("attribute create -i a.csv").code, 7);
    let shown = env.run("journal show a.csv.journal -o json");
    let rows = lines(&shown);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert_eq!(
        rows[0],
        json!({"record": 1, "line": 2, "key": "code_1", "state": "done", "status": 200, "reason": null})
    );
    assert_eq!((&rows[1]["state"], &rows[1]["key"]), (&json!("failed"), &json!("Bad")));
    assert!(rows[1]["reason"].as_str().unwrap().contains("400"), "{rows:?}");
    let csv = env.run("journal show a.csv.journal --csv").stdout;
    assert!(
        csv.starts_with("record,line,key,state,status,reason\n1,2,code_1,done,200,\n2,3,Bad,failed,400,"),
        "{csv}"
    );
    let table = env.run("journal show a.csv.journal").stdout;
    assert!(table.contains("RECORD") && table.contains("code_3"), "{table}");
    std::fs::remove_file(env.home.dir.path().join("a.csv")).unwrap();
    let alone = lines(&env.run("journal show a.csv.journal -o json"));
    assert_eq!((alone.len(), &alone[2]["key"], &alone[2]["line"]), (3, &json!(null), &json!(null)));
    env.file("other.txt", "hello\n");
    assert_eq!(env.run("journal show other.txt").code, 3);
}
