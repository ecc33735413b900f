//! CSV of spreadsheets, and invalid CSV.

use serde_json::{Value, json};
use snapbox::str;

use crate::support::snapshot::assert_snapshot;
use crate::support::test_env::TestEnv;

#[test]
fn an_unclosed_quote_sends_nothing() {
    let env = TestEnv::new();
    let rows = "mug-blue,1,1\r\n";
    for (name, content, stderr, dry, piped) in [
        (
            "open.csv",
            format!("sku,qty,quote_id\r\n{rows}mug-blue,1,\"1\r\n{rows}{rows}"),
            str![[r#"
error: open.csv: line 3: unclosed quoted cell
  hint: quote a cell as a whole, and write a quote inside it twice: "24"" monitor"
"#]],
            str![[r#"
error: open.csv: line 3: unclosed quoted cell
  hint: quote a cell as a whole, and write a quote inside it twice: "24"" monitor"
"#]],
            "line 3: unclosed quoted cell",
        ),
        (
            "after.csv",
            format!("sku,qty,quote_id\r\n{rows}\"mug\r\nblue\"x,1,1\r\n{rows}"),
            str![[r#"
error: after.csv: line 3: text after the closing quote of a cell
  hint: quote a cell as a whole, and write a quote inside it twice: "24"" monitor"
"#]],
            str![[r#"
error: after.csv: line 3: text after the closing quote of a cell
  hint: quote a cell as a whole, and write a quote inside it twice: "24"" monitor"
"#]],
            "line 3: text after the closing quote of a cell",
        ),
    ] {
        env.file(name, &content);
        for flags in ["", "--skip-invalid"] {
            env.run(&format!("quote add-item -i {name} {flags}")).assert_failure(2, stderr.clone());
        }
        env.run(&format!("quote add-item -i {name} -n")).assert_failure(2, dry);
        // Standard input flows by once: what stood before the quote may have been sent, what follows has not.
        let program = env.storefront("quote add-item -i - --input-format csv --journal j --restart");
        let outcome = program.stdin(content).run();
        assert_ne!(outcome.code, 0, "{outcome:?}");
        assert!(outcome.stderr.contains(piped) && env.requests().len() <= 1, "{outcome:?}");
    }
}

#[test]
fn line_numbers_are_those_of_an_editor() {
    let text = "sku,qty,quote_id\n\"mug-blue\",1,1\n\n\"no\nsuch\",1,1\nmug-blue,x,1\n";
    for end in ["\n", "\r\n", "\r"] {
        let env = TestEnv::new();
        env.file("a.csv", text.replace('\n', end));
        let name = "a.csv";
        env.run(&format!("quote add-item -i {name}")).assert_failure(
            2,
            str![[r#"
error: a.csv: line 6, column qty: expected a number, found "x"
  hint: fix the record and try again; --skip-invalid sends the others
"#]],
        );
        let outcome = env.run(&format!("quote add-item -i {name} --skip-invalid --failed failed.csv"));
        outcome.assert(7, str![[r#"
line 4: failed: the service answered 404 Not Found: The product that was requested doesn't exist. Verify the product and try again
line 6: failed: column qty: expected a number, found "x"
"#]], str![[r#"
all records have the same key: they are sent one at a time
quote add-item: host 127.0.0.1:[PORT], store view default
quote add-item: 3 records: 1 done, 2 failed ([DURATION])
  1 × a.csv: line 6, column qty: expected a number, found "…"
  1 × the service answered 404 Not Found: The product that was requested doesn't exist. Verify the product and try again
error: 2 of 3 records failed
  hint: fix the failed records and run them: `storefront quote add-item --skip-invalid --input failed.csv`
"#]]);
        let failed = env.home.dir.path().join("failed.csv");
        let records = std::fs::read_to_string(&failed).unwrap().replace("\r\n", "\n").replace('\r', "\n");
        assert_snapshot(
            &records,
            str![[r#"
sku,qty,quote_id,reason
mug-blue,x,1,"a.csv: line 6, column qty: expected a number, found ""x"""
"no
such",1,1,the service answered 404 Not Found: The product that was requested doesn't exist. Verify the product and try again
"#]],
        );
        std::fs::remove_file(failed).unwrap();
    }
}

#[test]
fn encodings_and_delimiters_of_spreadsheets_are_read() {
    let env = TestEnv::new();
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
        env.file(name, content);
        let result = env.done(&format!("quote add-item -i {name}"));
        assert_eq!((&result["record"], &result["applied"]), (&json!(1), &json!("yes")), "{name}");
    }
    env.requests();
    for (name, content, stderr) in [
        (
            "book.xlsx",
            &b"PK\x03\x04\x14\0\x06\0"[..],
            str![[r#"
error: `book.xlsx` is a spreadsheet (.xlsx or .ods) or another ZIP archive, not text
  hint: save it as UTF-8 (in a spreadsheet: as CSV UTF-8) and try again
"#]],
        ),
        (
            "book.csv",
            b"PK\x03\x04\x14\0\x06\0",
            str![[r#"
error: `book.csv` is a spreadsheet (.xlsx or .ods) or another ZIP archive, not text
  hint: save it as UTF-8 (in a spreadsheet: as CSV UTF-8) and try again
"#]],
        ),
        (
            "bare.csv",
            b"s\0k\0u\0\n\0",
            str![[r#"
error: `bare.csv` is UTF-16 without a byte order mark, or not text
  hint: save it as UTF-8 (in a spreadsheet: as CSV UTF-8) and try again
"#]],
        ),
        (
            "latin.csv",
            b"sku,qty\na,1\nGr\xfcn,1\n",
            str![[r#"
error: `latin.csv` is not UTF-8: line 3
  hint: save it as UTF-8 (in a spreadsheet: as CSV UTF-8), or name its encoding: --encoding windows-1252
"#]],
        ),
        (
            "ragged.csv",
            b"sku,qty\na,1\na,1,2\n",
            str![[r#"
error: ragged.csv: line 3: the row has 3 cells, the header has 2
  hint: fix the record and try again; --skip-invalid sends the others
"#]],
        ),
    ] {
        env.file(name, content);
        env.run(&format!("quote add-item -i {name}")).assert_failure(2, stderr);
    }
    assert_eq!(env.requests(), [""; 0]);
}

#[test]
fn a_row_without_an_address_id_is_refused() {
    let env = TestEnv::new();
    let before = env.profile();
    env.file("a.csv", "address_id,city\n2,Albany\n,Troy\n");
    env.run("customer update -i a.csv").assert_failure(2, str![[r#"
error: a.csv: line 3, column address_id is empty, and fields of an address are given: name the id of a stored address, or `new` to add one
  hint: fix the record and try again; --skip-invalid sends the others
"#]]);
    assert_eq!(env.profile()["addresses"], before["addresses"]);
}

#[test]
fn an_encoding_that_is_named_is_read() {
    let env = TestEnv::new();
    let latin = b"code;label;type\nsize;Gr\xf6\xdfe;Text Field\n";
    env.file("latin.csv", latin);
    let sent = env.done("attribute create -i latin.csv --encoding windows-1252 -n");
    assert_eq!(sent["request"]["body"]["attribute"]["default_frontend_label"], "Größe");
    env.file("options.csv", b"label\nGr\xfcn\n");
    let line = "attribute create --code size --label Size --type select --options options.csv";
    let sent = env.done(&format!("{line} --encoding windows-1252 -n"));
    assert_eq!(sent["request"]["body"]["attribute"]["options"][0]["label"], "Grün");
    env.run("attribute create -i latin.csv --encoding latin-9000").assert_failure(2, str![[r#"
error: invalid value 'latin-9000' for '--encoding <NAME>': expected a name such as utf-8, windows-1252 or shift_jis

For more information, try '--help'.
"#]]);
}

#[test]
fn lines_of_objects_are_records_whatever_the_name() {
    let env = TestEnv::new();
    let item = r#"{"sku":"mug-blue","qty":1,"quote_id":"1"}"#;
    env.file("items.json", format!("\n{item}\r\n\n{item}\r\n"));
    let outcome = env.run("quote add-item -i items.json -y -q -o json");
    assert_eq!((outcome.code, outcome.stdout.lines().count()), (0, 2), "{outcome:?}");
    env.file("one.json", item);
    assert_eq!(env.done("quote add-item -i one.json")["record"], Value::Null);
}

#[test]
fn the_words_of_merchandisers_are_understood() {
    let env = TestEnv::new();
    let body =
        |line: &str| env.done(&format!("attribute create {line} -n"))["request"]["body"]["attribute"].clone();
    let header = "Code;--label;TYPE;required;searchable;filterable;option\n";
    env.file("fit.csv", format!("{header}fit;Fit;Dropdown;ja;Oui;No;Slim|*Wide\n"));
    let attribute = body("-i fit.csv");
    assert_eq!(attribute["frontend_input"], "select");
    assert_eq!((&attribute["is_required"], &attribute["is_searchable"]), (&json!(true), &json!("1")));
    assert_eq!(attribute["options"][1]["is_default"], true);
    assert_eq!(body("--code gift --label Gift --type yes/no")["frontend_input"], "boolean");
    for (line, message) in [
        ("--code a --label A --type Dropdwn", "unknown frontend_input `Dropdwn`"),
        ("--code a --label ' ' --type text", "attribute.default_frontend_label is empty"),
    ] {
        let outcome = env.run(&format!("attribute create {line}"));
        assert!(outcome.code == 2 && outcome.stderr.contains(message), "{outcome:?}");
    }
    for (row, message) in [
        ("code,tpye,label\na,text,A\n", "unknown column `tpye`; did you mean `type`?"),
        ("code,type,label\na,text,\n", "line 2, column default_frontend_label is empty"),
    ] {
        env.file("wrong.csv", row);
        let outcome = env.run("attribute create -i wrong.csv");
        assert!(outcome.code == 2 && outcome.stderr.contains(message), "{outcome:?}");
    }
    env.file("fit.csv", "--Address,country,City\n2,US,Albany\n");
    assert_eq!(env.done("customer update -i fit.csv -n -y")["addresses"]["changed"], json!([2]));
}

#[test]
fn a_number_that_may_have_dots_between_thousands_is_refused() {
    let env = TestEnv::new();
    env.file("items.csv", "sku;qty;quote_id\nmug-blue;1.000;1\n");
    env.run("quote add-item -i items.csv -y").assert_failure(
        2,
        str![[r#"
error: items.csv: line 2, column qty: "1.000" is ambiguous: write 1000 or 1.0000
  hint: fix the record and try again
"#]],
    );
    for content in ["sku;qty;quote_id\nmug-blue;1.0000;1\n", "sku,qty,quote_id\nmug-blue,1.000,1\n"] {
        env.file("items.csv", content);
        env.done("quote add-item -i items.csv -n");
    }
}

#[test]
fn one_file_of_options_serves_many_attributes() {
    let env = TestEnv::new();
    env.file("attributes.csv", "code,label,type\nfit,Fit,select\ntone,Tone,select\nnote,Note,text\n");
    let options = "attribute_code,label,is_default,label:1\nfit,Slim,,Étroit\ntone,Red,,\nfit,Wide,yes,\n";
    env.file("options.csv", options);
    let outcome = env.run("attribute create -i attributes.csv --options options.csv -n -q -o json");
    let options = |line: &str| {
        serde_json::from_str::<Value>(line).unwrap()["request"]["body"]["attribute"]["options"].clone()
    };
    let options: Vec<Value> = outcome.stdout.lines().map(options).collect();
    let slim = json!({"label": "Slim", "sort_order": 1, "is_default": false,
        "store_labels": [{"store_id": 1, "label": "Étroit"}]});
    assert_eq!(options[0], json!([slim, {"label": "Wide", "sort_order": 2, "is_default": true}]));
    assert_eq!(options[1], json!([{"label": "Red", "sort_order": 1, "is_default": false}]));
    assert_eq!(options[2], Value::Null);
    env.file("options.csv", "attribute_code,label\nfit,Slim\n,Red\nfit,\n");
    env.run("attribute create -i attributes.csv --options options.csv -n").assert_failure(
        2,
        str![[r#"
error: attributes.csv: lines 2, 3, 4: options.csv: line 3, column attribute_code is empty
  options.csv: line 4: the label is empty
  hint: fix these records and try again
"#]],
    );
}
