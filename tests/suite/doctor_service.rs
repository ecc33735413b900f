//! What `doctor` says of the service: its address, its certificate and its answers.

use snapbox::str;

use crate::support::doctor::{PROFILE, QUICK, examine, home, script};
use crate::support::http_client::SECRET;
use crate::support::mock_server::{MockServer, answer};
use crate::support::snapshot::assert_snapshot;
use crate::support::storefront::Home;
use crate::support::test_env::{TestEnv, serve};
use crate::support::tls::{Authority, Defect};

#[test]
fn an_unreachable_service_is_a_finding() {
    let closed = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap();
    let found = examine(serve(Home::new().storefront(&QUICK), &format!("http://{closed}")));
    assert_eq!(found.code, 5);
    // The fix is not to run doctor.
    assert_snapshot(
        &found.text("service"),
        str![[r#"
failed: cannot connect to 127.0.0.1:[PORT]: Connection refused (os error [N])
→ check host and port of base-url, and the network
"#]],
    );
}

#[test]
fn an_untrusted_certificate_is_fixed_by_ca_file() {
    let authority = Authority::new("Shop CA");
    let script = vec![answer("200 OK", "", PROFILE)];
    let server = MockServer::start_tls(script, authority.server(Defect::None, None));
    let strange = home(&server.url(""), &format!("token = {SECRET:?}"));
    let found = examine(strange.storefront(&QUICK));
    let (state, detail, fix) = found.check("service");
    assert_eq!((found.code, state), (5, "failed"));
    // Windows checks certificates itself and has more than one answer to this.
    assert!(detail.contains("the certificate of ") && fix.contains("ca-file"), "{detail}: {fix}");
    assert_snapshot(
        &found.text("service"),
        str![[r#"
failed: the certificate of 127.0.0.1:[PORT] is not signed by a trusted CA
→ set `ca-file` in the profile to the PEM file of the CA that signed it
"#]],
    );
    assert!(server.requests().is_empty());
    let known = home(&server.url(""), &format!("token = {SECRET:?}\nca-file = {:?}", authority.ca_file()));
    let found = examine(known.storefront(&QUICK));
    assert_eq!((found.code, found.check("service").1), (0, "answers, over TLS"), "{}", found.report);
}

#[test]
fn an_unreadable_profile_is_distinguished_from_an_unreachable_service() {
    for (reply, code, expected) in [
        (
            answer("404 Not Found", "", r#"{"message": "no route"}"#),
            3,
            str![[r#"
failed: cannot read the stored addresses: the service answered 404 Not Found: no route
→ for a Magento shop set `api` to magento; otherwise check the path of base-url (http://127.0.0.1:[PORT]/) and set it with STOREFRONT_BASE_URL; if it is right, set read.path to where the service gives the profile
"#]],
        ),
        (
            answer("200 OK", "", "<html>Please sign in</html>"),
            3,
            str![[r#"
failed: cannot read the stored addresses: the service answered 200 OK with an HTML page
→ check the base URL, and for a proxy, a firewall or a login page in front of the service
"#]],
        ),
        (
            answer("200 OK", "", r#"{"id": 1}"#),
            3,
            str![[r#"
failed: cannot read the stored addresses from the response: it has no address list
→ run it again with -vv to see the response, then set `read.path`, `read.customer` and `read.addresses` of the profile
"#]],
        ),
    ] {
        let found = examine(serve(Home::new().storefront(&QUICK), &script(reply).url("")));
        assert_eq!((found.code, found.check("service").0), (code, "ok"));
        assert_snapshot(&found.text("profile"), expected);
    }
    let wrong = script(answer("401 Unauthorized", "", r#"{"message": "expired"}"#));
    let found = examine(serve(Home::new().storefront(&QUICK), &wrong.url("")));
    assert_eq!((found.code, found.check("service").0), (6, "ok"));
    assert_snapshot(
        &found.text("customer token"),
        str![[r#"
failed: the environment variable STOREFRONT_TOKEN: the service answered 401 Unauthorized: expired
→ renew the token where it comes from
"#]],
    );
    let broken = script(answer("500 Internal Server Error", "", ""));
    let found = examine(serve(Home::new().storefront(&QUICK), &broken.url("")));
    assert_eq!(found.code, 5);
    assert_snapshot(
        &found.text("service"),
        str![[r#"
failed: the service answered 500 Internal Server Error with an empty body
→ try again later
"#]],
    );
}

#[test]
fn a_wrong_store_view_and_a_wrong_path_are_distinguished() {
    let env = TestEnv::new();
    let set = |lines: &str, path: &str| {
        let home = home(&format!("{}{path}", env.url()), &format!("token = \"sandbox-customer-1\"\n{lines}"));
        examine(home.storefront(&QUICK))
    };
    let found = examine(env.storefront(&[&QUICK[..], &["--store-view", "defualt"]].concat()));
    assert_eq!(found.code, 3);
    assert_snapshot(
        &found.text("store view"),
        str![[r#"
failed: cannot read the stored addresses: the service answered 404 Not Found: The store that was requested wasn't found. Verify the store and try again
→ correct --store-view, or leave it out
"#]],
    );
    assert_eq!(found.check("customer token").0, "skipped", "{}", found.report);

    let found = set("", "/wrong");
    assert_eq!(found.code, 3, "{}", found.report);
    assert_snapshot(
        &found.text("profile"),
        str![[r#"
failed: cannot read the stored addresses: the service answered 404 Not Found: Request does not match any route
→ for a Magento shop set `api` to magento; otherwise check the path of base-url (http://127.0.0.1:[PORT]/wrong) and set it with `storefront config set -p shop base-url URL`; if it is right, set read.path to where the service gives the profile
"#]],
    );
    assert_eq!(found.check("store view").0, "skipped", "{}", found.report);
}

/// A shop answers there with a page, or as it does to a store view that it does not know.
#[test]
fn a_base_url_that_ends_before_the_api_is_named() {
    for reply in [
        answer("404 Not Found", "Content-Type: text/html\r\n", "<html>Not found</html>"),
        answer("400 Bad Request", "", r#"{"message": "Specified request cannot be processed."}"#),
    ] {
        let shop = script(reply);
        let home = home(&shop.url(""), "api = \"magento\"\ntoken = \"sandbox-customer-1\"");
        let found = examine(home.storefront(&QUICK));
        let fix = format!("set base-url to {}, where a Magento shop has its API", shop.url("/rest"));
        assert_eq!((found.check("profile").0, found.check("profile").2), ("failed", &*fix));
        assert_eq!(found.check("store view").0, "skipped", "{}", found.report);
    }
}
