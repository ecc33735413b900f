//! Tokens in every spelling are masked, and innocent text is not.

use serde_json::{Value, json};

use super::{MASK, Redactor};
use crate::token::Token;

/// As base64 writes secrets.
const TOKEN: &str = "aB/c+d=&12";

fn redactor(tokens: &[&str]) -> Redactor {
    let redactor = Redactor::new();
    for token in tokens {
        redactor.add(&Token::new(token).unwrap());
    }
    redactor
}

#[test]
fn a_token_is_masked_however_it_is_spelled() {
    let redactor = redactor(&[TOKEN]);
    for spelled in [
        TOKEN,
        r"aB\/c+d=&12",
        r"aB\\\/c+d=&12",
        r"a\u0042\u002fc\u002B\u0064=\u002612",
        r"\\u0061B/c+d=&12",
        "aB%2Fc%2bd%3D%2612",
        "%61B%252Fc+d=&12",
        "aB&#47;c&#x2B;d=&amp;12",
    ] {
        assert_eq!(redactor.text(spelled), MASK, "{spelled}");
        assert_eq!(redactor.text(&format!("x {spelled}{spelled}é")), format!("x {MASK}{MASK}é"));
    }
    for other in ["", "aB/c+d=&1", "AB/c+d=&12", "%", r"\", "&", r"a\u004", "aB%2", "é%zz\\u00zz&;"] {
        assert!(matches!(redactor.text(other), std::borrow::Cow::Borrowed(text) if text == other));
    }
    let odd = [b"\xff ", MASK.as_bytes()].concat();
    assert_eq!(redactor.bytes(b"\xff aB/c+d=&12"), odd);
}

#[test]
fn many_tokens_and_tokens_within_tokens() {
    let redactor = redactor(&["long-tok3n", "long-tok3n-longer", "100%25%\\x"]);
    assert_eq!(redactor.text("long-tok3n-longer long-tok3n"), "••• •••");
    assert_eq!(redactor.text(r"100%25%\x 100%25%\\x 100%2525%25\x"), "••• ••• •••");
}

#[test]
fn a_short_token_is_masked_where_it_stands_alone_or_after_bearer() {
    let redactor = redactor(&["token", "ab"]);
    assert_eq!(redactor.text("a token, tokens"), "a token, tokens");
    assert_eq!(redactor.text("token"), MASK);
    assert_eq!(redactor.text("ab"), "ab");
    assert_eq!(
        redactor.text("Bearer token / bearer%20ab, bearer tokens"),
        "Bearer ••• / bearer%20•••, bearer tokens"
    );
    assert_eq!(
        redactor.masked_value(&json!({"token": ["token", "my token"]})),
        json!({"token": [MASK, "my token"]})
    );
    assert_eq!(redactor.json_text(r#"{"t":"token"}"#), r#"{"t":"•••"}"#);
}

#[test]
fn values_are_masked_at_every_depth_and_stay_json() {
    let redactor = redactor(&["12345678", "sec\"ret\\1"]);
    let value = json!({"a": [{"b12345678": "x 12345678"}], "n": 12_345_678, "m": 123_456_789, "sec\"ret\\1": 1,
        "sec\"ret\\1 ": null, "12345678": 0, "x12345678": [1234, 5678]});
    let masked = redactor.masked_value(&value);
    assert_eq!(
        masked.to_string(),
        r#"{"a":[{"b•••":"x •••"}],"n":"•••","m":"•••","•••":1,"••• ":null,"••• (2)":0,"x•••":[1234,5678]}"#
    );
    for json in [value.to_string(), r#"{"sec\u0022ret\\1":"\u0031\u00322345678","e":1E2}"#.to_owned()] {
        let text = redactor.json_text(&json);
        let read: Value = crate::exact_json::parse(text.as_bytes()).unwrap();
        assert!(!text.contains("12345678") && !read.to_string().contains("ret"), "{text}");
    }
    assert_eq!(redactor.json_text("[1234,5678,1E2]"), "[1234,5678,1E2]");
}

#[test]
fn what_a_cut_leaves_of_a_token_is_masked() {
    let redactor = redactor(&["long-tok3n/1"]);
    assert_eq!(redactor.cut_text("see long-tok3n/1 and long-to"), "see ••• and •••");
    assert_eq!(redactor.cut_text(r"see long-tok3n\u00"), "see •••");
    assert_eq!(redactor.cut_text("see lon"), "see lon");
    assert_eq!(redactor.cut_text("see long-tok3n/1"), "see •••");
}

#[test]
fn a_records_token_is_forgotten_with_its_last_user() {
    let redactor: &'static Redactor = Box::leak(Box::new(redactor(&["of-the-run-1"])));
    let token = Token::new("of-a-record-1").unwrap();
    let both = "of-the-run-1 of-a-record-1";
    let one = redactor.add_while(&token);
    let other = redactor.add_while(&token);
    drop(one);
    assert_eq!(redactor.text(both), "••• •••");
    drop(other);
    assert_eq!(redactor.text(both), "••• of-a-record-1");
    drop(redactor.add_while(&Token::new("of-the-run-1").unwrap()));
    assert_eq!(redactor.text(both), "••• of-a-record-1");
    assert_eq!(redactor.known.read().unwrap().len(), 1);
}
