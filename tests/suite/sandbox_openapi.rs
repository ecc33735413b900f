//! `sandbox openapi`: a description of each interface that holds together.

use serde_json::{Value, json};

use crate::support::storefront::Home;

fn description(interface: &str) -> Value {
    serde_json::from_str(&Home::new().ok(&format!("sandbox openapi --api {interface}"))).unwrap()
}

#[test]
fn every_call_has_an_id_of_its_own_and_every_reference_leads_somewhere() {
    for (interface, most) in [("marketplace", 10), ("magento", 100)] {
        let description = description(interface);
        assert_eq!(description["openapi"], "3.1.0");
        let text = description.to_string();
        let references: Vec<&str> =
            text.split("\"$ref\":\"#").skip(1).map(|rest| rest.split('"').next().unwrap()).collect();
        assert!(references.len() > most, "{references:?}");
        for reference in references {
            assert!(description.pointer(reference).is_some(), "{reference}");
        }
        let mut ids = Vec::new();
        for (path, calls) in description["paths"].as_object().unwrap() {
            for (method, call) in calls.as_object().unwrap() {
                ids.push(call["operationId"].as_str().unwrap());
                assert!(call.get("requestBody").is_none() || ["post", "put"].contains(&&**method), "{path}");
                let parameters = call["parameters"].as_array().unwrap().len();
                assert_eq!(parameters, path.matches('{').count(), "{path}");
                assert!(call["responses"].get("401").is_some(), "{path}");
            }
        }
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count, "no id twice");
    }
}

#[test]
fn bodies_name_the_fields_that_are_required() {
    let description = description("marketplace");
    let view = "/V1/storeview/{store_view_code}";
    for (path, method, field) in [
        (format!("{view}/customer/profile"), "put", "customer"),
        (format!("{view}/user/quote/shipping-information"), "post", "paymentMethod"),
        (format!("{view}/user/quote/item"), "post", "cartItem"),
        ("/V1/admin/product/attribute".to_owned(), "post", "attribute"),
    ] {
        let content = &description["paths"][&path][method]["requestBody"]["content"];
        assert_eq!(content["application/json"]["schema"]["required"], json!([field]), "{path}");
    }
    let item = &description["components"]["schemas"]["CartItem"]["required"];
    assert_eq!(*item, json!(["sku", "qty", "quote_id"]));
    let saved = format!("{view}/user/quote/shipping-information");
    assert!(description["paths"][&saved]["post"]["responses"].get("320").is_some());
}

#[test]
fn magentos_calls_are_described_with_and_without_a_store_view() {
    let description = description("magento");
    for (path, method) in [
        ("/rest/V1/customers/me", "put"),
        ("/rest/{store_view_code}/V1/customers/{customerId}", "put"),
        ("/rest/V1/carts/{cartId}/items", "post"),
        ("/rest/V1/carts/mine/items", "post"),
        ("/rest/V1/integration/admin/token", "post"),
        ("/rest/V1/products/attributes/{attributeCode}", "get"),
        ("/rest/V1/carts/mine/order", "put"),
        ("/rest/V1/orders/{orderId}", "put"),
        ("/rest/V1/orders/{orderId}/comments", "post"),
        ("/rest/{store_view_code}/V1/products", "get"),
        ("/rest/{store_view_code}/V1/products/{sku}", "put"),
        ("/rest/V1/products/attribute-sets/{attributeSetId}/attributes/{attributeCode}", "delete"),
    ] {
        assert!(description["paths"][path].get(method).is_some(), "{method} {path}");
    }
    let order = &description["paths"]["/rest/V1/carts/{cartId}/order"]["put"]["requestBody"];
    let schema = &order["content"]["application/json"]["schema"];
    assert_eq!((&order["required"], schema.get("required")), (&json!(false), None), "a body may be left out");
    let login = &description["paths"]["/rest/V1/integration/admin/token"]["post"];
    assert_eq!(login["security"], json!([]), "nobody's token is needed");
}
