//! Merges what a command asks for into the stored profile: objects field by field at every depth, lists as a whole, but
//! for two that have keys: `custom_attributes` by `attribute_code`, `addresses` by `id`. `null` is a value and deletes
//! nothing. What is not named stays as it is stored.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde_json::{Map, Value};

use super::diff::{self, AddressIndex, Change, FieldPath, id_of};
use super::equivalence::{is_equivalent, is_same, is_same_number};
use super::patch::{AddressSummary, DefaultAddress, ProfilePatch};
use super::region;
use super::stored_fields::refuse_unknown;
use crate::failure::Failure;

/// A merged profile, ready to be sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Merged {
    /// The customer object with the full address list.
    pub customer: Map<String, Value>,
    /// Every difference from what is stored.
    pub changes: Vec<Change>,
    /// What becomes of the stored addresses.
    pub summary: AddressSummary,
    /// Things done that the user did not ask for in so many words.
    pub notes: Vec<String>,
}

/// Applies a patch to a stored customer object.
///
/// Every stored address id is in the result unless it is removed by name (or the patch replaces the list),
/// every field the draft does not name keeps its exact value, stored order is kept and new addresses come
/// last.
///
/// # Errors
/// `guard` for a stored list that cannot be replaced safely (no id, an id twice, an id that is no integer) and for an
/// id the profile does not have; `usage` for a draft that contradicts itself or leaves the region ambiguous.
pub fn merge(stored: Map<String, Value>, patch: &ProfilePatch) -> Result<Merged, Failure> {
    ensure_same_customer(&stored, patch)?;
    refuse_unknown(&patch.deferred, &patch.draft, &stored)?;
    check_attribute_codes(&patch.draft, "")?;
    let mut customer = stored;
    let Some(Value::Array(stored)) = customer.get_mut("addresses").map(Value::take) else {
        return Err(Failure::guard("the stored profile has no address list"));
    };
    let mut changes = members(&mut customer, &patch.draft);
    let list = AddressList::of(stored, patch)?;
    changes.extend(list.changes);
    customer.insert("addresses".to_owned(), Value::Array(list.addresses));
    let mut notes = Vec::new();
    set_own(patch, &mut customer, &mut changes, &mut notes);
    clear_dangling_defaults(&mut customer, &list.summary.removed, &mut changes, &mut notes);
    Ok(Merged { customer, changes, summary: list.summary, notes })
}

/// Refuses a draft that was made for another customer: the token decides whose profile is replaced, whatever ids say.
fn ensure_same_customer(stored: &Map<String, Value>, patch: &ProfilePatch) -> Result<(), Failure> {
    let Some(own) = stored.get("id").and_then(id_of) else { return Ok(()) };
    let drafts = patch.draft.get("addresses").and_then(Value::as_array).into_iter().flatten();
    let owners = drafts.filter_map(|draft| draft.get("customer_id"));
    let names_other = |id: &&Value| !id.is_null() && id_of(id) != Some(own);
    match patch.draft.get("id").into_iter().chain(owners).find(names_other) {
        None => Ok(()),
        Some(other) => Err(Failure::guard(format!(
            "the input is for customer {other}, but the token belongs to customer {own}"
        ))
        .hint("use the token of that customer, or remove the id from the input")),
    }
}

/// Sets the named fields other than the addresses; custom attributes merge by their code.
fn members(customer: &mut Map<String, Value>, draft: &Map<String, Value>) -> Vec<Change> {
    let before = draft
        .keys()
        .filter_map(|name| customer.get_key_value(name))
        .map(|(name, value)| (name.clone(), value.clone()))
        .collect();
    for (name, value) in draft.iter().filter(|(name, _)| *name != "addresses") {
        set_field(customer, name, value);
    }
    let after = draft.keys().filter_map(|name| customer.get_key_value(name));
    let after = after.map(|(name, value)| (name.clone(), value.clone())).collect();
    let mut changes = Vec::new();
    diff::objects_except(&FieldPath::default(), &before, &after, Some("addresses"), &mut changes);
    changes
}

/// A default that names an address removed by the same command is left out, with a note. That is no change to be
/// verified: a service that merges profiles keeps the field until the address is gone.
fn clear_dangling_defaults(
    customer: &mut Map<String, Value>,
    removed: &[i64],
    changes: &mut Vec<Change>,
    notes: &mut Vec<String>,
) {
    for name in ["default_billing", "default_shipping"] {
        let Some(id) = customer.get(name).and_then(id_of).filter(|id| removed.contains(id)) else {
            continue;
        };
        customer.shift_remove(name);
        let path = FieldPath::default().member(name);
        changes.retain(|change| change.path != path);
        notes.push(format!("{name} cleared: it pointed to removed address {id}"));
    }
}

