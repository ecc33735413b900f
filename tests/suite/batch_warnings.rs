//! What is doubtful about the records of a run, and what was normalized in them, is told.

use crate::support::test_env::TestEnv;

/// Records, and what each is warned of: spaces, a note, a label twice in text that is sent unchanged.
const RECORDS: [(&str, &str, &str); 3] = [
    (
        "quote add-item",
        r#"{"sku ":"mug-blue","qty":1,"quote_id":"1"}"#,
        "trimmed spaces around the field name",
    ),
    (
        "quote add-item",
        r#"{"sku":"shirt","qty":1,"quote_id":"1","product_option":{"extension_attributes":{"configurable_item_options":[
            {"option_id":"93","option_value":50,"note":"size"},{"option_id":"144","option_value":168}]}}}"#,
        "note: ignored (documentation only)",
    ),
    (
        "attribute create",
        r#"{"attribute_code":"fit","entity_type_id":"4","frontend_input":"select","options":[{"label":"Slim"},{"label":"Slim"}]}"#,
        "duplicate option labels: ",
    ),
];

#[test]
fn a_run_warns_of_what_a_single_record_is_warned_of() {
    for (operation, record, warning) in RECORDS {
        let env = TestEnv::new();
        env.file("records.json", format!("[{record}]"));
        let outcome = env.run(&format!("{operation} -i records.json"));
        assert_eq!(outcome.code, 0, "{outcome:?}");
        let told = outcome.stderr.lines().filter(|line| line.contains("warning: record 1: ")).count();
        assert!(told == 1 && outcome.stderr.contains(warning), "{outcome:?}");
        let mut again = env.run(&format!("{operation} -i records.json --resume"));
        assert!(!again.stderr.contains("warning"), "what is done is not warned of again: {again:?}");

        let words: Vec<&str> = operation.split(' ').chain(["-i", "-", "--input-format", "ndjson"]).collect();
        let piped = env.storefront(&[&words[..], &["--journal", "j"]].concat());
        again = piped.stdin(record.replace('\n', " ")).run();
        assert!(again.stderr.contains(warning), "{again:?}");
    }
}

#[test]
fn a_code_that_is_done_already_is_still_there_twice() {
    let env = TestEnv::new();
    env.file("a.csv", "attribute_code,default_frontend_label,frontend_input\nfit,One,text\nfit,Two,text\n");
    for again in ["", " --resume"] {
        let outcome = env.run(&format!("attribute create -i a.csv{again}"));
        assert_eq!(outcome.code, 7, "{outcome:?}");
        assert!(outcome.stderr.contains("record 2: duplicate attribute code `fit`"), "{outcome:?}");
    }
}

#[test]
fn many_warnings_are_counted() {
    let env = TestEnv::new();
    let head = ["attribute_code,default_frontend_label,frontend_input".to_owned()];
    let rows: Vec<String> =
        head.into_iter().chain((1..=30).map(|number| format!("Code {number},One,text"))).collect();
    env.file("a.csv", rows.join("\n"));
    let outcome = env.run("attribute create -i a.csv");
    let told = outcome.stderr.lines().filter(|line| line.starts_with("warning: record")).count();
    assert!(told == 20 && outcome.stderr.contains("10 more warnings"), "{outcome:?}");
}
