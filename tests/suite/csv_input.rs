//! The bytes of CSV: line ends, encodings and delimiters.

use serde_json::json;
use snapbox::str;

use crate::support::snapshot::assert_snapshot;
use crate::support::test_env::TestEnv;

#[test]
fn line_numbers_are_those_of_an_editor() {
    let text = "sku,qty,quote_id\n\"mug-blue\",1,1\n\n\"no-such\n\",1,1\nmug-blue,x,1\n";
    for end in ["\n", "\r\n", "\r"] {
        let env = TestEnv::new();
        env.file("a.csv", text.replace('\n', end));
        let name = "a.csv";
        env.run(&format!("quote add-item -i {name}")).assert_failure(
            2,
            str![[r#"
warning: line 4: blanks or invisible characters around cells are left out
error: a.csv: line 6, column qty: expected a number, found "x"
  hint: fix the record and try again; --skip-invalid sends the others
"#]],
        );
        let outcome = env.run(&format!("quote add-item -i {name} --skip-invalid"));
        outcome.assert(7, str![[r#"
line 4: failed: the service answered 404 Not Found: The product that was requested doesn't exist. Verify the product and try again
line 6: failed: column qty: expected a number, found "x"
"#]], str![[r#"
warning: line 4: blanks or invisible characters around cells are left out
all records have the same key: they are sent one at a time
quote add-item: host 127.0.0.1:[PORT], store view default
quote add-item: 3 records: 1 done, 2 failed ([DURATION])
error: 2 of 3 records failed
  Some records were applied.
  hint: fix lines 4, 6 in the input, then resume with `storefront resume 1`; to give them up, run `storefront resume 1 --mark-done=4,6`
"#]]);
        let rows = env.run("history a.csv.journal --state failed --rows");
        assert_snapshot(
            &rows.stdout.replace("\r\n", "\n").replace('\r', "\n"),
            str![[r#"
sku,qty,quote_id,reason
"no-such
",1,1,the service answered 404 Not Found: The product that was requested doesn't exist. Verify the product and try again
mug-blue,x,1,"column qty: expected a number, found ""x"""
"#]],
        );
        std::fs::remove_file(env.home.dir.path().join("a.csv.journal")).unwrap();
    }
}

#[test]
fn encodings_and_delimiters_of_spreadsheets_are_read() {
    let utf_16 = |text: &str, bytes: fn(u16) -> [u8; 2]| -> Vec<u8> {
        "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(bytes).collect()
    };
    let row = "SKU;Qty;quote_id;;\r\nmug-blue;1;1;;\r\n;;;;\r\n";
    for (name, content) in [
        ("le.csv", utf_16(row, u16::to_le_bytes)),
        ("be.csv", utf_16(&format!("sep=;\r\n{row}"), u16::to_be_bytes)),
        ("mark.csv", format!("\u{feff}{row}").into_bytes()),
        ("tab.tsv", row.replace(';', "\t").into_bytes()),
        ("le.json", utf_16("[{\"sku\":\"mug-blue\",\"qty\":1,\"quote_id\":\"1\"}]", u16::to_le_bytes)),
    ] {
        let env = TestEnv::new();
        env.file(name, content);
        let result = env.done(&format!("quote add-item -i {name}"));
        assert_eq!((&result["record"], &result["applied"]), (&json!(1), &json!("yes")), "{name}");
    }
}
