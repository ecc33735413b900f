//! What is the same is found to be the same, what differs is found, and only what loses nothing is planned.

use std::collections::HashMap;

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::{Difference, DifferenceState, Proposal, ShopAttribute, compare, name_store_views};
use crate::attribute::export::{FLAGS, ReadAttribute, TEXTS, text};
use crate::attribute::view::Attribute;
use crate::attribute::{Named, StoredOptions};
use crate::text::exact_json;

fn named(pairs: &[(&str, &str)]) -> Vec<Named> {
    pairs.iter().map(|(id, name)| Named { id: (*id).to_owned(), name: (*name).to_owned() }).collect()
}

fn sets() -> Vec<Named> {
    named(&[("4", "Default"), ("9", "Clothing"), ("10", "Home/Kitchen")])
}

/// An attribute of a shop, and the file that its export is.
fn shop(
    fields: &Value,
    labels: &[HashMap<String, String>],
    places: &[&str],
) -> (ShopAttribute, Map<String, Value>) {
    let fields = fields.as_object().unwrap();
    let views = named(&[("2", "fr"), ("3", "de")]);
    let places: Vec<String> = places.iter().map(|place| (*place).to_owned()).collect();
    let exported = ReadAttribute { fields, views: &views, labels, places: &places }.exported();
    let stored = StoredOptions::of(Attribute(fields)).ok();
    let Ok(Value::Array(mut file)) = exact_json::parse(text(std::slice::from_ref(&exported)).as_bytes())
    else {
        panic!()
    };
    let Value::Object(file) = file.remove(0) else { panic!() };
    (ShopAttribute { exported, stored }, file)
}

fn found(file: &Map<String, Value>, shop: &ShopAttribute) -> (Vec<Difference>, Proposal) {
    let mut proposal = Proposal::default();
    let mut found = compare(file, Some(shop), &sets(), &mut proposal);
    found.retain(|one| one.state != DifferenceState::Unknown);
    (found, proposal)
}

/// Field and state of each difference.
fn fields(found: &[Difference]) -> Vec<(&str, DifferenceState)> {
    found.iter().map(|one| (one.field.as_str(), one.state)).collect()
}

fn color() -> (ShopAttribute, Map<String, Value>) {
    let mut fields = json!({"attribute_id": 9, "attribute_code": "color", "frontend_input": "select",
        "default_frontend_label": "Color", "default_value": "12", "scope": "global", "position": 3,
        "apply_to": ["simple"], "note": "which",
        "frontend_labels": [{"store_id": 2, "label": "Couleur"}],
        "options": [{"label": "Red", "value": "11"}, {"label": "Blue", "value": "12"}, {"label": "Green", "value": "13"}]});
    for flag in FLAGS {
        fields[flag] = json!("0");
    }
    let label = |label: &str| HashMap::from([("11".to_owned(), label.to_owned())]);
    shop(&fields, &[label("Rouge"), label("Red")], &["Clothing/Size and Fit", "Home/Kitchen/Product Details"])
}

#[test]
fn every_field_that_differs_is_found() {
    let (shop, file) = color();
    assert_eq!(found(&file, &shop), (Vec::new(), Proposal::default()));
    let mut changes: Vec<(&str, Value, &str, DifferenceState)> = vec![
        ("frontend_input", json!("text"), "frontend_input", DifferenceState::Different),
        ("default_frontend_label", json!("color"), "default_frontend_label", DifferenceState::Different),
        ("scope", json!("store"), "scope", DifferenceState::Different),
        ("position", json!(4), "position", DifferenceState::Different),
        ("apply_to", json!([]), "apply_to", DifferenceState::Extra),
        ("note", json!("other"), "note", DifferenceState::Different),
        ("frontend_class", json!("validate-digits"), "frontend_class", DifferenceState::Missing),
        ("extension_attributes", json!({"a": 1}), "extension_attributes", DifferenceState::Missing),
        ("frontend_labels", json!([]), "frontend_labels[fr]", DifferenceState::Extra),
        (
            "frontend_labels",
            json!([{"store_id": "fr", "label": "Teinte"}]),
            "frontend_labels[fr]",
            DifferenceState::Different,
        ),
    ];
    changes.extend(FLAGS.map(|flag| (flag, json!(true), flag, DifferenceState::Different)));
    for (name, value, field, state) in changes {
        let mut file = file.clone();
        file.insert(name.to_owned(), value);
        let (found, proposal) = found(&file, &shop);
        assert_eq!(fields(&found), [(field, state)], "{name}");
        assert!(
            found[0].page.is_some() && found[0].plan.is_none() && proposal == Proposal::default(),
            "{name}"
        );
    }
}

#[test]
fn spelling_is_no_difference_and_what_says_nothing_is_empty() {
    let (shop, mut file) = color();
    file.insert("position".to_owned(), json!("3"));
    file.insert("frontend_class".to_owned(), json!(""));
    file.insert("is_required".to_owned(), json!("0"));
    file.shift_remove("is_unique");
    assert_eq!(found(&file, &shop).0, []);
}

