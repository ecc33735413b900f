//! The ids of a stored address list: replacing it is safe only when each address has one of its own.

use std::collections::HashMap;

use serde_json::Value;

use crate::failure::Failure;

/// Where each address id stands in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddressIndex {
    position: HashMap<i64, usize>,
    in_order: Vec<i64>,
}

impl AddressIndex {
    /// Reads the ids off a stored list.
    ///
    /// # Errors
    /// `guard` when an address has no id, one that is no integer (or integer text), or one that another has too:
    /// replacing such a list would lose ids.
    pub fn of<'a>(addresses: impl IntoIterator<Item = &'a Value>) -> Result<Self, Failure> {
        let mut roster = Self::default();
        for (index, address) in addresses.into_iter().enumerate() {
            let id = address.get("id").unwrap_or(&Value::Null);
            let Some(id) = id_of(id) else {
                return Err(unsafe_list_error(&format!(
                    "stored address {} has an invalid ID ({id})",
                    index + 1
                )));
            };
            if roster.position.insert(id, index).is_some() {
                return Err(unsafe_list_error(&format!("duplicate stored address ID {id}")));
            }
            roster.in_order.push(id);
        }
        Ok(roster)
    }

    /// Position of an id in the list.
    pub fn position(&self, id: i64) -> Option<usize> {
        self.position.get(&id).copied()
    }

    /// Whether the list has this id.
    pub fn contains(&self, id: i64) -> bool {
        self.position.contains_key(&id)
    }

    /// The ids in the list's order.
    pub fn ids(&self) -> &[i64] {
        &self.in_order
    }

    /// Looks up an id that the user named.
    ///
    /// # Errors
    /// `guard` when the profile has no such address: the service would create one or reject the call.
    pub fn find(&self, id: i64) -> Result<usize, Failure> {
        self.position(id).ok_or_else(|| {
            let stored = match self.in_order.as_slice() {
                [] => "the profile has no addresses".to_owned(),
                ids => format!("the profile has {}", join_ids(ids)),
            };
            Failure::guard(format!("no address {id} ({stored})"))
                .hint("`storefront customer show` lists the addresses; --add-address adds one")
                .needs_correction()
        })
    }
}

/// An address id: an integer, or integer text. `None` for anything else.
pub fn id_of(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64(),
        // `parse` takes a plus sign too, which no id has.
        Value::String(text) => text.parse().ok().filter(|_| !text.starts_with('+')),
        _ => None,
    }
}

/// Ids as a sentence has them: `1, 2 and 3`.
pub fn join_ids(ids: &[i64]) -> String {
    match ids {
        [] => String::new(),
        [one] => one.to_string(),
        [first @ .., last] => {
            let first: Vec<_> = first.iter().map(ToString::to_string).collect();
            format!("{} and {last}", first.join(", "))
        }
    }
}

fn unsafe_list_error(what: &str) -> Failure {
    Failure::guard(format!("{what}; replacing the list would lose an address"))
        .hint("inspect it with `storefront customer show -o json` and fix it in the service first")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use crate::failure::FailureKind;
    use crate::plan::profile::address_ids::AddressIndex;

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
        assert_eq!((roster.position(12), roster.ids()), (Some(0), [12, 3].as_slice()));
        assert!(roster.find(4).unwrap_err().message.contains("12 and 3"));
    }
}
