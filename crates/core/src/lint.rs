//! Refuses what cannot work before it is sent, and warns of what is unusual: addresses, attributes, cart items. What
//! the interface itself shows as wrong is refused by [`crate::check::body`].

use std::collections::{BTreeMap, HashSet};

use jiff::civil::Date;
use regex_lite::Regex;
use serde_json::{Map, Value};

use crate::attribute::label::{alike, alike_in_words, key};
use crate::attribute::rules::{FRONTEND_INPUTS, FrontendInput, NOT_FILTERABLE, is_valid_code, label_problem};
use crate::check::accepted::{self, Refused, Version};
use crate::check::body::Warnings;
use crate::check::country::{Country, unknown_country};
use crate::check::field_names::FieldNames;
use crate::failure::Failure;
use crate::hint::{hint, storefront};
use crate::id::AddressId;
use crate::interface::dialect::Dialect;
use crate::interface::fields::{MAGENTO_FIELDS, MARKETPLACE_FIELDS, UNKNOWN};
use crate::profile::address::{address_list, addresses_by_id, own_id};
use crate::profile::equal::{same_flag, same_value};
use crate::profile::merge::Merged;
use crate::text::sanitize::quoted;

/// Fewest and most digits of a telephone number: five for a short national one, fifteen by E.164.
const DIGITS: std::ops::RangeInclusive<usize> = 5..=15;

/// What Magento requires of an address.
pub const REQUIRED: [&str; 6] = ["firstname", "lastname", "street", "city", "country_id", "telephone"];

/// Warnings about the addresses that a profile update adds or changes. A field that stays as it is stored is not
/// checked.
pub fn of_profile(merged: &Merged, dialect: &Dialect) -> Warnings {
    let mut changed: BTreeMap<AddressId, Vec<String>> = BTreeMap::new();
    let mut warnings = Vec::new();
    for change in &merged.changes {
        match (change.path.address_id(), &change.after) {
            (None, Some(Value::Object(new))) if change.path.is_new_address() => {
                warnings.extend(missing_fields(merged, new, dialect));
                warnings.extend(lint("the new address", new, |_| true));
                warnings.extend(long_street("the new address", new.get("street"), None));
            }
            (None, Some(_)) if change.path.inside() == "email" => {
                warnings.extend(lint("the profile", &merged.customer, |name| name == "email"));
            }
            (Some(id), Some(after)) => {
                if change.path.inside() == "street" {
                    let label = format!("address {id}");
                    warnings.extend(long_street(&label, Some(after), change.before.as_ref()));
                }
                changed.entry(id).or_default().push(change.path.inside());
            }
            _ => {}
        }
    }
    for (id, address) in addresses_by_id(address_list(&merged.customer)) {
        if let (Some(named), Some(address)) = (changed.get(&id), address.as_object()) {
            let label = format!("address {id}");
            let is_named = |name: &str| named.iter().any(|it| it == name);
            warnings.extend(lint(&label, address, is_named));
        }
    }
    warnings
}

/// Warnings about what a record of a batch sets, before the profile is read: in the words of [`of_profile`], which knows the
/// country of a stored address and what stays as it is.
pub fn of_draft(fields: &Map<String, Value>) -> Warnings {
    let own = lint("the profile", fields, |name| name == "email");
    let addresses = address_list(fields).iter().filter_map(|address| {
        let label =
            own_id(address).map_or_else(|| "the new address".to_owned(), |id| format!("address {id}"));
        let address = address.as_object()?;
        let mut warnings = lint(&label, address, |_| true);
        warnings.extend(long_street(&label, address.get("street"), None));
        Some(warnings)
    });
    own.into_iter().chain(addresses.flatten()).collect()
}

/// What a new address lacks. A name that was given for the customer was perhaps meant for the address.
fn missing_fields(merged: &Merged, new: &Map<String, Value>, dialect: &Dialect) -> Warnings {
    let is_changed = |name: &str| merged.changes.iter().any(|change| change.path.to_string() == name);
    let missing = REQUIRED.into_iter().filter(|name| !new.contains_key(*name));
    let (misplaced, missing): (Vec<&str>, Vec<&str>) =
        missing.partition(|name| name.ends_with("name") && is_changed(name));
    let what = "this changes the customer's own";
    let misplaced = misplaced
        .into_iter()
        .map(|name| format!("{what} {name}, and the new address has none: its flag is --address-{name}"));
    let flags = missing.iter().map(|name| flag_of(name)).collect::<Vec<_>>().join(", ");
    let missing = (dialect.requires_whole_addresses && !missing.is_empty())
        .then(|| format!("the new address has no {flags}, which Magento requires"));
    misplaced.chain(missing).collect()
}

