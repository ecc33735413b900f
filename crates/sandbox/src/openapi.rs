//! OpenAPI 3.1 of the sandbox, from the tables of its calls and of the documented fields.

use serde_json::{Map, Value, json};

use crate::coerce::Rules;
use crate::dispatch::vocabulary;
use crate::route::{Permission, Presence, Route};
use storefront_core::interface::fields::FieldTables;
use storefront_core::interface::json_schema::{self, Writer};
use storefront_core::interface::request::Interface;

/// Statuses that every call may be refused with.
const REFUSALS: &[&str] = &["400", "401", "403", "404", "408", "413", "421"];

/// The description of an interface.
pub fn description(interface: Interface) -> Value {
    let (routes, tables, rules) = vocabulary(interface);
    // Magento refuses unknown fields, the marketplace accepts them (ours).
    let writer = Writer { definitions: "#/components/schemas/", closed: rules == Rules::Cast };
    let (title, prefixes) = match interface {
        Interface::Marketplace => ("The storefront sandbox", &["/V1/"][..]),
        Interface::Magento => {
            ("The storefront sandbox: Magento's interface", &["/rest/V1/", "/rest/{store_view_code}/V1/"][..])
        }
    };
    let mut paths = Map::new();
    let mut schemas = Map::from_iter([("Refusal".to_owned(), refusal())]);
    for route in routes {
        let body = route.body.as_ref().map(|_| body(route, tables, writer, &mut schemas));
        for (path, is_own) in route.paths() {
            for prefix in prefixes {
                let path = format!("{prefix}{path}");
                let is_open = route.permission == Permission::Anybody && !is_own;
                let operation = operation(route, &path, is_open, body.as_ref());
                paths.entry(path).or_insert_with(|| json!({}))[route.method.to_ascii_lowercase()] = operation;
            }
        }
    }
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": title,
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The calls that the sandbox answers on this machine",
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

fn operation(route: &Route, path: &str, is_open: bool, body: Option<&Value>) -> Value {
    let json = |schema: &Value| json!({"application/json": {"schema": schema}});
    let refused = json(&json!({"$ref": "#/components/schemas/Refusal"}));
    let refused = json!({"description": "Refused", "content": refused});
    let refusals = REFUSALS.iter().map(|status| ((*status).to_owned(), refused.clone()));
    let done = (route.success.to_string(), json!({"description": "Done", "content": json(&json!({}))}));
    let responses: Map<String, Value> = std::iter::once(done).chain(refusals).collect();
    let mut operation = json!({
        "operationId": operation_id(route.method, path),
        "summary": route.summary,
        "parameters": parameters(path),
        "responses": responses,
    });
    if is_open {
        operation["security"] = json!([]);
    }
    if let Some(schema) = body {
        let is_required = route.body.as_ref().is_some_and(|body| body.presence != Presence::Optional);
        operation["requestBody"] = json!({"required": is_required, "content": json(schema)});
    }
    operation
}

/// The schema of the body; the schemas that it refers to are put into `schemas`.
fn body(route: &Route, tables: &FieldTables, writer: Writer, schemas: &mut Map<String, Value>) -> Value {
    let Some(body) = &route.body else { return Value::Null };
    let shape = (body.fields)(tables);
    schemas.extend(writer.definitions(shape.own_fields));
    let mut object = writer.object(shape.own_fields);
    if !body.required.is_empty() {
        object["required"] = json!(body.required);
    }
    if body.wrapper.is_empty() {
        return object;
    }
    let name = json_schema::name(shape);
    let inside = json!({"$ref": format!("{}{name}", writer.definitions)});
    schemas.insert(name, object);
    let mut whole = json!({"type": "object", "properties": {body.wrapper: inside}});
    if body.presence != Presence::Optional {
        whole["required"] = json!([body.wrapper]);
    }
    whole
}

/// The method and the words of the path, as an id.
fn operation_id(method: &str, path: &str) -> String {
    let words = path.split(['/', '-', '_', '{', '}']).filter(|word| !word.is_empty() && *word != "rest");
    words.fold(method.to_ascii_lowercase(), |id, word| {
        let (first, rest) = word.split_at(1);
        format!("{id}{}{rest}", first.to_ascii_uppercase())
    })
}

fn parameters(path: &str) -> Value {
    let names = path.split('/').filter_map(|segment| segment.strip_prefix('{')?.strip_suffix('}'));
    names
        .map(|name| {
            let kind = if name.ends_with("Id") && name != "countryId" { "integer" } else { "string" };
            let mut parameter =
                json!({"name": name, "in": "path", "required": true, "schema": {"type": kind}});
            if name == "store_view_code" {
                parameter["examples"] = json!({"default": {"value": "default"}});
            }
            parameter
        })
        .collect()
}

/// Errors in Magento's shape: the message with its placeholders, and the values for them.
fn refusal() -> Value {
    json!({
        "type": "object",
        "required": ["message"],
        "properties": {
            "message": {"type": "string"},
            "parameters": {"type": ["object", "array"]},
            "errors": {"type": "array", "items": {"$ref": "#/components/schemas/Refusal"}},
        },
        "additionalProperties": false,
    })
}
