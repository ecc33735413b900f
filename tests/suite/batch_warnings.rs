//! Warnings about the records of a batch.

use snapbox::str;

use crate::support::snapshot::assert_snapshot;
use crate::support::test_env::TestEnv;

/// Records with a warning each: spaces, a note, a duplicate label in text that is sent unchanged.
const RECORDS: [(&str, &str); 3] = [
    ("quote add-item", r#"{"sku ":"mug-blue","qty":1,"quote_id":"1"}"#),
    (
        "quote add-item",
        r#"{"sku":"shirt","qty":1,"quote_id":"1","product_option":{"extension_attributes":{"configurable_item_options":[
            {"option_id":"93","option_value":50,"note":"size"},{"option_id":"144","option_value":168}]}}}"#,
    ),
    (
        "attribute create",
        r#"{"attribute_code":"fit","entity_type_id":"4","frontend_input":"select","options":[{"label":"Slim"},{"label":"Slim"}]}"#,
    ),
];

#[test]
fn a_batch_reports_the_warnings_of_each_record() {
    let expected = [
        (
            str![[r#"
warning: record 1: cartItem.sku: trimmed spaces around the field name
record 1: quote add-item: host 127.0.0.1:[PORT], store view default
quote add-item: 1 record: 1 done ([DURATION])
"#]],
            str!["quote add-item: 1 record: 0 done, 1 done earlier ([DURATION])"],
            str![[r#"
stdin is a stream: records are validated as they are read, not up front
warning: record 1: cartItem.sku: trimmed spaces around the field name
record 1: quote add-item: host 127.0.0.1:[PORT], store view default
quote add-item: 1 record: 1 done ([DURATION])
"#]],
        ),
        (
            str![[r#"
warning: record 1: cartItem.product_option.extension_attributes.configurable_item_options[0].note: ignored (documentation only)
record 1: quote add-item: host 127.0.0.1:[PORT], store view default
quote add-item: 1 record: 1 done ([DURATION])
"#]],
            str!["quote add-item: 1 record: 0 done, 1 done earlier ([DURATION])"],
            str![[r#"
stdin is a stream: records are validated as they are read, not up front
warning: record 1: cartItem.product_option.extension_attributes.configurable_item_options[0].note: ignored (documentation only)
record 1: quote add-item: host 127.0.0.1:[PORT], store view default
quote add-item: 1 record: 1 done ([DURATION])
"#]],
        ),
        (
            str![[r#"
warning: record 1: duplicate option labels: "Slim"
record 1: attribute create: host 127.0.0.1:[PORT]
attribute create: 1 record: 1 done ([DURATION])
"#]],
            str!["attribute create: 1 record: 0 done, 1 done earlier ([DURATION])"],
            str![[r#"
stdin is a stream: records are validated as they are read, not up front
warning: record 1: duplicate option labels: "Slim"
record 1: attribute create: host 127.0.0.1:[PORT]
attribute create: 1 record: 1 done ([DURATION])
"#]],
        ),
    ];
    for ((operation, record), (run, resumed, piped)) in RECORDS.into_iter().zip(expected) {
        let env = TestEnv::new();
        env.file("records.json", format!("[{record}]"));
        let outcome = env.run(&format!("{operation} -i records.json"));
        assert_eq!(outcome.code, 0, "{outcome:?}");
        assert_snapshot(&outcome.stderr, run);
        let again = env.run(&format!("{operation} -i records.json --resume"));
        assert_snapshot(&again.stderr, resumed);
        env.reset_sandbox();
        let program = env.storefront(&format!("{operation} -i - --input-format ndjson --journal j"));
        assert_snapshot(&program.stdin(record.replace('\n', " ")).run().stderr, piped);
    }
}

#[test]
fn a_duplicate_code_is_still_reported_on_resume() {
    let env = TestEnv::new();
    env.file("a.csv", "attribute_code,default_frontend_label,frontend_input\nfit,One,text\nfit,Two,text\n");
    for (again, stdout, stderr) in [
        (
            "",
            str![
                "record 2 (line 3): failed: the service answered 400 Bad Request: Attribute with the same code already exists"
            ],
            str![[r#"
warning: record 2: duplicate attribute code `fit`
record 1: attribute create: host 127.0.0.1:[PORT]
attribute create: 2 records: 1 done, 1 failed ([DURATION])
  1 × the service answered 400 Bad Request: Attribute with the same code already exists
error: of 2 records, 1 failed
  hint: fix the failed records in the input, then run `storefront attribute create -i a.csv --resume`
"#]],
        ),
        (
            " --resume",
            str![
                "record 2 (line 3): failed: failed in an earlier run: the service answered 400 Bad Request: Attribute with the same code already exists"
            ],
            str![[r#"
warning: record 2: duplicate attribute code `fit`
attribute create: 2 records: 0 done, 1 done earlier, 1 failed ([DURATION])
  1 × failed in an earlier run: the service answered 400 Bad Request: Attribute with the same code already exists
error: of 2 records, 1 failed
  hint: fix the failed records in the input, then run `storefront attribute create -i a.csv --resume`
"#]],
        ),
    ] {
        env.run(&format!("attribute create -i a.csv{again}")).assert(7, stdout, stderr);
    }
}

#[test]
fn at_most_twenty_warnings_are_shown() {
    let env = TestEnv::new();
    let head = ["attribute_code,default_frontend_label,frontend_input".to_owned()];
    let rows: Vec<String> =
        head.into_iter().chain((1..=30).map(|number| format!("Code {number},One,text"))).collect();
    env.file("a.csv", rows.join("\n"));
    assert_snapshot(
        &env.run("attribute create -i a.csv --jobs 1").stderr,
        str![[r#"
warning: record 1: attribute_code `Code 1` may be rejected: Magento expects a letter followed by up to 59 of a-z, 0-9, _
warning: record 2: attribute_code `Code 2` may be rejected: Magento expects a letter followed by up to 59 of a-z, 0-9, _
warning: record 3: attribute_code `Code 3` may be rejected: Magento expects a letter followed by up to 59 of a-z, 0-9, _
warning: record 4: attribute_code `Code 4` may be rejected: Magento expects a letter followed by up to 59 of a-z, 0-9, _
warning: record 5: attribute_code `Code 5` may be rejected: Magento expects a letter followed by up to 59 of a-z, 0-9, _
warning: record 6: attribute_code `Code 6` may be rejected: Magento expects a letter followed by up to 59 of a-z, 0-9, _
warning: record 7: attribute_code `Code 7` may be rejected: Magento expects a letter followed by up to 59 of a-z, 0-9, _
warning: record 8: attribute_code `Code 8` may be rejected: Magento expects a letter followed by up to 59 of a-z, 0-9, _
warning: record 9: attribute_code `Code 9` may be rejected: Magento expects a letter followed by up to 59 of a-z, 0-9, _
warning: record 10: attribute_code `Code 10` may be rejected: Magento expects a letter followed by up to 59 of a-z, 0-9, _
warning: record 11: attribute_code `Code 11` may be rejected: Magento expects a letter followed by up to 59 of a-z, 0-9, _
warning: record 12: attribute_code `Code 12` may be rejected: Magento expects a letter followed by up to 59 of a-z, 0-9, _
warning: record 13: attribute_code `Code 13` may be rejected: Magento expects a letter followed by up to 59 of a-z, 0-9, _
warning: record 14: attribute_code `Code 14` may be rejected: Magento expects a letter followed by up to 59 of a-z, 0-9, _
warning: record 15: attribute_code `Code 15` may be rejected: Magento expects a letter followed by up to 59 of a-z, 0-9, _
warning: record 16: attribute_code `Code 16` may be rejected: Magento expects a letter followed by up to 59 of a-z, 0-9, _
warning: record 17: attribute_code `Code 17` may be rejected: Magento expects a letter followed by up to 59 of a-z, 0-9, _
warning: record 18: attribute_code `Code 18` may be rejected: Magento expects a letter followed by up to 59 of a-z, 0-9, _
warning: record 19: attribute_code `Code 19` may be rejected: Magento expects a letter followed by up to 59 of a-z, 0-9, _
warning: record 20: attribute_code `Code 20` may be rejected: Magento expects a letter followed by up to 59 of a-z, 0-9, _
warning: 10 more warnings not shown
record 1: attribute create: host 127.0.0.1:[PORT]
attribute create: 30 records: 0 done, 30 failed ([DURATION])
  30 × the service answered 400 Bad Request: Invalid value of "…" provided for the attribute_code field
error: of 30 records, 30 failed
  No changes were made.
  hint: fix the failed records in the input, then run `storefront attribute create -i a.csv --jobs 1 --resume`
"#]],
    );
}