/// The flag of a required field of an address.
pub fn flag_of(name: &str) -> String {
    match name {
        "country_id" => "--country".to_owned(),
        name if name.ends_with("name") => format!("--address-{name}"),
        name => format!("--{name}"),
    }
}

/// The names that both the account and an address have. People mean those of the address.
pub const NAMES: [&str; 5] = ["firstname", "lastname", "prefix", "middlename", "suffix"];

/// The first of [`NAMES`] that changes the account although fields of an address stand beside it: in a flat input, from
/// flags or a row, the name of the address is meant. A nested document says what it means and is not asked.
pub fn misplaced_name(flat: &Map<String, Value>, has_address: bool) -> Option<&'static str> {
    NAMES.into_iter().find(|name| has_address && flat.contains_key(*name))
}

/// The refusal of such a name in an input; it names the column that is meant.
pub fn misplaced(name: &str, names: &FieldNames) -> String {
    let field = names.quoted(name);
    format!("{field} changes the account holder, not the address, whose field is `address_{name}`")
}

/// Whether a flat document has a field that only an address has.
pub fn has_address_field(flat: &Map<String, Value>) -> bool {
    let of_customer = |name: &str| {
        MARKETPLACE_FIELDS.customer.field(name).is_some() || MAGENTO_FIELDS.customer.field(name).is_some()
    };
    flat.keys().any(|name| MARKETPLACE_FIELDS.address.field(name).is_some() && !of_customer(name))
}

/// The first field of a flat record that other tools use as the key of a customer, and that here changes the account.
pub fn key_of_account(flat: &Map<String, Value>) -> Option<&'static str> {
    ["email"].into_iter().chain(NAMES).find(|name| flat.contains_key(*name))
}

/// Warnings about the addresses of a quote.
pub fn of_quote(body: &Map<String, Value>) -> Warnings {
    let information = body.get("addressInformation");
    let mut addresses = ["shipping_address", "billing_address"]
        .map(|side| (side, information.and_then(|it| it.get(side))))
        .to_vec();
    addresses.push(("billingAddress", body.get("billingAddress")));
    let addresses = addresses.into_iter().filter_map(|(side, address)| Some((side, address?.as_object()?)));
    addresses.flat_map(|(side, address)| lint(side, address, |_| true)).collect()
}

/// Warnings about what is set in an address of an order, which no shop checks; `address` also has its country.
pub fn of_order(label: &str, address: &Map<String, Value>, is_set: impl Fn(&str) -> bool) -> Warnings {
    lint(label, address, is_set)
}

/// The warning about one field of an address that is being typed; `address` has this field and its country.
pub fn of_field(address: &Map<String, Value>, field: &str) -> Option<String> {
    lint("", address, |name| name == field).into_iter().next()?.strip_prefix(": ").map(str::to_owned)
}

/// Warnings about values that a merge sets, and with which this version of Magento refuses every later update of the customer.
pub fn of_version(merged: &Merged, version: Version) -> Warnings {
    let mut warnings = Vec::new();
    for change in &merged.changes {
        let Some(after) = &change.after else { continue };
        let inside = change.path.inside();
        let (label, address) = match (change.path.address_id(), after) {
            (None, Value::Object(new)) if change.path.is_new_address() => {
                ("the new address".to_owned(), new.clone())
            }
            (Some(id), after) => (format!("address {id}"), Map::from_iter([(inside, after.clone())])),
            _ => continue,
        };
        let found = accepted::refused_texts(&address, |_| true);
        let found = found.iter().filter(|refused| refused.versions.contains(&version));
        warnings.extend(found.filter_map(Refused::warning).map(|warning| format!("{label}: {warning}")));
    }
    warnings
}

/// The warning about a street with more lines than shops accept, where it had fewer before.
fn long_street(label: &str, street: Option<&Value>, before: Option<&Value>) -> Option<String> {
    let lines = |street: Option<&Value>| street.and_then(Value::as_array).map_or(0, Vec::len);
    Some(format!("{label}: {}", too_many_lines(lines(street), lines(before))?))
}

/// The warning about this number of street lines, unless as many are stored: the shop may not accept them.
pub fn too_many_lines(lines: usize, stored: usize) -> Option<String> {
    let limit = accepted::STREET_LINES;
    (lines > limit.max(stored)).then(|| {
        format!(
            "most shops accept {limit} street lines only, and refuse every later update of a customer who has an address \
             with more"
        )
    })
}

