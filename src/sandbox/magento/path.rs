//! Paths as Magento reads them: an optional `rest`, an optional store view code, `V1`, and the path of the call.

use percent_encoding::percent_decode_str;

use crate::sandbox::reply::ApiError;

/// A path taken apart.
#[derive(Debug, PartialEq, Eq)]
pub struct ServicePath {
    /// Code of the store view, `default` where the path has none.
    pub store_view: String,
    /// The segments behind `V1`, percent-decoded.
    pub segments: Vec<String>,
}

/// Takes a path apart. Empty segments count for nothing: `//V1/customers/me/` is `/V1/customers/me`.
///
/// Refused as Magento does it: 400 below `rest` without a `V1` where it belongs, 404 elsewhere and for another version.
pub fn parse(path: &str) -> Result<ServicePath, ApiError> {
    let decoded = |segment: &str| percent_decode_str(segment).decode_utf8().map(std::borrow::Cow::into_owned);
    let segments: Result<Vec<String>, _> =
        path.split('/').filter(|segment| !segment.is_empty()).map(decoded).collect();
    let segments = segments.map_err(|_| unprocessable())?;
    let (below_rest, rest) = match segments.split_first() {
        Some((first, rest)) if first == "rest" => (true, rest),
        _ => (false, segments.as_slice()),
    };
    let (store_view, call) = match rest {
        [version, call @ ..] if is_version(version) => ("default", (version, call)),
        [code, version, call @ ..] if is_version(version) => (code.as_str(), (version, call)),
        _ if below_rest => return Err(unprocessable()),
        _ => return Err(ApiError::no_route()),
    };
    match call {
        (version, call) if version == "V1" => {
            Ok(ServicePath { store_view: store_view.to_owned(), segments: call.to_vec() })
        }
        _ => Err(ApiError::no_route()),
    }
}

/// 400: Magento's answer to a store view that there is not, too.
pub fn unprocessable() -> ApiError {
    ApiError::new(400, "Specified request cannot be processed.")
}

fn is_version(segment: &str) -> bool {
    segment
        .strip_prefix('V')
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|digit| digit.is_ascii_digit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rest_store_view_version_and_call_are_told_apart() {
        for (path, store_view, segments) in [
            ("/rest/V1/customers/me", "default", vec!["customers", "me"]),
            ("/rest/fr/V1/customers/me", "fr", vec!["customers", "me"]),
            ("/V1/customers/me/", "default", vec!["customers", "me"]),
            ("//rest//de//V1//customers/7", "de", vec!["customers", "7"]),
            ("/rest/V1/products/a%2Fb", "default", vec!["products", "a/b"]),
        ] {
            let parsed = parse(path).unwrap();
            assert_eq!(
                (parsed.store_view.as_str(), parsed.segments),
                (store_view, segments.iter().map(|s| (*s).to_owned()).collect())
            );
        }
        for (path, status) in [
            ("/rest/customers/me", 400),
            ("/rest/v1/customers/me", 400),
            ("/rest/V2/customers/me", 404),
            ("/", 404),
        ] {
            assert_eq!(parse(path).unwrap_err().status, status, "{path}");
        }
    }
}
