//! A call: one row of an interface's table.

use serde_json::Value;

use crate::call::Call;
use crate::reply::ApiError;
use crate::store::Database;
use storefront_core::interface::fields::Table;

/// The work of a call inside its transaction; it returns the body of the answer.
pub type Operation = fn(&Database<'_>, Call) -> Result<Value, ApiError>;

/// The token that a call needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Permission {
    /// No token.
    Anybody,
    /// A customer's.
    Own,
    /// An administrator's, with this permission.
    Administrator(&'static str),
}

/// One call that the sandbox answers.
pub struct Route {
    /// HTTP method. A GET reads, any other method may write.
    pub method: &'static str,
    /// Path after `/V1/`; a segment in braces is a parameter. `{me|customerId}` also accepts the word before the bar,
    /// which makes it the customer's own call.
    pub path: &'static str,
    /// The token that it needs, unless the path makes it the own call.
    pub permission: Permission,
    /// Its work.
    pub operation: Operation,
    /// The contents of its body; any object if it is missing.
    pub body: Option<Body>,
    /// Status of a success.
    pub success: u16,
    /// One line of meaning.
    pub summary: &'static str,
}

/// The contents of a call's body.
pub struct Body {
    /// Name of the object in the body; empty if the body itself is the object.
    pub wrapper: &'static str,
    /// The object's fields.
    pub fields: Table,
    /// Required fields.
    pub required: &'static [&'static str],
    /// Whether the wrapper is required.
    pub presence: Presence,
}

/// Whether the wrapper of a body is required.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Presence {
    /// It is required.
    Required,
    /// It may be left out.
    Optional,
    /// The own call works without it: Magento writes an id into the object before it looks for it, and so always finds
    /// it, but never under another spelling of its name.
    Forced,
}

const fn route(
    method: &'static str,
    path: &'static str,
    permission: Permission,
    operation: Operation,
    summary: &'static str,
) -> Route {
    Route { method, path, permission, operation, body: None, success: 200, summary }
}

/// A row for GET.
pub const fn get(path: &'static str, who: Permission, operation: Operation, summary: &'static str) -> Route {
    route("GET", path, who, operation, summary)
}

/// A row for POST.
pub const fn post(path: &'static str, who: Permission, operation: Operation, summary: &'static str) -> Route {
    route("POST", path, who, operation, summary)
}

/// A row for PUT.
pub const fn put(path: &'static str, who: Permission, operation: Operation, summary: &'static str) -> Route {
    route("PUT", path, who, operation, summary)
}

/// A row for DELETE.
pub const fn delete(
    path: &'static str,
    who: Permission,
    operation: Operation,
    summary: &'static str,
) -> Route {
    route("DELETE", path, who, operation, summary)
}

impl Route {
    /// The row with a body of these fields in `wrapper`.
    pub const fn takes(
        self,
        wrapper: &'static str,
        fields: Table,
        required: &'static [&'static str],
    ) -> Self {
        Self { body: Some(Body { wrapper, fields, required, presence: Presence::Required }), ..self }
    }

    /// The row with a body of these fields, or without one.
    pub const fn may_take(self, wrapper: &'static str, fields: Table) -> Self {
        Self { body: Some(Body { wrapper, fields, required: &[], presence: Presence::Optional }), ..self }
    }

    /// The row with a body that the own call always finds ([`Presence::Forced`]).
    pub const fn forces(self, wrapper: &'static str, fields: Table) -> Self {
        Self { body: Some(Body { wrapper, fields, required: &[], presence: Presence::Forced }), ..self }
    }

    /// The row with another success status.
    pub const fn answers(self, success: u16) -> Self {
        Self { success, ..self }
    }

    /// The paths of the row for descriptions: each parameter with its own braces, and whether it is the own call.
    pub fn paths(&self) -> Vec<(String, bool)> {
        let Some((before, rest)) = self.path.split_once('{').filter(|(_, rest)| rest.contains('|')) else {
            return vec![(self.path.to_owned(), false)];
        };
        let (own, rest) = rest.split_once('|').unwrap_or_default();
        let after = rest.split_once('}').map_or("", |(_, after)| after);
        vec![(format!("{before}{own}{after}"), true), (format!("{before}{{{rest}"), false)]
    }

    /// The values of the parameters if the row fits these segments, and whether it is the own call.
    pub fn parameters(&self, segments: &[String]) -> Option<(Vec<String>, bool)> {
        let pattern: Vec<&str> = self.path.split('/').collect();
        if pattern.len() != segments.len() {
            return None;
        }
        let mut values = Vec::new();
        let mut is_own = false;
        for (expected, segment) in pattern.into_iter().zip(segments) {
            match expected.strip_prefix('{') {
                Some(names) => {
                    is_own |= names.split_once('|').is_some_and(|(own, _)| own == segment);
                    values.push(segment.clone());
                }
                None if expected == segment => {}
                None => return None,
            }
        }
        Some((values, is_own))
    }
}
