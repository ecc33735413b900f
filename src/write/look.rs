//! Looks at the owner of a call, until it shows the change or the time is up.

use std::time::Duration;

use tokio::time::Instant;

use super::owner::{Owner, Shown};
use super::reads::Reads;
use super::seen::Seen;
use super::verdict::{self, Answer};
use crate::client::Reply;
use storefront_core::effect::Effect;
use storefront_core::failure::Failure;

/// The least time between two looks that prove that a call of unknown outcome was applied.
const PROOF_INTERVAL: Duration = Duration::from_secs(1);

/// Why a look that shows what a refused call asked for tells nothing.
const WAS_SO_BEFORE: &str = "what was sent is there, and was there a moment ago, too";

/// Looks at one owner.
pub(super) struct Looking<'a> {
    pub(super) owner: &'a dyn Owner,
}

impl Looking<'_> {
    /// One look.
    pub(super) async fn once(&self, effect: &Effect) -> Seen {
        match self.owner.read().await {
            Ok(shown) => self.compare(effect, shown),
            Err(failure) => Seen::Unreadable(failure),
        }
    }

    /// After a refusal: one look. A read that lags behind may lack what was added a moment ago, and has older values; so
    /// if something seems lost or somebody else's, it looks again. One that would show the change as well as it was before our own
    /// writes tells nothing.
    pub(super) async fn after_refusal(&self, effect: &Effect) -> Seen {
        let mut reads = Reads::new(self.owner.settle_time());
        loop {
            let seen = self.once(effect).await;
            let is_odd = matches!(seen.shown(Answer::Rejected), verdict::Shown::Lost | verdict::Shown::Other)
                && !matches!(seen, Seen::Gone(_));
            if !is_odd || !reads.wait().await {
                let is_told = !seen.is_after() || !self.owner.was_so_before();
                return if is_told { seen } else { Seen::Unreadable(Failure::guard(WAS_SO_BEFORE)) };
            }
        }
    }

    /// What the answer to a call shows, if it is a read.
    pub(super) fn in_answer(&self, effect: &Effect, reply: &Reply) -> Option<Seen> {
        Some(match self.owner.in_answer(effect, reply)? {
            Ok(shown) => self.compare(effect, shown),
            Err(failure) => Seen::Unreadable(failure),
        })
    }

    /// After success: reads until one shows the change, or two show the same rewritten values.
    pub(super) async fn until_shown(&self, effect: &Effect) -> Seen {
        let mut reads = Reads::new(self.owner.settle_time());
        let mut last = self.once(effect).await;
        while !last.is_after() && reads.wait().await {
            let seen = self.once(effect).await;
            if seen.is_rewritten_as(&last) {
                return seen;
            }
            // A read that fails does not replace an earlier one.
            if !matches!(seen, Seen::Unreadable(_)) || matches!(last, Seen::Unreadable(_)) {
                last = seen;
            }
        }
        last
    }

    /// After an unknown outcome: reads until two that are far enough apart show the change and could not have shown it
    /// before.
    pub(super) async fn until_proven(&self, effect: &Effect) -> Seen {
        let mut reads = Reads::new(self.owner.settle_time());
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
