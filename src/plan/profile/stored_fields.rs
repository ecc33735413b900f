//! Findings that the stored profile decides on: a field that it has itself is known, and a value that it has is right.

use serde_json::{Map, Value};

use super::diff;
use super::equivalence::is_same;
use crate::failure::Failure;
use crate::plan::profile::address_ids::id_of;
use crate::plan::validate::body::{self, Finding, FindingKind};
use crate::plan::validate::body::{Step, path_of};
use crate::suggestion::closest_match;

/// Refuses what the check found in a draft, unless the stored profile has it: an unknown field that some stored object
/// has in that place, with all that is inside it, and a wrong value that is stored there too.
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
    let mut left = Vec::new();
    for finding in findings {
        match (finding.kind, finding.steps.split_first()) {
            (_, None) => left.push(finding.clone()),
            (FindingKind::UnknownField, Some((_, steps))) => {
                unknown(finding, steps, draft, stored, &mut left);
            }
            (FindingKind::WrongValue, Some((_, steps))) => {
                let is_stored = value_at(draft, steps)
                    .zip(stored_at(draft, stored, steps))
                    .is_some_and(|(draft, stored)| is_same(draft, stored));
                left.extend((!is_stored).then(|| finding.clone()));
            }
        }
    }
    body::refuse(&left)
}

fn unknown(
    finding: &Finding,
    steps: &[Step],
    draft: &Map<String, Value>,
    stored: &Map<String, Value>,
    left: &mut Vec<Finding>,
) {
    let Some((Step::Field(name), above)) = steps.split_last() else { return left.push(finding.clone()) };
    let parents = objects_at(stored, above);
    let here: Vec<&Value> = parents.iter().filter_map(|parent| parent.get(name)).collect();
    if here.is_empty() {
        let mut finding = finding.clone();
        let names = parents.iter().flat_map(|parent| parent.keys()).map(String::as_str);
        if let Some(meant) =
            closest_match(name, names).filter(|_| finding.message.ends_with(": unknown field"))
        {
            finding.message.extend(["; did you mean `", meant, "`?"]);
        }
        return left.push(finding);
    }
    if let Some(value) = value_at(draft, steps) {
        inside(&mut finding.steps.clone(), value, &here, left);
    }
}

/// Every stored object in the place of a draft's: those of all elements of a list.
fn objects_at<'a>(stored: &'a Map<String, Value>, steps: &[Step]) -> Vec<&'a Map<String, Value>> {
    let Some((Step::Field(first), rest)) = steps.split_first() else { return vec![stored] };
    let first: Vec<&Value> = stored.get(first).into_iter().collect();
    let values = rest.iter().fold(first, |places, step| match step {
        Step::Field(name) => places.into_iter().filter_map(|place| place.get(name)).collect(),
        Step::Element(_) => elements(&places),
    });
    values.into_iter().filter_map(Value::as_object).collect()
}

fn elements<'a>(lists: &[&'a Value]) -> Vec<&'a Value> {
    lists.iter().filter_map(|list| list.as_array()).flatten().collect()
}

/// Looks for fields inside a known one that no stored object has in that place. Where nothing is stored that could show
/// its fields, an empty list for instance, any are taken.
fn inside(steps: &mut Vec<Step>, draft: &Value, stored: &[&Value], left: &mut Vec<Finding>) {
    match draft {
        Value::Object(fields) => {
            let objects: Vec<_> = stored.iter().filter_map(|stored| stored.as_object()).collect();
            if objects.is_empty() {
                return;
            }
            for (name, value) in fields {
                steps.push(Step::Field(name.clone()));
                let here: Vec<&Value> = objects.iter().filter_map(|object| object.get(name)).collect();
                if here.is_empty() {
                    let names = objects.iter().flat_map(|object| object.keys());
                    left.push(unknown_inside(steps, closest_match(name, names.map(String::as_str))));
                } else {
                    inside(steps, value, &here, left);
                }
                steps.pop();
            }
        }
        Value::Array(list) => {
            let stored = elements(stored);
            for (index, element) in list.iter().enumerate() {
                steps.push(Step::Element(index));
                inside(steps, element, &stored, left);
                steps.pop();
            }
        }
        _ => {}
    }
}

fn unknown_inside(steps: &[Step], meant: Option<&str>) -> Finding {
    let meant = meant.map(|meant| format!("; did you mean `{meant}`?")).unwrap_or_default();
    Finding {
        steps: steps.to_vec(),
        kind: FindingKind::UnknownField,
        message: format!("{}: unknown field{meant}", path_of(steps)),
    }
}

fn value_at<'a>(draft: &'a Map<String, Value>, steps: &[Step]) -> Option<&'a Value> {
    let (Step::Field(name), rest) = steps.split_first()? else { return None };
    rest.iter().try_fold(draft.get(name)?, |value, step| below(value, step))
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
    if let [Step::Field(list), Step::Element(index), rest @ ..] = steps
        && list == "addresses"
    {
        let id = draft.get(list)?.get(index)?.get("id").and_then(id_of)?;
        let same = |address: &&Value| address.get("id").and_then(id_of) == Some(id);
        let address = diff::address_list(stored).iter().find(same)?;
        return rest.iter().try_fold(address, below);
    }
    value_at(stored, steps)
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
            (
                json!({"extension_attributes": {"is_subscribd": 1}}),
                "customer.extension_attributes.is_subscribd: unknown field; did you mean `is_subscribed`?",
            ),
            (
                json!({"extension_attributes": {"cards": [{"n": 1, "m": 1}]}}),
                "customer.extension_attributes.cards[0].m: unknown field",
            ),
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