/// A merged list, and how it differs from the stored one.
#[derive(Debug, Default)]
pub struct AddressList {
    /// The full list, to be sent.
    pub addresses: Vec<Value>,
    /// What becomes of the stored addresses.
    pub summary: AddressSummary,
    /// Every difference from the stored list.
    pub changes: Vec<Change>,
}

/// A draft address and the stored position it changes, if it names one.
type AddressPatch = (Option<usize>, Map<String, Value>);

impl AddressList {
    /// Makes the list that a patch asks for.
    ///
    /// # Errors
    /// As [`crate::plan::profile::merge::merge`].
    pub fn of(stored: Vec<Value>, patch: &ProfilePatch) -> Result<Self, Failure> {
        let roster = AddressIndex::of(&stored)?;
        let drafts = resolve_targets(patch, &roster)?;
        let mut list = Self::default();
        if patch.replace {
            list.replace(stored, &roster, drafts, patch)?;
        } else {
            list.apply(stored, &roster, drafts, patch)?;
        }
        Ok(list)
    }

    /// Merges the drafts into the stored list: what they do not name stays, in stored order.
    fn apply(
        &mut self,
        mut stored: Vec<Value>,
        roster: &AddressIndex,
        drafts: Vec<AddressPatch>,
        patch: &ProfilePatch,
    ) -> Result<(), Failure> {
        let removed: HashSet<i64> = patch.remove.iter().copied().collect();
        let (changes, additions): (Vec<AddressPatch>, Vec<AddressPatch>) =
            drafts.into_iter().partition(|(position, _)| position.is_some());
        let staying = roster.ids().iter().zip(&stored).filter(|(id, _)| !removed.contains(id));
        let new = additions_to(staying, additions, patch)?;
        let mut before: BTreeMap<usize, Value> = BTreeMap::new();
        for (position, draft) in changes {
            let Some(position) = position else { continue };
            before.entry(position).or_insert_with(|| stored[position].clone());
            apply_patch(&mut stored[position], draft, &format!("address {}", roster.ids()[position]))?;
        }
        clear_others(patch, roster.ids(), &mut stored, &mut before);
        for (position, (id, address)) in roster.ids().iter().zip(stored).enumerate() {
            if removed.contains(id) {
                self.remove(*id, before.remove(&position).unwrap_or(address));
                continue;
            }
            self.keep(*id, before.get(&position), address);
        }
        for address in new {
            self.add(address);
        }
        Ok(())
    }

    /// The drafts are the list, in their order; an address that they leave out is removed. What a draft with an id does
    /// not name stays as it is stored.
    fn replace(
        &mut self,
        mut stored: Vec<Value>,
        roster: &AddressIndex,
        drafts: Vec<AddressPatch>,
        patch: &ProfilePatch,
    ) -> Result<(), Failure> {
        let staying: HashSet<usize> = drafts.iter().filter_map(|(position, _)| *position).collect();
        let additions = drafts.iter().filter(|(position, _)| position.is_none()).cloned().collect();
        let kept = roster.ids().iter().zip(&stored).enumerate().filter(|(at, _)| staying.contains(at));
        let mut new = additions_to(kept.map(|(_, kept)| kept), additions, patch)?.into_iter();
        let mut before: BTreeMap<usize, Value> = BTreeMap::new();
        let mut order = Vec::with_capacity(drafts.len());
        for (position, draft) in drafts {
            if let Some(position) = position {
                before.insert(position, stored[position].clone());
                apply_patch(&mut stored[position], draft, &format!("address {}", roster.ids()[position]))?;
            }
            order.push(position);
        }
        clear_others(patch, roster.ids(), &mut stored, &mut before);
        for position in order {
            match position {
                Some(position) => {
                    let address = stored[position].take();
                    self.keep(roster.ids()[position], before.get(&position), address);
                }
                None => new.next().into_iter().for_each(|address| self.add(address)),
            }
        }
        for (position, (id, address)) in roster.ids().iter().zip(stored).enumerate() {
            if !staying.contains(&position) {
                self.remove(*id, before.remove(&position).unwrap_or(address));
            }
        }
        Ok(())
    }

    /// Takes a stored address into the list, with how it differs from what it was before.
    fn keep(&mut self, id: i64, before: Option<&Value>, address: Value) {
        let changes = before.is_some_and(|before| self.compare(id, before, &address));
        if changes { &mut self.summary.changed } else { &mut self.summary.kept }.push(id);
        self.addresses.push(address);
    }

