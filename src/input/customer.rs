//! `customer update`: flags over a customer draft (interface 2.3).

use serde_json::{Map, Value, json};

use super::Overlay;
use crate::cli::customer::UpdateArgs;
use crate::failure::Failure;
use crate::plan::member::set_member;
use crate::plan::roster::id_of;

impl Overlay for UpdateArgs {
    fn lay_over(&self, inner: &mut Map<String, Value>) -> Result<(), Failure> {
        inner.extend(self.profile.named.clone());
        let named = self.address_members();
        if self.address.is_none() && !self.add_address {
            return if named.is_empty() { Ok(()) } else { Err(which_address()) };
        }
        if named.is_empty() {
            return Err(Failure::usage("no member of the address is named; nothing was sent")
                .hint("give at least one of --street, --city, --postcode, --telephone and their like"));
        }
        let addresses = inner.entry("addresses").or_insert_with(|| Value::Array(Vec::new()));
        let Value::Array(addresses) = addresses else { return Ok(()) };
        match self.address {
            None => addresses.push(Value::Object(named)),
            Some(id) => {
                let own = addresses.iter_mut().find(|address| address.get("id").and_then(id_of) == Some(id));
                match own.and_then(Value::as_object_mut) {
                    Some(address) => named.iter().for_each(|(name, value)| set_member(address, name, value)),
                    None => addresses.push(with_id(id, named)),
                }
            }
        }
        Ok(())
    }
}

impl UpdateArgs {
    fn address_members(&self) -> Map<String, Value> {
        let mut named = self.members.named.clone();
        if !self.custom_attributes.is_empty() {
            let attribute =
                |(code, value): &(String, String)| json!({"attribute_code": code, "value": value});
            named.insert(
                "custom_attributes".to_owned(),
                self.custom_attributes.iter().map(attribute).collect(),
            );
        }
        named
    }
}

fn with_id(id: i64, named: Map<String, Value>) -> Value {
    let mut address = Map::from_iter([("id".to_owned(), Value::from(id))]);
    address.extend(named);
    Value::Object(address)
}

fn which_address() -> Failure {
    Failure::usage("members of an address are named, but not which address they belong to; nothing was sent")
        .hint("add --address ID to change a stored address, or --add-address; `storefront customer show` lists the ids")
}
