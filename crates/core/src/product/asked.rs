//! What an input asks for of one product: each value with the code or the label of its attribute.

use serde_json::{Map, Value};

use super::attribute::{Attribute, FIELDS, Kind, in_order};
use crate::sheet::cells;

/// What to do with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    /// It is set.
    Set,
    /// Options are named by their ids.
    SetIds,
    /// Options are added.
    Add,
    /// Options are removed.
    Remove,
}

/// The endings of titles that say so.
const ACTIONS: [(&str, Action); 3] =
    [(":add", Action::Add), (":remove", Action::Remove), (":id", Action::SetIds)];

/// A value that an input gives.
#[derive(Debug, Clone)]
pub struct Asked<'a> {
    /// The code or the label of the attribute, as it is written.
    pub title: &'a str,
    /// Where it is in the input, for messages.
    pub place: String,
    action: Action,
    value: &'a Value,
}

/// What a value is to become.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Target {
    /// Code of the attribute.
    pub code: String,
    to: To,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum To {
    Value(String),
    Nothing,
    /// Ids of options that are added, and of others that are removed.
    Edited(String, String),
}

impl<'a> Asked<'a> {
    /// The values that a record asks for.
    pub fn of(fields: &'a Map<String, Value>) -> Vec<Self> {
        let own = FIELDS.iter().filter_map(|name| {
            let value = fields.get(*name)?;
            Some(Self { title: name, place: (*name).to_owned(), action: Action::Set, value })
        });
        let custom = fields.get("custom_attributes").and_then(Value::as_array).into_iter().flatten();
        let custom = custom.filter_map(|one| {
            let title = one.get("attribute_code")?.as_str()?.trim();
            let value = one.get("value");
            let found = ACTIONS.iter().find_map(|(end, action)| Some((title.strip_suffix(end)?, *action)));
            let place = format!("custom_attributes[{title}]");
            let (title, action) = found.unwrap_or((title, Action::Set));
            Some(Self { title: title.trim(), place, action, value: value.unwrap_or(&Value::Null) })
        });
        own.chain(custom).collect()
    }

    /// What the value of this attribute is to become.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn target(&self, attribute: &Attribute) -> Result<Target, String> {
        let code = attribute.code.clone();
        let is_cleared =
            self.value.is_null() || cells::clears(self.value.as_str().unwrap_or_default().trim())?;
        let to = match self.action {
            Action::Set if is_cleared && ["name", "status"].contains(&&*code) => {
                return Err("it cannot be cleared".to_owned());
            }
            Action::Set if is_cleared => To::Nothing,
            Action::Set => To::Value(attribute.read(self.value)?),
            Action::SetIds => To::Value(attribute.read_ids(self.value)?),
            Action::Add | Action::Remove if attribute.kind != Kind::Choices => {
                return Err("it does not take several options: set it".to_owned());
            }
            Action::Add => To::Edited(attribute.read(self.value)?, String::new()),
            Action::Remove => To::Edited(String::new(), attribute.read(self.value)?),
        };
        Ok(Target { code, to })
    }
}

impl Target {
    /// The value that is sent if the product has `now`.
    pub fn value(&self, now: Option<&Value>) -> Option<Value> {
        let text = match &self.to {
            To::Value(value) => value.clone(),
            To::Nothing => return None,
            To::Edited(added, removed) => {
                let now = now.and_then(Value::as_str).unwrap_or_default();
                let is_left = |id: &&str| !removed.split(',').any(|removed| removed == *id);
                in_order(now.split(',').chain(added.split(',')).filter(is_left).map(str::to_owned).collect())
            }
        };
        Some(text).filter(|text| !text.is_empty()).map(Value::from)
    }

    /// Whether it clears the value, whatever it is.
    pub fn clears(&self) -> bool {
        self.to == To::Nothing
    }

    /// The value that does not depend on what the product has, `Some(None)` if it is cleared; `None` for options that
    /// are added or removed.
    pub fn plain(&self) -> Option<Option<&str>> {
        match &self.to {
            To::Value(value) => Some(Some(value)),
            To::Nothing => Some(None),
            To::Edited(..) => None,
        }
    }

    /// Merges another target of the same attribute into this one if both add or remove options; `false` if they
    /// contradict each other.
    fn takes_in(&mut self, other: &Self) -> bool {
        let (To::Edited(added, removed), To::Edited(more, less)) = (&mut self.to, &other.to) else {
            return false;
        };
        for (ids, others) in [(added, more), (removed, less)] {
            *ids = in_order(ids.split(',').chain(others.split(',')).map(str::to_owned).collect());
        }
        true
    }
}

/// Adds a target. An attribute has one value, or options that are added and removed.
///
/// # Errors
/// For an attribute that has a target already.
pub fn push(targets: &mut Vec<Target>, target: Target) -> Result<(), String> {
    let Some(known) = targets.iter_mut().find(|known| known.code == target.code) else {
        targets.push(target);
        return Ok(());
    };
    if known.takes_in(&target) { Ok(()) } else { Err("it is set twice".to_owned()) }
}
