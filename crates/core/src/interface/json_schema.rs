//! The tables as JSON Schema (2020-12), for editors and for OpenAPI.

use serde_json::{Map, Value, json};

use super::fields::{Field, FieldType, ObjectSchema, Origin, Scalar};

/// How schemas are to be written.
#[derive(Debug, Clone, Copy)]
pub struct Writer {
    /// Where the named schemas stand, such as `#/$defs/`.
    pub definitions: &'static str,
    /// Whether a field that is not listed is refused.
    pub closed: bool,
}

impl Writer {
    /// A schema of an object with these fields; shapes further in are referred to. What the interface does not list stands
    /// only in a closed schema.
    pub fn object(self, members: impl IntoIterator<Item = &'static Field>) -> Value {
        let members = members.into_iter().filter(|member| self.closed || member.origin == Origin::Listed);
        let properties: Map<String, Value> =
            members.map(|member| (member.name.to_owned(), self.member(member))).collect();
        let mut schema = json!({"type": "object", "properties": properties});
        if self.closed {
            schema["additionalProperties"] = false.into();
        }
        schema
    }

    /// The named schemas of every shape these fields lead to, by [`name`].
    pub fn definitions(self, members: impl IntoIterator<Item = &'static Field>) -> Map<String, Value> {
        let mut found = Map::new();
        for member in members {
            if let Some(shape) = member.field_type.schema() {
                found.extend(self.definitions(shape.own_fields));
                let mut schema = self.object(shape.own_fields);
                let section = shape.section;
                schema["description"] = format!("Section {section} of the interface: {}", shape.name).into();
                found.insert(name(shape), schema);
            }
        }
        found
    }

    fn member(self, member: &Field) -> Value {
        if member.origin == Origin::Ignored {
            return json!({"description": format!("{}; dropped with a warning", member.doc)});
        }
        let mut schema = self.holds(member.field_type);
        // What the input check says about it; services accept other texts.
        if self.closed && member.name == "country_id" {
            schema["pattern"] = "^[A-Z]{2}$".into();
        }
        schema["description"] = member.doc.into();
        schema
    }

    fn holds(self, holds: FieldType) -> Value {
        match holds {
            FieldType::Text => json!({"type": "string"}),
            FieldType::TextOrNull => json!({"type": ["string", "null"]}),
            FieldType::Integer => json!({"type": "integer"}),
            FieldType::Number => json!({"type": "number"}),
            FieldType::Boolean => json!({"type": "boolean"}),
            FieldType::TextList => json!({"type": "array", "items": {"type": "string"}}),
            FieldType::Object(shape) => json!({"$ref": self.reference(shape)}),
            FieldType::List(shape) => json!({"type": "array", "items": {"$ref": self.reference(shape)}}),
            FieldType::AnyObject => json!({"type": "object"}),
            FieldType::AnyList => json!({"type": "array"}),
            FieldType::Scalar(Scalar::Text | Scalar::Boolean) => {
                json!({"type": ["string", "number", "boolean", "null"]})
            }
            FieldType::Scalar(Scalar::Integer | Scalar::Number | Scalar::StoreView) => {
                json!({"type": ["string", "number", "null"]})
            }
        }
    }

    fn reference(self, shape: &ObjectSchema) -> String {
        format!("{}{}", self.definitions, name(shape))
    }
}

/// A shape's name in schemas: `profile address` is `ProfileAddress`.
pub fn name(shape: &ObjectSchema) -> String {
    let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
    shape.name.split(' ').map(capital).collect()
}
