//! Paths that a person types, which must stay below the base URL, and the calls among them that replace a customer's
//! profile, however their path is written.

use percent_encoding::percent_decode_str;

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
        // A backslash would be read as a slash, and tabs and line breaks would vanish.
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

/// Calls below `customers/` that take no customer id: they act on accounts, not on a stored profile.
const OTHER_CALLS: &[&str] =
    &["confirm", "isEmailAvailable", "password", "resendConfirmation", "resetPassword", "search", "validate"];

/// Whether a path is that of a customer's profile: `…/V1/storeview/CODE/customer/profile`, `…/V1/customers/me` or
/// `…/V1/customers/ID`, with anything before `V1`: `rest`, a store view, `async` or `async/bulk`.
///
/// It errs on the side of caution, because servers and the proxies before them read paths differently: percent-encoding
/// is decoded until nothing is left to decode, empty segments and the query are dropped, and letter case is ignored.
pub fn is_profile_path(path: &str) -> bool {
    let path = decoded(path.split('?').next().unwrap_or_default());
    // An encoded `?` or `#` may end the path once it is decoded, and `;` begins parameters of a segment.
    let segments = path.split(['?', '#']).next().unwrap_or_default().split(['/', '\\']);
    let segments: Vec<&str> = segments
        .map(|segment| segment.split(';').next().unwrap_or_default().trim())
        .filter(|segment| !segment.is_empty())
        .collect();
    (0..segments.len()).any(|at| is_version(segments[at]) && is_profile_call(&segments[at + 1..]))
}

fn is_profile_call(call: &[&str]) -> bool {
    let is = |segment: &str, name: &str| segment.eq_ignore_ascii_case(name);
    match call {
        [storeview, _, customer, profile] => {
            is(storeview, "storeview") && is(customer, "customer") && is(profile, "profile")
        }
        // The bulk form of `customers/:customerId` is `customers/byCustomerId`, which this covers too.
        [customers, id] => is(customers, "customers") && !OTHER_CALLS.iter().any(|other| is(id, other)),
        _ => false,
    }
}

fn is_version(segment: &str) -> bool {
    let number = segment.strip_prefix(['V', 'v']).unwrap_or_default();
    !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit())
}

fn decoded(path: &str) -> String {
    let mut path = path.to_owned();
    loop {
        let once = percent_decode_str(&path).decode_utf8_lossy().into_owned();
        // Each round that changes anything makes the text shorter, so that this ends.
        if once.len() >= path.len() {
            return path;
        }
        path = once;
    }
}

#[cfg(test)]
mod tests {
    use super::{RelativePath, is_profile_path};

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
