//! Tests of [`super`].

mod field_path {
    use serde_json::json;

    use crate::profile::diff::AddressIndex;
    use crate::profile::diff::{FieldPath, Step};

    #[test]
    fn a_path_prints_and_finds_its_value() {
        let customer = json!({"a.b": 1, "addresses": [
            {"id": 4},
            {"id": 12, "custom_attributes": [{"attribute_code": "floor", "value": "3"}]}]});
        let customer = customer.as_object().unwrap();
        let roster = AddressIndex::of(customer["addresses"].as_array().unwrap()).unwrap();
        let floor = FieldPath::address(12)
            .member("custom_attributes")
            .step(Step::Code("floor".to_owned()))
            .member("value");
        assert_eq!(floor.to_string(), "addresses[id=12].custom_attributes[floor].value");
        assert_eq!(floor.inside(), "custom_attributes[floor].value");
        assert_eq!(floor.find(customer, &roster), Some(&json!("3")));
        assert_eq!(FieldPath::default().member("a.b").find(customer, &roster), Some(&json!(1)));
        assert_eq!(FieldPath::address(5).find(customer, &roster), None);
        assert!(FieldPath::default().member("x/y").is_in("/x~1y"));
        assert!(
            floor.is_in("/addresses") && floor.is_in("/addresses/0/custom_attributes") && !floor.is_in("/a")
        );
    }
}

mod diff {
    use serde_json::{Map, Value, json};

    use crate::profile::diff::{Change, customers};

    fn customers_except(
        before: &Map<String, Value>,
        after: &Map<String, Value>,
        ignore: &[String],
    ) -> Vec<Change> {
        customers(before, after).into_iter().filter(|change| !change.is_ignored(ignore)).collect()
    }

    fn paths(before: Value, after: Value) -> Vec<String> {
        let (Value::Object(before), Value::Object(after)) = (before, after) else { panic!("two objects") };
        customers(&before, &after).into_iter().map(|change| change.path.to_string()).collect()
    }

    #[test]
    fn a_change_is_named_down_to_its_member() {
        let before = json!({"email": "a", "addresses": [
            {"id": 1, "city": "Paris"},
            {"id": 2, "region": {"region_id": 1}, "street": ["a"], "custom_attributes": [{"attribute_code": "x", "value": "1"}]},
            {"id": 3}]});
        let after = json!({"email": "b", "vat": 1, "addresses": [
            {"id": 2, "region": {"region_id": 2}, "street": ["b"], "custom_attributes": [{"attribute_code": "x", "value": "2"}]},
            {"id": 1, "city": "Paris"},
            {"city": "Rome"}]});
        assert_eq!(
            paths(before, after),
            [
                "email",
                "vat",
                "addresses[id=2].region.region_id",
                "addresses[id=2].street",
                "addresses[id=2].custom_attributes[x].value",
                "addresses[new]",
                "addresses[id=3]",
            ]
        );
    }

    #[test]
    fn numbers_differ_when_their_text_differs() {
        assert_eq!(paths(json!({"a": 1}), json!({"a": 1})), [""; 0]);
        let (one, other) = (serde_json::from_str("{\"a\": 1.0}"), serde_json::from_str("{\"a\": 1.00}"));
        assert_eq!(paths(one.unwrap(), other.unwrap()), ["a"]);
    }

    #[test]
    fn what_is_ignored_inside_addresses_is_left_out_too() {
        let [before, after] = [1, 2].map(|seen| {
            let addresses =
                json!([{"id": 1, "seen": seen, "city": format!("{seen}")}, {"id": 2, "seen": seen}]);
            Map::from_iter([("seen".to_owned(), seen.into()), ("addresses".to_owned(), addresses)])
        });
        let paths = |ignore: &[&str]| -> Vec<String> {
            let ignore: Vec<String> = ignore.iter().map(|&pointer| pointer.to_owned()).collect();
            let changes = customers_except(&before, &after, &ignore).into_iter();
            changes.map(|change| change.path.to_string()).collect()
        };
        assert_eq!(paths(&["/addresses"]), ["seen"]);
        let ignore = ["/seen", "/addresses/0/seen", "/addresses/1/seen"];
        assert_eq!(paths(&ignore), ["addresses[id=1].city"]);
        assert_eq!(paths(&ignore[1..]), ["seen", "addresses[id=1].city"]);
        assert_eq!(paths(&ignore[..1]).len(), 3);
    }

    #[test]
    fn ignored_pointers_are_left_out() {
        let before = json!({"updated_at": 1, "extension_attributes": {"seen": 2, "kept": 3}, "a/b": 4});
        let after = json!({"updated_at": 5, "extension_attributes": {"seen": 6, "kept": 7}});
        let ignore =
            ["/updated_at", "/extension_attributes/seen", "/a~1b", "/nothing/here"].map(str::to_owned);
        let changes = customers_except(before.as_object().unwrap(), after.as_object().unwrap(), &ignore);
        assert_eq!((changes.len(), changes[0].path.to_string()), (1, "extension_attributes.kept".to_owned()));
    }
}

