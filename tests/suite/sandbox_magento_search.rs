//! Searching, directory, attributes and store views in the sandbox's Magento interface.

use serde_json::{Value, json};

use crate::support::raw_http::{ADMIN, ATTRIBUTE, Answer, Sandbox};

fn search(sandbox: &Sandbox, filters: &[(&str, &str, &str)], more: &str) -> Answer {
    let filters = filters.iter().enumerate().map(|(group, (field, value, condition))| {
        let prefix = format!("searchCriteria[filter_groups][{group}][filters][0]");
        let value = value.replace('%', "%25").replace(' ', "%20").replace('+', "%2B");
        format!("{prefix}[field]={field}&{prefix}[value]={value}&{prefix}[condition_type]={condition}&")
    });
    let query: String = filters.collect::<Vec<_>>().concat();
    let query = percent(&format!("{query}{more}"));
    sandbox.get(ADMIN, &format!("/rest/V1/customers/search?{query}"))
}

/// Non-ASCII characters as they stand in a target.
fn percent(text: &str) -> String {
    let coded =
        |byte: u8| if byte.is_ascii() { char::from(byte).to_string() } else { format!("%{byte:02X}") };
    text.bytes().map(coded).collect::<Vec<_>>().concat()
}

fn found(answer: &Answer) -> Vec<i64> {
    assert_eq!(answer.status, 200, "{answer:?}");
    let items = answer.json()["items"].clone();
    items.as_array().unwrap().iter().map(|item| item["id"].as_i64().unwrap()).collect()
}

/// The trap: the database's collation finds more than what is asked for.
#[test]
fn equal_emails_are_equal_without_accents_case_and_trailing_blanks() {
    let sandbox = Sandbox::new();
    for email in [
        "amina.haddad@example.com",
        "Amina.Haddad@example.com",
        "ämina.haddad@example.com",
        "amina.haddad@éxample.com",
        "amina.haddad@example.com ",
    ] {
        assert_eq!(found(&search(&sandbox, &[("email", email, "eq")], "")), [1], "{email:?}");
    }
    let none = search(&sandbox, &[("email", "none@example.com", "eq")], "").json();
    assert_eq!(
        none,
        json!({"items": [], "total_count": 0, "search_criteria": {"filter_groups":
        [{"filters": [{"field": "email", "value": "none@example.com", "condition_type": "eq"}]}]}})
    );
}

#[test]
fn like_finds_parts_and_groups_narrow() {
    let sandbox = Sandbox::new();
    assert_eq!(found(&search(&sandbox, &[("lastname", "%müll%", "like")], "")), [5]);
    assert_eq!(found(&search(&sandbox, &[("firstname", "健_", "like")], "")), [2]);
    assert_eq!(
        found(&search(&sandbox, &[("email", "%example.com", "like"), ("lastname", "Haddad", "eq")], "")),
        [1]
    );
    assert_eq!(found(&search(&sandbox, &[("email", "100\\%", "like")], "")), Vec::<i64>::new());
    let or = "searchCriteria[filterGroups][0][filters][0][field]=firstname&\
              searchCriteria[filterGroups][0][filters][0][value]=Jan&\
              searchCriteria[filterGroups][0][filters][1][field]=lastname&\
              searchCriteria[filterGroups][0][filters][1][value]=Customer";
    assert_eq!(found(&search(&sandbox, &[], or)), [5, 6]);
    let page = search(&sandbox, &[], "searchCriteria[pageSize]=2");
    assert_eq!((found(&page), &page.json()["total_count"]), (vec![1, 2], &json!(6)));
}

#[test]
fn a_search_that_cannot_be_is_refused() {
    let sandbox = Sandbox::new();
    sandbox.get(ADMIN, "/rest/V1/customers/search").refuses(
        400,
        "\"%fieldName\" is required. Enter and try again.",
        json!({"fieldName": "searchCriteria"}),
    );
    search(&sandbox, &[("nosuch", "x", "eq")], "").refuses(
        400,
        "The \"%1\" attribute name is invalid. Reset the name and try again.",
        json!(["nosuch"]),
    );
    assert_eq!(
        found(&search(&sandbox, &[("email", "amina.haddad@example.com", "weird")], "")),
        Vec::<i64>::new()
    );
}

#[test]
fn countries_have_their_regions() {
    let sandbox = Sandbox::new();
    let us = sandbox.get("nobody", "/rest/V1/directory/countries/US").json();
    assert_eq!(
        (&us["three_letter_abbreviation"], us["available_regions"].as_array().unwrap().len()),
        (&json!("USA"), 65)
    );
    assert_eq!(us["available_regions"][56], json!({"id": "57", "code": "TX", "name": "Texas"}));
    assert_eq!(sandbox.get(ADMIN, "/rest/V1/directory/countries/FR").json().get("available_regions"), None);
    sandbox.get(ADMIN, "/rest/V1/directory/countries/XX").refuses(
        404,
        "The country isn't available.",
        Value::Null,
    );
    let views = sandbox.get(ADMIN, "/rest/V1/store/storeViews").json();
    assert_eq!((&views[0]["code"], &views[2]["code"]), (&json!("admin"), &json!("fr")));
}

const ATTRIBUTES: &str = "/rest/V1/products/attributes";

fn attribute(sandbox: &Sandbox, method: &str, path: &str, attribute: &Value) -> Answer {
    sandbox.call(ADMIN, method, path, &json!({"attribute": attribute}).to_string())
}

