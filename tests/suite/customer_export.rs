//! Addresses in a sheet: written, edited, given in again. What spreadsheets save of one is in `tests/sheets`.

use std::path::Path;

use snapbox::str;

use crate::support::magento;
use crate::support::snapshot::assert_snapshot;
use crate::support::test_env::TestEnv;

/// Requests that may have changed something, since the last time that this was asked.
fn writes(env: &TestEnv) -> Vec<String> {
    env.requests().into_iter().filter(|request| !request.starts_with("GET")).collect()
}

fn read(env: &TestEnv, name: &str) -> String {
    std::fs::read_to_string(env.home.dir.path().join(name)).unwrap()
}

fn export(env: &TestEnv, line: &str) -> String {
    let outcome = magento::run(env, &format!("customer export {line} --to out.csv"));
    assert_eq!(outcome.code, 0, "{outcome:?}");
    read(env, "out.csv")
}

/// The sheet with some text in its place; it must be there once.
#[track_caller]
fn edited(sheet: &str, from: &str, to: &str) -> String {
    assert_eq!(sheet.matches(from).count(), 1, "{from}: {sheet}");
    sheet.replace(from, to)
}

fn sheets() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/sheets")
}

#[test]
fn a_sheet_that_a_spreadsheet_has_saved_writes_nothing() {
    let env = TestEnv::new();
    env.file("shop.ndjson", std::fs::read(sheets().join("shop.ndjson")).unwrap());
    let outcome = magento::run(&env, "customer update -i shop.ndjson --yes");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let exported = export(&env, "--all-customers");
    assert_eq!(exported, std::fs::read_to_string(sheets().join("addresses.csv")).unwrap(), "run make.py");
    for name in
        ["addresses.csv", "libreoffice-en.csv", "libreoffice-de.csv", "excel-de.csv", "excel-unicode.txt"]
    {
        env.file(name, std::fs::read(sheets().join(name)).unwrap());
        drop(env.requests());
        let outcome = magento::run(&env, &format!("customer update -i {name} --yes"));
        assert_eq!(outcome.code, 0, "{name}: {outcome:?}");
        assert_eq!(outcome.stdout.matches("\"unchanged\"").count(), 12, "{name}: {outcome:?}");
        assert_eq!(outcome.stderr, "", "{name}");
        // What was not edited is not even read.
        assert_eq!(env.requests(), Vec::<String>::new(), "{name}");
    }
    env.file("lost-zeros.csv", std::fs::read(sheets().join("lost-zeros.csv")).unwrap());
    let error = magento::fails(&env, 2, "customer update -i lost-zeros.csv --yes");
    assert_snapshot(
        error["message"].as_str().unwrap(),
        str![
            "lost-zeros.csv: lines 2, 5, 8: a spreadsheet removed leading zeros, a `+` or blanks from numbers of the row (add --allow-spreadsheet-loss if they are meant so)"
        ],
    );
    assert_eq!(env.requests(), Vec::<String>::new());
    let outcome = magento::run(&env, "customer update -i lost-zeros.csv --yes --allow-spreadsheet-loss");
    assert_eq!((outcome.code, env.address(4)["postcode"].clone()), (0, "2138".into()), "{outcome:?}");
}

#[test]
fn one_edited_cell_is_one_put_that_changes_it() {
    let env = TestEnv::new();
    let sheet = edited(&export(&env, "--all-customers"), "Invalidenstraße 117", "Invalidenstraße 118");
    env.file("in.csv", &sheet);
    let outcome = magento::run(&env, "customer update -i in.csv --yes");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(writes(&env).len(), 1);
    let done: Vec<serde_json::Value> = outcome
        .stdout
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|line: &serde_json::Value| line["applied"] == "yes")
        .collect();
    let paths: Vec<&serde_json::Value> =
        done.iter().flat_map(|line| line["changes"].as_array().unwrap()).map(|it| &it["path"]).collect();
    assert_eq!(paths, ["addresses[id=4].street"]);
    assert_eq!(env.address(4)["street"], serde_json::json!(["Invalidenstraße 118"]));
    // The same sheet again says what the shop has by now.
    drop(env.requests());
    let outcome = magento::run(&env, "customer update -i in.csv --yes --restart");
    assert_eq!((outcome.code, writes(&env)), (0, Vec::new()), "{outcome:?}");
}

