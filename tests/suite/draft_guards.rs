//! What a spreadsheet made of a value cannot be meant, and records that contradict each other neither: by flags, in a sheet, in
//! a document, and in a dialogue.

use crate::support::magento;
use crate::support::raw_http::CUSTOMER;
use crate::support::test_env::TestEnv;

const CASES: [(&str, &str, &str); 4] = [
    ("city", "#N/A", "an error of the spreadsheet"),
    ("company", "#BEZUG!", "an error of the spreadsheet"),
    ("telephone", "4.47912E+11", "shortened a number"),
    ("postcode", "4,5E+4", "shortened a number"),
];

#[test]
fn a_value_that_a_spreadsheet_broke_is_refused_wherever_it_stands() {
    let env = TestEnv::new();
    for (field, value, why) in CASES {
        let address =
            format!("{{\"customer\": {{\"addresses\": [{{\"id\": 1, \"{field}\": \"{value}\"}}]}}}}");
        env.file("in.ndjson", format!("{{\"customer\": {{\"gender\": 1}}}}\n{address}\n"));
        env.file("in.json", format!("[{address}]"));
        env.file("sheet.csv", format!("address_id,{field}\n1,\"{value}\"\n"));
        let flag = field.replace('_', "-");
        for line in [
            format!("--address 1 --{flag} '{value}'"),
            format!("--add-address --street A --{flag} '{value}'"),
            "-i in.ndjson".to_owned(),
            "-i in.json".to_owned(),
            "-i sheet.csv".to_owned(),
        ] {
            let line = format!("customer update {line} --yes -q -o json");
            let words = crate::support::test_env::words(&line);
            let outcome = env.storefront(&words).run();
            assert_eq!((outcome.code, outcome.stdout.as_str()), (2, ""), "{line}: {outcome:?}");
            let message = outcome.error()["message"].as_str().unwrap().to_owned();
            assert!(message.contains(why) && message.contains(field), "{line}: {message}");
        }
    }
    for line in ["--sku 1.5E+12 --qty 1", "--sku '#NV' --qty 1"] {
        let words = crate::support::test_env::words(line);
        let outcome = env.storefront(&[&["quote", "add-item", "--quote-id", "1"], &words[..]].concat()).run();
        assert_eq!(outcome.code, 2, "{line}: {outcome:?}");
    }
    assert_eq!(env.requests(), Vec::<String>::new());
}

#[test]
fn a_value_that_is_stored_already_may_stand_in_the_document_that_changes_another() {
    let env = TestEnv::new();
    let mut profile = env.profile();
    profile["addresses"][0]["company"] = "#N/A".into();
    env.sandbox.put_profile(CUSTOMER, &profile);
    profile["addresses"][0]["city"] = "Lyon".into();
    env.file("one.json", profile.to_string());
    let outcome = env.run("customer update -i one.json --yes -q -o json");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!((&env.address(1)["city"], &env.address(1)["company"]), (&"Lyon".into(), &"#N/A".into()));
    profile["addresses"][0]["company"] = "#REF!".into();
    env.file("one.json", profile.to_string());
    let error = env.fails(2, "customer update -i one.json --yes");
    assert!(error["message"].as_str().unwrap().contains("addresses[0].company"), "{error}");
}

#[test]
fn records_of_a_document_that_set_one_field_to_different_values_are_refused_with_both() {
    let env = TestEnv::new();
    let record = |customer: u32, id: u32, city: &str| {
        format!("{{\"customer\": {customer}, \"addresses\": [{{\"id\": {id}, \"city\": \"{city}\"}}]}}")
    };
    let records = [record(1, 1, "Troy"), record(1, 2, "Troy"), record(1, 1, "Albany")];
    env.file("in.ndjson", records.join("\n"));
    env.file("in.json", format!("[{}]", records.join(",")));
    for (file, places) in
        [("in.ndjson", ["line 3", "than line 1"]), ("in.json", ["record 3", "than record 1"])]
    {
        let error = magento::fails(&env, 2, &format!("customer update -i {file} --yes --skip-invalid"));
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("`addresses[id=1].city`"), "{message}");
        assert!(places.iter().all(|place| message.contains(place)), "{message}");
    }
    assert_eq!(env.requests(), Vec::<String>::new());
    env.file("same.ndjson", [record(1, 1, "Troy"), record(1, 1, "Troy")].join("\n"));
    let outcome = magento::run(&env, "customer update -i same.ndjson --yes");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert!(outcome.stderr.contains("line 2 (`addresses[id=1].city`, as line 1)"), "{outcome:?}");
}

