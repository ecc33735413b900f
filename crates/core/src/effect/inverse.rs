//! The inverse of an effect.
//!
//! An inverse is built from what the owner shows now: a value goes back only where it is the one that the call left. Facts
//! that the owner's document does not show, such as whether a product has an option, are asked by whoever sends it.

use serde_json::{Map, Value};

use super::{Before, Change, Created, Document, Effect, Kept, Sent};
use crate::profile::equal::{is_content, same_value};
use crate::profile::path::{FieldPath, List};

/// What leads back, and what is left.
#[derive(Debug, Clone, PartialEq)]
pub struct Inverse {
    /// What goes back. Its own inverse makes the change again.
    pub effect: Effect,
    /// What does not go back.
    pub left: Vec<Left>,
}

/// Something that does not go back.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// Where.
    pub path: FieldPath,
    /// Why, in words that follow the place.
    pub why: &'static str,
}

const CHANGED_SINCE: &str = "has changed since";
const NOT_READ: &str = "was not read before it was changed";
const NOT_KNOWN: &str = "is not known: no answer told it";
const IS_GONE: &str = "is gone";
const STAYS: &str = "stays: no call removes a comment";
pub(super) const IS_THERE_AGAIN: &str = "is there again";

impl Effect {
    /// What leads from what a read shows now to what was there before.
    pub fn inverse(&self, now: &Map<String, Value>) -> Inverse {
        let mut inverse = Inverse { effect: Self::on(self.owner.clone()), left: Vec::new() };
        let moved = self.moved_since(now);
        for change in &self.changes {
            if change.path.is_element() {
                bring_back(change, now, &mut inverse);
            } else {
                self.set_back(change, now, &moved, &mut inverse);
            }
        }
        for created in &self.creates {
            delete_created(created, now, &mut inverse);
        }
        inverse.effect.keeps = kept_now(now, &inverse.effect);
        inverse
    }

    /// A field goes back where it has the value that the call left.
    fn set_back(
        &self,
        change: &Change,
        now: &Map<String, Value>,
        moved: &[FieldPath],
        inverse: &mut Inverse,
    ) {
        let name = change.path.last_name();
        let there = Document(now).at(&change.path);
        let mut leave = |why| inverse.left.push(Left { path: change.path.clone(), why });
        let (before, Some(after)) = (&change.before, change.after(&self.creates)) else {
            return leave(NOT_KNOWN);
        };
        let Before::Read(before) = before else { return leave(NOT_READ) };
        let is_element_there = |path: &FieldPath| {
            let element = List::of(path).and_then(|list| Some(list.element(path.element_id()?)));
            element.is_none_or(|element| Document(now).at(&element).is_some())
        };
        if !is_element_there(&change.path) {
            return leave(IS_GONE);
        }
        if same_value(name, there, before.as_ref()) {
            return;
        }
        if !same_value(name, there, after.as_ref())
            || change.path.place_of().is_some_and(|address| moved.contains(&address))
        {
            return leave(CHANGED_SINCE);
        }
        inverse.effect.changes.push(Change {
            path: change.path.clone(),
            before: Before::Read(there.cloned()),
            sent: Sent::Value(before.clone()),
            seen: None,
        });
    }

    /// The addresses whose place was changed since: one of its fields is neither as the call left it nor as it was
    /// before.
    fn moved_since(&self, now: &Map<String, Value>) -> Vec<FieldPath> {
        let moved = |change: &Change| {
            let is_now = |value: &Option<Value>| {
                same_value(change.path.last_name(), Document(now).at(&change.path), value.as_ref())
            };
            let is_before = matches!(&change.before, Before::Read(before) if is_now(before));
            let after = change.after(&self.creates)?;
            change.path.place_of().filter(|_| !is_before && !is_now(&after))
        };
        self.changes.iter().filter_map(moved).collect()
    }
}

/// An element that was removed is added once more, unless one with its content is there.
fn bring_back(change: &Change, now: &Map<String, Value>, inverse: &mut Inverse) {
    let Some(list) = List::of(&change.path) else { return };
    let mut leave = |why| inverse.left.push(Left { path: change.path.clone(), why });
    let Before::Read(Some(content)) = &change.before else { return leave(NOT_READ) };
    let known: Vec<i64> = Document(now).elements(list).map(|(id, _)| id).collect();
    if Document(now).elements(list).any(|(_, there)| is_content(there, Some(content))) {
        return leave(IS_THERE_AGAIN);
    }
    let mut content = content.clone();
    if let Value::Object(fields) = &mut content {
        fields.shift_remove(list.id_field());
    }
    inverse.effect.creates.push(Created { list, content, known, id: None, seen: None });
}

/// What stays as it is while the inverse is carried out.
fn kept_now(now: &Map<String, Value>, inverse: &Effect) -> Vec<Kept> {
    let lists = List::ALL.into_iter();
    let kept = lists.flat_map(|list| {
        Document(now).elements(list).map(move |(id, content)| (list.element(id), content.clone()))
    });
    kept.filter(|(path, _)| !inverse.changes.iter().any(|change| change.path.overlaps(path)))
        .map(|(path, content)| Kept { path, content })
        .collect()
}

/// What was created is deleted where every field of it is as the service stored it.
fn delete_created(created: &Created, now: &Map<String, Value>, inverse: &mut Inverse) {
    let path = created.path();
    let mut leave = |why| inverse.left.push(Left { path: path.clone(), why });
    if created.list == List::Comments {
        return leave(STAYS);
    }
    let (Some(id), Some(seen)) = (created.id, &created.seen) else { return leave(NOT_KNOWN) };
    // If it is gone, everything is as it was before the call.
    let Some(there) = Document(now).element(created.list, id) else { return };
    if !same_value("", Some(there), Some(seen)) {
        return leave(CHANGED_SINCE);
    }
    inverse.effect.changes.push(Change {
        path,
        before: Before::Read(Some(there.clone())),
        sent: Sent::Value(None),
        seen: None,
    });
}
