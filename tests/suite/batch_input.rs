//! The input of a batch: its formats, its records and its flags, all checked before anything is sent.

use serde_json::json;
use snapbox::str;

use crate::support::batch::{attributes, created, lines, numbers};
use crate::support::test_env::TestEnv;

#[test]
fn every_record_format_is_a_batch_even_with_one_record() {
    let record = r#"{"attribute_code":"code_1","default_frontend_label":"One","frontend_input":"text"}"#;
    for (name, content) in [
        ("one.json", format!(" [{{\"attribute\":{record}}}]")),
        ("one.ndjson", format!("\u{feff}{record}\n\n")),
        ("one.csv", format!("\u{feff}{}", attributes(1).replace(',', ";"))),
    ] {
        let env = TestEnv::new();
        env.file(name, &content);
        let outcome = env.run(&format!("attribute create -i {name} -o json"));
        assert_eq!(outcome.code, 0, "{name}: {outcome:?}");
        let found = lines(&outcome);
        assert_eq!((found.len(), &found[0]["record"], &found[0]["applied"]), (1, &json!(1), &json!("yes")));
        assert_eq!(created(&env), [1], "{name}");
        let piped = env
            .storefront(&[
                "attribute",
                "create",
                "-i",
                "-",
                "--journal",
                "j",
                "--input-format",
                match name {
                    "one.csv" => "csv",
                    "one.json" => "json",
                    _ => "ndjson",
                },
            ])
            .stdin(content.replace("code_1", "code_2"))
            .run();
        assert_eq!((piped.code, created(&env)), (0, vec![1, 2]), "{name}: {piped:?}");
    }
}