fn lint(label: &str, address: &Map<String, Value>, is_named: impl Fn(&str) -> bool) -> Warnings {
    let text =
        |name: &str| address.get(name).and_then(Value::as_str).map(str::trim).filter(|it| !it.is_empty());
    let code = text("country_id");
    let country = code.and_then(Country::find);
    let mut found = Vec::new();
    if is_named("country_id") {
        found.extend(code.and_then(unknown_country));
    }
    if is_named("postcode") || is_named("country_id") {
        found.extend(
            country.zip(text("postcode")).and_then(|(country, code)| invalid_postcode(&country, code)),
        );
    }
    if is_named("email") {
        found.extend(text("email").and_then(invalid_email));
    }
    if is_named("telephone") {
        found.extend(text("telephone").and_then(invalid_telephone));
    }
    found.into_iter().map(|warning| format!("{label}: {warning}")).collect()
}

fn invalid_postcode(country: &Country, postcode: &str) -> Option<String> {
    let form = Regex::new(&format!("(?i)^(?:{})$", country.postcode?)).ok()?;
    if form.is_match(postcode) {
        return None;
    }
    // A spreadsheet reads 02138 as a number.
    let padded = format!("{postcode:0>5}");
    let lost = postcode.len() < padded.len()
        && postcode.bytes().all(|it| it.is_ascii_digit())
        && form.is_match(&padded);
    let meant = if lost { format!(" (missing leading zero: {padded}?)") } else { String::new() };
    Some(format!("{} is not a valid postcode for {}{meant}", quoted(postcode), country.name))
}

fn invalid_email(email: &str) -> Option<String> {
    let is_address = |(name, host): (&str, &str)| !name.is_empty() && host.contains('.');
    let is_usual = email.split_once('@').is_some_and(is_address) && !email.contains(char::is_whitespace);
    (!is_usual).then(|| format!("{} does not look like an email address", quoted(email)))
}

fn invalid_telephone(telephone: &str) -> Option<String> {
    let digits = telephone.chars().filter(|it| it.is_numeric()).count();
    let usual = |it: char| it.is_numeric() || it.is_whitespace() || "+-./()#*,;".contains(it);
    let number = telephone.split(['x', 'e']).next().unwrap_or_default();
    (!DIGITS.contains(&digits) || !number.chars().all(usual))
        .then(|| format!("{} does not look like a phone number", quoted(telephone)))
}

/// How many labels one warning names.
const NAMED: usize = 5;

/// Whether an export says that the shop has the attribute without options: then it is created without them.
fn is_exported_without_options(attribute: &Map<String, Value>) -> bool {
    let has_none = attribute.get("options").and_then(Value::as_array).is_some_and(Vec::is_empty);
    has_none && attribute.contains_key(UNKNOWN)
}

/// What cannot work, one error a line: an unknown input type, one without the options that it needs or with options
/// that it does not take, an empty label, and more defaults than can be chosen.
pub fn attribute_errors(attribute: &Map<String, Value>, names: &FieldNames) -> Vec<String> {
    let kind = attribute.get(INPUT_TYPE).and_then(Value::as_str);
    let options = options(attribute);
    let kind_error =
        kind.and_then(FrontendInput::find).and_then(|kind| match (kind.takes_options, options.is_empty()) {
            (true, true) if !is_exported_without_options(attribute) => {
                Some(format!("{kind} requires options, none given"))
            }
            (false, false) => Some(format!("{kind} takes no options")),
            _ => None,
        });
    let kind_error = kind.and_then(unknown_kind).or(kind_error).map(|what| names.at(INPUT_TYPE, what));
    let errors =
        [kind_error, empty_label(attribute, names), defaults(options, kind), lost(attribute, kind, names)];
    let errors =
        errors.into_iter().chain([duplicates(options), alike_labels(options), scope(attribute, names)]);
    errors.flatten().chain(labels(attribute).filter_map(label_problem)).collect()
}

const INPUT_TYPE: &str = "frontend_input";

