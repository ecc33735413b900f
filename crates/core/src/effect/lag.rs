//! Whether a read is as new as our own calls: a replica may show what was there before them.

use std::collections::HashSet;

use serde_json::{Map, Value};

use super::document::Indexed;
use super::{Before, Change, Created, Effect};
use crate::outcome::Extent;
use crate::profile::equal::{is_content, same_but_for_case, same_value};
use crate::profile::path::{FieldPath, List};

/// A call of ours that may have been applied.
#[derive(Debug, Clone, Copy)]
pub struct OwnCall<'a> {
    /// What it changed.
    pub effect: &'a Effect,
    /// How much of it was applied.
    pub extent: Extent,
    /// Whether the last accepted read came after it: what it left is what that shows.
    pub was_seen: bool,
}

impl OwnCall<'_> {
    /// What it was to leave at a place, null for nothing; `None` where that is not known. What was seen does not count: a look may
    /// have been older than calls before this one, or have passed over the place.
    fn left(&self, change: &Change) -> Option<Value> {
        change.wanted(&self.effect.creates).map(Option::unwrap_or_default)
    }

    /// Whether a look showed that the service keeps what was to be cleared, as a service that merges keeps a field that
    /// was not sent.
    fn is_kept(&self, change: &Change) -> bool {
        let (Some(seen), Before::Read(before)) = (&change.seen, &change.before) else { return false };
        self.left(change).is_some_and(|left| left.is_null())
            && !change.path.is_element()
            && same_value(change.path.last_name(), seen.value.as_ref(), before.as_ref())
    }
}

/// What a read does not show, in words, although these calls on one owner, newest first, were applied: it has a value
/// that one of them replaced or something that one removed, or lacks what one added, and the last read that was
/// `accepted` does not have it so, too. A value that none of the calls knows is somebody else's.
pub fn not_shown(
    calls: &[OwnCall<'_>],
    accepted: Option<&Map<String, Value>>,
    read: &Map<String, Value>,
) -> Vec<String> {
    let read = Indexed::of(read);
    let mut left = Left { accepted: accepted.map(Indexed::of), newer: Vec::new() };
    let mut missing: Vec<String> = Vec::new();
    for call in calls {
        for change in call.effect.changes.iter().filter(|change| left.is_old(change, call, &read)) {
            let place = change.path.in_words();
            let old = if change.path.is_element() {
                format!("{place}, which was removed, is still there")
            } else {
                format!("{place} has its old value")
            };
            missing.extend(Some(old).filter(|old| !missing.contains(old)));
        }
        if call.was_seen {
            continue;
        }
        if call.extent == Extent::Whole {
            let lacks = |created: &&Created| !left.is_changed(&created.path()) && !is_there(created, &read);
            missing.extend(call.effect.creates.iter().filter(lacks).map(lacked));
        }
        if call.extent != Extent::Unknown {
            left.newer.extend(call.effect.changes.iter().map(|change| (call, change)));
        }
    }
    missing
}

/// Whether what a call added is there, by its id or by its content under one that is new.
fn is_there(created: &Created, read: &Indexed<'_>) -> bool {
    if created.id.is_some_and(|id| read.element(created.list, id).is_some()) {
        return true;
    }
    let known: HashSet<i64> = created.known.iter().copied().collect();
    let mut elements = read.document.elements(created.list);
    elements.any(|(id, one)| !known.contains(&id) && is_content(one, Some(&created.content)))
}

fn lacked(created: &Created) -> String {
    match (created.id, created.list) {
        (None, List::Addresses) => "the address that was added is missing".to_owned(),
        _ => format!("{} is missing", created.path().in_words()),
    }
}

/// What our calls left.
struct Left<'a> {
    accepted: Option<Indexed<'a>>,
    /// The changes of newer calls that the accepted read is too old to show.
    newer: Vec<(&'a OwnCall<'a>, &'a Change)>,
}

impl Left<'_> {
    fn is_changed(&self, path: &FieldPath) -> bool {
        self.newer.iter().any(|(_, newer)| newer.path == *path)
    }

    /// Whether the value from before a change is shown, and not what the calls left there.
    fn is_old(&self, change: &Change, call: &OwnCall<'_>, read: &Indexed<'_>) -> bool {
        let name = change.path.last_name();
        let shown = read.at(&change.path);
        let element = List::of(&change.path).zip(change.path.element_id());
        let is_there = element.is_none_or(|(list, id)| read.element(list, id).is_some());
        let Some(expected) = self.expected(change, call, shown).filter(|_| is_there) else { return false };
        if change.path.is_element() {
            return expected.is_null();
        }
        matches!(&change.before, Before::Read(before) if same_value(name, shown, before.as_ref()))
            && !same_value(name, shown, Some(&expected))
    }

    /// The value that is there if all of our calls are, null for none; `None` where that is not known. A newer call
    /// overrides an older one, but the service may have filled in what was cleared, such as the name of a region.
    fn expected(&self, change: &Change, call: &OwnCall<'_>, shown: Option<&Value>) -> Option<Value> {
        let path = &change.path;
        let name = change.path.last_name();
        let before = match &change.before {
            Before::Read(before) => before.as_ref(),
            Before::NotRead if path.is_element() => None,
            Before::NotRead => return None,
        };
        if let Some((newer_call, newer)) = self.newer.iter().find(|(_, newer)| newer.path.overlaps(path)) {
            let after = newer_call.left(newer)?;
            // One that was applied in part may have left what was there before it, and nothing that is older.
            let may_be_left = matches!(&newer.before, Before::Read(before) if same_value(name, shown, before.as_ref()))
                || same_but_for_case(name, shown, Some(&after));
            let was_changed = call.extent == Extent::Whole
                || call.was_seen
                    && self.accepted(path).is_some_and(|left| !same_value(name, Some(left), before));
            let is_certain = newer_call.extent == Extent::Whole || was_changed && !may_be_left;
            let is_set = !same_value(name, Some(&after), None);
            return (newer.path == *path && is_set && is_certain).then_some(after);
        }
        if call.was_seen {
            return self.accepted(path).cloned();
        }
        // A service that writes texts in its own way may show the value from before for one that differs in case only.
        let after = call.left(change)?;
        let is_told =
            path.is_element() || !call.is_kept(change) && !same_but_for_case(name, before, Some(&after));
        (call.extent == Extent::Whole && is_told).then_some(after)
    }

    /// What the accepted read has there, null for nothing; `None` where what it stands in is not there.
    fn accepted(&self, path: &FieldPath) -> Option<&Value> {
        let accepted = self.accepted.as_ref()?;
        let element = List::of(path).zip(path.element_id()).filter(|_| !path.is_element());
        let is_there = element.is_none_or(|(list, id)| accepted.element(list, id).is_some());
        is_there.then(|| accepted.at(path).unwrap_or(&Value::Null))
    }
}

#[cfg(test)]
mod tests;
