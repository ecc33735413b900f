//! Looking at the owner of a call, until it shows the change or the time is up.

use std::time::Duration;

use serde_json::{Map, Value};
use tokio::time::Instant;

use super::owner::{Owner, Shown};
use super::reads::Reads;
use super::verdict::{self, Answer};
use crate::client::Reply;
use storefront_core::effect::{Effect, Look, Side};
use storefront_core::failure::Failure;
use storefront_core::profile::path::FieldPath;

/// Two looks that prove that a call of unknown outcome was applied are at least so far apart.
const PROOF_INTERVAL: Duration = Duration::from_secs(1);

/// Looks at one owner.
pub(super) struct Looking<'a> {
    pub(super) owner: &'a dyn Owner,
}

/// What the last look showed.
#[derive(Debug)]
pub(super) enum Seen {
    /// The owner, and how it compares.
    Shown(Map<String, Value>, Look),
    /// The owner is not there any more.
    Gone(String),
    /// It could not be read.
    Unreadable(Failure),
}

impl Looking<'_> {
    /// One look.
    pub(super) async fn once(&self, effect: &Effect) -> Seen {
        match self.owner.read().await {
            Ok(shown) => self.compare(effect, shown),
            Err(failure) => Seen::Unreadable(failure),
        }
    }

    /// After a refusal: one look. A read that lags behind may lack what was added a moment ago: what seems to be lost is looked for
    /// again.
    pub(super) async fn after_refusal(&self, effect: &Effect) -> Seen {
        let mut reads = Reads::new(self.owner.settle());
        loop {
            let seen = self.once(effect).await;
            if seen.lost().is_empty() || !reads.wait().await {
                return seen;
            }
        }
    }

    /// After success: the answer, where it shows the change, else reads until one does.
    pub(super) async fn until_shown(&self, effect: &Effect, reply: Option<&Reply>) -> Seen {
        if let Some(shown) = reply.and_then(|reply| self.owner.in_answer(effect, reply)) {
            let seen = self.compare(effect, shown);
            if seen.is_after() {
                return seen;
            }
        }
        let mut reads = Reads::new(self.owner.settle());
        let mut last = self.once(effect).await;
        while !last.is_after() && reads.wait().await {
            let seen = self.once(effect).await;
            // A read that fails takes nothing from an earlier one.
            if !matches!(seen, Seen::Unreadable(_)) || matches!(last, Seen::Unreadable(_)) {
                last = seen;
            }
        }
        last
    }

    /// After an unknown outcome: reads until two of them, far enough apart, show the change and could not have shown it before.
    pub(super) async fn until_proven(&self, effect: &Effect) -> Seen {
        let mut reads = Reads::new(self.owner.settle());
        let mut proof: Option<Instant> = None;
        loop {
            let seen = self.once(effect).await;
            let is_proof = matches!(&seen, Seen::Shown(_, look) if look.is_proof() && look.lost.is_empty());
            if is_proof {
                let at = *proof.get_or_insert_with(|| Instant::now() + PROOF_INTERVAL);
                if at <= Instant::now() {
                    return seen;
                }
            }
            match proof.filter(|at| *at > Instant::now()) {
                Some(at) => tokio::time::sleep_until(at).await,
                None if reads.wait().await => {}
                None if is_proof => return seen,
                None => return seen.unproven(),
            }
        }
    }

    fn compare(&self, effect: &Effect, shown: Shown) -> Seen {
        let (document, is_whole) = match shown {
            Shown::Whole(document) => (document, true),
            Shown::Part(document) => (document, false),
            Shown::Gone(why) => return Seen::Gone(why),
        };
        let mut look = self.owner.look(effect, &document);
        if !is_whole {
            look.lost.clear();
        }
        Seen::Shown(document, look)
    }
}

impl Seen {
    /// What it shows of a call with this answer, in the words of the table. Of a call of which only a part is shown the part
    /// counts that contradicts the answer.
    pub(super) fn shown(&self, answer: Answer) -> verdict::Shown {
        match self {
            Self::Shown(_, look) if !look.lost.is_empty() => verdict::Shown::Lost,
            Self::Shown(_, look) => match look.side() {
                Side::After => verdict::Shown::After,
                Side::Before => verdict::Shown::Before,
                Side::Other if answer == Answer::Applied && look.before > 0 => verdict::Shown::Before,
                Side::Other if answer == Answer::Rejected && look.shows_any() => verdict::Shown::After,
                Side::Other => verdict::Shown::Other,
            },
            Self::Gone(_) => verdict::Shown::Other,
            Self::Unreadable(_) => verdict::Shown::Unreadable,
        }
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

    /// Why a change that was applied is not verified; `None` where it is.
    pub(super) fn doubt(&self, owner: &dyn Owner) -> Option<String> {
        let noun = owner.noun();
        match self {
            Self::Shown(document, look) if look.side() != Side::After => {
                owner.compared(Some(document)).or_else(|| Self::doubt_of(look, noun))
            }
            Self::Shown(..) => None,
            Self::Gone(why) => Some(why.clone()),
            Self::Unreadable(failure) => Some(format!("the {noun} could not be read: {}", failure.message)),
        }
    }

    /// What a look shows instead of the change.
    fn doubt_of(look: &Look, noun: &str) -> Option<String> {
        match look.third.first() {
            Some(third) => {
                let now = third.now.as_ref().map_or_else(|| "nothing".to_owned(), |now| format!("`{now}`"));
                Some(format!("the {noun} shows {} as {now}", third.path))
            }
            None => (look.side() != Side::After).then(|| format!("the {noun} shows only a part of it")),
        }
    }

    /// What is left of a look that shows the change and proves nothing, because it may have shown it before.
    fn unproven(self) -> Self {
        match self {
            Self::Shown(document, look) if look.side() == Side::After => {
                let look = Look { before: look.before + 1, after: 0, ..look };
                Self::Shown(document, look)
            }
            seen => seen,
        }
    }
}
