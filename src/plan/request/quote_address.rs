//! A stored profile address as a quote takes it (docs/interface.md, "Address"): which fields carry over is
//! ours.

use serde_json::{Map, Value};

use crate::failure::Failure;
use crate::plan::profile::diff::AddressIndex;
use crate::plan::profile::stored::Profile;
use crate::wire::ObjectSchema;

/// Fields that mean something else in the two kinds of address.
const NOT_SHARED: &[&str] =
    &["id", "custom_attributes", "extension_attributes", "same_as_billing", "save_in_address_book"];

/// The `fields` the interface lists for a quote's address, from the stored address with this id; the e-mail address
/// comes from the profile, everything else is left behind. A region, an object in a profile, becomes its texts.
///
/// # Errors
/// `guard` when the profile has no such address, or its list is not safe to read ids from.
pub fn from_profile(
    profile: &Profile,
    id: i64,
    fields: &ObjectSchema,
) -> Result<Map<String, Value>, Failure> {
    let position = AddressIndex::of(profile.addresses())?
        .find(id)
        .map_err(|failure| failure.hint("list the addresses with `storefront customer show`"))?;
    let stored = &profile.addresses()[position];
    let mut address = Map::new();
    for member in fields.own_fields.iter().filter(|member| !NOT_SHARED.contains(&member.name)) {
        let value = match member.name {
            "email" => profile.customer().get("email"),
            "region" | "region_code" => stored
                .get("region")
                .and_then(|region| region.get(member.name))
                .or_else(|| stored.get(member.name)),
            "region_id" => stored.get("region_id").or_else(|| stored.pointer("/region/region_id")),
            name => stored.get(name),
        };
        if let Some(value) = value {
            address.insert(member.name.to_owned(), value.clone());
        }
    }
    Ok(address)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::from_profile;
    use crate::plan::profile::stored::{Pointers, Profile};
    use crate::wire::QUOTE_ADDRESS;

    #[test]
    fn listed_fields_carry_over_and_nothing_else() {
        let reply = json!({"email": "a@b", "addresses": [{"id": 3, "customer_id": 1, "company": "X", "city": "Oslo",
            "postcode": null, "region": {"region": "Viken", "region_id": 9}, "default_billing": true}]});
        let profile = Profile::find(reply, &Pointers::default()).unwrap();
        let address = Value::Object(from_profile(&profile, 3, &QUOTE_ADDRESS).unwrap());
        assert_eq!(
            address,
            json!({"customer_id": 1, "region_id": 9, "postcode": null, "city": "Oslo", "email": "a@b"})
        );
        assert!(from_profile(&profile, 4, &QUOTE_ADDRESS).is_err());
    }
}
