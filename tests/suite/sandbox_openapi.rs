//! `sandbox openapi`: a description that holds together.

use serde_json::Value;

use crate::support::storefront::Home;

fn references<'a>(value: &'a Value, found: &mut Vec<&'a str>) {
    match value {
        Value::Object(object) => {
            found.extend(object.get("$ref").and_then(Value::as_str));
            object.values().for_each(|inner| references(inner, found));
        }
        Value::Array(list) => list.iter().for_each(|inner| references(inner, found)),
        _ => {}
    }
}

#[test]
fn every_call_is_described_and_every_reference_leads_somewhere() {
    let description: Value = serde_json::from_str(&Home::new().ok("sandbox openapi")).unwrap();
    assert_eq!(description["openapi"], "3.1.0");
    let mut found = Vec::new();
    references(&description, &mut found);
    assert!(found.len() > 10, "{found:?}");
    for reference in found {
        assert!(description.pointer(&reference[1..]).is_some(), "{reference}");
    }
    let mut ids = Vec::new();
    for (path, calls) in description["paths"].as_object().unwrap() {
        for (method, call) in calls.as_object().unwrap() {
            ids.push(call["operationId"].as_str().unwrap());
            assert_eq!(call.get("requestBody").is_some(), method != "get", "{path}");
            assert_eq!(call.get("parameters").is_some(), path.contains("{store_view_code}"), "{path}");
            assert!(call["responses"].get("401").is_some(), "{path}");
        }
    }
    ids.sort_unstable();
    assert_eq!(
        ids,
        ["addItem", "createAttribute", "replaceProfile", "saveShippingInformation", "showProfile"]
    );
    let required = |path: &str, method: &str| {
        let content = &description["paths"][path][method]["requestBody"]["content"];
        content["application/json"]["schema"]["required"].clone()
    };
    let view = "/V1/storeview/{store_view_code}";
    for (path, method, field) in [
        (format!("{view}/customer/profile"), "put", "customer"),
        (format!("{view}/user/quote/shipping-information"), "post", "paymentMethod"),
        (format!("{view}/user/quote/item"), "post", "cartItem"),
        ("/V1/admin/product/attribute/".to_owned(), "post", "attribute"),
    ] {
        assert_eq!(required(&path, method), serde_json::json!([field]), "{path}");
    }
    let item = &description["components"]["schemas"]["CartItem"]["required"];
    assert_eq!(*item, serde_json::json!(["sku", "qty", "quote_id"]));
    let saved = "/V1/storeview/{store_view_code}/user/quote/shipping-information";
    assert!(description["paths"][saved]["post"]["responses"].get("320").is_some());
}
