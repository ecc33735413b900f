//! Base URLs, and which service they name.

use super::{Path, ServiceId, Url, origin, parse_base_url, with_root};

#[test]
fn a_path_is_kept() {
    assert_eq!(parse_base_url("https://shop.example/rest").unwrap().as_str(), "https://shop.example/rest");
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
        let problem = parse_base_url(text).unwrap_err();
        assert!(!problem.contains("hunter2"), "{text}: {problem}");
    }
}

#[test]
fn an_origin_is_scheme_host_and_port() {
    let origin_of = |text| origin(&parse_base_url(text).unwrap());
    assert_eq!(origin_of("https://SHOP.example:443/a"), origin_of("https://shop.example/b"));
    assert_ne!(origin_of("https://shop.example"), origin_of("http://shop.example"));
    assert_ne!(origin_of("https://shop.example"), origin_of("https://shop.example:8443"));
}

fn id(url: &str) -> ServiceId {
    ServiceId::new(&Url::parse(url).unwrap(), "marketplace")
}

#[test]
fn spellings_of_one_base_url_are_one_service() {
    for spelling in [
        "https://shop.example/rest",
        "HTTPS://Shop.EXAMPLE/rest/",
        "https://shop.example:443/rest//",
        "https://shop.example./rest",
    ] {
        assert_eq!(id(spelling), id("https://shop.example/rest"), "{spelling}");
    }
    assert_eq!(id("https://shop.example/rest").to_string(), "marketplace https://shop.example/rest");
    assert_eq!(id("https://shop.example/").url(), "https://shop.example");
}

#[test]
fn this_machine_is_one_host_however_it_is_spelled() {
    for spelling in
        ["http://LOCALHOST:8080", "http://127.0.0.1:8080/", "http://[::1]:8080", "http://localhost.:8080"]
    {
        assert_eq!(id(spelling), id("http://localhost:8080"), "{spelling}");
    }
    assert_eq!(id("http://[::ffff:127.0.0.1]:8080").lock_key(), "localhost:8080");
    assert_ne!(id("http://localhost:8081"), id("http://localhost:8080"));
    assert_ne!(id("http://localhost.example"), id("http://localhost"));
}

#[test]
fn a_path_a_scheme_or_an_interface_tells_services_apart_but_a_path_shares_the_lock() {
    let live = id("https://shop.example/live");
    for other in ["https://shop.example/staging", "https://shop.example/Live", "http://shop.example/live"] {
        assert_ne!(id(other), live, "{other}");
    }
    assert_eq!(id("https://shop.example/staging").lock_key(), live.lock_key());
    assert_eq!(live.lock_key(), "shop.example:443");
    assert_eq!(id("http://shop.example/live").lock_key(), "shop.example:80");
    let magento = ServiceId::new(&Url::parse("https://shop.example/live").unwrap(), "magento");
    assert_ne!(magento, live);
    assert_eq!(magento.lock_key(), live.lock_key());
}

#[test]
fn the_sandbox_is_its_database() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("sandbox.db");
    std::fs::write(&file, "").unwrap();
    let spelled = directory.path().join(".").join("sandbox.db");
    let id = |path: &Path| ServiceId::sandbox(path, "marketplace");
    assert_eq!(id(&file), id(&spelled));
    assert_ne!(id(&file), id(Path::new("/other/sandbox.db")));
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
