//! The addresses of a profile and their ids.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::hint::{hint, storefront};
use crate::id::AddressId;

/// The fields of a default, at the top of a profile and in its address.
pub const DEFAULTS: [&str; 2] = ["default_billing", "default_shipping"];

/// The addresses of a customer object; none where the field is not a list.
pub fn address_list(customer: &Map<String, Value>) -> &[Value] {
    customer.get("addresses").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

/// The addresses that have an id, each with it.
pub fn addresses_by_id(addresses: &[Value]) -> impl DoubleEndedIterator<Item = (AddressId, &Value)> {
    addresses.iter().filter_map(|address| Some((own_id(address)?, address)))
}

/// The address of a customer that has this id.
pub fn find_address(customer: &Map<String, Value>, id: AddressId) -> Option<&Value> {
    address_list(customer).iter().find(|address| own_id(address) == Some(id))
}

/// Where each address id stands in a list: the ids, in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AddressIndex {
    ids: Vec<AddressId>,
    positions: HashMap<AddressId, usize>,
}

impl AddressIndex {
    /// Reads the ids off a stored list.
    ///
    /// # Errors
    /// `guard` when an address has no id, one that is not an integer (or integer text), or one that another has too:
    /// replacing such a list would lose ids.
    pub fn of<'a>(addresses: impl IntoIterator<Item = &'a Value>) -> Result<Self, Failure> {
        let mut index = Self { ids: Vec::new(), positions: HashMap::new() };
        for address in addresses {
            let id = address.get("id").unwrap_or(&Value::Null);
            let what = match AddressId::of(id) {
                None => format!("stored address {} has an invalid ID ({id})", index.ids.len() + 1),
                Some(id) if index.contains(id) => format!("duplicate stored address ID {id}"),
                Some(id) => {
                    index.positions.insert(id, index.ids.len());
                    index.ids.push(id);
                    continue;
                }
            };
            return Err(Failure::guard(format!("{what}; replacing the list would lose an address"))
                .hint(hint!(
                    "inspect it with ",
                    storefront("customer show -o json"),
                    " and fix it in the service first"
                ))
                .no_answer());
        }
        Ok(index)
    }

    /// Position of an id in the list.
    pub fn position(&self, id: AddressId) -> Option<usize> {
        self.positions.get(&id).copied()
    }

    /// Whether the list has this id.
    pub fn contains(&self, id: AddressId) -> bool {
        self.positions.contains_key(&id)
    }

    /// The ids in the list's order.
    pub fn ids(&self) -> &[AddressId] {
        &self.ids
    }

    /// Looks up an id that the user named.
    ///
    /// # Errors
    /// `guard` when the profile has no such address: the service would create one or reject the call.
    pub fn find(&self, id: AddressId) -> Result<usize, Failure> {
        self.position(id).ok_or_else(|| {
            let stored = match self.ids() {
                [] => "the profile has no addresses".to_owned(),
                [one] => format!("the profile has address {one}"),
                ids => format!("the profile has addresses {}", join_ids(ids)),
            };
            let hint = hint!(
                "list the addresses with ",
                storefront("customer show"),
                ", or add one with --add-address"
            );
            Failure::guard(format!("no address {id} ({stored})")).hint(hint).for_good()
        })
    }
}

/// The id of an address.
pub fn own_id(address: &Value) -> Option<AddressId> {
    AddressId::of(address.get("id")?)
}

fn list(ids: &[impl std::fmt::Display]) -> String {
    ids.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Ids as a sentence has them: `1, 2 and 3`; of more than 20 only the first 10, and how many more there are.
pub fn join_ids(ids: &[impl std::fmt::Display]) -> String {
    const MOST: usize = 20;
    const FIRST: usize = 10;
    match ids {
        [] => String::new(),
        [one] => one.to_string(),
        many if many.len() > MOST => format!("{} and {} more", list(&many[..FIRST]), many.len() - FIRST),
        [first @ .., last] => format!("{} and {last}", list(first)),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::failure::FailureKind;
    use crate::id::AddressId;
    use crate::profile::address::AddressIndex;

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
        assert_eq!(
            (roster.position(AddressId(12)), roster.ids()),
            (Some(0), [AddressId(12), AddressId(3)].as_slice())
        );
        assert!(roster.find(AddressId(4)).unwrap_err().message.contains("12 and 3"));
    }
}
