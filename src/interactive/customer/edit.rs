//! What was edited in one or more forms: one draft, for one update.

use serde_json::{Map, Value};

use crate::plan::profile::merge::DefaultAddress;

/// What was edited.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Edit {
    /// The edited fields of the customer, the addresses in its list (docs/interface.md, "Profile"); empty where nothing
    /// was edited.
    pub draft: Map<String, Value>,
    /// The addresses that become defaults.
    pub default_addresses: Vec<DefaultAddress>,
}

impl Edit {
    /// Adds what was edited in another form.
    pub fn add(&mut self, other: Self) {
        for (name, value) in other.draft {
            match (self.draft.get_mut(&name), value) {
                (Some(Value::Array(addresses)), Value::Array(more)) => addresses.extend(more),
                (_, value) => {
                    self.draft.insert(name, value);
                }
            }
        }
        self.default_addresses.extend(other.default_addresses);
    }

    /// The same as edits that a command line can say: each has one address that becomes a default, at most.
    pub(super) fn split(mut self) -> Vec<Self> {
        let is_alone = |edit: &Self| edit.addresses().len() < 2;
        let mut split = Vec::new();
        let mut kept = None;
        for default in std::mem::take(&mut self.default_addresses) {
            if kept.is_none() && (default.address.is_some() || is_alone(&self)) {
                kept = Some(default);
                continue;
            }
            let Some(mut address) = self.take_fields(default) else { continue };
            address.extend(default.address.map(|id| ("id".to_owned(), id.into())));
            let draft = Map::from_iter([("addresses".to_owned(), vec![address].into())]);
            split.push(Self { draft, default_addresses: vec![default] });
        }
        self.default_addresses.extend(kept);
        if !self.draft.is_empty() {
            split.insert(0, self);
        }
        split
    }

    fn addresses(&self) -> &[Value] {
        self.draft.get("addresses").and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// Takes the fields out that make a stored address the default, or all of a new address.
    fn take_fields(&mut self, default: DefaultAddress) -> Option<Map<String, Value>> {
        let addresses = self.draft.get_mut("addresses")?.as_array_mut()?;
        let id = |address: &Value| address.get("id").and_then(Value::as_i64);
        let position = addresses.iter().position(|address| id(address) == default.address)?;
        let address = addresses[position].as_object_mut()?;
        let taken = match default.address {
            None => std::mem::take(address),
            Some(_) => default.names().filter_map(|name| address.shift_remove_entry(name)).collect(),
        };
        if address.keys().all(|name| name == "id") {
            addresses.remove(position);
        }
        if addresses.is_empty() {
            self.draft.shift_remove("addresses");
        }
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{DefaultAddress, Edit};

    #[test]
    fn edits_of_two_addresses_are_one_and_their_defaults_are_split() {
        let default = |address, shipping| DefaultAddress { address, shipping, billing: !shipping };
        let edit = |address: serde_json::Value, default_addresses| Edit {
            draft: json!({"addresses": [address]}).as_object().unwrap().clone(),
            default_addresses,
        };
        let mut joined =
            edit(json!({"id": 1, "city": "Lyon", "default_shipping": true}), vec![default(Some(1), true)]);
        joined.add(edit(json!({"city": "Rome", "default_billing": true}), vec![default(None, false)]));
        let drafts: Vec<_> = joined.split().into_iter().map(|edit| json!(edit.draft["addresses"])).collect();
        assert_eq!(
            drafts,
            [
                json!([{"id": 1, "city": "Lyon", "default_shipping": true}]),
                json!([{"city": "Rome", "default_billing": true}])
            ]
        );
        let mut joined = edit(json!({"id": 1, "default_shipping": true}), vec![default(Some(1), true)]);
        joined.add(edit(
            json!({"id": 2, "city": "Rome", "default_billing": true}),
            vec![default(Some(2), false)],
        ));
        let drafts: Vec<_> = joined.split().into_iter().map(|edit| json!(edit.draft["addresses"])).collect();
        assert_eq!(
            drafts,
            [
                json!([{"id": 1, "default_shipping": true}, {"id": 2, "city": "Rome"}]),
                json!([{"id": 2, "default_billing": true}])
            ]
        );
    }
}
