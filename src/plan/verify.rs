//! The read-back held against what was sent.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::diff::{self, Change};
use super::merge::Merged;
use super::profile::Profile;
use super::roster::Roster;
use crate::failure::Failure;

/// What a read-back shows.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadBack {
    /// Ids of addresses that were to stay and are gone.
    pub missing: Vec<i64>,
    /// Changes whose old value is still there.
    pub undone: Vec<Change>,
    /// Changes that arrived otherwise than sent (the service trimmed or completed them): `after` is what is there now.
    pub altered: Vec<Change>,
    /// What changed or went beside the changes that were sent: the service's doing, or somebody else's.
    pub beside: Vec<Change>,
    /// How many changes arrived as they were sent.
    pub arrived: usize,
    /// Ids given to new addresses, in stored order.
    pub new_ids: Vec<i64>,
}

impl ReadBack {
    /// Whether every address that was to stay is there and no change is undone.
    pub fn is_sound(&self) -> bool {
        self.missing.is_empty() && self.undone.is_empty()
    }

    /// Whether the profile shows nothing of what was sent.
    pub fn is_untouched(&self) -> bool {
        self.altered.is_empty() && self.arrived == 0
    }
}

/// Holds the profile read back against the merged one that was sent.
///
/// `ignore` are the JSON pointers of the setting `read.ignore`: changes there are not looked at.
///
/// # Errors
/// `guard` when the list read back has an address without a usable id of its own.
pub fn read_back(sent: &Merged, now: &Profile, ignore: &[String]) -> Result<ReadBack, Failure> {
    let roster = Roster::of(now.addresses())?;
    let staying = sent.tally.kept.iter().chain(&sent.tally.changed).copied();
    let known: HashSet<i64> = staying.clone().chain(sent.tally.removed.iter().copied()).collect();
    let mut found = ReadBack {
        missing: staying.filter(|id| !roster.has(*id)).collect(),
        new_ids: roster.ids().iter().copied().filter(|id| !known.contains(id)).collect(),
        beside: beside(sent, now, ignore),
        ..ReadBack::default()
    };
    let mut unclaimed: Vec<&Value> =
        found.new_ids.iter().filter_map(|id| now.addresses().get(roster.position(*id)?)).collect();
    let mut unequal = Vec::new();
    for change in &sent.changes {
        let gone = change.path.address_id().is_some_and(|id| found.missing.contains(&id));
        if gone || ignore.iter().any(|pointer| change.path.is_at(pointer)) {
            continue;
        }
        if !change.path.is_new_address() {
            found.hold(change, change.path.find(now.customer(), &roster));
        } else if !found.claim_equal(change, &mut unclaimed) {
            unequal.push(change);
        }
    }
    for change in unequal {
        found.claim_any(change, &mut unclaimed);
    }
    Ok(found)
}

/// Differences in what was sent back unchanged. What the service adds is no loss.
fn beside(sent: &Merged, now: &Profile, ignore: &[String]) -> Vec<Change> {
    let mut expected = diff::without(&sent.customer, ignore);
    if let Some(Value::Array(addresses)) = expected.get_mut("addresses") {
        addresses.retain(|address| address.get("id").is_some());
    }
    let mut changes = diff::customers(&expected, &diff::without(now.customer(), ignore));
    let asked = |change: &Change| sent.changes.iter().any(|asked| asked.path.overlaps(&change.path));
    changes.retain(|change| change.before.is_some() && !change.path.is_address() && !asked(change));
    changes
}

impl ReadBack {
    /// Finds a new address among those that appeared: one that has all that was sent.
    fn claim_equal(&mut self, change: &Change, unclaimed: &mut Vec<&Value>) -> bool {
        let sent = change.after.as_ref().and_then(Value::as_object);
        let equal = unclaimed.iter().position(|there| sent.is_some_and(|sent| has_all(there, sent)));
        if let Some(position) = equal {
            unclaimed.remove(position);
            self.arrived += 1;
        }
        equal.is_some()
    }