/// What Magento does not keep of an attribute, or what breaks the shop's products.
fn lost(attribute: &Map<String, Value>, kind: Option<&str>, names: &FieldNames) -> Option<String> {
    let has = |name: &str| attribute.get(name).is_some_and(is_set);
    let default = attribute.get("default_value").and_then(Value::as_str).unwrap_or_default().trim();
    match kind? {
        // The shop would store the text as it is.
        "boolean" if !["", "0", "1"].contains(&default) => {
            Some(names.at("default_value", format!("expected yes or no, found `{default}`")))
        }
        "date" | "datetime" if default.parse::<Date>().is_ok() && !default.contains(':') => {
            let what = format!(
                "Magento reads dates in the short form of the shop's language, such as 1/31/2026, and makes another \
                 date of `{default}`"
            );
            Some(names.at("default_value", what))
        }
        kind @ ("swatch_visual" | "swatch_text")
            if options(attribute).iter().any(|option| option.get("is_default").is_some_and(is_set)) =>
        {
            let then = format!("a new `{kind}` has no default option: create it without one, then run ");
            Some(hint!(then, storefront("attribute option default")).to_string())
        }
        "weee" if has("is_filterable") || has("is_searchable") => Some(
            "a `weee` attribute that is filterable or searchable makes Magento refuse to save products"
                .to_owned(),
        ),
        _ => None,
    }
}

fn is_set(flag: &Value) -> bool {
    same_flag(Some(flag), Some(&Value::Bool(true)))
}

/// The labels of the attribute, of its options, and those for store views.
fn labels(attribute: &Map<String, Value>) -> impl Iterator<Item = &str> {
    fn list(of: Option<&Value>) -> impl Iterator<Item = &Value> + Clone {
        of.and_then(Value::as_array).into_iter().flatten()
    }
    let of_options = options(attribute).iter();
    let of_views = of_options.clone().flat_map(|option| list(option.get("store_labels")));
    let all = list(attribute.get("frontend_labels")).chain(of_views).chain(of_options);
    let own = attribute.get("default_frontend_label").and_then(Value::as_str);
    own.into_iter().chain(all.filter_map(label))
}

fn empty_label(attribute: &Map<String, Value>, names: &FieldNames) -> Option<String> {
    let is_empty = |label: &str| label.trim().is_empty();
    if attribute.get("default_frontend_label").and_then(Value::as_str).is_some_and(is_empty) {
        return Some(format!("{} is empty", names.name("attribute.default_frontend_label")));
    }
    let empty = options(attribute).iter().position(|option| label(option).is_some_and(is_empty))?;
    let path = format!("attribute.options[{empty}].label");
    Some(names.at(&path, "the label is empty"))
}

/// Refuses an attribute that cannot work, unless it is forced; else the warnings about it.
///
/// # Errors
/// `usage`, with all [`attribute_errors`].
pub fn of_attribute(
    attribute: &Map<String, Value>,
    names: &FieldNames,
    is_forced: bool,
) -> Result<Warnings, Failure> {
    let mut errors = attribute_errors(attribute, names);
    // Where only the other errors are of interest, a question may still ask for the code.
    if same_value("attribute_code", attribute.get("attribute_code"), None) {
        errors.insert(0, names.missing("attribute.attribute_code"));
    }
    if !is_forced && !errors.is_empty() {
        return Err(
            Failure::usage_problems(errors).hint("fix the input, or send it nevertheless with --force")
        );
    }
    errors.extend(attribute_warnings(attribute, names));
    Ok(errors)
}

/// Warnings about an attribute, besides its [`attribute_errors`]: one per line.
fn attribute_warnings(attribute: &Map<String, Value>, names: &FieldNames) -> Warnings {
    let text = |name: &str| attribute.get(name).and_then(Value::as_str);
    let options = options(attribute);
    let doubts = [
        text("attribute_code").and_then(code).map(|what| names.at("attribute_code", what)),
        product_types(attribute, names),
        one_with_commas(options),
        not_filterable(attribute, names),
        default_of_options(attribute).map(|what| names.at("default_value", what)),
        numbers(options),
        duplicate_views("attribute.frontend_labels", attribute.get("frontend_labels")),
    ];
    doubts.into_iter().flatten().collect()
}

fn options(attribute: &Map<String, Value>) -> &[Value] {
    attribute.get("options").and_then(Value::as_array).map_or(&[], Vec::as_slice)
}

fn code(code: &str) -> Option<String> {
    let expected = "Magento expects a letter followed by up to 59 of a-z, 0-9, _";
    (!is_valid_code(code)).then(|| format!("`{code}` may be rejected: {expected}"))
}

fn unknown_kind(name: &str) -> Option<String> {
    if FrontendInput::find(name).is_some() {
        return None;
    }
    let known = FRONTEND_INPUTS.map(|kind| kind.name).join(", ");
    let meant = FrontendInput::closest_match(name)
        .map_or_else(|| format!("known: {known}"), |known| format!("did you mean `{known}`?"));
    Some(format!("unknown input type `{name}`; {meant}"))
}

