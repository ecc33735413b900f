//! "Did you mean …?" by meaning: what the files of shops and of other programs call a field (Magento's import and export,
//! Akeneo, Shopify), before what is spelled nearly the same.

use crate::text::suggestion::closest_match;

/// Each line has a name and what it means here, the preferred meaning first; `-` if it means nothing here, however near
/// its spelling is. The names of Magento's sample files are first.
const SYNONYMS: &str = include_str!("synonyms.tsv");

/// Never suggested for a similar spelling: another field would become a credential or somebody's account, or a column
/// that only an export has.
const NEVER_BY_SPELLING: [&str; 5] = ["token", "email", "id", "customer_email", "exported"];

/// The known name that is meant by one that is not known.
pub fn suggest<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let known: Vec<&str> = known.into_iter().collect();
    if let Some(field) = of_address(typed) {
        let meanings = meanings(&field).unwrap_or(&field);
        // The name in an address is another field than that of the account.
        let meant = |meaning: &str| {
            let named = format!("address_{meaning}");
            known
                .iter()
                .find(|known| **known == named)
                .or_else(|| known.iter().find(|known| **known == meaning))
        };
        return meanings.split(' ').find_map(meant).copied();
    }
    match meanings(typed) {
        Some(_) => by_meaning(typed, known),
        None => closest_match(typed, known.into_iter().filter(|name| !NEVER_BY_SPELLING.contains(name))),
    }
}

/// The known name that the table has for one that is not known.
pub fn by_meaning<'a>(typed: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let known: Vec<&str> = known.into_iter().collect();
    let mut meanings = meanings(typed)?.split(' ');
    meanings.find_map(|meaning| known.iter().find(|known| **known == meaning).copied())
}

/// Prefixes of the fields of an address in the exports of Shopify and WooCommerce, and in Magento's import.
const OF_ADDRESS: [&str; 4] = ["default_address_", "_address_", "billing_address_", "billing_"];

/// Whether a name of another program is that of the second line of a street.
pub fn second_street_line(typed: &str) -> bool {
    let plain = plain(typed);
    let inside = OF_ADDRESS.iter().find_map(|prefix| plain.strip_prefix(prefix));
    let field = inside.unwrap_or(&plain);
    inside == Some("2")
        || ["street2", "street_2", "address2", "address_2", "address_line_2", "street_line_2"]
            .contains(&field)
}

/// The field of an address in another program's name, which has a prefix before it.
fn of_address(typed: &str) -> Option<String> {
    let plain = plain(typed);
    let field = OF_ADDRESS.iter().find_map(|prefix| plain.strip_prefix(prefix))?;
    let field = if matches!(field, "1" | "2") { "street" } else { field };
    (meanings(typed).is_none() && !plain.contains("address_default")).then(|| field.to_owned())
}

/// A leading `_` counts: `_email` is another column than `email`.
fn plain(name: &str) -> String {
    name.trim().to_lowercase().replace([' ', '-', '.'], "_")
}

/// What a name of another program means here.
fn meanings(typed: &str) -> Option<&'static str> {
    let exact = plain(typed);
    let bare = plain(typed).replace('_', "");
    let mut lines = SYNONYMS.lines().filter_map(|line| line.split_once('\t'));
    let found = lines.clone().find(|(name, _)| *name == exact);
    found
        .or_else(|| lines.find(|(name, _)| !name.starts_with('_') && name.replace('_', "") == bare))
        .map(|it| it.1)
}

#[cfg(test)]
mod tests {
    use super::{NEVER_BY_SPELLING, SYNONYMS, suggest};

    #[test]
    fn names_of_other_programs_are_understood_and_credentials_are_never_suggested() {
        let known = [
            "customer",
            "token",
            "email",
            "postcode",
            "telephone",
            "qty",
            "default_frontend_label",
            "frontend_class",
            "frontend_input",
            "address_id",
            "vat_id",
        ];
        for (typed, meant) in [
            ("Zip", Some("postcode")),
            ("postal code", Some("postcode")),
            ("PhoneNumber", Some("telephone")),
            ("quantity", Some("qty")),
            ("frontend_label", Some("default_frontend_label")),
            ("_email", Some("customer")),
            ("_entity_id", Some("address_id")),
            ("VAT Number", Some("vat_id")),
            ("rp_token", None),
            ("tokens", None),
            ("e-mails", None),
            ("password_hash", None),
            ("_website", None),
            ("postcod", Some("postcode")),
        ] {
            assert_eq!(suggest(typed, known), meant, "{typed}");
        }
    }

    #[test]
    fn the_address_of_another_program_is_understood_by_its_prefix_and_never_by_spelling() {
        let known = [
            "customer_id",
            "postcode",
            "region",
            "region_code",
            "country_id",
            "street",
            "address_lastname",
            "address_prefix",
            "lastname",
            "telephone",
        ];
        for (typed, meant) in [
            ("_address_postcode", Some("postcode")),
            ("_address_region", Some("region")),
            ("_address_lastname", Some("address_lastname")),
            ("Default Address Zip", Some("postcode")),
            ("Default Address Address1", Some("street")),
            ("Default Address Province Code", Some("region_code")),
            ("billing_postcode", Some("postcode")),
            ("billing_address_2", Some("street")),
            ("billing_last_name", Some("address_lastname")),
            ("state_id/code", Some("region_code")),
            ("State/Province", Some("region")),
            ("user_email", None),
            ("_address_postcoed", None),
            ("street2", None),
            ("Customer Since", None),
        ] {
            assert_eq!(suggest(typed, known), meant, "{typed}");
        }
    }

    #[test]
    fn the_table_names_each_word_once_and_no_credential() {
        let mut names: Vec<&str> = Vec::new();
        for line in SYNONYMS.lines() {
            let (name, meanings) = line.split_once('\t').unwrap();
            assert!(!names.contains(&name) && name == name.to_lowercase(), "{name}");
            assert!(meanings.split(' ').all(|meaning| !NEVER_BY_SPELLING.contains(&meaning)), "{name}");
            names.push(name);
        }
    }
}
