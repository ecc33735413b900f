//! A profile that is replaced, or from which a call removes an address, as an owner of a write.

use std::cell::{Cell, OnceCell, RefCell};
use std::time::Duration;

use futures_util::future::LocalBoxFuture;
use serde_json::{Map, Value};

use super::earlier::was_so_before;
use super::lag::Recent;
use super::messages::{self, Unproven};
use super::read::{self, LoadedProfile};
use crate::client::Reply;
use crate::client::service::Service;
use crate::log::WriteName;
use crate::state::{self, LockName};
use crate::write::owner::{Owner, Shown};
use crate::write::{Seen, Verdict};
use storefront_core::absent::{Absent, named_in};
use storefront_core::effect::{Document, Effect, Look, Third};
use storefront_core::email::Email;
use storefront_core::failure::{Applied, Failure, FailureKind};
use storefront_core::hint::{Hint, storefront};
use storefront_core::id::AddressId;
use storefront_core::profile::merge::Merged;
use storefront_core::profile::path::{FieldPath, List};
use storefront_core::profile::stored::{Pointers, Profile};
use storefront_core::profile::verify::{Verification, is_provable, verify};

/// A profile that is replaced.
pub struct Replaced<'a> {
    /// The service, with the customer's id if it was named.
    pub service: &'a Service<'a>,
    /// The profile that it is made from.
    pub loaded: &'a LoadedProfile,
    /// What is sent.
    pub merged: &'a Merged,
    /// Its name in the log.
    pub write: WriteName,
    /// What our own writes of the minute before left.
    pub recent: &'a Recent,
    /// What the last look showed.
    last: RefCell<Option<(Verification, Profile)>>,
    /// Whether that was the reply itself.
    is_reply: Cell<bool>,
    unproven: OnceCell<Unproven>,
}

impl<'a> Replaced<'a> {
    /// A profile that is about to be replaced.
    pub fn new(
        service: &'a Service<'a>,
        loaded: &'a LoadedProfile,
        merged: &'a Merged,
        write: WriteName,
        recent: &'a Recent,
    ) -> Self {
        let (last, is_reply, unproven) = <_>::default();
        Self { service, loaded, merged, write, recent, last, is_reply, unproven }
    }

    /// Why nothing could prove it after an unknown outcome.
    fn unproven(&self) -> Unproven {
        *self.unproven.get_or_init(|| {
            let before = self.loaded.stored.customer();
            let sent = &self.merged.customer;
            if !self.loaded.is_readable {
                Unproven::Unreadable
            } else if !is_provable(before, sent, &self.service.settings.read.ignore) {
                Unproven::NothingToShow
            } else if was_so_before(self.service, &self.loaded.store, self.write, before, sent) {
                Unproven::SetsBack
            } else {
                Unproven::NotShown
            }
        })
    }

    /// Compares a read, or the reply, with what was sent, and keeps what it shows.
    fn compare(&self, now: Profile) -> Result<Shown, Failure> {
        if let (Some(own), Some(other)) = (self.loaded.stored.text("id"), now.text("id"))
            && own != other
        {
            return Err(messages::other_customer(self.write, &other));
        }
        let before = self.loaded.stored.customer();
        let ignore = &self.service.settings.read.ignore;
        let verification = verify(before, &self.merged.customer, &now, &self.recent.removed, ignore)?;
        let shown = now.customer().clone();
        self.last.replace(Some((verification, now)));
        Ok(Shown::Whole(shown))
    }

    /// Keeps the result: the read that was seen, as what this and the earlier writes left, and the customer to whom the
    /// command's name for them led. Returns the ids of the addresses that were added.
    pub fn keep(&self, failure: Option<&Failure>) -> Vec<AddressId> {
        if failure.is_none_or(|failure| failure.applied != Applied::No) {
            self.keep_email();
        }
        let is_seen = failure.is_none_or(|failure| match failure.kind {
            FailureKind::Refused => failure.applied == Applied::Unknown,
            kind => kind == FailureKind::Mismatch,
        });
        let Some((verification, now)) = self.last.take().filter(|_| is_seen) else { return Vec::new() };
        self.keep_if_new(&verification, &now);
        if failure.is_none() && verification.is_shown() {
            let context = self.service.session.context;
            let settings = &self.service.settings;
            state::save_customer(context, settings, &self.loaded.name, &now.customer_key());
        }
        verification.new_ids
    }

