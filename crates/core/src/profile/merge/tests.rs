//! Tests of [`super`].

mod set_field {
    use serde_json::{Value, json};

    use crate::profile::merge::{check_attribute_codes, set_field};

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
        assert_eq!(refusal.message, "x.custom_attributes: the attribute `a` is given twice");
    }
}

mod deletion_guard {
    use crate::id::AddressId;
    use crate::profile::merge::AddressSummary;
    use crate::profile::merge::check;
    use crate::profile::patch::ProfilePatch;

    #[test]
    fn only_the_exact_number_opens_the_gate() {
        let patch = ProfilePatch { replace: true, ..ProfilePatch::default() };
        let summary =
            AddressSummary { removed: vec![AddressId(3), AddressId(4)], ..AddressSummary::default() };
        for refused in [None, Some(0), Some(1), Some(3)] {
            assert!(check(&patch, &summary, refused, true).is_err(), "{refused:?}");
        }
        assert!(check(&patch, &summary, Some(2), false).is_ok());
    }

    #[test]
    fn a_removal_by_name_needs_a_yes_or_its_number() {
        let patch = ProfilePatch { remove: vec![AddressId(3)], ..ProfilePatch::default() };
        let summary = AddressSummary { removed: vec![AddressId(3)], ..AddressSummary::default() };
        assert!(check(&patch, &summary, None, true).is_ok());
        assert!(check(&patch, &summary, None, false).is_err());
        assert!(check(&patch, &summary, Some(1), false).is_ok());
        assert!(check(&patch, &summary, Some(2), true).is_err());
    }
}

/// Stored profiles and patches that fit them, as property tests make them.
mod generators {
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use crate::id::AddressId;
    use crate::profile::patch::{ProfilePatch, Twin};

