//! What Magento's address book in the sandbox stores and refuses, regions above all.

use serde_json::{Value, json};

use crate::support::raw_http::{ADMIN, Answer, CUSTOMER, PROFILE, Sandbox};

const BY_ID: &str = "/rest/V1/customers/5";

/// A new address in addition to the stored one of customer 5: a valid one with `change`.
fn add(sandbox: &Sandbox, change: &Value) -> Answer {
    let mut new = json!({"firstname": "An", "lastname": "Lee", "street": ["1 Main St"], "city": "Newtown",
        "postcode": "78701", "telephone": "555-0100", "country_id": "US"});
    for (name, value) in change.as_object().unwrap() {
        if value == "absent" {
            new.as_object_mut().unwrap().remove(name);
        } else {
            new[name] = value.clone();
        }
    }
    let stored = sandbox.get(ADMIN, BY_ID).json()["addresses"][0].clone();
    sandbox.call(ADMIN, "PUT", BY_ID, &json!({"customer": {"addresses": [stored, new]}}).to_string())
}

/// Region object and id of the address added.
fn region(change: &Value) -> (Value, Value) {
    let sandbox = Sandbox::new();
    let answer = add(&sandbox, change);
    assert_eq!(answer.status, 200, "{change}: {answer:?}");
    let added = answer.json()["addresses"][1].clone();
    (added["region"].clone(), added["region_id"].clone())
}

fn named(code: &str, name: &str, id: i64) -> (Value, Value) {
    (json!({"region_code": code, "region": name, "region_id": id}), json!(id))
}

fn lost() -> (Value, Value) {
    (json!({"region_code": null, "region": null, "region_id": 0}), json!(0))
}

/// The trap: a code alone is taken, and the region is gone.
#[test]
fn a_region_code_alone_is_lost() {
    assert_eq!(region(&json!({"region": {"region_code": "CA"}})), lost());
    assert_eq!(region(&json!({"region": "Texas"})), lost());
    // Also of an address that had one.
    let sandbox = Sandbox::new();
    let put = json!({"customer": {"addresses": [{"id": 11, "region": {"region_code": "BER"}}]}}).to_string();
    let answer = sandbox.call(ADMIN, "PUT", BY_ID, &put.replace("11", "12"));
    assert_eq!(answer.status, 200, "{answer:?}");
    assert_eq!(answer.json()["addresses"][0]["region_id"], 0);
}

#[test]
fn an_id_is_resolved_and_the_top_level_beats_the_object() {
    assert_eq!(region(&json!({"region": {"region_id": 12}})), named("CA", "California", 12));
    assert_eq!(region(&json!({"region_id": "12"})), named("CA", "California", 12));
    let both =
        json!({"region_id": 57, "region": {"region_code": "CA", "region": "California", "region_id": 12}});
    assert_eq!(region(&both), named("TX", "Texas", 57));
    let within = json!({"region": {"region_code": "CA", "region_id": 57}});
    assert_eq!(region(&within), named("TX", "Texas", 57));
    assert_eq!(region(&json!({"region_id": 0})), lost());
}

#[test]
fn a_name_alone_is_free_text_and_none_is_accepted() {
    let kent = json!({"region_code": "Kent", "region": "Kent", "region_id": 0});
    assert_eq!(region(&json!({"country_id": "GB", "region": {"region": "Kent"}})), (kent.clone(), json!(0)));
    assert_eq!(
        region(&json!({"country_id": "GB", "region": {"region": "Kent", "region_id": 0}})),
        (kent, json!(0))
    );
    assert_eq!(region(&json!({})), (lost().0, Value::Null));
}

#[test]
fn regions_and_countries_that_do_not_fit_are_refused() {
    let sandbox = Sandbox::new();
    let invalid = "Invalid value of \"%value\" provided for the %fieldName field.";
    for (change, field, value) in [
        (json!({"country_id": "DE", "region_id": 57}), "regionId", "57"),
        (json!({"region_id": 999_999}), "regionId", "999999"),
        (json!({"country_id": "XX"}), "countryId", "XX"),
        (json!({"country_id": "us"}), "countryId", "us"),
    ] {
        add(&sandbox, &change).refuses(400, invalid, json!({"fieldName": field, "value": value}));
    }
    // A stored region does not fit a country that changes alone.
    let put = json!({"customer": {"addresses": [{"id": 12, "country_id": "FR"}]}}).to_string();
    assert_eq!(sandbox.call(ADMIN, "PUT", BY_ID, &put).status, 400);
}

#[test]
fn fields_that_the_address_book_needs() {
    let sandbox = Sandbox::new();
    let required = "\"%fieldName\" is required. Enter and try again.";
    for (field, named) in [
        ("country_id", "countryId"),
        ("postcode", "postcode"),
        ("street", "street"),
        ("telephone", "telephone"),
        ("city", "city"),
        ("lastname", "lastname"),
    ] {
        add(&sandbox, &json!({field: "absent"})).refuses(400, required, json!({"fieldName": named}));
    }
    add(&sandbox, &json!({"street": []})).refuses(400, required, json!({"fieldName": "street"}));
    add(&sandbox, &json!({"firstname": "  "})).refuses(400, required, json!({"fieldName": "firstname"}));
    let both = add(&sandbox, &json!({"firstname": "absent", "lastname": ""}));
    assert_eq!(both.json()["message"], "One or more input exceptions have occurred.");
    assert_eq!(both.json()["errors"][1]["parameters"], json!({"fieldName": "lastname"}));
    assert_eq!(add(&sandbox, &json!({"country_id": "IE", "postcode": "absent"})).status, 200);
}

