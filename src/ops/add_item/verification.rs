//! Whether the cart shows that an item was added (docs/interface.md, "Adding an item").

use serde_json::{Map, Value};

use super::items::Items;
use super::note::Note;
use crate::failure::{Applied, Failure};
use crate::ops::reads::Reads;
use crate::plan::operation::{Operation, Success, scalar};
use crate::report::outcome::Outcome;
use crate::session::service::Service;

const OPERATION: &str = Operation::QuoteAddItem.name();
const NOT_FOUND: u16 = 404;

/// What the cart held before the item was added.
pub struct Verification<'a> {
    service: &'a Service<'a>,
    cart: Option<u64>,
    added: &'a Map<String, Value>,
    quote: Value,
    /// `None` where two readings differed to the end.
    before: Option<Items>,
    /// Why an addition that is seen may be another one.
    doubt: Option<&'static str>,
}

impl<'a> Verification<'a> {
    /// Reads the cart before the item is added. The note of the addition is written before: an addition of another
    /// process that ends from now on finds it.
    ///
    /// # Errors
    /// As [`Items::read`].
    pub async fn begin(
        service: &'a Service<'a>,
        cart: Option<u64>,
        added: &'a Map<String, Value>,
        note: &Note,
    ) -> Result<Self, Failure> {
        let quote = added.get("quote_id").cloned().unwrap_or_default();
        let mut reads = Reads::new(service.settings.settle);
        let before = loop {
            match Items::read(service, cart, &quote).await {
                Ok(Some(items)) => break Some(items),
                // A replica may not have a new cart yet.
                Err(failure) if failure.status != Some(NOT_FOUND) => return Err(not_read(failure)),
                _ if reads.wait().await => {}
                Ok(None) => break None,
                Err(failure) => return Err(not_read(failure)),
            }
        };
        let is_outdated = || before.as_ref().is_some_and(|items| note.is_outdated(items));
        let outdated = "the reading before that may be out of date: it does not show an earlier addition";
        // In this order: an addition that ends in between is open, or its line is there.
        let doubt = note.doubt().or_else(|| is_outdated().then_some(outdated));
        Ok(Self { service, cart, added, quote, before, doubt })
    }

    /// Completes the outcome of the request with what the cart shows. After an unknown outcome only what nothing else can
    /// explain counts as applied.
    ///
    /// # Errors
    /// The failure of the request, where the cart does not show that it was applied.
    pub async fn conclude(self, result: Result<Outcome, Failure>, note: &Note) -> Result<Outcome, Failure> {
        match result {
            Ok(outcome) => {
                let shown = self.settled(false).await;
                if let Err(why) = &shown {
                    self.service.session.report.warn(why);
                }
                Ok(Outcome { verified: Some(shown.is_ok()), ..outcome })
            }
            Err(failure) if failure.applied == Applied::Unknown => {
                let shown = match self.doubt {
                    Some(doubt) => Err(doubt),
                    None => self.settled(true).await,
                };
                let shown = shown.and_then(|()| note.doubt().map_or(Ok(()), Err));
                if let Err(why) = shown {
                    return Err(Failure { message: format!("{}; {why}", failure.message), ..failure });
                }
                self.service.verified();
                Ok(self.seen(failure.status))
            }
            Err(failure) => Err(failure),
        }
    }

    /// Reads the cart until it shows what was added, for `settle` at most; otherwise, why it does not. With `needs_time`
    /// the service must say when the cart was changed: what was read before may have been out of date.
    async fn settled(&self, needs_time: bool) -> Result<(), &'static str> {
        let before = self.before.as_ref().ok_or("two readings of the cart before that differed")?;
        let mut reads = Reads::new(self.service.settings.settle);
        loop {
            let shown = match Items::read(self.service, self.cart, &self.quote).await {
                Err(_) => Err("the cart could not be read after the item was added"),
                Ok(Some(after)) if needs_time && !before.can_be_dated(&after) => {
                    Err("the service does not say when the cart was changed, so that it proves nothing")
                }
                Ok(Some(after)) if before.shows_addition(&after, self.added) => Ok(()),
                Ok(_) => Err("the cart does not show exactly the added quantity and no other change"),
            };
            if shown.is_ok() || !reads.wait().await {
                return shown;
            }
        }
    }

    /// The request got no usable answer, and the cart shows the item.
    fn seen(&self, status: Option<u16>) -> Outcome {
        let of = |field: &str| scalar(self.added.get(field)).unwrap_or_default();
        let text = format!(
            "{OPERATION}: done: the cart shows exactly {} × {} more than before",
            of("qty"),
            of("sku")
        );
        Outcome {
            applied: Applied::Yes,
            verified: Some(true),
            status,
            success: Some(Success { text, covers_response: true }),
            ..Outcome::not_sent(OPERATION)
        }
    }
}

/// Without what was there before, nothing that is there afterwards proves anything.
fn not_read(failure: Failure) -> Failure {
    Failure {
        message: format!("the cart could not be read before the item is added: {}", failure.message),
        ..failure
    }
}
