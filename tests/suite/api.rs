//! `api`: any other call, under the guards all calls have.

use serde_json::{Value, json};
use snapbox::str;

use crate::support::mock_server::{MockServer, Step, answer};
use crate::support::storefront::{Home, Outcome};

const PROFILE: &str = "/V1/storeview/default/customer/profile";
const ATTRIBUTE: &str = r#"{"attribute": {"attribute_code": "cut", "frontend_input": "text"}}"#;

/// Runs `api` against a service that answers by a script, at a base URL with a path.
fn api(service: &MockServer, arguments: &[&str]) -> Outcome {
    let home = Home::new();
    let words: Vec<&str> = ["api"].iter().chain(arguments).copied().collect();
    home.storefront(&words)
        .env("STOREFRONT_BASE_URL", &service.url("/rest"))
        .env("STOREFRONT_TOKEN", "hunter2")
        .env("STOREFRONT_ADMIN_TOKEN", "hunter3")
        .stdin(r#"{"a": 1.50}"#)
        .run()
}

#[test]
fn a_read_prints_the_response_body_unchanged() {
    let body = "{\"b\":  12345678901234567890.10,\r\n \"a\": 1}";
    let service = MockServer::start(vec![answer("200 OK", "", body)]);
    let read = api(&service, &["get", "V1/store/storeViews?active=1"]);
    assert_eq!((read.code, &*read.stdout, &*read.stderr), (0, body, ""));
    let request = &service.requests()[0];
    assert!(request.starts_with("GET /rest/V1/store/storeViews?active=1 HTTP/1.1\r\n"), "{request}");
    assert!(request.to_lowercase().contains("authorization: bearer hunter2"), "{request}");
}

#[test]
fn a_write_sends_the_input_with_the_selected_token() {
    let service = MockServer::start(vec![answer("320 Saved", "", "true")]);
    let written = api(&service, &["PUT", "/V1/x", "-i", "-", "--admin"]);
    written.assert(0, str!["true"], str!["api: host 127.0.0.1:[PORT]"]);
    let request = &service.requests()[0];
    assert!(request.starts_with("PUT /rest/V1/x ") && request.ends_with(r#"{"a": 1.50}"#), "{request}");
    assert!(request.to_lowercase().contains("authorization: bearer hunter3"), "{request}");
}

#[test]
fn reads_are_retried_and_writes_are_not() {
    let service = MockServer::start(vec![answer("502 Bad", "", ""), answer("200 OK", "", "1")]);
    assert_eq!(api(&service, &["GET", "/x", "-o", "json"]).code, 0);
    assert_eq!(service.requests().len(), 2);
    for method in ["PUT", "PATCH", "DELETE", "POST"] {
        let service = MockServer::start(vec![answer("502 Bad", "", ""), answer("200 OK", "", "1")]);
        assert_eq!(api(&service, &[method, "/x", "--yes"]).code, 8);
        assert_eq!(service.requests().len(), 1);
    }
}

#[test]
fn json_output_is_the_response_body_and_jq_filters_it() {
    let service = MockServer::start(vec![
        answer("200 OK", "", "[1]"),
        answer("200 OK", "", "plain"),
        answer("200 OK", "", r#"{"items": [{"sku": "a"}]}"#),
    ]);
    let printed = |outcome: Outcome| serde_json::from_str::<Value>(&outcome.stdout).unwrap();
    assert_eq!(printed(api(&service, &["GET", "/x", "-o", "json"])), json!([1]));
    assert_eq!(printed(api(&service, &["POST", "/x", "-o", "json"])), json!("plain"));
    assert_eq!(api(&service, &["GET", "/x", "--jq", ".items[].sku"]).stdout, "a\n");
}

#[test]
fn a_filter_that_fails_after_a_write_does_not_hide_that_it_was_applied() {
    let service = MockServer::start(vec![answer("200 OK", "", r#"{"applied": "no"}"#)]);
    let failed = api(&service, &["POST", "/x", "--jq", ".applied.x"]);
    assert_eq!((failed.code, &failed.error()["applied"]), (1, &json!("yes")), "{failed:?}");
}

#[test]
fn a_write_to_a_profile_is_refused_unless_unguarded() {
    let service = MockServer::start(vec![answer("200 OK", "", "1")]);
    for (method, path, stderr) in [
        (
            "PUT",
            "/V1/storeview/default/customer/profile",
            str![[r#"
error: `PUT /V1/storeview/default/customer/profile` replaces a customer's profile: addresses that the input leaves out would be deleted
  hint: use `storefront customer update`, which keeps every address that is not named; --unguarded sends the call as it is
"#]],
        ),
        (
            "PATCH",
            "/V1/storeview/fr/customer//pro%66ile/?a=b",
            str![[r#"
error: `PATCH /V1/storeview/fr/customer//pro%66ile/?a=b` replaces a customer's profile: addresses that the input leaves out would be deleted
  hint: use `storefront customer update`, which keeps every address that is not named; --unguarded sends the call as it is
"#]],
        ),
        (
            "POST",
            "/all/async/bulk/V1/customers/byCustomerId",
            str![[r#"
error: `POST /all/async/bulk/V1/customers/byCustomerId` replaces a customer's profile: addresses that the input leaves out would be deleted
  hint: use `storefront customer update`, which keeps every address that is not named; --unguarded sends the call as it is
"#]],
        ),
        (
            "PUT",
            "/V1/customers/me",
            str![[r#"
error: `PUT /V1/customers/me` replaces a customer's profile: addresses that the input leaves out would be deleted
  hint: use `storefront customer update`, which keeps every address that is not named; --unguarded sends the call as it is
"#]],
        ),
        (
            "put",
            "/fr/V1/customers/7/",
            str![[r#"
error: `PUT /fr/V1/customers/7/` replaces a customer's profile: addresses that the input leaves out would be deleted
  hint: use `storefront customer update --customer 7`, which keeps every address that is not named; --unguarded sends the call as it is
"#]],
        ),
    ] {
        api(&service, &[method, path, "-i", "-"]).assert_failure(3, stderr);
    }
    assert!(service.requests().is_empty());
    assert_eq!(api(&service, &["PUT", "/V1/customers/me", "-i", "-", "--unguarded"]).code, 0);
    assert_eq!(service.requests().len(), 1);
    let read = MockServer::start(vec![answer("200 OK", "", "1")]);
    assert_eq!(api(&read, &["GET", "/V1/customers/me"]).code, 0);
}

/// A customer goes with every address; an address goes in the bulk form of its call, too.
#[test]
fn a_customer_or_an_address_is_not_deleted_however_the_path_is_written() {
    let service = MockServer::start(vec![answer("200 OK", "", "true")]);
    for (path, stderr) in [
        (
            "/V1/customers/7",
            str![[r#"
error: `DELETE /V1/customers/7` deletes a customer with every address
  hint: keep what the shop has with `storefront customer show --customer 7 -o json`; --unguarded sends the call as it is
"#]],
        ),
        (
            "/async/bulk/V1/customers/byCustomerId",
            str![[r#"
error: `DELETE /async/bulk/V1/customers/byCustomerId` deletes a customer with every address
  hint: keep what the shop has with `storefront customer show -o json`; --unguarded sends the call as it is
"#]],
        ),
        (
            "/async/bulk/V1/addresses/byAddressId",
            str![[r#"
error: `DELETE /async/bulk/V1/addresses/byAddressId` deletes an address that the log does not keep
  hint: use `storefront customer update --customer ID --remove-address ID`, which can be undone; --unguarded sends the call as it is
"#]],
        ),
    ] {
        api(&service, &["DELETE", path, "--admin", "--yes"]).assert_failure(3, stderr);
    }
    for path in
        ["/rest/all/async/bulk/v1//addresses/x;y=1", "/fr/V1/addresses/%37", "/V1/customers//%37/?a=b"]
    {
        assert_eq!(api(&service, &["DELETE", path, "--admin", "--yes"]).code, 3, "{path}");
    }
    assert!(service.requests().is_empty());
    let unguarded = ["DELETE", "/V1/customers/7", "--admin", "--unguarded"];
    assert_eq!(api(&service, &unguarded).code, 3, "it deletes all the same");
    assert_eq!(api(&service, &[&unguarded[..], &["--yes"]].concat()).code, 0);
}

#[test]
fn every_other_delete_is_a_deletion_and_needs_a_yes() {
    let service = MockServer::start(vec![answer("200 OK", "", "true")]);
    let line = ["delete", "/V1/products/attributes/size?x=1", "--admin"];
    api(&service, &line).assert_failure(
        3,
        str![[r#"
api: host 127.0.0.1:[PORT]
error: cannot ask `Send DELETE /V1/products/attributes/size?x=1?`: not a terminal
  hint: add --yes
"#]],
    );
    assert_eq!(api(&service, &[&line[..], &["-n"]].concat()).code, 0);
    assert!(service.requests().is_empty());
    assert_eq!(api(&service, &[&line[..], &["--yes"]].concat()).code, 0);
    assert_eq!(service.requests().len(), 1);
}

#[test]
fn a_dry_run_sends_nothing_and_curl_hides_the_token() {
    let service = MockServer::start(Vec::<Step>::new());
    let shown = api(&service, &["PATCH", "/V1/x?y=1", "-i", "-", "-n", "--curl"]);
    shown.assert_success(str![[r#"curl --request PATCH --globoff 'http://127.0.0.1:[PORT]/rest/V1/x?y=1' --header "Authorization: Bearer $STOREFRONT_TOKEN" --header 'Content-Type: application/json' --data-raw '{"a": 1.50}'"#]]);
    let (program, token) =
        if cfg!(windows) { ("curl.exe", "$env:STOREFRONT_TOKEN") } else { ("curl", "$STOREFRONT_TOKEN") };
    assert!(
        shown.stdout.starts_with(&format!("{program} --request PATCH")) && shown.stdout.contains(token),
        "{shown:?}"
    );
    assert!(!shown.stdout.contains("hunter"), "{shown:?}");
    assert!(service.requests().is_empty());
}

#[test]
fn paths_to_other_hosts_are_refused_before_anything_is_sent() {
    let service = MockServer::start(Vec::<Step>::new());
    for (path, stderr) in [
        (
            "https://evil.example/x",
            str![[r#"
error: invalid value 'https://evil.example/x' for '<PATH>': must be relative to the base URL

For more information, try '--help'.
"#]],
        ),
        (
            "//evil.example/x",
            str![[r#"
error: invalid value '//evil.example/x' for '<PATH>': must be relative to the base URL

For more information, try '--help'.
"#]],
        ),
        (
            "/V1/../x",
            str![[r#"
error: invalid value '/V1/../x' for '<PATH>': `.` and `..` segments are not allowed

For more information, try '--help'.
"#]],
        ),
        (
            "/V1/%2e%2e/x",
            str![[r#"
error: invalid value '/V1/%2e%2e/x' for '<PATH>': `.` and `..` segments are not allowed

For more information, try '--help'.
"#]],
        ),
        (
            "/x y",
            str![[r#"
error: invalid value '/x y' for '<PATH>': ` ` is not allowed in a path; percent-encode it

For more information, try '--help'.
"#]],
        ),
        (
            "/x#y",
            str![[r#"
error: invalid value '/x#y' for '<PATH>': `#` is not allowed; use %23

For more information, try '--help'.
"#]],
        ),
    ] {
        api(&service, &["GET", path]).assert_failure(2, stderr);
    }
    api(&service, &["G T", "/x"]).assert_failure(
        2,
        str![[r#"
error: invalid value 'G T' for '<METHOD>': expected an HTTP method, such as GET, POST, PUT or DELETE

For more information, try '--help'.
"#]],
    );
    assert!(service.requests().is_empty());
    let redirected = MockServer::start(vec![answer("302 Found", "Location: http://evil.example/\r\n", "")]);
    api(&redirected, &["GET", "/x"]).assert_failure(
        4,
        str![[r#"
error: the service answered 302 Found and redirects to http://evil.example/, which is not followed
  hint: if the service moved, update `base-url`
"#]],
    );
}

#[test]
fn api_calls_work_on_the_sandbox() {
    let home = Home::new();
    let read: Value = serde_json::from_str(&home.ok(&format!("api GET {PROFILE} --sandbox"))).unwrap();
    assert_eq!(read["customer"]["id"], 1);
    let create = |admin: &[&str]| {
        let words = ["api", "POST", "/V1/admin/product/attribute/", "--sandbox", "-i", "-"];
        let words: Vec<&str> = words.iter().chain(admin).copied().collect();
        home.storefront(&words).stdin(ATTRIBUTE).run().code
    };
    assert_eq!((create(&[]), create(&["--admin"])), (6, 0));
    home.storefront("api POST /x --sandbox -i -").stdin("{").run().assert_failure(
        2,
        str![[r#"
error: stdin is not valid JSON: EOF while parsing an object at line 1 column 1
"#]],
    );
}