    /// Notes how an address changes; whether it does.
    fn compare(&mut self, id: i64, before: &Value, after: &Value) -> bool {
        let known = self.changes.len();
        diff::address(id, before, after, &mut self.changes);
        self.changes.len() > known
    }

    fn add(&mut self, address: Value) {
        self.changes.push(diff::added(FieldPath::new_address(), &address));
        self.summary.added += 1;
        self.addresses.push(address);
    }

    fn remove(&mut self, id: i64, address: Value) {
        self.changes.push(Change { path: FieldPath::address(id), before: Some(address), after: None });
        self.summary.removed.push(id);
    }
}

/// Finds for each draft the stored address it names.
fn resolve_targets(patch: &ProfilePatch, roster: &AddressIndex) -> Result<Vec<AddressPatch>, Failure> {
    let mut named = HashSet::new();
    for id in &patch.remove {
        roster.find(*id)?;
        named.insert(*id);
    }
    let Some(Value::Array(drafts)) = patch.draft.get("addresses") else {
        return Ok(Vec::new());
    };
    let place = |(index, draft): (usize, &Value)| {
        let Value::Object(draft) = draft else {
            return Err(Failure::usage("addresses: every element must be an object"));
        };
        let label = match draft.get("id") {
            Some(id) => format!("address {id}: "),
            None => format!("addresses[{index}]."),
        };
        check_attribute_codes(draft, &label)?;
        let Some(id) = draft.get("id") else {
            return Ok((None, draft.clone()));
        };
        let id = id_of(id).ok_or_else(|| Failure::usage(format!("invalid address ID `{id}`")))?;
        let position = roster.find(id)?;
        if named.insert(id) {
            Ok((Some(position), draft.clone()))
        } else {
            Err(Failure::usage(format!("duplicate address ID {id}"))
                .hint("list the address once, and do not name it in --remove-address as well"))
        }
    };
    drafts.iter().enumerate().map(place).collect()
}

fn apply_patch(address: &mut Value, mut draft: Map<String, Value>, label: &str) -> Result<(), Failure> {
    let Value::Object(address) = address else {
        return Ok(());
    };
    draft.shift_remove("id");
    // An id belongs to its country, but a text can be that of a region in the new one too.
    let says_text = region::names_text(&draft) && !region::has_id(address);
    let word = region::take_region_patch(&mut draft, Some(address), label)?;
    if let (None, false, Some(country)) = (&word, says_text, draft.get("country_id")) {
        region::require_region_for_new_country(address, country, label)?;
    }
    if let Some(word) = word {
        region::apply(address, &word, label)?;
    }
    for (name, value) in &draft {
        set_field(address, name, value);
    }
    Ok(())
}

/// The new addresses of the drafts, in their order.
///
/// # Errors
/// `guard` for one that equals an address of the list in every field it names, unless that is allowed.
fn additions_to<'a>(
    list: impl Iterator<Item = (&'a i64, &'a Value)>,
    drafts: Vec<AddressPatch>,
    patch: &ProfilePatch,
) -> Result<Vec<Value>, Failure> {
    let mut twins = TwinIndex::new(list);
    let addition = |(_, draft): AddressPatch| {
        let may_repeat = patch.allow_duplicate || draft.is_empty();
        match if may_repeat { None } else { twins.find(&draft) } {
            Some(id) => Err(Failure::guard(format!(
                "the new address already exists: address {id} has the same value in every field it names"
            ))
            .hint("change it with --address ID, or add a second one with --allow-duplicate")),
            None => new_address(draft),
        }
    };
    drafts.into_iter().map(addition).collect()
}

/// A new address: the draft itself, its region in both places.
fn new_address(mut draft: Map<String, Value>) -> Result<Value, Failure> {
    if let Some(word) = region::take_region_patch(&mut draft, None, "the new address")? {
        region::apply(&mut draft, &word, "the new address")?;
    }
    Ok(Value::Object(draft))
}

const ATTRIBUTES: &str = "custom_attributes";
const ADDRESSES: &str = "addresses";

/// Merges a field that a draft names into an object. A value that is the same but for the text of a number stays as it
/// is stored.
pub fn set_field(object: &mut Map<String, Value>, name: &str, value: &Value) {
    match object.get_mut(name) {
        Some(stored) => merge_value(stored, name, value),
        None => drop(object.insert(name.to_owned(), value.clone())),
    }
}