#[test]
fn options_are_known_by_their_labels() {
    let (shop, file) = color();
    let options = |labels: &[&str]| {
        let option = |label: &&str| match label.strip_prefix('*') {
            Some(label) => json!({"label": label, "is_default": true}),
            None if *label == "Red" => {
                json!({"label": "Red", "store_labels": [{"store_id": "fr", "label": "Rouge"}]})
            }
            None => json!({"label": label}),
        };
        labels.iter().map(option).collect::<Value>()
    };
    let missing = |label: &str| (format!("options[{label}]"), DifferenceState::Missing);
    for (labels, expected) in [
        (&["Red", "*Blue", "Green"][..], vec![]),
        (&["Red", "*Blue"], vec![("options[Green]".to_owned(), DifferenceState::Extra)]),
        (&["Red", "*Blue", "Green", "Pink"], vec![missing("Pink")]),
        (
            &["Red", "Pink", "*Blue", "Green"],
            vec![missing("Pink"), ("options.order".to_owned(), DifferenceState::Different)],
        ),
        (&["Green", "Red", "*Blue"], vec![("options.order".to_owned(), DifferenceState::Different)]),
        (&["Red", "Blue", "*Green"], vec![("options.default".to_owned(), DifferenceState::Different)]),
        (&["Red", "Blue", "Green"], vec![("options.default".to_owned(), DifferenceState::Extra)]),
        (&["Red", "*Blue", "Green", "Green"], vec![missing("Green")]),
    ] {
        let mut file = file.clone();
        file.insert("options".to_owned(), options(labels));
        let (found, _) = found(&file, &shop);
        let found: Vec<_> = found.into_iter().map(|one| (one.field, one.state)).collect();
        assert_eq!(found, expected, "{labels:?}");
    }
    let mut without = file.clone();
    without["options"][0].as_object_mut().unwrap().shift_remove("store_labels");
    assert_eq!(
        fields(&found(&without, &shop).0),
        [("options[Red].store_labels[fr]", DifferenceState::Extra)]
    );
}

#[test]
fn only_what_loses_nothing_is_planned() {
    let (shop, mut file) = color();
    file.insert("default_frontend_label".to_owned(), json!("Hue"));
    file.insert("attribute_set".to_owned(), json!(["Default/Content", "Clothing/Product Details"]));
    file.insert(
        "options".to_owned(),
        json!([{"label": "Red"}, {"label": "Blue"}, {"label": "red"}, {"label": "12"}, {"label": "Teal"}, {"label": "TEAL"},
            {"label": "Pink", "is_default": true, "store_labels": [{"store_id": "fr", "label": "Rose"}]}]),
    );
    let (found, proposal) = found(&file, &shop);
    let planned: Vec<_> = found.iter().filter_map(|one| Some((one.field.as_str(), one.plan?))).collect();
    assert_eq!(
        planned,
        [("options[Pink]", "attribute option add"), ("attribute_set[Default]", "attribute assign")]
    );
    let expected = json!({"attribute_code": "color",
        "options": [{"label": "Pink", "store_labels": [{"store_id": "fr", "label": "Rose"}]}]});
    assert_eq!(json!(proposal.add_options), json!([expected]), "the default stays");
    let expected = json!([{"attribute_code": "color", "attribute_set": ["Default/Content"]}]);
    assert_eq!(json!(proposal.assign), expected);
    assert!(proposal.create.is_empty());
    let rest: Vec<_> = found.iter().filter(|one| one.plan.is_none()).map(|one| one.field.as_str()).collect();
    let twice = ["options[red]", "options[12]", "options[Teal]", "options[TEAL]", "options[Green]"];
    let others = ["options.default", "attribute_set[Clothing]", "attribute_set[Home/Kitchen]"];
    let labels = ["default_frontend_label", "options[Red].store_labels[fr]"];
    assert_eq!(rest, [&labels[..], &twice, &others].concat());
    assert!(found.iter().filter(|one| one.plan.is_none()).all(|one| one.page.is_some()));
}

#[test]
fn options_of_another_type_are_not_planned() {
    let (mut shop, mut file) = color();
    file["options"].as_array_mut().unwrap().push(json!({"label": "Pink"}));
    shop.stored = None;
    let (found, proposal) = found(&file, &shop);
    assert_eq!(
        (fields(&found), proposal),
        (vec![("options[Pink]", DifferenceState::Missing)], Proposal::default())
    );
    assert!(found[0].page.as_ref().unwrap().contains("options of this type"));
}

