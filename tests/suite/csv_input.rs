//! CSV as spreadsheets write it, and as it arrives when something went wrong.

use serde_json::json;

use crate::support::test_env::{TestEnv, words};

#[test]
fn a_quote_that_is_never_closed_sends_nothing() {
    let env = TestEnv::new();
    let rows = "mug-blue,1,1\r\n";
    for (name, content, line) in [
        (
            "open.csv",
            format!("sku,qty,quote_id\r\n{rows}mug-blue,1,\"1\r\n{rows}{rows}"),
            "line 3: unclosed quoted cell",
        ),
        (
            "after.csv",
            format!("sku,qty,quote_id\r\n{rows}\"mug\r\nblue\"x,1,1\r\n{rows}"),
            "line 3: text after the closing quote of a cell",
        ),
    ] {
        env.file(name, &content);
        for flags in ["", "--skip-invalid", "-n"] {
            let error = env.fails(2, &format!("quote add-item -i {name} {flags}"));
            assert!(error["message"].as_str().unwrap().contains(line), "{name} {flags}: {error}");
        }
        // Standard input flows by once: what stood before the quote may have been sent, what follows has not.
        let program = env.storefront(&words("quote add-item -i - --input-format csv --journal j --restart"));
        let outcome = program.stdin(content).run();
        assert_ne!(outcome.code, 0, "{outcome:?}");
        assert!(outcome.stderr.contains(line) && env.requests().len() <= 1, "{outcome:?}");
    }
}

#[test]
fn lines_are_those_of_an_editor_in_every_message() {
    let env = TestEnv::new();
    let text = "sku,qty,quote_id\n\"mug-blue\",1,1\n\n\"no\nsuch\",1,1\nmug-blue,x,1\n";
    for (number, end) in ["\n", "\r\n", "\r"].into_iter().enumerate() {
        let name = format!("{number}.csv");
        env.file(&name, text.replace('\n', end));
        let error = env.fails(2, &format!("quote add-item -i {name}"));
        assert!(error["message"].as_str().unwrap().contains("line 6, column qty"), "{end:?}: {error}");
        let outcome =
            env.run(&format!("quote add-item -i {name} --skip-invalid --failed {number}.failed.csv"));
        assert_eq!(outcome.code, 7, "{outcome:?}");
        assert!(outcome.stdout.contains("(line 4)") && outcome.stdout.contains("(line 6)"), "{outcome:?}");
        let failed =
            std::fs::read_to_string(env.home.dir.path().join(format!("{number}.failed.csv"))).unwrap();
        assert!(failed.contains("line 6, column qty"), "{failed}");
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
    for (name, content, says) in [
        ("book.xlsx", &b"PK\x03\x04\x14\0\x06\0"[..], "book.xlsx is a spreadsheet (.xlsx or .ods)"),
        ("book.csv", b"PK\x03\x04\x14\0\x06\0", "book.csv is a spreadsheet"),
        ("bare.csv", b"s\0k\0u\0\n\0", "bare.csv is UTF-16 without a byte order mark"),
        ("latin.csv", b"sku,qty\na,1\nGr\xfcn,1\n", "latin.csv: line 3, column sku: not valid UTF-8"),
        ("ragged.csv", b"sku,qty\na,1\na,1,2\n", "ragged.csv: line 3: the row has 3 cells, the header has 2"),
    ] {
        env.file(name, content);
        let outcome = env.run(&format!("quote add-item -i {name}"));
        assert!(outcome.code == 2 && outcome.stderr.contains(says), "{name}: {outcome:?}");
        if !name.starts_with("ragged") {
            assert!(outcome.stderr.contains("CSV UTF-8"), "{name}: {outcome:?}");
        }
    }
    assert_eq!(env.requests(), [""; 0]);
}

#[test]
fn a_row_without_an_address_id_changes_nothing_by_accident() {
    let env = TestEnv::new();
    let before = env.profile();
    env.file("a.csv", "address_id,city\n2,Albany\n,Troy\n");
    let error = env.fails(2, "customer update -i a.csv");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("line 3, column address_id is empty") && message.contains("`new`"), "{message}");
    assert_eq!(env.profile()["addresses"], before["addresses"]);
}