    /// Text of any script, numbers with odd spellings, nested things: what an unlisted field may hold.
    pub(super) fn anything() -> impl Strategy<Value = Value> {
        let number = prop_oneof![Just("1.50"), Just("-0"), Just("12345678901234567890123"), Just("2e3")];
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            number.prop_map(|text| serde_json::from_str(text).unwrap()),
            "\\PC{0,6}".prop_map(Value::String),
        ];
        leaf.prop_recursive(2, 6, 3, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..3).prop_map(Value::Array),
                prop::collection::vec(("[a-z]{1,3}", inner), 0..3)
                    .prop_map(|members| members.into_iter().collect()),
            ]
        })
    }

    /// Objects in objects whose names meet those of another one.
    pub(super) fn deep_object() -> impl Strategy<Value = Value> {
        let object = |inner: BoxedStrategy<Value>| {
            prop::collection::btree_map("[a-c]", inner, 0..4)
                .prop_map(|fields| fields.into_iter().collect::<Value>())
                .boxed()
        };
        object(
            prop_oneof![anything(), object(prop_oneof![anything(), object(anything().boxed())].boxed())]
                .boxed(),
        )
    }

    pub(super) fn region() -> impl Strategy<Value = Value> {
        prop_oneof![
        Just(json!({"region": {"region_code": null, "region": null, "region_id": 0}, "region_id": 0})),
        (1..60u32).prop_map(
            |id| json!({"region": {"region_code": "X", "region": "Xland", "region_id": id}, "region_id": id})
        ),
        Just(json!({})),
    ]
    }

    pub(super) fn members() -> impl Strategy<Value = Map<String, Value>> {
        let listed =
            prop::option::of(("[A-Z]{2}", "\\PC{0,5}", prop::collection::vec("\\PC{0,4}", 0..3)).prop_map(
                |(country, city, street)| json!({"country_id": country, "city": city, "street": street}),
            ));
        let unlisted = prop::collection::vec(("x_[a-z]{1,4}", anything()), 0..4);
        let attributes = prop::collection::btree_map("[a-c]", "[0-9]", 0..3);
        (listed, unlisted, attributes, region()).prop_map(|(listed, unlisted, attributes, region)| {
            let mut members: Map<String, Value> = unlisted.into_iter().collect();
            members.extend(listed.into_iter().flat_map(into_members));
            members.extend(into_members(region));
            let attributes =
                attributes.into_iter().map(|(code, value)| json!({"attribute_code": code, "value": value}));
            members.insert("custom_attributes".into(), attributes.collect());
            members
        })
    }

    pub(super) fn into_members(value: Value) -> Map<String, Value> {
        match value {
            Value::Object(members) => members,
            _ => Map::new(),
        }
    }

    pub(super) fn stored() -> impl Strategy<Value = Map<String, Value>> {
        let addresses =
            prop::collection::btree_map((1..50_i64).prop_map(AddressId), (members(), any::<bool>()), 0..6)
                .prop_shuffle_values();
        (members(), addresses, prop::option::of((1..50_i64).prop_map(AddressId))).prop_map(
            |(mut customer, addresses, default)| {
                customer.shift_remove("region");
                customer.insert("addresses".into(), Value::Array(addresses));
                if let Some(id) = default {
                    customer.insert("default_billing".into(), id.to_string().into());
                }
                customer
            },
        )
    }

    /// Stored lists are in no particular order, and ids come as numbers or as text.
    trait ShuffleValues:
        Strategy<Value = std::collections::BTreeMap<AddressId, (Map<String, Value>, bool)>> + Sized
    {
        fn prop_shuffle_values(self) -> impl Strategy<Value = Vec<Value>> {
            let list = self.prop_map(|addresses| {
                let address = |(id, (mut members, as_text)): (AddressId, (Map<String, Value>, bool))| {
                    members.insert("id".into(), if as_text { id.to_string().into() } else { id.into() });
                    Value::Object(members)
                };
                addresses.into_iter().map(address).collect::<Vec<_>>()
            });
            list.prop_shuffle()
        }
    }

    impl<S: Strategy<Value = std::collections::BTreeMap<AddressId, (Map<String, Value>, bool)>>> ShuffleValues
        for S
    {
    }

    /// What a draft address may name without contradicting any stored region.
    pub(super) fn draft_members() -> impl Strategy<Value = Map<String, Value>> {
        let named = prop::collection::vec(
            prop_oneof![
                ("\\PC{0,5}").prop_map(|city| ("city".to_owned(), json!(city))),
                prop::collection::vec("\\PC{0,4}", 0..3)
                    .prop_map(|street| ("street".to_owned(), json!(street))),
                (0..60u32).prop_map(|id| ("region_id".to_owned(), json!(id))),
                ("[a-d]", "[0-9]").prop_map(|(code, value)| (
                    "custom_attributes".to_owned(),
                    json!([{"attribute_code": code, "value": value}])
                )),
                anything().prop_map(|value| ("x_named".to_owned(), value)),
            ],
            0..4,
        );
        named.prop_map(|named| named.into_iter().collect())
    }

    /// A stored profile and a wish that fits it: changes by position, additions, removals.
    pub(super) fn merge_case() -> impl Strategy<Value = (Map<String, Value>, ProfilePatch)> {
        let changes = prop::collection::vec(prop::option::of(draft_members()), 6);
        let removals = prop::collection::vec(prop::bool::weighted(0.2), 6);
        let additions = prop::collection::vec(draft_members(), 0..3);
        (stored(), changes, removals, additions, prop::option::of("\\PC{0,5}")).prop_map(
            |(stored, changes, removals, additions, email)| {
                // Made-up additions may equal a stored address by chance.
                let mut patch = ProfilePatch { twin: Twin::Added, ..ProfilePatch::default() };
                let mut drafts = Vec::new();
                for (id, (change, remove)) in ids(&stored).into_iter().zip(changes.into_iter().zip(removals))
                {
                    match change {
                        _ if remove => patch.remove.push(id),
                        Some(mut draft) => {
                            draft.insert("id".into(), id.into());
                            drafts.push(Value::Object(draft));
                        }
                        None => {}
                    }
                }
                drafts.extend(additions.into_iter().map(Value::Object));
                patch.draft.insert("addresses".into(), Value::Array(drafts));
                patch.draft.extend(email.map(|email| ("email".to_owned(), Value::String(email))));
                (stored, patch)
            },
        )
    }

    /// The addresses of a customer.
    pub(super) fn addresses(customer: &Map<String, Value>) -> &[Value] {
        customer["addresses"].as_array().unwrap()
    }

    /// Their ids, in order.
    pub(super) fn ids(customer: &Map<String, Value>) -> Vec<AddressId> {
        addresses(customer).iter().filter_map(|address| AddressId::of(address.get("id")?)).collect()
    }
}

/// The laws of the address merge, each as a property.
mod properties {
    use proptest::prelude::*;
    use serde_json::{Map, Value, json};

