//! Tests of [`super`].

mod diff {
    use serde_json::{Map, Value, json};

    use crate::profile::diff::{FieldChange, PlannedUndo, customers};

    fn customers_except(
        before: &Map<String, Value>,
        after: &Map<String, Value>,
        ignore: &[String],
    ) -> Vec<FieldChange> {
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

    /// A plan that was read again has no nulls of its own.
    #[test]
    fn an_undo_is_as_planned_where_a_null_was_printed() {
        let (before, after) = (json!({"gender": 1}), json!({"gender": null}));
        let changes = customers(before.as_object().unwrap(), after.as_object().unwrap());
        let printed = [FieldChange { after: None, ..changes[0].clone() }];
        assert_ne!(changes[..], printed[..]);
        let planned = PlannedUndo { changes: &printed, left: &["address 7 stays".to_owned()] };
        planned.ensure(&changes, &[]).unwrap();
        planned.ensure(&changes, &["address 7 stays".to_owned()]).unwrap();
        planned.ensure(&[], &["gender has changed since".to_owned()]).unwrap_err();
        PlannedUndo { changes: &[], left: &[] }.ensure(&changes, &[]).unwrap_err();
    }
}
