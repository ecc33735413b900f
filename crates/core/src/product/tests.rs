//! Values of products, pure.

use serde_json::{Value, json};

use super::asked::{Asked, Target, push};
use super::attribute::{Attribute, Attributes};
use super::{ALL, Product, body, is_same_sku};
use crate::attribute::view;
use crate::effect::Before;

fn attribute(input: &str, options: &Value) -> Attribute {
    let shown =
        json!({"attribute_code": "it", "frontend_input": input, "is_user_defined": true, "options": options});
    Attribute::of(view::Attribute(shown.as_object().unwrap())).unwrap()
}

fn options() -> Value {
    json!([{"label": " ", "value": ""}, {"label": "Red", "value": "12"}, {"label": "Blue", "value": "3"},
        {"label": "Twin", "value": "4"}, {"label": "Twin", "value": "5"}, {"label": "A|B", "value": "6"}])
}

#[test]
fn a_value_is_sent_as_the_shop_wants_it() {
    let none = json!([]);
    for (input, given, sent) in [
        ("text", json!(" two  words "), " two  words "),
        ("textarea", json!("one\ntwo"), "one\ntwo"),
        ("date", json!("2026-02-28"), "2026-02-28"),
        ("date", json!("2026-02-28 00:00:00"), "2026-02-28"),
        ("price", json!("12.50"), "12.5"),
        ("price", json!(3), "3"),
        ("price", json!("-0.10"), "-0.1"),
        ("boolean", json!("ja"), "1"),
        ("boolean", json!(false), "0"),
        ("select", json!("Red"), "12"),
        ("select", json!("bLUE"), "3"),
        ("select", json!(" A|B"), "6"),
        ("multiselect", json!("Red | Blue|Red"), "3,12"),
        ("multiselect", json!("A\\|B"), "6"),
    ] {
        let options = if input.ends_with("select") { options() } else { none.clone() };
        assert_eq!(attribute(input, &options).read(&given).as_deref(), Ok(sent), "{input} {given}");
    }
}

#[test]
fn a_value_that_the_shop_would_store_as_another_one_is_refused() {
    for (input, given, why) in [
        ("price", json!("1,5"), "expected a number such as 1.5, found \"1,5\""),
        ("price", json!("abc"), "expected a number with a decimal point, such as 12.50, found \"abc\""),
        ("price", json!("1e3"), "expected a number with a decimal point, such as 12.50, found \"1e3\""),
        (
            "date",
            json!("2026-02-31"),
            "expected a date such as 1985-04-03, found `2026-02-31`, a day that does not exist",
        ),
        (
            "boolean",
            json!("maybe"),
            "expected yes or no (or true, false, 1, 0, ja, nein, oui, non, si), found \"maybe\"",
        ),
        ("text", json!("a\nb"), "the text holds a line break, and the field has one line"),
        ("text", json!(true), "expected a text, found true"),
        ("select", json!("Rde"), "no option `Rde`; did you mean `Red`?"),
        (
            "select",
            json!("Twin"),
            "several options have the label `Twin`: name one by its ID in `it:id` (4, 5)",
        ),
        ("text", json!(""), "the value is empty, which changes nothing"),
    ] {
        assert_eq!(attribute(input, &options()).read(&given), Err(why.to_owned()), "{input} {given}");
    }
}

#[test]
fn only_some_attributes_are_written() {
    for shown in [
        json!({"attribute_code": "price", "frontend_input": "price", "is_user_defined": false}),
        json!({"attribute_code": "seen", "frontend_input": "datetime", "is_user_defined": true}),
        json!({"attribute_code": "pic", "frontend_input": "media_image", "is_user_defined": true}),
    ] {
        assert!(Attribute::of(view::Attribute(shown.as_object().unwrap())).is_err(), "{shown}");
    }
}

#[test]
fn a_sku_is_one_in_any_letter_case_and_its_accents_count() {
    assert!(is_same_sku("Mug-Blue ", "mug-blue") && is_same_sku("FYÜ", "fyü") && !is_same_sku("fyu", "fyü"));
}

fn attributes() -> Attributes {
    let mut attributes = Attributes::default();
    for (code, input) in [("tags", "multiselect"), ("made", "date"), ("depth", "price"), ("fair", "boolean")]
    {
        attributes.insert(Attribute { code: code.to_owned(), ..attribute(input, &options()) }.into());
    }
    attributes.insert(Attribute::field("weight").unwrap().into());
    attributes
}

fn product(attributes: &Attributes) -> Product {
    let shown = json!({"id": 7, "sku": "mug", "attribute_set_id": 4, "name": "Mug", "weight": 0.5, "status": 1,
        "extension_attributes": {"website_ids": [1]},
        "custom_attributes": [{"attribute_code": "tags", "value": "12,3"}, {"attribute_code": "made", "value": "2026-01-02 00:00:00"},
            {"attribute_code": "depth", "value": "2.500000"}]});
    Product::of(&shown, attributes).unwrap()
}

fn targets(fields: &Value, attributes: &Attributes) -> Result<Vec<Target>, String> {
    let mut targets = Vec::new();
    for asked in Asked::of(fields.as_object().unwrap()) {
        push(&mut targets, asked.target(attributes.get(asked.title).unwrap())?)?;
    }
    Ok(targets)
}

#[test]
fn what_a_product_has_is_not_sent() {
    let attributes = attributes();
    let product = product(&attributes);
    let asked = json!({"weight": "0.50", "custom_attributes": [{"attribute_code": "tags", "value": "Blue|Red"},
        {"attribute_code": "made", "value": "2026-01-02"}, {"attribute_code": "depth", "value": "2.5"}]});
    let effect = product.changed(ALL, &targets(&asked, &attributes).unwrap());
    assert!(effect.is_empty(), "{effect:?}");
}

#[test]
fn one_body_carries_the_changes_and_null_for_defaults() {
    let attributes = attributes();
    let product = product(&attributes);
    let asked = json!({"weight": "0.75", "custom_attributes": [{"attribute_code": "tags:add", "value": "A\\|B"},
        {"attribute_code": "tags:remove", "value": "Red"}, {"attribute_code": "made", "value": "__EMPTY__VALUE__"},
        {"attribute_code": "fair", "value": "yes"}]});
    let effect = product.changed(ALL, &targets(&asked, &attributes).unwrap());
    assert_eq!(
        body("mug", &effect, &["color"]),
        json!({"product": {"sku": "mug", "weight": 0.75, "custom_attributes": [
            {"attribute_code": "tags", "value": "3,6"}, {"attribute_code": "made", "value": null},
            {"attribute_code": "fair", "value": "1"}, {"attribute_code": "color", "value": null}]}})
    );
    assert_eq!(effect.owner.to_string(), "product 7 in all");
}

#[test]
fn nothing_tells_a_cleared_value_of_a_store_view() {
    let attributes = attributes();
    let asked = json!({"custom_attributes": [{"attribute_code": "fair", "value": null}]});
    let effect = product(&attributes).changed("fr", &targets(&asked, &attributes).unwrap());
    assert_eq!(effect.changes[0].before, Before::NotRead);
}

#[test]
fn an_attribute_has_one_value() {
    for (one, other) in [("fair", "fair"), ("tags", "tags:add"), ("tags:id", "tags")] {
        let asked = json!({"custom_attributes": [{"attribute_code": one, "value": if one == "fair" { "no" } else if one == "tags:id" { "3" } else { "Red" }},
            {"attribute_code": other, "value": if other == "fair" { "no" } else { "Red" }}]});
        assert!(targets(&asked, &attributes()).unwrap_err().ends_with("it is set twice"), "{one} {other}");
    }
}
