//! OpenAPI 3.1 of what the sandbox serves, from the tables of documented fields.
//!
//! What it says of a body's types and required fields is what the sandbox enforces ([`crate::sandbox::coerce`],
//! [`super::required`]); fields that are not listed are taken as they come.

use serde_json::{Map, Value, json};

use super::required;
use super::route_table::{PROFILE, ROUTES, Route};
use crate::wire::json_schema::{self, Writer};
use crate::wire::{MARKETPLACE_FIELDS, ObjectSchema};

const WRITER: Writer = Writer { definitions: "#/components/schemas/", closed: false };

/// Statuses that every call may be refused with, and those of a call with a body besides.
const REFUSALS: &[&str] = &["401", "403", "404", "421"];
const BODY_REFUSALS: &[&str] = &["400", "408", "413"];

/// The description.
pub fn description() -> Value {
    let mut paths = Map::new();
    let mut schemas = Map::new();
    for route in ROUTES {
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.as_str().to_ascii_lowercase()] = operation(route);
        if let Some(table) = route.body {
            let body = table(&MARKETPLACE_FIELDS);
            schemas.extend(WRITER.definitions(body.own_fields));
        }
    }
    let item = MARKETPLACE_FIELDS.cart_item;
    require(&mut schemas[&json_schema::name(item)], item);
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

fn operation(route: &Route) -> Value {
    let mut success =
        json!({"description": "Done", "content": {"application/json": {"schema": {"type": "object"}}}});
    if route.path == PROFILE {
        success["links"] = links();
    }
    let mut responses = Map::from_iter([(route.success.to_owned(), success)]);
    let refusals = REFUSALS.iter().chain(route.body.map_or(&[][..], |_| BODY_REFUSALS));
    for status in refusals {
        let schema = json!({"schema": {"$ref": "#/components/schemas/Refusal"}});
        responses.insert(
            (*status).to_owned(),
            json!({"description": "Refused", "content": {"application/json": schema}}),
        );
    }
    let mut operation = json!({"operationId": route.id, "summary": route.summary, "responses": responses});
    if route.path.contains("{store_view_code}") {
        operation["parameters"] = json!([{
            "name": "store_view_code", "in": "path", "required": true,
            "schema": {"type": "string"}, "examples": {"default": {"value": "default"}},
        }]);
    }
    if let Some(table) = route.body {
        let body = table(&MARKETPLACE_FIELDS);
        let mut schema = WRITER.object(body.own_fields);
        require(&mut schema, body);
        operation["requestBody"] =
            json!({"required": true, "content": {"application/json": {"schema": schema}}});
    }
    operation
}

fn require(schema: &mut Value, shape: &ObjectSchema) {
    let required = required::fields(shape);
    if !required.is_empty() {
        schema["required"] = json!(required);
    }
}

/// What was written in a store view is read in the same one.
fn links() -> Value {
    json!({"stored": {
        "operationId": "showProfile",
        "parameters": {"store_view_code": "$request.path.store_view_code"},
        "description": "The profile as it is stored now",
    }})
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
