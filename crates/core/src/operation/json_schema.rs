//! JSON Schema (2020-12) of an operation's input, from the tables that check the input itself.

use serde_json::{Value, json};

use crate::interface::fields::{Field, ObjectSchema};
use crate::interface::json_schema::Writer;
use crate::interface::request::{Bearer, Dialect};
use crate::operation::OperationSpec;

const WRITER: Writer = Writer { definitions: "#/$defs/", closed: true };

/// The schema: one document, with or without its wrapper, or an array of records.
///
/// A schema cannot express two rules: names with stray spaces are corrected, and `1.0` is not a whole number.
pub fn of(dialect: &Dialect, operation: &OperationSpec) -> Value {
    let bodies = forms(dialect, operation);
    let mut definitions = WRITER.definitions(operation.schema(dialect).own_fields);
    let records: Vec<Value> = bodies.iter().map(|body| record(dialect, operation, body)).collect();
    definitions.insert("Record".to_owned(), json!({"anyOf": records}));
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": format!("Input of storefront {}", operation.name),
        "anyOf": [
            WRITER.object(bodies[0].iter().copied()),
            WRITER.object(bodies[1].iter().copied()),
            {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/Record"}},
        ],
        "$defs": definitions,
    })
}

/// The members of each form a body may have.
fn forms(dialect: &Dialect, operation: &OperationSpec) -> [Vec<&'static Field>; 2] {
    let body = operation.schema(dialect).own_fields;
    let inner = match operation.wrapper {
        None => beside_nested(body, dialect.fields.address_information),
        Some(_) => operation.inner_schema(dialect).own_fields.iter().collect(),
    };
    [body.iter().collect(), inner]
}

/// A body without its nested object, the fields of which then stand at the top.
fn beside_nested(body: &'static [Field], nested: &'static ObjectSchema) -> Vec<&'static Field> {
    let is_nested =
        |member: &&Field| member.field_type.schema().is_some_and(|schema| std::ptr::eq(schema, nested));
    nested.own_fields.iter().chain(body.iter().filter(|member| !is_nested(member))).collect()
}

/// A body as one record of a batch, which may have the columns that a batch adds.
fn record(dialect: &Dialect, operation: &OperationSpec, body: &[&'static Field]) -> Value {
    let mut schema = WRITER.object(body.iter().copied());
    schema["properties"]["reason"] = json!({"description": "Failure reason from a previous run (ignored)"});
    let token = match operation.bearer {
        Bearer::Customer => "Customer token (never printed)",
        Bearer::Admin => "Administrator token (never printed)",
    };
    schema["properties"]["token"] = json!({"type": "string", "description": token});
    let has_customer = dialect.customers.is_some() && operation.bearer == Bearer::Customer;
    if has_customer && schema["properties"].get("customer").is_none() {
        schema["properties"]["customer"] = json!({"type": ["string", "integer"],
            "description": "Customer ID or email (needs an admin token)"});
    }
    schema
}
