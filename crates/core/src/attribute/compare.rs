//! Compares an attribute of a file with that of a shop, field by field, and plans what can be made equal without losing
//! anything.

use std::collections::{BTreeSet, HashMap};

use serde::Serialize;
use serde_json::{Map, Value, json};
use unicode_normalization::UnicodeNormalization as _;

use super::export::{FLAGS, SETS, TEXTS, UNKNOWN, sorted};
use super::rules::{FrontendInput, label_problem};
use super::view::{Attribute, NewOption};
use super::{Named, StoredOptions, label, split_set};
use crate::check::field_names::FieldNames;
use crate::failure::Failure;
use crate::lint;
use crate::operation::scalar;
use crate::profile::equal::{is_identical, same_flag};
use crate::text::sanitize::quoted;

/// How a field of the file and of the shop relate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum DifferenceState {
    /// The shop lacks it.
    Missing,
    /// The file lacks it.
    Extra,
    /// Both have it, with other values.
    Different,
    /// Not compared: the API does not show it, or the file does not have it.
    Unknown,
}

/// One thing in which a file and a shop are not known to be equal.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Difference {
    /// Code of the attribute.
    pub attribute: String,
    /// The field, such as `options[Silk].store_labels[fr]`.
    pub field: String,
    /// How they relate.
    pub state: DifferenceState,
    /// Its value in the shop.
    pub shop: Value,
    /// Its value in the file.
    pub file: Value,
    /// The operation that makes it equal and loses nothing.
    pub plan: Option<&'static str>,
    /// Without a plan: the page of the admin panel that changes it, or why it cannot be changed.
    pub page: Option<String>,
}

/// What an attribute of the shop shows.
#[derive(Debug, Clone)]
pub struct ShopAttribute {
    /// As a file has it.
    pub exported: Map<String, Value>,
    /// Its options with their ids, where options can be added.
    pub stored: Option<StoredOptions>,
}

/// The records of the plans that make a shop more like a file, in the order in which they are applied.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Proposal {
    /// Attributes to create, with their sets.
    pub create: Vec<Map<String, Value>>,
    /// Options to add.
    pub add_options: Vec<Map<String, Value>>,
    /// Sets to put attributes into.
    pub assign: Vec<Map<String, Value>>,
}

/// The operations of a [`Proposal`].
pub const CREATE: &str = "attribute create";
/// Adds options.
pub const ADD_OPTIONS: &str = "attribute option add";
/// Puts attributes into sets.
pub const ASSIGN: &str = "attribute assign";

/// Compares an attribute of a file with that of the shop, if it has it; `sets` are the attribute sets of the shop. What can be
/// planned is added to the proposal.
pub fn compare(
    file: &Map<String, Value>,
    shop: Option<&ShopAttribute>,
    sets: &[Named],
    proposal: &mut Proposal,
) -> Vec<Difference> {
    let mut found = Comparison { code: Attribute(file).code(), sets, found: Vec::new() };
    let Some(shop) = shop else {
        found.new_attribute(file, proposal);
        return found.found;
    };
    let unknown = unknown(file, &shop.exported);
    found.fields(file, &shop.exported, &unknown);
    if !unknown.contains("frontend_labels") {
        found.labels("frontend_labels", file, &shop.exported, None);
    }
    if !unknown.contains("options") {
        found.options(file, shop, proposal);
    }
    found.sets(file, &shop.exported, proposal);
    for name in unknown {
        found.add(name, DifferenceState::Unknown, Value::Null, Value::Null);
    }
    found.found
}

/// Whether an attribute of a file is an export. What an export lacks is empty; what another file lacks is not compared.
fn is_export(file: &Map<String, Value>) -> bool {
    file.contains_key(UNKNOWN)
}