fn merge_value(stored: &mut Value, name: &str, draft: &Value) {
    match (&mut *stored, draft) {
        (Value::Object(stored), Value::Object(draft)) => {
            draft.iter().for_each(|(name, value)| set_field(stored, name, value));
        }
        (Value::Array(stored), Value::Array(draft)) if name == ATTRIBUTES && all_have_codes(draft) => {
            for attribute in draft {
                merge_attribute(stored, attribute);
            }
        }
        (Value::Array(stored), Value::Array(draft)) if name == ADDRESSES && have_ids(stored, draft) => {
            for address in draft {
                merge_address(stored, address);
            }
        }
        (stored, draft) if is_same(stored, draft) => {}
        (stored, draft) => *stored = with_stored_numbers(stored, draft),
    }
}

/// The draft's value, its numbers with their stored text where they did not change.
fn with_stored_numbers(stored: &Value, draft: &Value) -> Value {
    match (stored, draft) {
        (Value::Number(stored), Value::Number(draft)) if is_same_number(stored, draft) => {
            Value::Number(stored.clone())
        }
        (Value::Object(stored), Value::Object(draft)) => {
            let field = |(name, value): (&String, &Value)| {
                (name.clone(), with_stored_numbers(stored.get(name).unwrap_or(&Value::Null), value))
            };
            draft.iter().map(field).collect()
        }
        (Value::Array(stored), Value::Array(draft)) => {
            let element = |(index, value): (usize, &Value)| {
                let unchanged = stored.get(index).filter(|stored| is_same(stored, value));
                // An element may have moved, because one before it was inserted or removed.
                match unchanged.or_else(|| stored.iter().find(|stored| is_same(stored, value))) {
                    Some(unchanged) => unchanged.clone(),
                    None => with_stored_numbers(stored.get(index).unwrap_or(&Value::Null), value),
                }
            };
            draft.iter().enumerate().map(element).collect()
        }
        _ => draft.clone(),
    }
}

fn merge_attribute(stored: &mut Vec<Value>, draft: &Value) {
    let code = draft.get("attribute_code");
    match stored.iter_mut().find(|attribute| attribute.get("attribute_code") == code) {
        Some(attribute) => merge_value(attribute, "", draft),
        None => stored.push(draft.clone()),
    }
}

fn merge_address(stored: &mut Vec<Value>, draft: &Value) {
    let id = draft.get("id").and_then(id_of);
    let same = |address: &&mut Value| id.is_some() && address.get("id").and_then(id_of) == id;
    match stored.iter_mut().find(same) {
        Some(address) => merge_value(address, "", draft),
        None => stored.push(draft.clone()),
    }
}

fn all_have_codes(attributes: &[Value]) -> bool {
    attributes.iter().all(|attribute| attribute.get("attribute_code").is_some_and(Value::is_string))
}

fn have_ids(stored: &[Value], draft: &[Value]) -> bool {
    let identified = stored.iter().filter(|address| address.get("id").is_some());
    AddressIndex::of(identified).is_ok() && stored.iter().chain(draft).all(Value::is_object)
}

/// Refuses custom attributes that could not be merged by their code: one without, or two of one code. They are looked
/// for at every depth, but not inside the address list: each address is looked at by itself.
///
/// # Errors
/// `usage`, naming the code.
pub fn check_attribute_codes(draft: &Map<String, Value>, label: &str) -> Result<(), Failure> {
    for (name, value) in draft.iter().filter(|(name, _)| *name != ADDRESSES) {
        match value {
            Value::Array(attributes) if name == ATTRIBUTES => codes_are_unique(attributes, label)?,
            Value::Object(inside) => check_attribute_codes(inside, &format!("{label}{name}."))?,
            _ => {}
        }
    }
    Ok(())
}

fn codes_are_unique(attributes: &[Value], label: &str) -> Result<(), Failure> {
    let mut codes = HashSet::new();
    for attribute in attributes {
        let (problem, hint) = match attribute.get("attribute_code").and_then(Value::as_str) {
            None => {
                ("an element has no `attribute_code`".to_owned(), "add an `attribute_code` to each element")
            }
            Some(code) if !codes.insert(code) => {
                (format!("duplicate attribute_code `{code}`"), "list each attribute once")
            }
            Some(_) => continue,
        };
        return Err(Failure::usage(format!("{label}custom_attributes: {problem}")).hint(hint));
    }
    Ok(())
}

/// Sets the flag to false on every other stored address that has it. `before` gets those addresses as they were.
pub fn clear_others(
    wish: &ProfilePatch,
    ids: &[i64],
    stored: &mut [Value],
    before: &mut BTreeMap<usize, Value>,
) {
    for (position, (id, address)) in ids.iter().zip(stored).enumerate() {
        let others = wish.default_addresses.iter().filter(|default| default.address != Some(*id));
        for name in others.flat_map(|default| default.names()) {
            if !is_equivalent(name, Some(&Value::Bool(true)), address.get(name)) {
                continue;
            }
            before.entry(position).or_insert_with(|| address.clone());
            address[name] = no_flag(address.get(name));
        }
    }
}

