//! Tests of [`super`].

mod generators;
mod properties;

mod set_field {
    use serde_json::{Value, json};

    use crate::plan::profile::merge::{check_attribute_codes, set_field};

    fn merged(stored: &str, draft: &str) -> String {
        let (mut stored, draft): (Value, Value) =
            (serde_json::from_str(stored).unwrap(), serde_json::from_str(draft).unwrap());
        for (name, value) in draft.as_object().unwrap() {
            set_field(stored.as_object_mut().unwrap(), name, value);
        }
        stored.to_string()
    }

    #[test]
    fn objects_merge_at_every_depth_and_null_is_a_value() {
        assert_eq!(
            merged(
                r#"{"x":{"points":12345678901234567890,"a":{"b":1,"c":2}},"y":1}"#,
                r#"{"x":{"a":{"c":null,"d":3}}}"#
            ),
            r#"{"x":{"points":12345678901234567890,"a":{"b":1,"c":null,"d":3}},"y":1}"#
        );
    }

    #[test]
    fn other_lists_are_replaced_whole_but_for_numbers_that_did_not_change() {
        let stored = r#"{"cards":[{"id":100.0,"n":12345678901234567890},{"id":2}],"n":1.50}"#;
        assert_eq!(
            merged(stored, r#"{"cards":[{"id":100,"n":12345678901234567000,"x":1}],"n":1.5}"#),
            r#"{"cards":[{"id":100.0,"n":12345678901234567890,"x":1}],"n":1.50}"#
        );
        assert_eq!(merged(stored, r#"{"cards":[{"id":2.0}]}"#), r#"{"cards":[{"id":2}],"n":1.50}"#);
    }

    #[test]
    fn keyed_lists_merge_by_their_keys_at_any_depth() {
        assert_eq!(
            merged(
                r#"{"x":{"custom_attributes":[{"attribute_code":"a","value":"1","z":0},{"attribute_code":"b"}]}}"#,
                r#"{"x":{"custom_attributes":[{"attribute_code":"a","value":"2"},{"attribute_code":"c"}]}}"#
            ),
            r#"{"x":{"custom_attributes":[{"attribute_code":"a","value":"2","z":0},{"attribute_code":"b"},{"attribute_code":"c"}]}}"#
        );
        assert_eq!(
            merged(
                r#"{"x":{"addresses":[{"id":1,"a":1},{"id":2}]}}"#,
                r#"{"x":{"addresses":[{"id":1,"b":1}]}}"#
            ),
            r#"{"x":{"addresses":[{"id":1,"a":1,"b":1},{"id":2}]}}"#
        );
    }

    #[test]
    fn codes_are_looked_at_in_every_depth() {
        let twice = json!({"x": {"custom_attributes": [{"attribute_code": "a"}, {"attribute_code": "a"}]}});
        let refusal = check_attribute_codes(twice.as_object().unwrap(), "").unwrap_err();
        assert_eq!(refusal.message, "x.custom_attributes: duplicate attribute_code `a`");
    }
}