/// What cannot be compared: what the file or the shop does not show, and what a file that was not exported does not have.
fn unknown(file: &Map<String, Value>, shop: &Map<String, Value>) -> BTreeSet<String> {
    let listed = |one: &Map<String, Value>| -> Vec<String> {
        let names = one.get(UNKNOWN).and_then(Value::as_array).into_iter().flatten();
        names.filter_map(Value::as_str).map(str::to_owned).collect()
    };
    let mut unknown: BTreeSet<String> = listed(file).into_iter().chain(listed(shop)).collect();
    if !is_export(file) {
        let names = shop.keys().filter(|name| *name != UNKNOWN && !file.contains_key(*name));
        unknown.extend(names.cloned());
    }
    unknown
}

struct Comparison<'a> {
    code: &'a str,
    sets: &'a [Named],
    found: Vec<Difference>,
}

impl Comparison<'_> {
    fn add(
        &mut self,
        field: impl Into<String>,
        state: DifferenceState,
        shop: Value,
        file: Value,
    ) -> &mut Difference {
        let field = field.into();
        let page = (state != DifferenceState::Unknown).then(|| page(self.code, &field));
        let attribute = self.code.to_owned();
        self.found.push(Difference { attribute, field, state, shop, file, plan: None, page });
        let last = self.found.len() - 1;
        &mut self.found[last]
    }

    /// Notes two values that are not the same; `null` stands for one that is not there.
    fn differ(&mut self, field: impl Into<String>, shop: Value, file: Value) -> &mut Difference {
        let state = match (shop.is_null(), file.is_null()) {
            (true, _) => DifferenceState::Missing,
            (_, true) => DifferenceState::Extra,
            _ => DifferenceState::Different,
        };
        self.add(field, state, shop, file)
    }

    fn new_attribute(&mut self, file: &Map<String, Value>, proposal: &mut Proposal) {
        let reason = if file.contains_key("source_model") {
            Some("its options are listed by code of the shop, which an extension brings".to_owned())
        } else {
            lint::of_attribute(file, &FieldNames::default(), false).err().map(|failure| failure.message)
        };
        let label = file.get("default_frontend_label").cloned().unwrap_or_default();
        let missing = self.add("attribute", DifferenceState::Missing, Value::Null, label);
        if let Some(reason) = reason {
            missing.page = Some(format!("{ATTRIBUTES} ({reason})"));
        } else {
            plan(missing, CREATE);
            proposal.create.push(file.clone());
        }
        let names = file.get(UNKNOWN).and_then(Value::as_array).into_iter().flatten();
        for name in names.filter_map(Value::as_str) {
            self.add(name, DifferenceState::Unknown, Value::Null, Value::Null);
        }
    }

    /// The fields that are one value.
    fn fields(&mut self, file: &Map<String, Value>, shop: &Map<String, Value>, unknown: &BTreeSet<String>) {
        let names = ["frontend_input", "default_frontend_label", "scope"].into_iter().chain(FLAGS);
        let names = names.chain(["position", "apply_to"]).chain(TEXTS);
        for name in names.chain(["validation_rules", "extension_attributes", "source_model"]) {
            if unknown.contains(name) {
                continue;
            }
            let own = file.get(name);
            let other = shop.get(name);
            let is_same = match name {
                name if FLAGS.contains(&name) => same_flag(own, other),
                "apply_to" => sorted(own) == sorted(other),
                "frontend_input" => same(stored_input(file).as_ref(), stored_input(shop).as_ref()),
                _ => same(own, other),
            };
            if !is_same {
                self.differ(name, present(other), present(own));
            }
        }
    }

    /// The labels of store views, of the attribute or of one of its options.
    fn labels(
        &mut self,
        name: &str,
        file: &Map<String, Value>,
        shop: &Map<String, Value>,
        option: Option<&str>,
    ) {
        let own = labels(file.get(name));
        let other = labels(shop.get(name));
        let views: BTreeSet<&str> = own.iter().chain(&other).map(|(view, _)| view.as_str()).collect();
        for view in views {
            let label = |labels: &[(String, Value)]| {
                let label = labels.iter().find(|(known, _)| known == view);
                label.map(|(_, label)| label.clone()).unwrap_or_default()
            };
            let shop = label(&other);
            let file = label(&own);
            if !same(Some(&file), Some(&shop)) {
                let of = option.map(|label| format!("options[{label}].")).unwrap_or_default();
                self.differ(format!("{of}{name}[{view}]"), shop, file);
            }
        }
    }

    fn options(&mut self, file: &Map<String, Value>, shop: &ShopAttribute, proposal: &mut Proposal) {
        let own = options(file);
        let other = options(&shop.exported);
        let stored: HashMap<&str, NewOption<'_>> =
            other.iter().map(|(key, option)| (key.as_str(), *option)).collect();
        let own_keys: BTreeSet<&str> = own.iter().map(|(key, _)| key.as_str()).collect();
        let has_labels = |option: NewOption<'_>| is_export(file) || option.0.contains_key("store_labels");
        for (key, option) in &own {
            let stored = stored.get(key.as_str()).filter(|_| has_labels(*option));
            if let Some(stored) = stored {
                self.labels("store_labels", option.0, stored.0, Some(option.label()));
            }
        }
        let missing = own.iter().filter(|(key, _)| !stored.contains_key(key.as_str())).collect();
        let added = self.missing_options(file, shop, &own, missing, proposal);
        for (_, option) in other.iter().filter(|(key, _)| !own_keys.contains(key.as_str())) {
            self.add(
                format!("options[{}]", option.label()),
                DifferenceState::Extra,
                option.label().into(),
                Value::Null,
            );
        }
        self.order(&own, &other, &added);
        self.defaults(&own, &other, shop.stored.is_some());
    }

    /// Returns the missing options that can be added, in their order.
    fn missing_options<'o>(
        &mut self,
        file: &Map<String, Value>,
        shop: &ShopAttribute,
        own: &[Keyed<'o>],
        missing: Vec<&Keyed<'o>>,
        proposal: &mut Proposal,
    ) -> Vec<Keyed<'o>> {
        let has_same_input = stored_input(file).is_none_or(|own| stored_input(&shop.exported) == Some(own));
        let stored = shop.stored.as_ref().filter(|_| has_same_input);
        let mut counts: HashMap<String, usize> = HashMap::new();
        for (_, option) in own {
            *counts.entry(label::key(option.label())).or_default() += 1;
        }
        let mut added = Vec::new();
        for keyed in missing {
            let label = keyed.1.label();
            let found =
                self.add(format!("options[{label}]"), DifferenceState::Missing, Value::Null, label.into());
            let refused = match stored {
                Some(stored) => addable(stored, &counts, label).err().map(|failure| failure.message),
                None => Some("options of this type cannot be added without losing others".to_owned()),
            };
            if let Some(reason) = refused {
                found.page = found.page.take().map(|page| format!("{page} ({reason})"));
            } else {
                plan(found, ADD_OPTIONS);
                added.push(keyed.clone());
            }
        }
        if !added.is_empty() {
            let options = added.iter().map(|(_, option)| new_option(*option)).collect();
            proposal.add_options.push(record(self.code, "options", options));
        }
        added
    }

    /// The order of the options that both have once those that can be added are at the end.
    fn order(&mut self, own: &[Keyed<'_>], other: &[Keyed<'_>], added: &[Keyed<'_>]) {
        let keys: BTreeSet<&str> = own.iter().map(|(key, _)| key.as_str()).collect();
        let others: BTreeSet<&str> = other.iter().chain(added).map(|(key, _)| key.as_str()).collect();
        let file = own.iter().filter(|(key, _)| others.contains(key.as_str()));
        let shop = other.iter().filter(|(key, _)| keys.contains(key.as_str())).chain(added);
        let first = file.clone().zip(shop.clone()).position(|((one, _), (other, _))| one != other);
        let Some(first) = first else { return };
        // The first ones that differ are enough to find the place.
        let shown = |list: Vec<&Keyed<'_>>| -> Value {
            list.into_iter().skip(first).take(SHOWN_OF_ORDER).map(|(_, option)| option.label()).collect()
        };
        let shop = shown(shop.collect());
        let file = shown(file.collect());
        self.differ("options.order", shop, file);
    }

    /// Compares the default options. If another default can be set, the command for it is named: that is a separate
    /// decision.
    fn defaults(&mut self, own: &[Keyed<'_>], other: &[Keyed<'_>], can_be_set: bool) {
        let defaults = |list: &[Keyed<'_>]| -> (BTreeSet<String>, Value) {
            let chosen = list.iter().filter(|(_, option)| option.is_default());
            (
                chosen.clone().map(|(key, _)| key.clone()).collect(),
                chosen.map(|(_, option)| option.label()).collect(),
            )
        };
        let ((file_keys, file), (shop_keys, shop)) = (defaults(own), defaults(other));
        if file_keys != shop_keys {
            let empty = |list: Value| if list == json!([]) { Value::Null } else { list };
            let found = self.differ("options.default", empty(shop), empty(file));
            if can_be_set && file_keys.len() == 1 {
                found.page = Some("storefront attribute option default".to_owned());
            }
        }
    }

    /// Compares the sets. An attribute that is in another group of a set is not moved.
    fn sets(&mut self, file: &Map<String, Value>, shop: &Map<String, Value>, proposal: &mut Proposal) {
        if !is_export(file) && !file.contains_key(SETS) {
            return;
        }
        let place = |name: String| match split_set(&name, self.sets) {
            Ok((set, group)) => (set.name.clone(), group.map(str::to_owned)),
            Err(_) => (name, None),
        };
        let places = |of| Attribute(of).set_names().into_iter().map(place).collect::<Vec<_>>();
        let own = places(file);
        let other = places(shop);
        let text = |(set, group): &(String, Option<String>)| match group {
            Some(group) => format!("{set}/{group}"),
            None => set.clone(),
        };
        let mut assigned = Vec::new();
        for wanted in &own {
            match other.iter().find(|(set, _)| *set == wanted.0) {
                // A place without a group is any group of the set.
                Some((_, group)) if wanted.1.is_none() || *group == wanted.1 => {}
                Some(stored) => {
                    let stored = text(stored).into();
                    let wanted_text = text(wanted).into();
                    self.differ(format!("{SETS}[{}]", wanted.0), stored, wanted_text);
                }
                None => {
                    let name = Value::from(text(wanted));
                    plan(self.differ(format!("{SETS}[{}]", wanted.0), Value::Null, name.clone()), ASSIGN);
                    assigned.push(name);
                }
            }
        }
        for extra in other.iter().filter(|(set, _)| !own.iter().any(|(wanted, _)| wanted == set)) {
            self.differ(format!("{SETS}[{}]", extra.0), text(extra).into(), Value::Null);
        }
        if !assigned.is_empty() {
            proposal.assign.push(record(self.code, SETS, Value::Array(assigned)));
        }
    }
}

