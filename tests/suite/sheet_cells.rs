//! What spreadsheets make of cells, and what is said about it before anything is asked or sent.

use std::fmt::Write as _;

use crate::support::magento;
use crate::support::test_env::TestEnv;

/// Runs a batch that is refused as a whole; gives its message.
#[track_caller]
fn refused(line: &str, input: &str) -> String {
    let env = TestEnv::new();
    env.file("in.csv", input);
    let outcome = magento::run(&env, &format!("{line} -i in.csv --yes"));
    assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{outcome:?}");
    let written = env.requests().into_iter().filter(|request| !request.starts_with("GET"));
    assert_eq!(written.count(), 0, "{outcome:?}");
    let error = outcome.stderr.lines().last().unwrap();
    serde_json::from_str::<serde_json::Value>(error).unwrap()["error"]["message"].as_str().unwrap().to_owned()
}

/// The first customer's address of this id after a batch that must go through, and what it printed on standard error.
#[track_caller]
fn address_after(input: &str, id: i64) -> (serde_json::Value, String) {
    let env = TestEnv::new();
    env.file("in.csv", input);
    let outcome = magento::run(&env, "customer update -i in.csv --yes");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    (env.address(id), outcome.stderr)
}

#[test]
fn blanks_and_invisible_characters_around_cells_are_left_out_with_one_warning() {
    let sheet = "customer,address_id,city,postcode\n 1 , 4 , Bonn ,53111\u{200b}\n1,2,\u{a0}Troy\u{a0},12180\n1,1,Paris,75003\n1,3,\u{feff}Byblos, \n";
    let (address, said) = address_after(sheet, 4);
    assert_eq!((&address["city"], &address["postcode"]), (&"Bonn".into(), &"53111".into()));
    let warning = "lines 2, 3, 5: blanks or invisible characters around cells are left out";
    assert_eq!(said.matches(warning).count(), 1, "{said}");
    let (_, said) = address_after("customer,address_id,city\n1,4,Bonn\n", 4);
    assert_eq!(said, "");
}

#[test]
fn a_formula_that_holds_a_text_is_that_text() {
    for cell in ["\"=\"\"02138\"\"\"", "=\"02138\""] {
        let (address, said) =
            address_after(&format!("customer,address_id,postcode,city\n1,4,{cell},Bonn\n"), 4);
        assert_eq!((address["postcode"].as_str(), said.as_str()), (Some("02138"), ""));
    }
}

#[test]
fn errors_of_a_spreadsheet_and_shortened_numbers_are_refused() {
    for cell in
        ["#N/A", "#NV", "#BEZUG!", "#VALEUR!", "#NOM?", "#¡REF!", "#¿NOMBRE?", " #N/A ", "Err:502", "#####"]
    {
        let said = refused("customer update", &format!("customer,address_id,city\n1,4,{cell}\n"));
        assert!(said.contains("line 2, column city:") && said.contains(cell.trim()), "{said}");
    }
    for (column, cell) in [("telephone", "4.47912E+11"), ("telephone", "4E+11"), ("postcode", "\"4,5E+4\"")] {
        let said = refused("customer update", &format!("customer,address_id,{column}\n1,4,{cell}\n"));
        assert!(said.contains("shortened"), "{said}");
    }
    let said = refused("quote add-item", "customer,sku,qty\n1,1.5E+12,1\n");
    assert!(said.contains("column sku:"), "{said}");
    let said = refused("quote add-item", "customer,sku,qty\n1,mug-blue,\"1,000\"\n");
    assert!(said.contains("write 1000 or 1.0000") || said.contains("ambiguous"), "{said}");
}

#[test]
fn placeholders_and_wrongly_decoded_text_are_warnings_with_all_their_lines() {
    let mut sheet = "customer,address_id,city,company\n".to_owned();
    for (id, city, company) in
        [(1, "MÃ¼nchen", "NULL"), (2, "BogotÃ¡", "undefined"), (4, "M\u{fffd}nchen", "[object Object]")]
    {
        writeln!(sheet, "1,{id},{city},{company}").unwrap();
    }
    let env = TestEnv::new();
    env.file("in.csv", sheet);
    // A dry run shows three records and looks at all of them.
    for flags in ["--yes", "--dry-run --restart"] {
        let outcome = magento::run(&env, &format!("customer update -i in.csv {flags}"));
        assert_eq!(outcome.code, 0, "{outcome:?}");
        for warning in [
            "lines 2, 3: column city: the text looks decoded with the wrong encoding",
            "line 4: column city: a character was lost",
            "line 2: column company: `NULL` is sent as a text",
            "line 3: column company: `undefined` is sent as a text",
            "line 4: column company: `[object Object]` is sent as a text",
        ] {
            assert_eq!(outcome.stderr.matches(warning).count(), 1, "{warning}: {outcome:?}");
        }
    }
}

#[test]
fn placeholders_in_a_document_are_warnings_before_anything_is_sent() {
    let env = TestEnv::new();
    env.file(
        "in.json",
        r#"{"customer": {"addresses": [{"id": 4, "city": "undefined", "telephone": "NaN"}]}}"#,
    );
    let outcome = env.run("customer update -i in.json --dry-run");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    for name in ["city: `undefined`", "telephone: `NaN`"] {
        assert!(outcome.stderr.contains(name), "{outcome:?}");
    }
}

