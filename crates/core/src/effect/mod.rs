//! What one call changes, as a value: the thing that is shown before the call, written down before it leaves, looked for
//! after its answer, compared by `verify` and inverted by `undo`.
//!
//! # Owner
//! An effect has one [`Owner`]: a customer, a cart, an attribute, an order or a product in a scope, by the id that the service
//! gave it, never "the active one" or "the one with these words". An owner that the call itself makes has no id until the
//! answer names it.
//!
//! # Where it comes from
//! [`Effect::of_profile`] computes it from the profile that was read and the one that is wanted; other calls name their
//! changes. [`Effect::applied_to`] makes the wanted document from a read and the effect, and from nothing else: what is
//! sent is what the effect says.
//!
//! # What is seen
//! The look that closes a call notes what it showed in [`Change::seen`] and [`Created::seen`]: a region that the service
//! completed, a date with its midnight. What comes later compares with what was seen, else with what was sent; only whether a read is
//! too old ([`not_shown`]) is told by what was sent. What somebody else wrote before the look is not noted ([`Effect::close_by`]).
//!
//! # Sameness
//! Two values are the same under one relation, [`same_value`].

mod compose;
mod document;
mod inverse;
mod lag;
mod look;
mod words;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::id::AddressId;
use crate::profile::diff;
use crate::profile::equal::same_value;
use crate::profile::path::{FieldPath, List};
use crate::text::exact_json;

pub use compose::composed;
pub use document::Document;
pub use inverse::{Inverse, Left};
pub use lag::{OwnCall, not_shown};
pub use look::{Look, Side, Third, Told, are_shown};

/// What kind of thing a call changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A customer's profile with its addresses.
    Customer,
    /// A cart.
    Cart,
    /// A product attribute.
    Attribute,
    /// A placed order.
    Order,
    /// The values of a product.
    Product,
}

impl Kind {
    /// Whether services are known to store values of it in their own way: a town in capitals, a phone number without blanks.
    pub const fn is_rewritten(self) -> bool {
        matches!(self, Self::Customer | Self::Attribute)
    }
}

/// Whose values a call changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Owner {
    /// What it is.
    pub kind: Kind,
    /// The service's id; of a customer without one, the email; `None` as long as the call that makes it has no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The store view in which the values stand, where they differ between store views.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub scope: Option<String>,
}

/// What one call changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effect {
    /// Whose values.
    pub owner: Owner,
    /// Values that are set, added to, or removed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Change>,
    /// What the call creates, in the order in which the body has it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub creates: Vec<Created>,
    /// What must be there as it was, after the call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub keeps: Vec<Kept>,
}

/// One value that a call changes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change {
    /// Where, with the service's ids of addresses, items and options.
    #[serde(with = "path_as_text")]
    pub path: FieldPath,
    /// What was there before.
    pub before: Before,
    /// What the call sets.
    pub sent: Sent,
    /// What the look that closed the call showed there; `None` where nothing was looked at, or somebody else wrote what is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<Seen>,
}

/// What was there before a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Before {
    /// It was not read. That is not the same as nothing.
    NotRead,
    /// It was read; `None` where nothing was there.
    Read(Option<Value>),
}

/// What a call sets at a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sent {
    /// This value; `None` removes what is there.
    Value(Option<Value>),
    /// The number that was there and this one.
    Plus(Value),
    /// The id of what the call creates at this place of [`Effect::creates`].
    IdOf(usize),
}

/// What a look showed at a place.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// The value; `None` where nothing was there.
    pub value: Option<Value>,
}

/// Something that a call creates in a list of its owner, such as an address or an option.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Created {
    /// The list.
    pub list: List,
    /// What was sent.
    pub content: Value,
    /// The ids that the list had before the call: none of them is the new one.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<i64>,
    /// The id that the service gave it, once it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<i64>,
    /// The whole of it as the look that closed the call showed it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen: Option<Value>,
}

/// Something that a call must leave as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kept {
    /// Where.
    #[serde(with = "path_as_text")]
    pub path: FieldPath,
    /// What is there.
    pub content: Value,
}

impl Owner {
    /// The owner of this kind with this id.
    pub fn new(kind: Kind, id: impl ToString) -> Self {
        Self { kind, id: Some(id.to_string()), scope: None }
    }