/// The input type that a shop shows for an attribute: a swatch is shown as `select`, a text editor as `textarea`.
fn stored_input(attribute: &Map<String, Value>) -> Option<Value> {
    let input = attribute.get("frontend_input")?;
    Some(input.as_str().map_or_else(|| input.clone(), |name| FrontendInput::stored_as(name).into()))
}

/// How many options are shown from the first difference of two orders on.
const SHOWN_OF_ORDER: usize = 3;

fn plan(difference: &mut Difference, operation: &'static str) {
    difference.plan = Some(operation);
    difference.page = None;
}

fn record(code: &str, name: &str, value: Value) -> Map<String, Value> {
    Map::from_iter([("attribute_code".to_owned(), code.into()), (name.to_owned(), value)])
}

/// Refuses an option that the shop would refuse, or take for another one. `counts` says how often the file has each
/// label, letter case apart.
fn addable(stored: &StoredOptions, counts: &HashMap<String, usize>, label: &str) -> Result<(), Failure> {
    if label.is_empty() {
        return Err(Failure::usage("the option has no label"));
    }
    if counts.get(&label::key(label)).is_some_and(|count| *count > 1) {
        return Err(Failure::usage(format!("the file has several options {}", quoted(label))));
    }
    if let Some(option) = stored.get(label) {
        let message = format!(
            "the label {} differs in letter case only from the option {}, and Magento refuses it",
            quoted(label),
            quoted(&option.name)
        );
        return Err(Failure::usage(message));
    }
    match label_problem(label) {
        Some(problem) => Err(Failure::usage(problem)),
        None => stored.refuse_taken(label, false),
    }
}

