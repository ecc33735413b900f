//! Files and flags become drafts: the documented body, checked, with the flags applied to it.

mod columns;
mod csv;
pub mod customers;
pub mod document;
mod doubts;
pub mod records;
pub mod template;
mod words;

pub use columns::read_options as options_file;

use serde_json::{Map, Value};

use storefront_core::check::body::{self, Finding, Warnings};
use storefront_core::check::field_names::FieldNames;
use storefront_core::failure::Failure;
use storefront_core::interface::request::Dialect;
use storefront_core::operation::{self, OperationSpec};
use storefront_core::profile::diff::Expected;
use storefront_core::sheet::address::Row;

/// Applies flags to what is inside the body's wrapper.
pub type Overrides<'a> = &'a dyn Fn(&mut Map<String, Value>) -> Result<(), Failure>;

/// An unchecked document, with the names of its fields in the input.
#[derive(Debug, Clone, Default)]
pub struct RawInput {
    /// `None` if only flags set fields.
    pub document: Option<Value>,
    /// The titles of a row.
    pub names: FieldNames,
}

impl From<Option<Value>> for RawInput {
    fn from(document: Option<Value>) -> Self {
        Self { document, names: FieldNames::default() }
    }
}

/// A checked body, flags and all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// Its operation.
    pub operation: &'static OperationSpec,
    /// The fields inside the body's wrapper; the body itself without a wrapper.
    pub fields: Map<String, Value>,
    /// The names of its fields in the input.
    pub names: FieldNames,
    /// What the check corrected, and its warnings.
    pub warnings: Warnings,
    /// Findings in a customer that only the stored profile can decide: it may have the same field, or the same value.
    pub deferred: Vec<Finding>,
    /// What its plan expects, for a record of a plan.
    pub expect: Option<Expected>,
    /// The row of an exported sheet, to be compared with the stored values.
    pub row: Option<Row>,
}

impl Draft {
    /// A draft that the program made itself.
    pub fn unchecked(operation: &'static OperationSpec, fields: Map<String, Value>) -> Self {
        Self {
            operation,
            fields,
            names: FieldNames::default(),
            warnings: Warnings::default(),
            deferred: Vec::new(),
            expect: None,
            row: None,
        }
    }

    /// Applies the flags to a record's document, and checks both together: a flag replaces a wrong value too.
    ///
    /// # Errors
    /// `usage` for unknown fields, wrong types, and what the flags refuse. The findings in a customer's document are
    /// [`Self::deferred`].
    pub fn new(
        dialect: &Dialect,
        operation: &'static OperationSpec,
        written: RawInput,
        flags: Overrides<'_>,
        allow_unknown: bool,
    ) -> Result<Self, Failure> {
        operation.ensure_in(dialect)?;
        let RawInput { document, names } = written;
        let is_document = document.is_some();
        let mut body = operation::wrapped(operation, dialect, document)?;
        let mut warnings = body::tidy(&mut body, operation.schema(dialect))?;
        match operation.wrapper {
            None => flags(&mut body)?,
            Some(wrapper) => {
                operation::refuse_beside(wrapper, &body)?;
                if is_document && !body.contains_key(wrapper) {
                    let findings = body::findings(&body, operation.schema(dialect), allow_unknown, &names);
                    body::refuse(&findings)?;
                }
                if let Value::Object(inner) = body.entry(wrapper).or_insert_with(|| Value::Object(Map::new()))
                {
                    flags(inner)?;
                    if operation.has_admin_words {
                        words::resolve(inner);
                    }
                }
            }
        }
        // Tidy again, for the fields of flags. The warnings about the document exist already.
        body::tidy(&mut body, operation.schema(dialect))?;
        let findings = body::findings(&body, operation.schema(dialect), allow_unknown, &names);
        let is_inside = |finding: &Finding| finding.steps.len() > 1 && operation.is_merged;
        let (deferred, refused): (Vec<_>, Vec<_>) =
            findings.into_iter().partition(|finding| is_document && is_inside(finding));
        body::refuse(&refused)?;
        body::refuse_masked(&body, &names)?;
        let fields = operation::unwrapped(operation, body);
        warnings.extend(doubts::of_texts(&fields, &names));
        Ok(Self { operation, fields, names, warnings, deferred, expect: None, row: None })
    }

    /// Refuses deferred wrong values: finding them before anything is sent matters more there than the chance that the
    /// stored profile has the same value. Unknown fields stay deferred.
    ///
    /// # Errors
    /// `usage`, with all of them.
    pub fn refuse_wrong_values(&self) -> Result<(), Failure> {
        let wrong = self.deferred.iter().filter(|finding| !finding.is_unknown);
        body::refuse(&wrong.cloned().collect::<Vec<_>>())
    }

    /// The text of the body as the interface documents it, wrapper included.
    pub fn body_text(&self) -> String {
        operation::body_text(self.operation, &self.fields)
    }

    /// The body as the interface documents it, wrapper included.
    pub fn body(&self) -> Map<String, Value> {
        operation::body(self.operation, self.fields.clone())
    }
}

#[cfg(test)]
mod tests;
