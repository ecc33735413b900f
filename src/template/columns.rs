//! What the columns of a CSV mean.

use crate::input::records;
use crate::plan::operation::Operation;
use crate::plan::operation::spec::NamedCell;
use crate::plan::request::Dialect;
use crate::wire::{Field, FieldType};

/// A column: its title, what its cells hold, and what it is for.
pub type Column = (String, &'static str, String);

/// The columns that a CSV of an operation may have.
pub fn columns(dialect: &'static Dialect, operation: Operation) -> Vec<Column> {
    let spec = operation.spec();
    let fields = operation.schema(dialect).fields();
    let field_at = |path: &[&str]| -> Option<&'static Field> {
        let path: Vec<&str> = spec.wrapper.into_iter().chain(path.iter().copied()).collect();
        let path = path.join(".");
        fields.iter().find(|(name, _)| name.replace("[]", "") == path).map(|(_, field)| *field)
    };
    let known = records::paths(dialect, operation).filter_map(|(title, path)| {
        let path: Vec<&str> = path.iter().map(AsRef::as_ref).collect();
        let field = field_at(&path)?;
        let holds = if title == "is_searchable" { "yes or no" } else { holds(field.field_type) };
        Some((title, holds, field.doc.to_owned()))
    });
    let mut columns: Vec<Column> = known.collect();
    columns.extend(spec.columns.named.as_ref().map(|named| {
        let holds = match named.cell {
            NamedCell::Field => "text",
            NamedCell::Element { value: (_, field), .. } => holds(field),
        };
        let doc = field_at(named.path).map_or("", |field| field.doc);
        (format!("{}{}", named.prefix, named.placeholder), holds, doc.to_owned())
    }));
    columns.extend(spec.columns.labels.map(|title| {
        let doc = field_at(&[title]).map_or("", |field| field.doc);
        (title.to_owned(), "labels separated by |", format!("{doc}; * marks the default"))
    }));
    columns
}

fn holds(field: FieldType) -> &'static str {
    match field {
        FieldType::Text | FieldType::TextOrNull => "text",
        FieldType::TextList => "lines separated by |",
        FieldType::Boolean => "yes or no",
        other => other.expected(),
    }
}
