//! What a person calls the fields of a profile: the same words in forms, differences, results and histories. JSON keeps the
//! names.

/// The fields that have words of their own; others go by their names.
static LABELS: [(&str, &str); 34] = [
    ("id", "ID"),
    ("customer_id", "Customer ID"),
    ("email", "Email address"),
    ("prefix", "Prefix"),
    ("firstname", "First name"),
    ("middlename", "Middle name"),
    ("lastname", "Last name"),
    ("suffix", "Suffix"),
    ("dob", "Date of birth"),
    ("taxvat", "Tax or VAT number"),
    ("gender", "Gender"),
    ("group_id", "Customer group"),
    ("store_id", "Store"),
    ("website_id", "Website"),
    ("disable_auto_group_change", "Disable auto group change"),
    ("confirmation", "Confirmation"),
    ("created_at", "Created at"),
    ("created_in", "Created in"),
    ("updated_at", "Updated at"),
    ("is_subscribed", "Newsletter"),
    ("addresses", "Addresses"),
    ("company", "Company"),
    ("street", "Street"),
    ("city", "City"),
    ("postcode", "Postcode"),
    ("region", "Region"),
    ("region_code", "Region code"),
    ("region_id", "Region ID"),
    ("country_id", "Country"),
    ("telephone", "Telephone number"),
    ("fax", "Fax number"),
    ("vat_id", "VAT number"),
    ("default_billing", "Default billing"),
    ("default_shipping", "Default shipping"),
];

/// What a person calls a field of a profile or an address.
pub fn label(name: &str) -> &str {
    LABELS.iter().find(|(own, _)| *own == name).map_or(name, |(_, label)| label)
}

#[cfg(test)]
mod tests {
    use super::label;
    use crate::interface::fields::{MAGENTO_FIELDS, MARKETPLACE_FIELDS};

    #[test]
    fn every_documented_field_of_a_profile_has_words() {
        let tables = [&*MARKETPLACE_FIELDS, &*MAGENTO_FIELDS];
        let objects = tables.into_iter().flat_map(|tables| [tables.customer, tables.address, tables.region]);
        let names = objects.flat_map(|object| object.own_fields).map(|field| field.name);
        let without: Vec<&str> = names.filter(|name| label(name) == *name).collect();
        let containers = ["custom_attributes", "extension_attributes"];
        assert!(without.iter().all(|name| containers.contains(name)), "{without:?}");
    }
}