    /// As results have it: `{"cart": 4}`; an id that is a number as one.
    pub fn to_json(&self) -> Value {
        let id = |id: &String| id.parse::<u64>().map_or_else(|_| Value::from(id.clone()), Value::from);
        let id = self.id.as_ref().map_or(Value::Null, id);
        let mut owner = exact_json::object([(self.kind.noun(), id)]);
        if let Some(scope) = &self.scope {
            owner["scope"] = Value::from(scope.clone());
        }
        owner
    }

    /// An owner that the call makes.
    pub fn to_be_made(kind: Kind) -> Self {
        Self { kind, id: None, scope: None }
    }
}

impl Change {
    /// The value that stands there once the call is applied: what was seen, else what was sent. `None` where that is not
    /// known: a number was added to one that was not read, or the id of what was created is not known.
    pub fn after(&self, creates: &[Created]) -> Option<Option<Value>> {
        self.seen.as_ref().map_or_else(|| self.wanted(creates), |seen| Some(seen.value.clone()))
    }

    /// The value that the call was to leave there, whatever was seen; `None` as for [`Self::after`].
    pub fn wanted(&self, creates: &[Created]) -> Option<Option<Value>> {
        match (&self.sent, &self.before) {
            (Sent::Value(value), _) => Some(value.clone()),
            (Sent::Plus(more), Before::Read(before)) => Some(sum(before.as_ref(), more)),
            (Sent::Plus(_), Before::NotRead) => None,
            (Sent::IdOf(at), _) => Some(Some(creates.get(*at)?.id?.into())),
        }
    }

    /// Whether the look that closed it showed the value before, where another one was asked for.
    pub fn was_seen_as_before(&self) -> bool {
        let name = self.path.last_name();
        let (Before::Read(before), Some(seen), Sent::Value(sent)) = (&self.before, &self.seen, &self.sent)
        else {
            return false;
        };
        same_value(name, seen.value.as_ref(), before.as_ref())
            && !same_value(name, sent.as_ref(), before.as_ref())
    }

    /// Whether a read can tell the value before from the value after.
    pub fn tells(&self, creates: &[Created]) -> bool {
        let name = self.path.last_name();
        match (&self.before, self.after(creates)) {
            (Before::Read(before), Some(after)) => !same_value(name, before.as_ref(), after.as_ref()),
            _ => false,
        }
    }
}

/// The sum of two numbers, or of their texts; `None` where one is none. Nothing counts as 0.
fn sum(before: Option<&Value>, more: &Value) -> Option<Value> {
    let number = |value: &Value| match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().parse::<f64>().ok(),
        _ => None,
    };
    let total = before.map_or(Some(0.0), number)? + number(more)?;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "a quantity without decimals is written as an integer"
    )]
    let whole = total as i64;
    #[expect(clippy::cast_precision_loss, reason = "only whole numbers of quantities come here")]
    let is_whole = (whole as f64 - total).abs() < f64::EPSILON;
    if is_whole { Some(whole.into()) } else { serde_json::Number::from_f64(total).map(Value::Number) }
}

impl Effect {
    /// An effect on this owner that changes nothing so far.
    pub fn on(owner: Owner) -> Self {
        Self { owner, changes: Vec::new(), creates: Vec::new(), keeps: Vec::new() }
    }

    /// What leads from one profile to another one. Addresses that are not changed are kept.
    pub fn of_profile(owner: Owner, before: &Map<String, Value>, after: &Map<String, Value>) -> Self {
        let mut effect = Self::on(owner);
        let known = |list: List| Document(before).elements(list).map(|(id, _)| id).collect::<Vec<_>>();
        for change in diff::customers(before, after) {
            let list = List::of(&change.path);
            match (list, change.before, change.after) {
                (Some(list), None, Some(content)) if change.path.is_new() => {
                    let known = known(list);
                    effect.creates.push(Created { list, content, known, id: None, seen: None });
                }
                (_, before, after) => effect.changes.push(Change {
                    path: change.path,
                    before: Before::Read(before),
                    sent: Sent::Value(after),
                    seen: None,
                }),
            }
        }
        effect.keep_others(before);
        effect
    }

