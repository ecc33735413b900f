//! What a read shows of an effect.

use serde_json::{Map, Value};

use super::{Before, Change, Created, Document, Effect, Seen, Sent, composed};
use crate::profile::diff;
use crate::profile::equal::{is_content, is_elsewhere, is_made_of, is_untouched, same_value, shares_place};
use crate::profile::path::{FieldPath, List};

/// Which side of a call a read shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Everything is as the call leaves it.
    After,
    /// Everything that tells is as it was before the call.
    Before,
    /// Neither: there is a third value, or only a part is as the call leaves it.
    Other,
}

/// What a read shows of an effect, change by change.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Look {
    /// How many changes and creations are shown as the call leaves them, and were not so before.
    pub after: usize,
    /// How many are shown as they were before.
    pub before: usize,
    /// Where there is a third value.
    pub third: Vec<Third>,
    /// How many are shown as the call leaves them, and nothing tells whether they were so before.
    pub untold: usize,
    /// What was to be kept and is gone, or is somewhere else.
    pub lost: Vec<FieldPath>,
}

/// What the service has told of a call whose owner is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Told {
    /// Nobody said that it was applied.
    Nothing,
    /// It was accepted; the look is a read of its own, before which somebody else may have written.
    Accepted,
    /// It was accepted, and its answer is the look: what that has is what the service made of the call.
    Shown,
}

/// A place with a value that the call did not write, and that was not there before it.
#[derive(Debug, Clone, PartialEq)]
pub struct Third {
    /// Where.
    pub path: FieldPath,
    /// What the call leaves there; `None` where that is not known.
    pub written: Option<Option<Value>>,
    /// What is there.
    pub now: Option<Value>,
}

impl Look {
    /// The side that is shown.
    pub fn side(&self) -> Side {
        match (self.before, self.third.is_empty()) {
            (0, true) => Side::After,
            (_, true) if self.after == 0 => Side::Before,
            _ => Side::Other,
        }
    }

    /// Whether it proves that the call was applied: all of it is shown, and something was not so before.
    pub fn is_proof(&self) -> bool {
        self.side() == Side::After && self.after > 0
    }

    /// Whether something that was asked for is shown that was not so before.
    pub fn shows_any(&self) -> bool {
        self.after > 0
    }

    /// Whether it shows something that the call carried, and is not another editor's work.
    pub fn tells_of_it(&self) -> bool {
        self.shows_any() && (self.before == 0 || self.third.is_empty())
    }
}

/// Whether a read proves that all of these calls on one owner, in the order in which they were made, were applied, and lost nothing
/// that was to be kept. Of none there is no proof.
pub fn are_shown(effects: &[Effect], read: &Map<String, Value>) -> bool {
    let has_lost = |whole: Effect| !whole.look(read).lost.is_empty();
    effects.iter().all(|effect| effect.look(read).is_proof())
        && composed(effects).is_some_and(|whole| !has_lost(whole))
}

impl Effect {
    /// Compares a read of the owner with the effect.
    pub fn look(&self, read: &Map<String, Value>) -> Look {
        let mut look = Look::default();
        let found = self.find_created(read);
        for change in &self.changes {
            self.compare_change(change, Document(read), &found, &mut look);
        }
        for (created, found) in self.creates.iter().zip(&found) {
            match found {
                Some(_) => look.after += 1,
                None if created.id.is_some() => look.third.push(Third {
                    path: created.path(),
                    written: Some(Some(created.content.clone())),
                    now: None,
                }),
                None => look.before += 1,
            }
        }
        for kept in &self.keeps {
            let now = Document(read).at(&kept.path);
            let is_gone = now.is_none_or(|now| is_address_moved(&kept.path, now, &kept.content));
            if is_gone && !self.is_renumbered(&kept.content, &kept.path, read) {
                look.lost.push(kept.path.clone());
            }
        }
        look
    }