#[test]
fn what_the_shop_has_changed_since_is_not_overwritten() {
    let env = TestEnv::new();
    let sheet = export(&env, "--customer 1");
    magento::done(&env, "customer update --customer 1 --address 4 --city Potsdam --yes");
    drop(env.requests());
    env.file("same.csv", &sheet);
    assert_eq!(
        magento::run(&env, "customer update -i same.csv --yes").code,
        0,
        "a row as it was exported is not sent"
    );
    assert_eq!((env.address(4)["city"].clone(), writes(&env)), ("Potsdam".into(), Vec::new()));
    env.file("in.csv", edited(&sheet, "Invalidenstraße 117", "Invalidenstraße 118"));
    let outcome = magento::run(&env, "customer update -i in.csv --yes");
    assert_eq!((outcome.code, writes(&env)), (7, Vec::new()), "{outcome:?}");
    let failed = outcome.stdout.lines().find(|line| line.contains("\"error\"")).unwrap();
    let failed: serde_json::Value = serde_json::from_str(failed).unwrap();
    assert_eq!(failed["error"]["kind"], "guard");
    assert_snapshot(
        failed["error"]["message"].as_str().unwrap(),
        str![
            "address 4 was changed in the shop since the export: street: the shop has `Invalidenstraße 117`, the sheet `Invalidenstraße 118`; city: the shop has `Potsdam`, the sheet `Berlin`"
        ],
    );
}

#[test]
fn an_empty_cell_changes_nothing_and_a_word_clears() {
    let env = TestEnv::new();
    let sheet = export(&env, "--customer 1");
    env.file("empty.csv", edited(&sheet, ",Haddad Imports,", ",,"));
    let outcome = magento::run(&env, "customer update -i empty.csv --yes");
    assert_eq!((outcome.code, writes(&env)), (0, Vec::new()), "{outcome:?}");
    assert!(outcome.stderr.contains("line 3: the row was edited, and changes nothing"), "{outcome:?}");
    let sheet = edited(&sheet, ",Haddad Imports,", ",__EMPTY__VALUE__,");
    env.file("cleared.csv", edited(&sheet, "\"=\"\"B4711\"\"\"", "__EMPTY__VALUE__"));
    let outcome = magento::run(&env, "customer update -i cleared.csv --yes");
    assert_eq!((outcome.code, writes(&env).len()), (0, 2), "{outcome:?}");
    assert!(env.address(2).get("company").is_none_or(|it| it.is_null() || it == ""), "{}", env.address(2));
    assert!(!env.address(1).to_string().contains("B4711"));
    for (word, said) in
        [("__EMPTY__", "expected __EMPTY__VALUE__"), ("__EMPTY__VALUE__", "cannot be cleared")]
    {
        env.file("wrong.csv", format!("customer,address_id,country_id\n1,2,{word}\n"));
        let error = magento::fails(&env, 2, "customer update -i wrong.csv --yes");
        assert!(error["message"].as_str().unwrap().contains(said), "{error}");
    }
}

#[test]
fn a_default_is_moved_by_a_cell_and_two_of_one_customer_are_refused() {
    let env = TestEnv::new();
    let sheet = export(&env, "--customer 1");
    let [line4, line5] = [3, 4].map(|at| sheet.lines().nth(at).unwrap().to_owned());
    let is_default = |line: &str| edited(line, ",no,no,", ",yes,no,");
    drop(env.requests());
    env.file("two.csv", edited(&edited(&sheet, &line4, &is_default(&line4)), &line5, &is_default(&line5)));
    let error = magento::fails(&env, 2, "customer update -i two.csv --yes");
    assert_snapshot(
        error["message"].as_str().unwrap(),
        str!["two.csv: line 5: sets `default_billing` to another value than line 4, for the same customer"],
    );
    assert_eq!(env.requests(), Vec::<String>::new());
    env.file("one.csv", edited(&sheet, &line5, &is_default(&line5)));
    let outcome = magento::run(&env, "customer update -i one.csv --yes");
    assert_eq!((outcome.code, writes(&env).len()), (0, 1), "{outcome:?}");
    assert_eq!(
        (env.address(4)["default_billing"].clone(), env.address(1).get("default_billing").cloned()),
        (true.into(), None)
    );
}