    /// Notes as kept whatever stands in the lists of `before` by its id and is not changed.
    pub fn keep_others(&mut self, before: &Map<String, Value>) {
        for list in List::ALL {
            for (id, content) in Document(before).elements(list) {
                let path = list.element(id);
                if !self.changes.iter().any(|change| change.path.overlaps(&path)) {
                    self.keeps.push(Kept { path, content: content.clone() });
                }
            }
        }
    }

    /// The document that is sent: `read` with the effect in it. It depends on these two alone.
    pub fn applied_to(&self, read: &Map<String, Value>) -> Map<String, Value> {
        let mut document = read.clone();
        let (removals, others): (Vec<&Change>, Vec<&Change>) =
            self.changes.iter().partition(|change| change.path.is_element() && self.removes(change));
        for change in others {
            let value = match &change.sent {
                Sent::Value(value) => value.clone(),
                Sent::Plus(more) => sum(Document(read).at(&change.path), more),
                Sent::IdOf(_) => continue,
            };
            change.path.set(&mut document, value.as_ref());
        }
        for created in &self.creates {
            let list = document.entry(created.list.name()).or_insert_with(|| Value::Array(Vec::new()));
            if let Value::Array(list) = list {
                list.push(created.content.clone());
            }
        }
        for removal in removals {
            removal.path.set(&mut document, None);
        }
        document
    }

    fn removes(&self, change: &Change) -> bool {
        matches!(change.after(&self.creates), Some(None))
    }

    /// What was sent, with what the call created as the look that closed it showed it.
    pub fn as_stored(&self, sent: &Map<String, Value>) -> Map<String, Value> {
        let mut stored = sent.clone();
        for created in &self.creates {
            let Some(Value::Array(list)) = stored.get_mut(created.list.name()) else { continue };
            let is_it = |element: &&mut Value| {
                element.get(created.list.id_field()).is_none() && **element == created.content
            };
            if let (Some(seen), Some(element)) = (&created.seen, list.iter_mut().find(is_it)) {
                element.clone_from(seen);
            }
        }
        stored
    }

    /// The differences that it makes, as results have them. A value that is not known (it was not read, or an id is
    /// still to come) is left out.
    pub fn differences(&self) -> Vec<diff::FieldChange> {
        let change = |change: &Change| diff::FieldChange {
            path: change.path.clone(),
            before: match &change.before {
                Before::NotRead => None,
                Before::Read(value) => value.clone(),
            },
            after: change.after(&self.creates).flatten(),
        };
        let created = |created: &Created| diff::FieldChange {
            path: created.path(),
            before: None,
            after: Some(created.seen.as_ref().unwrap_or(&created.content).clone()),
        };
        self.changes.iter().map(change).chain(self.creates.iter().map(created)).collect()
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.changes.is_empty() && self.creates.is_empty()
    }

    /// The addresses that it is to remove, whatever was seen.
    pub fn removed_addresses(&self) -> impl Iterator<Item = AddressId> + '_ {
        let is_removed = |change: &&Change| change.path.is_address() && change.sent == Sent::Value(None);
        let removed = self.changes.iter().filter(is_removed);
        removed.filter_map(|change| change.path.address_id())
    }

    /// The addresses, items, options or owners that it deletes.
    pub fn deleted(&self) -> impl Iterator<Item = &FieldPath> {
        let is_owner = |path: &FieldPath| self.owner.kind == Kind::Attribute && path.is_code();
        let is_deleted = move |change: &&Change| {
            (change.path.is_element() || is_owner(&change.path)) && self.removes(change)
        };
        self.changes.iter().filter(is_deleted).map(|change| &change.path)
    }

    /// How many [`Self::deleted`] gives.
    pub fn deletions(&self) -> usize {
        self.deleted().count()
    }
}

/// A place is written as people read it.
mod path_as_text {
    use serde::{Deserialize, Deserializer, Serializer};

    use crate::profile::path::FieldPath;

    pub(super) fn serialize<S: Serializer>(path: &FieldPath, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(path)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<FieldPath, D::Error> {
        String::deserialize(from).map(|text| FieldPath::parse(&text))
    }
}

#[cfg(test)]
mod tests;
