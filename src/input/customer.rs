//! `customer update`: flags over a customer draft (docs/interface.md, "Profile").

use serde_json::{Map, Value, json};

use crate::cli::customer::UpdateArgs;
use crate::failure::Failure;
use crate::input::FlagOverrides;
use crate::plan::profile::diff::id_of;
use crate::plan::profile::merge::set_field;
use crate::plan::profile::patch::DefaultAddress;

impl FlagOverrides for UpdateArgs {
    fn apply(&self, inner: &mut Map<String, Value>) -> Result<(), Failure> {
        inner.extend(self.profile.named.clone());
        let named = self.address_members();
        if self.address.is_none() && !self.add_address {
            return if named.is_empty() { Ok(()) } else { Err(which_address()) };
        }
        let defaults = self.default_address().into_iter().flat_map(DefaultAddress::names).count();
        if named.is_empty() || self.add_address && named.len() == defaults {
            return Err(
                Failure::usage("no address field given").hint("set at least one, e.g. --street or --city")
            );
        }
        let addresses = inner.entry("addresses").or_insert_with(|| Value::Array(Vec::new()));
        if !addresses.is_array() {
            *addresses = Value::Array(Vec::new());
        }
        let Value::Array(addresses) = addresses else { return Ok(()) };
        match self.address {
            None => addresses.push(Value::Object(named)),
            Some(id) => {
                let own = addresses.iter_mut().find(|address| address.get("id").and_then(id_of) == Some(id));
                match own.and_then(Value::as_object_mut) {
                    Some(address) => override_fields(address, &named),
                    None => addresses.push(with_id(id, named)),
                }
            }
        }
        Ok(())
    }

    fn customer(&self) -> Option<&str> {
        self.choice.customer.as_deref()
    }
}

impl UpdateArgs {
    /// The address that the flags make a default.
    pub fn default_address(&self) -> Option<DefaultAddress> {
        (self.default_shipping || self.default_billing).then_some(DefaultAddress {
            address: self.address,
            shipping: self.default_shipping,
            billing: self.default_billing,
        })
    }

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
        let defaults = self.default_address().into_iter().flat_map(DefaultAddress::names);
        named.extend(defaults.map(|name| (name.to_owned(), true.into())));
        named
    }
}

/// Sets the fields that flags name in an address of the input.
fn override_fields(address: &mut Map<String, Value>, named: &Map<String, Value>) {
    // The region id of the input may stand in the other place, and would contradict that of the flag.
    if named.get("region").and_then(|region| region.get("region_id")).is_some() {
        address.shift_remove("region_id");
    }
    named.iter().for_each(|(name, value)| set_field(address, name, value));
}

fn with_id(id: i64, named: Map<String, Value>) -> Value {
    let mut address = Map::from_iter([("id".to_owned(), Value::from(id))]);
    address.extend(named);
    Value::Object(address)
}

fn which_address() -> Failure {
    Failure::usage("address fields given without an address")
        .hint("use --address ID or --add-address; `storefront customer show` lists the IDs")
}
