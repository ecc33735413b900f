//! Tokens in every spelling are masked, and innocent text is not.

use serde_json::{Value, json};

use super::{MASK, Redactor};
use crate::token::Token;

/// As base64 writes secrets.
const TOKEN: &str = "aB/c+d-12=";

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
    for spelled in [TOKEN, r"aB\/c+d-12=", "aB%2Fc%2Bd-12%3D", "aB%2fc%2bd-12%3d"] {
        assert_eq!(redactor.text(spelled), MASK, "{spelled}");
        assert_eq!(redactor.text(&format!("x {spelled}{spelled}é")), format!("x {MASK}{MASK}é"));
    }
    for other in ["", "aB/c+d-12", "AB/c+d-12=", "%", r"\", "aB%2", "é%zz\\u00zz&;", r"\u0061B/c+d-12="] {
        assert!(matches!(redactor.text(other), std::borrow::Cow::Borrowed(text) if text == other));
    }
}

#[test]
fn many_tokens_and_tokens_within_tokens() {
    let redactor = redactor(&["long-tok3n", "long-tok3n-longer"]);
    assert_eq!(redactor.text("long-tok3n-longer long-tok3n"), "••• •••");
}

#[test]
fn what_could_be_a_word_is_no_secret() {
    let redactor = redactor(&["has", "password"]);
    assert_eq!(
        redactor.text("the token has expired, the password not"),
        "the token has expired, the ••• not"
    );
}

#[test]
fn values_are_masked_at_every_depth_and_stay_json() {
    let redactor = redactor(&["12345678", "sec/ret-1"]);
    let value = json!({"a": [{"b12345678": "x 12345678"}], "n": 12_345_678, "m": 2_345_678, "sec/ret-1": 1,
        "x12345678": [1234, 5678]});
    let masked = r#"{"a":[{"b•••":"x •••"}],"n":"•••","m":2345678,"•••":1,"x•••":[1234,5678]}"#;
    assert_eq!(redactor.masked_value(&value).to_string(), masked);
    for json in [value.to_string(), value.to_string().replace('/', r"\/")] {
        assert_eq!(redactor.json_text(&json), masked);
        assert_eq!(redactor.json_text(&format!("{json}\n")), format!("{masked}\n"));
    }
    let nested = json!({"trace": r#"{"t": "sec\/ret-1"}"#}).to_string();
    assert_eq!(redactor.json_text(&nested), r#"{"trace":"{\"t\": \"•••\"}"}"#);
    let exact: Value =
        crate::exact_json::parse(redactor.json_text(r#"[1E2,"12345678"]"#).as_bytes()).unwrap();
    assert_eq!(exact.to_string(), r#"[1E2,"•••"]"#);
    assert_eq!(redactor.json_text("[1234,5678,1E2]"), "[1234,5678,1E2]");
    assert_eq!(redactor.json_text("{ 12345678"), "{ •••");
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