#[test]
fn options_are_separated_by_line_breaks_too_and_their_separators_can_be_escaped() {
    let env = TestEnv::new();
    env.file(
        "in.csv",
        "code,label,type,options,is_required\nfabric,Fabric,select,\"Linen\nCotton\",WAHR\nstars,Stars,select,\\*NEW*|A\\|B,Faux\n",
    );
    let outcome = magento::run(&env, "attribute create -i in.csv --yes");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let labels = |code: &str| -> Vec<String> {
        let shown = magento::run(&env, &format!("attribute show {code}"));
        let shown: serde_json::Value = serde_json::from_str(&shown.stdout).unwrap();
        let labels = shown["options"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it["label"].as_str().unwrap().trim().to_owned());
        labels.filter(|label| !label.is_empty()).collect()
    };
    assert_eq!(labels("fabric"), ["Linen", "Cotton"]);
    assert_eq!(labels("stars"), ["*NEW*", "A|B"]);
}

#[test]
fn an_option_whose_letters_are_decomposed_is_the_stored_one() {
    let env = TestEnv::new();
    let create = "attribute create --code shade --label Shade --type select --option Türkis Rot";
    assert_eq!(magento::run(&env, create).code, 0);
    env.file("in.csv", "attribute_code,label\nshade,Tu\u{308}rkis\nshade,TU\u{308}RKIS\n");
    let outcome = magento::run(&env, "attribute option add -i in.csv --yes");
    assert!(outcome.stdout.lines().next().unwrap().contains("already there"), "{outcome:?}");
    assert!(outcome.stdout.contains(r#""reason":"unchanged""#), "{outcome:?}");
}

#[test]
fn a_file_with_bars_between_cells_is_a_sheet() {
    let env = TestEnv::new();
    env.file("in.csv", "customer|sku|qty\n1|mug-blue|2\n");
    let outcome = magento::run(&env, "quote add-item -i in.csv --yes");
    assert_eq!(outcome.code, 0, "{outcome:?}");
}

#[test]
fn several_documents_and_pages_of_records_are_named_with_the_command_that_splits_them() {
    let env = TestEnv::new();
    env.file("stream.json", "{\n \"gender\": 1\n}\n{\n \"gender\": 2\n}\n");
    env.file("page.json", "{\"items\": [{\"gender\": 1}], \"total_count\": 1}");
    let hint = |name: &str| {
        env.fails(2, &format!("customer update -i {name} --yes"))["hint"].as_str().unwrap().to_owned()
    };
    assert_eq!(hint("stream.json"), "write one a line: `jq -c . stream.json > records.ndjson`");
    assert_eq!(hint("page.json"), "take the records out: `jq -c '.items[]' page.json > records.ndjson`");
    assert_eq!(env.requests(), Vec::<String>::new());
}

#[test]
fn a_dry_run_of_many_records_warns_about_all_of_them_and_a_run_only_once() {
    let mut sheet = "customer,address_id,telephone\n".to_owned();
    for (customer, id) in [(1, 1), (1, 2), (1, 3), (1, 4), (2, 5)] {
        writeln!(sheet, "{customer},{id},+49 30 2345{id}").unwrap();
    }
    sheet.push_str("2,6,call me\n");
    let env = TestEnv::new();
    env.file("in.csv", sheet);
    let warning = "line 7: address 6: `call me` does not look like a phone number";
    for flags in ["--dry-run", "--yes"] {
        let outcome = magento::run(&env, &format!("customer update -i in.csv {flags}"));
        assert_eq!(outcome.code, 0, "{outcome:?}");
        assert_eq!(outcome.stderr.matches(warning).count(), 1, "{flags}: {outcome:?}");
    }
}

#[test]
fn the_text_mark_of_a_spreadsheet_goes_with_a_warning_and_an_apostrophe_stays() {
    let sheet = "customer,address_id,city,postcode,telephone\n1,4,'s-Hertogenbosch,'10119,'+12125550100\n";
    let (address, said) = address_after(sheet, 4);
    assert_eq!((&address["postcode"], &address["telephone"]), (&"10119".into(), &"+12125550100".into()));
    assert_eq!(address["city"], "'s-Hertogenbosch");
    assert!(
        said.contains("line 2: the apostrophe with which a spreadsheet marks a text is left out"),
        "{said}"
    );
    let env = TestEnv::new();
    env.file("in.csv", "code,label,type,options\ndecade,'90s,select,'80s|'90s\n");
    let outcome = magento::run(&env, "attribute create -i in.csv --yes");
    assert_eq!((outcome.code, outcome.stderr.as_str()), (0, ""), "{outcome:?}");
    let shown = magento::run(&env, "attribute show decade");
    assert!(shown.stdout.contains("\"'80s\"") && shown.stdout.contains("\"'90s\""), "{shown:?}");
}

#[test]
fn an_escaped_star_is_the_character_anywhere_in_a_label() {
    let env = TestEnv::new();
    env.file("in.csv", "code,label,type,options\nscrew,Screw,select,5\\*50|*\\*new\\*\n");
    let outcome = magento::run(&env, "attribute create -i in.csv --yes");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let shown = magento::run(&env, "attribute show screw");
    assert!(shown.stdout.contains("\"5*50\"") && shown.stdout.contains("\"*new*\""), "{shown:?}");
}
