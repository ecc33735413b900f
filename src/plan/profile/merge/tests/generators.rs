//! Stored profiles and patches that fit them, as property tests make them.

use proptest::prelude::*;
use serde_json::{Map, Value, json};

use crate::plan::profile::diff::id_of;
use crate::plan::profile::patch::ProfilePatch;

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
        prop_oneof![anything(), object(prop_oneof![anything(), object(anything().boxed())].boxed())].boxed(),
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
        prop::collection::btree_map(1..50i64, (members(), any::<bool>()), 0..6).prop_shuffle_values();
    (members(), addresses, prop::option::of(1..50i64)).prop_map(|(mut customer, addresses, default)| {
        customer.shift_remove("region");
        customer.insert("addresses".into(), Value::Array(addresses));
        if let Some(id) = default {
            customer.insert("default_billing".into(), id.to_string().into());
        }
        customer
    })
}

/// Stored lists are in no particular order, and ids come as numbers or as text.
trait ShuffleValues:
    Strategy<Value = std::collections::BTreeMap<i64, (Map<String, Value>, bool)>> + Sized
{
    fn prop_shuffle_values(self) -> impl Strategy<Value = Vec<Value>> {
        let list = self.prop_map(|addresses| {
            let address = |(id, (mut members, as_text)): (i64, (Map<String, Value>, bool))| {
                members.insert("id".into(), if as_text { id.to_string().into() } else { id.into() });
                Value::Object(members)
            };
            addresses.into_iter().map(address).collect::<Vec<_>>()
        });
        list.prop_shuffle()
    }
}

impl<S: Strategy<Value = std::collections::BTreeMap<i64, (Map<String, Value>, bool)>>> ShuffleValues for S {}

/// What a draft address may name without contradicting any stored region.
pub(super) fn draft_members() -> impl Strategy<Value = Map<String, Value>> {
    let named = prop::collection::vec(
        prop_oneof![
            ("\\PC{0,5}").prop_map(|city| ("city".to_owned(), json!(city))),
            prop::collection::vec("\\PC{0,4}", 0..3).prop_map(|street| ("street".to_owned(), json!(street))),
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
            let mut patch = ProfilePatch { allow_duplicate: true, ..ProfilePatch::default() };
            let mut drafts = Vec::new();
            for (id, (change, remove)) in ids(&stored).into_iter().zip(changes.into_iter().zip(removals)) {
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
pub(super) fn ids(customer: &Map<String, Value>) -> Vec<i64> {
    addresses(customer).iter().filter_map(|address| id_of(address.get("id")?)).collect()
}
