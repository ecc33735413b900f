//! What a replacement asks for, as a number in its snapshot: most of those that ask for something else are told apart by
//! it without being read.

use serde_json::Value;

use crate::journal::fnv::Fnv1a;

/// How the field begins in a snapshot's text. Nothing before it holds these bytes: quotes within a text are escaped.
const FIELD: &[u8] = b"\"asks\":\"";

/// The same for all that ask for the same, as [`asked`](crate::plan::profile::replacement::asked) gives it; for others
/// hardly ever. Of an object or a list it counts only that it is one: two that are equal may be written differently.
pub(super) fn of(asked: &[(String, Option<Value>)]) -> String {
    let hash = asked.iter().fold(Fnv1a::new(), |hash, (path, after)| {
        let after = match after {
            None => "-".to_owned(),
            Some(Value::Object(_)) => "{".to_owned(),
            Some(Value::Array(_)) => "[".to_owned(),
            Some(scalar) => scalar.to_string(),
        };
        hash.update(path.as_bytes()).update(&[0]).update(after.as_bytes()).update(&[0])
    });
    format!("{:016x}", hash.finish())
}

/// Whether the text of a snapshot has another fingerprint than this one. One without any may ask for the same.
pub(super) fn is_other(snapshot: &[u8], fingerprint: &str) -> bool {
    memchr::memmem::find(snapshot, FIELD)
        .is_some_and(|at| !snapshot[at + FIELD.len()..].starts_with(fingerprint.as_bytes()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value};

    use super::{is_other, of};
    use crate::plan::profile::replacement::asked;

    fn changes(before: &str, after: &str) -> Vec<(String, Option<Value>)> {
        let read = |text: &str| serde_json::from_str::<Map<String, Value>>(text).unwrap();
        asked(&read(before), &read(after))
    }

    #[test]
    fn what_asks_for_the_same_has_one_fingerprint() {
        let stored = r#"{"firstname": "Zoe", "gender": 1}"#;
        let renamed = of(&changes(stored, r#"{"firstname": "Zoé", "gender": 1}"#));
        assert_eq!(
            of(&changes(r#"{"firstname": "Zo", "gender": 2}"#, r#"{"firstname": "Zoé", "gender": 2}"#)),
            renamed
        );
        for other in [
            stored,
            r#"{"firstname": "Zoe"}"#,
            r#"{"firstname": null, "gender": 1}"#,
            r#"{"firstname": "Zoé", "gender": 2}"#,
            r#"{"lastname": "Zoé", "firstname": "Zoe", "gender": 1}"#,
        ] {
            assert_ne!(of(&changes(stored, other)), renamed, "{other}");
        }
        let [one, other] = [r#"{"y": 1, "x": {"a": 1, "b": [2]}}"#, r#"{"x": {"b": [2], "a": 1}, "y": 1}"#];
        let [one, other] = [changes("{}", one), changes("{}", other)];
        assert_eq!(one, other);
        assert_eq!(of(&one), of(&other));
    }

    #[test]
    fn only_a_snapshot_that_says_so_is_another() {
        let fingerprint = of(&[]);
        let text =
            |asks: &str| format!(r#"{{"service":"\"asks\":\"1","asks":"{asks}","customer":{{"asks":"2"}}}}"#);
        assert!(!is_other(text(&fingerprint).as_bytes(), &fingerprint));
        assert!(is_other(text("0123456789abcdef").as_bytes(), &fingerprint));
        assert!(!is_other(br#"{"service":"x","customer":{}}"#, &fingerprint));
    }
}
