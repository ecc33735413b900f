//! Proxies come from the environment of the process, so each call is made by a process of its own.

use std::process::Command;

use storefront::http::Link;

use crate::support::call::{link, post, send};
use crate::support::scripted::{Scripted, answer};

/// One call to the base URL in `TEST_BASE`; only ever run by [`call_from_a_process`].
#[test]
#[ignore = "the other half of the tests beside it"]
fn one_call() {
    let link = Link {
        use_proxy: std::env::var_os("TEST_NO_PROXY").is_none(),
        allow_plain_http: true,
        ..link(&std::env::var("TEST_BASE").unwrap())
    };
    println!("{:?}", send(&link, &post()));
}

/// What the call printed when every proxy variable names `proxy`.
fn call_from_a_process(base: &str, proxy: &Scripted, without: bool) -> String {
    let mut child = Command::new(std::env::current_exe().unwrap());
    child
        .args(["http_proxy::one_call", "--exact", "--ignored", "--nocapture"])
        .env("TEST_BASE", base)
        .env_remove("no_proxy")
        .env_remove("NO_PROXY");
    for name in ["http_proxy", "https_proxy", "HTTP_PROXY", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"] {
        child.env(name, proxy.url(""));
    }
    if without {
        child.env("TEST_NO_PROXY", "1");
    }
    let output = child.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn a_proxy_that_refuses_is_unavailable_and_named() {
    for status in ["407 Proxy Authentication Required", "403 Forbidden", "502 Bad Gateway"] {
        let proxy = Scripted::start(vec![answer(status, "", "")]);
        let told = call_from_a_process("https://shop.example", &proxy, false);
        assert!(told.contains("kind: Unavailable") && told.contains("applied: No"), "{told}");
        assert!(told.contains("https_proxy is set"), "{told}");
        assert!(proxy.requests()[0].starts_with("CONNECT shop.example:443 "));
        assert!(!proxy.requests()[0].to_ascii_lowercase().contains("bearer"));
    }
}

#[test]
fn this_machine_is_never_reached_through_a_proxy() {
    let proxy = Scripted::start(vec![answer("200 OK", "", "from the proxy")]);
    let server = Scripted::start(vec![answer("200 OK", "", "from the service")]);
    let port = server.address.port();
    for base in [server.url(""), format!("http://localhost:{port}")] {
        let told = call_from_a_process(&base, &proxy, false);
        assert!(told.contains("status: 200"), "{told}");
    }
    assert_eq!((server.requests().len(), proxy.connections()), (2, 0));
}

#[test]
fn a_proxy_is_used_for_others_unless_it_was_ruled_out() {
    let proxy = Scripted::start(vec![answer("200 OK", "", "from the proxy")]);
    let told = call_from_a_process("http://no-such-host.invalid", &proxy, false);
    assert!(told.contains("status: 200"), "{told}");
    let told = call_from_a_process("http://no-such-host.invalid", &proxy, true);
    assert!(told.contains("kind: Unavailable") && !told.contains("is set"), "{told}");
    assert_eq!(proxy.connections(), 1);
}
