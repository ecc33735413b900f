//! The code of the store view: one escaped segment of the path, or refused.

use snapbox::str;

use crate::support::mock_server::{MockServer, answer};
use crate::support::storefront::Home;
use crate::support::test_env::{ADD_ITEM, TestEnv, serve};

#[test]
fn a_store_view_code_is_one_escaped_path_segment_or_refused() {
    let server = MockServer::start(vec![answer("200 OK", "", "{}")]);
    let home = Home::new();
    for (code, segment) in
        [("fr/ca", "fr%2Fca"), ("..%2f", "..%252f"), ("é?#", "%C3%A9%3F%23"), ("a\\b", "a%5Cb")]
    {
        let outcome =
            serve(home.storefront(ADD_ITEM), &server.url("")).env("STOREFRONT_STORE_VIEW", code).run();
        let host = server.address;
        assert_eq!(
            (outcome.code, outcome.stderr),
            (0, format!("quote add-item: host {host}, store view {code}\n"))
        );
        let request = server.requests().pop().unwrap();
        assert!(
            request.starts_with(&format!("POST /V1/storeview/{segment}/user/quote/item HTTP/1.1")),
            "{request}"
        );
    }
    let arrived = server.requests().len();
    for (code, stderr) in [
        (
            ".",
            str![[r#"
error: invalid store view code `.`
  No changes were made.
  hint: the codes are listed in the admin panel under Stores > Settings > All Stores
"#]],
        ),
        (
            "..",
            str![[r#"
error: invalid store view code `..`
  No changes were made.
  hint: the codes are listed in the admin panel under Stores > Settings > All Stores
"#]],
        ),
        (
            "a b",
            str![[r#"
error: invalid store view code `a b`
  No changes were made.
  hint: the codes are listed in the admin panel under Stores > Settings > All Stores
"#]],
        ),
    ] {
        let line = format!("{ADD_ITEM} --store-view '{code}'");
        serve(home.storefront(&line), &server.url("")).run().assert_failure(2, stderr);
    }
    let none = serve(home.storefront(ADD_ITEM), &server.url("")).without("STOREFRONT_STORE_VIEW").run();
    none.assert_failure(
        2,
        str![[r#"
error: no store view set
  No changes were made.
  hint: use --store-view CODE, or set STOREFRONT_STORE_VIEW=CODE
"#]],
    );
    assert_eq!(server.requests().len(), arrived);
    let env = TestEnv::new();
    env.run(&format!("{ADD_ITEM} --store-view no_such_view")).assert_failure(4, str![[r#"
quote add-item: host 127.0.0.1:[PORT], store view no_such_view
error: the service answered 404 Not Found: The store that was requested wasn't found. Verify the store and try again
  No changes were made.
  hint: the service has no store view `no_such_view`: name another with --store-view
"#]]);
}