    use super::generators::{addresses, deep_object, ids, into_members, merge_case, stored};
    use crate::failure::FailureKind;
    use crate::id::AddressId;
    use crate::profile::address::DEFAULTS;
    use crate::profile::defaults::DefaultAddress;
    use crate::profile::equal::is_unchanged;
    use crate::profile::merge::{Merged, merge};
    use crate::profile::patch::{ProfilePatch, Twin};

    /// What the draft does not name has its exact text; what it names has the draft's value, unless that is the same.
    fn kept_or_named(
        of: &str,
        before: &Value,
        after: &Value,
        draft: Option<&Value>,
    ) -> Result<(), TestCaseError> {
        match (before, draft) {
            (Value::Object(fields), Some(Value::Object(draft))) => {
                for (name, value) in fields {
                    kept_or_named(name, value, &after[name], draft.get(name))?;
                }
                for (name, value) in draft.iter().filter(|(name, _)| !fields.contains_key(*name)) {
                    prop_assert_eq!(after[name].to_string(), value.to_string());
                }
            }
            (_, Some(draft)) if is_unchanged(of, before, draft) => {
                prop_assert_eq!(after.to_string(), before.to_string());
            }
            // An element of a list may have the notation of a stored one that is the same.
            (_, Some(draft)) => prop_assert!(is_unchanged(of, after, draft)),
            (_, None) => prop_assert_eq!(after.to_string(), before.to_string()),
        }
        Ok(())
    }

    /// A value as a program hands it on that reads numbers as doubles.
    fn rounded(value: &Value) -> Value {
        match value {
            Value::Number(number) => serde_json::from_str(&number.as_f64().unwrap().to_string()).unwrap(),
            Value::Array(elements) => elements.iter().map(rounded).collect(),
            Value::Object(fields) => {
                fields.iter().map(|(name, value)| (name.clone(), rounded(value))).collect()
            }
            other => other.clone(),
        }
    }

    fn draft_for(patch: &ProfilePatch, id: AddressId) -> Map<String, Value> {
        let drafts = patch.draft["addresses"].as_array().unwrap();
        let own = drafts.iter().find(|draft| draft.get("id").and_then(AddressId::of) == Some(id));
        own.map(|draft| draft.as_object().unwrap().clone()).unwrap_or_default()
    }

    fn merged(stored: &Map<String, Value>, patch: &ProfilePatch) -> Merged {
        merge(stored, patch).unwrap()
    }

