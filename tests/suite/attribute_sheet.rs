//! Attributes in a sheet: written, saved by a spreadsheet, given in again. What was saved is in `tests/sheets`.

use std::path::{Path, PathBuf};

use snapbox::str;

use crate::support::magento;
use crate::support::snapshot::assert_snapshot;
use crate::support::test_env::TestEnv;

const CODES: &str = "sheet_decade sheet_weave sheet_year";

fn sheets() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sheets")
}

fn copy(env: &TestEnv, name: &str) {
    env.file(name, std::fs::read(sheets().join(name)).unwrap());
}

fn exported(env: &TestEnv, format: &str) -> String {
    let outcome = magento::run(env, &format!("attribute export --format {format} {CODES}"));
    assert_eq!(outcome.code, 0, "{outcome:?}");
    outcome.stdout
}

#[test]
fn a_sheet_that_a_spreadsheet_has_saved_makes_the_same_attributes() {
    let env = TestEnv::new();
    copy(&env, "attributes.json");
    let outcome = magento::run(&env, "attribute create -i attributes.json --yes");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let (json, sheet) = (exported(&env, "json"), exported(&env, "csv"));
    assert_eq!(sheet, std::fs::read_to_string(sheets().join("attributes.csv")).unwrap(), "run make.py");
    for name in ["attributes.csv", "attributes-en.csv", "attributes-de.csv"] {
        let other = TestEnv::new();
        copy(&other, name);
        let outcome = magento::run(&other, &format!("attribute create -i {name} --yes"));
        assert_eq!(outcome.code, 0, "{name}: {outcome:?}");
        assert_eq!(exported(&other, "json"), json, "{name}");
        // Where they are already, nothing is written.
        drop(other.requests());
        magento::run(&other, &format!("attribute create -i {name} --yes --restart"));
        let writes = other.requests().into_iter().filter(|request| !request.starts_with("GET"));
        assert_eq!(writes.collect::<Vec<_>>(), Vec::<String>::new(), "{name}");
    }
}

#[test]
fn what_no_column_takes_is_said() {
    let env = TestEnv::new();
    env.file("one.csv", "label,label:fr\nBlue,Bleu\n");
    magento::done(&env, "attribute create --code tint --label Tint --type select --options one.csv --yes");
    let outcome = magento::run(&env, "attribute export tint --format csv --to tint.csv");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_snapshot(
        &outcome.stderr,
        str![[
            r#"{"warning":{"message":"the sheet has no labels of options in store views (1 attribute); JSON has them"}}"#
        ]],
    );
    let error = magento::fails(&env, 3, "attribute export tint --to tint.csv");
    assert!(error["message"].as_str().unwrap().contains("exists"), "{error}");
}
