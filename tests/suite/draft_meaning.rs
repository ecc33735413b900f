//! What cannot be meant is refused before anything is sent, however it was written: flags that contradict each other,
//! one attribute twice, rows of a sheet that contradict each other.

use snapbox::str;

use crate::support::magento;
use crate::support::snapshot::assert_snapshot;
use crate::support::storefront::Home;
use crate::support::test_env::TestEnv;

#[test]
fn a_field_that_is_set_and_cleared_at_once_is_refused() {
    let home = Home::new();
    for (flags, field) in [
        ("--address 1 --city Troy --clear city", "city"),
        ("--address 1 --clear region --region-code CA", "region"),
        ("--address 1 --region Berlin --clear region", "region"),
        ("--address 1 --no-region --clear region", "region"),
        ("--address 1 --vat-id X1 --clear vat-id", "vat-id"),
        ("--address 1 --company ACME --clear vat-id company", "company"),
    ] {
        let message = home.fails(2, &format!("--sandbox customer update {flags}"));
        assert!(message.contains(&format!("`--clear {field}`")), "{flags}: {message}");
    }
    home.ok("--sandbox customer update --address 1 --city Troy --clear company");
}

#[test]
fn a_custom_attribute_that_is_given_twice_is_refused_before_anything_is_read() {
    let env = TestEnv::new();
    let error = env.fails(2, "customer update --address 1 --custom-attribute floor=1 floor=2 --yes");
    assert!(error["message"].as_str().unwrap().contains("`floor`"), "{error}");
    let twice = r#"[{"attribute_code": "floor", "value": "1"}, {"attribute_code": "floor", "value": "2"}]"#;
    env.file("profile.json", format!("{{\"custom_attributes\": {twice}}}"));
    let address =
        format!("{{\"customer\": {{\"addresses\": [{{\"id\": 1, \"custom_attributes\": {twice}}}]}}}}\n");
    env.file("address.ndjson", format!("{{\"customer\": {{\"gender\": 1}}}}\n{address}"));
    for name in ["profile.json", "address.ndjson"] {
        let error = env.fails(2, &format!("customer update -i {name} --yes"));
        assert!(error["message"].as_str().unwrap().contains("`floor`"), "{error}");
    }
    assert_eq!(env.requests(), Vec::<String>::new());
}

#[test]
fn rows_that_set_one_field_to_different_values_are_refused_with_both_lines() {
    let env = TestEnv::new();
    let sheet =
        "customer,address_id,city,postcode\n1,1,Troy,12180\n2,4,Bonn,53111\n1,1,Albany,12180\n1,2,Utica,\n";
    env.file("in.csv", sheet);
    let outcome = magento::run(&env, "customer update -i in.csv --yes --skip-invalid");
    assert_eq!(outcome.code, 2, "{outcome:?}");
    assert_snapshot(
        outcome.error()["message"].as_str().unwrap(),
        str!["in.csv: line 4: sets column city to another value than line 2, for the same customer"],
    );
    env.file("email.csv", "customer,firstname\n1,Ann\n1,Anne\n");
    // Leaving out one of them would choose between them.
    let error = magento::fails(&env, 2, "customer update -i email.csv --yes");
    assert!(!error.to_string().contains("--skip-invalid"), "{error}");
    env.file("tokens.csv", "token,gender\nsandbox-customer-1,1\nsandbox-customer-1,2\n");
    let error = env.fails(2, "customer update -i tokens.csv --yes");
    assert!(!error.to_string().contains("sandbox-customer-1"), "{error}");
    // A dry run and a plan find it, too.
    assert_eq!(magento::run(&env, "customer update -i in.csv --dry-run").code, 2);
    assert_eq!(magento::run(&env, "customer update -i in.csv --plan out.plan").code, 2);
}

#[test]
fn rows_that_set_one_field_to_one_value_are_a_warning() {
    let env = TestEnv::new();
    env.file("in.csv", "customer,address_id,city\n1,1,Troy\n1,1, Troy\n1,2,Troy\n");
    let outcome = magento::run(&env, "customer update -i in.csv --yes");
    assert_eq!(outcome.code, 0, "{outcome:?}");
    let warning = "1 record sets a field to the value that an earlier one sets: line 3 \
                   (column city, as line 2)";
    assert!(outcome.stderr.contains(warning), "{outcome:?}");
}

#[test]
fn a_row_may_set_again_what_an_earlier_run_has_done() {
    let env = TestEnv::new();
    env.file("in.csv", "customer,address_id,city\n1,1,Troy\n");
    assert_eq!(magento::run(&env, "customer update -i in.csv --yes").code, 0);
    env.file("in.csv", "customer,address_id,city\n1,1,Troy\n1,1,Albany\n");
    let outcome = magento::run(&env, "customer update -i in.csv --yes --resume");
    assert_eq!(outcome.code, 0, "{outcome:?}");
}
