use serde_json::{Map, Value, json};

use super::{Order, Which, comment_of, comment_text, records_of, region_country, wanted};
use crate::effect::Effect;
use crate::failure::FailureKind;
use crate::profile::region::RegionDirectory;

fn order() -> Order {
    let address = |id: u64, kind: &str| {
        json!({"entity_id": id, "parent_id": 12, "address_type": kind, "email": "a@b.example", "firstname": "An", "lastname": "Lee",
            "street": ["1 Main St"], "city": "New York", "postcode": "10118", "country_id": "US", "region": "New York",
            "region_id": 43, "region_code": "NY", "telephone": "555-0100", "company": "Lee", "customer_address_id": 2})
    };
    let shown = json!({"entity_id": 12, "increment_id": "000000012", "state": "processing", "customer_id": 1,
        "items": [{"qty_shipped": 0}], "billing_address": address(23, "billing"),
        "status_histories": [{"entity_id": 5, "comment": "paid"}],
        "extension_attributes": {"shipping_assignments": [{"shipping": {"address": address(24, "shipping")}}]}});
    Order::of(shown).unwrap()
}

fn regions() -> RegionDirectory {
    let mut regions = RegionDirectory::default();
    let of_us = [
        json!({"id": "43", "code": "NY", "name": "New York"}),
        json!({"id": "12", "code": "CA", "name": "California"}),
    ];
    regions.insert("US", &json!({"available_regions": of_us}));
    regions.insert("FR", &json!({}));
    regions
}

fn fields(value: Value) -> Map<String, Value> {
    value.as_object().cloned().unwrap()
}

/// The effect of a draft on the shipping address, and the address in the body.
fn corrected(draft: Value) -> Result<(Effect, Value), String> {
    let order = order();
    let stored = order.stored(Which::Shipping).unwrap();
    let wanted =
        wanted(stored, &fields(draft), &regions(), Which::Shipping).map_err(|failure| failure.message)?;
    let effect = order.change(Which::Shipping, &wanted).unwrap();
    let body: Value = serde_json::from_str(&order.body(Which::Shipping, &effect)).unwrap();
    Ok((effect, body["entity"].clone()))
}

#[test]
fn the_whole_address_is_sent_with_its_ids_and_the_change() {
    let (effect, body) = corrected(json!({"postcode": "10119", "city": "New York"})).unwrap();
    let expected = json!({"entity_id": 24, "parent_id": 12, "address_type": "shipping", "email": "a@b.example", "firstname": "An",
        "lastname": "Lee", "street": ["1 Main St"], "city": "New York", "postcode": "10119", "country_id": "US",
        "region": "New York", "region_id": 43, "telephone": "555-0100", "company": "Lee", "customer_address_id": 2});
    assert_eq!(body, expected);
    assert_eq!(effect.in_words(), ["shipping address postcode: 10118 → 10119"]);
    assert_eq!(effect.keeps.len(), 14, "every other field but the code of the region");
}

#[test]
fn what_is_emptied_is_sent_as_null_and_what_is_required_stays() {
    let (effect, body) = corrected(json!({"company": "", "region": null})).unwrap();
    assert_eq!(
        (&body["company"], &body["region"], &body["region_id"]),
        (&json!(null), &json!(null), &json!(null))
    );
    assert!(body.as_object().unwrap().contains_key("company"), "left out it would be kept");
    assert_eq!(effect.changes.len(), 3);
    for (draft, message) in [
        (json!({"city": ""}), "city cannot be empty in the shipping address"),
        (json!({"street": [""]}), "street cannot be empty in the shipping address"),
        (json!({"postcode": null}), "postcode cannot be empty in the shipping address"),
        (json!({"country_id": "FR"}), "shipping address: the country changes but the region does not"),
    ] {
        assert_eq!(corrected(draft.clone()).map(|_| ()), Err(message.to_owned()), "{draft}");
    }
    let (_, body) = corrected(json!({"country_id": "HK", "postcode": "", "region": ""})).unwrap();
    assert_eq!(body["postcode"], json!(null));
}

#[test]
fn both_fields_of_a_region_always_agree() {
    for (draft, region, id) in [
        (json!({"region_code": "CA"}), json!("California"), json!(12)),
        (json!({"region": "california"}), json!("California"), json!(12)),
        (json!({"region_id": "12"}), json!("California"), json!(12)),
        (json!({"region_id": 12, "region_code": "CA"}), json!("California"), json!(12)),
        (json!({"region_id": 0, "region": "Elsewhere"}), json!("Elsewhere"), json!(0)),
        (json!({"country_id": "FR", "region": "Ardèche"}), json!("Ardèche"), json!(0)),
        (json!({"region_code": "ny"}), json!("New York"), json!(43)),
    ] {
        let (_, body) = corrected(draft.clone()).unwrap();
        assert_eq!((&body["region"], &body["region_id"]), (&region, &id), "{draft}");
        assert!(body.get("region_code").is_none(), "{draft}");
    }
    for (draft, message) in [
        (json!({"region_code": "XX"}), "US has no region `XX`"),
        (json!({"region_id": 99}), "US has no region with the ID 99"),
        (
            json!({"region_id": 12, "region": "New York"}),
            "the region ID 12 is California, and another region is named beside it",
        ),
        (json!({"country_id": "FR", "region_code": "07"}), "FR has no region codes, found `07`"),
    ] {
        assert_eq!(corrected(draft.clone()).map(|_| ()), Err(message.to_owned()), "{draft}");
    }
}

