//! The base URL of a service: what may be one, and which host a token belongs to.

use url::Url;

/// Takes a base URL as the user wrote it; a path is kept.
///
/// The error is a sentence's end, such as "has a query". It never repeats the text, which may hold a password.
pub fn parse(text: &str) -> Result<Url, String> {
    let url = Url::parse(text).map_err(|error| match error {
        url::ParseError::RelativeUrlWithoutBase => "has no scheme; write https:// before it".to_owned(),
        other => format!("is not a URL: {other}"),
    })?;
    let problem = if !matches!(url.scheme(), "http" | "https") {
        "must start with https:// or http://"
    } else if !url.username().is_empty() || url.password().is_some() {
        "must not contain credentials; tokens are configured separately"
    } else if url.query().is_some() {
        "has a query (?…)"
    } else if url.fragment().is_some() {
        "has a fragment (#…)"
    } else {
        return Ok(url);
    };
    Err(problem.to_owned())
}

/// Scheme, host and port: whom a token was meant for. The scheme counts, so that a token for `https` never goes out in the clear.
pub fn origin(url: &Url) -> String {
    url.origin().ascii_serialization()
}

#[cfg(test)]
mod tests {
    use super::{origin, parse};

    #[test]
    fn a_path_is_kept() {
        assert_eq!(parse("https://shop.example/rest").unwrap().as_str(), "https://shop.example/rest");
    }

    #[test]
    fn what_is_no_base_url_is_refused_without_repeating_it() {
        for text in [
            "shop.example",
            "localhost:8080",
            "ftp://shop.example",
            "https://me:hunter2@shop.example",
            "https://hunter2@shop.example",
            "https://shop.example/?hunter2",
            "https://shop.example/#hunter2",
            "https://",
            "",
        ] {
            let problem = parse(text).unwrap_err();
            assert!(!problem.contains("hunter2"), "{text}: {problem}");
        }
    }

    #[test]
    fn an_origin_is_scheme_host_and_port() {
        let origin_of = |text| origin(&parse(text).unwrap());
        assert_eq!(origin_of("https://SHOP.example:443/a"), origin_of("https://shop.example/b"));
        assert_ne!(origin_of("https://shop.example"), origin_of("http://shop.example"));
        assert_ne!(origin_of("https://shop.example"), origin_of("https://shop.example:8443"));
    }
}