    /// Takes any address that appeared for a new one that came out otherwise than sent.
    fn claim_any(&mut self, change: &Change, unclaimed: &mut Vec<&Value>) {
        if unclaimed.is_empty() {
            self.undone.push(change.clone());
        } else {
            self.altered.push(Change { after: Some(unclaimed.remove(0).clone()), ..change.clone() });
        }
    }

    fn hold(&mut self, change: &Change, now: Option<&Value>) {
        if now == change.after.as_ref() {
            self.arrived += 1;
        } else if now == change.before.as_ref() {
            self.undone.push(change.clone());
        } else {
            self.altered.push(Change { after: now.cloned(), ..change.clone() });
        }
    }
}

fn has_all(there: &Value, sent: &Map<String, Value>) -> bool {
    sent.iter().all(|(name, value)| there.get(name) == Some(value))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{ReadBack, read_back};
    use crate::plan::merge::{Wish, merge};
    use crate::plan::profile::{Pointers, Profile};

    fn held(stored: &Value, wish: &Wish, now: Value) -> ReadBack {
        let merged = merge(stored.as_object().unwrap().clone(), wish).unwrap();
        let now = Profile::find(now, &Pointers::default()).unwrap();
        read_back(&merged, &now, &["/updated_at".to_owned()]).unwrap()
    }

    fn wish(draft: &Value) -> Wish {
        Wish { draft: draft.as_object().unwrap().clone(), ..Wish::default() }
    }

    #[test]
    fn a_kept_address_that_is_gone_is_missing() {
        let stored = json!({"addresses": [{"id": 1}, {"id": 2, "city": "Paris"}]});
        let change = wish(&json!({"addresses": [{"id": 2, "city": "Lyon"}]}));
        let found = held(&stored, &change, json!({"addresses": [{"id": 2, "city": "Lyon"}]}));
        assert_eq!((found.missing.as_slice(), found.arrived, found.is_sound()), ([1].as_slice(), 1, false));
    }

    #[test]
    fn old_new_and_third_values_are_told_apart() {
        let stored = json!({"email": "a", "addresses": [{"id": 2, "city": "Paris", "postcode": "1"}]});
        let change = wish(&json!({"email": "b", "addresses": [{"id": 2, "city": "Lyon ", "postcode": "2"}]}));
        let found = held(
            &stored,
            &change,
            json!({"email": "a", "addresses": [{"id": 2, "city": "Lyon", "postcode": "2"}]}),
        );
        let paths =
            |changes: &[super::Change]| changes.iter().map(|c| c.path.to_string()).collect::<Vec<_>>();
        assert_eq!(paths(&found.undone), ["email"]);
        assert_eq!(paths(&found.altered), ["addresses[id=2].city"]);
        assert_eq!(found.arrived, 1);
        let untouched = held(&stored, &change, stored.clone());
        assert!(untouched.is_untouched() && !untouched.is_sound());
    }

    #[test]
    fn new_addresses_are_found_by_what_was_sent() {
        let stored = json!({"addresses": [{"id": 1}]});
        let change = wish(&json!({"addresses": [{"city": "Lyon"}, {"city": "Nice"}]}));
        let now = json!({"addresses": [{"id": 1}, {"id": 8, "city": "Nice", "customer_id": 1}, {"id": 9, "city": "LYON"}]});
        let found = held(&stored, &change, now);
        assert_eq!((found.new_ids.as_slice(), found.arrived, found.altered.len()), ([8, 9].as_slice(), 1, 1));
        let lacking = held(&stored, &change, json!({"addresses": [{"id": 1}, {"id": 8, "city": "Nice"}]}));
        assert_eq!(lacking.undone.len(), 1);
    }

    #[test]
    fn an_address_that_should_be_gone_and_is_not_is_undone() {
        let stored = json!({"addresses": [{"id": 1}, {"id": 2}]});
        let removal = Wish { remove: vec![2], ..Wish::default() };
        assert_eq!(held(&stored, &removal, stored.clone()).undone.len(), 1);
        assert!(held(&stored, &removal, json!({"addresses": [{"id": 1}]})).is_sound());
    }
}
