//! A call of the service as plain, comparable data, and the paths that a person types.

use std::borrow::Cow;

use percent_encoding::{percent_decode_str, utf8_percent_encode};

use crate::id::AddressId;
pub use crate::interface::bearer::Bearer;
pub use crate::interface::dialect::{Dialect, Interface, Target};
use crate::interface::store_view::SEGMENT;
pub use crate::interface::store_view::StoreView;
pub use http::Method;

/// A method as the user wrote it, in any case; `None` if it is not one.
pub fn method(typed: &str) -> Option<Method> {
    let is_word = typed.bytes().all(|byte| byte.is_ascii_alphabetic());
    Method::from_bytes(typed.to_ascii_uppercase().as_bytes()).ok().filter(|_| is_word)
}

/// Whether the service cannot act on calls of a method, however often they come.
pub fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

/// What a call does when the service gets it twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallKind {
    /// Nothing: it only reads.
    Read,
    /// It may act twice.
    Write,
    /// What it does once: it only sets a state, such as an assignment.
    State,
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
    /// A call that the user wrote: what the service answers to it is not known.
    pub is_raw: bool,
    /// What it does when it comes twice.
    pub kind: CallKind,
}

impl Request {
    /// Whether the service cannot act on it, however often it comes.
    pub fn is_read(&self) -> bool {
        self.kind == CallKind::Read
    }

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
        let also_success = dialect.ship_success.filter(|_| !is_read(&method));
        Self { also_success, is_raw: true, ..Self::new(method, path.as_str().to_owned(), body, bearer) }
    }

    /// Replaces the customer's profile (docs/interface.md, "Operations").
    pub fn replace_profile(target: &Target<'_>, body: Cow<'static, str>) -> Self {
        Self::put(target.profile_path(), body, target.bearer())
    }

    /// Removes one address of the customer whom an administrator names; `None` where the interface has no such call, or the
    /// customer is the token's own.
    pub fn remove_address(target: &Target<'_>, id: AddressId) -> Option<Self> {
        let route = target.customer.and(target.dialect.customers)?.address;
        let path = target.path(route, &[("address", &id.to_string())]);
        Some(Self::delete(path, target.bearer()).setting_a_state())
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
        Self::new(Method::GET, path, None, bearer)
    }

    /// A question with a body: the service changes nothing.
    pub fn query(path: String, body: Cow<'static, str>, bearer: Bearer) -> Self {
        Self { kind: CallKind::Read, ..Self::post(path, body, bearer) }
    }

    /// A write to a path that [`Target::path`] has made.
    pub fn post(path: String, body: Cow<'static, str>, bearer: Bearer) -> Self {
        Self::new(Method::POST, path, Some(body), bearer)
    }

    /// A write by PUT.
    pub fn put(path: String, body: Cow<'static, str>, bearer: Bearer) -> Self {
        Self::new(Method::PUT, path, Some(body), bearer)
    }

    /// A removal of what a path names that [`Target::path`] has made.
    pub fn delete(path: String, bearer: Bearer) -> Self {
        Self::new(Method::DELETE, path, None, bearer)
    }

    /// This write, which may be sent again after an unknown outcome, because it only sets a state.
    #[must_use]
    pub fn setting_a_state(self) -> Self {
        Self { kind: CallKind::State, ..self }
    }

    fn new(method: Method, path: String, body: Option<Cow<'static, str>>, bearer: Bearer) -> Self {
        let kind = if is_read(&method) { CallKind::Read } else { CallKind::Write };
        Self { method, path, body, bearer, also_success: None, is_raw: false, kind }
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
    /// One more field, compared with a value of its own, that suffices.
    pub or: Option<(&'static str, String)>,
}

impl Filter {
    /// The field is greater than this value.
    pub fn above(fields: &'static [&'static str], value: impl ToString) -> Self {
        Self { condition: "gt", ..Self::equal(fields, value) }
    }

    /// One of the fields has exactly this value.
    pub fn equal(fields: &'static [&'static str], value: impl ToString) -> Self {
        Self { fields, condition: "eq", value: value.to_string(), or: None }
    }
}

/// The most records that one reply may have: a shop that limits its input (`webapi/validation`) refuses more by
/// default.
pub const MAX_PAGE: usize = 300;

/// The query that asks for the first `limit` records that meet all filters.
pub fn search_query(filters: &[Filter], limit: usize) -> String {
    query(filters, None, limit)
}

/// A query that is sorted by a field; without a direction Magento sorts descending.
pub fn sorted_query(filters: &[Filter], field: &str, limit: usize) -> String {
    query(filters, Some(field), limit)
}

/// The same query with the fields of the reply that are asked for, such as `items[email],total_count`.
pub fn with_fields(query: &str, fields: &str) -> String {
    format!("{query}&fields={}", utf8_percent_encode(fields, SEGMENT))
}