    proptest! {
        #[test]
        fn law_1_every_stored_id_stays_unless_removed_by_name((stored, patch) in merge_case()) {
            let expected: Vec<AddressId> = ids(&stored).into_iter().filter(|id| !patch.remove.contains(id)).collect();
            let merged = merged(&stored, &patch);
            prop_assert_eq!(ids(&merged.customer), expected.clone());
            let mut reported = [merged.summary.kept, merged.summary.changed].concat();
            reported.sort_unstable();
            let mut expected = expected;
            expected.sort_unstable();
            prop_assert_eq!(reported, expected);
            prop_assert_eq!(merged.summary.removed.len(), patch.remove.len());
        }

        #[test]
        fn law_2_what_is_not_named_keeps_its_exact_value((stored, patch) in merge_case()) {
            let merged = merged(&stored, &patch);
            for (name, value) in &stored {
                let dead = name == "default_billing" && AddressId::of(value).is_some_and(|id| patch.remove.contains(&id));
                if name != "addresses" && !dead && !patch.draft.contains_key(name) {
                    prop_assert_eq!(merged.customer[name].to_string(), value.to_string());
                }
                prop_assert!(!dead || !merged.customer.contains_key(name));
            }
            for before in addresses(&stored) {
                let id = AddressId::of(&before["id"]).unwrap();
                let Some(after) = addresses(&merged.customer).iter().find(|address| address.get("id") == before.get("id")) else { continue };
                let draft = draft_for(&patch, id);
                let named = |name: &str| draft.contains_key(name) || (name == "region" && draft.contains_key("region_id"));
                for (name, value) in before.as_object().unwrap() {
                    if name == "custom_attributes" {
                        let named = draft.get(name).map(|named| named[0]["attribute_code"].clone());
                        for attribute in value.as_array().unwrap() {
                            let kept = after[name].as_array().unwrap().contains(attribute);
                            prop_assert!(kept || Some(&attribute["attribute_code"]) == named.as_ref());
                        }
                    } else if name == "id" || !named(name) {
                        prop_assert_eq!(after[name].to_string(), value.to_string());
                    }
                }
            }
        }

        #[test]
        fn law_2_holds_at_every_depth(stored in deep_object(), draft in deep_object()) {
            let profile = |inside: &Value| json!({
                "extension_attributes": inside,
                "addresses": [{"id": 1, "extension_attributes": inside}],
            });
            let stored = profile(&stored);
            let draft = profile(&draft);
            let patch = ProfilePatch { draft: into_members(draft.clone()), ..ProfilePatch::default() };
            let merged = Value::Object(merged(&into_members(stored.clone()), &patch).customer);
            for place in ["/extension_attributes", "/addresses/0/extension_attributes"] {
                let value = |customer: &Value| customer.pointer(place).unwrap().clone();
                kept_or_named("", &value(&stored), &value(&merged), Some(&value(&draft)))?;
            }
        }

        #[test]
        fn law_2_a_number_that_was_only_rounded_keeps_its_text(stored in stored()) {
            let draft = into_members(rounded(&Value::Object(stored.clone())));
            let merged = merged(&stored, &ProfilePatch { draft, ..ProfilePatch::default() });
            prop_assert_eq!(Value::Object(merged.customer).to_string(), Value::Object(stored).to_string());
            prop_assert!(merged.changes.is_empty(), "{:?}", merged.changes);
        }

        #[test]
        fn law_2_holds_where_the_list_is_replaced((stored, mut patch) in merge_case()) {
            patch.remove.clear();
            patch.replace = true;
            let merged = merged(&stored, &patch);
            for before in addresses(&stored) {
                let id = AddressId::of(&before["id"]).unwrap();
                let draft = draft_for(&patch, id);
                let after = addresses(&merged.customer).iter().find(|address| address.get("id") == before.get("id"));
                prop_assert_eq!(after.is_some(), draft.contains_key("id"));
                for (name, value) in before.as_object().unwrap() {
                    let is_free = !draft.contains_key(name) && (name != "region" || !draft.contains_key("region_id"));
                    if let Some(after) = after.filter(|_| is_free) {
                        prop_assert_eq!(after[name].to_string(), value.to_string());
                    }
                }
            }
        }

        #[test]
        fn law_4_an_address_that_is_stored_already_is_refused((stored, patch) in merge_case(), at in 0..6usize) {
            prop_assume!(!addresses(&stored).is_empty());
            let mut copy = addresses(&stored)[at % addresses(&stored).len()].as_object().unwrap().clone();
            copy.shift_remove("id");
            let again = |twin| {
                let draft = into_members(json!({"addresses": [copy.clone(), copy.clone()]}));
                merge(&stored, &ProfilePatch { draft, twin, ..ProfilePatch::default() })
            };
            prop_assert_eq!(again(Twin::Refused).unwrap_err().kind, FailureKind::Guard);
            prop_assert_eq!(again(Twin::Added).unwrap().summary.added, 2);
            prop_assert!(again(Twin::Left).unwrap().changes.is_empty());
            drop(patch);
        }

        #[test]
        fn law_3_an_empty_draft_changes_nothing(stored in stored()) {
            let merged = merged(&stored, &ProfilePatch::default());
            prop_assert_eq!(Value::Object(merged.customer).to_string(), Value::Object(stored).to_string());
            prop_assert!(merged.changes.is_empty());
        }

        #[test]
        fn law_3_changing_twice_is_changing_once((stored, mut patch) in merge_case()) {
            patch.remove.clear();
            if let Some(Value::Array(drafts)) = patch.draft.get_mut("addresses") {
                drafts.retain(|draft| draft.get("id").is_some());
            }
            let once = merged(&stored, &patch).customer;
            let twice = merged(&once, &patch);
            prop_assert_eq!(Value::Object(twice.customer).to_string(), Value::Object(once).to_string());
            prop_assert!(twice.changes.is_empty());
        }

        #[test]
        fn law_4_new_addresses_come_last_in_the_order_given((stored, patch) in merge_case()) {
            let merged = merged(&stored, &patch);
            let drafts = patch.draft["addresses"].as_array().unwrap();
            let new: Vec<&Value> = drafts.iter().filter(|draft| draft.get("id").is_none()).collect();
            let list = addresses(&merged.customer);
            let tail = &list[list.len() - new.len()..];
            prop_assert_eq!(merged.summary.added, new.len());
            for (draft, address) in new.iter().zip(tail) {
                prop_assert!(address.get("id").is_none());
                prop_assert_eq!(draft.get("city"), address.get("city"));
                prop_assert_eq!(draft.get("x_named"), address.get("x_named"));
            }
        }

        #[test]
        fn law_5_a_list_with_ambiguous_ids_is_refused((stored, patch) in merge_case(), at in 0..6usize, problem in 0..4usize) {
            let mut stored = stored;
            let list = stored["addresses"].as_array_mut().unwrap();
            prop_assume!(!list.is_empty());
            let at = at % list.len();
            let copy = list[at].clone();
            let address = list[at].as_object_mut().unwrap();
            match problem {
                0 => { address.shift_remove("id"); }
                1 => { address.insert("id".into(), Value::Null); }
                2 => { address.insert("id".into(), json!("7a")); }
                _ => list.push(copy),
            }
            prop_assert_eq!(merge(&stored, &patch).unwrap_err().kind, FailureKind::Guard);
        }

        #[test]
        fn both_region_ids_agree_wherever_the_region_was_named((stored, patch) in merge_case()) {
            let merged = merged(&stored, &patch);
            for address in addresses(&merged.customer) {
                let named = address.get("id").and_then(AddressId::of).is_some_and(|id| draft_for(&patch, id).contains_key("region_id"));
                if named {
                    prop_assert_eq!(&address["region_id"], &address["region"]["region_id"]);
                }
            }
        }
    }