fn duplicates(options: &[Value]) -> Option<String> {
    let mut seen = HashSet::new();
    let labels = options.iter().filter_map(label).map(str::trim);
    let twice: Vec<&str> = labels.filter(|label| !seen.insert(key(label))).collect();
    named(&twice).map(|labels| format!("duplicate option labels: {labels}"))
}

/// What a shop knows as scopes; it ignores other words.
const SCOPES: [&str; 3] = ["global", "website", "store"];
/// The types of products of a shop without extensions.
const PRODUCT_TYPES: [&str; 6] = ["simple", "configurable", "bundle", "virtual", "downloadable", "grouped"];

fn scope(attribute: &Map<String, Value>, names: &FieldNames) -> Option<String> {
    let scope = attribute.get("scope")?.as_str()?.trim();
    let is_known = scope.is_empty() || SCOPES.contains(&scope);
    (!is_known).then(|| names.at("scope", format!("expected {}, found `{scope}`", SCOPES.join(", "))))
}

fn product_types(attribute: &Map<String, Value>, names: &FieldNames) -> Option<String> {
    let types = attribute.get("apply_to")?.as_array()?.iter().filter_map(Value::as_str);
    let unknown: Vec<&str> = types.filter(|one| !PRODUCT_TYPES.contains(&one.trim())).collect();
    let unknown = named(&unknown)?;
    Some(names.at(
        "apply_to",
        format!("Magento has no product type {unknown}: it has {}", PRODUCT_TYPES.join(", ")),
    ))
}

fn alike_labels(options: &[Value]) -> Option<String> {
    let (one, other) = alike(options.iter().filter_map(label))?;
    Some(alike_in_words(one, other))
}

fn not_filterable(attribute: &Map<String, Value>, known_as: &FieldNames) -> Option<String> {
    let kind = attribute.get("frontend_input")?.as_str().filter(|kind| NOT_FILTERABLE.contains(kind))?;
    let names = ["is_filterable", "is_filterable_in_search"];
    let name = names.iter().find(|name| attribute.get(**name).is_some_and(is_set))?;
    Some(format!("Magento refuses {} for an attribute of the type `{kind}`", known_as.quoted(name)))
}

/// The warning about a default value beside options: Magento takes the default option from its mark.
fn default_of_options(attribute: &Map<String, Value>) -> Option<String> {
    let kind = attribute.get("frontend_input")?.as_str().and_then(FrontendInput::find)?;
    let default = attribute.get("default_value")?.as_str().filter(|text| !text.is_empty())?;
    kind.takes_options.then(|| {
        format!(
            "`{default}` is not the mark of an option: write `*` before the default option, or use --default-option"
        )
    })
}

/// The warning about one option that looks like several: cells hold options with `|` between them.
fn one_with_commas(options: &[Value]) -> Option<String> {
    let [option] = options else { return None };
    let label = label(option).filter(|label| label.contains([',', ';']))?;
    Some(format!("one option, {label:?}: in a cell, `|` separates options"))
}

/// The warning about numbers as labels: Magento looks an option up by its id or its label in the same place.
fn numbers(options: &[Value]) -> Option<String> {
    let is_number =
        |label: &&str| !label.trim().is_empty() && label.trim().bytes().all(|it| it.is_ascii_digit());
    let numbers: Vec<&str> = options.iter().filter_map(label).filter(is_number).collect();
    named(&numbers).map(|labels| format!("numeric option labels may be mistaken for option IDs: {labels}"))
}

fn defaults(options: &[Value], kind: Option<&str>) -> Option<String> {
    let defaults = options.iter().filter(|option| option.get("is_default").is_some_and(is_set));
    let defaults: Vec<&str> = defaults.filter_map(label).collect();
    let which = named(&defaults).filter(|_| defaults.len() > 1 && kind != Some("multiselect"))?;
    Some(format!("{} default options, expected one: {which}", defaults.len()))
}

fn duplicate_views(path: &str, labels: Option<&Value>) -> Option<String> {
    let mut seen = HashSet::new();
    let ids = labels?.as_array()?.iter().map(|label| label["store_id"].to_string());
    let twice: Vec<String> = ids.filter(|id| !seen.insert(id.clone())).collect();
    (!twice.is_empty()).then(|| format!("{path}: duplicate store view {}", twice.join(", ")))
}