/// A query for the first `limit` records that meet one of these conditions on a field, with these fields of the reply.
pub fn any_query(field: &str, conditions: &[(&str, String)], fields: &str, limit: usize) -> String {
    let mut pairs = Vec::new();
    for (index, (condition, value)) in (first_group(conditions.len())..).zip(conditions) {
        let name = format!("searchCriteria[filter_groups][0][filters][{index}]");
        pairs.push((format!("{name}[field]"), field.to_owned()));
        pairs.push((format!("{name}[value]"), value.clone()));
        pairs.push((format!("{name}[condition_type]"), (*condition).to_owned()));
    }
    pairs.push(("searchCriteria[pageSize]".to_owned(), limit.to_string()));
    with_fields(&encoded(&pairs), fields)
}

/// A value as one segment of a path, or as a value of a query.
pub fn segment(value: &str) -> String {
    utf8_percent_encode(value, SEGMENT).to_string()
}

fn query(filters: &[Filter], sorted_by: Option<&str>, limit: usize) -> String {
    let mut pairs = Vec::new();
    for (group, filter) in (first_group(filters.len())..).zip(filters) {
        let fields = filter.fields.iter().map(|field| (*field, &filter.value));
        let or = filter.or.iter().map(|(field, value)| (*field, value));
        for (index, (field, value)) in fields.chain(or).enumerate() {
            let name = format!("searchCriteria[filter_groups][{group}][filters][{index}]");
            pairs.push((format!("{name}[field]"), field.to_owned()));
            pairs.push((format!("{name}[value]"), value.clone()));
            pairs.push((format!("{name}[condition_type]"), filter.condition.to_owned()));
        }
    }
    pairs.push(("searchCriteria[pageSize]".to_owned(), limit.to_string()));
    if let Some(field) = sorted_by {
        pairs.push(("searchCriteria[sortOrders][0][field]".to_owned(), field.to_owned()));
        pairs.push(("searchCriteria[sortOrders][0][direction]".to_owned(), "ASC".to_owned()));
    }
    encoded(&pairs)
}

fn encoded(pairs: &[(String, String)]) -> String {
    let pairs = pairs.iter().map(|(name, value)| format!("{}={}", segment(name), segment(value)));
    pairs.collect::<Vec<_>>().join("&")
}

/// The number of the first of so many filter groups. All numbers have equally many digits: otherwise versions of
/// Magento sort the names of a signed request differently. They need not begin at 0.
fn first_group(count: usize) -> usize {
    if count <= 10 {
        0
    } else {
        std::iter::successors(Some(10), |first| Some(first * 10))
            .find(|first| count <= 9 * first)
            .unwrap_or(0)
    }
}

/// A path below the base URL, with its query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RelativePath(String);

impl RelativePath {
    /// Takes a path as the user wrote it.
    ///
    /// # Errors
    /// What is wrong with it: another host, a step up, a fragment, or a character that must be encoded.
    pub fn new(typed: &str) -> Result<Self, String> {
        let path = typed.split('?').next().unwrap_or_default();
        if path.contains("://") || path.starts_with("//") {
            return Err("must be relative to the base URL".to_owned());
        }
        if typed.contains('#') {
            return Err("`#` is not allowed; use %23".to_owned());
        }
        // A backslash would be read as a slash; tabs and line breaks would be dropped.
        if let Some(odd) = typed.chars().find(|one| *one == '\\' || one.is_whitespace() || one.is_control()) {
            return Err(format!("`{odd}` is not allowed in a path; percent-encode it"));
        }
        if path.split('/').any(is_dots) {
            return Err("`.` and `..` segments are not allowed".to_owned());
        }
        let slash = if path.starts_with('/') { "" } else { "/" };
        Ok(Self(format!("{slash}{typed}")))
    }

    /// The path, from its slash on.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Whether a segment means "here" or "one up", encoded or not.
fn is_dots(segment: &str) -> bool {
    matches!(&*percent_decode_str(segment).decode_utf8_lossy(), "." | "..")
}

/// Calls below `customers/` that take no customer ID, in lower case: they act on accounts, not on a stored profile.
const OTHER_CALLS: &[&str] =
    &["confirm", "isemailavailable", "password", "resendconfirmation", "resetpassword", "search", "validate"];

/// Whether a path is that of a customer's profile: `…/V1/storeview/CODE/customer/profile`, `…/V1/customers/me` or
/// `…/V1/customers/ID`, with anything before `V1`: `rest`, a store view, `async` or `async/bulk`.
///
/// Servers and the proxies before them read paths differently: percent-encoding is decoded until nothing is left to
/// decode, empty segments, parameters and the query are dropped, and letter case is ignored.
pub fn is_profile_path(path: &str) -> bool {
    calls(path).any(|call| is_profile_call(&call))
}

/// Whether a path is that of a customer's address: `…/V1/addresses/ID`, read as [`is_profile_path`] reads it, or the bulk form.
pub fn is_address_path(path: &str) -> bool {
    calls(path).any(|call| matches!(&call[..], [name, _] if name == "addresses"))
}

/// The number that ends a path, as an id does.
pub fn last_id(path: &str) -> Option<u64> {
    calls(path).find_map(|call| call.last()?.parse().ok())
}

/// The segments after each version in a path, in lower case.
fn calls(path: &str) -> impl Iterator<Item = Vec<String>> {
    let path = decoded(path.split('?').next().unwrap_or_default()).to_ascii_lowercase();
    // An encoded `?` or `#` may end the path once it is decoded, and `;` begins parameters of a segment.
    let segments = path.split(['?', '#']).next().unwrap_or_default().split(['/', '\\']);
    let segments: Vec<String> = segments
        .map(|segment| segment.split(';').next().unwrap_or_default().trim().to_owned())
        .filter(|segment| !segment.is_empty())
        .collect();
    let versions = (0..segments.len()).filter(|at| is_version(&segments[*at])).collect::<Vec<_>>();
    versions.into_iter().map(move |at| segments[at + 1..].to_vec())
}

fn decoded(path: &str) -> String {
    let once = percent_decode_str(path).decode_utf8_lossy();
    if once == path { once.into_owned() } else { decoded(&once) }
}

/// Whether these segments in lower case, after the version, name a profile.
fn is_profile_call(call: &[String]) -> bool {
    match &call.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["storeview", _, "customer", "profile"] => true,
        // The bulk form of `customers/:customerId` is `customers/byCustomerId`, which this covers too.
        ["customers", id] => !OTHER_CALLS.contains(id),
        _ => false,
    }
}

