//! Proxies from the environment.

use snapbox::str;

use crate::support::mock_server::{MockServer, answer};
use crate::support::storefront::{Home, Outcome};

/// One write to `base` when every proxy variable names `proxy`.
fn add_item(base: &str, proxy: &MockServer, more: &[(&str, &str)]) -> Outcome {
    let home = Home::with_config(&format!(
        "default-profile = \"shop\"\n[profiles.shop]\nbase-url = \"{base}\"\nstore-view = \"fr\"\n\
         token = \"not-for-proxies\"\nallow-plain-http = true\n"
    ));
    let mut run = home.storefront(&[
        "quote",
        "add-item",
        "--sku",
        "mug-blue",
        "--qty",
        "1",
        "--quote-id",
        "1",
        "-ojson",
    ]);
    for name in ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
        run = run.env(name, &proxy.url(""));
    }
    more.iter().fold(run, |run, (name, value)| run.env(name, value)).run()
}

#[test]
fn a_proxy_that_refuses_is_unavailable_and_named() {
    for (status, stderr) in [
        (
            "407 Proxy Authentication Required",
            str![[
                r#"{"error":{"kind":"unavailable","message":"cannot connect to shop.example (via https_proxy): the proxy requires a user name and a password (tried 3 times)","hint":"check the proxy in https_proxy; NO_PROXY excludes hosts","status":null,"applied":"no","service":null,"write":"1","owner":{"cart":1},"changes":[{"path":"items[new]","before":null,"after":{"sku":"mug-blue","qty":1}}]}}"#
            ]],
        ),
        (
            "403 Forbidden",
            str![[
                r#"{"error":{"kind":"unavailable","message":"cannot connect to shop.example (via https_proxy): the proxy refused it or does not reach it (tried 3 times)","hint":"check the proxy in https_proxy; NO_PROXY excludes hosts","status":null,"applied":"no","service":null,"write":"1","owner":{"cart":1},"changes":[{"path":"items[new]","before":null,"after":{"sku":"mug-blue","qty":1}}]}}"#
            ]],
        ),
        (
            "502 Bad Gateway",
            str![[
                r#"{"error":{"kind":"unavailable","message":"cannot connect to shop.example (via https_proxy): the proxy refused it or does not reach it (tried 3 times)","hint":"check the proxy in https_proxy; NO_PROXY excludes hosts","status":null,"applied":"no","service":null,"write":"1","owner":{"cart":1},"changes":[{"path":"items[new]","before":null,"after":{"sku":"mug-blue","qty":1}}]}}"#
            ]],
        ),
    ] {
        let proxy = MockServer::start(vec![answer(status, "", ""); 3]);
        add_item("https://shop.example", &proxy, &[]).assert_failure(5, stderr);
        assert!(proxy.requests()[0].starts_with("CONNECT shop.example:443 "));
        assert!(!proxy.requests().concat().contains("not-for-proxies"));
    }
}

#[test]
fn loopback_is_never_reached_through_a_proxy() {
    let proxy = MockServer::start(vec![answer("200 OK", "", "from the proxy")]);
    let server = MockServer::start(vec![answer("200 OK", "", "from the service"); 2]);
    let port = server.address.port();
    for base in [server.url(""), format!("http://localhost:{port}")] {
        let sent = add_item(&base, &proxy, &[]);
        assert!(sent.stdout.contains("from the service"), "{sent:?}");
    }
    assert_eq!((server.requests().len(), proxy.connections()), (2, 0));
}

#[test]
fn a_proxy_is_used_for_other_hosts_except_those_in_no_proxy() {
    let proxy = MockServer::start(vec![answer("200 OK", "", "from the proxy")]);
    let sent = add_item("http://no-such-host.invalid", &proxy, &[]);
    assert!(sent.stdout.contains("from the proxy"), "{sent:?}");
    let direct = add_item("http://no-such-host.invalid", &proxy, &[("no_proxy", "no-such-host.invalid")]);
    assert_eq!(direct.code, 5, "{direct:?}");
    assert_eq!(proxy.connections(), 1);
}
