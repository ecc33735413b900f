//! `--failed`: the records that failed permanently, in the format of the input, and never over an edited file.

use serde_json::json;
use snapbox::str;

use crate::support::batch::{attributes, created, lines};
use crate::support::mock_server::{MockServer, answer};
use crate::support::snapshot::assert_snapshot;
use crate::support::test_env::{TestEnv, serve};

fn read(env: &TestEnv, name: &str) -> Vec<u8> {
    std::fs::read(env.home.dir.path().join(name)).unwrap()
}

#[test]
fn failed_records_are_corrected_in_the_input_and_an_edited_report_is_not_overwritten() {
    let env = TestEnv::new();
    let input = attributes(4).replace("code_2,", "Bad,").replace("code_3,", "Bad 3,");
    env.file("a.csv", &input);
    let failed = env.run("attribute create -i a.csv --failed fix.csv");
    failed.assert(7, str![[r#"
line 3: failed: the service answered 400 Bad Request: Invalid value of "Bad" provided for the attribute_code field
line 4: failed: the service answered 400 Bad Request: Invalid value of "Bad 3" provided for the attribute_code field
"#]], str![[r#"
warning: line 3: column attribute_code: `Bad` may be rejected: Magento expects a letter followed by up to 59 of a-z, 0-9, _
warning: line 4: column attribute_code: `Bad 3` may be rejected: Magento expects a letter followed by up to 59 of a-z, 0-9, _
attribute create: host 127.0.0.1:[PORT]
attribute create: 4 records: 2 done, 2 failed ([DURATION])
error: 2 of 4 records failed
  Some records were applied.
  hint: fix lines 3, 4 in the input, then resume with `storefront attribute create --input a.csv --failed fix.csv --resume`; `fix.csv` is only a report, do not run it; to give them up, run `storefront attribute create --input a.csv --failed fix.csv --resume --mark-done=3,4`
"#]]);
    let reported = read(&env, "fix.csv");
    // As it was left, it is written again; what is corrected in the input is sent, and is not in it any more.
    env.file("a.csv", input.replace("Bad 3,", "code_3,"));
    assert_eq!(env.run("attribute create -i a.csv --failed fix.csv --resume").code, 7);
    let text = String::from_utf8(read(&env, "fix.csv")).unwrap();
    assert!(text.contains("Bad,") && !text.contains("code_3"), "{text}");
    // Nor is an older one, a longer one, or an edited one.
    for edited in [text.replace("Bad", "code_2"), format!("{text}\n"), String::new()] {
        env.file("fix.csv", &edited);
        env.requests();
        env.file("a.csv", attributes(4));
        let refused = env.run("attribute create -i a.csv --failed fix.csv --resume");
        refused.assert_failure(
            3,
            str![[r#"
error: --failed `fix.csv` exists, and is not as a run of this journal wrote it
  hint: leave out --failed, or choose another file
"#]],
        );
        assert_eq!(String::from_utf8(read(&env, "fix.csv")).unwrap(), edited);
        assert_eq!(env.requests(), Vec::<String>::new());
    }
    env.file("fix.csv", reported);
    assert_eq!(env.run("attribute create -i a.csv --failed fix.csv --resume").code, 0);
    assert_eq!(String::from_utf8(read(&env, "fix.csv")).unwrap().lines().count(), 1);
    let mut found = created(&env);
    found.sort_unstable();
    assert_eq!(found, [1, 2, 3, 4]);
}

#[test]
fn shards_that_run_at_once_have_files_of_their_own() {
    let env = TestEnv::new();
    let items: Vec<String> = (1..=8).map(|number| format!("{number},nope,1\n")).collect();
    env.file("items.csv", format!("quote_id,sku,qty\n{}", items.concat()));
    let run = |shard: &str| {
        env.storefront(&format!("quote add-item -i items.csv --failed bad.csv --shard {shard}"))
            .spawn_silent()
    };
    for mut shard in ["0/2", "1/2"].map(run) {
        assert_eq!(shard.wait().unwrap().code(), Some(7));
    }
    let rows = ["bad.0-2.csv", "bad.1-2.csv"].map(|name| String::from_utf8(read(&env, name)).unwrap());
    assert!(rows.iter().all(|rows| rows.lines().count() > 1), "{rows:?}");
    assert_eq!(rows.concat().lines().filter(|line| line.contains("nope")).count(), 8, "{rows:?}");
    assert_eq!(hidden(&env), Vec::<String>::new());
}

/// The hidden files beside the input, but for locks.
fn hidden(env: &TestEnv) -> Vec<String> {
    let entries = std::fs::read_dir(env.home.dir.path()).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    names.filter(|name| name.starts_with('.') && (name.contains("bad") || name.contains("failed"))).collect()
}

#[test]
fn a_killed_run_leaves_no_records_in_hidden_files() {
    let env = TestEnv::with_faults(&["POST:latency=60000"]);
    env.file("items.csv", "quote_id,sku,qty\n1,nope,1\n");
    let mut child = env.storefront("quote add-item -i items.csv --failed bad.csv").spawn_silent();
    let journal = env.home.dir.path().join("items.csv.journal");
    while !std::fs::read_to_string(&journal).is_ok_and(|text| text.contains("sending")) {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(hidden(&env), Vec::<String>::new());
    // Killed while it was written.
    env.file(".bad.csv.storefront", "customers");
    assert_eq!(env.run("quote add-item -i items.csv --failed bad.csv --resume").code, 8);
    assert_eq!(hidden(&env), Vec::<String>::new());
}

#[test]
fn each_record_is_reported_in_one_place_only() {
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
    let line = "attribute create -i a.csv --failed fix.csv --jobs 1 --retry 0 -o json";
    let outcome = serve(env.home.storefront(line), &server.url("")).run();
    let applied: Vec<_> = lines(&outcome).iter().map(|line| line["applied"].clone()).collect();
    assert_eq!(applied, [json!("yes"), json!("no"), json!("unknown"), json!("no")], "{outcome:?}");
    let text = String::from_utf8(read(&env, "fix.csv")).unwrap();
    let codes: Vec<&str> = text.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    assert_eq!(codes, ["code_2"], "{text}");
    assert_snapshot(
        outcome.error()["hint"].as_str().unwrap(),
        str![
            "check which unknown records took effect (`storefront journal show [HOME]/a.csv.journal --state unknown sending` lists them), then resume with `storefront attribute create --input a.csv --failed fix.csv --jobs 1 --retry 0 --output json --resume`, with --mark-done=LINES for what did and --retry-unknown=LINES for what did not; fix line 3 in the input, then resume with `storefront attribute create --input a.csv --failed fix.csv --jobs 1 --retry 0 --output json --resume`; `fix.csv` is only a report, do not run it; to give it up, run `storefront attribute create --input a.csv --failed fix.csv --jobs 1 --retry 0 --output json --resume --mark-done=3`"
        ],
    );
}

#[test]
fn encoding_and_line_endings_are_those_of_the_input() {
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
    let mut rows = lines(&shown);
    assert_eq!(shown.code, 0, "{shown:?}");
    let time = rows[0].as_object_mut().unwrap().shift_remove("time").unwrap();
    assert!(time.as_str().unwrap().ends_with('Z'), "{time}");
    assert_eq!(
        rows[0],
        json!({"record": 1, "line": 2, "key": "code_1", "state": "done", "status": 200, "reason": null})
    );
    assert_eq!((&rows[1]["state"], &rows[1]["key"]), (&json!("failed"), &json!("Bad")));
    env.run("journal show a.csv.journal --csv").assert_success(str![[r#"
record,line,key,state,time,status,reason
1,2,code_1,done,[TIME],200,
2,3,Bad,failed,[TIME],400,"the service answered 400 Bad Request: Invalid value of ""Bad"" provided for the attribute_code field"
3,4,code_3,done,[TIME],200,
"#]]);
    env.run("journal show a.csv.journal").assert(0, str![[r#"
RECORD  LINE  KEY     STATE   TIME                       REASON
1       2     code_1  done    [TIME]
2       3     Bad     failed  [TIME]  the service answered 400 Bad Request: Invalid value of "Bad" provided for the attribute_code field
3       4     code_3  done    [TIME]
"#]], str!["3 records: 2 done, 1 failed"]);
    std::fs::remove_file(env.home.dir.path().join("a.csv")).unwrap();
    let failed = lines(&env.run("journal show a.csv.journal --state failed -o json"));
    assert_eq!((failed.len(), &failed[0]["record"]), (1, &json!(2)));
    let alone = lines(&env.run("journal show a.csv.journal -o json"));
    assert_eq!((alone.len(), &alone[2]["key"], &alone[2]["line"]), (3, &json!(null), &json!(null)));
    env.file("other.txt", "hello\n");
    env.run("journal show other.txt")
        .assert_failure(3, str!["error: `other.txt` is not a storefront journal"]);
    env.run("journal show nowhere").assert_failure(
        2,
        str![[r#"
error: file `nowhere` not found
  hint: `storefront journal list` lists the journals of this machine
"#]],
    );
}

#[test]
fn failed_records_are_written_in_the_input_format_ready_to_run_again() {
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
        env.file(name, content);
        let back = format!("back-{name}");
        let outcome = env.run(&format!("attribute create -i {name} --failed {back}"));
        assert_eq!((outcome.code, created(&env)), (7, vec![1]), "{outcome:?}");
        assert!(!format!("{outcome:?}").contains("sandbox-admin"), "{outcome:?}");
        let path = env.home.dir.path().join(&back);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        }
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(
            text.contains("reason") && text.contains("sandbox-admin") && !text.contains("code_1"),
            "{text}"
        );
        std::fs::write(&path, text.replace("Bad", "code_2")).unwrap();
        let again = env.run(&format!("attribute create -i {back}"));
        assert_eq!((again.code, created(&env)), (0, vec![1, 2]), "{name}: {again:?}");
    }
}

#[test]
fn the_failed_file_overwrites_no_input_and_no_journal() {
    let env = TestEnv::new();
    let content = attributes(1);
    env.file("a.csv", &content);
    for (file, stderr) in [
        (
            "a.csv",
            str![[r#"
error: --failed `a.csv` exists, and is not as a run of this journal wrote it
  hint: leave out --failed, or choose another file
"#]],
        ),
        (
            "./a.csv",
            str![[r#"
error: --failed `./a.csv` exists, and is not as a run of this journal wrote it
  hint: leave out --failed, or choose another file
"#]],
        ),
        (
            "a.csv.journal",
            str![[r#"
error: --failed `a.csv.journal` is the journal
  hint: leave out --failed, or choose another file
"#]],
        ),
    ] {
        env.run(&format!("attribute create -i a.csv --failed {file} --restart")).assert_failure(3, stderr);
    }
    assert_eq!(std::fs::read_to_string(env.home.dir.path().join("a.csv")).unwrap(), content);
    assert_eq!(env.requests(), Vec::<String>::new());
}

#[test]
fn what_is_in_another_encoding_comes_back_as_utf_8_with_a_mark() {
    let env = TestEnv::new();
    env.file("latin.csv", b"code;label;type\r\nBad;Gr\xf6\xdfe;text\r\n");
    let failed = env.run("attribute create -i latin.csv --encoding windows-1252 --failed fix.csv -q");
    assert_eq!(failed.code, 7, "{failed:?}");
    let written = String::from_utf8(read(&env, "fix.csv")).unwrap();
    assert!(written.starts_with("\u{feff}code;") && written.contains("\r\nBad;Größe;text;"), "{written:?}");
    env.file("fix.csv", written.replace("Bad", "code_1"));
    let again = env.run("attribute create -i fix.csv");
    assert_eq!(again.code, 0, "{again:?}");
    let label = env.sandbox.show()["attributes"].to_string();
    assert!(label.contains("Größe"), "{label}");
}

#[test]
#[cfg_attr(windows, ignore = "it runs a POSIX shell script")]
fn a_closed_standard_output_leaves_no_failed_record_out_of_the_file() {
    let env = TestEnv::with_faults(&["POST:latency=600"]);
    let items = "quote_id,sku,qty\n1,nope1,1\n1,nopex,1\n1,nope2,1\n";
    env.file("items.csv", items);
    let line = "quote add-item -i items.csv --failed bad.csv --jobs 1 --yes";
    assert_eq!(env.run(line).code, 7);
    env.file("items.csv", items.replace("nopex", "mug-blue"));
    env.storefront(&format!("{line} --resume")).shell("\"$@\" | true");
    let failed = String::from_utf8(read(&env, "bad.csv")).unwrap();
    assert!(failed.contains("nope1") && failed.contains("nope2"), "{failed}");
}