fn is_version(segment: &str) -> bool {
    let number = segment.strip_prefix('v').unwrap_or_default();
    !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::{Filter, RelativePath, Request, StoreView, Target, is_profile_path, search_query};
    use crate::interface::dialect::MARKETPLACE;
    use crate::text::oauth::depends_on_order;

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

    #[test]
    fn the_names_of_a_search_have_one_order_however_many_filters_it_has() {
        for (count, first) in [(1, "[0]"), (10, "[0]"), (11, "[10]"), (90, "[10]"), (91, "[100]")] {
            let query = search_query(&vec![Filter::equal(&["sku"], 1); count], 1);
            let url = format!("https://shop.example/?{query}").parse().unwrap();
            assert!(!depends_on_order(&url), "{count}");
            let first = format!("searchCriteria[filter_groups]{first}[filters][0][field]");
            assert_eq!(url.query_pairs().next().unwrap().0, first);
            assert_eq!(query.matches("condition_type").count(), count);
        }
    }

    #[test]
    fn a_path_stays_below_the_base_url() {
        for (typed, sent) in [
            ("/V1/store", "/V1/store"),
            ("V1/store?a=/../b&c=http://x", "/V1/store?a=/../b&c=http://x"),
            ("V1/..a/...", "/V1/..a/..."),
            ("V1/caf%C3%A9/%2F", "/V1/caf%C3%A9/%2F"),
        ] {
            assert_eq!(RelativePath::new(typed).unwrap().as_str(), sent);
        }
        for typed in [
            "https://evil.example/V1",
            "//evil.example/V1",
            "/V1/../../admin",
            "/V1/%2e%2E/admin",
            "/V1/.%2e",
            "..",
            "/V1/./x",
            "/V1\\..\\x",
            "/V1/.\t./x",
            "/V1/x y",
            "/V1/x#y",
            "/V1/x\u{1b}",
        ] {
            assert!(RelativePath::new(typed).is_err(), "{typed:?}");
        }
    }

    #[test]
    fn a_profile_is_recognised_however_its_path_is_written() {
        for path in [
            "/V1/storeview/default/customer/profile",
            "/V1/storeview/fr%C3%A9/customer/profile",
            "/V1/storeview/default/customer/profile/",
            "/V1//storeview/default///customer/profile//?a=b",
            "/V1/storeview/default/customer/pro%66ile",
            "/V1/storeview/default/customer%2Fprofile",
            "/V1/storeview/default/customer/pro%2566ile",
            "/v1/StoreView/default/Customer/Profile",
            "/V1/customers/me",
            "/V1/customers/7",
            "/V1/customers/7/",
            "/V1/customers//7",
            "/V1/customers/%37?fields=id",
            "/V1/customers/7%3Fx",
            "/V1/customers/7;x=1",
            "/V1/customers/-1",
            "/fr/V1/customers/me",
            "/rest/V1/customers/7",
            "/rest/all/V1/customers/7",
            "/index.php/rest/default/V1/customers/me",
            "/async/V1/customers/7",
            "/async/bulk/V1/customers/byCustomerId",
            "/all/async/bulk/V1/customers/me",
            "/rest/default/async/V1/customers/me",
        ] {
            assert!(is_profile_path(path), "{path}");
        }
    }

    #[test]
    fn other_calls_are_none() {
        for path in [
            "/",
            "/V1",
            "/V1/customers",
            "/V1/customers/",
            "/V1/customers/password",
            "/V1/customers/isEmailAvailable",
            "/V1/customers/7/password/resetLinkToken/x",
            "/V1/customers/addresses/7",
            "/V1/customers/me/billingAddress",
            "/V1/customerGroups/7",
            "/V1/store/customers",
            "/customers/7",
            "/V1/storeview/default/customer",
            "/V1/storeview/default/customer/profile/picture",
            "/V1/products?path=/V1/customers/7",
            "/V1/%FF%FF",
        ] {
            assert!(!is_profile_path(path), "{path}");
        }
    }
}
