//! Files and flags become drafts: the documented body, checked, with the flags applied to it.

mod columns;
mod csv;
pub mod document;
mod flags;
pub mod records;

pub use columns::read_options as options_file;

use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::plan::operation::{self, Operation};
use crate::plan::request::Dialect;
use crate::plan::validate::body::{self, Finding, Warnings};

/// Flags that can be applied to a body.
pub trait FlagOverrides {
    /// Applies the flags to what is inside the body's wrapper (to the body itself where it has none). They take precedence.
    ///
    /// # Errors
    /// `usage` for flags that contradict each other or name what is not there.
    fn apply(&self, inner: &mut Map<String, Value>) -> Result<(), Failure>;

    /// Whether what cannot work is sent nevertheless.
    fn forces(&self) -> bool {
        false
    }

    /// Whether the result is read back.
    fn verifies(&self) -> bool {
        false
    }
}

/// No flags yet: questions complete the document, and what cannot work so far may work then.
#[derive(Debug, Clone, Copy)]
pub struct Unfinished;

impl FlagOverrides for Unfinished {
    fn apply(&self, _: &mut Map<String, Value>) -> Result<(), Failure> {
        Ok(())
    }

    fn forces(&self) -> bool {
        true
    }
}

/// A checked body, flags and all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Draft {
    /// What is to be done with it.
    pub operation: Operation,
    /// What is inside the body's wrapper; the body itself where the operation has none.
    pub fields: Map<String, Value>,
    /// What the check corrected, and its warnings.
    pub warnings: Warnings,
    /// Findings in a customer that only the stored profile can decide: it may have the same field, or the same value.
    pub deferred: Vec<Finding>,
    /// Whether the result is read back, where that is a choice.
    pub verify: bool,
}

impl Draft {
    /// Applies the flags to a record's document, and checks both together: a flag replaces a wrong value too.
    ///
    /// # Errors
    /// `usage` for unknown fields, wrong types, what cannot work, and what the flags refuse. Of a customer's document the
    /// findings are [`Self::deferred`].
    pub fn new(
        dialect: &Dialect,
        operation: Operation,
        document: Option<Value>,
        flags: &dyn FlagOverrides,
        allow_unknown: bool,
    ) -> Result<Self, Failure> {
        let spec = operation.spec();
        let is_document = document.is_some();
        let mut body = operation::wrapped(operation, dialect, document)?;
        let mut warnings = body::tidy(&mut body, operation.schema(dialect))?;
        match spec.wrapper {
            None => flags.apply(&mut body)?,
            Some(wrapper) => {
                operation::refuse_beside(wrapper, &body)?;
                if is_document && !body.contains_key(wrapper) {
                    body::refuse(&body::findings(&body, operation.schema(dialect), allow_unknown))?;
                }
                if let Value::Object(inner) = body.entry(wrapper).or_insert_with(|| Value::Object(Map::new()))
                {
                    flags.apply(inner)?;
                }
            }
        }
        // What flags name is corrected, too; nothing of the document is left to warn about.
        body::tidy(&mut body, operation.schema(dialect))?;
        let findings = body::findings(&body, operation.schema(dialect), allow_unknown);
        let is_inside = |finding: &Finding| finding.steps.len() > 1 && operation.is_merged();
        let (deferred, refused): (Vec<_>, Vec<_>) =
            findings.into_iter().partition(|finding| is_document && is_inside(finding));
        body::refuse(&refused)?;
        body::refuse_masked(&body)?;
        let fields = operation::unwrapped(operation, body);
        warnings.extend(operation.lint(&fields, flags.forces())?);
        Ok(Self { operation, fields, warnings, deferred, verify: flags.verifies() })
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
        Value::Object(self.clone().into_body()).to_string()
    }

    /// The body as the interface documents it, wrapper included.
    pub fn into_body(self) -> Map<String, Value> {
        operation::body(self.operation, self.fields)
    }
}

#[cfg(test)]
mod tests;
