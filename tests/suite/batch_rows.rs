//! `history`: what became of each record, and with `--rows` the records as they stand in the input.

use serde_json::json;
use snapbox::str;

use crate::support::batch::{attributes, lines};
use crate::support::test_env::TestEnv;

#[test]
fn a_journal_is_shown_record_by_record() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(3).replace("code_2,", "Bad,"));
    assert_eq!(env.run("attribute create -i a.csv").code, 7);
    let shown = env.run("history a.csv.journal -o json");
    let mut rows = lines(&shown);
    assert_eq!(shown.code, 0, "{shown:?}");
    let time = rows[0].as_object_mut().unwrap().shift_remove("time").unwrap();
    assert!(time.as_str().unwrap().ends_with('Z'), "{time}");
    assert_eq!(rows[0], json!({"line": 2, "key": "code_1", "state": "done", "status": 200, "reason": null}));
    assert_eq!((&rows[1]["state"], &rows[1]["key"]), (&json!("failed"), &json!("Bad")));
    env.run("history a.csv.journal --csv").assert_success(str![[r#"
line,key,state,time,status,reason
2,code_1,done,[TIME],200,
3,Bad,failed,[TIME],400,"the service answered 400 Bad Request: Invalid value of ""Bad"" provided for the attribute_code field"
4,code_3,done,[TIME],200,
"#]]);
    env.run("history a.csv.journal").assert(0, str![[r#"
LINE  KEY     STATE   TIME                       REASON
2     code_1  done    [TIME]
3     Bad     failed  [TIME]  the service answered 400 Bad Request: Invalid value of "Bad" provided for the attribute_code field
4     code_3  done    [TIME]
"#]], str!["3 records: 2 done, 1 failed"]);
    std::fs::remove_file(env.home.dir.path().join("a.csv")).unwrap();
    let failed = lines(&env.run("history a.csv.journal --state failed -o json"));
    assert_eq!((failed.len(), &failed[0]["line"]), (1, &json!(3)));
    let alone = lines(&env.run("history a.csv.journal -o json"));
    assert_eq!((alone.len(), &alone[2]["key"], &alone[2]["line"]), (3, &json!(null), &json!(4)));
    env.file("other.txt", "hello\n");
    env.run("history ./other.txt")
        .assert_failure(3, str!["error: `./other.txt` is not a storefront journal"]);
    env.run("history ./nowhere").assert_failure(
        2,
        str![[r#"
error: file `./nowhere` not found
  hint: `storefront history` lists the batches of this machine
"#]],
    );
}

#[test]
fn failed_records_are_printed_in_the_format_of_the_input_and_corrected_there() {
    let record = |code: &str| {
        format!(
            r#"{{"attribute_code":"{code}","default_frontend_label":"x","frontend_input":"text","token":"sandbox-admin"}}"#
        )
    };
    for name in ["a.ndjson", "a.json", "a.csv"] {
        let env = TestEnv::new();
        let content = match name {
            "a.csv" => "attribute_code;default_frontend_label;frontend_input;token\ncode_1;x;text;sandbox-admin\nBad;x;text;sandbox-admin\n".to_owned(),
            "a.json" => format!("[{},{}]", record("code_1"), record("Bad")),
            _ => format!("{}\n{}\n", record("code_1"), record("Bad")),
        };
        env.file(name, &content);
        assert_eq!(env.run(&format!("attribute create -i {name}")).code, 7);
        let rows = env.run(&format!("history {name}.journal --state failed --rows"));
        let expected = match name {
            "a.csv" => "attribute_code;default_frontend_label;frontend_input;reason\nBad;x;text;",
            "a.json" => "[\n{\"attribute_code\":\"Bad\",",
            _ => "{\"attribute_code\":\"Bad\",",
        };
        assert!(rows.code == 0 && rows.stdout.starts_with(expected), "{rows:?}");
        assert!(
            rows.stdout.contains("400 Bad Request") && !rows.stdout.contains("sandbox-admin"),
            "{rows:?}"
        );
        env.file(name, content.replace("Bad", "code_2"));
        assert_eq!(env.run(&format!("attribute create -i {name} --resume")).code, 0);
    }
}

#[test]
fn rows_need_the_input() {
    let env = TestEnv::new();
    env.file("a.csv", attributes(2).replace("code_2,", "Bad,"));
    assert_eq!(env.run("attribute create -i a.csv").code, 7);
    std::fs::remove_file(env.home.dir.path().join("a.csv")).unwrap();
    env.run("history a.csv.journal --rows").assert_failure(
        2,
        str![[r#"
error: the input `a.csv` is not next to the journal, or is a plan
  hint: `storefront history a.csv.journal` lists what became of each record without --rows
"#]],
    );
}
