//! What the last look at an owner showed.

use serde_json::{Map, Value};

use super::verdict::{self, Answer};
use storefront_core::effect::{Look, Side};
use storefront_core::failure::{Failure, FailureKind};
use storefront_core::profile::path::FieldPath;

/// What the last look showed.
#[derive(Debug)]
pub enum Seen {
    /// The owner, and how it compares.
    Shown(Map<String, Value>, Look),
    /// The owner is not there any more.
    Gone(String),
    /// It could not be read.
    Unreadable(Failure),
}

impl Seen {
    /// What it shows of a call with this answer, as a column of the table. If only a part of the call is shown, the part
    /// that contradicts the answer counts.
    pub(super) fn shown(&self, answer: Answer) -> verdict::Shown {
        match self {
            Self::Shown(_, look) if !look.lost.is_empty() => verdict::Shown::Lost,
            Self::Shown(_, look) => match look.side() {
                Side::After => verdict::Shown::After,
                Side::Before => verdict::Shown::Before,
                Side::Other if answer == Answer::Applied && look.before > 0 => verdict::Shown::Before,
                Side::Other if answer == Answer::Rejected && look.tells_of_it() => verdict::Shown::After,
                Side::Other => verdict::Shown::Other,
            },
            Self::Gone(_) => verdict::Shown::Other,
            // The answer came from another owner than the one that was written to.
            Self::Unreadable(failure)
                if failure.kind == FailureKind::Mismatch && answer == Answer::Applied =>
            {
                verdict::Shown::Lost
            }
            Self::Unreadable(_) => verdict::Shown::Unreadable,
        }
    }

    /// Whether two looks show the same rewritten values, and nothing else is missing.
    pub(super) fn is_rewritten_as(&self, other: &Self) -> bool {
        let third = |seen: &Self| match seen {
            Self::Shown(_, look) if look.before == 0 && look.lost.is_empty() => Some(look.third.clone()),
            _ => None,
        };
        third(self).filter(|third| !third.is_empty()).is_some_and(|own| third(other) == Some(own))
    }

    /// Whether nothing more can come of the call: all that was asked for is visible, whatever else was lost, or the
    /// call's own answer shows what is missing.
    pub(super) fn is_final(&self, is_answer: bool) -> bool {
        let Self::Shown(_, look) = self else { return false };
        is_answer || look.before == 0 && (look.after > 0 || !look.third.is_empty())
    }

    /// Whether it shows all that was asked for, and nothing lost.
    pub(super) fn is_after(&self) -> bool {
        self.shown(Answer::Applied) == verdict::Shown::After
    }

    /// The owner as it was seen.
    pub(super) fn document(&self) -> Option<&Map<String, Value>> {
        match self {
            Self::Shown(document, _) => Some(document),
            Self::Gone(_) | Self::Unreadable(_) => None,
        }
    }

    /// What was to be kept and is gone.
    pub(super) fn lost(&self) -> &[FieldPath] {
        match self {
            Self::Shown(_, look) => &look.lost,
            Self::Gone(_) | Self::Unreadable(_) => &[],
        }
    }

    /// A look that shows the change but proves nothing, because it may have shown it before.
    pub(super) fn unproven(self) -> Self {
        match self {
            Self::Shown(document, look) if look.side() == Side::After => {
                let look = Look { before: look.before + 1, after: 0, ..look };
                Self::Shown(document, look)
            }
            seen => seen,
        }
    }

    /// Whether it shows something that was asked for and was not there before, or all of it.
    pub(super) fn shows_any(&self) -> bool {
        matches!(self, Self::Shown(_, look) if look.shows_any() || look.side() == Side::After)
    }
}
