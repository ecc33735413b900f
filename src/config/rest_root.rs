//! A base URL that goes on after the root of the REST API, such as `https://shop.example/rest/fr/V1`: the store view and
//! the version are taken from it, so that every spelling of it is one service.

use percent_encoding::percent_decode_str;
use url::Url;

use super::Settings;
use crate::environment::BASE_URL;
use crate::failure::Failure;
use crate::plan::request::StoreView;

/// The version that every path of a call begins with.
const VERSION: &str = "V1";
/// Stands where a store view does, and makes calls asynchronous: their outcome cannot be reported.
const ASYNC: &str = "async";

/// A base URL in its parts.
#[derive(Debug, PartialEq, Eq)]
struct Parts {
    /// Up to the root of the API.
    root: Url,
    /// The segment between the root and the version.
    store_view: Option<String>,
}

impl Settings {
    /// Cuts the base URL after the interface's [`crate::plan::request::Dialect::rest_root`]. A store view that stands there
    /// is as if it were set; `--store-view` (`is_flag`) overrides it. `profile` sets the base URL, or the environment does.
    ///
    /// # Errors
    /// `usage` where anything else follows the root, and where the environment or the profile sets another store view.
    pub(super) fn cut_base_url(&mut self, is_flag: bool, profile: Option<&str>) -> Result<(), Failure> {
        let Some(root) = self.dialect.rest_root else { return Ok(()) };
        let set = |url: &Url| match profile {
            Some(name) => format!("run `storefront config set -p {name} base-url {url}`"),
            None => format!("set {BASE_URL}={url}"),
        };
        let found = parts(&self.base_url, root).map_err(|root| {
            Failure::usage(format!("the base URL {} does not end at the root of the REST API", self.base_url))
                .hint(set(&root))
        })?;
        let Some(Parts { root, store_view }) = found else { return Ok(()) };
        let in_url = store_view.as_deref().map(StoreView::new).transpose()?;
        match (&self.store_view, &in_url) {
            (Some(view), Some(other)) if !is_flag && view.code() != other.code() => {
                return Err(Failure::usage(format!(
                    "the base URL {} names the store view `{}`, but `{}` is set",
                    self.base_url,
                    other.code(),
                    view.code()
                ))
                .hint(format!("{}, or choose with --store-view CODE", set(&root))));
            }
            (None, Some(_)) => self.store_view.clone_from(&in_url),
            _ => {}
        }
        self.base_url = root;
        self.base_url_store_view = in_url;
        Ok(())
    }
}

/// The base URL as it names a service: with the root of the API also where it is written without, as for a gateway that
/// adds it.
pub(super) fn with_root(base_url: &Url, root: Option<&str>) -> Url {
    let mut url = base_url.clone();
    let path = url.path().trim_end_matches('/').to_owned();
    if let Some(root) = root.filter(|root| path.rsplit('/').next() != Some(root)) {
        url.set_path(&format!("{path}/{root}"));
    }
    url
}

/// Takes a base URL apart; `None` where nothing follows the root, or where it has none, as behind a gateway.
///
/// # Errors
/// The URL up to its root, where what follows is no store view and no version.
fn parts(url: &Url, root: &str) -> Result<Option<Parts>, Url> {
    let segments: Vec<&str> = url.path().split('/').filter(|segment| !segment.is_empty()).collect();
    let Some(position) = segments.iter().position(|segment| *segment == root) else { return Ok(None) };
    let mut at_root = url.clone();
    at_root.set_path(&segments[..=position].join("/"));
    let store_view = match &segments[position + 1..] {
        [] => return Ok(None),
        [VERSION] => None,
        [view] | [view, VERSION] if ![root, ASYNC, VERSION].contains(view) => {
            Some(percent_decode_str(view).decode_utf8_lossy().into_owned())
        }
        _ => return Err(at_root),
    };
    Ok(Some(Parts { root: at_root, store_view }))
}

#[cfg(test)]
mod tests {
    use super::{Parts, Url, parts, with_root};

    #[test]
    fn a_store_view_and_the_version_are_cut_off_and_nothing_else() {
        let url = |text: &str| Url::parse(text).unwrap();
        let split = |text: &str| parts(&url(text), "rest");
        for whole in
            ["https://a", "https://a/rest", "https://a/rest/", "https://a/gateway/V1", "https://a/REST/fr"]
        {
            assert_eq!(split(whole), Ok(None), "{whole}");
        }
        for (text, root, view) in [
            ("https://a/rest/V1", "https://a/rest", None),
            ("https://a/rest/V1/", "https://a/rest", None),
            ("https://a/rest/all", "https://a/rest", Some("all")),
            ("https://a/b/rest//fr%2Fca/V1/", "https://a/b/rest", Some("fr/ca")),
            ("https://a/index.php/rest/fr", "https://a/index.php/rest", Some("fr")),
        ] {
            let store_view = view.map(str::to_owned);
            assert_eq!(split(text), Ok(Some(Parts { root: url(root), store_view })), "{text}");
        }
        for more in [
            "rest",
            "rest/V1",
            "async",
            "async/V1",
            "fr/async/V1",
            "V1/V1",
            "V1/customers",
            "fr/V1/customers",
        ] {
            assert_eq!(split(&format!("https://a/rest/{more}")), Err(url("https://a/rest")), "{more}");
        }
    }
    #[test]
    fn a_service_is_named_by_its_root_with_or_without_it() {
        for (text, named) in [
            ("https://a", "https://a/rest"),
            ("https://a/", "https://a/rest"),
            ("https://a/rest/", "https://a/rest/"),
            ("https://a/shop", "https://a/shop/rest"),
        ] {
            assert_eq!(with_root(&Url::parse(text).unwrap(), Some("rest")).as_str(), named);
        }
        assert_eq!(with_root(&Url::parse("https://a/b").unwrap(), None).as_str(), "https://a/b");
    }
}