/// A flag that is not set, in the type that is stored.
pub(super) fn no_flag(stored: Option<&Value>) -> Value {
    match stored {
        Some(Value::Number(_)) => 0.into(),
        Some(Value::String(_)) => "0".into(),
        _ => false.into(),
    }
}

/// Sets the profile's own default, where it is stored, to the id of the address. A new address has none yet: the default
/// is left out, and a note says so.
pub fn set_own(
    wish: &ProfilePatch,
    customer: &mut Map<String, Value>,
    changes: &mut Vec<Change>,
    notes: &mut Vec<String>,
) {
    let names = |default: DefaultAddress| default.names().map(move |name| (default.address, name));
    for (address, name) in wish.default_addresses.iter().copied().flat_map(names) {
        let Some(stored) = customer.get_mut(name) else { continue };
        let path = FieldPath::default().member(name);
        let Some(id) = address else {
            customer.shift_remove(name);
            changes.retain(|change| change.path != path);
            notes.push(format!("{name} is left out: the new address gets its id from the service"));
            continue;
        };
        let after = if stored.is_number() { Value::from(id) } else { Value::from(id.to_string()) };
        if is_equivalent(name, Some(&after), Some(stored)) {
            continue;
        }
        let before = std::mem::replace(stored, after.clone());
        match changes.iter_mut().find(|change| change.path == path) {
            Some(drafted) => drafted.after = Some(after),
            None => changes.push(Change { path, before: Some(before), after: Some(after) }),
        }
    }
}

/// A stored address with its id.
type Known<'a> = (i64, &'a Value);

/// The addresses of a list by the texts in them: many new addresses in a long list are each compared with few.
pub struct TwinIndex<'a> {
    list: Vec<Known<'a>>,
    /// By the field's name and its text; the names are those of the drafts so far.
    by_text: HashMap<String, HashMap<&'a str, Vec<Known<'a>>>>,
}

impl<'a> TwinIndex<'a> {
    /// An index of these addresses.
    pub fn new(list: impl Iterator<Item = (&'a i64, &'a Value)>) -> Self {
        Self { list: list.map(|(id, address)| (*id, address)).collect(), by_text: HashMap::new() }
    }

    /// The id of the first address that has every value that a draft names.
    pub fn find(&mut self, draft: &Map<String, Value>) -> Option<i64> {
        for (name, _) in draft.iter().filter(|(_, value)| distinctive_text(value).is_some()) {
            if !self.by_text.contains_key(name) {
                let index = self.index(name);
                self.by_text.insert(name.clone(), index);
            }
        }
        let with_same_text = |(name, value): (&String, &Value)| {
            let index = self.by_text.get(name)?;
            Some(index.get(distinctive_text(value)?).map_or(&[][..], Vec::as_slice))
        };
        let candidates = draft.iter().filter_map(with_same_text).min_by_key(|same| same.len());
        let mut candidates = candidates.unwrap_or(&self.list).iter();
        candidates.find(|(_, address)| is_twin(draft, address)).map(|(id, _)| *id)
    }

    fn index(&self, name: &str) -> HashMap<&'a str, Vec<Known<'a>>> {
        let mut index: HashMap<&str, Vec<Known<'a>>> = HashMap::new();
        for (id, address) in &self.list {
            if let Some(text) = address.get(name).and_then(distinctive_text) {
                index.entry(text).or_default().push((*id, address));
            }
        }
        index
    }
}

/// The text by which a value is found: only a value with the same text is equivalent to it. A number may be stored
/// as another text, and what may be a flag as no text at all.
fn distinctive_text(value: &Value) -> Option<&str> {
    const FLAGS: [&str; 2] = ["true", "false"];
    let text = match value {
        Value::Array(lines) => lines.first()?.as_str()?.trim(),
        value => value.as_str()?.trim(),
    };
    let is_distinctive = !text.is_empty() && text.parse::<f64>().is_err() && !FLAGS.contains(&text);
    is_distinctive.then_some(text)
}

/// Whether a stored address has every value that a draft names. The region id stands in two places.
fn is_twin(draft: &Map<String, Value>, address: &Value) -> bool {
    draft.iter().all(|(name, value)| {
        let elsewhere = if name == "region_id" { address.pointer("/region/region_id") } else { None };
        is_equivalent(name, Some(value), address.get(name).or(elsewhere))
    })
}

#[cfg(test)]
mod tests;
