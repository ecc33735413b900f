//! The region of a profile address: three fields in two places, which must never contradict each other.

use serde_json::{Map, Value, json};

use super::equivalence::is_equivalent;
use crate::failure::Failure;

const TEXTS: [&str; 2] = ["region", "region_code"];
const ID: &str = "region_id";

/// Takes what a draft says about the region out of it: `None` when it names none of `region`, `region_code` and
/// `region_id`, or all that it names is stored already. Whatever else the draft's region object has stays in the draft.
///
/// `stored` is the address that the draft changes, if it changes one.
///
/// # Errors
/// `usage` when the draft gives two different region ids.
pub fn take_region_patch(
    draft: &mut Map<String, Value>,
    stored: Option<&Map<String, Value>>,
    label: &str,
) -> Result<Option<Map<String, Value>>, Failure> {
    let is_stored = stored.is_some_and(|stored| is_unchanged(draft, stored));
    let outer_id = draft.shift_remove(ID);
    let mut patch = Map::new();
    if let Some(region) = draft.get_mut("region") {
        if let Value::Object(region) = region {
            for name in [TEXTS[1], TEXTS[0], ID] {
                patch.extend(region.shift_remove(name).map(|value| (name.to_owned(), value)));
            }
        }
        if region.as_object().is_none_or(Map::is_empty) {
            draft.shift_remove("region");
        }
    }
    if is_stored {
        return Ok(None);
    }
    if let Some(id) = outer_id {
        if patch.contains_key(ID) && !is_equivalent(ID, patch.get(ID), Some(&id)) {
            return Err(
                Failure::usage(format!("{label}: region_id and region.region_id differ")).hint("set it once")
            );
        }
        patch.insert(ID.to_owned(), id);
    }
    Ok((!patch.is_empty()).then_some(patch))
}

/// Whether a stored address has the region that a draft names. A region id that the draft names in one place counts for
/// both.
fn is_unchanged(draft: &Map<String, Value>, stored: &Map<String, Value>) -> bool {
    let (region, stored_region) = (region_object(draft), region_object(stored));
    let inner_id = region.and_then(|region| region.get(ID));
    let outer_id = draft.get(ID).or(inner_id);
    let is_id = |id: Option<&Value>, stored: Option<&Value>| {
        id.is_none() || stored.is_none() || is_equivalent(ID, id, stored)
    };
    let stored_ids = (stored.get(ID), stored_region.and_then(|region| region.get(ID)));
    // An id that is stored nowhere is no region.
    let is_new_id = stored_ids == (None, None) && !is_equivalent(ID, outer_id.or(inner_id), None);
    let is_text = |name: &str| {
        let text = region.and_then(|region| region.get(name));
        text.is_none() || is_equivalent(name, text, stored_region.and_then(|region| region.get(name)))
    };
    !is_new_id
        && is_id(outer_id, stored_ids.0)
        && is_id(inner_id.or(outer_id), stored_ids.1)
        && TEXTS.iter().all(|name| is_text(name))
}

/// Whether a draft names the text of a region.
pub fn names_text(draft: &Map<String, Value>) -> bool {
    region_object(draft).is_some_and(|region| TEXTS.iter().any(|name| is_text(region.get(*name))))
}

/// Whether an address has a region id other than 0.
pub fn has_id(address: &Map<String, Value>) -> bool {
    stored_id(address).is_some()
}

/// What `--no-region` says: both ids 0, texts null, as Magento writes it. The interface does not show it: ours.
pub fn none() -> Value {
    json!({"region_code": null, "region": null, "region_id": 0})
}

/// Whether an address has a region: an id that is not 0, or a text that is not empty.
pub fn is_stored(address: &Map<String, Value>) -> bool {
    stored_id(address).is_some()
        || region_object(address).is_some_and(|region| TEXTS.iter().any(|name| is_text(region.get(*name))))
        || is_text(address.get("region"))
}

/// Applies what a draft says about the region to an address.
///
/// Naming any of the three sets it, makes the unnamed texts null, and keeps both region ids equal.
///
/// # Errors
/// `usage` when a region id is stored and the draft names none: the old id would contradict the new text.
pub fn apply(
    address: &mut Map<String, Value>,
    patch: &Map<String, Value>,
    label: &str,
) -> Result<(), Failure> {
    let id = match patch.get(ID) {
        Some(id) => Some(id.clone()),
        None if stored_id(address).is_some() => return Err(id_needed(label)),
        None => None,
    };
    if !matches!(address.get("region"), Some(Value::Object(_))) {
        address.insert("region".to_owned(), Value::Object(Map::new()));
    }
    if let Some(Value::Object(region)) = address.get_mut("region") {
        for name in TEXTS {
            region.insert(name.to_owned(), patch.get(name).cloned().unwrap_or(Value::Null));
        }
        for (name, value) in patch {
            region.insert(name.clone(), value.clone());
        }
    }
    if let Some(id) = id {
        address.insert(ID.to_owned(), id);
    }
    Ok(())
}

/// Rejects a country change that does not also set the region.
///
/// # Errors
/// `usage`, with both ways out.
pub fn require_region_for_new_country(
    address: &Map<String, Value>,
    new_country: &Value,
    label: &str,
) -> Result<(), Failure> {
    if address.get("country_id") == Some(new_country) || !is_stored(address) {
        return Ok(());
    }
    Err(Failure::usage(format!("{label}: the country changes but the region does not"))
        .hint("set --region-id (with --region, --region-code) or --no-region"))
}