#[test]
fn a_missing_attribute_is_created_where_it_can_be() {
    let (_, file) = color();
    let mut proposal = Proposal::default();
    let found = compare(&file, None, &sets(), &mut proposal);
    assert_eq!((found[0].field.as_str(), found[0].plan), ("attribute", Some("attribute create")));
    assert_eq!(
        found.iter().filter(|one| one.state == DifferenceState::Unknown).count(),
        2,
        "what is unknown is said"
    );
    assert_eq!(proposal.create.len(), 1);
    assert_eq!(proposal.create[0], file);
    for (name, value, why) in [
        ("options", json!(null), "requires options"),
        ("source_model", json!("Vendor\\Brands"), "listed by code"),
        ("frontend_input", json!("pagebuilder"), "unknown input type"),
    ] {
        let mut file = file.clone();
        file.insert(name.to_owned(), value);
        let mut proposal = Proposal::default();
        let found = compare(&file, None, &sets(), &mut proposal);
        assert_eq!((found[0].plan, proposal), (None, Proposal::default()), "{name}");
        assert!(found[0].page.as_ref().unwrap().contains(why), "{:?}", found[0]);
    }
}

#[test]
fn what_is_unknown_is_said_and_never_compared() {
    let (mut shop, mut file) = color();
    file.insert("note".to_owned(), json!("other"));
    let unknown = shop.exported["unknown"].as_array_mut().unwrap();
    unknown.push(json!("note"));
    let found = compare(&file, Some(&shop), &sets(), &mut Proposal::default());
    assert!(found.iter().any(|one| (one.field.as_str(), one.state) == ("note", DifferenceState::Unknown)));
    assert!(found.iter().all(|one| one.state == DifferenceState::Unknown), "{found:?}");
    let by_hand = json!({"attribute_code": "color", "default_frontend_label": "Color"});
    let (shop, _) = color();
    let found = compare(by_hand.as_object().unwrap(), Some(&shop), &sets(), &mut Proposal::default());
    assert!(found.iter().all(|one| one.state == DifferenceState::Unknown), "{found:?}");
    for field in ["options", "attribute_set", "is_required", "frontend_labels", "options[].swatch"] {
        assert!(found.iter().any(|one| one.field == field), "{field}: {found:?}");
    }
}

#[test]
fn ids_of_store_views_become_their_codes() {
    let mut labels = json!([{"store_id": 2, "label": "a"}, {"store_id": "3", "label": "b"}, {"store_id": "fr", "label": "c"},
        {"store_id": 9, "label": "d"}]);
    name_store_views(&mut labels, &named(&[("2", "fr"), ("3", "de"), ("5", "2")]));
    let views: Vec<_> = labels.as_array().unwrap().iter().map(|label| label["store_id"].clone()).collect();
    assert_eq!(json!(views), json!([2, "de", "fr", 9]), "a code that looks like an ID is a code");
}

fn label() -> impl Strategy<Value = String> {
    prop_oneof!["[ -~]{1,6}", "\\PC{0,5}", Just("é".to_owned()), Just("e\u{301}".to_owned())]
}

/// What a shop may show of an attribute, and the labels of its options in two store views.
fn shown() -> impl Strategy<Value = (Value, Vec<HashMap<String, String>>)> {
    let input = prop::sample::select(&["select", "multiselect", "text", "boolean", "price", "date"][..]);
    let flags = prop::collection::vec(
        prop::sample::select(vec![json!(true), json!(false), json!("1"), json!("0"), Value::Null]),
        FLAGS.len(),
    );
    let texts = prop::collection::vec(prop::option::of(label()), TEXTS.len());
    let options = prop::collection::vec((label(), label(), label()), 0..6);
    let source = prop::option::weighted(0.2, Just("Vendor\\Brands"));
    (input, flags, texts, options, (label(), label()), source).prop_map(
        |(input, flags, texts, options, (own, french), source)| {
            let ids = (11..).map(|id: u32| id.to_string());
            let shown: Vec<Value> = ids.clone().zip(&options).map(|(id, (label, ..))| json!({"label": label, "value": id})).collect();
            let of = |pick: fn(&(String, String, String)) -> &String| {
                ids.clone().zip(options.iter().map(pick).cloned()).collect::<HashMap<_, _>>()
            };
            let mut fields = json!({"attribute_id": 7, "attribute_code": "x", "frontend_input": input, "options": shown,
                "default_frontend_label": own, "frontend_labels": [{"store_id": 2, "label": french}], "source_model": source,
                "scope": "store", "position": 2, "apply_to": ["virtual", "simple"]});
            FLAGS.iter().zip(flags).for_each(|(name, flag)| fields[*name] = flag);
            TEXTS.iter().zip(texts).for_each(|(name, text)| fields[*name] = json!(text));
            if ["select", "multiselect"].contains(&input) {
                fields["default_value"] = json!("12");
            }
            (fields, vec![of(|option| &option.1), of(|option| &option.2)])
        },
    )
}

proptest! {
    #[test]
    fn an_export_does_not_differ_from_its_shop((fields, labels) in shown()) {
        let (shop, file) = shop(&fields, &labels, &["Default/Content", "Home/Kitchen/Images"]);
        let (found, proposal) = found(&file, &shop);
        prop_assert_eq!(&found, &Vec::<Difference>::new());
        prop_assert_eq!(proposal, Proposal::default());
    }
}