mod address_ids {
    use serde_json::json;

    use crate::failure::FailureKind;
    use crate::profile::diff::AddressIndex;

    #[test]
    fn a_list_that_would_lose_ids_is_refused() {
        for list in [
            json!([{"id": 1}, {"city": "Paris"}]),
            json!([{"id": 1}, {"id": null}]),
            json!([{"id": 1}, {"id": "1"}]),
            json!([{"id": 1.5}]),
            json!([{"id": "x"}]),
            json!([{"id": "+5"}]),
            json!([{"id": true}]),
            json!(["text"]),
        ] {
            let failure = AddressIndex::of(list.as_array().unwrap()).unwrap_err();
            assert_eq!(failure.kind, FailureKind::Guard, "{list}");
        }
    }

    #[test]
    fn integer_text_is_an_id() {
        let list = json!([{"id": "12"}, {"id": 3}]);
        let roster = AddressIndex::of(list.as_array().unwrap()).unwrap();
        assert_eq!((roster.position(12), roster.ids()), (Some(0), [12, 3].as_slice()));
        assert!(roster.find(4).unwrap_err().message.contains("12 and 3"));
    }
}

mod equivalence {
    use serde_json::{Value, json};

    use crate::profile::diff::{contains, is_same, same_value};

    fn number(text: &str) -> Value {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn numbers_are_the_same_as_doubles() {
        let (stored, rounded) = (number("[12345678901234567890]"), number("[12345678901234567000]"));
        assert!(is_same(&stored, &rounded));
        assert!(is_same(&json!({"a": 1, "b": 2}), &json!({"b": 2, "a": 1})));
        assert!(!is_same(&json!({"a": 1}), &json!({"a": 1, "b": 2})) && !is_same(&json!("1"), &json!(1)));
        // Both are infinite as doubles, and two numbers nevertheless.
        assert!(!is_same(&number("1e400"), &number("1e401")));
    }

    #[test]
    fn what_is_expected_may_be_written_differently() {
        let has = |name: &str, actual: Value, expected: Value| contains(name, Some(&actual), Some(&expected));
        assert!(contains("fax", None, Some(&json!(""))) && contains("fax", Some(&Value::Null), None));
        assert!(has("postcode", json!("02138"), json!("02138 ")) && has("id", json!(7), json!("7")));
        assert!(has("default_billing", json!("1"), json!(true)) && has("region_id", Value::Null, json!(0)));
        assert!(!has("postcode", Value::Null, json!("0")) && !has("city", json!("a"), json!(["a"])));
        assert!(has("region", json!({"region": "A", "x": 1}), json!({"region": "A "})));
        assert!(!has("region", json!({"region": "A"}), json!({"region": "A", "region_id": 5})));
        let stored = json!([{"attribute_code": "b", "value": 1}, {"attribute_code": "a", "value": "2"}]);
        assert!(has("custom_attributes", stored.clone(), json!([{"attribute_code": "a", "value": "2"}])));
        assert!(has("custom_attributes", stored.clone(), json!([{"attribute_code": "c", "value": ""}])));
        assert!(!has("custom_attributes", stored, json!([{"attribute_code": "a", "value": "3"}])));
    }

    fn same(name: &str, left: &Value, right: &Value) -> bool {
        assert_eq!(same_value(name, Some(left), Some(right)), same_value(name, Some(right), Some(left)));
        same_value(name, Some(left), Some(right))
    }

    #[test]
    fn what_a_service_makes_of_a_value_is_the_same_value() {
        for (left, right) in [
            (json!(null), json!("")),
            (json!(5), json!("5")),
            (json!("Lyon"), json!(" Lyon ")),
            (json!({"a": null, "b": 1}), json!({"b": "1"})),
            (json!(["x "]), json!(["x"])),
            (serde_json::from_str("1.50").unwrap(), json!("1.5")),
        ] {
            assert!(same("city", &left, &right), "{left} {right}");
        }
        assert!(same_value("city", None, Some(&json!(""))));
    }

    #[test]
    fn other_values_are_not() {
        for (left, right) in [
            (json!("Lyon"), json!("LYON")),
            (json!("02138"), json!("2138")),
            (json!(false), json!(null)),
            (json!(0), json!(null)),
            (json!(["x"]), json!(["x", ""])),
            (
                serde_json::from_str("12345678901234567890").unwrap(),
                serde_json::from_str("12345678901234567891").unwrap(),
            ),
        ] {
            assert!(!same("city", &left, &right), "{left} {right}");
        }
    }

    #[test]
    fn a_default_flag_and_a_region_id_know_no_difference_between_no_and_nothing() {
        for name in ["default_billing", "default_shipping", "region_id"] {
            for (left, right) in [
                (json!(false), json!(null)),
                (json!(0), json!(null)),
                (json!("0"), json!(false)),
                (json!(true), json!(1)),
                (json!("1"), json!(true)),
            ] {
                assert!(same(name, &left, &right), "{name}: {left} {right}");
            }
            assert!(!same(name, &json!(true), &json!(false)));
        }
    }
}