#[test]
fn a_sheet_that_is_compared_has_the_columns_and_the_marks_of_the_export() {
    let env = TestEnv::new();
    let sheet = export(&env, "--customer 1");
    drop(env.requests());
    let sheet = sheet.trim_start_matches('\u{feff}');
    let without = |title: &str| {
        let at = sheet.lines().next().unwrap().split(',').position(|it| it == title).unwrap();
        let rows = csv::ReaderBuilder::new().has_headers(false).from_reader(sheet.as_bytes()).into_records();
        let mut text = csv::Writer::from_writer(Vec::new());
        for row in rows {
            let row = row.unwrap();
            text.write_record(row.iter().enumerate().filter(|(index, _)| *index != at).map(|(_, cell)| cell))
                .unwrap();
        }
        text.into_inner().unwrap()
    };
    for (title, said) in [
        ("fax", "missing column `fax`: a sheet with `exported` has all columns of the export"),
        ("custom_attribute:door_code", "the sheet has 17 columns of addresses, and 18 were exported"),
        ("customer", "did you mean `customer`?"),
    ] {
        env.file("in.csv", without(title));
        let error = magento::fails(&env, 2, "customer update -i in.csv --yes");
        assert!(error["message"].as_str().unwrap().contains(said), "{title}: {error}");
    }
    env.file("in.csv", sheet.replace(",xs-", ",xs_"));
    let error = magento::fails(&env, 2, "customer update -i in.csv --yes");
    assert!(error["message"].as_str().unwrap().contains("is not what an export writes"), "{error}");
    assert_eq!(env.requests(), Vec::<String>::new());
    // Without the marks it is a sheet like any other.
    env.file("in.csv", without("exported"));
    let outcome = magento::run(&env, "customer update -i in.csv --yes");
    assert_eq!((outcome.code, writes(&env)), (0, Vec::new()), "{outcome:?}");
}

#[test]
fn a_number_that_a_spreadsheet_shortened_is_found_in_any_sheet() {
    let env = TestEnv::new();
    env.file(
        "in.csv",
        "customer,address_id,postcode,telephone\n1,4,2138,+49 30 2345678\n1,1,75003,33142685300\n",
    );
    let outcome = magento::run(&env, "customer update -i in.csv --yes");
    assert_eq!((outcome.code, writes(&env)), (7, Vec::new()), "{outcome:?}");
    for said in
        ["postcode: the shop has `02138`, of which a spreadsheet left `2138`", "telephone: the shop has"]
    {
        assert!(outcome.stdout.contains(said), "{outcome:?}");
    }
    let outcome = magento::run(&env, "customer update -i in.csv --yes --allow-spreadsheet-loss --restart");
    assert_eq!((outcome.code, env.address(4)["postcode"].clone()), (0, "2138".into()), "{outcome:?}");
}

#[test]
fn an_export_is_private_whole_and_overwrites_nothing() {
    let env = TestEnv::new();
    env.file("taken.csv", "mine");
    let error = magento::fails(&env, 3, "customer export --customer 1 --to taken.csv");
    assert!(error["message"].as_str().unwrap().contains("exists"), "{error}");
    assert_eq!((read(&env, "taken.csv"), env.requests().len()), ("mine".to_owned(), 0));
    env.file("who.csv", "customer\n1\n999\n");
    magento::fails(&env, 2, "customer export -i who.csv --to new.csv");
    assert!(!env.home.dir.path().join("new.csv").exists());
    let error = magento::fails(&env, 2, "customer export --customer 2 --encoding windows-1252 --to new.csv");
    assert!(error["message"].as_str().unwrap().contains("windows-1252 has no `"), "{error}");
    assert!(!env.home.dir.path().join("new.csv").exists());
    let outcome = magento::run(&env, "customer export --customer 4 --to new.csv --format json");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(env.home.dir.path().join("new.csv")).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }
}

#[test]
fn what_is_exported_as_json_is_an_input_too() {
    let env = TestEnv::new();
    let outcome = magento::run(&env, "customer export --all-customers --to out.ndjson --format json");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    // The built-in shop has a customer whose addresses block every update.
    let outcome = magento::run(&env, "customer update -i out.ndjson --yes");
    assert_eq!((outcome.code, writes(&env)), (0, Vec::new()), "{outcome:?}");
}

#[test]
fn a_customer_of_the_marketplace_has_a_sheet_without_the_customer() {
    let env = TestEnv::new();
    let outcome = env.storefront("customer export --to out.csv").run();
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let sheet = read(&env, "out.csv");
    assert!(sheet.starts_with("\u{feff}address_id,region,country_id,"), "{sheet}");
    env.file("in.csv", edited(&sheet, "Invalidenstraße 117", "Invalidenstraße 118"));
    let outcome = env.storefront("customer update -i in.csv --yes").run();
    assert_eq!((outcome.code, writes(&env).len()), (0, 1), "{outcome:?}");
    let error = env.storefront("customer export -i in.csv -o json").run();
    assert_eq!(error.code, 2, "{error:?}");
}