fn id_needed(label: &str) -> Failure {
    Failure::usage(format!("{label}: the stored region has an id, and the new region names none"))
        .hint("add --region-id, or use --no-region; --region-id 0 stores the name without an id")
}

fn stored_id(address: &Map<String, Value>) -> Option<&Value> {
    let inner = region_object(address).and_then(|region| region.get(ID));
    [address.get(ID), inner].into_iter().flatten().find(|id| match id {
        Value::Null => false,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty() && text != "0",
        _ => true,
    })
}

fn region_object(address: &Map<String, Value>) -> Option<&Map<String, Value>> {
    address.get("region").and_then(Value::as_object)
}

fn is_text(value: Option<&Value>) -> bool {
    value.and_then(Value::as_str).is_some_and(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::apply;
    use crate::plan::profile::region::{require_region_for_new_country, take_region_patch};

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn applied(stored: Value, draft: Value) -> Result<Value, String> {
        let mut address = object(stored);
        let patch = take_region_patch(&mut object(draft), Some(&address), "address 1")
            .map_err(|failure| failure.message)?;
        if let Some(patch) = patch {
            apply(&mut address, &patch, "address 1").map_err(|failure| failure.message)?;
        }
        Ok(Value::Object(address))
    }

    fn new_york() -> Value {
        json!({"region": {"region_code": "NY", "region": "New York", "region_id": 43}, "region_id": 43})
    }

    #[test]
    fn naming_the_id_sets_both_and_clears_the_texts() {
        let expected =
            json!({"region": {"region_code": null, "region": null, "region_id": 12}, "region_id": 12});
        assert_eq!(applied(new_york(), json!({"region_id": 12})).unwrap(), expected);
        assert_eq!(applied(new_york(), json!({"region": {"region_id": 12}})).unwrap(), expected);
    }

    #[test]
    fn a_stored_id_must_be_named_anew() {
        let message = applied(new_york(), json!({"region": {"region": "California"}})).unwrap_err();
        assert!(message.contains("region has an id"), "{message}");
        let free_text =
            json!({"region": {"region_code": "X", "region": "Old", "region_id": 0}, "region_id": 0});
        let expected =
            json!({"region": {"region_code": null, "region": "Bretagne", "region_id": 0}, "region_id": 0});
        assert_eq!(applied(free_text, json!({"region": {"region": "Bretagne"}})).unwrap(), expected);
    }

    #[test]
    fn a_region_that_is_stored_already_is_no_change() {
        for draft in [
            json!({"region": {"region_code": "NY", "region": "New York", "region_id": 43}}),
            json!({"region_id": "43"}),
            json!({"region": {"region": "New York"}}),
            json!({"region": null}),
            json!({"region": {"x_unlisted": 1}}),
        ] {
            assert_eq!(applied(new_york(), draft.clone()).unwrap(), new_york(), "{draft}");
        }
        let none = json!({"region": {"region_code": "", "region_id": null}, "region_id": 0});
        assert_eq!(applied(none.clone(), json!({"region": super::none()})).unwrap(), none);
        let bare = json!({"city": "Oslo"});
        assert_eq!(applied(bare.clone(), json!({"region_id": 0})).unwrap(), bare);
        assert_eq!(applied(bare, json!({"region_id": 5})).unwrap()["region"]["region_id"], 5);
        // The two stored ids contradict each other: naming one of them makes them agree.
        let torn = json!({"region": {"region_id": 12}, "region_id": 43});
        assert_eq!(applied(torn.clone(), torn.clone()).unwrap(), torn);
        assert_eq!(applied(torn, json!({"region_id": 43})).unwrap()["region"]["region_id"], 43);
    }

    #[test]
    fn no_region_of_a_new_address_is_said() {
        let mut draft = object(json!({"region": super::none()}));
        let patch = take_region_patch(&mut draft, None, "the new address").unwrap();
        assert_eq!(patch.map(Value::Object), Some(super::none()));
    }

    #[test]
    fn two_ids_that_differ_are_refused() {
        assert!(applied(new_york(), json!({"region_id": 1, "region": {"region_id": 2}})).is_err());
        assert!(applied(new_york(), json!({"region_id": 1, "region": {"region_id": 1}})).is_ok());
    }

    #[test]
    fn no_region_is_written_as_magento_writes_it() {
        let expected =
            json!({"region": {"region_code": null, "region": null, "region_id": 0}, "region_id": 0});
        assert_eq!(applied(new_york(), json!({"region": super::none()})).unwrap(), expected);
    }

    #[test]
    fn a_new_country_needs_a_word_only_where_a_region_is_stored() {
        let mut stored = object(new_york());
        stored.insert("country_id".into(), "US".into());
        assert!(require_region_for_new_country(&stored, &json!("FR"), "address 1").is_err());
        assert!(require_region_for_new_country(&stored, &json!("US"), "address 1").is_ok());
        let bare =
            json!({"country_id": "US", "region_id": 0, "region": {"region": null, "region_code": null}});
        assert!(require_region_for_new_country(&object(bare), &json!("FR"), "address 1").is_ok());
    }
}