#[test]
fn an_input_without_records_is_bad_usage() {
    let env = TestEnv::new();
    for (name, content, stderr) in [
        (
            "x.json",
            "[ ]",
            str![[r#"
error: `x.json` contains no records
  No changes were made.
"#]],
        ),
        (
            "x.ndjson",
            "\n \n",
            str![[r#"
error: `x.ndjson` contains no records
  No changes were made.
"#]],
        ),
        (
            "x.csv",
            "sku,qty\n",
            str![[r#"
error: `x.csv` contains no records
  No changes were made.
"#]],
        ),
        (
            "y.csv",
            "",
            str![[r#"
error: y.csv has no header
  No changes were made.
  hint: expected columns: sku,qty,quote_id,option:OPTION_ID,token
"#]],
        ),
    ] {
        env.file(name, content);
        env.run(&format!("quote add-item -i {name}")).assert_failure(2, stderr);
        assert!(!env.home.dir.path().join(format!("{name}.journal")).exists());
    }
}

#[test]
fn batch_flags_require_batch_input() {
    let env = TestEnv::new();
    env.file("one.json", "{}");
    for (flag, stderr) in [
        (
            "--jobs 2",
            str![[r#"
error: --jobs requires batch input
  No changes were made.
  hint: use --input with CSV, NDJSON or a JSON array (add --input-format for stdin)
"#]],
        ),
        (
            "--resume",
            str![[r#"
error: --resume requires batch input
  No changes were made.
  hint: use --input with CSV, NDJSON or a JSON array (add --input-format for stdin)
"#]],
        ),
        (
            "--restart",
            str![[r#"
error: --restart requires batch input
  No changes were made.
  hint: use --input with CSV, NDJSON or a JSON array (add --input-format for stdin)
"#]],
        ),
        (
            "--failed f",
            str![[r#"
error: --failed requires batch input
  No changes were made.
  hint: use --input with CSV, NDJSON or a JSON array (add --input-format for stdin)
"#]],
        ),
        (
            "--shard 0/2",
            str![[r#"
error: --shard requires batch input
  No changes were made.
  hint: use --input with CSV, NDJSON or a JSON array (add --input-format for stdin)
"#]],
        ),
        (
            "--rate 5",
            str![[r#"
error: --rate requires batch input
  No changes were made.
  hint: use --input with CSV, NDJSON or a JSON array (add --input-format for stdin)
"#]],
        ),
        (
            "--journal j",
            str![[r#"
error: --journal requires batch input
  No changes were made.
  hint: use --input with CSV, NDJSON or a JSON array (add --input-format for stdin)
"#]],
        ),
    ] {
        env.run(&format!("quote add-item --sku mug-blue --qty 1 --quote-id 1 {flag}"))
            .assert_failure(2, stderr);
    }
    let piped = env.storefront("quote add-item -i - --input-format csv").stdin("sku\nx\n").run();
    piped.assert_failure(
        2,
        str![[r#"
error: streaming input needs a journal file
  No changes were made.
  hint: use --journal FILE
"#]],
    );
    assert_eq!(env.requests(), Vec::<String>::new());
}

#[test]
fn flags_override_every_record_and_strings_stay_strings() {
    let env = TestEnv::new();
    env.file("items.csv", "sku,quote_id,qty\nmug-blue,1,1\numbrella,1,1\n");
    let outcome = env.run("quote add-item -i items.csv --qty 2.50 -n -o json");
    let bodies: Vec<String> =
        lines(&outcome).iter().map(|line| line["request"]["body"].to_string()).collect();
    assert_eq!(bodies.len(), 2);
    assert_eq!(bodies[0], r#"{"cartItem":{"sku":"mug-blue","quote_id":"1","qty":2.50}}"#);
    assert_eq!((outcome.code, env.requests()), (0, Vec::new()));
}

#[test]
fn the_first_bad_record_is_named_and_nothing_is_sent() {
    let env = TestEnv::new();
    for (name, content, stderr) in [
        (
            "a.csv",
            "sku,qyt\nx,1\n",
            str![[r#"
error: a.csv: unknown column `qyt`; did you mean `qty`?
  No changes were made.
  hint: expected columns: sku,qty,quote_id,option:OPTION_ID,token
"#]],
        ),
        (
            "b.csv",
            "sku,qty\nx,1\ny,two\n",
            str![[r#"
error: b.csv: line 3, column qty: expected a number, found "two"
  No changes were made.
  hint: fix the record and try again; --skip-invalid sends the others
"#]],
        ),
        (
            "c.ndjson",
            "{\"sku\":\"x\",\"qty\":1}\n{\"sku\":1}\n",
            str![[r#"
error: c.ndjson: line 2: cartItem.sku: expected a string, found the number 1
  No changes were made.
  hint: fix the record and try again; --skip-invalid sends the others
"#]],
        ),
        (
            "d.ndjson",
            "{\"sku\":\"x\",\"qty\":1}\n{\"sku\":]}\n",
            str![[r#"
error: d.ndjson: line 2, column 8: invalid JSON: expected value
  No changes were made.
  hint: fix the record and try again; --skip-invalid sends the others
"#]],
        ),
        (
            "e.json",
            "[{\"sku\":\"x\",\"qty\":1},\n {\"skuu\":\"x\"}]",
            str![[r#"
error: e.json: line 2: cartItem.skuu: unknown field; did you mean `sku`?
  No changes were made.
  hint: fix the record and try again; --skip-invalid sends the others
"#]],
        ),
        (
            "f.json",
            "[{\"sku\":\"x\",\"qty\":1},\n",
            str![[r#"
error: `f.json` is not a JSON array of records: EOF while parsing a value at line 2 column 0
  No changes were made.
"#]],
        ),
    ] {
        env.file(name, content);
        env.run(&format!("quote add-item -i {name}")).assert_failure(2, stderr);
        assert!(!env.home.dir.path().join(format!("{name}.journal")).exists(), "{name}");
    }
    assert_eq!(env.requests(), Vec::<String>::new());
}

#[test]
fn invalid_records_can_fail_while_the_others_are_sent() {
    let env = TestEnv::new();
    env.file("items.csv", "sku,qty,quote_id\nmug-blue,1,1\nmug-blue,two,1\numbrella,3,1\n");
    let outcome = env.run("quote add-item -i items.csv --skip-invalid --failed bad.csv -o json");
    assert_eq!((outcome.code, numbers(&outcome)), (7, vec![1, 2, 3]), "{outcome:?}");
    assert_eq!(lines(&outcome)[1]["error"]["kind"], "usage");
    assert_eq!(env.requests(), ["POST 200", "POST 200"]);
    let bad = std::fs::read_to_string(env.home.dir.path().join("bad.csv")).unwrap();
    assert!(bad.starts_with("sku,qty,quote_id,reason\nmug-blue,two,1,"), "{bad}");
}