#[test]
fn the_regions_are_needed_where_one_is_named() {
    let stored = fields(json!({"country_id": "US"}));
    for (draft, country) in [
        (json!({"region": "x"}), Some("US")),
        (json!({"region_code": "x", "country_id": "FR"}), Some("FR")),
        (json!({"region_id": 3}), Some("US")),
        (json!({"region": null, "region_id": 0}), None),
        (json!({"country_id": "FR"}), None),
    ] {
        assert_eq!(region_country(&stored, &fields(draft.clone())).as_deref(), country, "{draft}");
    }
}

/// Without its ids another address would be added, or that of another order moved.
#[test]
fn an_address_without_its_ids_is_not_written_back() {
    for (name, value) in [
        ("entity_id", json!(null)),
        ("entity_id", json!(0)),
        ("parent_id", json!(13)),
        ("address_type", json!("billing")),
        ("email", json!("")),
    ] {
        let mut order = order();
        order.shown["extension_attributes"]["shipping_assignments"][0]["shipping"]["address"][name] = value;
        assert_eq!(order.stored(Which::Shipping).unwrap_err().kind, FailureKind::Guard, "{name}");
        assert!(order.stored(Which::Billing).is_ok());
    }
    let mut order = order();
    order.shown["extension_attributes"] = json!({});
    assert_eq!(order.stored(Which::Shipping).unwrap_err().kind, FailureKind::Usage);
}

#[test]
fn a_comment_says_what_was_corrected() {
    let said = |draft: Value, added: Option<&str>| comment_text(&[corrected(draft).unwrap().0], added);
    assert_eq!(
        said(json!({"postcode": "10119"}), None),
        "shipping address corrected: postcode 10118 → 10119"
    );
    assert_eq!(
        said(
            json!({"region_code": "CA", "vat_id": "X1", "street": ["1 Main St", "Flat 2"]}),
            Some(" by phone ")
        ),
        "shipping address corrected: street 1 Main St → 1 Main St / Flat 2, region New York → California, VAT number (empty) → X1. \
         by phone"
    );
    assert_eq!(comment_text(&[], Some("only this")), "only this");
    assert_eq!(comment_text(&[], Some(" ")), "");
}

/// A comment is ours where it has our text, and an id that the read before did not show.
#[test]
fn an_equal_comment_that_was_there_is_not_ours() {
    let mut order = order();
    let effect = order.comment("paid");
    assert_eq!(comment_of(&effect), Some("paid"));
    assert!(!effect.look(&order.document()).shows_any());
    let list = order.shown["status_histories"].as_array_mut().unwrap();
    list.insert(0, json!({"entity_id": 6, "parent_id": 12, "comment": "paid", "status": "processing", "created_at": "2026-01-01"}));
    assert!(effect.look(&order.document()).is_proof());
    let inverse = effect.inverse(&order.document());
    assert!(inverse.effect.is_empty() && inverse.left.len() == 1, "a comment stays");
}

#[test]
fn what_a_person_should_know_first_is_said() {
    let mut order = order();
    let of = |order: &Order, draft: Value| {
        let effect = corrected(draft).unwrap().0;
        order.warnings(&[effect]).join("; ")
    };
    assert_eq!(of(&order, json!({"company": "X"})), "");
    assert_eq!(
        of(&order, json!({"postcode": "1"})),
        "order 000000012: shipping and tax are not calculated again"
    );
    assert_eq!(of(&order, json!({"vat_id": "X"})), "order 000000012: the VAT number is not validated again");
    order.shown["items"][0]["qty_shipped"] = json!(1);
    assert_eq!(
        of(&order, json!({"company": "X"})),
        "items of order 000000012 were shipped: goods may have left"
    );
    order.shown["state"] = json!("complete");
    assert_eq!(of(&order, json!({"company": "X"})), "order 000000012 is complete: goods may have left");
}

#[test]
fn the_inverse_is_a_record_that_leads_back() {
    for draft in [
        json!({"postcode": "10119", "company": "", "vat_id": "X1"}),
        json!({"region_code": "CA", "city": "Fresno"}),
        json!({"country_id": "FR", "region": null, "postcode": "75002"}),
    ] {
        let (effect, body) = corrected(draft.clone()).unwrap();
        let mut changed = order();
        *changed
            .shown
            .pointer_mut("/extension_attributes/shipping_assignments/0/shipping/address")
            .unwrap() = body;
        let inverse = effect.inverse(&changed.document());
        assert!(inverse.left.is_empty(), "{draft}: {:?}", inverse.left);
        let records = records_of(&inverse.effect);
        let [record] = &records[..] else { panic!("{draft}: {records:?}") };
        assert_eq!((&record["order_id"], &record["address"]), (&json!(12), &json!("shipping")));
        let stored = changed.stored(Which::Shipping).unwrap();
        let back = wanted(stored, record, &regions(), Which::Shipping).unwrap();
        let effect = order().change(Which::Shipping, &back).unwrap();
        assert!(effect.is_empty(), "{draft}: {:?}", effect.in_words());
    }
}
