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
