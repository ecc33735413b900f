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

/// A document before it is checked, and what its fields are called where it was written.
#[derive(Debug, Clone, Default)]
pub struct Written {
    /// None where flags alone say what is sent.
    pub document: Option<Value>,
    /// The titles of a row.
    pub names: FieldNames,
}

impl From<Option<Value>> for Written {
    fn from(document: Option<Value>) -> Self {
        Self { document, names: FieldNames::default() }
    }
}

/// A checked body, flags and all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// What is to be done with it.
    pub operation: &'static OperationSpec,
    /// What is inside the body's wrapper; the body itself where the operation has none.
    pub fields: Map<String, Value>,
    /// What its fields are called where it was written.
    pub names: FieldNames,
    /// What the check corrected, and its warnings.
    pub warnings: Warnings,
    /// Findings in a customer that only the stored profile can decide: it may have the same field, or the same value.
    pub deferred: Vec<Finding>,
    /// What its plan expects, of a record of one.
    pub expect: Option<Expected>,
    /// The address of a row, to be held against what is stored.
    pub row: Option<Row>,
}

impl Draft {
    /// One that the program made itself.
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
    /// `usage` for unknown fields, wrong types, and what the flags refuse. Of a customer's document the findings are
    /// [`Self::deferred`].
    pub fn new(
        dialect: &Dialect,
        operation: &'static OperationSpec,
        written: Written,
        flags: Overrides<'_>,
        allow_unknown: bool,
    ) -> Result<Self, Failure> {
        operation.ensure_in(dialect)?;
        let Written { document, names } = written;
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
        // What flags name is corrected, too; nothing of the document is left to warn about.
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

    /// Refuses deferred wrong values now, where it matters more to find them before anything is sent than that a stored
    /// profile with the same value could be sent back. Unknown fields stay deferred.
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