    fn compare_change(
        &self,
        change: &Change,
        read: Document<'_>,
        created: &[Option<(i64, &Value)>],
        look: &mut Look,
    ) {
        let now = read.at(&change.path);
        let name = change.path.last_name();
        let after = change.after(&self.creates);
        let is_after = match (&after, &change.sent) {
            (Some(after), _) => same_value(name, now, after.as_ref()),
            // The reference is as wanted where it names the new one, whose id nobody knew.
            (None, Sent::IdOf(at)) => created
                .get(*at)
                .copied()
                .flatten()
                .is_some_and(|(id, _)| same_value(name, now, Some(&Value::from(id)))),
            (None, _) => false,
        };
        let is_before =
            matches!(&change.before, Before::Read(before) if same_value(name, now, before.as_ref()));
        match (is_after, is_before, &change.before) {
            (true, true, _) | (true, _, Before::NotRead) => look.untold += 1,
            (true, false, Before::Read(_)) => look.after += 1,
            (false, true, _) => look.before += 1,
            _ if self.is_filled_in(change) => look.untold += 1,
            (false, false, _) => {
                look.third.push(Third { path: change.path.clone(), written: after, now: now.cloned() });
            }
        }
    }

    /// Whether the service fills in what a change empties.
    fn is_filled_in(&self, change: &Change) -> bool {
        let Sent::Value(emptied) = &change.sent else { return false };
        change.path.is_filled_in(emptied.as_ref(), |id| {
            self.changes.iter().find(|other| other.path == *id).and_then(|other| match &other.sent {
                Sent::Value(sent) => sent.as_ref(),
                _ => None,
            })
        })
    }