/// An option without what would make it the default: the attribute keeps the one that it has.
fn new_option(option: NewOption<'_>) -> Value {
    let mut fields = Map::from_iter([("label".to_owned(), Value::from(option.label()))]);
    if option.has_store_labels() {
        fields.insert("store_labels".to_owned(), option.0.get("store_labels").cloned().unwrap_or_default());
    }
    Value::Object(fields)
}

/// An option with its key: the label, and a number that tells options of one label apart.
type Keyed<'a> = (String, NewOption<'a>);

/// The options in their order.
fn options(attribute: &Map<String, Value>) -> Vec<Keyed<'_>> {
    let mut counts = HashMap::new();
    let options = Attribute(attribute).new_options();
    let keyed = options.into_iter().map(|option| {
        let label: String = option.label().nfc().collect();
        let count = counts.entry(label.clone()).and_modify(|count| *count += 1).or_insert(1);
        (format!("{count} {label}"), option)
    });
    keyed.collect()
}

/// Store views and their labels.
fn labels(list: Option<&Value>) -> Vec<(String, Value)> {
    let list = list.and_then(Value::as_array).into_iter().flatten();
    let labels = list.filter_map(|one| Some((scalar(one.get("store_id"))?, one.get("label")?.clone())));
    labels.collect()
}