#[test]
fn an_attribute_is_created_once_and_read_with_a_blank_option() {
    let sandbox = Sandbox::new();
    let sent = json!({"attribute_code": "fabric", "frontend_input": "select", "default_frontend_label": "Fabric",
        "is_required": "false", "is_searchable": true, "entity_type_id": 4,
        "options": [{"label": "Linen", "is_default": true}, {"label": "Wool", "sort_order": 1}]});
    let created = attribute(&sandbox, "POST", ATTRIBUTES, &sent);
    assert_eq!(created.status, 200, "{created:?}");
    let read = sandbox.get(ADMIN, &format!("{ATTRIBUTES}/fabric")).json();
    assert_eq!(created.json(), read);
    assert_eq!(
        read["options"],
        json!([{"label": " ", "value": ""}, {"label": "Linen", "value": "171"}, {"label": "Wool", "value": "172"}])
    );
    assert_eq!(
        (&read["is_searchable"], &read["entity_type_id"], &read["is_required"]),
        (&json!("1"), &json!("4"), &json!(false))
    );
    for again in [
        &sent,
        &json!({"attribute_code": "fabric", "frontend_input": "text", "default_frontend_label": "Other"}),
    ] {
        attribute(&sandbox, "POST", ATTRIBUTES, again).refuses(
            400,
            "%1 already exists.",
            json!(["Attribute with the same code"]),
        );
    }
    assert_eq!(sandbox.show()["attributes"].as_array().unwrap().last().unwrap()["attribute_code"], "fabric");
    let taken = json!({"attribute": {"attribute_code": "fabric"}}).to_string();
    assert_eq!(sandbox.call(ADMIN, "POST", ATTRIBUTE, &taken).status, 400, "one store");
}

#[test]
fn attributes_are_refused_for_their_code_label_and_input() {
    let sandbox = Sandbox::new();
    let with = |change: Value| {
        let mut sent =
            json!({"attribute_code": "ok", "frontend_input": "text", "default_frontend_label": "Label"});
        sent.as_object_mut().unwrap().extend(change.as_object().unwrap().clone());
        attribute(&sandbox, "POST", ATTRIBUTES, &sent)
    };
    let reserved = "The attribute code '%1' is reserved by system. Please try another attribute code";
    with(json!({"attribute_code": "name"})).refuses(400, reserved, json!(["name"]));
    with(json!({"attribute_code": "category_id"})).refuses(400, reserved, json!(["category_id"]));
    with(json!({"attribute_code": "position"})).refuses(400, reserved, json!(["position"]));
    let invalid = "Invalid value of \"%value\" provided for the %fieldName field.";
    for code in ["Upper", "a-b", "1abc"] {
        with(json!({"attribute_code": code})).refuses(
            400,
            invalid,
            json!({"fieldName": "attribute_code", "value": code}),
        );
    }
    with(json!({"attribute_code": "a".repeat(61)})).refuses(
        400,
        "An attribute code must not be less than 1 and more than 60 characters.",
        Value::Null,
    );
    with(json!({"frontend_input": "colourpicker"})).refuses(
        400,
        invalid,
        json!({"fieldName": "frontend_input", "value": "colourpicker"}),
    );
    for name in ["is_filterable", "is_filterable_in_search"] {
        let refused = json!({"fieldName": name, "value": true});
        with(json!({name: true})).refuses(400, invalid, refused);
    }
    assert_eq!(with(json!({"frontend_labels": [{"store_id": 99, "label": "L"}]})).status, 500);
    with(json!({"default_frontend_label": null})).refuses(
        400,
        "\"%fieldName\" is required. Enter and try again.",
        json!({"fieldName": "frontend_label"}),
    );
    assert_eq!(with(json!({"colour": "red"})).status, 400);
    let store_0 =
        json!({"default_frontend_label": null, "frontend_labels": [{"store_id": 0, "label": "FL"}]});
    assert_eq!(with(store_0).json()["default_frontend_label"], "FL");
    let made = with(json!({"attribute_code": "", "default_frontend_label": "Care & Wash"}));
    assert_eq!((made.status, &made.json()["attribute_code"]), (200, &json!("care_wash")));
    sandbox.get(ADMIN, &format!("{ATTRIBUTES}/nosuch")).refuses(
        404,
        "The attribute with a \"%1\" attributeCode doesn't exist. Verify the attribute and try again.",
        json!(["nosuch"]),
    );
}

/// The trap: a PUT that should change one makes one where the code is misspelt.
#[test]
fn a_put_with_an_unknown_code_creates_the_attribute() {
    let sandbox = Sandbox::new();
    let path = format!("{ATTRIBUTES}/colr");
    let sent = json!({"attribute_code": "colr", "frontend_input": "text", "default_frontend_label": "Color"});
    assert_eq!(attribute(&sandbox, "PUT", &path, &sent).status, 200);
    assert_eq!(sandbox.get(ADMIN, &path).json()["default_frontend_label"], "Color");
    let label = json!({"frontend_input": "select", "default_frontend_label": "Hue"});
    assert_eq!(attribute(&sandbox, "PUT", &format!("{ATTRIBUTES}/color"), &label).status, 200);
    let color = sandbox.get(ADMIN, &format!("{ATTRIBUTES}/color")).json();
    assert_eq!(
        (&color["default_frontend_label"], color["options"].as_array().unwrap().len()),
        (&json!("Hue"), 5)
    );
    assert_eq!(sandbox.call(ADMIN, "DELETE", &path, "").json(), true);
    assert_eq!(sandbox.call(ADMIN, "DELETE", &path, "").status, 404);
    let system = sandbox.call(ADMIN, "DELETE", &format!("{ATTRIBUTES}/name"), "");
    system.refuses(400, "The system attribute can't be deleted.", Value::Null);
    let other = json!({"frontend_input": "boolean"});
    assert_eq!(attribute(&sandbox, "PUT", &format!("{ATTRIBUTES}/color"), &other).status, 400);
}