    /// Keeps the email under which a customer without an id is known, if the update changed it.
    fn keep_email(&self) {
        let email = self.merged.customer.get("email").and_then(Email::of);
        if let Some(email) = email.filter(|_| self.loaded.stored.text("id").is_none()) {
            let context = self.service.session.context;
            let settings = &self.service.settings;
            state::save_customer(context, settings, &LockName::email(&email), &self.loaded.store.key);
        }
    }

    /// Keeps a read, unless it may be older than one of our writes: a replica may lag behind although all that was asked
    /// for is there.
    fn keep_if_new(&self, verification: &Verification, now: &Profile) {
        let renumbered = verification.renumbered.iter().map(|(old, _)| old);
        let gone = self.merged.summary.removed.iter().chain(&verification.missing).chain(renumbered);
        let gone: Vec<AddressId> = gone.copied().collect();
        let stored = self.loaded.stored.customer();
        let sent = || Effect::of_profile(self.loaded.owner(), stored, &self.merged.customer);
        let is_new =
            || verification.undone.is_empty() && self.recent.are_shown_in(now, stored, &sent(), &gone);
        if self.is_reply.get() || is_new() {
            self.loaded.store.note_read(now.customer());
        }
    }
}

impl Owner for Replaced<'_> {
    fn read(&self) -> LocalBoxFuture<'_, Result<Shown, Failure>> {
        self.is_reply.set(false);
        Box::pin(async { self.compare(read::fetch(self.service).await?) })
    }

    fn in_answer(&self, _: &Effect, reply: &Reply) -> Option<Result<Shown, Failure>> {
        let shows_profile = self.service.settings.dialect.reply_shows_profile && reply.warning.is_none();
        let body = shows_profile.then(|| reply.clone().document().ok()).flatten()?;
        let shown = self.compare(Profile::find(body, &Pointers::default()).ok()?);
        self.is_reply.set(shown.is_ok());
        let is_told = |shown: &Result<Shown, Failure>| match shown {
            Ok(_) => true,
            Err(failure) => failure.kind == FailureKind::Mismatch,
        };
        Some(shown).filter(is_told)
    }

    fn is_answer_the_last_look(&self) -> bool {
        true
    }

    fn is_readable(&self) -> bool {
        self.loaded.is_readable
    }

    fn explained(&self, failure: Failure) -> Failure {
        messages::refused(self.service, &self.loaded.stored, self.merged, failure)
    }

    fn can_prove(&self) -> bool {
        self.unproven() == Unproven::NotShown
    }

    fn was_so_before(&self) -> bool {
        !self.can_prove()
    }

    /// Compares by the laws of a profile: the service may write values in its own way, and give addresses other ids.
    fn look(&self, _: &Effect, _: &Map<String, Value>) -> Look {
        let last = self.last.borrow();
        last.as_ref().map(|(verification, _)| look_of(verification)).unwrap_or_default()
    }

    fn failed(
        &self,
        verdict: Verdict,
        seen: &Seen,
        answer: Option<&Failure>,
        status: Option<u16>,
    ) -> Option<Failure> {
        let last = self.last.borrow();
        let verification = last.as_ref().map(|(verification, _)| verification);
        let answer = answer.cloned();
        Some(match (verdict, seen) {
            (Verdict::Mismatch, Seen::Unreadable(failure)) => Failure { status, ..failure.clone() },
            (Verdict::Mismatch, _) => {
                Failure { status, ..messages::mismatch(self.service, self.write, verification?) }
            }
            // Somebody else may have caused it.
            (Verdict::RefusedButSaved, _) if !verification?.shows_sent => {
                messages::refused_altered(self.write, answer?, verification?)
            }
            (Verdict::RefusedButSaved, _) => {
                messages::saved_though_refused(self.write, verification?, answer?)
            }
            (Verdict::RefusedUnknown, Seen::Unreadable(unread)) => {
                messages::refused_unread(self.write, answer?, unread)
            }
            (Verdict::RefusedUnknown, _) => messages::refused_altered(self.write, answer?, verification?),
            (Verdict::Unknown, _) => messages::unknown(self.write, answer?, self.unproven(), verification),
            (Verdict::Applied { .. } | Verdict::Refused, _) => return None,
        })
    }

    fn warnings(&self, seen: &Seen) -> Option<Vec<String>> {
        if let Seen::Unreadable(failure) = seen {
            let why = &failure.message;
            return Some(vec![format!("written, but it could not be read back to verify it: {why}")]);
        }
        let last = self.last.borrow();
        let verification = &last.as_ref()?.0;
        let before = self.loaded.stored.customer();
        let dialect = self.service.settings.dialect;
        Some(messages::of_verification(verification, self.merged, before, dialect))
    }

    fn settle_time(&self) -> Duration {
        self.service.settings.settle
    }

    fn noun(&self) -> &'static str {
        "profile"
    }

    fn shown_by(&self) -> Hint {
        storefront("customer show").into()
    }

    fn undo(&self) -> Option<Hint> {
        Some(messages::restore(self.write).into())
    }
}

