//! A stored profile as the service gives it, and the findings about an input that it settles. "Could not read the
//! addresses" never becomes "there are no addresses".

use serde_json::{Map, Value};

use super::address::{address_list, own_id};
use super::equal::is_identical;
use crate::check::body::{self, Finding, Step, describe};
use crate::email::Email;
use crate::failure::Failure;
use crate::hint::{hint, storefront};
use crate::text::suggestion::closest_match;

/// Where the customer and the addresses are in the reply to a profile read: JSON pointers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Pointers {
    /// The customer object, from the reply's top; without it, the reply itself or its field `customer`.
    pub customer: Option<String>,
    /// The address list, from the reply's top or, if nothing is there, from the customer object; without it, the
    /// customer's field `addresses`.
    pub addresses: Option<String>,
}

/// A stored profile: the customer object with every field as it came, `addresses` a list of objects.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Profile(Map<String, Value>);

impl Profile {
    /// Finds the profile in a reply.
    ///
    /// # Errors
    /// `guard` for any reply in which the complete address list cannot be identified.
    pub fn find(reply: Value, pointers: &Pointers) -> Result<Self, Failure> {
        Self::locate(reply, pointers).map_err(|what| unreadable(&what))
    }

    /// The profile in a file; `name` is the file's.
    ///
    /// # Errors
    /// `guard`, as [`Self::find`].
    pub fn in_file(document: Value, name: &str) -> Result<Self, Failure> {
        Self::locate(document, &Pointers::default()).map_err(|what| {
            Failure::guard(format!("{name} does not contain a profile: {what}")).hint(hint!(
                "save the profile with ",
                storefront("customer show -o json"),
                " and pass that file with --base"
            ))
        })
    }

    /// The profile, or why the complete address list cannot be identified.
    fn locate(reply: Value, pointers: &Pointers) -> Result<Self, String> {
        let at_top = pointers.addresses.as_ref().and_then(|pointer| reply.pointer(pointer).cloned());
        let mut customer = Value::Object(customer_of(reply, pointers.customer.as_deref())?);
        if let Some(pointer) = &pointers.addresses {
            let addresses =
                at_top.or_else(|| customer.pointer(pointer).cloned()).ok_or_else(|| missing(pointer))?;
            customer["addresses"] = addresses;
        }
        let Value::Object(customer) = customer else { return Err("expected an object".to_owned()) };
        match customer.get("addresses") {
            None => Err("it has no address list".to_owned()),
            Some(Value::Array(addresses)) if addresses.iter().all(Value::is_object) => Ok(Self(customer)),
            Some(Value::Array(_)) => Err("its address list contains a non-object".to_owned()),
            Some(other) => Err(format!("its address list is {}", describe(other))),
        }
    }

    /// The customer object, every field as it came.
    pub fn customer(&self) -> &Map<String, Value> {
        &self.0
    }

    /// The stored addresses, in stored order.
    pub fn addresses(&self) -> &[Value] {
        address_list(&self.0)
    }

    /// The fields that say whose profile it is.
    pub fn owner(&self) -> Map<String, Value> {
        let names = ["id", "email", "firstname", "lastname"].into_iter();
        names.filter_map(|name| Some((name.to_owned(), self.0.get(name)?.clone()))).collect()
    }

    /// The places of texts that look masked, as a proxy or a log view shows them.
    pub fn masked(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (name, value) in &self.0 {
            find_masked(value, &|| name.clone(), &mut found);
        }
        found
    }

    /// A name for the customer that stays the same from call to call: the id, or the folded email; one name for all where the service
    /// shows neither.
    pub fn customer_key(&self) -> String {
        let email = || self.text("email").map(|email| Email::new(&email).folded());
        self.text("id").or_else(email).unwrap_or_else(|| "unnamed".to_owned())
    }

    /// A field of the customer that is a number or a text that is not empty.
    pub fn text(&self, name: &str) -> Option<String> {
        match self.0.get(name)? {
            Value::String(text) if !text.is_empty() => Some(text.clone()),
            Value::Number(number) => Some(number.to_string()),
            _ => None,
        }
    }
}