/// Every way to write one field of a profile or of its address, refused in the same words before anything is sent.
#[track_caller]
fn is_refused_everywhere(field: &str, value: &str, of_address: bool, why: &str) {
    let env = TestEnv::new();
    let json = serde_json::Value::from(value);
    let (place, title, cell) = if of_address {
        (format!("\"addresses\": [{{\"id\": 2, \"{field}\": {json}}}]"), "customer,address_id", "1,2")
    } else {
        (format!("\"{field}\": {json}"), "customer", "1")
    };
    env.file("one.json", format!("{{{place}}}"));
    env.file("flat.ndjson", format!("{{\"customer\": 1, \"gender\": 1}}\n{{\"customer\": 1, {place}}}\n"));
    env.file("sheet.csv", format!("{title},{field}\n{cell},\"{value}\"\n"));
    let flags = if of_address { "--address 2 " } else { "" };
    for line in [
        format!("--customer 1 {flags} --{field}='{value}'"),
        "--customer 1 -i one.json".to_owned(),
        "-i flat.ndjson".to_owned(),
        "-i sheet.csv".to_owned(),
    ] {
        let error = magento::fails(&env, 2, &format!("customer update {line} --yes"));
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(why) && message.contains(field), "{line}: {message}");
    }
    let sent = env.requests().into_iter().filter(|request| !request.starts_with("GET"));
    assert_eq!(sent.count(), 0);
}

#[test]
fn a_date_is_a_year_a_month_and_a_day_wherever_it_stands() {
    for (value, why) in [
        ("44927", "which a spreadsheet shows as 2023-01-01"),
        ("01/02/2026", "which may be 2026-01-02 or 2026-02-01"),
        ("4/3/85", "which may be 1985-04-03 or 1985-03-04"),
        ("03.04.1985", "which may be 1985-04-03"),
        ("2026-02-31", "a day that does not exist"),
        ("0085-04-03", "a year before 1900"),
        ("soon", "expected a date such as 1985-04-03"),
    ] {
        is_refused_everywhere("dob", value, false, why);
    }
    let env = TestEnv::new();
    env.file("serial.json", r#"{"dob": 44927}"#);
    let error = magento::fails(&env, 2, "customer update --customer 1 -i serial.json --yes");
    assert!(error["message"].as_str().unwrap().contains("2023-01-01"), "{error}");
    env.file("midnight.json", r#"{"dob": "1985-04-03 00:00:00"}"#);
    let outcome = magento::run(&env, "customer update --customer 1 -i midnight.json --yes");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(env.profile()["dob"], "1985-04-03");
    let outcome = magento::run(&env, "customer update --customer 1 --clear dob --yes");
    assert_eq!(outcome.code, 0, "{outcome:?}");
}

#[test]
fn a_field_of_one_line_holds_no_control_character_wherever_it_stands() {
    for (value, why) in
        [("Reno\nEvil", "a line break"), ("Reno\u{8}Evil", "a control character"), ("Reno\tNV", "a tab")]
    {
        is_refused_everywhere("city", value, true, why);
    }
    let env = TestEnv::new();
    let line = "customer update --customer 1 --address 2 --city ' Reno\u{a0}\n' --street ' Main St 1 ' --yes";
    let outcome = magento::run(&env, line);
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(
        (&env.address(2)["city"], &env.address(2)["street"][0]),
        (&"Reno".into(), &"Main St 1".into())
    );
    env.file("street.csv", "customer,address_id,street\n1,2,\"Rear house\nMain St 2\"\n");
    let outcome = magento::run(&env, "customer update -i street.csv --yes");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    assert_eq!(env.address(2)["street"], serde_json::json!(["Rear house", "Main St 2"]));
}

#[test]
fn true_and_false_are_no_texts() {
    let env = TestEnv::new();
    env.file("one.json", r#"{"addresses": [{"id": 2, "telephone": true}]}"#);
    env.file("many.ndjson", "{\"customer\": 1, \"gender\": 1}\n{\"customer\": 1, \"addresses\": [{\"id\": 2, \"telephone\": true}]}\n");
    for line in ["--customer 1 -i one.json", "-i many.ndjson"] {
        let error = magento::fails(&env, 2, &format!("customer update {line} --yes"));
        let message = error["message"].as_str().unwrap();
        assert!(message.contains("addresses[0].telephone: expected a text, found true"), "{message}");
    }
    let sent = env.requests().into_iter().filter(|request| !request.starts_with("GET"));
    assert_eq!(sent.count(), 0);
}

#[test]
fn a_number_with_a_group_of_three_digits_is_ambiguous_in_flags_as_in_cells() {
    let env = TestEnv::new();
    let outcome = magento::run(&env, "quote add-item --customer 1 --sku mug-blue --qty 1,000");
    assert!(
        outcome.code == 2 && outcome.stderr.contains("is ambiguous: write 1000 or 1.0000"),
        "{outcome:?}"
    );
    env.file("in.csv", "customer,sku,qty\n1,mug-blue,\"1,000\"\n");
    let error = magento::fails(&env, 2, "quote add-item -i in.csv --yes");
    assert!(error["message"].as_str().unwrap().contains("is ambiguous: write 1000 or 1.0000"), "{error}");
    assert_eq!(env.requests(), Vec::<String>::new());
}
