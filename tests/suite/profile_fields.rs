//! The fields of an account that a Magento shop has: by flags and in the form.

use serde_json::{Value, json};

use crate::support::storefront::Home;
#[cfg(unix)]
use crate::support::terminal::{CTRL_C, Terminal};

const UPDATE: &str = "--sandbox --api magento customer update --customer 1";

fn customer(home: &Home) -> Value {
    serde_json::from_str(&home.ok("--sandbox customer show -o json")).unwrap()
}

#[test]
fn name_parts_birth_date_and_tax_number_have_flags() {
    let home = Home::new();
    home.ok(&format!(
        "{UPDATE} --prefix Prof. --middlename Maria --suffix Jr. --dob 1990-05-06 --taxvat DE1"
    ));
    let after = customer(&home);
    for (name, value) in [
        ("prefix", "Prof."),
        ("middlename", "Maria"),
        ("suffix", "Jr."),
        ("dob", "1990-05-06"),
        ("taxvat", "DE1"),
    ] {
        assert_eq!(after[name], value, "{after}");
    }
    let message = home.fails(2, &format!("{UPDATE} --taxvat DE1 --clear taxvat"));
    assert!(message.contains("`--clear taxvat`"), "{message}");
    let message = home.fails(2, "--sandbox --api marketplace customer update --taxvat DE1");
    assert!(message.contains("taxvat"), "{message}");
}

#[test]
fn the_name_parts_of_an_address_have_flags_of_their_own() {
    let home = Home::new();
    let message = home.fails(2, &format!("{UPDATE} --address 1 --prefix Prof."));
    assert!(message.contains("use --address-prefix"), "{message}");
    home.ok(&format!("{UPDATE} --address 1 --address-prefix Prof. --address-suffix Jr."));
    let after = customer(&home);
    assert_eq!((&after["addresses"][0]["prefix"], &after["prefix"]), (&json!("Prof."), &json!("Dr.")));
}

#[cfg(unix)]
#[test]
fn the_form_of_the_profile_has_these_fields_and_no_numbers_of_groups_and_stores() {
    let home = Home::new();
    let words: Vec<&str> = UPDATE.split(' ').collect();
    let mut terminal = Terminal::run(&home, 120, &words, &[]);
    terminal.picks("Profile fields").sees("Tax or VAT number");
    terminal
        .picks("Tax or VAT number")
        .replaces("DE99")
        .picks("Done, review changes")
        .sees("Send it?")
        .types(CTRL_C);
    let (code, screen) = terminal.ends();
    assert_eq!(code, 130, "{screen}");
    assert!(screen.contains("--taxvat DE99"), "{screen}");
    for absent in ["Customer group", "Group ID", "Store ID", "Website"] {
        assert!(!screen.contains(absent), "{screen}");
    }
}

#[test]
fn uk_is_a_name_of_great_britain_wherever_a_country_is_written() {
    let home = Home::new();
    let country = |home: &Home| customer(home)["addresses"][0]["country_id"].clone();
    let update = "--sandbox customer update --address 1 --postcode 'SW1A 1AA'";
    home.ok(&format!("{update} --country UK"));
    assert_eq!(country(&home), "GB");
    home.ok(&format!("{update} --country FR"));
    home.write("in.json", r#"{"addresses": [{"id": 1, "country_id": "UK"}]}"#, 0o600);
    home.ok(&format!("--sandbox customer update -i {}", home.path("in.json").display()));
    assert_eq!(country(&home), "GB");
}
