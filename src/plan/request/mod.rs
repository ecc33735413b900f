//! A call of the service as plain, comparable data.

pub mod quote_address;
pub mod relative_path;

use std::borrow::Cow;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};

use crate::failure::Failure;
pub use crate::plan::request::relative_path::RelativePath;
use crate::wire::SHIPPING_SAVED_STATUS;

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

/// Whose token a call carries. Which kind each operation needs is not shown in the interface (section 5).
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
    /// A status beside 2xx that means success: 320 for saving shipping information (docs/interface.md,
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
    /// `usage` for an empty code, `.` and `..`, which would change the path.
    pub fn new(code: &str) -> Result<Self, Failure> {
        match code {
            "" | "." | ".." => Err(Failure::usage(format!("invalid store view code `{code}`")).hint(
                "the codes are listed in the marketplace admin portal under Stores > Settings > All Stores",
            )),
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
    /// Saves shipping, billing and payment on the customer's quote (docs/interface.md, "Operations").
    pub fn ship_quote(store_view: &StoreView, body: Cow<'static, str>) -> Self {
        Self {
            method: Method::Post,
            path: format!("/V1/storeview/{}/user/quote/shipping-information", store_view.segment()),
            body: Some(body),
            bearer: Bearer::Customer,
            also_success: Some(SHIPPING_SAVED_STATUS),
        }
    }

    /// Adds an item to a quote (docs/interface.md, "Operations").
    pub fn add_item(store_view: &StoreView, body: Cow<'static, str>) -> Self {
        Self {
            method: Method::Post,
            path: format!("/V1/storeview/{}/user/quote/item", store_view.segment()),
            body: Some(body),
            bearer: Bearer::Customer,
            also_success: None,
        }
    }

    /// Creates a product attribute (docs/interface.md, "Operations").
    pub fn create_attribute(body: Cow<'static, str>) -> Self {
        Self {
            method: Method::Post,
            path: "/V1/admin/product/attribute/".to_owned(),
            body: Some(body),
            bearer: Bearer::Admin,
            also_success: None,
        }
    }

    /// Any other call. Saving shipping information may come this way too, so that its 320 counts for writes.
    pub fn raw(method: Method, path: &RelativePath, body: Option<Cow<'static, str>>, bearer: Bearer) -> Self {
        let also_success = (!method.is_read()).then_some(SHIPPING_SAVED_STATUS);
        Self { method, path: path.as_str().to_owned(), body, bearer, also_success }
    }

    /// Replaces the customer's profile (docs/interface.md, "Operations").
    pub fn replace_profile(store_view: &StoreView, body: String) -> Self {
        Self {
            method: Method::Put,
            path: Self::profile_path(store_view),
            body: Some(body.into()),
            bearer: Bearer::Customer,
            also_success: None,
        }
    }

    /// Reads the customer's profile. The interface shows no read: this call is ours.
    ///
    /// `path` is the setting `read.path`, in which `{store_view}` stands for the store view code.
    pub fn read_profile(store_view: &StoreView, path: Option<&str>) -> Self {
        let path = path.map_or_else(
            || Self::profile_path(store_view),
            |path| path.replace("{store_view}", &store_view.segment().to_string()),
        );
        Self { method: Method::Get, path, body: None, bearer: Bearer::Customer, also_success: None }
    }

    fn profile_path(store_view: &StoreView) -> String {
        format!("/V1/storeview/{}/customer/profile", store_view.segment())
    }
}

#[cfg(test)]
mod tests {
    use super::{Request, StoreView};

    #[test]
    fn a_store_view_is_one_path_segment() {
        let odd = StoreView::new("fr/ca x?#%é").unwrap();
        let path = Request::read_profile(&odd, None).path;
        assert_eq!(path, "/V1/storeview/fr%2Fca%20x%3F%23%25%C3%A9/customer/profile");
    }

    #[test]
    fn codes_that_change_the_path_are_refused() {
        for code in ["", ".", ".."] {
            assert!(StoreView::new(code).is_err(), "{code:?}");
        }
    }
}