/// Adds the places of texts that look masked. `path` leads to the value and is only computed for such a text.
pub(super) fn find_masked(value: &Value, path: &dyn Fn() -> String, found: &mut Vec<String>) {
    match value {
        Value::String(text) if text.contains("***") || text.contains('@') && text.contains("**") => {
            found.push(path());
        }
        Value::Array(elements) => {
            for element in elements {
                let inside = || match own_id(element) {
                    Some(id) => format!("{}[id={id}]", path()),
                    None => path(),
                };
                find_masked(element, &inside, found);
            }
        }
        Value::Object(fields) => {
            for (name, value) in fields {
                find_masked(value, &|| format!("{}.{name}", path()), found);
            }
        }
        _ => {}
    }
}

fn customer_of(reply: Value, pointer: Option<&str>) -> Result<Map<String, Value>, String> {
    let found = match pointer {
        Some(pointer) => reply.pointer(pointer).cloned().ok_or_else(|| missing(pointer))?,
        None => reply,
    };
    let Value::Object(mut object) = found else {
        return Err(format!("it is {}", describe(&found)));
    };
    let inner = object.get("customer").and_then(|customer| customer.get("addresses"));
    if pointer.is_none() && inner.is_some() && object.contains_key("addresses") {
        return Err("ambiguous: two address lists".to_owned());
    }
    if pointer.is_none() && !object.contains_key("addresses") {
        return match object.remove("customer") {
            Some(Value::Object(customer)) => Ok(customer),
            Some(other) => Err(format!("expected a customer object, found {}", describe(&other))),
            None => Ok(object),
        };
    }
    Ok(object)
}

fn missing(pointer: &str) -> String {
    format!("nothing at `{pointer}`")
}

/// The refusal of a reply in which the complete address list cannot be identified.
pub fn unreadable(what: &str) -> Failure {
    Failure::guard(format!("cannot read the stored addresses from the response: {what}")).hint(
        "run it again with -vv to see the response, then set `read.path`, `read.customer` and `read.addresses` \
         of the profile",
    ).no_answer()
}

/// Refuses the findings of a check of a draft, except those that the stored profile settles: an unknown field that a
/// stored object has in that place, and a wrong value that is stored there, too.
///
/// The steps of the findings begin at the body, with the wrapper of the customer.
///
/// # Errors
/// `usage`, with every finding that remains.
pub fn refuse_unknown(
    findings: &[Finding],
    draft: &Map<String, Value>,
    stored: &Map<String, Value>,
) -> Result<(), Failure> {
    if findings.is_empty() {
        return Ok(());
    }
    let [draft, stored] = [draft, stored].map(|customer| Value::Object(customer.clone()));
    let left = findings.iter().filter_map(|finding| {
        let mut finding = finding.clone();
        match (finding.is_unknown, finding.steps.get(1..)) {
            (true, Some([above @ .., Step::Field(name)])) => {
                let places = stored_at(&stored, None, above);
                if places.iter().any(|place| place.get(name).is_some()) {
                    return None;
                }
                let names = places.iter().filter_map(|place| place.as_object()).flat_map(Map::keys);
                let meant = closest_match(name, names.map(String::as_str));
                if let Some(meant) = meant.filter(|_| finding.what == "unknown field") {
                    finding.what.extend(["; did you mean `", meant, "`?"]);
                }
                Some(finding)
            }
            (_, steps) => {
                let steps = steps.unwrap_or_default();
                let value = steps.iter().try_fold(&draft, below)?;
                let stored = stored_at(&stored, Some(&draft), steps);
                (!stored.iter().any(|stored| is_identical(value, stored))).then_some(finding)
            }
        }
    });
    body::refuse(&left.collect::<Vec<_>>())
}

