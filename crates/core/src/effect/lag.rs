//! Whether a read is as new as our own calls: a replica may show what was there before them.

use serde_json::{Map, Value};

use super::{Before, Change, Document, Effect};
use crate::profile::equal::same_value;
use crate::profile::path::{FieldPath, List};

/// A place that a newer call changed, and what it left there; `None` where that is not known.
type Left<'a> = (&'a FieldPath, Option<Option<Value>>);

/// What a read does not show although calls with these effects on one owner, newest first, were applied, in words: it has a value
/// that one of them replaced or something that one removed, or lacks what one added. A value that none of them knows is somebody
/// else's.
pub fn not_shown(effects: &[Effect], read: &Map<String, Value>) -> Vec<String> {
    let (document, mut newer, mut missing) = (Document(read), Vec::<Left<'_>>::new(), Vec::new());
    for effect in effects {
        for change in &effect.changes {
            let after = change.after(&effect.creates);
            if is_old(change, after.as_ref(), &newer, document) {
                let place = change.path.in_words();
                missing.push(if change.path.is_element() {
                    format!("{place}, which was removed, is still there")
                } else {
                    format!("{place} has its old value")
                });
            }
        }
        for created in &effect.creates {
            let Some(id) = created.id else { continue };
            let path = created.path();
            let is_changed = newer.iter().any(|(place, _)| **place == path);
            if !is_changed && document.element(created.list, id).is_none() {
                missing.push(format!("{} is missing", path.in_words()));
            }
        }
        newer.extend(effect.changes.iter().map(|change| (&change.path, change.after(&effect.creates))));
    }
    missing.dedup();
    missing
}

/// Whether the value from before a change is shown, and not what the newest call left there.
fn is_old(
    change: &Change,
    after: Option<&Option<Value>>,
    newer: &[Left<'_>],
    document: Document<'_>,
) -> bool {
    let (name, now) = (change.path.last_name(), document.at(&change.path));
    let is_now = |value: Option<&Value>| same_value(name, now, value);
    let left = match newer.iter().find(|(place, _)| place.overlaps(&change.path)) {
        Some((place, left)) if **place == change.path => left.as_ref(),
        // What it stands in was changed as a whole since.
        Some(_) => None,
        None => after,
    };
    let Some(left) = left else { return false };
    if change.path.is_element() {
        return left.is_none() && now.is_some();
    }
    let element = List::of(&change.path).zip(change.path.element_id());
    let is_there = element.is_none_or(|(list, id)| document.element(list, id).is_some());
    let is_before = matches!(&change.before, Before::Read(before) if is_now(before.as_ref()));
    is_there && is_before && !is_now(left.as_ref())
}