    #[test]
    fn an_address_the_profile_does_not_have_is_refused() {
        let stored = json!({"addresses": [{"id": 1}]}).as_object().unwrap().clone();
        let named = json!({"addresses": [{"id": 2}]}).as_object().unwrap().clone();
        let patch = ProfilePatch { draft: named, ..ProfilePatch::default() };
        assert_eq!(merge(&stored, &patch).unwrap_err().kind, FailureKind::Guard);
        let patch = ProfilePatch { remove: vec![AddressId(2)], ..ProfilePatch::default() };
        assert_eq!(merge(&stored, &patch).unwrap_err().kind, FailureKind::Guard);
    }

    #[test]
    fn a_changed_country_needs_a_region() {
        let address = json!({"id": 1, "country_id": "US", "region_id": 43, "region": {"region_id": 43}});
        let stored = json!({"addresses": [address]}).as_object().unwrap().clone();
        let draft = json!({"addresses": [{"id": 1, "country_id": "FR"}]}).as_object().unwrap().clone();
        let patch = ProfilePatch { draft, ..ProfilePatch::default() };
        assert_eq!(merge(&stored, &patch).unwrap_err().kind, FailureKind::Usage);
    }

    #[test]
    fn replacing_sends_exactly_the_given_list_and_names_what_is_removed() {
        let stored =
            json!({"addresses": [{"id": 1, "city": "a"}, {"id": 2}, {"id": 3}]}).as_object().unwrap().clone();
        let given = json!([{"id": 2, "city": "b"}, {"city": "c"}]);
        let draft = [("addresses".to_owned(), given.clone())].into_iter().collect();
        let merged = merged(&stored, &ProfilePatch { draft, replace: true, ..ProfilePatch::default() });
        assert_eq!(merged.customer["addresses"], given);
        assert_eq!(
            (merged.summary.removed, merged.summary.changed, merged.summary.added),
            (vec![AddressId(1), AddressId(3)], vec![AddressId(2)], 1)
        );
    }

    #[test]
    fn a_draft_made_for_another_customer_is_refused() {
        let stored = json!({"id": 1, "addresses": [{"id": 1}]}).as_object().unwrap().clone();
        let named = |draft: Value| ProfilePatch {
            draft: draft.as_object().unwrap().clone(),
            ..ProfilePatch::default()
        };
        for other in [json!({"id": 25}), json!({"addresses": [{"id": 1, "customer_id": 2}]})] {
            assert_eq!(merge(&stored, &named(other)).unwrap_err().kind, FailureKind::Guard);
        }
        for own in [json!({"id": "1"}), json!({"addresses": [{"customer_id": 1}]})] {
            assert!(merge(&stored, &named(own)).is_ok());
        }
    }

