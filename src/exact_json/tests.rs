//! Numbers, names and texts come through as they were written.

use proptest::prelude::*;
use serde_json::Value;

use super::{Error, number, parse, parse_with_repeats};

fn repeated(text: &str) -> Option<String> {
    parse_with_repeats(text.as_bytes()).unwrap().repeated
}

#[test]
fn numbers_and_private_names_come_back_to_the_letter() {
    for text in [
        "[1E2,1e2,1E+2,1.0E5,1E-2,1e400,-0.0,-0,0,1.10,12345678901234567890.10]",
        r#"{"$serde_json::private::Number":"12"}"#,
        r#"{"a":{"$serde_json::private::RawValue":"[1]"},"b":[{"$serde_json::private::Number":1E2}]}"#,
        r#"["\"\\\n","é両\u0001",""]"#,
        "[]",
        "{}",
        "null",
        "[true,false,[{}]]",
    ] {
        assert_eq!(parse(text.as_bytes()).unwrap().to_string(), text);
    }
    assert_eq!(number("1E2").unwrap().to_string(), "1E2");
    for text in ["", "1 2", "01", "1.", "+1", "1e", "NaN", "\"1\"", "-"] {
        assert!(number(text).is_none(), "{text}");
    }
}

#[test]
fn the_first_repeated_field_is_told_by_its_path() {
    for (text, path) in [
        (r#"{"a": 1, "a": 1}"#, "a"),
        (r#"{"customer": {"addresses": [1], "email": "x", "addresses": []}}"#, "customer.addresses"),
        (r#"[{}, {"b": [[], {"c": null, "\u0063": 1.50}]}]"#, "[1].b[1].c"),
        (
            r#"{"$serde_json::private::RawValue": 1, "$serde_json::private::RawValue": 2}"#,
            "$serde_json::private::RawValue",
        ),
        (r#"{"a": 1, "": 2, "a": 3, "": 4}"#, "a"),
    ] {
        assert_eq!(repeated(text).as_deref(), Some(path), "{text}");
        assert_eq!(parse(text.as_bytes()), Err(Error::Repeated(path.to_owned())), "{text}");
        assert_eq!(parse_with_repeats(text.as_bytes()).unwrap().repeated.as_deref(), Some(path));
    }
    let many = (0..40).map(|n| format!("\"f{n}\":0")).collect::<Vec<_>>().join(",") + ",";
    assert_eq!(repeated(&format!("{{{many}\"f39\":1}}")).as_deref(), Some("f39"));
    assert_eq!(repeated(&format!("{{{many}\"f2\":1}}")).as_deref(), Some("f2"));
    for text in [r#"{"a": {"a": [{"a": 1}, {"a": 1.0e3}]}, "A": true, "": "a"}"#, "12"] {
        assert_eq!(repeated(text), None, "{text}");
    }
}

#[test]
fn depth_and_half_characters_are_refused_by_name() {
    let deep = |levels: usize| format!("{}{}", "[".repeat(levels), "]".repeat(levels));
    assert!(parse(deep(127).as_bytes()).is_ok());
    assert_eq!(parse(deep(128).as_bytes()), Err(Error::TooDeep));
    let objects = format!("{}1{}", "{\"a\":".repeat(128), "}".repeat(128));
    assert_eq!(parse(objects.as_bytes()), Err(Error::TooDeep));
    for half in [r#""\ud800""#, r#""\udc00""#, r#"{"\ud83d\u0041":1}"#, r#"["\ud83dx"]"#] {
        let failed = parse(half.as_bytes()).unwrap_err();
        assert!(matches!(failed, Error::LoneSurrogate { line: 1, .. }), "{half}: {failed:?}");
        assert!(failed.to_string().contains("half of a surrogate pair"), "{failed}");
    }
    assert_eq!(parse(br#""\ud83d\ude00""#).unwrap(), "😀");
}

#[test]
fn broken_text_is_placed_by_line_and_column() {
    for text in ["", "{", "[1,]", "{\"a\":1,}", "{a:1}", "[1] x", "\"a\nb\"", "01", "[1.]", "tru", "\"\\x\""]
    {
        let failed = parse(text.as_bytes()).unwrap_err();
        assert!(failed.to_string().contains("at line "), "{text}: {failed}");
    }
    assert!(parse(b"\"\xff\"").is_err());
    assert_eq!(
        parse(b"{\n  \"a\": 1\n  \"b\": 2}").unwrap_err().to_string(),
        "expected `,` or `}` at line 3 column 3"
    );
}

fn values() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::hash_map(any::<String>(), inner, 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn what_was_written_is_read_back(value in values()) {
        let text = value.to_string();
        prop_assert_eq!(&parse(text.as_bytes()).unwrap(), &value);
        prop_assert_eq!(&parse(format!("{value:#}").as_bytes()).unwrap(), &value);
    }

    #[test]
    fn it_reads_what_serde_json_reads(text in "[\\[\\]{}:,\"\\\\a-f0-2. eE+nulltrsu-]{0,24}") {
        let known = serde_json::from_str::<Value>(&text).is_ok();
        prop_assert_eq!(parse_with_repeats(text.as_bytes()).is_ok(), known, "{}", text);
    }
}