#[test]
fn three_street_lines_are_refused_also_where_they_are_stored() {
    let message = "\"Street Address\" cannot contain more than 2 lines.";
    let sandbox = Sandbox::new();
    add(&sandbox, &json!({"street": ["a", "b", "c"]})).refuses(400, message, Value::Null);
    add(&sandbox, &json!({"street": "1 Main St"})).refuses(
        400,
        "Error occurred during \"addresses\" processing. Error occurred during \"street\" processing. The \"string\" \
         value's type is invalid. The \"string[]\" type was expected. Verify and try again.",
        Value::Null,
    );
    let fourth = "/rest/V1/customers/4";
    let stored = sandbox.get(ADMIN, fourth).json();
    sandbox.call(ADMIN, "PUT", fourth, &json!({"customer": stored}).to_string()).refuses(
        400,
        message,
        Value::Null,
    );
}

#[test]
fn an_address_that_is_stored_with_an_empty_field_blocks_every_put() {
    for (field, label) in [("postcode", "Zip/Postal Code"), ("telephone", "Phone Number")] {
        let sandbox = Sandbox::new();
        let put = json!({"customer": {"addresses": [{"id": 12, field: ""}]}});
        let marketplace = sandbox.call("sandbox-customer-5", "PUT", PROFILE, &put.to_string());
        assert_eq!(marketplace.status, 200, "{marketplace:?}");
        let read = sandbox.get(ADMIN, BY_ID).json();
        assert_eq!(read["addresses"][0].get(field), None);
        let back = json!({"customer": read}).to_string();
        let message = format!("\"{label}\" is a required value.");
        sandbox.call(ADMIN, "PUT", BY_ID, &back).refuses(400, &message, Value::Null);
        // The stored addresses are saved first, before one of them is corrected, or removed.
        let corrected = json!({"addresses": [{"id": 12, field: "12345"}]});
        for customer in [corrected, json!({"addresses": []}), json!({"gender": 1})] {
            let put = json!({"customer": customer}).to_string();
            sandbox.call(ADMIN, "PUT", BY_ID, &put).refuses(400, &message, Value::Null);
        }
    }
}

#[test]
fn stored_countries_and_names_that_are_none_are_shown_and_refused() {
    let sandbox = Sandbox::new();
    let store = |customer: Value| {
        let put = json!({"customer": customer}).to_string();
        assert_eq!(sandbox.call("sandbox-customer-5", "PUT", PROFILE, &put).status, 200);
        let read = sandbox.get(ADMIN, BY_ID).json();
        (read.clone(), sandbox.call(ADMIN, "PUT", BY_ID, &json!({"customer": read}).to_string()))
    };
    let (read, answer) = store(json!({"addresses": [{"id": 12, "country_id": "XX"}]}));
    assert_eq!((&read["addresses"][0]["country_id"], answer.status), (&json!("XX"), 400));
    let (_, answer) = store(json!({"addresses": [{"id": 12, "country_id": "US"}]}));
    assert_eq!(answer.json()["parameters"], json!({"fieldName": "regionId", "value": "85"}));
    let good = json!([{"id": 12, "country_id": "DE"}]);
    let (read, answer) = store(json!({"lastname": "", "addresses": good}));
    assert_eq!((&read["lastname"], answer.status), (&json!(""), 400));
    let (_, answer) = store(json!({"lastname": "Müller", "firstname": "Eve<script>{{x}}"}));
    answer.refuses(400, "First Name is not valid!", Value::Null);
}

#[test]
fn characters_beyond_the_bmp_become_question_marks() {
    let sandbox = Sandbox::new();
    let answer = add(&sandbox, &json!({"street": ["1 Main St 🙂"], "city": "Zoë 渡辺"}));
    assert_eq!(answer.status, 200);
    let added = &answer.json()["addresses"][1];
    assert_eq!((&added["street"], &added["city"]), (&json!(["1 Main St ????"]), &json!("Zoë 渡辺")));
}

#[test]
fn both_interfaces_see_one_store() {
    let sandbox = Sandbox::new();
    let mut read = sandbox.get(CUSTOMER, "/V1/customers/me").json();
    read["addresses"][1]["city"] = json!("Albany");
    let put = json!({"customer": read}).to_string();
    assert_eq!(sandbox.call(CUSTOMER, "PUT", "/V1/customers/me", &put).status, 200);
    let stored = sandbox.profile(CUSTOMER);
    assert_eq!(stored["addresses"][1]["city"], "Albany");
    assert_eq!(
        stored["addresses"][1]["extension_attributes"]["delivery_window"]["from"], "09:00",
        "unlisted stays"
    );
    assert_eq!(stored["extension_attributes"]["loyalty_points"].to_string(), "12345678901234567890");
}