fn label(option: &Value) -> Option<&str> {
    option.get("label").and_then(Value::as_str)
}

/// The first few labels in quotes; `None` for none.
fn named(labels: &[&str]) -> Option<String> {
    let mut quoted: Vec<String> = labels.iter().take(NAMED).map(|label| format!("{label:?}")).collect();
    if labels.len() > NAMED {
        quoted.push(format!("{} more", labels.len() - NAMED));
    }
    (!quoted.is_empty()).then(|| quoted.join(", "))
}

/// Refuses an item without a SKU, or without a quantity above 0: services add 1 for 0 and for -1.
///
/// # Errors
/// `usage`, naming `sku` or `qty`.
pub fn refuse_item(item: &Map<String, Value>, names: &FieldNames) -> Result<(), Failure> {
    if item.get("sku").is_none_or(|sku| sku.as_str().is_some_and(|sku| sku.trim().is_empty())) {
        return Err(Failure::usage(names.missing("sku"))
            .hint("give the product with --sku SKU, or as the field `sku` of the input"));
    }
    refuse_quantity(item, names)
}

/// Refuses an item without a quantity above 0.
///
/// # Errors
/// `usage`, naming `qty`.
pub fn refuse_quantity(item: &Map<String, Value>, names: &FieldNames) -> Result<(), Failure> {
    let name = names.name("qty");
    let problem = match item.get("qty") {
        None => names.missing("qty"),
        Some(Value::Number(qty)) if is_positive(&qty.to_string()) => return Ok(()),
        // Some interfaces take the text of a number.
        Some(Value::String(qty)) if is_quantity(qty.trim()) => return Ok(()),
        Some(Value::Number(qty)) if is_too_large(&qty.to_string()) => format!("{name} is too large: {qty}"),
        Some(Value::String(qty)) if is_too_large(qty.trim()) => format!("{name} is too large: {qty}"),
        Some(qty) => format!("{name} must be above 0, found {qty}"),
    };
    Err(Failure::usage(problem).hint("give the quantity with --qty N, or as the field `qty` of the input"))
}

/// Whether a text is a number above 0.
pub fn is_quantity(text: &str) -> bool {
    serde_json::from_str::<serde_json::Number>(text).is_ok() && is_positive(text)
}

/// Whether the text of a JSON number is above 0, however small: it may be too small for a double.
fn is_positive(number: &str) -> bool {
    let digits = number.split(['e', 'E']).next().unwrap_or_default();
    !number.starts_with('-')
        && digits.bytes().any(|byte| matches!(byte, b'1'..=b'9'))
        && !is_too_large(number)
}

