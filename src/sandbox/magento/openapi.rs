//! OpenAPI 3.1 of Magento's interface as the sandbox answers it, from the table of its calls and fields.

use serde_json::{Map, Value, json};

use super::fields::{Fields, Type};
use super::route_table::{Permission, ROUTES, Route};

/// The description. Scalars are given as the types that Magento's schema lists; its casts take more.
pub fn description() -> Value {
    let mut paths = Map::new();
    let mut schemas = Map::new();
    for route in ROUTES {
        for prefix in ["/rest/V1/", "/rest/{store_view_code}/V1/"] {
            let name = format!("{prefix}{}", route.path);
            let path = paths.entry(name.clone()).or_insert_with(|| json!({}));
            path[route.method.as_str().to_ascii_lowercase()] = operation(route, &name);
        }
        if let Some((_, fields)) = route.body {
            define(fields, &mut schemas);
        }
    }
    schemas.insert("Refusal".to_owned(), refusal());
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "The storefront sandbox: Magento's interface",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Calls of Magento Open Source 2.4.7 that the sandbox answers",
        },
        "servers": [{"url": "/"}],
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    })
}

fn operation(route: &Route, path: &str) -> Value {
    let refused = json!({
        "description": "Refused",
        "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Refusal"}}},
    });
    let done = json!({"description": "Done", "content": {"application/json": {"schema": {}}}});
    let mut operation = json!({
        "operationId": operation_id(route, path),
        "summary": route.summary,
        "parameters": parameters(path),
        "responses": {"200": done, "400": refused, "401": refused, "404": refused},
    });
    if route.permission != Permission::Anonymous {
        operation["security"] = json!([{"bearer": []}]);
    }
    if let Some((name, fields)) = route.body {
        let schema = json!({
            "type": "object",
            "properties": {name: {"$ref": format!("#/components/schemas/{}", fields.name)}},
            "required": [name],
        });
        operation["requestBody"] =
            json!({"required": true, "content": {"application/json": {"schema": schema}}});
    }
    operation
}

/// The method and the words of the path.
fn operation_id(route: &Route, path: &str) -> String {
    let words =
        path.trim_start_matches("/rest/").split(['/', '-', '_', '{', '}']).filter(|word| !word.is_empty());
    words.fold(route.method.as_str().to_ascii_lowercase(), |id, word| {
        let (first, rest) = word.split_at(1);
        format!("{id}{}{rest}", first.to_ascii_uppercase())
    })
}

fn parameters(path: &str) -> Value {
    let names = path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
    names
        .map(|name| {
            let kind = if name.ends_with("Id") && name != "countryId" { "integer" } else { "string" };
            json!({"name": name, "in": "path", "required": true, "schema": {"type": kind}})
        })
        .collect()
}

fn define(fields: &'static Fields, schemas: &mut Map<String, Value>) {
    if schemas.contains_key(fields.name) {
        return;
    }
    let properties: Map<String, Value> =
        fields.rows.iter().map(|(name, holds)| ((*name).to_owned(), schema(*holds))).collect();
    let object = json!({"type": "object", "properties": properties, "additionalProperties": false});
    schemas.insert(fields.name.to_owned(), object);
    for (_, holds) in fields.rows {
        if let Type::Object(inner) | Type::List(inner) = holds {
            define(inner, schemas);
        }
    }
}

fn schema(holds: Type) -> Value {
    let reference = |fields: &Fields| json!({"$ref": format!("#/components/schemas/{}", fields.name)});
    match holds {
        Type::Text => json!({"type": ["string", "null"]}),
        Type::Integer => json!({"type": ["integer", "null"]}),
        Type::Float => json!({"type": ["number", "null"]}),
        Type::Boolean => json!({"type": ["boolean", "null"]}),
        Type::TextList => json!({"type": "array", "items": {"type": "string"}}),
        Type::Object(fields) => reference(fields),
        Type::List(fields) => json!({"type": "array", "items": reference(fields)}),
        Type::CustomAttributes => json!({
            "type": "array",
            "items": {
                "type": "object",
                "properties": {"attribute_code": {"type": "string"}, "value": {}},
                "required": ["attribute_code", "value"],
            },
        }),
        Type::Any => json!({}),
    }
}

fn refusal() -> Value {
    json!({
        "type": "object",
        "required": ["message"],
        "properties": {
            "message": {"type": "string"},
            "parameters": {"type": ["object", "array"]},
            "errors": {"type": "array", "items": {"$ref": "#/components/schemas/Refusal"}},
        },
    })
}