    /// What the call created, for each of [`Effect::creates`]: by its id, else by its content among what is new. One that has
    /// just the content that was sent comes before one that has more. Of equal ones the first has the lower id.
    pub fn find_created<'a>(&self, read: &'a Map<String, Value>) -> Vec<Option<(i64, &'a Value)>> {
        self.find_new(read, &[is_all_content, is_some_content])
    }

    /// As [`Self::find_created`]; the functions of `is_one`, one after another, say what is taken for a creation.
    fn find_new<'a>(
        &self,
        read: &'a Map<String, Value>,
        is_one: &[fn(&Value, &Value) -> bool],
    ) -> Vec<Option<(i64, &'a Value)>> {
        let document = Document(read);
        let by_id = |created: &Created| {
            let id = created.id?;
            document.element(created.list, id).map(|element| (id, element))
        };
        let mut found: Vec<Option<(i64, &Value)>> = self.creates.iter().map(by_id).collect();
        for is_it in is_one {
            for (at, created) in self.creates.iter().enumerate() {
                if created.id.is_some() || found[at].is_some() {
                    continue;
                }
                let is_claimed = |id: i64| {
                    let mut others = self.creates.iter().zip(&found);
                    others.any(|(other, found)| {
                        other.list == created.list && found.is_some_and(|(own, _)| own == id)
                    })
                };
                let is_new = |id: i64| !created.known.contains(&id) && !is_claimed(id);
                found[at] = document
                    .elements(created.list)
                    .filter(|(id, element)| is_new(*id) && is_it(element, &created.content))
                    .min_by_key(|(id, _)| *id);
            }
        }
        found
    }

    /// Whether an element that is not there by its id is there by its content, under an id that is new.
    fn is_renumbered(&self, content: &Value, path: &FieldPath, read: &Map<String, Value>) -> bool {
        let Some(list) = List::of(path) else { return false };
        let is_known = |id: i64| {
            let element = list.element(id);
            self.keeps.iter().any(|kept| kept.path == element)
                || self.changes.iter().any(|change| change.path.overlaps(&element))
        };
        let mut content = content.clone();
        if let Value::Object(fields) = &mut content {
            fields.shift_remove(list.id_field());
        }
        Document(read).elements(list).any(|(id, now)| !is_known(id) && is_content(now, Some(&content)))
    }

    /// Notes what a read shows of a call that nobody said was applied, with the ids of what was created.
    pub fn close(&mut self, read: &Map<String, Value>) {
        let look = self.look(read);
        self.close_by(read, &look, Told::Nothing);
    }

    /// Notes what a look at a read showed, with the ids of what was created. Only a service that accepted the call may have
    /// written it in its own way, and a read after the answer shows that only where the value can be made of the one that was
    /// sent ([`is_made_of`]): any other value that is neither the one before nor the one that was sent is somebody else's,
    /// and so is an address that only resembles one that was not accepted. These are not noted. What stands inside an element
    /// that is not there was not looked at.
    pub fn close_by(&mut self, read: &Map<String, Value>, look: &Look, told: Told) {
        let may_be_rewritten = told != Told::Nothing && self.owner.kind.is_rewritten();
        let is_one: &[fn(&Value, &Value) -> bool] = if may_be_rewritten {
            &[is_all_content, is_some_content, is_rewritten]
        } else {
            &[is_all_content, is_some_content]
        };
        let found = self.find_new(read, is_one).into_iter();
        let found: Vec<_> = found.map(|found| found.map(|(id, seen)| (id, seen.clone()))).collect();
        for (created, found) in self.creates.iter_mut().zip(found) {
            if let Some((id, seen)) = found {
                (created.id, created.seen) = (Some(id), Some(seen));
            }
        }
        for change in &mut self.changes {
            let element = List::of(&change.path).zip(change.path.element_id());
            let is_there = change.path.is_element()
                || element.is_none_or(|(list, id)| Document(read).element(list, id).is_some());
            let now = Document(read).at(&change.path);
            let is_made = || {
                let sent = change.wanted(&self.creates).flatten();
                told == Told::Shown
                    || change.path.is_element()
                    || change.path.is_in_region()
                    || is_made_of(change.path.last_name(), now, sent.as_ref())
            };
            let is_third = look.third.iter().any(|third| third.path == change.path);
            let is_foreign = is_third && !(may_be_rewritten && is_made());
            change.seen = (is_there && !is_foreign).then(|| Seen { value: now.cloned() });
        }
    }

    /// The places where the look that closed it showed neither the value before nor the value that was sent: what the
    /// service made of them.
    pub fn rewritten(&self) -> Vec<diff::FieldChange> {
        let changed = self.changes.iter().filter_map(|change| {
            let (Some(seen), Sent::Value(Some(sent))) = (&change.seen, &change.sent) else { return None };
            let before = match &change.before {
                Before::Read(before) => before.clone(),
                Before::NotRead => None,
            };
            let is_now =
                |value: Option<&Value>| same_value(change.path.last_name(), seen.value.as_ref(), value);
            let path = change.path.clone();
            let after = seen.value.clone();
            let is_other = !is_now(Some(sent)) && !is_now(before.as_ref());
            is_other.then_some(diff::FieldChange { path, before, after })
        });
        let created = self.creates.iter().filter_map(|created| {
            let seen = created.seen.as_ref().filter(|seen| !is_some_content(seen, &created.content))?;
            let path = FieldPath::new_in(created.list.name());
            let after = Some(seen.clone());
            Some(diff::FieldChange { path, before: None, after })
        });
        changed.chain(created).collect()
    }
}

impl Created {
    /// Where it is, once its id is known.
    pub fn path(&self) -> FieldPath {
        self.id.map_or_else(|| FieldPath::new_in(self.list.name()), |id| self.list.element(id))
    }
}

/// Whether an element has what was sent.
fn is_some_content(element: &Value, sent: &Value) -> bool {
    is_content(element, Some(sent))
}

/// Whether an element has what was sent, and nothing else but ids, flags and what is empty.
fn is_all_content(element: &Value, sent: &Value) -> bool {
    is_some_content(element, sent) && is_untouched(element, sent)
}

/// Whether an address has the street, city or postcode that was sent.
fn is_rewritten(element: &Value, sent: &Value) -> bool {
    shares_place(element, Some(sent))
}

/// Whether an address that was to stay is another one now: street, city and postcode are all others.
fn is_address_moved(path: &FieldPath, now: &Value, before: &Value) -> bool {
    path.is_address() && is_elsewhere(now, before)
}
