//! A field that is there twice: an input, a record or a profile with one is refused.

use serde_json::json;
use snapbox::str;

use crate::support::mock_server::answer;
use crate::support::scripted::{UPDATE, against, fails_with, ok, profile};

#[test]
fn a_profile_with_a_duplicate_field_is_not_replaced() {
    for (reply, expected) in [
        (
            r#"{"id": 1, "addresses": [{"id": 1}, {"id": 2}], "addresses": [{"id": 1}]}"#,
            str![[r#"
cannot read the stored addresses from the response: duplicate field `addresses`
  hint: run it again with -vv to see the response, then set `read.path`, `read.customer` and `read.addresses` of the profile
"#]],
        ),
        (
            r#"{"customer": {"id": 1, "addresses": [{"id": 1, "city": "Paris", "city": null}]}}"#,
            str![[r#"
cannot read the stored addresses from the response: duplicate field `customer.addresses[0].city`
  hint: run it again with -vv to see the response, then set `read.path`, `read.customer` and `read.addresses` of the profile
"#]],
        ),
    ] {
        let (outcome, methods) = against(vec![answer("200 OK", "", reply)], UPDATE);
        fails_with(&outcome, 3, expected);
        assert_eq!(methods, ["GET"]);
    }
}

#[test]
fn a_reply_with_two_address_lists_is_refused() {
    let reply = json!({"customer": profile(json!({})), "addresses": []});
    let (outcome, methods) = against(vec![ok(&reply)], UPDATE);
    fails_with(
        &outcome,
        3,
        str![[r#"
cannot read the stored addresses from the response: ambiguous: two address lists
  hint: run it again with -vv to see the response, then set `read.path`, `read.customer` and `read.addresses` of the profile
"#]],
    );
    assert_eq!(methods, ["GET"]);
}