/// Whether a number is beyond a double: services store it as 0 or as their largest number.
fn is_too_large(number: &str) -> bool {
    number.parse::<f64>().is_ok_and(f64::is_infinite)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{attribute_errors, attribute_warnings, of_profile, of_quote};
    use crate::check::field_names::FieldNames;
    use crate::failure::Failure;
    use crate::interface::dialect::MARKETPLACE;
    use crate::profile::merge::merge;
    use crate::profile::patch::ProfilePatch;

    fn doubt(address: Value) -> String {
        let body = json!({"addressInformation": {"shipping_address": address}});
        of_quote(body.as_object().unwrap()).join("\n")
    }

    #[test]
    fn addresses_of_many_countries_raise_no_doubt() {
        for (country, postcode, telephone) in [
            ("FR", "75002", "+33 1 42 68 53 00"),
            ("US", "02138", "(617) 495-1000 ext. 12"),
            ("US", "02138-1234", "+1 617 495 1000"),
            ("GB", "sw1a 1aa", "020 7946 0000"),
            ("JP", "130-0015", "03-3623-1111"),
            ("LB", "", "+961 1 345 678"),
            ("CA", "K1A 0B1", "+1 613 992 4211"),
            ("EG", "11511", "٠٢ ٢٧٩٥ ٦٠٠٠"),
        ] {
            let address = json!({"country_id": country, "postcode": postcode, "telephone": telephone});
            assert_eq!(doubt(address), "", "{country}");
        }
        assert_eq!(doubt(json!({"country_id": "IE", "postcode": null})), "");
    }

    #[test]
    fn each_doubt_says_what_it_is_about() {
        for (address, told) in [
            (json!({"country_id": "UK"}), "`UK` is not an ISO 3166 country code"),
            (json!({"country_id": "fr"}), "did you mean `FR`?"),
            (json!({"country_id": "Germany"}), "did you mean `DE`?"),
            (json!({"country_id": "US", "postcode": "2138"}), "(missing leading zero: 02138?"),
            (json!({"country_id": "FR", "postcode": "7500"}), "`7500` is not a valid postcode for France"),
            (json!({"country_id": "GB", "postcode": "12345"}), "`12345` is not a valid postcode for "),
            (json!({"telephone": "see note"}), "`see note` does not look like a phone number"),
            (json!({"telephone": "+33 1 42 68 53 00 00 00 00"}), "does not look like a phone number"),
            (json!({"telephone": "12"}), "`12` does not look like a phone number"),
        ] {
            let doubt = doubt(address);
            assert!(doubt.starts_with("shipping_address: ") && doubt.contains(told), "{told}: {doubt}");
        }
    }

    #[test]
    fn only_what_an_update_changes_is_doubted() {
        let stored =
            json!({"addresses": [{"id": 1, "country_id": "FR", "postcode": "old", "telephone": "none"}]});
        let doubts = |draft: Value| {
            let wish = ProfilePatch {
                draft: json!({"addresses": [draft]}).as_object().unwrap().clone(),
                ..ProfilePatch::default()
            };
            of_profile(&merge(stored.as_object().unwrap(), &wish).unwrap(), &MARKETPLACE).join("\n")
        };
        assert_eq!(doubts(json!({"id": 1, "city": "Lyon"})), "");
        assert!(
            doubts(json!({"id": 1, "postcode": "6900"}))
                .starts_with("address 1: `6900` is not a valid postcode for France")
        );
        assert!(
            doubts(json!({"id": 1, "country_id": "DE"}))
                .contains("`old` is not a valid postcode for Germany")
        );
        assert!(
            doubts(json!({"country_id": "XX"}))
                .starts_with("the new address: `XX` is not an ISO 3166 country code")
        );
    }

    fn attribute_doubt(members: Value) -> String {
        attribute_warnings(members.as_object().unwrap(), &FieldNames::default()).join("\n")
    }

    fn error(members: Value) -> String {
        attribute_errors(members.as_object().unwrap(), &FieldNames::default()).join("\n")
    }

    #[test]
    fn a_default_that_the_shop_would_store_otherwise_is_refused() {
        let of = |kind: &str, default: &str| error(json!({"frontend_input": kind, "default_value": default}));
        for (kind, default) in [
            ("date", "1/31/2026"),
            ("datetime", "2026-01-31 10:00:00"),
            ("boolean", "1"),
            ("text", "2026-01-31"),
        ] {
            assert_eq!(of(kind, default), "", "{kind} {default}");
        }
        assert!(of("date", "2026-01-31").contains("makes another date of `2026-01-31`"));
        assert!(of("datetime", "2026-01-31").contains("makes another date of `2026-01-31`"));
        assert_eq!(of("boolean", "maybe"), "default_value: expected yes or no, found `maybe`");
    }

    fn options(labels: &[&str]) -> Value {
        labels.iter().map(|label| json!({"label": label, "is_default": false})).collect()
    }

    #[test]
    fn a_sound_attribute_raises_none() {
        let sound = json!({"attribute_code": "colour", "frontend_input": "select",
            "frontend_labels": [{"store_id": 1, "label": "a"}, {"store_id": 2, "label": "a"}],
            "options": [{"label": "Red", "is_default": true}, {"label": "38 EU", "is_default": false}]});
        assert_eq!(attribute_doubt(sound), "");
        assert_eq!(attribute_doubt(json!({})), "");
    }

    #[test]
    fn each_doubt_about_an_attribute_says_what_it_is() {
        let select = |options: Value| json!({"frontend_input": "select", "options": options});
        for (attribute, told) in [
            (json!({"attribute_code": "Größe"}), "attribute_code: `Größe` may be rejected"),
            (json!({"apply_to": ["simple", "subscription"]}), "Magento has no product type \"subscription\""),
            (select(options(&["38", "M"])), "numeric option labels may be mistaken for option IDs: \"38\""),
            (
                json!({"frontend_labels": [{"store_id": 2, "label": "a"}, {"store_id": 2, "label": "b"}]}),
                "attribute.frontend_labels: duplicate store view 2",
            ),
        ] {
            let doubt = attribute_doubt(attribute);
            assert!(doubt.contains(told) && doubt.lines().count() == 1, "{told}: {doubt}");
        }
    }

    #[test]
    fn what_cannot_work_is_an_error() {
        let both = json!([{"label": "a", "is_default": true}, {"label": "b", "is_default": true}]);
        for (attribute, told) in [
            (
                json!({"frontend_input": "select"}),
                "frontend_input: `select` (Dropdown) requires options, none given",
            ),
            (
                json!({"frontend_input": "select", "options": []}),
                "frontend_input: `select` (Dropdown) requires options, none given",
            ),
            (
                json!({"frontend_input": "select", "unknown": ["options"]}),
                "frontend_input: `select` (Dropdown) requires options, none given",
            ),
            (
                json!({"frontend_input": "select", "options": options(&["Red", " red", "Blue"])}),
                "duplicate option labels: \"red\"",
            ),
            (json!({"scope": "shop"}), "scope: expected global, website, store, found `shop`"),
            (
                json!({"frontend_input": "select", "options": options(&["5\u{b5}", "5\u{3bc}"])}),
                "look alike and are written with other characters (U+00B5 and U+03BC)",
            ),
            (
                json!({"frontend_input": "select",
                    "options": [{"label": "a", "is_default": 1}, {"label": "b", "is_default": "1"}]}),
                "2 default options, expected one: \"a\", \"b\"",
            ),
            (
                json!({"frontend_input": "selct"}),
                "frontend_input: unknown input type `selct`; did you mean `select`?",
            ),
            (json!({"default_frontend_label": " "}), "attribute.default_frontend_label is empty"),
            (
                json!({"frontend_input": "select", "options": options(&["a", ""])}),
                "attribute.options[1].label: the label is empty",
            ),
            (
                json!({"frontend_input": "boolean", "options": options(&["a"])}),
                "`boolean` (Yes/No) takes no options",
            ),
            (
                json!({"frontend_input": "select", "options": both}),
                "2 default options, expected one: \"a\", \"b\"",
            ),
        ] {
            assert!(
                error(attribute.clone()).contains(told) && attribute_doubt(attribute.clone()).is_empty(),
                "{told}"
            );
        }
        assert_eq!(error(json!({"frontend_input": "select", "options": options(&["Red", "Reed"])})), "");
    }

    /// An export names options that the shop lacks, too.
    #[test]
    fn an_exported_list_without_options_is_no_error() {
        let exported =
            json!({"frontend_input": "select", "options": [], "unknown": ["options[].sort_order"]});
        assert_eq!(error(exported), "");
    }

    #[test]
    fn any_number_of_defaults_suits_a_multiselect() {
        let both = json!([{"label": "a", "is_default": true}, {"label": "b", "is_default": true}]);
        assert_eq!(error(json!({"frontend_input": "multiselect", "options": both})), "");
    }

    #[test]
    fn of_many_labels_the_first_are_named() {
        let labels: Vec<String> = (30..50).map(|size| size.to_string()).collect();
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        let doubt = attribute_doubt(json!({"frontend_input": "select", "options": options(&labels)}));
        assert!(
            doubt.contains("may be mistaken for option IDs: \"30\", \"31\", \"32\", \"33\", \"34\", 15 more")
                && !doubt.contains("\"35\""),
            "{doubt}"
        );
    }

    fn refuse_item(item: &Value) -> Result<(), Failure> {
        super::refuse_item(item.as_object().unwrap(), &FieldNames::default())
    }

    #[test]
    fn a_quantity_is_above_zero() {
        let refusal = |item: &str| {
            let item: Value = serde_json::from_str(item).unwrap();
            refuse_item(&item).map_err(|failure| failure.message)
        };
        for qty in ["1", "0.5", "1e-400", "1E+2", "\"2\"", "\" 0.5 \""] {
            assert_eq!(refusal(&format!("{{\"sku\": \"a\", \"qty\": {qty}}}")), Ok(()), "{qty}");
        }
        for qty in ["1e999", "\"1e400\""] {
            let refused = refusal(&format!("{{\"sku\": \"a\", \"qty\": {qty}}}"));
            assert!(refused.unwrap_err().starts_with("qty is too large"), "{qty}");
        }
        for qty in ["0", "-1", "0.00", "0e5", "-0", "\"0\"", "\"-1\"", "\"two 2\"", "\"\"", "true"] {
            assert!(
                refusal(&format!("{{\"sku\": \"a\", \"qty\": {qty}}}"))
                    .unwrap_err()
                    .starts_with("qty must be above 0")
            );
        }
        assert_eq!(refuse_item(&json!({"sku": "a"})).unwrap_err().message, "qty is missing");
        for sku in ["{}", "{\"sku\": \" \"}"] {
            assert_eq!(refusal(sku), Err("sku is missing".to_owned()));
        }
    }
}