fn look_of(verification: &Verification) -> Look {
    let third = verification.altered.iter().map(|change| Third {
        path: change.path.clone(),
        written: None,
        now: change.after.clone(),
    });
    let lost = verification.missing.iter().chain(&verification.replaced);
    Look {
        after: usize::from(verification.shows_sent),
        before: verification.undone.len(),
        third: third.collect(),
        untold: 0,
        lost: lost.map(|id| FieldPath::address(*id)).collect(),
    }
}

/// A profile from which a call removes an address.
pub struct Removal<'a> {
    /// The profile without all addresses that the calls remove.
    pub whole: &'a Replaced<'a>,
    /// The address.
    pub id: AddressId,
}

impl Owner for Removal<'_> {
    fn read(&self) -> LocalBoxFuture<'_, Result<Shown, Failure>> {
        self.whole.read()
    }

    /// The path of the call names no customer: the message has only the address.
    fn says_gone(&self, _: &Effect, refused: &Failure) -> bool {
        refused.absent == Some(Absent::Entity)
            && named_in(refused.service.as_ref()) == ["addressId".to_owned(), self.id.to_string()]
    }

    /// An address that is still there was not removed, whatever else of it has changed. The default that it was is
    /// removed with it.
    fn look(&self, effect: &Effect, shown: &Map<String, Value>) -> Look {
        let keeps = Effect { keeps: effect.keeps.clone(), ..Effect::on(effect.owner.clone()) };
        let is_there = Document(shown).at(&FieldPath::address(self.id)).is_some();
        let sides = usize::from(is_there);
        Look { before: sides, after: 1 - sides, ..keeps.look(shown) }
    }

    fn compared(&self, shown: Option<&Map<String, Value>>) -> Option<String> {
        let id = self.id;
        Some(match shown.map(|shown| Document(shown).element(List::Addresses, id.0).is_some()) {
            Some(true) => format!("address {id} is still there"),
            Some(false) => format!("address {id} was removed"),
            None => format!("whether address {id} was removed is not known"),
        })
    }

    fn settle_time(&self) -> Duration {
        self.whole.settle_time()
    }

    fn noun(&self) -> &'static str {
        self.whole.noun()
    }

    fn shown_by(&self) -> Hint {
        self.whole.shown_by()
    }

    fn undo(&self) -> Option<Hint> {
        self.whole.undo()
    }
}
