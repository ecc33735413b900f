//! Tests of [`super`].

mod field_path {
    use serde_json::json;

    use crate::plan::profile::diff::AddressIndex;
    use crate::plan::profile::diff::FieldPath;

    #[test]
    fn a_path_prints_and_finds_its_value() {
        let customer = json!({"a.b": 1, "addresses": [
            {"id": 4},
            {"id": 12, "custom_attributes": [{"attribute_code": "floor", "value": "3"}]}]});
        let customer = customer.as_object().unwrap();
        let roster = AddressIndex::of(customer["addresses"].as_array().unwrap()).unwrap();
        let floor = FieldPath::address(12).member("custom_attributes").code("floor").member("value");
        assert_eq!(floor.to_string(), "addresses[id=12].custom_attributes[floor].value");
        assert_eq!(floor.inside(), "custom_attributes[floor].value");
        assert_eq!(floor.find(customer, &roster), Some(&json!("3")));
        assert_eq!(FieldPath::default().member("a.b").find(customer, &roster), Some(&json!(1)));
        assert_eq!(FieldPath::address(5).find(customer, &roster), None);
        assert!(FieldPath::default().member("x/y").is_at("/x~1y"));
        assert!(!floor.is_at("/addresses"));
    }
}

mod diff {
    use serde_json::{Map, Value, json};

    use crate::plan::profile::diff::{customers, customers_except, without};

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
            let changes = customers_except(&before, &after, &ignore);
            changes.into_iter().map(|change| change.path.to_string()).collect()
        };
        assert_eq!(paths(&["/addresses"]), ["seen"]);
        let ignore = ["/seen", "/addresses/0/seen", "/addresses/1/seen"];
        assert_eq!(paths(&ignore), ["addresses[id=1].city"]);
        assert_eq!(paths(&ignore[1..]), ["seen", "addresses[id=1].city"]);
        assert_eq!(paths(&ignore[..1]).len(), 3);
    }

    #[test]
    fn ignored_pointers_are_left_out() {
        let customer = json!({"updated_at": 1, "extension_attributes": {"seen": 2, "kept": 3}, "a/b": 4});
        let ignore =
            ["/updated_at", "/extension_attributes/seen", "/a~1b", "/nothing/here"].map(str::to_owned);
        let left = without(customer.as_object().unwrap(), &ignore);
        assert_eq!(Value::Object(left), json!({"extension_attributes": {"kept": 3}}));
    }
}

mod address_ids {
    use serde_json::json;

    use crate::failure::FailureKind;
    use crate::plan::profile::diff::AddressIndex;

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
