//! The messages about a call that was not applied, or whose outcome is not known.

use super::owner::Owner;
use super::seen::Seen;
use super::verdict::Verdict;
use storefront_core::effect::{Look, Side};
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::hint::{Hint, hint};
use storefront_core::profile::path::FieldPath;
use storefront_core::text::sanitize::quoted;

/// The failure of a call. `answer` is the service's, unless it said that it made the change.
pub(super) fn of_call(
    owner: &dyn Owner,
    verdict: Verdict,
    seen: &Seen,
    answer: Option<Failure>,
    status: Option<u16>,
) -> Failure {
    if let Some(told) = owner.failed(verdict, seen, answer.as_ref(), status) {
        return told;
    }
    let noun = owner.noun();
    let answer = answer.unwrap_or_else(|| {
        let message = format!("the service accepted the change, and the {noun} does not show it");
        Failure { status, ..Failure::new(FailureKind::Mismatch, message).applied(Applied::Yes) }
    });
    let lost = lost(seen, noun);
    let compared = owner.compared(seen.document());
    let with = |message: String, others: [&Option<String>; 2]| {
        others.into_iter().flatten().fold(message, |message, other| format!("{message}; {other}"))
    };
    let said = |before: &str| with(format!("{before}{}", answer.message), [&lost, &compared]);
    let missing: Vec<String> = seen.lost().iter().map(ToString::to_string).collect();
    match verdict {
        Verdict::Mismatch => {
            let message = lost.clone().unwrap_or_else(|| with(answer.message.clone(), [&None, &compared]));
            let kind = FailureKind::Mismatch;
            Failure { kind, applied: Applied::Yes, message, missing, ..answer }.hint(undo_or_look(owner))
        }
        Verdict::RefusedButSaved => {
            let kind = FailureKind::Mismatch;
            let message = said(if seen.shows_any() { "refused, but saved: " } else { "" });
            Failure { kind, applied: Applied::Unknown, message, missing, ..answer }.hint(undo_or_look(owner))
        }
        Verdict::RefusedUnknown => {
            let doubt = doubt(owner, seen).unwrap_or_default();
            let message =
                format!("{}; whether it was saved all the same is unknown: {doubt}", answer.message);
            Failure { applied: Applied::Unknown, message, ..answer }.hint(undo_or_look(owner))
        }
        Verdict::Unknown => {
            let message = said("");
            Failure { message, missing, ..answer }.hint(repeat_after_look(owner))
        }
        Verdict::Applied { .. } | Verdict::Refused => answer,
    }
}

fn way_to_look(owner: &dyn Owner) -> Hint {
    hint!("look at the ", owner.noun(), " with ", owner.shown_by())
}

/// What to type where something was saved.
fn undo_or_look(owner: &dyn Owner) -> Hint {
    match owner.undo() {
        Some(undo) => hint!(way_to_look(owner), "; to undo what was saved, run ", undo),
        None => way_to_look(owner),
    }
}

/// What to type where nobody knows whether anything was saved.
fn repeat_after_look(owner: &dyn Owner) -> Hint {
    let again = hint!(way_to_look(owner), "; if it is as before, run the command again");
    match owner.undo() {
        Some(undo) => hint!(again, ", or undo it with ", undo),
        None => again,
    }
}

/// What was to be kept and is gone.
fn lost(seen: &Seen, noun: &str) -> Option<String> {
    let lost = seen.lost();
    let places: Vec<String> = lost.iter().map(FieldPath::in_words).collect();
    (!places.is_empty())
        .then(|| format!("the {noun} no longer has {}, which was not to change", places.join(", ")))
}

/// Why a change that was applied is not verified; `None` if it is.
pub(super) fn doubt(owner: &dyn Owner, seen: &Seen) -> Option<String> {
    let noun = owner.noun();
    match seen {
        Seen::Shown(document, look) if look.side() != Side::After => {
            owner.compared(Some(document)).or_else(|| doubt_of(look, noun))
        }
        Seen::Shown(..) => None,
        Seen::Gone(why) => Some(why.clone()),
        Seen::Unreadable(failure) => Some(format!("the {noun} could not be read: {}", failure.message)),
    }
}

/// What a look shows instead of the change.
fn doubt_of(look: &Look, noun: &str) -> Option<String> {
    match look.third.first() {
        Some(third) => {
            let now = third.now.as_ref().map_or_else(|| "nothing".to_owned(), quoted);
            Some(format!("the {noun} shows {} as {now}", third.path))
        }
        None => (look.side() != Side::After).then(|| format!("the {noun} shows only a part of it")),
    }
}
