//! What a form makes of answers.

use serde_json::{Map, Value, json};

use super::Form;
use crate::prompt::Objection;

fn address() -> Form {
    let stored = json!({"id": 2, "city": "Paris", "postcode": null, "street": ["a"], "company": "X",
        "country_id": "FR", "region": {"region": "Île-de-France", "region_id": 182}});
    Form::of_address(stored.as_object().unwrap(), std::slice::from_ref(&stored)).unwrap()
}

fn set(form: &mut Form, name: &str, value: Value) {
    form.fields.iter_mut().find(|field| field.name == name).unwrap().set(value);
}

#[test]
fn only_what_was_edited_becomes_the_draft() {
    let mut form = address();
    set(&mut form, "city", "Paris".into());
    set(&mut form, "telephone", "".into());
    assert!(form.draft().is_empty());
    set(&mut form, "city", "Lyon".into());
    assert_eq!(Value::Object(form.draft()), json!({"addresses": [{"city": "Lyon", "id": 2}]}));
    assert!(form.lines().iter().any(|line| line.ends_with("Lyon  (was Paris)")), "{:?}", form.lines());
    set(&mut form, "city", "Paris".into());
    assert!(form.draft().is_empty());
}

#[test]
fn a_new_address_has_no_id_and_the_profile_no_addresses() {
    let mut new = Form::of_new_address(&[]);
    set(&mut new, "city", "Oslo".into());
    assert_eq!(Value::Object(new.draft()), json!({"addresses": [{"city": "Oslo"}]}));
    let mut profile = Form::of_profile(&Map::new());
    set(&mut profile, "gender", 1.into());
    assert_eq!(Value::Object(profile.draft()), json!({"gender": 1}));
}

#[test]
fn another_country_puts_the_stored_region_in_doubt() {
    let mut form = address();
    assert!(!form.region_is_ambiguous());
    set(&mut form, "country_id", "DE".into());
    assert!(form.region_is_ambiguous());
    set(&mut form, "region", crate::plan::profile::region::none());
    assert!(!form.region_is_ambiguous());
}

#[test]
fn typed_text_becomes_what_the_member_holds() {
    let profile = Form::of_profile(&Map::new());
    let gender = profile.field("gender").unwrap();
    assert_eq!(gender.parse("2"), Ok(json!(2)));
    assert_eq!(gender.parse(""), Ok(Value::Null));
    assert!(gender.parse("female").is_err());
    let address = address();
    let postcode = address.field("postcode").unwrap();
    let country = address.field("country_id").unwrap();
    assert_eq!((country.parse("de"), country.parse("Germany")), (Ok("DE".into()), Ok("DE".into())));
    assert_eq!((postcode.parse(""), postcode.parse("02138")), (Ok(Value::Null), Ok("02138".into())));
}

#[test]
fn every_stored_field_with_one_value_can_be_edited_and_keeps_its_type() {
    let mut form = address();
    let labels: Vec<&str> = form.fields.iter().map(|field| field.label.as_str()).collect();
    assert_eq!(labels[8..], ["Company", "VAT number", "Default shipping", "Default billing"]);
    set(&mut form, "company", "Y".into());
    assert_eq!(form.draft()["addresses"], json!([{"company": "Y", "id": 2}]));
    let customer =
        json!({"taxvat": "1", "rp": 1.5, "default_billing": "2", "confirmed": true, "addresses": []});
    let profile = Form::of_profile(customer.as_object().unwrap());
    assert_eq!(profile.field("rp").unwrap().parse("2.5"), Ok(json!(2.5)));
    assert!(profile.field("rp").unwrap().parse("x").is_err());
    assert!(profile.field("taxvat").is_some() && profile.field("addresses").is_none());
}

#[test]
fn custom_attributes_are_fields_and_a_new_default_takes_it_from_the_old_one() {
    let stored = json!({"id": 2, "custom_attributes": [
        {"attribute_code": "door_code", "value": "B1"}, {"attribute_code": "list", "value": []}]});
    let mut form = Form::of_address(stored.as_object().unwrap(), std::slice::from_ref(&stored)).unwrap();
    assert!(form.lines().iter().any(|line| line.starts_with("door_code") && line.ends_with("B1")));
    set(&mut form, "door_code", "C2".into());
    set(&mut form, "default_shipping", true.into());
    let edit = form.edit();
    assert_eq!(
        Value::Object(edit.draft),
        json!({"addresses": [{"default_shipping": true, "id": 2,
            "custom_attributes": [{"attribute_code": "door_code", "value": "C2"}]}]})
    );
    let default = edit.default_address.unwrap();
    assert_eq!((default.address, default.shipping, default.billing), (Some(2), true, false));
}

#[test]
fn what_cannot_be_right_is_refused_and_what_is_doubtful_may_be_kept() {
    let form = address();
    let check = |name: &str, text: &str| form.check(form.field(name).unwrap(), text);
    let wrong = |name: &str, text: &str| matches!(check(name, text), Err(Objection::Wrong(_)));
    assert!(wrong("country_id", "Narnia") && wrong("country_id", "") && wrong("city", ""));
    assert_eq!((check("country_id", "de"), check("country_id", "germany")), (Ok(()), Ok(())));
    let doubt = check("postcode", "nowhere").unwrap_err();
    assert!(matches!(&doubt, Objection::Doubt(doubt) if doubt.contains("France")), "{doubt:?}");
    assert!(matches!(check("telephone", "12"), Err(Objection::Doubt(_))));
    assert_eq!((check("postcode", "75001"), check("firstname", "")), (Ok(()), Ok(())), "it was empty before");
}