fn is_nothing(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::String(text) => text.is_empty(),
        Value::Array(list) => list.is_empty(),
        Value::Object(fields) => fields.is_empty(),
        _ => false,
    }
}

fn present(value: Option<&Value>) -> Value {
    value.filter(|value| !is_nothing(value)).cloned().unwrap_or_default()
}

/// Whether two values are the same. A number equals its text, and all empty values are equal.
fn same(one: Option<&Value>, other: Option<&Value>) -> bool {
    let (one, other) = (present(one), present(other));
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.nfc().collect::<String>()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    };
    is_identical(&one, &other) || text(&one).is_some_and(|text_of_one| Some(text_of_one) == text(&other))
}

/// Where attributes are in the admin panel.
const ATTRIBUTES: &str = "Stores > Attributes > Product";

fn page_of(place: &str, tab: &str) -> String {
    format!("{place} > {tab}")
}

/// The page of the admin panel on which a field is changed.
fn page(code: &str, field: &str) -> String {
    let attribute = page_of(ATTRIBUTES, code);
    match field {
        "frontend_input" => format!("{ATTRIBUTES} (the type cannot be changed: create another attribute)"),
        "extension_attributes" | "source_model" | "validation_rules" => {
            format!("{ATTRIBUTES} (set by code of the shop)")
        }
        "is_searchable"
        | "is_visible_in_advanced_search"
        | "is_comparable"
        | "is_filterable"
        | "is_filterable_in_search"
        | "is_used_for_promo_rules"
        | "is_html_allowed_on_front"
        | "is_visible_on_front"
        | "used_in_product_listing"
        | "used_for_sort_by"
        | "position" => page_of(&attribute, "Storefront Properties"),
        field if field.starts_with(SETS) => "Stores > Attributes > Attribute Set".to_owned(),
        field if field.starts_with("frontend_labels") || field == "default_frontend_label" => {
            page_of(&attribute, "Manage Labels")
        }
        _ => page_of(&attribute, "Properties"),
    }
}

/// Puts the codes of store views in place of their ids, as a file that people have written may have them.
pub fn name_store_views(value: &mut Value, views: &[Named]) {
    match value {
        Value::Array(list) => list.iter_mut().for_each(|one| name_store_views(one, views)),
        Value::Object(fields) => {
            for (name, inside) in fields.iter_mut() {
                match scalar(Some(inside)).filter(|_| name == "store_id") {
                    Some(id) => {
                        let is_code = views.iter().any(|view| view.name == id);
                        if let Some(view) = views.iter().find(|view| view.id == id).filter(|_| !is_code) {
                            *inside = view.name.as_str().into();
                        }
                    }
                    None => name_store_views(inside, views),
                }
            }
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests;
