//! Several effects of one owner as one.

use super::{Before, Change, Created, Effect, Sent, sum};
use crate::profile::path::FieldPath;

/// Combines effects of one owner, in the order in which they were made: each place has the first value before and the
/// last value after. What one created and a later one deleted is left out. `None` without effects.
pub fn composed(effects: &[Effect]) -> Option<Effect> {
    let (first, rest) = effects.split_first()?;
    let mut whole = first.clone();
    for next in rest {
        add(&mut whole, next);
    }
    // A change whose value before was not read stays, and so does one that a single effect made, even where both values are the
    // same.
    let writers = |path: &FieldPath| {
        effects.iter().filter(|effect| effect.changes.iter().any(|change| change.path.overlaps(path))).count()
    };
    let is_nothing = |change: &Change| {
        matches!(change.before, Before::Read(_)) && !change.tells(&whole.creates) && writers(&change.path) > 1
    };
    whole.changes.retain(|change| !is_nothing(change) || change.after(&whole.creates).is_none());
    Some(whole)
}

fn add(whole: &mut Effect, next: &Effect) {
    let offset = whole.creates.len();
    for change in &next.changes {
        let mut change = change.clone();
        if let Sent::IdOf(at) = &mut change.sent {
            *at += offset;
        }
        add_change(whole, change);
    }
    whole.creates.extend(next.creates.iter().cloned());
    let is_touched = |path: &FieldPath| next.changes.iter().any(|change| change.path.overlaps(path));
    whole.keeps.retain(|kept| !is_touched(&kept.path));
}

fn add_change(whole: &mut Effect, change: Change) {
    // What an earlier effect created, and this one changes or deletes.
    let own = |created: &Created| created.id.is_some() && change.path.overlaps(&created.path());
    if let Some(at) = whole.creates.iter().position(own) {
        return change_created(whole, at, &change);
    }
    // A change inside something that this one changes as a whole is part of it; the value before is that of the earlier
    // change.
    let inside: Vec<Change> = whole
        .changes
        .extract_if(.., |earlier| earlier.path != change.path && change.path.contains(&earlier.path))
        .collect();
    let mut change = change;
    for earlier in inside {
        if let (Before::Read(Some(before)), Before::Read(value)) = (&mut change.before, &earlier.before) {
            earlier.path.below(&change.path).set_in(before, value.as_ref());
        }
    }
    match whole.changes.iter_mut().find(|earlier| earlier.path == change.path) {
        Some(earlier) => {
            let sent = match (&earlier.sent, change.sent) {
                (Sent::Plus(first), Sent::Plus(more)) => Sent::Plus(sum(Some(first), &more).unwrap_or(more)),
                (_, sent) => sent,
            };
            (earlier.sent, earlier.seen) = (sent, change.seen);
        }
        None => whole.changes.push(change),
    }
}

fn change_created(whole: &mut Effect, at: usize, change: &Change) {
    let created = &mut whole.creates[at];
    if change.path == created.path() {
        // It was deleted: nothing is left of it. References to later ones move up.
        whole.creates.remove(at);
        for change in &mut whole.changes {
            if let Sent::IdOf(to) = &mut change.sent
                && *to > at
            {
                *to -= 1;
            }
        }
        return;
    }
    let place = change.path.below(&created.path());
    if let Some(after) = change.after(&[]) {
        place.set_in(&mut created.content, after.as_ref());
        if let Some(seen) = &mut created.seen {
            place.set_in(seen, after.as_ref());
        }
    }
}
