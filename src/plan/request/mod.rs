//! A call of the service as plain, comparable data.

pub mod cart;
pub mod dialect;
pub mod path;

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::failure::Failure;
pub use crate::plan::request::dialect::{Dialect, Interface, Target};
pub use crate::plan::request::path::RelativePath;

/// HTTP method of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Method {
    /// Reads.
    Get,
    /// Acts, and acts twice when it is sent twice.
    Post,
    /// Replaces.
    Put,
    /// Any other, in upper case; only `api` sends these.
    Other(String),
}

impl Method {
    /// A method as the user wrote it, in any case; `None` for what is none.
    pub fn new(typed: &str) -> Option<Self> {
        if typed.is_empty() || !typed.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            return None;
        }
        Some(match typed.to_ascii_uppercase() {
            name if name == "GET" => Self::Get,
            name if name == "POST" => Self::Post,
            name if name == "PUT" => Self::Put,
            name => Self::Other(name),
        })
    }

    /// Whether the service cannot act on it, however often it comes.
    pub fn is_read(&self) -> bool {
        matches!(self.as_str(), "GET" | "HEAD")
    }

    /// The method as it stands in the request line.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Get => "GET",
            Self::Post => "POST",
            Self::Put => "PUT",
            Self::Other(name) => name,
        }
    }
}

/// Whose token a call carries. The marketplace's interface does not show which kind each operation needs (docs/interface.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bearer {
    /// The customer's: everything under a store view.
    Customer,
    /// The administrator's, or the customer's where none is set.
    Admin,
}

/// One call of the service, before it knows a host or a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Request {
    /// HTTP method.
    pub method: Method,
    /// Path below the base URL, from `/V1` on, percent-encoded.
    pub path: String,
    /// JSON text of the body.
    pub body: Option<Cow<'static, str>>,
    /// Whose token it carries.
    pub bearer: Bearer,
    /// A status other than 2xx that means success: 320 for saving shipping information (docs/interface.md,
    /// "Operations").
    pub also_success: Option<u16>,
}

/// What may not stand raw in a path segment.
const SEGMENT: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'_').remove(b'.').remove(b'~');

/// A store view code, valid as a path segment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoreView(String);

impl StoreView {
    /// Takes a code as the user wrote it.
    ///
    /// # Errors
    /// `usage` for an empty code, `.` and `..`, which would change the path, and for what is no code at all, such as a
    /// pasted command.
    pub fn new(code: &str) -> Result<Self, Failure> {
        let is_refused = |c: char| c.is_whitespace() || c.is_control() || c == ';';
        match code {
            _ if matches!(code, "" | "." | "..") || code.contains(is_refused) => {
                Err(Failure::usage(format!("invalid store view code `{code}`"))
                    .hint("the codes are listed in the admin panel under Stores > Settings > All Stores"))
            }
            _ => Ok(Self(code.to_owned())),
        }
    }

    /// The code as the user wrote it.
    pub fn code(&self) -> &str {
        &self.0
    }

    fn segment(&self) -> impl std::fmt::Display + '_ {
        utf8_percent_encode(&self.0, SEGMENT)
    }
}

impl Request {
    /// Whether the path names this store view.
    pub fn is_in(&self, view: &StoreView) -> bool {
        let segment = view.segment().to_string();
        self.path.split(['/', '?']).any(|part| part == segment)
    }

    /// Any other call. Saving shipping information may come this way too, so that its own success status counts for
    /// writes.
    pub fn raw(
        dialect: &Dialect,
        method: Method,
        path: &RelativePath,
        body: Option<Cow<'static, str>>,
        bearer: Bearer,
    ) -> Self {
        let also_success = dialect.ship_success.filter(|_| !method.is_read());
        Self { method, path: path.as_str().to_owned(), body, bearer, also_success }
    }

    /// Replaces the customer's profile (docs/interface.md, "Operations").
    pub fn replace_profile(target: &Target<'_>, body: Cow<'static, str>) -> Self {
        Self {
            method: Method::Put,
            path: target.profile_path(),
            body: Some(body),
            bearer: target.bearer(),
            also_success: None,
        }
    }

    /// Reads the customer's profile. The marketplace's interface shows no read: that call is ours.
    ///
    /// `path` is the setting `read.path`, in which `{store_view}` stands for the store view code; it is of the token's own
    /// customer.
    pub fn read_profile(target: &Target<'_>, path: Option<&str>) -> Self {
        let path = match path.filter(|_| target.customer.is_none()) {
            Some(path) => target.path(path, &[]),
            None => target.profile_path(),
        };
        Self::get(path, target.bearer())
    }

    /// A read of a path that [`Target::path`] has made.
    pub fn get(path: String, bearer: Bearer) -> Self {
        Self { method: Method::Get, path, body: None, bearer, also_success: None }
    }

    /// A write to a path that [`Target::path`] has made.
    pub fn post(path: String, body: Cow<'static, str>, bearer: Bearer) -> Self {
        Self { method: Method::Post, path, body: Some(body), bearer, also_success: None }
    }
}

/// A condition that one of several fields must meet; all filters together must be met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Filter {
    /// The fields.
    pub fields: &'static [&'static str],
    /// `eq`, `like` and so on.
    pub condition: &'static str,
    /// What the field is compared with.
    pub value: String,
}

impl Filter {
    /// One of the fields has exactly this value.
    pub fn equal(fields: &'static [&'static str], value: impl ToString) -> Self {
        Self { fields, condition: "eq", value: value.to_string() }
    }
}

/// The query that asks for the first `limit` records that meet all filters.
pub fn search_query(filters: &[Filter], limit: usize) -> String {
    let mut pairs = Vec::new();
    for (group, filter) in filters.iter().enumerate() {
        for (index, field) in filter.fields.iter().enumerate() {
            let name = format!("searchCriteria[filter_groups][{group}][filters][{index}]");
            pairs.push((format!("{name}[field]"), (*field).to_owned()));
            pairs.push((format!("{name}[value]"), filter.value.clone()));
            pairs.push((format!("{name}[condition_type]"), filter.condition.to_owned()));
        }
    }
    pairs.push(("searchCriteria[pageSize]".to_owned(), limit.to_string()));
    let encoded = |text: &str| utf8_percent_encode(text, SEGMENT).to_string();
    let pairs = pairs.iter().map(|(name, value)| format!("{}={}", encoded(name), encoded(value)));
    pairs.collect::<Vec<_>>().join("&")
}

#[cfg(test)]
mod tests {
    use super::dialect::MARKETPLACE;
    use super::{Request, StoreView, Target};

    #[test]
    fn a_store_view_is_one_path_segment() {
        let odd = StoreView::new("fr/ca?#%é").unwrap();
        let path = Request::read_profile(&Target::new(&MARKETPLACE, Some(&odd)).unwrap(), None).path;
        assert_eq!(path, "/V1/storeview/fr%2Fca%3F%23%25%C3%A9/customer/profile");
    }

    #[test]
    fn codes_that_change_the_path_and_pasted_commands_are_refused() {
        for code in ["", ".", "..", "clear; storefront auth login", "fr;", "fr ca", "fr\n", "\u{1b}[A"] {
            assert!(StoreView::new(code).is_err(), "{code:?}");
        }
    }
}
