//! Findings that the stored profile decides on: a field that it has itself is known, and a value that it has is right.

use serde_json::{Map, Value};

use super::diff;
use super::equivalence::is_same;
use crate::failure::Failure;
use crate::plan::profile::diff::id_of;
use crate::plan::validate::body::Step;
use crate::plan::validate::body::{self, Finding, FindingKind};
use crate::suggestion::closest_match;

/// Refuses what the check found in a draft, unless the stored profile has it: an unknown field that a stored object has in
/// that place, and a wrong value that is stored there too.
///
/// The steps of the findings begin at the body, with the wrapper of the customer.
///
/// # Errors
/// `usage`, with every finding that stays.
pub fn refuse_unknown(
    findings: &[Finding],
    draft: &Map<String, Value>,
    stored: &Map<String, Value>,
) -> Result<(), Failure> {
    let left = findings.iter().filter_map(|finding| match (finding.kind, finding.steps.get(1..)) {
        (FindingKind::UnknownField, Some([above @ .., Step::Field(name)])) => {
            unknown(finding, name, &objects_at(stored, above))
        }
        (FindingKind::WrongValue, Some(steps)) => {
            let values = value_at(draft, steps).zip(stored_at(draft, stored, steps));
            (!values.is_some_and(|(draft, stored)| is_same(draft, stored))).then(|| finding.clone())
        }
        _ => Some(finding.clone()),
    });
    body::refuse(&left.collect::<Vec<_>>())
}

/// The finding with the stored name that was perhaps meant; `None` where a stored object has this one.
fn unknown(finding: &Finding, name: &str, places: &[&Map<String, Value>]) -> Option<Finding> {
    if places.iter().any(|stored| stored.contains_key(name)) {
        return None;
    }
    let mut finding = finding.clone();
    let names = places.iter().flat_map(|stored| stored.keys()).map(String::as_str);
    if let Some(meant) = closest_match(name, names).filter(|_| finding.message.ends_with(": unknown field")) {
        finding.message.extend(["; did you mean `", meant, "`?"]);
    }
    Some(finding)
}

/// Every stored object in the place of a draft's: those of all elements of a list.
fn objects_at<'a>(stored: &'a Map<String, Value>, steps: &[Step]) -> Vec<&'a Map<String, Value>> {
    let below = |places: Vec<&'a Value>, step: &Step| -> Vec<&'a Value> {
        let inside = places.into_iter().flat_map(|place| match (step, place) {
            (Step::Element(_), Value::Array(elements)) => elements.iter().collect(),
            (Step::Field(name), _) => place.get(name).into_iter().collect(),
            _ => Vec::new(),
        });
        inside.collect()
    };
    let Some((Step::Field(first), rest)) = steps.split_first() else { return vec![stored] };
    let places = rest.iter().fold(stored.get(first).into_iter().collect(), below);
    places.into_iter().filter_map(Value::as_object).collect()
}

fn value_at<'a>(draft: &'a Map<String, Value>, steps: &[Step]) -> Option<&'a Value> {
    let (Step::Field(name), rest) = steps.split_first()? else { return None };
    rest.iter().try_fold(draft.get(name)?, below)
}

fn below<'a>(value: &'a Value, step: &Step) -> Option<&'a Value> {
    match step {
        Step::Field(name) => value.get(name),
        Step::Element(index) => value.get(index),
    }
}

/// The stored value in the place of a draft's: an address is the one with the same id.
fn stored_at<'a>(
    draft: &Map<String, Value>,
    stored: &'a Map<String, Value>,
    steps: &[Step],
) -> Option<&'a Value> {
    let [list @ Step::Field(name), index @ Step::Element(_), rest @ ..] = steps else {
        return value_at(stored, steps);
    };
    if name != "addresses" {
        return value_at(stored, steps);
    }
    let id = value_at(draft, &[list.clone(), index.clone()])?.get("id").and_then(id_of)?;
    let same = |address: &&Value| address.get("id").and_then(id_of) == Some(id);
    rest.iter().try_fold(diff::address_list(stored).iter().find(same)?, below)
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, Value, json};

    use super::refuse_unknown;
    use crate::plan::operation::Operation;
    use crate::plan::request::dialect::MARKETPLACE;
    use crate::plan::validate::body::findings;

    fn object(value: Value) -> Map<String, Value> {
        value.as_object().unwrap().clone()
    }

    fn refusal(draft: Value) -> String {
        let stored = json!({"id": 1, "created_at": "now", "gender": null,
            "extension_attributes": {"is_subscribed": true, "cards": [{"n": 1}], "none": []},
            "addresses": [
                {"id": 1, "company": 5, "region": "Texas", "fax": null, "country_id": "usa"},
                {"id": "2", "region_id": "43", "region": {"region": null, "x": 1}}]});
        let body = object(json!({"customer": draft}));
        let findings = findings(&body, Operation::CustomerUpdate.schema(&MARKETPLACE), false);
        let refused = refuse_unknown(&findings, &object(draft), &object(stored));
        refused.map_or_else(|failure| failure.message, |()| String::new())
    }

    #[test]
    fn what_the_stored_profile_has_is_known() {
        for draft in [
            json!({"id": 1, "created_at": "x", "gender": null}),
            json!({"extension_attributes": {"cards": [{"n": 2}], "none": [{"any": 1}]}}),
            json!({"addresses": [{"id": 1, "company": 5, "region": "Texas", "fax": "", "country_id": "usa"}]}),
            // Another address has it, and a new one may.
            json!({"addresses": [{"id": 2, "fax": "1"}, {"fax": "2"}]}),
            json!({"addresses": [{"id": "2", "region_id": "43", "region": {"x": 2}}]}),
        ] {
            assert_eq!(refusal(draft.clone()), "", "{draft}");
        }
    }

    #[test]
    fn what_it_has_not_is_refused_with_its_path() {
        for (draft, message) in [
            (json!({"creatd_at": 1}), "customer.creatd_at: unknown field; did you mean `created_at`?"),
            (json!({"gender": "x"}), "customer.gender: expected an integer, found the string \"x\""),
            (
                json!({"addresses": [{"id": 2, "fx": 1, "gln": 1}]}),
                "customer.addresses[0].fx: unknown field; did you mean `fax`?\n  customer.addresses[0].gln: unknown field",
            ),
            (
                json!({"addresses": [{"id": 2, "region_id": "44"}, {"region_id": "43"}]}),
                "customer.addresses[0].region_id: expected an integer, found the string \"44\"\n  customer.addresses[1].region_id: expected an integer, found the string \"43\"",
            ),
            (
                json!({"addresses": [{"id": 2, "country_id": "usa"}]}),
                "customer.addresses[0].country_id: expected a country code of two upper-case letters, \
                 found the string \"usa\"; did you mean `US`?",
            ),
        ] {
            assert_eq!(refusal(draft), message);
        }
    }
}