    #[test]
    fn a_dead_default_that_was_never_stored_is_no_change() {
        let stored = json!({"addresses": [{"id": 1}, {"id": 2}]}).as_object().unwrap().clone();
        let draft = json!({"default_billing": 2}).as_object().unwrap().clone();
        let merged =
            merged(&stored, &ProfilePatch { draft, remove: vec![AddressId(2)], ..ProfilePatch::default() });
        let paths: Vec<String> = merged.changes.iter().map(|change| change.path.to_string()).collect();
        assert_eq!(paths, ["addresses[id=2]"]);
        assert!(!merged.customer.contains_key("default_billing") && merged.notes.len() == 1);
    }

    #[test]
    fn equal_new_addresses_are_two_in_one_draft_and_refused_if_one_is_stored() {
        let stored = |address: Value| into_members(json!({"addresses": [address]}));
        let add = |twin| ProfilePatch {
            draft: into_members(json!({"addresses": [{"city": "Rome", "region_id": 0}, {"city": "Rome"}]})),
            twin,
            ..ProfilePatch::default()
        };
        assert_eq!(merged(&stored(json!({"id": 1, "city": "Paris"})), &add(Twin::Refused)).summary.added, 2);
        let rome =
            || stored(json!({"id": 1, "city": " Rome", "telephone": "1", "region": {"region_id": null}}));
        let refusal = merge(&rome(), &add(Twin::Refused)).unwrap_err();
        assert!(refusal.kind == FailureKind::Guard && refusal.message.contains("address 1"), "{refusal:?}");
        assert!(refusal.hint.unwrap().to_string().contains("--allow-duplicate"));
        assert_eq!(merged(&rome(), &add(Twin::Added)).summary.added, 2);
        // An address that is removed is not a twin of one that is added.
        let moved = ProfilePatch { remove: vec![AddressId(1)], ..add(Twin::Refused) };
        assert_eq!(merged(&rome(), &moved).summary.added, 2);
    }

    #[test]
    fn a_default_is_set_here_and_taken_from_the_others() {
        let stored = || {
            into_members(json!({"default_shipping": "1", "default_billing": 1, "addresses": [
            {"id": 1, "default_shipping": true, "default_billing": 1},
            {"id": 2, "default_shipping": false},
            {"id": 3, "city": "Oslo"}]}))
        };
        let patch = |address: Option<AddressId>| {
            let id = address.map(|id| ("id".to_owned(), Value::from(id)));
            let named = [
                ("city", json!("Bergen")),
                ("default_shipping", json!(true)),
                ("default_billing", json!(true)),
            ];
            let named = named.map(|(name, value)| (name.to_owned(), value));
            let draft: Value = id.into_iter().chain(named).collect();
            let default = address.map_or(DefaultAddress::New, DefaultAddress::Stored);
            let defaults = DEFAULTS.map(|name| (name, default)).to_vec();
            ProfilePatch {
                draft: into_members(json!({"addresses": [draft]})),
                defaults,
                ..ProfilePatch::default()
            }
        };
        let changed = merged(&stored(), &patch(Some(AddressId(2))));
        assert_eq!(
            Value::Object(changed.customer),
            json!({"default_shipping": "2", "default_billing": 2, "addresses": [
            {"id": 1, "default_shipping": false, "default_billing": 0},
            {"id": 2, "default_shipping": true, "city": "Bergen", "default_billing": true},
            {"id": 3, "city": "Oslo"}]})
        );
        assert_eq!(
            (changed.summary.kept, changed.summary.changed),
            (vec![AddressId(3)], vec![AddressId(1), AddressId(2)])
        );
        let paths: Vec<String> = changed.changes.iter().map(|change| change.path.to_string()).collect();
        assert!(paths.contains(&"default_billing".to_owned()), "{paths:?}");
        let added = merged(&stored(), &patch(None));
        assert!(
            !added.customer.contains_key("default_shipping") && added.notes.is_empty(),
            "{:?}",
            added.notes
        );
        assert_eq!(added.customer["addresses"][0]["default_shipping"], false);
        let bare = into_members(json!({"addresses": [{"id": 2}]}));
        assert!(!merged(&bare, &patch(Some(AddressId(2)))).customer.contains_key("default_shipping"));
    }

    #[test]
    fn a_default_that_is_left_out_with_its_address_is_no_change() {
        let stored = into_members(json!({"default_billing": "2", "addresses": [{"id": 1}, {"id": 2}]}));
        let merged = merged(&stored, &ProfilePatch { remove: vec![AddressId(2)], ..ProfilePatch::default() });
        assert_eq!((merged.changes.len(), merged.notes.len()), (1, 1));
        assert!(!merged.customer.contains_key("default_billing"));
    }
}