/// The stored values in the place of a draft's: the list elements with the same id, or all if no draft is given.
fn stored_at<'a>(stored: &'a Value, draft: Option<&Value>, steps: &[Step]) -> Vec<&'a Value> {
    let Some((step, rest)) = steps.split_first() else { return vec![stored] };
    let inside = draft.and_then(|draft| below(draft, step));
    match (step, stored) {
        (Step::Element(index), Value::Array(elements)) => {
            let is_it = |(position, element): &(usize, &Value)| {
                let id = inside.and_then(own_id);
                draft.is_none() || own_id(element) == id && (id.is_some() || position == index)
            };
            let places = elements.iter().enumerate().filter(is_it);
            places.flat_map(|(_, element)| stored_at(element, inside, rest)).collect()
        }
        _ => below(stored, step).map_or_else(Vec::new, |value| stored_at(value, inside, rest)),
    }
}

fn below<'a>(value: &'a Value, step: &Step) -> Option<&'a Value> {
    match step {
        Step::Field(name) => value.get(name),
        Step::Element(index) => value.get(index),
    }
}

#[cfg(test)]
mod tests {
    mod profile {
        use serde_json::{Value, json};

        use super::super::{Pointers, Profile};
        use crate::failure::FailureKind;

        fn find(reply: Value) -> Result<Profile, crate::failure::Failure> {
            Profile::find(reply, &Pointers::default())
        }

        #[test]
        fn bare_and_wrapped_customers_are_understood() {
            let customer = json!({"id": 7, "x_unlisted": 1.50, "addresses": [{"id": 1}]});
            assert_eq!(find(customer.clone()).unwrap(), find(json!({"customer": customer})).unwrap());
            assert!(find(json!({"addresses": []})).unwrap().addresses().is_empty());
        }

        #[test]
        fn anything_else_is_refused_and_never_read_as_no_addresses() {
            for reply in [
                json!(null),
                json!([]),
                json!("<html>"),
                json!({}),
                json!({"id": 1}),
                json!({"addresses": null}),
                json!({"addresses": {}}),
                json!({"addresses": [1]}),
                json!({"customer": null}),
                json!({"customer": {"id": 1}}),
                json!({"items": [{"id": 1, "addresses": []}]}),
                json!({"customers": {"customer": {"email": "a@b"}, "addresses": []}}),
            ] {
                assert_eq!(find(reply.clone()).unwrap_err().kind, FailureKind::Guard, "{reply}");
            }
        }

        #[test]
        fn pointers_lead_to_another_services_layout() {
            let reply = json!({"data": {"user": {"email": "a@b"}, "book": [{"id": 4}]}});
            let pointers =
                Pointers { customer: Some("/data/user".into()), addresses: Some("/data/book".into()) };
            let profile = Profile::find(reply.clone(), &pointers).unwrap();
            assert_eq!(
                Value::Object(profile.customer().clone()),
                json!({"email": "a@b", "addresses": [{"id": 4}]})
            );
            assert_eq!(profile.customer_key(), "a@b");
            let astray = Pointers { addresses: Some("/data/list".into()), ..pointers };
            assert_eq!(Profile::find(reply, &astray).unwrap_err().kind, FailureKind::Guard);
        }
    }

    mod unknown_fields {
        use serde_json::{Map, Value, json};

        use super::super::refuse_unknown;
        use crate::check::body::findings;
        use crate::check::field_names::FieldNames;
        use crate::interface::dialect::MARKETPLACE;
        use crate::operation::CUSTOMER_UPDATE;

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
            let findings =
                findings(&body, CUSTOMER_UPDATE.schema(&MARKETPLACE), false, &FieldNames::default());
            let refused = refuse_unknown(&findings, &object(draft), &object(stored));
            refused.map_or_else(|failure| failure.message, |()| String::new())
        }

        #[test]
        fn what_the_stored_profile_has_is_known() {
            for draft in [
                json!({"id": 1, "created_at": "x", "gender": null}),
                json!({"extension_attributes": {"cards": [{"n": 2}], "none": [{"any": 1}]}}),
                json!({"addresses": [{"id": 1, "company": 5, "region": "Texas", "fax": "", "country_id": "usa"}]}),
                // Another address has it, and a new one may have it, too.
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
                    json!({"addresses": [{"id": 2, "country_id": "Germny"}]}),
                    "customer.addresses[0].country_id: expected a country's code of two letters or its name, \
                 found the string \"Germny\"; did you mean `Germany`?",
                ),
            ] {
                assert_eq!(refusal(draft), message);
            }
        }
    }
}
