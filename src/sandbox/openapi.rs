//! OpenAPI 3.1 of what the sandbox serves, from the tables of documented members.
//!
//! Request bodies are as the interface lists them; what the sandbox takes beside that is Magento's leniency.

use serde_json::{Map, Value, json};

use crate::wire::schema::Writer;
use crate::wire::{ATTRIBUTE_BODY, CART_ITEM_BODY, CUSTOMER_BODY, SHIPPING_INFORMATION, Shape};

const WRITER: Writer = Writer { definitions: "#/components/schemas/", closed: false };

/// A call the sandbox answers.
struct Call {
    path: &'static str,
    method: &'static str,
    id: &'static str,
    summary: &'static str,
    body: Option<&'static Shape>,
    success: &'static str,
    /// Statuses it refuses with.
    refusals: &'static [&'static str],
}

const PROFILE: &str = "/V1/storeview/{store_view_code}/customer/profile";

const CALLS: &[Call] = &[
    Call {
        path: PROFILE,
        method: "get",
        id: "showProfile",
        summary: "The stored profile (not shown in the interface)",
        body: None,
        success: "200",
        refusals: &["401", "403", "404"],
    },
    Call {
        path: PROFILE,
        method: "put",
        id: "replaceProfile",
        summary: "Replace the profile and its address list (4.2)",
        body: Some(&CUSTOMER_BODY),
        success: "200",
        refusals: WRITE_REFUSALS,
    },
    Call {
        path: "/V1/storeview/{store_view_code}/user/quote/shipping-information",
        method: "post",
        id: "saveShippingInformation",
        summary: "Save shipping, billing and payment on the customer's quote (4.1)",
        body: Some(&SHIPPING_INFORMATION),
        success: "320",
        refusals: WRITE_REFUSALS,
    },
    Call {
        path: "/V1/storeview/{store_view_code}/user/quote/item",
        method: "post",
        id: "addItem",
        summary: "Add an item to a quote (4.4)",
        body: Some(&CART_ITEM_BODY),
        success: "200",
        refusals: WRITE_REFUSALS,
    },
    Call {
        path: "/V1/admin/product/attribute/",
        method: "post",
        id: "createAttribute",
        summary: "Create a product attribute (4.3)",
        body: Some(&ATTRIBUTE_BODY),
        success: "200",
        refusals: WRITE_REFUSALS,
    },
];

const WRITE_REFUSALS: &[&str] = &["400", "401", "403", "404", "413"];

/// The description.
pub fn description() -> Value {
    let mut paths = Map::new();
    let mut schemas = Map::new();
    for call in CALLS {
        let path = paths.entry(call.path).or_insert_with(|| json!({}));
        path[call.method] = operation(call);
        if let Some(body) = call.body {
            schemas.extend(WRITER.definitions(body.members));
        }
    }
    schemas.insert("Refusal".to_owned(), refusal());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "The storefront sandbox",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The service of the storefront interface, on this machine",
        },
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    })
}

fn operation(call: &Call) -> Value {
    let mut responses = Map::from_iter([(
        call.success.to_owned(),
        json!({"description": "Done", "content": {"application/json": {"schema": {"type": "object"}}}}),
    )]);
    for status in call.refusals {
        let schema = json!({"schema": {"$ref": "#/components/schemas/Refusal"}});
        responses.insert(
            (*status).to_owned(),
            json!({"description": "Refused", "content": {"application/json": schema}}),
        );
    }
    let mut operation = json!({"operationId": call.id, "summary": call.summary, "responses": responses});
    if call.path.contains("{store_view_code}") {
        operation["parameters"] = json!([{
            "name": "store_view_code", "in": "path", "required": true,
            "schema": {"type": "string"}, "examples": {"default": {"value": "default"}},
        }]);
    }
    if let Some(body) = call.body {
        let schema = WRITER.object(body.members);
        operation["requestBody"] =
            json!({"required": true, "content": {"application/json": {"schema": schema}}});
    }
    operation
}

/// Errors in Magento's shape: the message with its placeholders, and the values for them.
fn refusal() -> Value {
    json!({
        "type": "object",
        "required": ["message"],
        "properties": {"message": {"type": "string"}, "parameters": {"type": ["object", "array"]}},
        "additionalProperties": false,
    })
}
